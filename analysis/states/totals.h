/* SPDX-License-Identifier: MIT
 *
 * totals.h - what every thread did in all: how long it worked and waited, how long it was in each
 * region; and who takes part in the scores.
 *
 * What it did comes out of one walk along its states, which also keeps its periods for the sweeps. Regions are a walk of
 * their own.
 *
 * Totals are kept in ticks and pieces, so that they become times only once, by the clock's rate.
 * Where it is not known how long something took there is a part that is sure and a part that is
 * possible.
 *
 * Law: the true total time that a thread spent in a region (inclusive, recursion counted once),
 * working, waiting or unclassified, within the span of its time base, lies in the interval given for it. */
#ifndef ANALYSIS_TOTALS_H
#define ANALYSIS_TOTALS_H

#include "analysis/clocks/times.h"
#include "analysis/states/timeline.h"
#include "analysis/states/states.h"

struct pieces { uint64_t ticks, count; };

struct total {
	struct pieces sure, possible;
	uint64_t sure_until; /* surely also from the span's begin to this stamp; or PERIOD_BEFORE */
	uint64_t until; /* possibly also from the span's begin to this stamp; or PERIOD_BEFORE */
	uint64_t since; /* possibly also from this stamp to the span's end; or PERIOD_AFTER */
};

struct region_total {
	struct total time;
	uint64_t visits;     /* that were recorded; of a thread that switches stacks, enters in enters as well */
	uint64_t entered;    /* while in it, or perhaps: the stamp from which on that is so */
	uint32_t depth;      /* of enters that have an exit; */
	uint32_t jumped;     /* and of those that have none (trace_jumps.h) */
};

struct waited_at { uint32_t site; uint64_t ticks; };

struct thread_totals {
	struct ends ends;    /* first > last without any event */
	bool works, waits;   /* ever, as far as is known */
	bool goes;           /* is ever gone, or may be */
	bool comes;          /* was gone before it began */
	bool idles;          /* takes part, and waits or is gone at some time, whatever is not known */
	bool unclassified_ever; /* or may be */
	struct total work, wait, unclassified;
	struct waited_at *waited; size_t nwaited; /* the ticks of periods in which it waits, or may, by their sites */
	uint64_t between;    /* ticks in which it may have done something else than its periods say (states.h) */
	uint64_t unmatched;
	bool ends_open;      /* its last record is inside of something: */
	uint32_t open_site;  /* the innermost; TR_NO_SITE when that is unknown */
	uint64_t events;     /* after totals_regions */
	struct region_total *regions; /* by region name; likewise */
};

struct totals {
	struct trace *trace;
	const struct roles *roles;
	struct thread_totals *threads;
	struct ends *ends;          /* of each thread, once more, as times_span wants them */
	uint32_t *region_of_site;   /* TR_NO_SITE when it is no region */
	uint32_t *site_of_region;   /* one of the sites with that name */
	uint32_t nregions;
	struct periods periods;     /* of all threads */
	struct tr_writer **writers; /* of these, and of the places within them, for each worker; until totals_end */
};

/* Follows each thread once, on several cores (pool.h). */
void totals_open(struct totals *, struct trace *, const struct roles *);

/* The same in three steps, for who has other tasks beside: what all threads need, for so many workers; each thread, once,
 * by one of these, as a task of its own; and what comes of all. */
void totals_begin(struct totals *, struct trace *, const struct roles *, size_t workers);
void totals_follow(struct totals *, size_t thread, size_t worker);
void totals_end(struct totals *);
void totals_close(struct totals *);

void totals_regions(struct totals *);

/* `total`: one of the thread's. */
frz_time totals_time(const struct times *, const struct span *, const struct totals *, size_t thread,
		     const struct total *total);

/* Every thread that ever works or waits is a participant; or every process that has such a thread. `any`: for
 * every choice of what threads did in unclassified time (timeline.h). */
struct participants totals_participant_threads(const struct totals *, bool any);
struct participants totals_participant_processes(const struct totals *, bool any);
void participants_close(struct participants *);

#endif
