/* SPDX-License-Identifier: MIT
 *
 * graph_inside.h - regions inside of operations: signal handlers, and what operations call. */
#ifndef ANALYSIS_GRAPH_INSIDE_H
#define ANALYSIS_GRAPH_INSIDE_H

#include "analysis/graph/graph_private.h"

/* A region inside of an operation, and in no other one there. */
struct inside {
	uint64_t enter_at; struct event_ref exit; /* of the operation, */
	bool collective;                          /* which is one */
	struct event_ref from, to;
};


struct inside_records { struct inside *v; size_t n; }; /* those of an operation one behind the other */

/* Behind all others, when points are sorted; if it finds any they are to be sorted again. */
void graph_inside(struct builder *, const struct inside_records *);

#endif
