/* SPDX-License-Identifier: MIT
 *
 * ring.c - a token goes round a ring of ranks, annotated for dprof.
 *
 *   each rank   MPI_Recv            from the rank before it
 *               region(handle)      works on the token
 *               MPI_Send            to the next one; after rank 0: progress(lap)
 *
 * Only one rank works at a time: a lap takes as long as all members together, and whatever one of
 * them (--imbalance) takes longer. Without work (--work 0) a lap is as many latencies as there are
 * ranks.
 *
 * Law: the token that comes back does not depend on how long any rank took. */
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>

#include "examples/common/job.h"
#include "examples/common/option.h"

#define TAG_TOKEN 1
#define ROUNDS    1000 /* of a unit of work */

struct ring {
	struct job job;
	int before, next;
	long work;
};

/* One step of a generator: it goes through all numbers of 64 bits. */
static uint64_t step(uint64_t token)
{
	return token * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
}

static volatile uint64_t thrown_away; /* keeps the compiler from leaving work out */

static uint64_t handle(const struct ring *r, uint64_t token)
{
	int64_t begin_ns = job_work_begin(&r->job);
	size_t units = (size_t)r->work, extra = job_extra(&r->job, units);
	uint64_t other = token;
	for (size_t i = 0; i < units * ROUNDS + 1; i++)
		token = step(token);
	for (size_t i = 0; i < extra * ROUNDS; i++)
		other = step(other);
	thrown_away = other;
	job_work_end(&r->job, begin_ns, units + extra);
	return token;
}

static uint64_t receive(const struct ring *r)
{
	uint64_t token;
	MPI_Recv(&token, 1, MPI_UINT64_T, r->before, TAG_TOKEN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return token;
}

static void send(const struct ring *r, uint64_t token)
{
	MPI_Send(&token, 1, MPI_UINT64_T, r->next, TAG_TOKEN, MPI_COMM_WORLD);
}

/* What comes back to rank 0; others return what they saw last. */
static uint64_t go_round(const struct ring *r, double *fastest)
{
	uint64_t token = 1;
	for (long lap = 0; lap < r->job.iterations; lap++) {
		double start = MPI_Wtime(), took;
		if (r->job.rank)
			token = receive(r);
#pragma dprof region(handle)
		token = handle(r, token);
		send(r, token);
		if (r->job.rank)
			continue;
		token = receive(r);
#pragma dprof progress(lap)
		took = MPI_Wtime() - start;
		*fastest = lap && *fastest < took ? *fastest : took;
	}
	return token;
}

static const struct argp_option options[] = {
	{ "work", 'w', "N", 0, "each rank does N units of work on the token (100)", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct ring *r = state->input;
	if (key != 'w')
		return ARGP_ERR_UNKNOWN;
	r->work = option_number(state, "--work", arg, 0, 1000000);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, NULL,
		"Sends a token round a ring of ranks.\v"
		"A unit of work is a thousand steps of a generator. 100 laps (--iterations), if "
		"not given. Run it under mpirun, on two ranks or more.",
		NULL, NULL, NULL,
	};
	struct ring r = { .job = { .iterations = 100, .no_file = true }, .work = 100 };
	job_begin(&argc, &argv, &argp, &r);
	if (r.job.size < 2 && !r.job.rank)
		fprintf(stderr, "ring: expected two ranks or more, found one\n");
	job_agree(r.job.size > 1);
	r.next = (r.job.rank + 1) % r.job.size;
	r.before = (r.job.rank + r.job.size - 1) % r.job.size;
	MPI_Barrier(MPI_COMM_WORLD);
	double start = MPI_Wtime(), fastest = 0;
	uint64_t token = go_round(&r, &fastest);
	double mean = (MPI_Wtime() - start) / (double)r.job.iterations;
	if (!r.job.rank && !r.job.quiet)
		printf("%ld laps of %d ranks, token %016" PRIx64 ", a lap %.1f us in the mean, %.1f "
		       "the fastest\n", r.job.iterations, r.job.size, token, mean * 1e6, fastest * 1e6);
	job_tell_late(&r.job);
	return 0;
}
