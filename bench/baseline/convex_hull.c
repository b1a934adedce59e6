/* SPDX-License-Identifier: MIT
 *
 * convex_hull.c - the second method of A. Duda, G. Harrus, Y. Haddad, G. Bernard, "Estimating
 * global time in distributed systems", 1987.
 *
 * No message arrives before it was sent, so the clock's line passes between two convex hulls. The
 * estimate is the mean of the steepest and the flattest line that do; a mean of lines that pass
 * passes, too. Hulls and extreme lines are those of the solver (hull.h, polygon.h). */
#include <errno.h>

#include "bench/baseline/points.h"
#include "freezer/polygon.h"

/* The line of slope m that touches the hull. */
static struct baseline_line touching(const struct hull *h, struct slope m)
{
	const struct point *p = &h->at[hull_touch(h, m)];
	double slope = (double)m.dy / (double)m.dx;

	return (struct baseline_line){ (double)p->y - slope * (double)p->x, slope };
}

static int fit_between(struct baseline_line *line, const struct hull *under,
		       const struct hull *over)
{
	struct polygon polygon = polygon_between(under, over);

	if (polygon.kind != POLYGON_BOUNDED)
		return polygon.kind == POLYGON_OPEN ? -ENODATA : -EDOM;
	struct baseline_line flat = touching(under, polygon.min),
			     steep = touching(under, polygon.max);

	*line = (struct baseline_line){ (flat.at + steep.at) / 2, (flat.slope + steep.slope) / 2 };
	return 0;
}

static int fit(struct baseline *b, const struct baseline_evidence *evidence)
{
	struct baseline_points p;
	int error = baseline_points(&p, &b->origin, evidence);

	if (error)
		return error;
	struct hull under = hull_of(p.under, p.nunder, HULL_UPPER),
		    over = hull_of(p.over, p.nover, HULL_LOWER);

	error = fit_between(&b->line, &under, &over);
	b->rate = b->line.slope;
	baseline_points_free(&p);
	return error;
}

const struct baseline_method baseline_convex_hull = {
	.name = "hull",
	.source = "convex hull (Duda and others, 1987)",
	.fit = fit,
	.convert = baseline_convert_by_line,
};
