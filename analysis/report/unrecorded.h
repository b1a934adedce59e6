/* SPDX-License-Identifier: MIT
 *
 * unrecorded.h - for how long threads were blocked in something that dprof did not record (blocked.h): in verdicts
 * that time counts as work, but it may have been waiting.
 *
 * What surely was, and for a time worth mentioning, is said to the reader. What only may have been is open: a verdict
 * that it could change is not proved (findings.h), and then that is said. Of a thread of which the kernel said nothing,
 * although it did of others or would have when its process ended, all of its own time is open. Where it says nothing of
 * any thread of a host whose processes all ended in good order, it does not count there, and the trace is taken as
 * it is. */
#ifndef ANALYSIS_UNRECORDED_H
#define ANALYSIS_UNRECORDED_H

#include "analysis/states/blocked.h"

#define UNRECORDED_PERCENT 1 /* of the longest thread's time, at least */

struct unrecorded {
	struct blocked *threads;
	bool *worth;         /* of each thread: so long that it is worth saying */
	bool *counts;        /* of each clock: the kernel there said something of a thread */
	size_t count;        /* of these */
	size_t hidden;       /* threads that ran while operations seem to have waited (blocked.h); */
	size_t interrupted;  /* and those in which something began in there */
	bool checked;        /* what may be blocked was recorded, so the kernel's counts say something */
};

/* What is worth mentioning, in seconds. */
double unrecorded_worth(const struct trace *);

/* `roles`: or NULL for those by default. To be closed. */
void unrecorded_find(struct unrecorded *, const struct trace *, const struct roles *);

/* Likewise, with notes for the reader of the trace. */
void unrecorded_open(struct unrecorded *, struct trace *, const struct roles *);

/* At most for so long, in seconds by the kernel's clock: up to infinity where it is not known. */
double unrecorded_most(const struct unrecorded *, const struct trace *, size_t thread);

/* Seconds, at most, of all threads in which it surely was so, for a time worth mentioning. `likely`: without those behind the
 * last record of a thread that was in a marked region when another, which was in none, most likely ended its process: for
 * such a thread nobody waits. */
double unrecorded_sum(const struct unrecorded *, const struct trace *, bool likely);

/* Notes of which threads it is open: those at most for so many seconds each, as far as that is worth mentioning. */
void unrecorded_say_open(struct trace *, const double *most);
void unrecorded_close(struct unrecorded *);

#endif
