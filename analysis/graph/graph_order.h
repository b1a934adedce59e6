/* SPDX-License-Identifier: MIT
 *
 * graph_order.h - all synchronisation points of a graph in one order, causes before effects: for whoever goes back
 * from effects to causes.
 *
 * A thread's points come in the order in which it has them, so that a step need only say whose turn it is; what posts the
 * inputs of a node comes before what waits for it. Where the trace contradicts itself, and all threads would wait for
 * ever, the node of whoever is earliest is *broken*: as if nothing had been known of it.
 *
 * Law: of any point that waits for a node, all that posts inputs of that node comes before, unless the node is broken.
 *
 * Memory: 4 bytes for each point in the graph's spill, and 8 for each node while the order is found. */
#ifndef ANALYSIS_GRAPH_ORDER_H
#define ANALYSIS_GRAPH_ORDER_H

#include "analysis/graph/graph.h"

struct graph_step { uint32_t thread : 31, broken : 1; }; /* a wait whose node is broken */

struct graph_order {
	const struct graph *graph;
	struct graph_step *steps; size_t nsteps;
};

void graph_order_open(struct graph_order *, const struct graph *);
void graph_order_close(struct graph_order *); /* before the graph is closed */

#endif
