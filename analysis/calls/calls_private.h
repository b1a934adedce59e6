/* SPDX-License-Identifier: MIT
 *
 * calls_private.h - what the files of calls share.
 *
 *   calls.c        all of it: sums over threads, causes, messages
 *   calls_walk.c   along each thread: the tree, and what it did on each path */
#ifndef ANALYSIS_CALLS_PRIVATE_H
#define ANALYSIS_CALLS_PRIVATE_H

#include "analysis/base/ids.h"
#include "analysis/calls/calls.h"
#include "analysis/graph/graph_last.h"

struct calls_walk {
	struct call_profile *profile;
	const struct graph *graph;
	struct graph_last last;
	struct ids children;         /* of (parent, site): node - 1 */
	struct call_spread *flat;    /* of each site, and of unknown ones: nsites */
	bool lacks;                  /* records are missing */
};

/* Adds what a thread did to nodes, flat, and each. */
void calls_add_thread(struct calls_walk *, uint32_t thread);

/* One more thread. */
void call_spread_add(struct call_spread *, uint32_t thread, const struct call_sums *);

#endif
