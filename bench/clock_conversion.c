/* SPDX-License-Identifier: MIT
 *
 * clock-conversion - what it costs to convert 10^7 stamps in order of time, in batches that stay in
 * the cache, as a program that merges events would. One line each: NAME NS, the median of rounds
 * that take turns:
 *
 *   regression         a line in doubles, one estimate for each stamp, compiled like all of dprof
 *   regression-vector  the same loop, vectorised by GCC for the best of this processor
 *   dprof              both bounds, proven, by frz_times_of under affine
 *   dprof-drift        and under drift:10
 *
 * The links are those of a simulated run of ten seconds (simulate.h). */
#include <stdio.h>

#include "bench/simulate.h"
#include "freezer/clock.h"
#include "freezer/solve.h"

#define STAMPS  10000000
#define BATCH   1000
#define ROUNDS  9
#define RUN_NS  10e9
#define METHODS 4

struct conversion_line { uint64_t origin; double at, slope; };

struct conversion_method {
	const char *name;
	struct frz_cursor cursor;
	double ns[ROUNDS];
};

static struct conversion_line line = { 7000000000000, 0.25, 1 / 1.00003 };
static uint64_t stamps[BATCH];
static double estimates[BATCH];
static frz_time times[BATCH];
static volatile double kept;

static __attribute__((noinline)) void regression(const struct conversion_line *l, size_t n)
{
	for (size_t i = 0; i < n; i++)
		estimates[i] = l->at + l->slope * (double)(int64_t)(stamps[i] - l->origin);
}

static __attribute__((optimize("O3"),
		      target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"))) void
regression_vector(const struct conversion_line *l, size_t n)
{
	double at = l->at, slope = l->slope;
	uint64_t origin = l->origin;

	for (size_t i = 0; i < n; i++)
		estimates[i] = at + slope * (double)(int64_t)(stamps[i] - origin);
}

static void convert(struct conversion_method *m, int which)
{
	if (which == 0)
		regression(&line, BATCH);
	else if (which == 1)
		regression_vector(&line, BATCH);
	else
		frz_times_of(&m->cursor, stamps, BATCH, times);
	kept = estimates[BATCH / 2] + (double)times[BATCH / 2].lo;
}

/* Only the conversion counts, not the making of the stamps. */
static double time_method(struct conversion_method *m, int which)
{
	uint64_t step = (uint64_t)(RUN_NS / STAMPS), at = line.origin, spent = 0;

	for (size_t i = 0; i < STAMPS / BATCH; i++) {
		for (size_t k = 0; k < BATCH; k++, at += step)
			stamps[k] = at;
		uint64_t start = frz_tsc_fenced();

		convert(m, which);
		spent += frz_tsc_fenced() - start;
	}
	return (double)spent / frz_ghz() / STAMPS;
}

static int by_value(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static struct frz_solution *solve(const struct sim *s, struct frz_assumption assumption)
{
	struct frz_solution *solution;

	if (frz_solve(&solution, 2, 0, s->links, s->nlinks, assumption) ||
	    frz_clock(solution, 1)->status != FRZ_PROVEN)
		exit(1);
	return solution;
}

int main(void)
{
	struct sim s = { .run_ns = RUN_NS };

	if (sim_run(&s))
		return 1;
	struct frz_solution *affine = solve(&s, (struct frz_assumption){ .model = FRZ_AFFINE });
	struct frz_solution *drift = solve(&s, (struct frz_assumption){ FRZ_DRIFT, 10000 });
	struct conversion_method methods[METHODS] = { { .name = "regression" },
					   { .name = "regression-vector" },
					   { .name = "dprof" }, { .name = "dprof-drift" } };

	for (int round = 0; round < ROUNDS; round++) {
		methods[2].cursor = frz_cursor(affine, 1);
		methods[3].cursor = frz_cursor(drift, 1);
		for (int i = 0; i < METHODS; i++)
			methods[i].ns[round] = time_method(&methods[i], i);
	}
	for (int i = 0; i < METHODS; i++) {
		qsort(methods[i].ns, ROUNDS, sizeof methods[i].ns[0], by_value);
		printf("%s %.3f\n", methods[i].name, methods[i].ns[ROUNDS / 2]);
	}
	frz_solution_free(affine);
	frz_solution_free(drift);
	free(s.links);
	return 0;
}
