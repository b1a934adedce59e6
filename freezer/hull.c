/* SPDX-License-Identifier: MIT
 *
 * hull.c - Andrew's monotone chain, one side of it. */
#include "freezer/hull.h"

#include <stdbool.h>
#include <stdlib.h>

static int by_x_then_y(const void *left, const void *right)
{
	const struct point *a = left, *b = right;

	if (a->x != b->x)
		return a->x < b->x ? -1 : 1;
	return (a->y > b->y) - (a->y < b->y);
}

/* Logs are nearly always in order already, and then need no sorting. */
void points_sort(struct point *points, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (by_x_then_y(&points[i - 1], &points[i]) > 0) {
			qsort(points, n, sizeof *points, by_x_then_y);
			return;
		}
}

/* Whether b is no corner of the hull between a and c, where a.x < b.x < c.x. */
static bool is_inside(enum hull_side side, const struct point *a, const struct point *b,
		      const struct point *c)
{
	int turn = slope_compare(slope_between(b, c), slope_between(a, b));

	return side == HULL_LOWER ? turn <= 0 : turn >= 0;
}

struct hull hull_of(struct point *points, size_t n, enum hull_side side)
{
	struct hull h = { .side = side, .at = points };

	points_sort(points, n);
	for (size_t i = 0; i < n; i++) {
		struct point p = points[i];

		if (h.n && h.at[h.n - 1].x == p.x) { /* ascending y: the first is the lowest */
			if (side == HULL_LOWER)
				continue;
			h.n--;
		}
		while (h.n >= 2 && is_inside(side, &h.at[h.n - 2], &h.at[h.n - 1], &p))
			h.n--;
		points[i] = h.at[h.n]; /* no point is lost */
		h.at[h.n++] = p;
	}
	return h;
}

struct slope hull_edge(const struct hull *h, size_t i)
{
	return slope_between(&h->at[i], &h->at[i + 1]);
}

size_t hull_touch(const struct hull *h, struct slope m)
{
	size_t low = 0, high = h->n - 1;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int steeper = slope_compare(hull_edge(h, middle), m);

		if (h->side == HULL_LOWER ? steeper >= 0 : steeper <= 0)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}
