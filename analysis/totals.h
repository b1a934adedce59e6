/* SPDX-License-Identifier: MIT
 *
 * totals.h - one pass over every thread: how much of what it recorded, how long in each region, how
 * long working and waiting; and who takes part in the scores.
 *
 * Totals are kept in ticks and pieces, so that they become times only once, by the clock's rate.
 * Where it is not known how long something took there is a part that is sure and a part that is
 * possible.
 *
 * Law: the true total time that a thread spent in a region (inclusive, recursion counted once),
 * working or waiting, within the span of its line, lies in the interval given for it. */
#ifndef ANALYSIS_TOTALS_H
#define ANALYSIS_TOTALS_H

#include "analysis/lane.h"
#include "analysis/states.h"
#include "analysis/times.h"

struct pieces { uint64_t ticks, count; };

struct total {
	struct pieces sure, possible;
	uint64_t until; /* possibly also from the span's begin to this stamp; or PERIOD_BEFORE */
	uint64_t since; /* possibly also from this stamp to the span's end; or PERIOD_AFTER */
};

struct region_total {
	struct total time;
	uint64_t visits;     /* that were recorded */
	uint64_t entered;    /* while in it: stamp of the outermost enter */
	uint32_t depth;
};

struct thread_totals {
	struct ends ends;    /* first > last without any event */
	uint64_t events, unmatched;
	struct total work, wait;
	struct region_total *regions; /* by region name */
	bool ends_open;      /* its last record is inside of something: */
	uint32_t open_site;  /* the innermost; TR_NO_SITE when that is unknown */
};

struct totals {
	const struct trace *trace;
	struct thread_totals *threads;
	struct ends *ends;          /* of each thread, once more, as times_span wants them */
	uint32_t *region_of_site;   /* TR_NO_SITE when it is no region */
	uint32_t *site_of_region;   /* one of the sites with that name */
	uint32_t nregions;
};

void totals_open(struct totals *, struct trace *, const struct roles *);
void totals_close(struct totals *);

bool total_any(const struct total *); /* or may there be any */
frz_time totals_time(const struct times *, const struct span *, uint32_t clock,
		     const struct total *);

/* Every thread that ever works or waits is an actor; or every process that has such a thread. */
struct cast totals_cast_threads(const struct totals *);
struct cast totals_cast_processes(const struct totals *);
void cast_close(struct cast *);

#endif
