/* SPDX-License-Identifier: MIT
 *
 * findings.h - everything that `csp` and `report` say, computed once.
 *
 * Scores are there twice: for threads, and for ranks (processes), whose threads together work while
 * one of them works. Both in percent of the span.
 *
 * Law: an interval that is printed contains the truth; the place of a participant in the ranking is *proved* when its
 * interval does not overlap with that of any other, whatever each thread did in its unclassified time (states.h) and in
 * time that it was blocked, or may have been, in something unrecorded (unrecorded.h), and whatever was done where the
 * kernel counted that a thread ran which is not recorded (unseen.h) or waits, otherwise *undecided*. */
#ifndef ANALYSIS_FINDINGS_H
#define ANALYSIS_FINDINGS_H

#include "analysis/base/interval.h"
#include "analysis/report/unrecorded.h"
#include "analysis/states/csp.h"
#include "analysis/states/totals.h"

struct ranked {              /* of one participant */
	size_t thread;       /* of the trace; for a rank, its first one that takes part */
	struct interval percent, alone_s;
	uint32_t site;       /* where it works longest while all others wait; or TR_NO_SITE */
	bool mostly;         /* half of that is there, or more */
	bool sure;           /* and no other site has more of it */
	bool proved;
};

struct ranking { struct ranked *list; size_t count; }; /* highest first */
void ranking_sort(struct ranking *);
void ranking_prove(struct ranking *); /* those whose intervals overlap with no other's */
struct ranking ranking_copy(struct ranking); /* its list is to be freed */

struct findings {
	struct trace *trace;
	struct times times;
	bool timed;                   /* these are not its own */
	struct roles roles;
	struct totals totals;
	struct span *spans;           /* of each time base */
	bool one_time_base;           /* all that was recorded is on one time base */
	struct ranking threads, ranks;
	bool any_events, any_work, any_wait; /* was there any, in any thread? */
	bool doubted;                 /* DPROF_EVENTS left out what scores need: nothing is known */
	bool withheld;                /* some place would be proved but for unclassified time */
	bool unsure;                  /* likewise, but for time blocked in what was not recorded */
	bool unseen;                  /* likewise, but for threads that were not recorded, or that ran where they seem to wait */
	struct unrecorded unrecorded;
	double polling_sleeps_s;      /* of threads of which it is not known whether they sleep or wait (polling_sleeps.h) */
	bool several_threads;         /* some rank has more than one thread that takes part */
	uint64_t lost, why;           /* records that are not here; bits 1 << enum dprof_why */
	uint64_t events;              /* after findings_regions */
};

/* Anything but EXIT_FINE: a message was printed on stderr, and there is nothing to close. */
int findings_open(struct findings *, struct trace *, const struct options *);
/* Likewise, where the times are known; they must last. */
int findings_open_timed(struct findings *, struct trace *, const struct times *, const struct options *);
void findings_close(struct findings *);
void findings_regions(struct findings *); /* adds the totals of regions */

/* Widens scores, and withholds places, by what was not recorded: score_doubts.c. */
void findings_doubt_scores(struct findings *);

/* Of the time base that a thread is on. */
const struct span *findings_span(const struct findings *, size_t thread);
struct interval findings_seconds(const struct findings *, size_t thread, frz_time ticks);

/* How long a thread worked, and how long it waited, in the span of its time base; it may have been blocked in what was not
 * recorded, or have worked where it seems to wait (unrecorded.h). */
frz_time findings_work(const struct findings *, size_t thread);
frz_time findings_wait(const struct findings *, size_t thread);

/* In how much of the run it is unknown what the thread did, in percent. */
struct interval findings_unclassified(const struct findings *, size_t thread);

/* For so much of the run, in percent, a thread that takes part may have been blocked in what was not recorded where its score
 * takes that for work: of the one of which it is most. */
double findings_open_work(const struct findings *);

/* The base clock's time base; the first one that has events when that has none. And its span. */
uint32_t findings_time_base(const struct findings *);
struct interval findings_run_s(const struct findings *);

#endif
