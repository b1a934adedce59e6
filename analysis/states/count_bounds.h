/* SPDX-License-Identifier: MIT
 *
 * count_bounds.h - the counts of a query over the threads of one clock, over time.
 *
 * Stamps of one clock are in a known order, up to a tick and up to the `slack` by which its cores
 * may differ. So a clock is summed up without any error by segments, each between two of its
 * stamps; a segment gives every combination of counts that is possible, as a few *choices* (each
 * bounds the counts), or as one choice around all when they are more than COUNT_CHOICES. Changes
 * of several threads whose order is not known become a segment of their own, from the first of
 * them to the last, in which each of these threads may be in any state that it has there; choices
 * that a neighbour has, too, are left to it when all of that is one tick. Neighbouring segments
 * have different choices.
 *
 * Law: at each moment, the true counts lie in one of the choices of a segment whose ticks, from
 * its first stamp's to its last stamp's, contain the moment; and between the end of the first tick
 * and the begin of the last they lie in a choice of that segment. Segments follow each other
 * without gaps from PERIOD_BEFORE to PERIOD_AFTER. */
#ifndef ANALYSIS_COUNT_BOUNDS_H
#define ANALYSIS_COUNT_BOUNDS_H

#include "analysis/states/conditions.h"

#define COUNT_CHOICES 16

/* Bounds on each count of the query: first all lower ones, then all upper ones. */
struct count_choices {
	size_t count;
	int32_t *bounds;       /* COUNT_CHOICES rows of 2 * ncounts */
};

static inline int32_t *count_choice_lo(const struct count_choices *c, size_t ncounts, size_t choice)
{
	return c->bounds + choice * 2 * ncounts;
}

static inline int32_t *count_choice_hi(const struct count_choices *c, size_t ncounts, size_t choice)
{
	return c->bounds + (choice * 2 + 1) * ncounts;
}

struct count_segment {
	uint64_t from, to;     /* stamps, or PERIOD_BEFORE, PERIOD_AFTER */
	struct count_choices choices;
};

/* The caller owns a segment. */
void count_segment_open(struct count_segment *, const struct query *);
void count_segment_close(struct count_segment *);

struct count_bounds;

/* NULL when no thread of this clock recorded anything. */
struct count_bounds *count_bounds_open(const struct atom_map *, uint32_t clock);
bool count_bounds_next(struct count_bounds *, struct count_segment *);
void count_bounds_close(struct count_bounds *);

/* How many each count may be at most, over all threads of a clock; added to `most`. */
void count_bounds_most(const struct query *, uint32_t clock, int32_t *most);

#endif
