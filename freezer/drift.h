/* SPDX-License-Identifier: MIT
 *
 * drift.h - bounds for a clock whose rate wanders.
 *
 * Law: let m be the mean rate between the first and the last of the points, and let the rate at
 * every moment lie within ppb of m. Then the bounds hold; and no cones under this m's interval are
 * tighter.
 *
 * The interval of m and the bounds depend on each other: m is bounded by what the bounds allow at
 * the two ends, the bounds by slopes up to ppb beyond m. Starting from an m that any rate within
 * ppb allows, each narrows the other, and every round is sound by itself; a few settle it. */
#ifndef FREEZER_DRIFT_H
#define FREEZER_DRIFT_H

#include "freezer/bound.h"
#include "freezer/polygon.h"

struct drift {
	enum polygon_kind kind;      /* as of a polygon: bounded, open or empty */
	struct slope mean_lo, mean_hi;
	struct slope rate_lo, rate_hi; /* at any moment */
	struct bound lo, hi;
	size_t fault[2];             /* POLYGON_EMPTY: two links that contradict each other */
};

/* Reorders the points. 0 or -ENOMEM; on error d owns nothing. 0 <= ppb < 10^9. */
int drift_solve(struct drift *d, struct point *under, size_t nunder, struct point *over,
		size_t nover, uint32_t ppb);

#endif
