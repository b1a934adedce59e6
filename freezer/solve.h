/* SPDX-License-Identifier: MIT
 *
 * solve.h - from links between clocks to proven bounds on every stamp.
 *
 * Words (the design's section 4): a *stamp* is a raw reading of a clock; *time* is measured in ticks
 * of the base clock; a *link* proves that one stamp was taken before another on a different clock.
 *
 * phi_c is the unknown increasing map from stamps of clock c to time. A stamp s means that the counter
 * stood somewhere in [s, s+1), so phi_c(s) stands here for the whole tick.
 *
 * Law: if every link is true and the assumption of the model holds, then for every clock c and stamp s
 * the time at which the counter of c stood in [s, s+1) lies in [lo, hi] of frz_time_of(c, s). */
#ifndef FREEZER_SOLVE_H
#define FREEZER_SOLVE_H

#include <stddef.h>
#include <stdint.h>

#include "freezer/link.h"

/* A time that is known to lie within two whole base ticks, inclusive. */
typedef struct { int64_t lo, hi; } frz_time;

/* What is assumed of a clock beside its links. */
struct frz_assumption {
	enum { FRZ_AFFINE, FRZ_DRIFT } model;
	uint32_t ppb; /* FRZ_DRIFT: the rate at any moment is within this of the mean rate of the run */
};

enum frz_status {
	FRZ_PROVEN,        /* the links agree with the assumption */
	FRZ_UNLINKED,      /* too few links: nothing is known of this clock */
	FRZ_CONTRADICTION, /* the links contradict the assumption: no bounds */
};

/* Exact enclosure of a rate: base ticks for each tick of this clock. */
struct frz_rate { double lo, hi; }; /* rounded outward */

struct frz_clock {
	enum frz_status status;
	struct frz_rate rate;     /* the mean rate of the run */
	size_t links;             /* how many links with the base spoke of this clock */
	size_t fault[2];          /* FRZ_CONTRADICTION: indices of two links that contradict each other */
};

struct frz_solution; /* bounds for all clocks of one job */

/* Solves for clocks 0..nclocks-1 with time in ticks of `base`. Copies what it needs of `links`.
 * 0, -EINVAL (a clock number out of range) or -ENOMEM; on error *out is NULL. What is wrong with a
 * single clock is in its status, not in the return value. */
int frz_solve(struct frz_solution **out, uint32_t nclocks, uint32_t base,
	      const struct frz_link *links, size_t nlinks, struct frz_assumption);
void frz_solution_free(struct frz_solution *);

const struct frz_clock *frz_clock(const struct frz_solution *, uint32_t clock);

/* Converts stamps of one clock; a value, owns nothing; the solution must outlive it. Amortised
 * constant time while stamps do not go back, and correct in any order. Only for FRZ_PROVEN clocks. */
struct frz_cursor {
	const struct frz_solution *solution;
	uint32_t clock;
	size_t lo_piece, hi_piece;
};
struct frz_cursor frz_cursor(const struct frz_solution *, uint32_t clock);
frz_time frz_time_of(struct frz_cursor *, uint64_t stamp);

/* The time that passed on `clock` between two of its stamps that are `ticks` apart: by the rate, not
 * by the difference of two bounds, because all stamps of one clock are wrong together. */
frz_time frz_duration(const struct frz_solution *, uint32_t clock, uint64_t ticks);

#endif
