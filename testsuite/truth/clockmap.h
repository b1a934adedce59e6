/* SPDX-License-Identifier: MIT
 *
 * clockmap.h - made-up clocks, exactly.
 *
 * All machines of a test share one real clock, whose ticks are the truth. A made-up clock is a
 * piecewise linear map from true ticks to its own ticks, through knots with whole coordinates;
 * before the first and behind the last knot it goes on straight. Because the run of a program never
 * decides anything from a clock, a trace rewritten through such maps is exactly what hosts with
 * these clocks would have recorded.
 *
 *   own |            __/     a knot with the `truth` of the one before it: the clock is set, and
 *       |           /        shows the later knot's `own` from that moment on
 *       |         _|
 *       |    ____/           two knots with the same `own`: the clock stands still
 *       |   /
 *       +----------------- truth
 *
 * Law: clockmap_stamp(m, t) is the floor of m at t, in exact arithmetic; and clockmap_need_ppb is
 * the least ppb under which the solver's assumption of drift (freezer/wander.h) holds. */
#ifndef TRUTH_CLOCKMAP_H
#define TRUTH_CLOCKMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clockmap_knot { int64_t truth, own; };

struct clockmap {
	struct clockmap_knot *knots; /* at least two; truth never falls, and rises at both ends */
	size_t count;
};

/* own = origin_own + (truth - origin_truth) * num / den. The caller owns the map: clockmap_free. */
struct clockmap clockmap_affine(int64_t origin_truth, int64_t origin_own, int64_t num, int64_t den);

/* A map of one knot; what grows by clockmap_extend is a map from the second one on. */
struct clockmap clockmap_begin(int64_t truth, int64_t own);

/* Goes on for `run` true ticks, in which the clock shows `rise` more. */
void clockmap_extend(struct clockmap *, int64_t run, int64_t rise);
void clockmap_free(struct clockmap *);

/* What the clock shows at a true time. Its maps are chosen so that this is never negative. */
uint64_t clockmap_stamp(const struct clockmap *, int64_t truth);

/* The sign of m(truth) - own: where the clock really stands against a whole number of its ticks. */
int clockmap_compare(const struct clockmap *, int64_t truth, int64_t own);

/* The true time at which the clock came to show `own`, rounded down. Of increasing maps. */
int64_t clockmap_moment(const struct clockmap *, int64_t own);

/* The sign of (mean rate of `base` against this clock between its stamps `first` and `last`) -
 * rate. Of strictly increasing maps. */
int clockmap_compare_rate(const struct clockmap *, const struct clockmap *base, int64_t first,
			  int64_t last, double rate);

#define CLOCKMAP_NEVER UINT32_MAX

/* For how many ppb it is true that the rate of `base` against this clock, anywhere from the first
 * knot of either to the last and beyond, is within them of its mean between the clock's stamps
 * `first` and `last`; rounded up. CLOCKMAP_NEVER when one of the clocks is set or stands still, or
 * for 10^9 ppb and more. */
uint32_t clockmap_need_ppb(const struct clockmap *, const struct clockmap *base, int64_t first,
			   int64_t last);

/* The same whatever `first` and `last` may be: how much the greatest rate is above the least. */
uint32_t clockmap_need_any_ppb(const struct clockmap *, const struct clockmap *base);

#endif
