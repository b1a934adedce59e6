/* SPDX-License-Identifier: MIT
 *
 * facts.h - what the analyses know of a run, as facts for rules (rules/facts.clp says what each means).
 *
 *   run          how all threads' time was spent: work, waiting, transfer
 *   region       each region that threads worked in, and how evenly
 *   operation    each operation in which others take part: waiting and transfer there, and how many bytes
 *   delay        each region of which waiting of others came, as it was longer there (waits.h)
 *   contention   each region whose thread held what others waited for: locks
 *   little       all delays, or all contention, of regions that cost less than FACTS_LITTLE each; and likewise
 *   little-operations   what operations took
 *
 * Law: a share is one of all threads' time, which is their number times the run's span, and its bounds hold the truth,
 * as far as doubts.h says: waiting that was not recorded counts as work for certain only where no thread surely did it.
 * A table that is longer than FACTS_MOST has only the greatest of it: so many rows of a run matter. Of regions and
 * operations it has those as well that a row of another table names. */
#ifndef ANALYSIS_FACTS_H
#define ANALYSIS_FACTS_H

#include "analysis/calls/calls.h"
#include "analysis/diagnose/doubts.h"
#include "analysis/diagnose/expert.h"
#include "analysis/waits/waits.h"

#define FACTS_MOST 64
#define FACTS_LITTLE 2.0             /* percent of all threads' time: what costs less is no finding (?*least* in rules) */

struct facts {
	const struct trace *trace;
	const struct times *times;
	const struct waits *waits;   /* with delays */
	const struct call_profile *calls;
	const struct diagnosis_doubts *doubts;
	double run_s;                /* at least */
	frz_time all;                /* threads' time, in ticks */
};

/* Waits and calls are of one graph, which had events. */
struct facts facts_of(const struct graph *, const struct waits *, const struct call_profile *, const struct diagnosis_doubts *);

/* Of this part of all threads' time: in percent. */
struct interval facts_share(const struct facts *, frz_time);

/* All waiting for locks. */
frz_time facts_locks(const struct facts *);

void facts_tell(const struct facts *, struct expert *);

/* A site as rules have it: -1 is what has none. */
int64_t facts_site(const struct trace *, uint32_t site);

/* The name of a region or operation, short enough for a line of a rule's text; what has no site is code outside of
 * these. */
struct site_name facts_name(const struct trace *, uint32_t site);

/* "rank 3", with the thread where the run's processes have several; "all" of UINT32_MAX, which rules have as -1. */
struct location_name facts_location(const struct trace *, uint32_t thread);
int64_t facts_thread(uint32_t thread);

/* Where a model's time went: of one thread, or of all that it is about (UINT32_MAX). */
struct model_metric {
	uint32_t thread;
	const char *name;            /* "comp", ...; "wait", all waiting; "life", all of it */
	frz_time ticks;
	struct interval share, lost; /* in percent of the thread's life, or of all threads' time; and of what of it was
					no work */
};
struct model_metric facts_metric(const struct facts *, uint32_t thread, const char *name, frz_time ticks, frz_time life,
			   frz_time work);

#endif
