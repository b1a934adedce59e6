/* SPDX-License-Identifier: MIT
 *
 * hull.h - convex hulls of the points that links are.
 *
 * A line time = a * stamp + b must pass above every point of one set and below every point of the
 * other. Only the upper hull of the lower set and the lower hull of the upper set can touch it:
 *
 *      \                    .'        o  upper set, its lower hull
 *       o .              .-o
 *          `- o ____ o -'    ___---   the line
 *      ____---x---.
 *      x-'          `--x              x  lower set, its upper hull
 *
 * All comparisons are exact. */
#ifndef FREEZER_HULL_H
#define FREEZER_HULL_H

#include <stddef.h>

#include "freezer/wide.h"

struct point {
	wide x, y;   /* stamp of the clock, stamp of the base */
	size_t link; /* which link says so */
};

struct slope { wide dy, dx; }; /* dx >= 0; dx = 0 with dy > 0 is straight up */

enum hull_side { HULL_UPPER, HULL_LOWER };

struct hull {
	enum hull_side side;
	struct point *at; /* by x, strictly ascending; slopes fall along an upper hull, rise along a
			     lower */
	size_t n;
};

/* By x, then y, ascending. */
void points_sort(struct point *points, size_t n);

/* The hull of `n` points, left in the front of their array, which is reordered. */
struct hull hull_of(struct point *points, size_t n, enum hull_side side);

struct slope hull_edge(const struct hull *, size_t i); /* from point i to point i + 1 */

/* Where a line of slope m that comes from outside touches the hull first; the left end of an edge
 * of slope m. n > 0. */
size_t hull_touch(const struct hull *, struct slope m);

/* Sign of a - b; of a.dy when a is straight up and b is not. */
static inline int slope_compare(struct slope a, struct slope b)
{
	return wide_compare_products(a.dy, b.dx, b.dy, a.dx);
}

static inline struct slope slope_between(const struct point *left, const struct point *right)
{
	return (struct slope){ right->y - left->y, right->x - left->x };
}

#endif
