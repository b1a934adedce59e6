/* SPDX-License-Identifier: MIT
 *
 * census.h - the counts of a query over the threads of one clock, over time.
 *
 * Stamps of one clock are in a known order, up to a tick and up to the `slack` by which its cores
 * may differ. So a clock is summed up without any error by segments, each between two of its
 * stamps; a segment gives every combination of counts that is possible, as a few *choices* (each
 * bounds the counts), or as one choice around all when they are more than CENSUS_CHOICES. Changes
 * of several threads whose order is not known become a segment of their own, from the first of
 * them to the last, in which each of these threads may be in any state that it has there; choices
 * that a neighbour has, too, are left to it when all of that is one tick. Neighbouring segments
 * have different choices.
 *
 * Law: at each moment, the true counts lie in one of the choices of a segment whose ticks, from
 * its first stamp's to its last stamp's, contain the moment; and between the end of the first tick
 * and the begin of the last they lie in a choice of that segment. Segments follow each other
 * without gaps from PERIOD_BEFORE to PERIOD_AFTER. */
#ifndef ANALYSIS_CENSUS_H
#define ANALYSIS_CENSUS_H

#include "analysis/base/heap.h"
#include "analysis/states/conditions.h"

#define CENSUS_CHOICES 16

/* Bounds on each count of the query: first all lower ones, then all upper ones. */
struct census_choices {
	size_t count;
	int32_t *bounds;       /* CENSUS_CHOICES rows of 2 * ncounts */
};

static inline int32_t *census_lo(const struct census_choices *c, size_t ncounts, size_t choice)
{
	return c->bounds + choice * 2 * ncounts;
}

static inline int32_t *census_hi(const struct census_choices *c, size_t ncounts, size_t choice)
{
	return c->bounds + (choice * 2 + 1) * ncounts;
}

struct census_segment {
	uint64_t from, to;     /* stamps, or PERIOD_BEFORE, PERIOD_AFTER */
	struct census_choices choices;
};

/* The caller owns a segment. */
void census_segment_open(struct census_segment *, const struct query *);
void census_segment_close(struct census_segment *);

struct census;

/* NULL when no thread of this clock recorded anything. */
struct census *census_open(const struct atom_map *, uint32_t clock);
bool census_next(struct census *, struct census_segment *);
void census_close(struct census *);

/* How many each count may be at most, over all threads of a clock; added to `most`. */
void census_most(const struct query *, uint32_t clock, int32_t *most);

#endif
