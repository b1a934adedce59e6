/* SPDX-License-Identifier: MIT
 *
 * kmeans.c - K-Means with MPI and OpenMP, annotated for dprof.
 *
 * Each rank owns a block of the points, each of its threads a part of that:
 *
 *   every thread   region(assign)   its points to the nearest centres; adds up each centre's points
 *                  omp barrier      the other threads wait here while the master works and waits
 *   the master     region(update)   adds up the sums of its threads
 *                  MPI_Allreduce    ... and of all ranks; who is early waits here
 *                  region(update)   moves the centres
 *                  MPI_Barrier      progress(iteration)
 *   every thread   omp barrier
 *
 * So at any moment a thread is in a region or it waits for others.
 *
 * The first centres are the first distinct points. A centre that is nearest to no point stays. Of
 * two centres at the same distance the first one wins. A last assignment, after the last iteration,
 * gives the sizes and the inertia (sum of squared distances) that belong to the final centres.
 *
 * Law: the result does not depend on the number of ranks and threads, to the last bit (fixed.h). */
#include <inttypes.h>
#include <limits.h>
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common/block.h"
#include "examples/common/fixed.h"
#include "examples/common/job.h"
#include "examples/common/option.h"
#include "examples/common/points.h"

struct kmeans {
	struct job job; /* first: the common options */
	size_t clusters;

	size_t total;          /* points of all ranks */
	struct point_set points;  /* of this rank */
	uint32_t *label;       /* which centre is nearest to each of them */
	double *centre;        /* clusters rows of dimensions; the same on every rank */
	struct fixed coordinate, inertia;
	size_t cells;          /* of one tally: for each cluster its sums and size; the inertia */
	int64_t **tally;       /* of each thread; the first one becomes everybody's */
	int team;              /* threads that work on it */
};

/* The cells of one cluster in a tally: the sum of each coordinate, then how many points. */
static int64_t *tally_of(const struct kmeans *m, int64_t *tally, size_t cluster)
{
	return tally + cluster * (m->points.dimensions + 1);
}

static double distance2(const double *x, const double *y, size_t dimensions)
{
	double sum = 0;
	for (size_t j = 0; j < dimensions; j++)
		sum += (x[j] - y[j]) * (x[j] - y[j]);
	return sum;
}

static uint32_t nearest(const struct kmeans *m, const double *x, double *d2)
{
	size_t dimensions = m->points.dimensions;
	uint32_t best = 0;
	*d2 = distance2(x, m->centre, dimensions);
	for (size_t c = 1; c < m->clusters; c++) {
		double d = distance2(x, m->centre + c * dimensions, dimensions);
		if (d < *d2) {
			*d2 = d;
			best = (uint32_t)c;
		}
	}
	return best;
}

static void assign_point(const struct kmeans *m, size_t i, int64_t *tally)
{
	const double *x = points_at(&m->points, i);
	double d2;
	m->label[i] = nearest(m, x, &d2);
	int64_t *sum = tally_of(m, tally, m->label[i]);
	for (size_t j = 0; j < m->points.dimensions; j++)
		sum[j] += fixed_from(m->coordinate, x[j]);
	sum[m->points.dimensions]++;
	tally[m->cells - 1] += fixed_from(m->inertia, d2);
}

/* The imbalance: finds the nearest centres of some points once more, and nothing new. Time
 * that --pace fixes needs no work to pass. */
static void assign_again(const struct kmeans *m, struct block mine)
{
	size_t extra = job_extra(&m->job, mine.count);
	for (size_t n = 0; n < extra && !m->job.pace_ns; n++) {
		size_t i = mine.first + n % mine.count;
		double d2;
		if (nearest(m, points_at(&m->points, i), &d2) != m->label[i])
			abort(); /* keeps the compiler from leaving the work out */
	}
}

/* One thread's share of the rank's points. */
static void assign(const struct kmeans *m, int thread)
{
	struct block mine = block_of(m->points.count, m->team, thread);
	int64_t begin_ns = job_work_begin(&m->job);
	memset(m->tally[thread], 0, m->cells * sizeof **m->tally);
	for (size_t i = mine.first; i < mine.first + mine.count; i++)
		assign_point(m, i, m->tally[thread]);
	assign_again(m, mine);
	job_work_end(&m->job, begin_ns, mine.count + job_extra(&m->job, mine.count));
}

static void add_threads(const struct kmeans *m)
{
	for (int t = 1; t < m->team; t++)
		for (size_t c = 0; c < m->cells; c++)
			m->tally[0][c] += m->tally[t][c];
}

static void move_centres(struct kmeans *m)
{
	size_t dimensions = m->points.dimensions;
	for (size_t c = 0; c < m->clusters; c++) {
		const int64_t *sum = tally_of(m, m->tally[0], c);
		for (size_t j = 0; sum[dimensions] && j < dimensions; j++)
			m->centre[c * dimensions + j] =
				fixed_value(m->coordinate, sum[j]) / (double)sum[dimensions];
	}
}

/* What the master of a rank does between two assignments. */
static void update(struct kmeans *m, bool last)
{
#pragma dprof region(update)
	add_threads(m);

	MPI_Allreduce(MPI_IN_PLACE, m->tally[0], (int)m->cells, MPI_INT64_T, MPI_SUM,
		      MPI_COMM_WORLD);

#pragma dprof region(update)
	if (!last)
		move_centres(m);

	MPI_Barrier(MPI_COMM_WORLD);
#pragma dprof progress(iteration)
}

static void iterate(struct kmeans *m)
{
	m->tally = job_alloc((size_t)m->job.threads, sizeof *m->tally);
#pragma omp parallel num_threads(m->job.threads)
	{
		int thread = omp_get_thread_num();
		m->tally[thread] = job_alloc(m->cells, sizeof **m->tally);
#pragma omp master
		m->team = omp_get_num_threads();
#pragma omp barrier
		for (long i = 0; i <= m->job.iterations; i++) {
#pragma dprof region(assign)
			assign(m, thread);

#pragma omp barrier
#pragma omp master
			update(m, i == m->job.iterations);
#pragma omp barrier
		}
	}
}

/* ---- Input and output ---------------------------------------------------------------------- */

static bool is_centre(const struct kmeans *m, const double *centre, size_t centres, const double *x)
{
	for (size_t c = 0; c < centres; c++)
		if (distance2(centre + c * m->points.dimensions, x, m->points.dimensions) == 0)
			return true;
	return false;
}

/* The first distinct points become the centres. */
static bool choose_centres(struct kmeans *m)
{
	size_t row = m->points.dimensions, found = 0;
	m->centre = job_alloc(m->clusters * row, sizeof *m->centre);
	for (size_t i = 0; i < m->points.count && found < m->clusters; i++) {
		const double *x = points_at(&m->points, i);
		if (!is_centre(m, m->centre, found, x))
			memcpy(m->centre + found++ * row, x, row * sizeof *x);
	}
	if (found == m->clusters)
		return true;
	fprintf(stderr, "%s: expected at least %zu distinct points for as many clusters, "
		"found %zu\n", m->job.file, m->clusters, found);
	return false;
}

/* Whether MPI's counts, which are int, can say it all. */
static bool check_size(const struct kmeans *m)
{
	size_t row = m->points.dimensions;
	if (m->points.count <= INT_MAX && row < INT_MAX / m->clusters - 1)
		return true;
	fprintf(stderr, "%s: expected at most %d points and as many coordinates of centres, "
		"found %zu points and %zu x %zu coordinates\n",
		m->job.file, INT_MAX, m->points.count, m->clusters, row);
	return false;
}

/* Rank 0 has read all points; gives each rank its block of them. */
static void scatter(struct kmeans *m)
{
	const struct job *job = &m->job;
	int *count = job_alloc((size_t)job->size, sizeof *count);
	int *first = job_alloc((size_t)job->size, sizeof *first);
	for (int r = 0; r < job->size; r++) {
		struct block block = block_of(m->total, job->size, r);
		count[r] = (int)block.count;
		first[r] = (int)block.first;
	}
	double *all = m->points.x;
	m->points.count = (size_t)count[job->rank];
	m->points.x = job_alloc(m->points.count * m->points.dimensions, sizeof(double));

	MPI_Datatype point;
	MPI_Type_contiguous((int)m->points.dimensions, MPI_DOUBLE, &point);
	MPI_Type_commit(&point);
	MPI_Scatterv(all, count, first, point, m->points.x, count[job->rank], point, 0,
		     MPI_COMM_WORLD);
	MPI_Type_free(&point);
	free(all);
	free(count);
	free(first);
}

static void read_points(struct kmeans *m)
{
	job_agree(m->job.rank ||
		  (points_read(&m->points, m->job.file) && check_size(m) && choose_centres(m)));

	uint64_t shape[] = { m->points.count, m->points.dimensions };
	MPI_Bcast(shape, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD);
	MPI_Bcast(&m->points.greatest, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	m->total = shape[0];
	m->points.dimensions = shape[1];
	m->cells = m->clusters * (m->points.dimensions + 1) + 1;
	double greatest = m->points.greatest;
	m->coordinate = fixed_for(greatest, m->total);
	m->inertia = fixed_for(4 * greatest * greatest * (double)shape[1], m->total);

	size_t coordinates = m->clusters * m->points.dimensions;
	if (m->job.rank)
		m->centre = job_alloc(coordinates, sizeof *m->centre);
	MPI_Bcast(m->centre, (int)coordinates, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	scatter(m);
	m->label = job_alloc(m->points.count, sizeof *m->label);
}

/* For each centre its size and its coordinates, with all their digits. */
static void write_centres(FILE *f, const void *what)
{
	const struct kmeans *m = what;
	fprintf(f, "# size,coordinates of the centre\n");
	for (size_t c = 0; c < m->clusters; c++) {
		int64_t size = tally_of(m, m->tally[0], c)[m->points.dimensions];
		fprintf(f, "%" PRId64, size);
		for (size_t j = 0; j < m->points.dimensions; j++)
			fprintf(f, ",%.17g", m->centre[c * m->points.dimensions + j]);
		fputc('\n', f);
	}
}

static void tell(const struct kmeans *m, double seconds)
{
	if (!m->job.rank && !m->job.quiet)
		printf("%zu points x %zu, %zu clusters, %ld iterations, inertia %.12g, %.3f s\n",
		       m->total, m->points.dimensions, m->clusters, m->job.iterations,
		       fixed_value(m->inertia, m->tally[0][m->cells - 1]), seconds);
	job_tell_late(&m->job);
	job_write(&m->job, write_centres, m);
}

static void free_all(struct kmeans *m)
{
	for (int t = 0; t < m->team; t++)
		free(m->tally[t]);
	free(m->tally);
	free(m->centre);
	free(m->label);
	points_free(&m->points);
}

static const struct argp_option options[] = {
	{ "clusters", 'k', "K", 0, "how many clusters to find (8)", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct kmeans *m = state->input;
	switch (key) {
	case 'k': m->clusters = (size_t)option_number(state, "--clusters", arg, 1, 1000000); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, "FILE",
		"Finds clusters of points.\v"
		"FILE has one point a line, its coordinates separated by commas or blanks; it may be "
		"gzipped. The first centres are the first distinct points. A unit of work is a point. "
		"20 iterations, if not given. Run it under mpirun.",
		NULL, NULL, NULL,
	};
	struct kmeans m = { .job.iterations = 20, .clusters = 8 };
	job_begin(&argc, &argv, &argp, &m);
	read_points(&m);

	MPI_Barrier(MPI_COMM_WORLD);
	double start = MPI_Wtime();
	iterate(&m);
	double seconds = MPI_Wtime() - start;

	tell(&m, seconds);
	free_all(&m);
	return 0;
}
