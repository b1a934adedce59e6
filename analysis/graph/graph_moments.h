/* SPDX-License-Identifier: MIT
 *
 * graph_moments.h - sleeps until a moment. */
#ifndef ANALYSIS_GRAPH_MOMENTS_H
#define ANALYSIS_GRAPH_MOMENTS_H

#include "analysis/graph/graph_private.h"

/* A sleep until a moment, which was over for so long when it began, or 0: not yet. */
struct moment_sleep { struct wait_begin begin; struct event_ref exit; uint64_t until_ns, late_ns; uint32_t site; };


struct moment_records { struct moment_sleep *v; size_t n; };

void graph_moments(struct builder *, struct moment_records *);

#endif
