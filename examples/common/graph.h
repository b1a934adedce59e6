/* SPDX-License-Identifier: MIT
 *
 * graph.h - for each node the nodes that it looks at, row after row.
 *
 * Laws: the neighbours in a row ascend, and each stands there once, however often the file lists
 * the edge. The parts of a graph are neighbours, in order, without gap, and the work of the
 * greatest one is as little as it can be without dividing a row. */
#ifndef EXAMPLES_GRAPH_H
#define EXAMPLES_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "examples/common/block.h"
#include "examples/common/edges.h"

struct adjacency {
	size_t rows;
	uint32_t *start;     /* of each row among the neighbours, and where the last one ends */
	uint32_t *neighbour; /* numbers of nodes */
};

enum graph_direction {
	GRAPH_BACKWARD, /* a node looks at those that have an edge to it */
	GRAPH_BOTH,     /* ... and at those that it has an edge to */
};

/* From the edges, which it frees to save memory (not the ids). False when there is no memory or
 * more than INT_MAX nodes or neighbours, MPI's limit; then that has been said. Always to be
 * freed. */
bool graph_build(struct adjacency *g, struct edge_list *e, enum graph_direction direction);
void graph_free(struct adjacency *g);

/* The rows of part number `part` of so many `parts`. Not quite cheap: some thousand looks at the
 * rows. */
struct block graph_part(const struct adjacency *g, int parts, int part);

/* The work in the first `rows` rows: one unit for each row and for each neighbour. */
static inline size_t graph_work(const struct adjacency *g, size_t rows)
{
	return rows + (g->start[rows] - g->start[0]);
}

/* ... and in a block of them. */
static inline size_t graph_block_work(const struct adjacency *g, struct block b)
{
	return graph_work(g, b.first + b.count) - graph_work(g, b.first);
}

#endif
