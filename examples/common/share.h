/* SPDX-License-Identifier: MIT
 *
 * share.h - a graph divided among ranks: each owns a block of the nodes and has their rows.
 *
 * Law: every node is owned by one rank, in order of rank, so that what the ranks say of their own
 * nodes, one after the other, is said of all. */
#ifndef EXAMPLES_SHARE_H
#define EXAMPLES_SHARE_H

#include <mpi.h>

#include "examples/common/graph.h"
#include "examples/common/job.h"

struct rank_share {
	size_t nodes, neighbours; /* of all ranks; edges of the file, each once in each direction */
	int *count, *first;       /* of each rank: how many nodes it owns, and which is the first */
	struct block own;         /* this rank's */
	struct adjacency graph;       /* the rows of those; neighbours are any rank's */
	uint32_t *id;             /* on rank 0: of each node, as in the file */
};

/* Each rank gets its share of rank 0's graph, which is freed; `s` is zeroed, but for the ids if there are any. */
void share_deal(struct rank_share *s, const struct job *job, struct adjacency *whole);

/* Rank 0 reads job->file and gives each rank its share. If the file is refused, all ranks end. */
void share_read(struct rank_share *s, const struct job *job, enum graph_direction direction);
void share_free(struct rank_share *s);

/* Rank 0's `all`, one value for each node, is dealt out: each rank gets those of its own nodes. */
void share_scatter(const struct rank_share *s, const void *all, MPI_Datatype type, void *own);

#endif
