/* SPDX-License-Identifier: MIT
 *
 * frame_length.h - how long is that lasts from the last of many begins to the first of many ends?
 *
 * Each clock i gives a stretch from b_i to e_i. What they have in common is as long as
 *
 *     min over all pairs (i,j) of e_i - b_j
 *
 * if that is not negative. Each e_i - b_j is enclosed by the stretch's own length when i = j, which the clock's rate
 * gives, and by the two times otherwise. A *part* says what must be known of some clocks to tell this for them
 * together with others; joining parts is associative and commutative, so that a tournament holds it (tournament.h).
 *
 * Law: frame_length() of the joined parts of clocks, made by frame_part() in any order, contains the true length.
 * Proof: a join's `lo` and `hi` are the least over the pairs within either side, and `lo` over the pairs across: the
 * least of these is the earliest end less the latest begin. `hi` over the pairs across comes last, from all clocks:
 * it may take pairs within one clock, too, which are no tighter than the times are. */
#ifndef ANALYSIS_FRAME_LENGTH_H
#define ANALYSIS_FRAME_LENGTH_H

#include "analysis/clocks/times.h"

struct frame_part {
	frz_time begin;      /* the latest */
	frz_time end;        /* the earliest */
	frz_time length;     /* the least, as far as pairs on either side of no join say */
};

static inline int64_t larger(int64_t x, int64_t y)
{
	return x > y ? x : y;
}

static inline int64_t smaller(int64_t x, int64_t y)
{
	return x < y ? x : y;
}

/* `passed`: what the rate says of a stretch between two events; NULL if one of its ends is none. */
static inline struct frame_part frame_part(frz_time begin, frz_time end, const frz_time *passed)
{
	struct frame_part p = { begin, end, { ticks_minus(end.lo, begin.hi), ticks_minus(end.hi, begin.lo) } };
	if (passed)
		p.length = (frz_time){ larger(p.length.lo, passed->lo), smaller(p.length.hi, passed->hi) };
	return p;
}

static inline struct frame_part frame_join(const struct frame_part *x, const struct frame_part *y)
{
	int64_t across = smaller(ticks_minus(x->end.lo, y->begin.hi), ticks_minus(y->end.lo, x->begin.hi));
	return (struct frame_part){
		.begin = { larger(x->begin.lo, y->begin.lo), larger(x->begin.hi, y->begin.hi) },
		.end = { smaller(x->end.lo, y->end.lo), smaller(x->end.hi, y->end.hi) },
		.length = { smaller(smaller(x->length.lo, y->length.lo), across),
			    smaller(x->length.hi, y->length.hi) },
	};
}

static inline frz_time frame_length(const struct frame_part *all)
{
	int64_t hi = smaller(all->length.hi, ticks_minus(all->end.hi, all->begin.lo));
	return (frz_time){ larger(all->length.lo, 0), larger(hi, 0) };
}

#endif
