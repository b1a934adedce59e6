/* SPDX-License-Identifier: MIT
 *
 * efficiency_private.h - what the files of efficiency share.
 *
 *   efficiency.c         all of it, from sums to factors and causes
 *   efficiency_walk.c    along each thread: what it did in each site and region, and between synchronisation points
 *   efficiency_ideal.c   through the graph: when the run would have ended on an ideal network */
#ifndef ANALYSIS_EFFICIENCY_PRIVATE_H
#define ANALYSIS_EFFICIENCY_PRIVATE_H

#include "analysis/efficiency/efficiency.h"
#include "analysis/graph/graph_last.h"

/* What a thread did up to a synchronisation point, since the one before it or its first event. */
struct before_point {
	uint64_t ticks;              /* outside of operations, */
	uint32_t pieces;             /* in so many pieces */
	uint32_t noperations : 30;   /* so many parts of operations; */
	uint32_t ended : 1;          /* the last of them ended with this point's wait */
	uint32_t doubtful : 1;       /* or it is not known */
};

/* What a thread did in a site, if it is a region or TR_OUTSIDE useful; or in an operation. */
struct site_sum { uint32_t thread, site; frz_time useful, waited, transfer; };

/* What it did in a region of that name, in all of it. */
struct region_sum { uint32_t thread, region; frz_time useful, time, transfer; };

struct efficiency_walk {
	const struct graph *graph;
	const struct times *times;
	struct graph_last last;
	struct before_point *points; size_t npoints; /* in the graph's spill: thread by thread ... */
	uint32_t *operations; size_t noperations; /* ... likewise: the kind of each, see `least` */
	size_t *points_of, *operations_of; /* where each thread's begin */
	int64_t *least;              /* of each kind (a site, or nsites: a thread begins) that least was seen to transfer */
	struct site_sum *sites; size_t nsites;
	struct region_sum *regions; size_t nregions;
	frz_time *mpi;               /* of each thread: in operations of MPI */
};

#define KIND_UNKNOWN UINT32_MAX      /* of operations */

void efficiency_walk_open(struct efficiency_walk *, const struct graph *);
void efficiency_walk_close(struct efficiency_walk *);

/* When the run would have ended, since its first event. */
frz_time efficiency_ideal(struct efficiency_walk *, const struct span *);

#endif
