/* SPDX-License-Identifier: MIT
 *
 * profile.h - the causal profile: how much shorter the run would be, in percent of its span, for each
 * region and reduction.
 *
 * Regions are ranked by the slope of speed-up over reduction, that of the straight line through the
 * origin that fits best: the sum of (reduction * speed-up) over the sum of reduction squared.
 *
 * Law: speed-ups and slopes contain the truth (coz.h); the place of a region is *proved* when its
 * slope's interval does not overlap with that of any other, otherwise *undecided*. A reduction by
 * p percent buys at most p percent; one by 0 exactly 0. */
#ifndef ANALYSIS_PROFILE_H
#define ANALYSIS_PROFILE_H

#include "analysis/coz.h"
#include "analysis/interval.h"

#define PROFILE_STEPS 20 /* 5, 10, ... 100 % */

struct profile_wish {
	const char *region;          /* NULL: each */
	int64_t rank;                /* or COZ_ALL_RANKS */
	const uint32_t *reductions;  /* millionths of a percent; NULL: the steps */
	size_t nreductions;
	bool worst;
};

struct profile_row {
	uint32_t site;               /* one of the region's */
	struct interval *percent;    /* speed-up, for each reduction */
	struct interval slope;
	bool proved;
};

struct profile {
	struct profile_row *rows; size_t nrows; /* the steepest first */
	uint32_t *reductions; size_t nreductions;
	struct interval span_s;
	bool possible;               /* all clocks are on one line; otherwise nothing is known */
	size_t measured;             /* kinds of transfers of which the times could be measured */
	bool transfers;              /* there are some */
};

void profile_open(struct profile *, struct trace *, const struct times *,
		  const struct profile_wish *);
void profile_close(struct profile *);

/* What is assumed beside the clocks, in a sentence or two. To be freed. */
char *profile_assumptions(const struct profile *, bool worst);

#endif
