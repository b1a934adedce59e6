/* SPDX-License-Identifier: MIT
 *
 * solve.h - from links between clocks to proven bounds on every stamp.
 *
 * Words (the design's section 4): a *stamp* is a raw reading of a clock; *time* is measured in
 * ticks of the base clock; a *link* proves that one stamp was taken before another on a different
 * clock.
 *
 * phi_c is the unknown increasing map from stamps of clock c to time. A stamp s means that the
 * counter stood somewhere in [s, s+1), so phi_c(s) stands here for the whole tick.
 *
 * Law: if every link is true and the assumption of the model holds, then for every clock c and
 * stamp s the time at which the counter of c stood in [s, s+1) lies in [lo, hi] of
 * frz_time_of(c, s).
 *
 * Why, under FRZ_AFFINE, where phi_c(s) = a * s + b with a >= 0 and b unknown:
 *  - A link from stamp u of the base to stamp v of c: the sender's counter stood at u or later, the
 *    receiver's before v+1, so u <= a * (v+1) + b. The line passes not below (v+1, u).
 *  - A link from stamp v of c to stamp u of the base: a * v + b <= u+1. The line passes not above
 *    (v, u+1).
 *  - So (a, b) lies in a convex polygon (polygon.h), and the counter's time within the tick of s in
 *    [L(s), U(s+1)], where L and U are the least and the greatest height of its lines (bound.h). No
 *    tighter bounds follow from these links: every height between is reached by a line that obeys
 *    them all.
 *  - Polygon and pieces are exact; a bound is then 2^-64 * (height + slope * ticks since its piece
 *    began) with both numbers rounded outward once, which loses less than a tick in 2^58.
 *
 * Why, under FRZ_DRIFT, where the rate of phi_c, also before and after the links, is always within
 * ppb of its mean m between the clock's first and last link: for each m that the links allow, the
 * greatest and the least map with such rates is known, and [lo, hi] encloses them all, by little
 * more than what follows from the links (wander.h).
 *
 * Why, for links between two other clocks: let [L_d(s), U_d(s)] be proven for the time within the
 * tick of s on clock d.
 *  - A link from stamp u of d to stamp v of c: the sender's counter stood in [u, u+1), at L_d(u) or
 *    later, the receiver's before v+1. So phi_c passes not below (v+1, L_d(u)): just like a link
 *    from the base, stamped L_d(u).
 *  - A link from stamp v of c to stamp u of d: phi_c passes not above (v, U_d(u)).
 *  - By induction all that is computed from such points is true, in whatever order clocks are
 *    solved and however often: bounds compose along paths, and where several paths lead to a clock
 *    they intersect. A clock only ever replaces what it said of a stamp by something tighter, so
 *    links only tighten. It is not always the optimum of one program over all clocks together,
 *    since what d says of two stamps may not be possible at once, and each hop rounds outward to
 *    ticks.
 *  - Who is proven hears only who is proven. A clock that has a place only through one that is
 *    FRZ_CONSISTENT is FRZ_CONSISTENT too.
 * A clock whose links with clocks that have a place all go one way stays FRZ_UNLINKED. */
#ifndef FREEZER_SOLVE_H
#define FREEZER_SOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "freezer/link.h"
#include "freezer/segment.h"

/* What is assumed of a clock beside its links. */
struct frz_assumption {
	enum { FRZ_AFFINE, FRZ_DRIFT } model;
	uint32_t ppb; /* FRZ_DRIFT: the rate at any moment is within this of the mean rate of the
			 run, which goes from the clock's first link to its last and takes less
			 than 2^60 ticks */
};

/* Rounded up, as no less than what was asked for may be assumed; less than 2^32 ppb. */
static inline uint32_t frz_ppb(double ppm)
{
	double ppb = ppm * 1000 * (1 - 1e-12); /* one that is whole is not more for having been written in decimals */
	return (uint32_t)ppb + (ppb > (uint32_t)ppb);
}

enum frz_status {
	FRZ_PROVEN,        /* the links agree with the assumption */
	FRZ_UNLINKED,      /* too few links: nothing is known of this clock */
	FRZ_CONTRADICTION, /* the links contradict the assumption, and no drift reconciles them */
	FRZ_CONSISTENT,    /* the links contradict the assumption, but agree with FRZ_DRIFT of
			      `ppb`, the least that does: the bounds are those of that drift,
			      consistent with all links and not proven */
};

/* Exact enclosure of a rate: base ticks for each tick of this clock. */
struct frz_rate { double lo, hi; }; /* rounded outward */

#define FRZ_MAX_CONFLICTS 4
#define FRZ_NO_PPB     UINT32_MAX

struct frz_clock {
	enum frz_status status;
	struct frz_rate rate;     /* the mean rate of the run */
	uint32_t ppb;             /* the drift with which the bounds were computed, 0 if affine */
	uint32_t hops;            /* to the base, from clock to clock that has a place; 0 is the
				     base itself, or a clock without a place */
	size_t links;             /* how many links with clocks that have a place spoke of it */
	/* FRZ_CONTRADICTION, FRZ_CONSISTENT: indices of links that contradict each other under the
	 * assumption: two, or three or four of which two prove a rate too great for what the others
	 * prove. The first two are the nearest that contradict the rest; if the clock jumped, it
	 * did so between them. All are links of this clock or, if it is consistent only because
	 * the clock is through which it has its place, of that one. */
	size_t conflict[FRZ_MAX_CONFLICTS];
	unsigned nconflicts;
	uint32_t least_ppb; /* FRZ_CONSISTENT, of either model: `ppb`. FRZ_CONTRADICTION:
			       FRZ_NO_PPB */
};

/* Whether its stamps have times: only then is there a cursor and a duration. */
static inline bool frz_placed(const struct frz_clock *c)
{
	return c->status == FRZ_PROVEN || c->status == FRZ_CONSISTENT;
}

struct frz_solution; /* bounds for all clocks of one job */

/* Solves for clocks 0..nclocks-1 with time in ticks of `base`. Copies what it needs of `links`.
 * 0, -EINVAL (a clock number out of range, a drift of 100 % or more) or -ENOMEM; on error *out is
 * NULL. What is wrong with a single clock is in its status, not in the return value. */
int frz_solve(struct frz_solution **out, uint32_t nclocks, uint32_t base,
	      const struct frz_link *links, size_t nlinks, struct frz_assumption);
void frz_solution_free(struct frz_solution *);

const struct frz_clock *frz_clock(const struct frz_solution *, uint32_t clock);

/* Makes the law hold for stamps that differ from the clock's by up to `ticks`, either way: of a host
 * whose cores are not quite at one. Once for a clock, before there are cursors of it. Its links must
 * allow for that already; durations do not. */
void frz_widen(struct frz_solution *, uint32_t clock, uint64_t ticks);

/* Converts stamps of one clock; a value, owns nothing; the solution must outlive it. Amortised
 * constant time while stamps do not go back, correct in any order. Only for placed clocks. */
struct frz_cursor {
	const struct frz_solution *solution;
	uint32_t clock;
	bool bent; /* whether the clock's segments have bends: the same for every stamp */
	const struct frz_segment *at;
};
struct frz_cursor frz_cursor(const struct frz_solution *, uint32_t clock);

/* Behind frz_time_of: for a stamp that is not in the cursor's segment. */
frz_time frz_time_elsewhere(struct frz_cursor *, uint64_t stamp);

static inline frz_time frz_time_of(struct frz_cursor *c, uint64_t stamp)
{
	const struct frz_segment *s = c->at;
	uint64_t ticks = stamp - s->from;

	if (__builtin_expect(ticks >= s->span, 0))
		return frz_time_elsewhere(c, stamp);
	return c->bent ? frz_segment_parabola(s, ticks) : frz_segment_line(s, ticks);
}

/* Exactly what frz_time_of gives for each of n stamps, and faster when they are in order of time.
 */
void frz_times_of(struct frz_cursor *, const uint64_t *stamps, size_t n, frz_time *out);

/* The time that passed on `clock` between two of its stamps that are `ticks` apart: by the rate,
 * not by the difference of two bounds, because all stamps of one clock are wrong together. Never
 * less than 0. Only for placed clocks. */
frz_time frz_duration(const struct frz_solution *, uint32_t clock, uint64_t ticks);

/* Likewise for who asks of many, nearly all of them from 1 to `most` ticks: a value, good as long as the solution is. */
struct frz_speed {
	const struct frz_solution *solution;
	uint32_t clock;
	unsigned bits;
	uint64_t lo, hi; /* base ticks in a tick, times 2^bits */
	uint64_t most;
};
struct frz_speed frz_speed(const struct frz_solution *, uint32_t clock);

static inline frz_time frz_speed_duration(const struct frz_speed *p, uint64_t ticks)
{
	unsigned __int128 lo = (unsigned __int128)p->lo * (ticks - 1);
	unsigned __int128 hi = (unsigned __int128)p->hi * (ticks + 1), up = ((unsigned __int128)1 << p->bits) - 1;

	if (__builtin_expect(ticks - 1 >= p->most, 0))
		return frz_duration(p->solution, p->clock, ticks);
	return (frz_time){ (int64_t)(lo >> p->bits), (int64_t)((hi + up) >> p->bits) };
}

#endif
