/* SPDX-License-Identifier: MIT
 *
 * pagerank.c - PageRank with MPI and OpenMP, annotated for dprof.
 *
 * Each rank owns a block of the nodes, chosen so that all have about as many edges; each of its
 * threads a part of that:
 *
 *   every thread   region(gather)   new ranks of its nodes, from the shares of who points to them
 *                  omp barrier      the other threads wait here while the master works and waits
 *   the master     region(update)   adds up what its threads have counted
 *                  MPI_Allreduce    ... and all ranks; who is early waits here
 *                  MPI_Allgatherv   everybody learns the new shares
 *                  MPI_Barrier      progress(iteration)
 *   every thread   omp barrier
 *
 * So at any moment a thread is in a region or it waits for others.
 *
 * A node's share is its rank divided by the number of its edges; who has none gives an equal part
 * to every node. An edge that is listed twice counts once; one from a node to itself counts.
 *
 * Law: the result does not depend on the number of ranks and threads, to the last bit: the shares
 * that make a rank are added up in the order of their nodes, and what all nodes add to is in fixed
 * point. */
#include <inttypes.h>
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "examples/common/fixed.h"
#include "examples/common/job.h"
#include "examples/common/option.h"
#include "examples/common/share.h"

/* What a thread counts in an iteration; no other writes to its cache line. */
struct pagerank_tally {
	_Alignas(64) int64_t dangling; /* the rank of nodes without edges */
	int64_t change;                /* by how much ranks have changed, in all */
};

struct pagerank {
	struct job job; /* first: the common options */
	double damping;

	struct rank_share nodes;
	uint32_t *degree;      /* of each node of this rank: how many edges go out */
	double *rank, *given;  /* ... its rank; its new share */
	double *share;         /* of all nodes */
	double base;           /* what every node gets */
	struct fixed sum;      /* of ranks or changes, which are 2 at most in all */
	struct pagerank_tally *tally;   /* of each thread; the first one becomes everybody's */
	int team;              /* threads that work on it */
};

static double gathered(const struct pagerank *m, size_t row)
{
	const struct adjacency *g = &m->nodes.graph;
	double sum = 0;
	for (uint32_t n = g->start[row]; n < g->start[row + 1]; n++)
		sum += m->share[g->neighbour[n]];
	return m->base + m->damping * sum;
}

static void gather_node(struct pagerank *m, size_t row, struct pagerank_tally *tally)
{
	double rank = gathered(m, row);
	tally->change += fixed_from(m->sum, fabs(rank - m->rank[row]));
	if (!m->degree[row])
		tally->dangling += fixed_from(m->sum, rank);
	m->rank[row] = rank;
	m->given[row] = m->degree[row] ? rank / m->degree[row] : 0;
}

/* The imbalance: finds the ranks of some nodes once more, and nothing new. Time that --pace fixes
 * needs no work to pass. */
static void gather_again(const struct pagerank *m, struct block mine, size_t extra)
{
	for (size_t done = 0, n = 0; done < extra && !m->job.pace_ns; n++) {
		size_t row = mine.first + n % mine.count;
		if (gathered(m, row) != m->rank[row])
			abort(); /* keeps the compiler from leaving the work out */
		done += graph_block_work(&m->nodes.graph, (struct block){ row, 1 });
	}
}

/* One thread's share of the rank's nodes. */
static void gather(struct pagerank *m, int thread, struct block mine)
{
	size_t work = graph_block_work(&m->nodes.graph, mine);
	size_t extra = job_extra(&m->job, work);
	int64_t begin_ns = job_work_begin(&m->job);
	m->tally[thread] = (struct pagerank_tally){ 0 };
	for (size_t row = mine.first; row < mine.first + mine.count; row++)
		gather_node(m, row, &m->tally[thread]);
	gather_again(m, mine, extra);
	job_work_end(&m->job, begin_ns, work + extra);
}

/* What every node gets: an equal part of the rank of nodes without edges, and of what is not passed
 * on. */
static void set_base(struct pagerank *m, double dangling)
{
	m->base = (1 - m->damping + m->damping * dangling) / (double)m->nodes.nodes;
}

/* What each rank says of its own nodes takes the place of the shares. */
static void tell_all(const struct pagerank *m, const double *own)
{
	const struct rank_share *nodes = &m->nodes;
	MPI_Allgatherv(own, (int)nodes->own.count, MPI_DOUBLE, m->share, nodes->count, nodes->first,
		       MPI_DOUBLE, MPI_COMM_WORLD);
}

/* What the master of a rank does between two iterations. */
static void update(struct pagerank *m)
{
	struct pagerank_tally *all = m->tally;
#pragma dprof region(update)
	for (int t = 1; t < m->team; t++) {
		all->dangling += m->tally[t].dangling;
		all->change += m->tally[t].change;
	}

	MPI_Allreduce(MPI_IN_PLACE, all, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
	tell_all(m, m->given);

#pragma dprof region(update)
	set_base(m, fixed_value(m->sum, all->dangling));

	MPI_Barrier(MPI_COMM_WORLD);
#pragma dprof progress(iteration)
}

static void iterate(struct pagerank *m)
{
	m->tally = job_alloc((size_t)m->job.threads, sizeof *m->tally);
#pragma omp parallel num_threads(m->job.threads)
	{
		int thread = omp_get_thread_num();
#pragma omp master
		m->team = omp_get_num_threads();
#pragma omp barrier
		struct block mine = graph_part(&m->nodes.graph, m->team, thread);
		for (long i = 0; i < m->job.iterations; i++) {
#pragma dprof region(gather)
			gather(m, thread, mine);

#pragma omp barrier
#pragma omp master
			update(m);
#pragma omp barrier
		}
	}
}

/* ---- Input and output ---------------------------------------------------------------------- */

/* How many edges leave each node: how often it is a neighbour. */
static void count_degrees(struct pagerank *m)
{
	const struct adjacency *g = &m->nodes.graph;
	uint32_t *degree = job_alloc(m->nodes.nodes, sizeof *degree);
	for (uint32_t n = 0; n < g->start[g->rows]; n++)
		degree[g->neighbour[n]]++;
	MPI_Allreduce(MPI_IN_PLACE, degree, (int)m->nodes.nodes, MPI_UINT32_T, MPI_SUM,
		      MPI_COMM_WORLD);
	m->degree = job_alloc(m->nodes.own.count, sizeof *m->degree);
	for (size_t i = 0; i < m->nodes.own.count; i++)
		m->degree[i] = degree[m->nodes.own.first + i];
	free(degree);
}

/* All nodes have the same rank, and so share it. */
static void begin(struct pagerank *m)
{
	double equal = 1 / (double)m->nodes.nodes, dangling = 0;
	size_t own = m->nodes.own.count;
	m->rank = job_alloc(own, sizeof *m->rank);
	m->given = job_alloc(own, sizeof *m->given);
	m->share = job_alloc(m->nodes.nodes, sizeof *m->share);
	for (size_t i = 0; i < own; i++) {
		m->rank[i] = equal;
		m->given[i] = m->degree[i] ? equal / m->degree[i] : 0;
		dangling += !m->degree[i];
	}
	MPI_Allreduce(MPI_IN_PLACE, &dangling, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	tell_all(m, m->given);
	m->sum = fixed_for(2, 1);
	set_base(m, dangling * equal);
}

/* For each node its id and its rank, with all its digits. */
static void write_ranks(FILE *f, const void *what)
{
	const struct pagerank *m = what;
	fprintf(f, "# node\trank\n");
	for (size_t i = 0; i < m->nodes.nodes; i++)
		fprintf(f, "%" PRIu32 "\t%.17g\n", m->nodes.id[i], m->share[i]);
}

static void tell(struct pagerank *m, double seconds)
{
	const struct rank_share *nodes = &m->nodes;
	tell_all(m, m->rank); /* the shares have been used */
	size_t first = 0;
	for (size_t i = 1; i < nodes->nodes; i++)
		if (m->share[i] > m->share[first])
			first = i;
	if (!m->job.rank && !m->job.quiet)
		printf("%zu nodes, %zu edges, %ld iterations, change %.3g, first is %" PRIu32
		       " with %.12g, %.3f s\n", nodes->nodes, nodes->neighbours, m->job.iterations,
		       fixed_value(m->sum, m->tally[0].change), nodes->id[first],
		       m->share[first], seconds);
	job_tell_late(&m->job);
	job_write(&m->job, write_ranks, m);
}

static void free_all(struct pagerank *m)
{
	free(m->tally);
	free(m->degree);
	free(m->rank);
	free(m->given);
	free(m->share);
	share_free(&m->nodes);
}

static const struct argp_option options[] = {
	{ "damping", 'd', "D", 0, "the part of its rank that a node passes on (0.85)", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct pagerank *m = state->input;
	switch (key) {
	case 'd': m->damping = option_real(state, "--damping", arg, 0, 0.999999); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, "FILE",
		"Ranks the nodes of a graph by who points to them.\v"
		"FILE has one edge a line, two ids from 0 to 4294967295 separated by blanks, as "
		"SNAP writes graphs; it may be gzipped. A unit of work is an edge or a node. "
		"20 iterations, if not given. Run it under mpirun.",
		NULL, NULL, NULL,
	};
	struct pagerank m = { .job.iterations = 20, .damping = 0.85 };
	job_begin(&argc, &argv, &argp, &m);
	share_read(&m.nodes, &m.job, GRAPH_BACKWARD);
	count_degrees(&m);
	begin(&m);

	MPI_Barrier(MPI_COMM_WORLD);
	double start = MPI_Wtime();
	iterate(&m);
	double seconds = MPI_Wtime() - start;

	tell(&m, seconds);
	free_all(&m);
	return 0;
}
