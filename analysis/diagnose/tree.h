/* SPDX-License-Identifier: MIT
 *
 * tree.h - divide and conquer: in which regions the threads of a tree of messages divide, solve and combine.
 *
 * They *solve* in the region in which most of them work, of several the one with most work in all: the leaves of the
 * tree do nothing else. Of that are regions of which half or more is in the phase of the messages (phase.h), and those
 * in which only the root is ever. Whatever a thread does before its first time there is *dividing*, and what it does behind it
 * *combining*; a region is where most of its time is.
 *
 * This is a guess by the order of what was done; costs do not stand on it, but what they are called. */
#ifndef ANALYSIS_TREE_H
#define ANALYSIS_TREE_H

#include "analysis/diagnose/facts.h"
#include "analysis/diagnose/pattern.h"
#include "analysis/diagnose/phase.h"
#include "analysis/diagnose/steps.h"
#include "analysis/graph/graph_last.h"

/* `windows`: of each thread only what it does there, or NULL; sets of each site whether it is `told` of. */
void tree_tell(const struct facts *, const struct graph *, struct graph_last *, const struct pattern *, const struct phase *,
	       const struct steps_window *windows, bool *told, struct expert *);

#endif
