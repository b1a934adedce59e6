/* SPDX-License-Identifier: MIT
 *
 * bfs.c - breadth-first search with MPI, level by level, annotated for dprof.
 *
 * Rank 0 alone makes a random graph (R-MAT), or reads one, and deals it out; each rank owns a block of the nodes, chosen so
 * that all have about as many edges. Then all look for what can be reached from one node, over edges whichever way they point:
 *
 *   rank 0       region(generate)   the edges, and rows of neighbours; meanwhile all others wait
 *   every rank   region(expand)     marks the neighbours of those of its nodes that were found in the level before
 *                MPI_Allreduce      everybody learns what all have marked; who is early waits here
 *                region(settle)     what is new among that is the next level
 *                progress(level)
 *
 * So however many ranks there are, the time that generating takes stays the same, and all of it is on the critical path, which
 * `dprof-analyze path` shows. (After the search in R. Sager's thesis, ETH Zurich 2016, Figures 6.4 and 7.7.)
 *
 * Law: the levels do not depend on the number of ranks. */
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common/job.h"
#include "examples/common/option.h"
#include "examples/common/rmat.h"
#include "examples/common/share.h"

#define NOT_REACHED UINT32_MAX
#define CELL        64 /* nodes */

struct bfs {
	struct job job; /* first: the common options */
	struct rmat rmat;
	long root;           /* an id; or -1: the node with most neighbours */
	const char *file;    /* or NULL: make one */
	struct rank_share nodes;
	uint32_t source;     /* number of the node to begin with */
	uint32_t *level;     /* of all nodes */
	size_t cells;
	uint64_t *last;      /* a bit for each node: found in the level before, */
	uint64_t *marked;    /* and by somebody in this one */
	uint32_t levels;
	size_t reached;
};

/* ---- The graph, on rank 0 -------------------------------------------------------------------- */

static bool make_edges(struct bfs *b, struct edge_list *e)
{
	e->count = rmat_count(&b->rmat);
	e->nodes = (size_t)1 << b->rmat.scale;
	e->edge = reallocarray(NULL, e->count, sizeof *e->edge);
	rmat_begin(&b->rmat);
	for (size_t i = 0; e->edge && i < e->count; i++)
		e->edge[i] = rmat_next(&b->rmat);
	if (!e->edge)
		fprintf(stderr, "no memory for %zu edges\n", e->count);
	return e->edge;
}

/* False when it was refused; then why has been said. */
static bool generate(struct bfs *b, struct adjacency *whole)
{
	struct edge_list e = { 0 };
	int64_t begin_ns = job_work_begin(&b->job);
	bool fine = b->file ? edges_read(&e, b->file) : make_edges(b, &e);
	size_t count = e.count;
	fine = fine && graph_build(whole, &e, GRAPH_BOTH);
	b->nodes.id = e.id;
	e.id = NULL;
	edges_free(&e);
	job_work_end(&b->job, begin_ns, fine ? count : 0);
	return fine;
}

/* The number of the node that the search begins with. */
static bool find_source(struct bfs *b, const struct adjacency *g)
{
	uint32_t most = 0;
	for (uint32_t i = 0; i < g->rows; i++) {
		if (b->root >= 0 && (b->nodes.id ? b->nodes.id[i] : i) == (uint64_t)b->root) {
			b->source = i;
			return true;
		}
		if (g->start[i + 1] - g->start[i] > g->start[most + 1] - g->start[most])
			most = i;
	}
	b->source = most;
	if (b->root >= 0)
		fprintf(stderr, "--root: there is no node %ld\n", b->root);
	return b->root < 0;
}

static void deal(struct bfs *b)
{
	struct adjacency whole = { 0 };
	bool fine = true;
	if (!b->job.rank) {
#pragma dprof region(generate)
		fine = generate(b, &whole) && find_source(b, &whole);
	}
	job_agree(fine);
	share_deal(&b->nodes, &b->job, &whole);
	MPI_Bcast(&b->source, 1, MPI_UINT32_T, 0, MPI_COMM_WORLD);
}

/* ---- The search ------------------------------------------------------------------------------ */

static bool has(const uint64_t *bits, size_t node)
{
	return bits[node / CELL] >> node % CELL & 1;
}

static void set(uint64_t *bits, size_t node)
{
	bits[node / CELL] |= UINT64_C(1) << node % CELL;
}

/* Rows that are looked at, and their neighbours: that much work. */
static size_t mark_neighbours(struct bfs *b)
{
	const struct adjacency *g = &b->nodes.graph;
	size_t work = 0;
	for (size_t row = 0; row < g->rows; row++) {
		if (!has(b->last, b->nodes.own.first + row))
			continue;
		for (uint32_t n = g->start[row]; n < g->start[row + 1]; n++)
			set(b->marked, g->neighbour[n]);
		work += 1 + g->start[row + 1] - g->start[row];
	}
	return work;
}

/* The imbalance: finds the same once more, and nothing new. Time that --pace fixes needs no work to pass. */
static void expand(struct bfs *b)
{
	int64_t begin_ns = job_work_begin(&b->job);
	size_t work = mark_neighbours(b), extra = job_extra(&b->job, work);
	for (size_t done = 0; done < extra && !b->job.pace_ns; done += work)
		mark_neighbours(b);
	job_work_end(&b->job, begin_ns, work + extra);
}

/* The next level is what is marked and has none yet. */
static size_t settle(struct bfs *b)
{
	size_t found = 0;
	memset(b->last, 0, b->cells * sizeof *b->last);
	for (size_t node = 0; node < b->nodes.nodes; node++) {
		if (!has(b->marked, node) || b->level[node] != NOT_REACHED)
			continue;
		b->level[node] = b->levels;
		set(b->last, node);
		found++;
	}
	memset(b->marked, 0, b->cells * sizeof *b->marked);
	return found;
}

static void search(struct bfs *b)
{
	size_t found = 1;
	b->level[b->source] = 0;
	set(b->last, b->source);
	for (b->levels = 1; found; b->levels++) {
		b->reached += found;
#pragma dprof region(expand)
		expand(b);
		MPI_Allreduce(MPI_IN_PLACE, b->marked, (int)b->cells, MPI_UINT64_T, MPI_BOR, MPI_COMM_WORLD);
#pragma dprof region(settle)
		found = settle(b);
#pragma dprof progress(level)
	}
	b->levels--; /* the last one had none */
}

static void begin(struct bfs *b)
{
	b->cells = (b->nodes.nodes + CELL - 1) / CELL;
	b->last = job_alloc(b->cells, sizeof *b->last);
	b->marked = job_alloc(b->cells, sizeof *b->marked);
	b->level = job_alloc(b->nodes.nodes, sizeof *b->level);
	memset(b->level, 0xff, b->nodes.nodes * sizeof *b->level);
}

/* ---- Input and output ------------------------------------------------------------------------ */

/* Of each node that was reached its id and its level. */
static void write_levels(FILE *f, const void *what)
{
	const struct bfs *b = what;
	fprintf(f, "# node\tlevel\n");
	for (uint32_t i = 0; i < b->nodes.nodes; i++)
		if (b->level[i] != NOT_REACHED)
			fprintf(f, "%" PRIu32 "\t%" PRIu32 "\n", b->nodes.id ? b->nodes.id[i] : i, b->level[i]);
}

static void tell(const struct bfs *b, double seconds)
{
	if (!b->job.rank && !b->job.quiet)
		printf("%zu nodes, %zu neighbours, from node %" PRIu32 " %zu reached in %" PRIu32 " levels, %.3f s\n",
		       b->nodes.nodes, b->nodes.neighbours, b->nodes.id ? b->nodes.id[b->source] : b->source,
		       b->reached, b->levels, seconds);
	job_tell_late(&b->job);
	job_write(&b->job, write_levels, b);
}

static const struct argp_option options[] = {
	{ "graph", 'g', "FILE", 0, "read the graph, as SNAP writes them, plain or gzipped", 0 },
	{ "root", 'b', "ID", 0, "the node to begin with (one with most neighbours)", 0 },
	RMAT_OPTIONS,
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct bfs *b = state->input;
	switch (key) {
	case 'g': b->file = arg; return 0;
	case 'b': b->root = option_number(state, "--root", arg, 0, UINT32_MAX); return 0;
	default: return rmat_parse(key, arg, state, &b->rmat);
	}
}

static void free_all(struct bfs *b)
{
	free(b->last);
	free(b->marked);
	free(b->level);
	share_free(&b->nodes);
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, NULL,
		"Breadth-first search on a random graph, or on one that is read.\v"
		"A unit of work is an edge or a node. Run it under mpirun.",
		NULL, NULL, NULL,
	};
	struct bfs b = { .job.no_file = true, .rmat = RMAT_USUAL, .root = -1 };
	job_begin(&argc, &argv, &argp, &b);
	MPI_Barrier(MPI_COMM_WORLD);
	double start = MPI_Wtime();
	deal(&b);
	begin(&b);
	search(&b);
	double seconds = MPI_Wtime() - start;
	tell(&b, seconds);
	free_all(&b);
	return 0;
}
