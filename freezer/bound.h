/* SPDX-License-Identifier: MIT
 *
 * bound.h - the least and the greatest time that any line of a polygon gives to a stamp.
 *
 * The greatest time U(s) is a maximum of lines, so convex: the steep end line of the polygon far to
 * the right, its flat end line far to the left, and between them the edges of the lower hull of the
 * upper set whose slopes fit. The least time L(s) is concave and mirrors it. Pieces therefore meet
 * at corners of a hull: at whole stamps. */
#ifndef FREEZER_BOUND_H
#define FREEZER_BOUND_H

#include <stdint.h>

#include "freezer/polygon.h"

struct line { wide x, y; struct slope slope; }; /* through (x, y); slope.dx > 0, slope.dy >= 0 */

struct piece {
	wide from; /* the first stamp for which it serves, up to the next piece's */
	struct line line;
};

struct bound {
	struct piece *pieces; /* the first serves from -WIDE_LARGE */
	size_t n;
};

/* The bound along a hull, from the polygon's `left` slope far to the left to its `right` one.
 * 0 or -ENOMEM. */
int bound_along(struct bound *, const struct hull *, struct slope left, struct slope right);
void bound_free(struct bound *);

/* The piece that serves stamp s. */
size_t bound_piece(const struct bound *, wide s);

/* 2^bits times the line's height at s, rounded; the nearest of -WIDE_LARGE..WIDE_LARGE. */
wide line_floor(const struct line *, wide s, unsigned bits);
wide line_ceil(const struct line *, wide s, unsigned bits);

/* 2^bits times the slope, likewise. */
wide slope_floor(struct slope, unsigned bits);
wide slope_ceil(struct slope, unsigned bits);

#endif
