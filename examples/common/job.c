/* SPDX-License-Identifier: MIT
 *
 * job.c - what the MPI examples have in common: options, one voice, an orderly end. */
#include "examples/common/job.h"

#include <math.h>
#include <mpi.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common/option.h"
#include "examples/common/pace.h"

#define MAX_THREADS 4096
#define CACHE_LINE  64

enum { KEY_IMBALANCE = 0x100, KEY_PACE };

static atomic_long late; /* pieces of work that took longer than their pace */

static const struct argp_option job_options[] = {
	{ "iterations", 'n', "N", 0, "how often the whole work is done", 0 },
	{ "threads", 't', "T", 0, "threads of each rank (OMP_NUM_THREADS)", 0 },
	{ "imbalance", KEY_IMBALANCE, "R:PERCENT", 0,
	  "rank R does so much more work; the result stays the same", 0 },
	{ "pace", KEY_PACE, "NS", 0,
	  "a unit of work takes NS nanoseconds: what computing leaves of them is slept", 0 },
	{ "output", 'o', "FILE", 0, "write the result to FILE", 0 },
	{ "quiet", 'q', NULL, 0, "no line with the result", 0 },
	{ 0 },
};

static void read_imbalance(struct argp_state *state, struct job *job, const char *text)
{
	char *end;
	double percent = 0;
	long rank = strtol(text, &end, 10);
	bool good = end != text && *end == ':';
	if (good) {
		const char *from = end + 1;
		percent = strtod(from, &end);
		good = end != from && !*end && percent >= 0 && percent <= 10000;
	}
	if (!good)
		argp_error(state, "--imbalance: expected RANK:PERCENT with 0 to 10000 percent, "
			   "found \"%s\"", text);
	if (rank < 0 || rank >= job->size)
		argp_error(state, "--imbalance: expected a rank from 0 to %d, found %ld",
			   job->size - 1, rank);
	job->imbalanced_rank = rank;
	job->imbalance_percent = percent;
}

static error_t parse_job(int key, char *arg, struct argp_state *state)
{
	struct job *job = state->input;
	switch (key) {
	case 'n': job->iterations = option_number(state, "--iterations", arg, 1, 1000000); return 0;
	case 't': job->threads = option_number(state, "--threads", arg, 1, MAX_THREADS); return 0;
	case KEY_PACE: job->pace_ns = option_number(state, "--pace", arg, 0, 1000000000); return 0;
	case 'o': job->output = arg; return 0;
	case 'q': job->quiet = true; return 0;
	case KEY_IMBALANCE: read_imbalance(state, job, arg); return 0;
	case ARGP_KEY_ARG:
		if (job->file || job->no_file)
			return ARGP_ERR_UNKNOWN;
		job->file = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		if (!job->no_file)
			argp_error(state, "which FILE?");
		return 0;
	case ARGP_KEY_INIT: state->child_inputs[0] = state->input; return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static void finalize(void)
{
	fflush(stdout); /* before mpirun sees the first rank end */
	MPI_Finalize();
}

void job_begin(int *argc, char ***argv, const struct argp *own, void *options)
{
	struct job *job = options;
	int level;
	MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level);
	atexit(finalize); /* argp ends the program itself */
	MPI_Comm_rank(MPI_COMM_WORLD, &job->rank);
	MPI_Comm_size(MPI_COMM_WORLD, &job->size);
	job->threads = omp_get_max_threads();
	job->imbalanced_rank = -1;

	struct argp_child children[] = { { own, 0, NULL, 0 }, { 0 } };
	struct argp both = { .options = job_options, .parser = parse_job, .children = children };
	FILE *out = stdout, *err = stderr;
	if (job->rank) /* all have the same arguments; one says what is wrong with them */
		stdout = stderr = fopen("/dev/null", "w");
	argp_err_exit_status = 2;
	argp_parse(&both, *argc, *argv, 0, NULL, options);
	if (job->rank)
		fclose(stdout);
	stdout = out;
	stderr = err;
}

void job_agree(bool fine)
{
	int agreed = fine;
	MPI_Bcast(&agreed, 1, MPI_INT, 0, MPI_COMM_WORLD);
	if (!agreed)
		exit(1);
}

static bool write_file(const char *name, void (*write)(FILE *f, const void *what), const void *what)
{
	FILE *f = fopen(name, "w");
	if (f)
		write(f, what);
	if (f && !ferror(f) && !fclose(f))
		return true;
	perror(name);
	return false;
}

void job_write(const struct job *job, void (*write)(FILE *f, const void *what), const void *what)
{
	job_agree(job->rank || !job->output || write_file(job->output, write, what));
}

size_t job_extra(const struct job *job, size_t count)
{
	if (job->rank != job->imbalanced_rank)
		return 0;
	return (size_t)llround((double)count * job->imbalance_percent / 100);
}

int64_t job_work_begin(const struct job *job)
{
	return job->pace_ns ? pace_now() : 0;
}

void job_work_end(const struct job *job, int64_t begin_ns, size_t units)
{
	if (!job->pace_ns)
		return;
	int64_t end_ns = begin_ns + (int64_t)units * job->pace_ns;
	if (end_ns < pace_now())
		atomic_fetch_add(&late, 1);
	pace_until(end_ns);
}

void job_tell_late(const struct job *job)
{
	long mine = late, all = 0;
	MPI_Reduce(&mine, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	if (all)
		fprintf(stderr, "--pace %ld: %ld pieces of work took longer\n", job->pace_ns, all);
}

static void *zeroed(size_t count, size_t size)
{
	if (size % CACHE_LINE)
		return calloc(count, size);
	void *p = count <= SIZE_MAX / size ? aligned_alloc(CACHE_LINE, count * size) : NULL;
	return p ? memset(p, 0, count * size) : NULL;
}

void *job_alloc(size_t count, size_t size)
{
	void *p = zeroed(count ? count : 1, size);
	if (!p) {
		fprintf(stderr, "no memory for %zu times %zu bytes\n", count, size);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	return p;
}
