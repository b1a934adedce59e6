/* SPDX-License-Identifier: MIT
 *
 * pairs.h - what two points say of a rate, and which two say most.
 *
 * A pair is a point of one set and a later one of another. Of upper points before lower ones the
 * steep pairs are sought, as the rate between them is not less; of lower before upper ones the
 * flat. All comparisons are exact if points lie less than 2^61 apart and slopes have at most 60
 * bits. */
#ifndef FREEZER_PAIRS_H
#define FREEZER_PAIRS_H

#include <stdbool.h>

#include "freezer/hull.h"

struct pairs {
	const struct point *from; /* by x, strictly ascending, as are */
	size_t nfrom;
	const struct point *to;
	size_t nto;
	int sign;                 /* 1: steep, -1: flat */
};

struct pair { const struct point *from, *to; };

static inline struct slope pair_slope(struct pair p)
{
	return slope_between(p.from, p.to);
}

bool pairs_any(const struct pairs *);

/* The pair that rises (or falls) farthest beyond a line of slope m; *beyond, times m.dx, is how
 * far. There is any. */
struct pair pairs_farthest(const struct pairs *, struct slope m, wide *beyond);

/* The steepest or the flattest. There is any. */
struct pair pairs_extreme(const struct pairs *);

/* Of those beyond slope m the one with the least run; its ends are NULL if there is none. 0 or
 * -ENOMEM. */
int pairs_nearest(struct pair *, const struct pairs *, struct slope m);

/* A point of `to` above one of `from` at the same x; false if there is none. */
bool pairs_crossing(struct pair *, const struct pairs *);

/* An upper point and a lower one that is earlier and yet higher: time would run back between them.
 * Of all such pairs the one with the least fall; its ends are NULL if there is none. 0 or -ENOMEM.
 * */
int pairs_backward(struct pair *, const struct point *lower, size_t nlower,
		   const struct point *upper, size_t nupper);

#endif
