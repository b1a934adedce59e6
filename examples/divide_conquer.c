/* SPDX-License-Identifier: MIT
 *
 * divide_conquer.c - sorts random numbers: whoever has several ranks gives some of them a part of its numbers; annotated for
 * dprof.
 *
 *   rank 0      region(make)       the numbers
 *   who has several ranks
 *               region(divide)     chooses the part (--uneven: so much stays), and sends it to the first rank of the other half
 *   each rank   region(solve)      sorts what it has left
 *   who divided MPI_Recv           the other part, sorted
 *               region(combine)    merges both (--combine: so much slower)
 *
 * With more ranks the tree is higher, not the work at its root: what rank 0 makes, divides and combines is on the critical path
 * however many help. Of two parts that differ (--uneven, or --imbalance of a rank) the lesser one's ranks wait.
 *
 * Law: the numbers come out sorted, none is lost, and they do not depend on the number of ranks. */
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "examples/common/job.h"
#include "examples/common/option.h"

#define TAG_PART 1
#define SMALL    10 /* dividing and combining take 1 of so many units a number */
enum { KEY_NUMBERS = 0x200, KEY_UNEVEN, KEY_COMBINE };

struct merge_sorter {
	struct job job; /* first: the common options */
	long numbers, uneven, combine;
};

struct numbers { uint64_t *of; size_t count; };

/* ---- The work -------------------------------------------------------------------------------- */

static struct numbers make(const struct merge_sorter *s)
{
	struct numbers x = { job_alloc((size_t)s->numbers, sizeof *x.of), (size_t)s->numbers };
	uint64_t state = 1;
	int64_t begin_ns = job_work_begin(&s->job);
	for (size_t i = 0; i < x.count; i++)
		x.of[i] = (state = state * UINT64_C(6364136223846793005) + 1) >> 11;
	job_work_end(&s->job, begin_ns, x.count / SMALL);
	return x;
}

/* How many of them stay where they are, for so many ranks of all. */
static size_t divide(const struct merge_sorter *s, size_t count, int stay, int all)
{
	int64_t begin_ns = job_work_begin(&s->job);
	size_t stays = s->uneven ? count * (size_t)s->uneven / 100 : count * (size_t)stay / (size_t)all;
	job_work_end(&s->job, begin_ns, count / SMALL);
	return stays;
}

static int ascending(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
	return (a > b) - (a < b);
}

static void solve(const struct merge_sorter *s, struct numbers *x)
{
	int64_t begin_ns = job_work_begin(&s->job);
	qsort(x->of, x->count, sizeof *x->of, ascending);
	job_work_end(&s->job, begin_ns, x->count + job_extra(&s->job, x->count));
}

/* Into x; y is freed. */
static void combine(const struct merge_sorter *s, struct numbers *x, struct numbers *y)
{
	int64_t begin_ns = job_work_begin(&s->job);
	size_t n = x->count + y->count, i = 0, k = 0;
	uint64_t *both = job_alloc(n, sizeof *both);
	while (i + k < n) {
		bool first = k == y->count || (i < x->count && x->of[i] <= y->of[k]);
		both[i + k] = first ? x->of[i] : y->of[k];
		*(first ? &i : &k) += 1;
	}
	free(x->of);
	free(y->of);
	*x = (struct numbers){ both, n };
	job_work_end(&s->job, begin_ns, n / SMALL * (size_t)s->combine / 100);
}

/* ---- Who does it ----------------------------------------------------------------------------- */

static void send(const uint64_t *numbers, size_t count, int to)
{
	MPI_Send(numbers, (int)count, MPI_UINT64_T, to, TAG_PART, MPI_COMM_WORLD);
}

/* How many they are the message says. */
static struct numbers receive(const struct merge_sorter *s, int from)
{
	struct numbers x = { job_alloc((size_t)s->numbers, sizeof *x.of), 0 };
	MPI_Status status;
	int count;
	MPI_Recv(x.of, (int)s->numbers, MPI_UINT64_T, from, TAG_PART, MPI_COMM_WORLD, &status);
	MPI_Get_count(&status, MPI_UINT64_T, &count);
	x.count = (size_t)count;
	return x;
}

static void sort_on(const struct merge_sorter *s, struct numbers *x, int first, int ranks);

/* The first half of the ranks keeps some, the other half sorts the rest. */
static void share(const struct merge_sorter *s, struct numbers *x, int first, int ranks)
{
	int stay = ranks - ranks / 2, other = first + stay;
	if (s->job.rank == first) {
		size_t stays;
#pragma dprof region(divide)
		stays = divide(s, x->count, stay, ranks);
		send(x->of + stays, x->count - stays, other);
		x->count = stays;
	} else if (s->job.rank == other) {
		*x = receive(s, first);
	}
	if (s->job.rank < other)
		sort_on(s, x, first, stay);
	else
		sort_on(s, x, other, ranks - stay);
	if (s->job.rank == other) {
		send(x->of, x->count, first);
	} else if (s->job.rank == first) {
		struct numbers rest = receive(s, other);
#pragma dprof region(combine)
		combine(s, x, &rest);
	}
}

/* What so many ranks from `first` on do with the numbers that this one has. */
static void sort_on(const struct merge_sorter *s, struct numbers *x, int first, int ranks)
{
	if (ranks > 1) {
		share(s, x, first, ranks);
		return;
	}
#pragma dprof region(solve)
	solve(s, x);
}

/* ---- Input and output ------------------------------------------------------------------------ */

static bool is_sorted(const struct numbers *x)
{
	for (size_t i = 1; i < x->count; i++)
		if (x->of[i - 1] > x->of[i])
			return false;
	return true;
}

static void tell(const struct numbers *x, double seconds)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < x->count; i++)
		sum = sum * 31 + x->of[i];
	printf("%zu numbers, %s, sum %016" PRIx64 ", %.3f s\n", x->count, is_sorted(x) ? "sorted" : "NOT SORTED", sum, seconds);
}

static const struct argp_option options[] = {
	{ "numbers", KEY_NUMBERS, "N", 0, "to be sorted (10000)", 0 },
	{ "uneven", KEY_UNEVEN, "PERCENT", 0, "who divides keeps so many (as many as its ranks' share)", 0 },
	{ "combine", KEY_COMBINE, "PERCENT", 0, "combining takes so much of its time, which is a tenth of solving (100)", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct merge_sorter *s = state->input;
	switch (key) {
	case KEY_NUMBERS: s->numbers = option_number(state, "--numbers", arg, 1, 100000000); return 0;
	case KEY_UNEVEN: s->uneven = option_number(state, "--uneven", arg, 1, 99); return 0;
	case KEY_COMBINE: s->combine = option_number(state, "--combine", arg, 0, 100000); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, NULL,
		"Sorts random numbers.\v"
		"A unit of work is a number that is sorted. Run it under mpirun.",
		NULL, NULL, NULL,
	};
	struct merge_sorter s = { .job.no_file = true, .numbers = 10000, .combine = 100 };
	struct numbers x = { NULL, 0 };
	job_begin(&argc, &argv, &argp, &s);
	MPI_Barrier(MPI_COMM_WORLD);
	double start = MPI_Wtime();
	if (!s.job.rank) {
#pragma dprof region(make)
		x = make(&s);
	}
	sort_on(&s, &x, 0, s.job.size);
	MPI_Barrier(MPI_COMM_WORLD);
	if (!s.job.rank && !s.job.quiet)
		tell(&x, MPI_Wtime() - start);
	job_tell_late(&s.job);
	free(x.of);
	return 0;
}
