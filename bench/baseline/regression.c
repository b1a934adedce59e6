/* SPDX-License-Identifier: MIT
 *
 * regression.c - linear regression, the first method of A. Duda, G. Harrus, Y. Haddad, G. Bernard,
 * "Estimating global time in distributed systems", 1987.
 *
 * Least squares give one line through the points of the messages there and one through those of the
 * messages back; the estimate is the mean of the two lines. So the mean delays of both directions
 * cancel if they are equal, however many messages went each way. (DProf's authors fit one line to all
 * points: with as many messages each way, about the same.) Nothing is said of the error. */
#include <errno.h>

#include "bench/baseline/points.h"

/* false: the points do not determine a line. */
static bool fit_line(struct baseline_line *line, const struct point *points, size_t n)
{
	double x = 0, y = 0, xx = 0, xy = 0;

	for (size_t i = 0; i < n; i++) {
		x += (double)points[i].x / (double)n;
		y += (double)points[i].y / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		double dx = (double)points[i].x - x;

		xx += dx * dx;
		xy += dx * ((double)points[i].y - y);
	}
	if (!(xx > 0))
		return false;
	line->slope = xy / xx;
	line->at = y - line->slope * x;
	return true;
}

static int fit(struct baseline *b, const struct baseline_evidence *evidence)
{
	struct baseline_points p;
	struct baseline_line there, back;
	int error = baseline_points(&p, &b->origin, evidence);

	if (error)
		return error;
	if (fit_line(&there, p.under, p.nunder) && fit_line(&back, p.over, p.nover))
		b->line = (struct baseline_line){ (there.at + back.at) / 2,
						  (there.slope + back.slope) / 2 };
	else
		error = -ENODATA;
	b->rate = b->line.slope;
	baseline_points_free(&p);
	return error;
}

const struct baseline_method baseline_regression = {
	.name = "regression",
	.source = "linear regression (Duda and others, 1987)",
	.fit = fit,
	.convert = baseline_convert_by_line,
};
