/* SPDX-License-Identifier: MIT
 *
 * polygon.c - the least and the greatest slope that fit, or the points that rule all lines out. */
#include "freezer/polygon.h"

#include <assert.h>
#include <stdbool.h>

/* The two points that decide gap(m). */
struct touch { const struct point *under, *over; };

static struct touch touch_at(const struct hull *under, const struct hull *over, struct slope m)
{
	return (struct touch){ &under->at[hull_touch(under, m)], &over->at[hull_touch(over, m)] };
}

/* Sign of gap(m), which is rise - m * run of the two points. Straight up, where a run of 0 makes
 * all the difference, it is asked for only when some line fits, so the rise is not negative. */
static int gap_sign(struct touch t, struct slope m)
{
	return wide_compare_products(t.over->y - t.under->y, m.dx, m.dy, t.over->x - t.under->x);
}

/* A point and an edge that it lies beyond; the end of the edge that is nearer to the point comes
 * first. */
static void set_conflict(struct polygon *p, const struct point *a, const struct point *left,
			 const struct point *right)
{
	bool left_is_nearer = a->x - left->x <= right->x - a->x;

	p->conflict[0] = a->link;
	p->conflict[1] = left_is_nearer ? left->link : right->link;
	p->conflict[2] = left_is_nearer ? right->link : left->link;
	p->nconflicts = a->x == left->x || a->x == right->x ? 2 : 3;
}

/* How far a lies on the wrong side of the edge, roughly; 0 if it does not (exactly). */
static double violation(const struct hull *edges, const struct point *left,
			const struct point *right, const struct point *a)
{
	int sign = slope_compare(slope_between(left, a), slope_between(left, right));

	if (edges->side == HULL_LOWER ? sign <= 0 : sign >= 0)
		return 0;
	double slope = (double)(right->y - left->y) / (double)(right->x - left->x);
	double height = (double)(a->y - left->y) - slope * (double)(a->x - left->x);

	return height < 0 ? -height + 1 : height + 1;
}

/* The point of `points` that lies farthest beyond an edge of `edges`; returns how far. */
static double worst_point(struct polygon *p, const struct hull *points, const struct hull *edges,
			  double worst)
{
	size_t edge = 0;

	for (size_t i = 0; i < points->n; i++) {
		const struct point *a = &points->at[i];

		while (edge + 1 < edges->n && edges->at[edge + 1].x < a->x)
			edge++;
		if (a->x < edges->at[edge].x || edge + 1 == edges->n)
			continue;
		double v = violation(edges, &edges->at[edge], &edges->at[edge + 1], a);

		if (v > worst) {
			worst = v;
			set_conflict(p, a, &edges->at[edge], &edges->at[edge + 1]);
		}
	}
	return worst;
}

/* No line at all fits: then some corner of one hull lies beyond an edge of the other. */
static struct polygon crossing(const struct hull *under, const struct hull *over)
{
	struct polygon p = { .kind = POLYGON_EMPTY };
	double worst = worst_point(&p, under, over, 0);

	worst_point(&p, over, under, worst);
	assert(p.nconflicts);
	return p;
}

/* From slope 0 upwards to the first that fits. */
static struct polygon least_slope(const struct hull *under, const struct hull *over)
{
	struct slope m = { 0, 1 };

	for (bool first = true;; first = false) {
		struct touch t = touch_at(under, over, m);

		if (gap_sign(t, m) >= 0)
			return (struct polygon){ POLYGON_BOUNDED, .min = m };
		if (t.over->x >= t.under->x && first) /* these two alone allow falling lines only */
			return (struct polygon){ POLYGON_EMPTY, .nconflicts = 2,
						 .conflict = { t.under->link, t.over->link } };
		if (t.over->x >= t.under->x)
			return crossing(under, over);
		m = slope_between(t.over, t.under);
	}
}

/* From straight up downwards to the first that fits; one does. */
static void greatest_slope(struct polygon *p, const struct hull *under, const struct hull *over)
{
	struct slope m = { 1, 0 };

	for (;;) {
		struct touch t = touch_at(under, over, m);

		if (gap_sign(t, m) >= 0)
			break;
		m = slope_between(t.under, t.over);
	}
	p->max = m;
	if (!m.dx)
		p->kind = POLYGON_OPEN;
}

struct polygon polygon_between(const struct hull *under, const struct hull *over)
{
	if (!under->n || !over->n)
		return (struct polygon){ .kind = POLYGON_OPEN };
	struct polygon p = least_slope(under, over);

	if (p.kind == POLYGON_BOUNDED)
		greatest_slope(&p, under, over);
	return p;
}
