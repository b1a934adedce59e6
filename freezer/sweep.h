/* SPDX-License-Identifier: MIT
 *
 * sweep.h - both bounds of a clock as segments that cost a multiply-add to evaluate.
 *
 * Law: a segment's bounds enclose the exact ones at each of its stamps, and where the stamps of the
 * links lie no whole tick is lost. What no segment covers (years away, or steeper than any clock)
 * is computed exactly. */
#ifndef FREEZER_SWEEP_H
#define FREEZER_SWEEP_H

#include "freezer/bound.h"
#include "freezer/solve.h"

struct sweep {
	struct bound lo, hi; /* hi bounds the begin of a tick: that of stamp s is hi at s + 1 */
	struct frz_segment *segments;
	size_t n;
	int64_t wider; /* ticks, by which both bounds were moved apart */
};

/* Builds the segments from the two bounds. 0 or -ENOMEM. */
int sweep_build(struct sweep *);
void sweep_widen(struct sweep *, int64_t ticks);
void sweep_free(struct sweep *);

/* The time of a stamp. *near is one of the segments, and then the one that begins last of those
 * that begin at or before `stamp`, or else the first. */
frz_time sweep_time_of(const struct sweep *, const struct frz_segment **near, uint64_t stamp);

/* The rates that the lines of a polygon have, for durations. */
struct rate_bounds {
	struct slope exact_lo, exact_hi;
	uint64_t lo, hi; /* times 2^(64 - shift) */
	unsigned shift;
};
struct rate_bounds rates_between(struct slope lo, struct slope hi);

/* What may have passed while the counter went from somewhere in one tick to somewhere in the one
 * `ticks` later. */
frz_time rates_duration(const struct rate_bounds *, uint64_t ticks);

#endif
