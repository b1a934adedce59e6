/* SPDX-License-Identifier: MIT
 *
 * clock-width SECONDS... - how wide bounds are over simulated runs (simulate.h), for each model. One
 * line each: SECONDS MODEL MEDIAN MOST, in multiples of the least that a packet there and one
 * back can take, over stamps that are evenly spread. The clock wanders by 0.45 of what the model allows, as
 * the bounds do not know by how much it does. */
#include <stdio.h>

#include "bench/simulate.h"
#include "freezer/solve.h"

#define STAMPS 10001

static int by_value(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static void report(double seconds, const char *name, struct frz_assumption assumption)
{
	static double widths[STAMPS];
	struct sim s = { .run_ns = seconds * 1e9, .wander = 0.45e-9 * assumption.ppb };
	struct frz_solution *solution;

	if (sim_run(&s) || frz_solve(&solution, 2, 0, s.links, s.nlinks, assumption))
		exit(1);
	if (frz_clock(solution, 1)->status == FRZ_PROVEN) {
		struct frz_cursor c = frz_cursor(solution, 1);

		for (int i = 0; i < STAMPS; i++) {
			frz_time t = frz_time_of(&c, sim_stamp(&s, s.run_ns / (STAMPS - 1) * i));

			widths[i] = (double)(t.hi - t.lo) / (2 * SIM_FLOOR_NS);
		}
		qsort(widths, STAMPS, sizeof *widths, by_value);
		printf("%g %s %.4f %.4f\n", seconds, name, widths[STAMPS / 2], widths[STAMPS - 1]);
	}
	frz_solution_free(solution);
	free(s.links);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		double seconds = atof(argv[i]);

		report(seconds, "affine", (struct frz_assumption){ .model = FRZ_AFFINE });
		report(seconds, "drift:1", (struct frz_assumption){ FRZ_DRIFT, 1000 });
		report(seconds, "drift:10", (struct frz_assumption){ FRZ_DRIFT, 10000 });
	}
	return 0;
}
