/* SPDX-License-Identifier: MIT
 *
 * envelope.h - the greatest function that stays below points and whose rate wanders only so far.
 *
 * Given are points (x, y) that phi must not exceed, and the rates that phi may have: at any moment
 * between r and K r, where r is one unknown number of [slow / K, fast] and K = (1 + p) / (1 - p).
 *
 * For one r the greatest phi is the minimum of a cone under each point: rate K r to its right, rate
 * r to its left. U(x) is the maximum of that over all r. As r grows, what points to the left allow
 * grows and what points to the right allow falls; where a single r makes them equal, U is decided
 * by one point l on the left and one point j on the right,
 *
 *	y_l + K r (x - x_l) = y_j - r (x_j - x), hence
 *	U(x) = y_l + K a Y / (D + (K - 1) a) with a = x - x_l, D = x_j - x_l, Y = y_j - y_l,
 *
 * an arc over the chord from l to j, about p Y / 2 high in its middle. If that r is not in the
 * interval, the interval's end decides, by one point only: a ray.
 *
 *	                   __,-o j
 *	            _,--''  .-'
 *	       _,-'     .-'        above: the arc
 *	     ,'     .-'            below: its chord
 *	  l o   .-'
 *
 * Law: U is the exact maximum; arcs are cut at whole x, and each serves where it is the least of
 * all. */
#ifndef FREEZER_ENVELOPE_H
#define FREEZER_ENVELOPE_H

#include <stdint.h>

#include "freezer/hull.h"

#define PPB_ONE 1000000000 /* parts per billion in one */

struct rates {
	struct slope slow, fast; /* 0 <= slow / K <= fast, 0 < fast, neither straight up */
	uint32_t ppb;            /* p, less than PPB_ONE */
};

struct arc {
	wide from; /* the first x for which it serves, up to the next arc's; at first -WIDE_LARGE */
	const struct point *left, *right; /* one of them NULL: a ray from the other */
};

struct envelope {
	struct rates rates;
	struct arc *arcs;
	size_t n;
};

/* Points strictly ascending by x, at least one; those that never matter are dropped from the array,
 * which must outlive the envelope. 0 or -ENOMEM. */
int envelope_below(struct envelope *, struct point *points, size_t n, struct rates);
void envelope_free(struct envelope *);

/* 2^64 times the height of an arc at x, rounded up; the nearest of -WIDE_LARGE..WIDE_LARGE. */
wide envelope_height(const struct envelope *, const struct arc *, wide x);

#endif
