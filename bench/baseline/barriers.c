/* SPDX-License-Identifier: MIT
 *
 * barriers.c - two barriers, the plain way.
 *
 * The program passes a barrier when it starts and one when it ends. All processes are taken to have
 * left a barrier at one moment; between the two and beyond them, time is interpolated linearly. How
 * far apart the processes really left is unknown. (middles.c has barriers that know more.) */
#include <errno.h>

#include "bench/baseline/points.h"

static struct baseline_place place_of(struct baseline_moment m, struct baseline_moment origin)
{
	return (struct baseline_place){ (double)(int64_t)(m.stamp - origin.stamp) + 0.5,
					(double)(int64_t)(m.time - origin.time) + 0.5 };
}

static int fit(struct baseline *b, const struct baseline_evidence *evidence)
{
	const struct baseline_moment *barriers = evidence->barriers;

	if (!barriers)
		return -ENODATA;
	b->origin = barriers[0];
	return baseline_through(b, place_of(barriers[0], b->origin), place_of(barriers[1], b->origin));
}

const struct baseline_method baseline_barriers = {
	.name = "barriers",
	.source = "two barriers",
	.fit = fit,
	.convert = baseline_convert_by_line,
};
