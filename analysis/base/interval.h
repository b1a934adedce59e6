/* SPDX-License-Identifier: MIT
 *
 * interval.h - what is printed: closed intervals of seconds and percentages.
 *
 * Law: the true value lies in the interval that comes in, therefore in the one that goes out, and
 * therefore in the decimals that are printed: whatever rounds, rounds lo down and hi up. */
#ifndef ANALYSIS_INTERVAL_H
#define ANALYSIS_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "freezer/solve.h"

struct interval { double lo, hi; };

/* `ticks` of a clock that makes `ghz` of them in a nanosecond. */
struct interval interval_seconds(frz_time ticks, double ghz);

/* 100 * part / whole for a part that lies within the whole: never outside of 0 .. 100. */
struct interval interval_percent(frz_time part, frz_time whole);

struct interval interval_add(struct interval, struct interval);
struct interval interval_times(struct interval, double factor); /* factor >= 0 */

static inline bool interval_apart(struct interval x, struct interval y)
{
	return x.hi < y.lo || y.hi < x.lo;
}

/* ---- As text; a value that owns nothing -------------------------------------------------------
 *
 * The range has a fixed number of decimals, "31.21 .. 31.24", or "31.21" when both ends agree to the last bit. What is
 * shown has one digit more than is certain, at most six, and at most `decimals` after the point: "31.225 ±0.015", where
 * what follows the sign is rounded up so that the interval is inside; or the range, where that is a quarter of the
 * value or more. Without an upper bound both are "at least 31.21". */
struct interval_text { char text[64]; };

struct interval_text interval_range(struct interval, int decimals);
struct interval_text interval_shown(struct interval, int decimals);
struct interval_text interval_upper(double, int decimals); /* one number, rounded up, */
struct interval_text interval_lower(double, int decimals); /* or down */

#endif
