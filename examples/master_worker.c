/* SPDX-License-Identifier: MIT
 *
 * master_worker.c - the area of the Mandelbrot set: one rank deals out rows to those who ask,
 * annotated for dprof.
 *
 *   rank 0     region(init)        what it has to do before it deals anything out (--init)
 *              MPI_Recv            from whoever is done first (MPI_ANY_SOURCE)
 *              region(handle)      adds up (--handle)
 *              region(setup)       chooses the next rows (--setup)
 *              MPI_Send            ... which go to that worker; no rows: it is over
 *   a worker   region(compute)     the points of its rows; progress(piece)
 *              MPI_Send, MPI_Recv  what it found; its next rows
 *
 * Rows differ in work, and so may workers (--imbalance). Dealt in small pieces (--chunk), that
 * evens out; the larger a piece, or the last one (--last), the longer one worker works while all
 * others wait. examples/README.md says how to have each of the faults that such programs have.
 *
 * Law: the count does not depend on the number of ranks nor on the pieces. */
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>

#include "examples/common/job.h"
#include "examples/common/option.h"
#include "examples/common/pace.h"

#define STEPS 1000 /* after which a point that stayed near is counted */

enum { TAG_ROWS = 1, TAG_COUNT };
enum { KEY_LAST = 0x200, KEY_INIT, KEY_HANDLE, KEY_SETUP };

struct image_rows { int64_t first, count; };

struct dealing {
	struct job job;
	long rows, chunk, last;
	long init_us, handle_us, setup_us; /* that the master takes: once, for each answer, for each piece */
};

/* ---- The work ------------------------------------------------------------------------------- */

static bool stays(double re, double im)
{
	double x = 0, y = 0;
	int step = 0;
	while (step < STEPS && x * x + y * y <= 4) {
		double next = x * x - y * y + re;
		y = 2 * x * y + im;
		x = next;
		step++;
	}
	return step == STEPS;
}

/* Points of a square from -2-2i to 2+2i that belong to the set. */
static int64_t count_row(const struct dealing *m, int64_t row)
{
	double unit = 4.0 / (double)m->rows;
	int64_t count = 0;
	for (int64_t i = 0; i < m->rows; i++)
		count += stays(((double)i + 0.5) * unit - 2, ((double)row + 0.5) * unit - 2);
	return count;
}

static int64_t compute(const struct dealing *m, struct image_rows rows)
{
	int64_t begin_ns = job_work_begin(&m->job), count = 0;
	size_t extra = job_extra(&m->job, (size_t)rows.count);
	for (int64_t i = 0; i < rows.count; i++)
		count += count_row(m, rows.first + i);
	for (size_t i = 0; i < extra; i++)
		if (count_row(m, rows.first + (int64_t)i % rows.count) < 0)
			count++; /* never: keeps the compiler from leaving the work out */
	job_work_end(&m->job, begin_ns, (size_t)rows.count + extra);
	return count;
}

/* ---- Who does it ---------------------------------------------------------------------------- */

/* The rows that are left when `last` are, or so many, are one piece. */
static struct image_rows take(const struct dealing *m, int64_t *next)
{
	int64_t left = m->rows - *next, chunk = left > m->last && left - m->chunk < m->last ? left - m->last : m->chunk;
	struct image_rows piece = { *next, left <= m->last || left < chunk ? left : chunk };
	*next += piece.count;
	return piece;
}

/* The master's own work: it sleeps. */
static void take_time(long us)
{
	if (us)
		pace_until(pace_now() + us * 1000LL);
}

static int64_t deal(const struct dealing *m)
{
	int64_t next = 0, sum = 0;
#pragma dprof region(init)
	take_time(m->init_us);
	for (int working = m->job.size - 1; working > 0;) {
		int64_t count;
		struct image_rows piece = { 0, 0 };
		MPI_Status from;
		MPI_Recv(&count, 1, MPI_INT64_T, MPI_ANY_SOURCE, TAG_COUNT, MPI_COMM_WORLD, &from);
#pragma dprof region(handle)
		{
			take_time(m->handle_us);
			sum += count;
		}
		if (next < m->rows) {
#pragma dprof region(setup)
			{
				take_time(m->setup_us);
				piece = take(m, &next);
			}
		}
		working -= piece.count == 0;
		MPI_Send(&piece, 2, MPI_INT64_T, from.MPI_SOURCE, TAG_ROWS, MPI_COMM_WORLD);
	}
	return sum;
}

static void work(const struct dealing *m)
{
	int64_t count = 0; /* of nothing: that is how to ask for the first rows */
	for (;;) {
		struct image_rows piece;
		MPI_Send(&count, 1, MPI_INT64_T, 0, TAG_COUNT, MPI_COMM_WORLD);
		MPI_Recv(&piece, 2, MPI_INT64_T, 0, TAG_ROWS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (piece.count == 0)
			return;
#pragma dprof region(compute)
		count = compute(m, piece);
#pragma dprof progress(piece)
	}
}

/* Of one rank, which is its own worker. */
static int64_t work_alone(const struct dealing *m)
{
	int64_t next = 0, sum = 0;
	for (struct image_rows piece = take(m, &next); piece.count; piece = take(m, &next)) {
#pragma dprof region(compute)
		sum += compute(m, piece);
	}
	return sum;
}

/* ---- All ------------------------------------------------------------------------------------ */

static const struct argp_option options[] = {
	{ "rows", 'r', "N", 0, "the square has N rows of N points (256)", 0 },
	{ "chunk", 'c', "N", 0, "so many rows are dealt at a time (4)", 0 },
	{ "last", KEY_LAST, "N", 0, "the last N rows are one piece (0: like all others)", 0 },
	{ "init", KEY_INIT, "US", 0, "the master works for US microseconds before it deals anything out", 1 },
	{ "handle", KEY_HANDLE, "US", 0, "... for each answer that it takes", 1 },
	{ "setup", KEY_SETUP, "US", 0, "... for each piece that it deals out", 1 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct dealing *m = state->input;
	switch (key) {
	case 'r': m->rows = option_number(state, "--rows", arg, 1, 1000000); return 0;
	case 'c': m->chunk = option_number(state, "--chunk", arg, 1, 1000000); return 0;
	case KEY_LAST: m->last = option_number(state, "--last", arg, 0, 1000000); return 0;
	case KEY_INIT: m->init_us = option_number(state, "--init", arg, 0, 1000000000); return 0;
	case KEY_HANDLE: m->handle_us = option_number(state, "--handle", arg, 0, 1000000000); return 0;
	case KEY_SETUP: m->setup_us = option_number(state, "--setup", arg, 0, 1000000000); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, NULL,
		"Counts points of the Mandelbrot set.\v"
		"Rank 0 deals out rows, all others work. A unit of work is a row. Once, if not "
		"given. Run it under mpirun.",
		NULL, NULL, NULL,
	};
	struct dealing m = { .job = { .iterations = 1, .no_file = true },
				   .rows = 256, .chunk = 4 };
	int64_t count = 0;
	job_begin(&argc, &argv, &argp, &m);
	MPI_Barrier(MPI_COMM_WORLD);
	double start = MPI_Wtime();
	for (long i = 0; i < m.job.iterations; i++) {
		if (m.job.size == 1)
			count = work_alone(&m);
		else if (m.job.rank == 0)
			count = deal(&m);
		else
			work(&m);
		MPI_Barrier(MPI_COMM_WORLD); /* or who begins anew would be told that it is over */
	}
	if (m.job.rank == 0 && !m.job.quiet)
		printf("%ld rows, %" PRId64 " points, area %.6f, %.3f s\n", m.rows, count,
		       16.0 * (double)count / ((double)m.rows * (double)m.rows),
		       MPI_Wtime() - start);
	job_tell_late(&m.job);
	return 0;
}
