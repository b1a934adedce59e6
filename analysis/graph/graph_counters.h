/* SPDX-License-Identifier: MIT
 *
 * graph_counters.h - work that ranks or threads share out by a counter. */
#ifndef ANALYSIS_GRAPH_COUNTERS_H
#define ANALYSIS_GRAPH_COUNTERS_H

#include "analysis/graph/graph_private.h"

/* Ranks count at a place of a window: a take of whatever has that number there. */
struct window_count { uint64_t id; struct take take; };


struct window_records { struct window_count *v; size_t n; };

void graph_window_counters(struct builder *, struct window_records *);

/* Behind all that gives out work where that is recorded. */
void graph_counters(struct builder *);

#endif
