/* SPDX-License-Identifier: MIT
 *
 * freezer.c - FreeZer's formula: Z. Benavides, K. Vora, R. Gupta, "DProf: distributed profiler with
 * strong guarantees", OOPSLA 2019.
 *
 * Reconstructed, not copied: the paper's text was not at hand. What is known of it is that packets
 * go to and fro at the start and at the end of a run, that the fastest of them bound a zero point
 * and a rate, and that the bounds of a converted stamp follow from these two and widen along the
 * run. From this:
 *  - the exchange of least round trip at the start, and the one at the end, are the evidence;
 *  - the rate is at most that of the line from below the first exchange to above the second, and at
 *    least that of the line from above the first to below the second;
 *  - a stamp's bounds start at the first exchange's bounds and run with the extreme rates.
 * The bounds are true for a clock of constant rate. They are wider than need be, since a zero at
 * one end of its interval does not go with every rate: their width is the first round trip at the
 * start of the run, and at its end twice the first plus the last.
 *
 * That is threefold growth where the round trips are equal. An earlier measurement of this project
 * with the paper's formula had 18 us rising to 36, twofold. One reading gives that: the rate is
 * bounded from the *middle* of the first exchange to below and above the last, so that the first
 * round trip counts once, in the zero. Within the run its bounds hold, too; but neither the rate's
 * interval by itself nor the bounds before the run need hold. One stamp of the answering side
 * instead of two, or the fastest packet of each direction instead of the fastest round trip, leave
 * the growth at about three. So this file keeps the reading of which every part is true;
 * bench/paper prints what the other one would give. */
#include <errno.h>

#include "bench/baseline/points.h"

static int fit(struct baseline *b, const struct baseline_evidence *evidence)
{
	struct baseline_exchange ends[2], *first = &ends[0], *last = &ends[1];
	int error = baseline_ends(ends, &b->origin, evidence);

	if (error)
		return error;
	double flat_dx = last->under.x - first->over.x, steep_dx = last->over.x - first->under.x;

	if (!(flat_dx > 0 && steep_dx > 0))
		return -ENODATA;
	struct baseline_cones c = {
		first->under.x, first->under.y, first->over.x, first->over.y,
		.slope_lo = (last->under.y - first->over.y) / flat_dx,
		.slope_hi = (last->over.y - first->under.y) / steep_dx,
	};

	if (c.slope_lo < 0)
		c.slope_lo = 0; /* no clock goes back */
	b->cones = c;
	b->rate = (c.slope_lo + c.slope_hi) / 2;
	return c.slope_lo > c.slope_hi ? -EDOM : 0;
}

static double least(const struct baseline_cones *c, double x)
{
	return c->under_y + (x - c->under_x) * (x < c->under_x ? c->slope_hi : c->slope_lo);
}

static double greatest(const struct baseline_cones *c, double x)
{
	return c->over_y + (x - c->over_x) * (x < c->over_x ? c->slope_lo : c->slope_hi);
}

static void convert(const struct baseline *b, const uint64_t *stamps, struct baseline_time *times,
		    size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double x = baseline_ticks(b, stamps[i]);
		double lo = least(&b->cones, x), hi = greatest(&b->cones, x + 1);

		times[i] = (struct baseline_time){ (lo + hi) / 2, lo, hi };
	}
}

const struct baseline_method baseline_freezer = {
	.name = "freezer",
	.source = "FreeZer's formula (Benavides and others, 2019; reconstructed)",
	.bounds = true,
	.fit = fit,
	.convert = convert,
};
