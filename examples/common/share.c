/* SPDX-License-Identifier: MIT
 *
 * share.c - a graph divided among ranks: each owns a block of the nodes and has their rows. */
#include "examples/common/share.h"

#include <stdlib.h>

static bool read_graph(struct rank_share *s, struct adjacency *whole, const char *file,
		       enum graph_direction direction)
{
	struct edge_list edges = { 0 };
	bool fine = edges_read(&edges, file) && graph_build(whole, &edges, direction);
	s->id = edges.id;
	edges.id = NULL;
	edges_free(&edges);
	return fine;
}

/* Which rows are whose, so that all have about the same work. */
static void divide(struct rank_share *s, const struct job *job, const struct adjacency *whole)
{
	s->count = job_alloc((size_t)job->size, sizeof *s->count);
	s->first = job_alloc((size_t)job->size, sizeof *s->first);
	for (int r = 0; !job->rank && r < job->size; r++) {
		struct block b = graph_part(whole, job->size, r);
		s->count[r] = (int)b.count;
		s->first[r] = (int)b.first;
	}
	MPI_Bcast(s->count, job->size, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Bcast(s->first, job->size, MPI_INT, 0, MPI_COMM_WORLD);
	s->own = (struct block){ (size_t)s->first[job->rank], (size_t)s->count[job->rank] };
}

/* Each rank gets the starts of its rows, counted from its first one, and their neighbours. */
static void deal_rows(struct rank_share *s, const struct job *job, struct adjacency *whole)
{
	struct adjacency *g = &s->graph;
	int *length = job_alloc((size_t)job->size, sizeof *length);
	int *start = job_alloc((size_t)job->size, sizeof *start);
	for (int r = 0; !job->rank && r < job->size; r++) {
		start[r] = (int)whole->start[s->first[r]];
		length[r] = (int)whole->start[s->first[r] + s->count[r]] - start[r];
	}
	int first, count; /* of the neighbours of this rank */
	MPI_Scatter(start, 1, MPI_INT, &first, 1, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Scatter(length, 1, MPI_INT, &count, 1, MPI_INT, 0, MPI_COMM_WORLD);

	g->rows = s->own.count;
	g->start = job_alloc(g->rows + 1, sizeof *g->start);
	share_scatter(s, whole->start, MPI_UINT32_T, g->start);
	for (size_t i = 0; i < g->rows; i++)
		g->start[i] -= (uint32_t)first;
	g->start[g->rows] = (uint32_t)count;

	g->neighbour = job_alloc((size_t)count, sizeof *g->neighbour);
	MPI_Scatterv(whole->neighbour, length, start, MPI_UINT32_T, g->neighbour, count,
		     MPI_UINT32_T, 0, MPI_COMM_WORLD);
	free(length);
	free(start);
}

void share_deal(struct rank_share *s, const struct job *job, struct adjacency *whole)
{
	uint64_t size[] = { whole->rows, job->rank ? 0 : whole->start[whole->rows] };
	MPI_Bcast(size, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD);
	s->nodes = size[0];
	s->neighbours = size[1];
	divide(s, job, whole);
	deal_rows(s, job, whole);
	graph_free(whole);
}

void share_read(struct rank_share *s, const struct job *job, enum graph_direction direction)
{
	struct adjacency whole = { 0 };
	*s = (struct rank_share){ 0 };
	job_agree(job->rank || read_graph(s, &whole, job->file, direction));
	share_deal(s, job, &whole);
}

void share_free(struct rank_share *s)
{
	graph_free(&s->graph);
	free(s->count);
	free(s->first);
	free(s->id);
}

void share_scatter(const struct rank_share *s, const void *all, MPI_Datatype type, void *own)
{
	MPI_Scatterv(all, s->count, s->first, type, own, (int)s->own.count, type, 0,
		     MPI_COMM_WORLD);
}
