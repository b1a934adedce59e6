/* SPDX-License-Identifier: MIT
 *
 * clockmap.h - made-up clocks, exactly.
 *
 * All machines of a test share one real clock, whose ticks are the truth. A made-up clock is a strictly
 * increasing, piecewise linear map from true ticks to its own ticks, through knots with whole
 * coordinates; before the first and behind the last knot it goes on straight. Because the run of a
 * program never decides anything from a clock, a trace rewritten through such maps is exactly what
 * hosts with these clocks would have recorded.
 *
 * Law: clockmap_stamp(m, t) is the floor of m at t, in exact arithmetic. */
#ifndef TRUTH_CLOCKMAP_H
#define TRUTH_CLOCKMAP_H

#include <stddef.h>
#include <stdint.h>

struct clockmap_knot { int64_t truth, own; };

struct clockmap {
	struct clockmap_knot *knots;   /* at least two, both coordinates strictly increasing */
	size_t count;
};

/* own = origin_own + (truth - origin_truth) * num / den. The caller owns the map: clockmap_free. */
struct clockmap clockmap_affine(int64_t origin_truth, int64_t origin_own, int64_t num, int64_t den);
void clockmap_free(struct clockmap *);

/* What the clock shows at a true time. Its maps are chosen so that this is never negative. */
uint64_t clockmap_stamp(const struct clockmap *, int64_t truth);

/* The sign of m(truth) - own: where the clock really stands against a whole number of its ticks. */
int clockmap_compare(const struct clockmap *, int64_t truth, int64_t own);

#endif
