/* SPDX-License-Identifier: MIT
 *
 * polygon.h - all lines that two sets of points allow.
 *
 * The pairs (slope, height) of the lines above one set and below the other form a convex polygon. A
 * line of slope m fits if gap(m) = min over the upper set of (y - m x) - max over the lower set of
 * (y - m x) is not negative. gap is concave and piecewise linear, so Newton's method from outside
 * reaches each of its two roots exactly, in as many steps as it crosses pieces, few in practice. */
#ifndef FREEZER_POLYGON_H
#define FREEZER_POLYGON_H

#include "freezer/hull.h"

struct polygon {
	enum polygon_kind {
		POLYGON_BOUNDED,
		POLYGON_OPEN,  /* one of the sets is empty, or slopes have no upper limit */
		POLYGON_EMPTY, /* no line of slope >= 0 fits */
	} kind;
	struct slope min, max; /* POLYGON_BOUNDED: of the lines that fit */
	size_t conflict[3]; /* POLYGON_EMPTY: links that no line satisfies together, two or three */
	unsigned nconflicts;
};

struct polygon polygon_between(const struct hull *under, const struct hull *over);

#endif
