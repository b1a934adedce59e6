/* SPDX-License-Identifier: MIT
 *
 * middles.c - the synchronised barriers of StarPU: A. Denis, E. Jeannot, P. Swartvagher, S. Thibault,
 * "Tracing task-based runtime systems: feedbacks from the StarPU case", 2023, section 5.3.
 *
 * At the start and at the end of the run some exchanges are made, and of the fastest the middle is
 * taken to be one moment; all processes leave a barrier at a time that is agreed upon by it. Between
 * the two moments and beyond them, time is interpolated linearly. Nothing is said of the error. */
#include "bench/baseline/points.h"

static struct baseline_place middle(const struct baseline_exchange *x)
{
	return (struct baseline_place){ (x->under.x + x->over.x) / 2, (x->under.y + x->over.y) / 2 };
}

static int fit(struct baseline *b, const struct baseline_evidence *evidence)
{
	struct baseline_exchange ends[2];
	int error = baseline_ends(ends, &b->origin, evidence);

	return error ? error : baseline_through(b, middle(&ends[0]), middle(&ends[1]));
}

const struct baseline_method baseline_middles = {
	.name = "middles",
	.source = "synchronised barriers (StarPU, 2023)",
	.fit = fit,
	.convert = baseline_convert_by_line,
};
