/* SPDX-License-Identifier: MIT
 *
 * clock_facts.h - how well the clocks of one run are known.
 *
 * Law: the smallest and largest width are those among the stamps that were looked at, in which each
 * thread's first and last one is; the median is of them. All are rounded up. */
#ifndef ANALYSIS_CLOCK_FACTS_H
#define ANALYSIS_CLOCK_FACTS_H

#include "analysis/clocks/times.h"
#include "analysis/tables/reply.h"

struct widths { double min_s, median_s, max_s; };

struct clock_facts {
	bool base, placed;       /* the base itself; on the base clock's time base */
	bool proven;             /* and its bounds follow from its links */
	enum frz_status status;
	struct interval rate;    /* base ticks for each tick of this clock */
	size_t links;            /* with the base, both ways */
	size_t packets, program; /* links with any clock: packets, and those of the program */
	uint32_t hops;           /* to the base */
	size_t stamps;           /* that the widths are of; 0: this clock recorded nothing */
	struct widths widths;
	bool by_both;            /* the program's links are used, and packets alone place it, too: */
	struct widths by_packets;
	bool has_packets;        /* at least one each way between this clock and the base */
	struct interval packets_s; /* travel time of the fastest one there plus the fastest back */
	double uncertainty_s;    /* of the host's cores */
	struct tr_packets sent;  /* what became of the packets of the host's endpoint */
};

struct clock_facts clock_facts(const struct times *, uint32_t clock);

/* The greatest width alone, without sorting all: 0 if the clock recorded nothing, or is not on the base clock's time base. */
double clock_widest_s(const struct times *, uint32_t clock);
/* The fastest packets alone; false without any. */
bool clock_packets_s(const struct times *, uint32_t clock, struct interval *s);

/* "affine" or "drift:PPM". */
struct model_name { char text[32]; };
struct model_name clock_model_name(struct frz_assumption);

/* "proven", or "consistent" if any clock's bounds are no better than that. */
const char *clock_bounds_word(const struct times *);
/* Says so, if they are not proven. */
void clock_bounds_say(struct reply *, const struct times *);

/* A line: how well all clocks are known, and `more`. */
void clock_widths_say(struct reply *, const struct times *, const char *more);

void clock_facts_fill(struct reply *, const struct times *); /* "clocks" */

#endif
