/* SPDX-License-Identifier: MIT
 *
 * points.h - links as points of the plane, as in solve.h: the clock's counter to the right, the
 * base's upward.
 *
 * A link from stamp u of the base to stamp v of the clock is the point (v + 1, u), which the
 * clock's line passes not below; one from stamp v of the clock to stamp u of the base is
 * (v, u + 1), which it passes not above. An *exchange* is a link and the next one in the list, if
 * that goes back and left after the first had arrived: one point below and one above. */
#ifndef BENCH_BASELINE_POINTS_H
#define BENCH_BASELINE_POINTS_H

#include "bench/baseline/baseline.h"
#include "freezer/hull.h"

struct baseline_points {
	struct point *under, *over; /* relative to the origin, in the order of the links */
	size_t nunder, nover;
};

/* Also chooses the origin: where the first link was. 0 or -ENOMEM. */
int baseline_points(struct baseline_points *, struct baseline_moment *origin,
		    const struct baseline_evidence *);
void baseline_points_free(struct baseline_points *);

struct baseline_exchange {
	struct { double x, y; } under, over;
	const struct frz_link *there, *back; /* from the base, and to it; whoever asked */
};

/* The exchange of least round trip in the first tenth and in the last tenth of the run. 0, -ENODATA
 * or -ENOMEM. */
int baseline_ends(struct baseline_exchange ends[2], struct baseline_moment *origin,
		  const struct baseline_evidence *);

/* The line through two places, as the estimate. 0, or -ENODATA if the second is not behind the first. */
struct baseline_place { double x, y; };
int baseline_through(struct baseline *, struct baseline_place first, struct baseline_place last);

/* For the methods that fit a line: estimates, and no bounds. */
void baseline_convert_by_line(const struct baseline *, const uint64_t *stamps,
			      struct baseline_time *times, size_t n);

#endif
