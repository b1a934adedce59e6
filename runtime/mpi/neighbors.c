/* SPDX-License-Identifier: MIT
 *
 * neighbors.c - what ranks exchange in one call with some others is recorded as messages between them:
 *
 *   MPI_Neighbor_alltoall   ENTER  ENTER send id EXIT ...  ENTER receive id EXIT ...  done id  done id ...  EXIT
 *   MPI_Ineighbor_alltoall  ENTER  ENTER send id EXIT ...  ENTER receive id EXIT ...  EXIT
 *   MPI_Wait                ENTER  done id  done id ...  EXIT
 *
 * since each waits for its own neighbours alone. Who they are is asked for once for each communicator, at its first such
 * call. Likewise what ranks tell each other of a window's epochs (windows.c).
 *
 * Law: what a rank sends to another has its receive there, the n-th of a kind the n-th; one that gives nothing says 0
 * bytes, and need not be waited for. */
#include "runtime/mpi/adapter.h"

#include <stdlib.h>

#define TAG (UINT64_C(1) << 53) /* more than any tag of MPI's */

struct neighbors *neighbors_make(int nout, int nin)
{
	size_t n = (size_t)(nout + nin) + 1;
	struct neighbors *near = malloc(sizeof(*near) + n * sizeof(near->with[0]));

	if (near)
		*near = (struct neighbors){ .nout = nout, .n = nout + nin };
	return near;
}

static struct neighbors *of_graph(MPI_Comm comm, int rank)
{
	struct neighbors *near = NULL;
	int n = 0, *ranks;

	PMPI_Graph_neighbors_count(comm, rank, &n);
	ranks = malloc(((size_t)n + 1) * sizeof(*ranks));
	if (ranks && PMPI_Graph_neighbors(comm, rank, n, ranks) == MPI_SUCCESS)
		near = neighbors_make(n, n);
	for (int i = 0; near && i < 2 * n; i++)
		near->with[i].rank = ranks[i % n];
	free(ranks);
	return near;
}

static struct neighbors *of_directed_graph(MPI_Comm comm)
{
	struct neighbors *near = NULL;
	int nin = 0, nout = 0, weighted, *ranks, *weights;

	PMPI_Dist_graph_neighbors_count(comm, &nin, &nout, &weighted);
	ranks = malloc(((size_t)(nin + nout) + 1) * sizeof(*ranks));
	weights = malloc(((size_t)(nin + nout) + 1) * sizeof(*weights));
	if (ranks && weights &&
	    PMPI_Dist_graph_neighbors(comm, nin, ranks + nout, weights + nout, nout, ranks, weights) == MPI_SUCCESS)
		near = neighbors_make(nout, nin);
	for (int i = 0; near && i < nin + nout; i++)
		near->with[i].rank = ranks[i];
	free(ranks);
	free(weights);
	return near;
}

/* In each direction the one before, and the one behind. */
static struct neighbors *of_grid(MPI_Comm comm)
{
	struct neighbors *near;
	int directions = 0, before, behind;

	PMPI_Cartdim_get(comm, &directions);
	near = neighbors_make(2 * directions, 2 * directions);
	for (int d = 0; near && d < directions; d++) {
		PMPI_Cart_shift(comm, d, 1, &before, &behind);
		near->with[2 * d].rank = near->with[2 * directions + 2 * d].rank = before;
		near->with[2 * d + 1].rank = near->with[2 * directions + 2 * d + 1].rank = behind;
	}
	return near;
}

struct neighbors *neighbors_of(struct group *g, MPI_Comm comm)
{
	int kind = MPI_UNDEFINED;

	if (!g || g->near)
		return g ? g->near : NULL;
	PMPI_Topo_test(comm, &kind);
	if (kind == MPI_CART)
		g->near = of_grid(comm);
	else if (kind == MPI_GRAPH)
		g->near = of_graph(comm, g->rank);
	else if (kind == MPI_DIST_GRAPH)
		g->near = of_directed_graph(comm);
	return g->near;
}

DPROF_SITE_OF(site_sending, DPROF_KIND_SEND, "MPI_Neighbor sends");
DPROF_SITE_OF(site_receiving, DPROF_KIND_RECV, "MPI_Neighbor receives");
DPROF_SITE_OF(site_posts, DPROF_KIND_SEND, "MPI_Win posts");
DPROF_SITE_OF(site_posted, DPROF_KIND_RECV, "MPI_Win is posted");
DPROF_SITE_OF(site_completes, DPROF_KIND_SEND, "MPI_Win completes");
DPROF_SITE_OF(site_completed, DPROF_KIND_RECV, "MPI_Win is completed");

static const struct { const void *sending, *receiving; } sites[] = {
	[NEIGHBORS_EXCHANGE] = { &site_sending, &site_receiving },
	[NEIGHBORS_POST] = { &site_posts, &site_posted },
	[NEIGHBORS_COMPLETE] = { &site_completes, &site_completed },
};

static uint64_t begin_message(const struct group *g, const struct neighbor *with, enum neighbors_kind kind, bool sends)
{
	struct message_envelope e = { .group = (struct group *)g, .peer = (uint64_t)g->peers[with->rank],
				      .tag = TAG + kind, .bytes = with->bytes };
	struct post p = sends ? post_begun(DPROF_KIND_SEND, sites[kind].sending, "", e)
			      : post_begun(DPROF_KIND_RECV, sites[kind].receiving, "", e);

	post_end(&p, NULL);
	return p.id;
}

struct mpi_call neighbors_begin(const void *site, const char *name, const struct group *g, struct neighbors *near,
				enum neighbors_kind kind)
{
	struct mpi_call c = call_begin(site, name);

	for (int i = 0; near && i < near->n; i++)
		near->with[i].id = c.on && near->with[i].rank >= 0 /* MPI_PROC_NULL is none */
					   ? begin_message(g, &near->with[i], kind, i < near->nout) : 0;
	return c;
}

void neighbors_end(struct mpi_call c, const struct neighbors *near, bool done)
{
	const struct message_envelope named = { 0 };
	uint64_t stamp;

	if (!near || !c.on || !done) {
		call_end(c);
		return;
	}
	stamp = dprof_adapter_now_fenced();
	for (int i = 0; i < near->n; i++) {
		if (near->with[i].id && i < near->nout)
			say_sent(near->with[i].id, stamp);
		else if (near->with[i].id)
			say_received(&named, near->with[i].id, NULL, stamp);
	}
	call_end(c);
}

/* All are complete when the request is. */
void neighbors_begun(struct mpi_call c, struct group *g, const struct neighbors *near, const MPI_Request *handle)
{
	struct request *all = near ? malloc(((size_t)near->n + 1) * sizeof(*all)) : NULL;
	int n = 0;

	for (int i = 0; all && i < near->n; i++)
		if (near->with[i].id) {
			all[n] = (struct request){ .envelope.group = g, .id = near->with[i].id, .no_status = true,
						   .kind = i < near->nout ? DPROF_KIND_SEND : DPROF_KIND_RECV,
						   .also = n ? &all[n - 1] : NULL };
			n++;
		}
	if (handle && n)
		request_add(*handle, &all[n - 1]);
	else if (handle && !all)
		request_foreign(*handle);
	free(all);
	call_end(c);
}
