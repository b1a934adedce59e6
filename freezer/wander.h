/* SPDX-License-Identifier: MIT
 *
 * wander.h - the tightest bounds on a clock whose rate wanders.
 *
 * phi is the unknown, strictly increasing map from what the counter of one clock shows to time in
 * ticks of the base clock. Known of it are points, which links give:
 *
 *	upper point (x, y): phi(x) <= y    a link from the clock (sent) to the base (received)
 *	                                   gives (sent, received + 1)
 *	lower point (x, y): phi(x) >= y    a link from the base (sent) to the clock (received)
 *	                                   gives (received + 1, sent)
 *
 * because a counter that shows v stands somewhere in [v, v+1). Let A and B be the first and the
 * last stamp of the run, between which all points lie, and p = ppb / 10^9. Assumed is
 *
 *	that the rate of phi at any moment, also before A and after B, is within p of the mean
 *	rate m between A and B:
 *	m (1 - p) (b - a) <= phi(b) - phi(a) <= m (1 + p) (b - a) for any a < b.
 *
 * Law: if the points are true and the assumption holds, the counter stood in [s, s+1) within
 * [floor L(s), ceil U(s+1)], where L and U are the least and the greatest value of all maps that
 * obey the points with rates from m (1 - p) to m (1 + p), for any one m that is possible.
 * frz_wander_time_of gives that interval, or one that is wider on either side by a tick and by
 * 10^-7 p of what drift adds there (2 * 10^-4 of it beyond 1000 ppm, where there are no clocks). Of
 * stamps that are years away from all points it may say that nothing is known.
 *
 * Which m are possible. Two points D apart, the second Y higher, prove the mean rate between their
 * own stamps, from which m may differ: by p at most, and by less if they span most of the run, as
 * the rest of it, T - D with T = B - A, must make up for the difference. If an upper point comes
 * before a lower one, then
 *
 *	Y <= phi(x + D) - phi(x) = m T - (what phi rises in the rest) <= m T - m (1 - p) (T - D)
 *	Y <= m (1 + p) D
 *
 * so m >= Y / (D + p min(D, T - D)); a lower point before an upper one proves in the same way that
 * m <= Y / (D - p min(D, T - D)), if that is positive. All pairs together leave exactly the m for
 * which there is a phi: on a circle of length T on which A and B are one place, phi(x) - m x is a
 * function whose slope is at most p m, and such a function between given bounds exists if and only
 * if each two of them admit one.
 *
 * Proof of the law. Write r = m (1 - p) and K = (1 + p) / (1 - p); rates lie between r and K r. Fix
 * r. From an upper point (x, y), phi(s) <= y + K r (s - x) to the right and phi(s) <= y - r (x - s)
 * to the left. Let U_r be the minimum of all of these, L_r the mirrored maximum; L_r <= phi <= U_r.
 * A minimum of functions with rates between r and K r is such a function, and U_r >= L_r because
 * each pair of points admits this r; so U_r itself obeys the points and no bound for this r is
 * less. As r is not known, U(s) is the greatest U_r(s) over all r that are possible. How it is
 * found, and that it takes linear time after sorting, stands in envelope.h and envelope.c.
 *
 * What is not used again is that phi itself rises by m (B - A) over the run, whatever else it does:
 * on the circle, a point also has a cone that reaches round it. That could matter at most where no
 * point within half a run says more.
 *
 * U is lower than cones with the greatest of all rates to the right and the least of all to the
 * left: these would use two m at the same time. That is much in short runs, where m is not known
 * well. With ppb = 0, U and L are those of the affine model.
 *
 * Contradiction. Each pair admits more m as p grows, so all greater ppb reconcile the points and
 * all smaller ones do not, and the least that does is found by halving. Nothing reconciles a lower
 * point above an upper one of the same stamp, or of a later one: time does not run back. */
#ifndef FREEZER_WANDER_H
#define FREEZER_WANDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "freezer/hull.h"
#include "freezer/solve.h"

/* Two links, by the `link` of their points, the earlier stamp first. */
struct frz_wander_pair { size_t first, second; };

struct frz_wander_run { wide first, last; }; /* A and B */

struct frz_wander {
	enum frz_status status;
	uint32_t ppb;                  /* for which the bounds hold */
	uint32_t least_ppb;            /* CONTRADICTION, CONSISTENT: the least that reconciles the
					  points; and of that contradiction: */
	struct frz_wander_pair quick;  /* upper, then lower point: m is not less, */
	struct frz_wander_pair slow;   /* lower, then upper point: and not greater than these say */
	bool slow_tells;               /* which of the two is unlike the rest; it is then the
					  nearest pair that contradicts the other, and a step of
					  the clock lies between its stamps */
	bool runs_back;                /* CONTRADICTION: of two points alone, between which time
					  would run back; both pairs are this one */
	struct frz_rate mean;          /* m. Only if PROVEN or CONSISTENT, like what follows */
	struct frz_segment *segments;  /* with bends: U is under, and L above, one parabola each */
	size_t nsegments;
	uint64_t rate_lo, rate_hi;     /* at any moment, in 2^-(64 - rate_shift) base ticks */
	unsigned rate_shift;
};

/* Bounds from the points, which are reordered and changed. What is wrong with the clock is in the
 * status:
 *  FRZ_UNLINKED       no lower point lies before an upper one: nothing limits the rate
 *  FRZ_CONSISTENT     the two pairs contradict each other, and the bounds are those of the least
 *                     ppb that reconciles them. (With ppb = 0 that is how one learns how much a
 *                     clock has wandered at least.)
 *  FRZ_CONTRADICTION  nothing reconciles them: least_ppb is FRZ_NO_PPB. If they are the same pair,
 *                     its two points contradict each other, or lie 2^60 ticks or more apart: no run
 *                     is that long.
 * 0, or -EINVAL (ppb not below 10^9) or -ENOMEM; on error *w owns nothing. */
int frz_wander_solve(struct frz_wander *w, struct point *upper, size_t nupper,
		     struct point *lower, size_t nlower, struct frz_wander_run, uint32_t ppb);
void frz_wander_free(struct frz_wander *);

/* The time of a stamp. *near is one of the segments, and then the one that serves. Amortised
 * constant time while stamps do not go back, and correct in any order. Only if PROVEN or
 * CONSISTENT, like durations. */
frz_time frz_wander_time_of(const struct frz_wander *, const struct frz_segment **near,
			    uint64_t stamp);

/* The time that passed between two stamps that are `ticks` apart, by the rate at any moment. Never
 * less than 0. */
frz_time frz_wander_duration(const struct frz_wander *, uint64_t ticks);

#endif
