/* SPDX-License-Identifier: MIT
 *
 * cone.h - bounds on a map of which only the range of its slopes is known.
 *
 * If slopes lie in [lo, hi], a point (x, y) that the map does not exceed bounds it everywhere:
 *
 *      .                      /         by y + hi * (s - x) to the right,
 *       `- .                 /          by y - lo * (x - s) to the left.
 *    lo     `- .    ________o  hi
 *               `-o~                    The least of all these cones is the tightest
 *                                       bound there is: it is a map with such slopes
 *                                       itself (McShane and Whitney).
 *
 * Points that the map does not fall below mirror this. Few points matter: those beyond no other's
 * cone. */
#ifndef FREEZER_CONE_H
#define FREEZER_CONE_H

#include "freezer/bound.h"

struct cones {
	enum hull_side side;  /* HULL_LOWER: points that the map does not exceed */
	struct point *at;     /* by x, strictly ascending; none lies beyond another one's cone */
	size_t n;
	struct slope left, right; /* sides of each cone; equal dx */
};

/* Leaves in c->at those that matter under the cones' sides; they were sorted by x. */
void cones_reduce(struct cones *c);

/* The bound that the cones give; n > 0. 0 or -ENOMEM. */
int cones_bound(struct bound *, const struct cones *);

/* Which point the piece of that bound belongs to. */
static inline size_t cones_owner(size_t piece)
{
	return piece / 2;
}

#endif
