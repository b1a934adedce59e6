/* SPDX-License-Identifier: MIT
 *
 * graph.c - for each node the nodes that it looks at, row after row.
 *
 * Edges are sorted into rows by counting, twice: the second time the rows are turned over, so that
 * what lands in a row comes in ascending order; then an edge that was listed twice stands beside
 * itself. This takes linear time, and at its peak 12 bytes an edge (16 with both directions). */
#include "examples/common/graph.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* start[i + 1] counts row i; afterwards start[i] is where row i begins. */
static void counts_to_starts(uint32_t *start, size_t rows)
{
	for (size_t i = 0; i < rows; i++)
		start[i + 1] += start[i];
}

/* Filling row i has moved start[i] to its end, which is where row i + 1 began. */
static void ends_to_starts(uint32_t *start, size_t rows)
{
	memmove(start + 1, start, rows * sizeof *start);
	start[0] = 0;
}

static bool allocate(struct adjacency *g, size_t rows, size_t neighbours)
{
	g->rows = rows;
	g->start = calloc(rows + 1, sizeof *g->start);
	g->neighbour = reallocarray(NULL, neighbours, sizeof *g->neighbour);
	if (g->start && g->neighbour)
		return true;
	fprintf(stderr, "no memory for %zu nodes and %zu neighbours\n", rows, neighbours);
	return false;
}

/* In each row whom its node has an edge to; with both directions also whom it has one from. */
static void fill_rows(struct adjacency *g, const struct edge_list *e, bool both)
{
	for (size_t i = 0; i < e->count; i++) {
		g->start[e->edge[i].from + 1]++;
		if (both)
			g->start[e->edge[i].to + 1]++;
	}
	counts_to_starts(g->start, g->rows);
	for (size_t i = 0; i < e->count; i++) {
		struct edge edge = e->edge[i];
		g->neighbour[g->start[edge.from]++] = edge.to;
		if (both)
			g->neighbour[g->start[edge.to]++] = edge.from;
	}
	ends_to_starts(g->start, g->rows);
}

/* What stands in row i of `from` at j then stands in row j of g at i. */
static void turn_over(struct adjacency *g, const struct adjacency *from)
{
	for (size_t n = 0; n < from->start[from->rows]; n++)
		g->start[from->neighbour[n] + 1]++;
	counts_to_starts(g->start, g->rows);
	for (size_t i = 0; i < from->rows; i++)
		for (size_t n = from->start[i]; n < from->start[i + 1]; n++)
			g->neighbour[g->start[from->neighbour[n]]++] = (uint32_t)i;
	ends_to_starts(g->start, g->rows);
}

/* Of equal neighbours beside each other one stays. */
static void drop_repeated(struct adjacency *g)
{
	size_t kept = 0;
	for (size_t i = 0; i < g->rows; i++) {
		size_t from = g->start[i], first = kept;
		for (size_t n = from; n < g->start[i + 1]; n++)
			if (kept == first || g->neighbour[kept - 1] != g->neighbour[n])
				g->neighbour[kept++] = g->neighbour[n];
		g->start[i] = (uint32_t)first;
	}
	g->start[g->rows] = (uint32_t)kept;
}

bool graph_build(struct adjacency *g, struct edge_list *e, enum graph_direction direction)
{
	bool both = direction == GRAPH_BOTH;
	size_t neighbours = both ? 2 * e->count : e->count;
	struct adjacency forward = { 0 };
	*g = (struct adjacency){ 0 };
	if (neighbours > INT_MAX || e->nodes > INT_MAX) {
		fprintf(stderr, "expected at most %d nodes and %d neighbours, found %zu and %zu\n",
			INT_MAX, INT_MAX, e->nodes, neighbours);
		return false;
	}
	bool fine = allocate(&forward, e->nodes, neighbours);
	if (fine)
		fill_rows(&forward, e, both);
	free(e->edge);
	e->edge = NULL;
	fine = fine && allocate(g, e->nodes, neighbours);
	if (fine) {
		turn_over(g, &forward);
		drop_repeated(g);
	}
	graph_free(&forward);
	return fine;
}

void graph_free(struct adjacency *g)
{
	free(g->start);
	free(g->neighbour);
	g->start = g->neighbour = NULL;
}

/* The first row behind as many rows from `first` on as have no more than so much work. */
static size_t fill(const struct adjacency *g, size_t first, size_t work)
{
	size_t low = first, high = g->rows, most = graph_work(g, first) + work;
	while (low < high) {
		size_t middle = high - (high - low) / 2;
		if (graph_work(g, middle) <= most)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* The first row behind the first `part` parts, each as full as it can be. */
static size_t fill_parts(const struct adjacency *g, int parts, size_t work)
{
	size_t next = 0;
	for (int p = 0; p < parts; p++)
		next = fill(g, next, work);
	return next;
}

/* The least work of a part with which all rows have room. */
static size_t least_work(const struct adjacency *g, int parts)
{
	size_t high = graph_work(g, g->rows), low = high / (size_t)parts;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (fill_parts(g, parts, middle) == g->rows)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

struct block graph_part(const struct adjacency *g, int parts, int part)
{
	size_t work = least_work(g, parts);
	size_t first = fill_parts(g, part, work);
	return (struct block){ first, fill(g, first, work) - first };
}
