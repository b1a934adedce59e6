/* SPDX-License-Identifier: MIT
 *
 * solved.h - what is known of one clock, and how it follows from its points.
 *
 * A point is what a link says of the clock (hull.h, wander.h): its phi passes not below (received +
 * 1, y) if it received, where y is a time at or before the sending, and not above (sent, y) if it
 * sent, where y is a time at or after the receipt. Where the y come from is network.h's business.
 *
 * Law: if the points are true and the assumption holds, with the drift in `clock.ppb`, so are the
 * bounds. */
#ifndef FREEZER_SOLVED_H
#define FREEZER_SOLVED_H

#include "freezer/solve.h"
#include "freezer/sweep.h"
#include "freezer/wander.h"

struct solved {
	struct frz_clock clock;
	struct sweep sweep;       /* bounds and rates by lines, */
	struct rate_bounds rates;
	struct frz_wander wander; /* or, if it has segments, both by this */
};

/* The points of one clock, which are reordered and changed; run: its first stamp and its last. */
struct evidence {
	struct point *under, *over;
	size_t nunder, nover;
	struct frz_wander_run run;
};

/* Sets *s, which owned nothing before; on error it still does not. 0 or -ENOMEM. */
int solved_from(struct solved *s, struct evidence *, struct frz_assumption);
int solved_base(struct solved *s);
void solved_free(struct solved *);

#endif
