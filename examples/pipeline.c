/* SPDX-License-Identifier: MIT
 *
 * pipeline.c - items go from rank to rank, each of which does its part with each of them; annotated for dprof.
 *
 *   rank 0     region(init)              what it has to do before the first item (--init)
 *              region(source)            makes an item
 *   others     MPI_Recv                  the next item of the rank before
 *              region(filter)            changes it; on the last rank region(sink): adds it up; progress(item)
 *   all but it MPI_Send, or MPI_Ssend    to the next rank, which may keep it, or must have come for it (--synchronous)
 *
 * The slowest stage decides how fast items go by (--imbalance makes one slow): those before it wait for it to receive if they
 * are synchronous, those behind it wait for what it sends. Until the first item has reached the last rank, and since the last one
 * has left the first, some have nothing to do: the fewer items there are, the more that is (--items).
 *
 * Law: the sum is that of a loop on one processor. */
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>

#include "examples/common/job.h"
#include "examples/common/option.h"
#include "examples/common/pace.h"

#define TAG_ITEM 1
enum { KEY_ITEMS = 0x200, KEY_INIT, KEY_SYNCHRONOUS };

struct pipeline {
	struct job job; /* first: the common options */
	long items, init_us;
	bool synchronous;
};

/* One unit of work; each stage does another. */
static uint64_t change(const struct pipeline *p, uint64_t item)
{
	int64_t begin_ns = job_work_begin(&p->job);
	size_t extra = job_extra(&p->job, 100); /* in hundredths, of a hundred */
	item = item * UINT64_C(6364136223846793005) + (uint64_t)p->job.rank;
	job_work_end(&p->job, begin_ns, 100 + extra);
	return item;
}

static void pass_on(const struct pipeline *p, uint64_t item)
{
	if (p->synchronous)
		MPI_Ssend(&item, 1, MPI_UINT64_T, p->job.rank + 1, TAG_ITEM, MPI_COMM_WORLD);
	else
		MPI_Send(&item, 1, MPI_UINT64_T, p->job.rank + 1, TAG_ITEM, MPI_COMM_WORLD);
}

static uint64_t next_item(const struct pipeline *p)
{
	uint64_t item;
	MPI_Recv(&item, 1, MPI_UINT64_T, p->job.rank - 1, TAG_ITEM, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return item;
}

static void be_source(const struct pipeline *p)
{
#pragma dprof region(init)
	if (p->init_us)
		pace_until(pace_now() + p->init_us * 1000LL);
	for (long i = 1; i <= p->items; i++) {
		uint64_t item;
#pragma dprof region(source)
		item = change(p, (uint64_t)i);
		pass_on(p, item);
	}
}

static void be_filter(const struct pipeline *p)
{
	for (long i = 0; i < p->items; i++) {
		uint64_t item = next_item(p);
#pragma dprof region(filter)
		item = change(p, item);
		pass_on(p, item);
	}
}

static uint64_t be_sink(const struct pipeline *p)
{
	uint64_t sum = 0;
	for (long i = 0; i < p->items; i++) {
		uint64_t item = next_item(p);
#pragma dprof region(sink)
		sum += change(p, item);
#pragma dprof progress(item)
	}
	return sum;
}

static const struct argp_option options[] = {
	{ "items", KEY_ITEMS, "N", 0, "that go through (50)", 0 },
	{ "init", KEY_INIT, "US", 0, "the first rank works for US microseconds before the first item", 0 },
	{ "synchronous", KEY_SYNCHRONOUS, NULL, 0, "a rank goes on when the next one has its item", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct pipeline *p = state->input;
	switch (key) {
	case KEY_ITEMS: p->items = option_number(state, "--items", arg, 1, 1000000); return 0;
	case KEY_INIT: p->init_us = option_number(state, "--init", arg, 0, 1000000000); return 0;
	case KEY_SYNCHRONOUS: p->synchronous = true; return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, NULL,
		"Sends items through a pipeline of ranks.\v"
		"A hundred units of work are one item in one stage. Run it under mpirun, on two ranks or more.",
		NULL, NULL, NULL,
	};
	struct pipeline p = { .job.no_file = true, .items = 50 };
	uint64_t sum = 0;
	job_begin(&argc, &argv, &argp, &p);
	if (p.job.size < 2 && !p.job.rank)
		fprintf(stderr, "pipeline: expected two ranks or more, found one\n");
	job_agree(p.job.size > 1);
	MPI_Barrier(MPI_COMM_WORLD);
	double start = MPI_Wtime();
	if (p.job.rank == 0)
		be_source(&p);
	else if (p.job.rank < p.job.size - 1)
		be_filter(&p);
	else
		sum = be_sink(&p);
	MPI_Barrier(MPI_COMM_WORLD);
	if (p.job.rank == p.job.size - 1 && !p.job.quiet)
		printf("%ld items through %d stages, sum %016" PRIx64 ", %.3f s\n", p.items, p.job.size, sum, MPI_Wtime() - start);
	job_tell_late(&p.job);
	return 0;
}
