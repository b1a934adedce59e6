/* SPDX-License-Identifier: MIT
 *
 * efficiency.h - how much of what the threads could have done was useful, and what kept them from it: the efficiencies of POP.
 *
 * *Useful* is what a thread does outside of operations in which others take part (MPI, OpenMP, locks, ...): in regions, and in
 * programs without marks outside of all of them, too. What a program with marks does outside of its regions may be useful or
 * not, so intervals hold both. The *time* is the run's span, or for a region the longest that a thread was in it; *threads* are
 * those with events, or those that were in the region. factors.h has the tree of them.
 *
 * On an *ideal network* nothing takes time but what is useful, and waiting: each operation goes on as soon as the last that it
 * waits for has come, and then takes something between nothing and the least that any operation of its name was seen to
 * take there. For the run all events are timed anew through the graph (graph.h), causes before effects; what lies between
 * operations takes as long as it did, and whoever waited for whom does so again. In a region operations are only made
 * shorter: who waits there may wait longer when they are, but that is not what the region is to blame for.
 *
 * *Hybrid*: a process is in MPI while its first thread is. What efficiency all threads would have if they were
 * useful whenever their process is outside of MPI is that of MPI; the rest is that of its threads (OpenMP): the parallel efficiency
 * is the product of both.
 *
 * A factor below EFFICIENCY_LOW has a *cause*, or if it is the product of two that are not, the lesser of these has: of
 * the load balance, where the thread that is useful the longest is so longer than the others are on average; of
 * serialisation, the longest waiting, and for whom; of transfer, the operation that transfers longest; of threads, the
 * longest that they waited or began or ended operations other than MPI's.
 *
 * Law: if a wait was ended by what the graph connects it with, each factor lies in the interval given for it, whatever operations
 * take on an ideal network within these bounds.
 *
 * Memory: 16 bytes for each synchronisation point of the graph, 4 for each operation and 24 for each node, in its spill; for each
 * thread what it did in each site; and the answer. */
#ifndef ANALYSIS_EFFICIENCY_H
#define ANALYSIS_EFFICIENCY_H

#include "analysis/clocks/times.h"
#include "analysis/efficiency/factors.h"
#include "analysis/graph/graph.h"
#include "analysis/waits/waits.h"

#define EFFICIENCY_LOW 80 /* percent */

struct efficiency_cause {
	bool named;
	enum factor low;             /* the factor that is low: its own, or one that it is part of */
	uint32_t thread, site;       /* who, and in which region or operation; or TR_OUTSIDE; or TR_BEFORE: it was not there */
	uint32_t for_thread, did;    /* serialisation: for whom it mostly waited there, and what that one did; or UINT32_MAX */
	struct interval percent;     /* of the run: so much longer than others, or waiting, or transfer */
};

struct efficiency_thread { uint32_t thread; frz_time useful; };

struct efficiency_region {
	uint32_t site;               /* of regions of one name the first */
	size_t nthreads;             /* that were in it */
	frz_time time, useful;       /* the longest that one was in it; the useful time of all */
	struct factors factors;
	uint32_t longest;            /* the thread that is useful in it for the longest */
};

struct efficiency {
	struct span span;
	size_t nthreads, nprocesses; /* with events */
	frz_time useful, ideal;      /* of all threads; the run's time on an ideal network */
	struct factors factors;
	struct efficiency_cause cause[FACTORS]; /* of load balance, serialisation and transfer */
	bool hybrid;
	struct interval mpi[FACTOR_COMMUNICATION + 1]; /* parallel, load balance, communication: then; and ... */
	struct interval threads;     /* ... parallel; more than 100 % where threads are useful while the first one is in MPI */
	struct efficiency_cause threads_cause;
	struct efficiency_thread *each; /* nthreads */
	struct efficiency_region *regions; size_t nregions; /* the longest useful time first */
	int64_t blocked;             /* ticks of all threads, at most, in which they were blocked in nothing that is
					known (useful.h) */
	int64_t hidden;              /* likewise in which they worked in operations that wait */
	bool open;                   /* for more than a hundredth of the run some thread may be useful or not */
	struct graph_said said;      /* by the graph */
};

/* All clocks with threads must be on one time base, and nothing left out. False without any event. */
bool efficiency_open(struct efficiency *, struct trace *, const struct times *);
/* Of a graph that is there, whose trace that is, and its waits, if these are there (else NULL); what is wrong with it
 * the graph has said itself. */
bool efficiency_of_graph(struct efficiency *, struct trace *, const struct graph *, const struct waits *);
void efficiency_close(struct efficiency *);

const char *factor_key(enum factor);   /* "load_balance" */
const char *factor_words(enum factor); /* "load balance" */

#endif
