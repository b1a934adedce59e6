/* SPDX-License-Identifier: MIT
 *
 * cc.c - connected components by label propagation with MPI and OpenMP, annotated for dprof.
 *
 * Each node begins with its own number as its label and takes the least label of its neighbours,
 * which are the nodes that it has an edge to or from, until no label changes. Then two nodes have
 * the same label if and only if a path of edges, whichever way they point, joins them.
 *
 * Each rank owns a block of the nodes, chosen so that all have about as many edges; each of its
 * threads a part of that:
 *
 *   every thread   region(propagate)  new labels of its nodes
 *                  omp barrier        the other threads wait here while the master works and waits
 *   the master     region(update)     adds up how many labels its threads have changed
 *                  MPI_Allreduce      ... and all ranks; who is early waits here
 *                  MPI_Allgatherv     everybody learns the new labels
 *                  MPI_Barrier        progress(iteration)
 *   every thread   omp barrier
 *
 * So at any moment a thread is in a region or it waits for others.
 *
 * Law: in each iteration new labels come from old ones alone, so that neither the result nor the
 * number of iterations depends on the number of ranks and threads. */
#include <inttypes.h>
#include <limits.h>
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "examples/common/job.h"
#include "examples/common/share.h"

/* What a thread counts in an iteration; no other writes to its cache line. */
struct cc_tally {
	_Alignas(64) int64_t changed; /* labels */
};

struct cc {
	struct job job; /* first: the common options */
	struct rank_share nodes;
	uint32_t *label;     /* of all nodes */
	uint32_t *lower;     /* new ones, of the nodes of this rank */
	struct cc_tally *tally; /* of each thread; the first one becomes everybody's */
	int team;            /* threads that work on it */
	long iterations;     /* that were done */
	bool more;           /* ... and one more has something to do: a master's update says so */
};

static uint32_t least(const struct cc *m, size_t row)
{
	const struct adjacency *g = &m->nodes.graph;
	uint32_t label = m->label[m->nodes.own.first + row];
	for (uint32_t n = g->start[row]; n < g->start[row + 1]; n++)
		if (m->label[g->neighbour[n]] < label)
			label = m->label[g->neighbour[n]];
	return label;
}

/* The imbalance: finds the labels of some nodes once more, and nothing new. Time that --pace fixes
 * needs no work to pass. */
static void propagate_again(const struct cc *m, struct block mine, size_t extra)
{
	for (size_t done = 0, n = 0; done < extra && !m->job.pace_ns; n++) {
		size_t row = mine.first + n % mine.count;
		if (least(m, row) != m->lower[row])
			abort(); /* keeps the compiler from leaving the work out */
		done += graph_block_work(&m->nodes.graph, (struct block){ row, 1 });
	}
}

/* One thread's share of the rank's nodes. */
static void propagate(struct cc *m, int thread, struct block mine)
{
	size_t work = graph_block_work(&m->nodes.graph, mine);
	size_t extra = job_extra(&m->job, work);
	int64_t begin_ns = job_work_begin(&m->job), changed = 0;
	for (size_t row = mine.first; row < mine.first + mine.count; row++) {
		m->lower[row] = least(m, row);
		changed += m->lower[row] != m->label[m->nodes.own.first + row];
	}
	m->tally[thread].changed = changed;
	propagate_again(m, mine, extra);
	job_work_end(&m->job, begin_ns, work + extra);
}

/* What the master of a rank does between two iterations. */
static void update(struct cc *m)
{
	struct cc_tally *all = m->tally;
#pragma dprof region(update)
	for (int t = 1; t < m->team; t++)
		all->changed += m->tally[t].changed;

	MPI_Allreduce(MPI_IN_PLACE, all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
	MPI_Allgatherv(m->lower, (int)m->nodes.own.count, MPI_UINT32_T, m->label, m->nodes.count,
		       m->nodes.first, MPI_UINT32_T, MPI_COMM_WORLD);
	m->iterations++;
	m->more = all->changed;

	MPI_Barrier(MPI_COMM_WORLD);
#pragma dprof progress(iteration)
}

static void iterate(struct cc *m)
{
	m->tally = job_alloc((size_t)m->job.threads, sizeof *m->tally);
#pragma omp parallel num_threads(m->job.threads)
	{
		int thread = omp_get_thread_num();
#pragma omp master
		m->team = omp_get_num_threads();
#pragma omp barrier
		struct block mine = graph_part(&m->nodes.graph, m->team, thread);
		while (m->more && m->iterations < m->job.iterations) {
#pragma dprof region(propagate)
			propagate(m, thread, mine);

#pragma omp barrier
#pragma omp master
			update(m);
#pragma omp barrier
		}
	}
}

/* ---- Input and output ---------------------------------------------------------------------- */

static void begin(struct cc *m)
{
	m->lower = job_alloc(m->nodes.own.count, sizeof *m->lower);
	m->label = job_alloc(m->nodes.nodes, sizeof *m->label);
	m->more = true;
	for (size_t i = 0; i < m->nodes.nodes; i++)
		m->label[i] = (uint32_t)i;
}

/* For each node its id and the least id of its component. */
static void write_components(FILE *f, const void *what)
{
	const struct cc *m = what;
	fprintf(f, "# node\tleast node of its component\n");
	for (size_t i = 0; i < m->nodes.nodes; i++)
		fprintf(f, "%" PRIu32 "\t%" PRIu32 "\n", m->nodes.id[i],
			m->nodes.id[m->label[i]]);
}

static void tell_result(const struct cc *m, double seconds)
{
	size_t nodes = m->nodes.nodes, components = 0, largest = 0;
	size_t *size = job_alloc(nodes, sizeof *size);
	for (size_t i = 0; i < nodes; i++) {
		size_t now = ++size[m->label[i]];
		components += m->label[i] == i;
		largest = now > largest ? now : largest;
	}
	printf("%zu nodes, %zu neighbours, %ld iterations%s, %zu components, largest %zu, %.3f s\n",
	       nodes, m->nodes.neighbours, m->iterations,
	       m->more ? " and not yet done" : "", components, largest, seconds);
	free(size);
}

static void tell(const struct cc *m, double seconds)
{
	if (!m->job.rank && !m->job.quiet)
		tell_result(m, seconds);
	job_tell_late(&m->job);
	job_write(&m->job, write_components, m);
}

static void free_all(struct cc *m)
{
	free(m->tally);
	free(m->label);
	free(m->lower);
	share_free(&m->nodes);
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		NULL, NULL, "FILE",
		"Finds the connected components of a graph.\v"
		"FILE has one edge a line, two ids from 0 to 4294967295 separated by blanks, as "
		"SNAP writes graphs; it may be gzipped. A unit of work is an edge or a node. "
		"Without --iterations it goes on until no label changes. Run it under mpirun.",
		NULL, NULL, NULL,
	};
	struct cc m = { .job.iterations = LONG_MAX };
	job_begin(&argc, &argv, &argp, &m);
	share_read(&m.nodes, &m.job, GRAPH_BOTH);
	begin(&m);

	MPI_Barrier(MPI_COMM_WORLD);
	double start = MPI_Wtime();
	iterate(&m);
	double seconds = MPI_Wtime() - start;

	tell(&m, seconds);
	free_all(&m);
	return 0;
}
