/* SPDX-License-Identifier: MIT
 *
 * blocked.h - the cross-check of what was recorded with what the kernel counted: was a thread blocked at times at
 * which it had recorded nothing that blocks?
 *
 * A thread runs, or could run and waits for a core, or is blocked; the kernel counts the first two (sched.h). What
 * dprof takes for a thread's *own* time, outside of every operation that was recorded, file input and sleeps among
 * them, it should spend running or delayed. What is left over it was blocked: in a call that dprof does not record,
 * in a page fault, stopped; or the machine under a virtual one had taken its core. That a thread runs while it
 * waits (it spins) is no contradiction.
 *
 * Who is woken in a call that waits may have no core at once, and is in that call as long: so where it surely was blocked for a
 * time worth mentioning, what it waited in calls that are not recorded is at most that and all its delays.
 *
 * A process's first thread is there from when that began, and any thread until it ended: a child that records nothing
 * but its end has own time all the same.
 *
 * What a region does inside of an operation (a handler, or what MPI calls) is own time, too, whatever that operation is.
 *
 * Law: in its own time the thread was neither running nor delayed for a time in [lo, hi].
 *
 * In an operation that sleeps (operation.h) a thread runs for at most BLOCKED_RUNS_NS: the rest of what the kernel
 * counted it ran in its own time, or in an operation that may poll. Where that is not enough for what it ran, if it
 * runs for BLOCKED_COPIES_NS in one that only blocks, a signal's handler worked while an operation waited: that much is hidden.
 * (One that works no longer than the thread might have run elsewhere is not known of.) A handler's work lasts while it has no
 * core, too: so it took at most as long as the thread ran or was delayed in all.
 *
 * The C library calls nothing that is recorded. So if an operation begins inside of one that sleeps or blocks, a handler called
 * that, and may have worked, or slept, since the outer one began, or since the last event there: that may be hidden as well.
 *
 * Where the kernel was asked once, at the thread's end (a process without a helper), it is what of its own time is more
 * than all that was counted. Between two answers of the kernel, i and j, both bounds follow from the ticks for which
 * the thread was surely and possibly in its own time, and from what the counts grew by. A count of delays lacks one
 * that goes on when the kernel is asked; that one began after the thread's last event, and is counted by an answer
 * behind its next event. What one answer lacks the next one has: so the upper bound takes answers i to j together
 * wherever that is less.
 *
 * Linux since 6.12 keeps one that goes to sleep among those that can run for some ms. If it moves it to another core meanwhile it
 * counts the rest of its sleep as a delay. So where a thread has moved, what was counted may be more than the delays were. */
#ifndef ANALYSIS_BLOCKED_H
#define ANALYSIS_BLOCKED_H

#include "analysis/base/interval.h"
#include "analysis/states/states.h"

#define BLOCKED_RUNS_NS 20000 /* to begin and to end such an operation: some times what it takes */
#define BLOCKED_COPIES_NS 1000000 /* to copy some MB */
#define BLOCKED_HIDDEN  5     /* by so many times more it is none of both, on a busy machine either */

struct blocked {
	bool known;          /* the kernel counted, and no record is missing */
	struct interval s;   /* seconds by the kernel's clock */
	double waits_s;      /* at most for so long it was in what was not recorded, with its delays there if `s` is worth it */
	struct interval hidden_s; /* for so long it worked while it waited, with its delays; 0 where that is not known,
				     or less than `worth` */
	bool interrupted;    /* in an operation that waits another one began, or a region: a handler's */
};

/* Where the counts alone show that it was less than `worth` seconds the thread's events are not read, and the
 * upper bound is a coarse one. */
struct blocked blocked_unrecorded(const struct trace *, size_t thread, const struct roles *, double worth);

/* -> of each clock: the kernel there said something of a thread; to be freed. */
bool *blocked_counts(const struct trace *);

/* At most for so many seconds by the kernel's clock: up to infinity where it is not known, although the kernel counted there, or
 * would have said so when the process ended. `counts`: as above. */
double blocked_most(const struct blocked *, const struct trace *, size_t thread, const bool *counts);

/* So many seconds by the kernel's clock, in ticks of a span that takes at least `run_s` seconds; no more than all of it. */
int64_t blocked_ticks(double s, const struct span *, double run_s);

/* How long a thread worked, or waited, in a span that takes at least `run_s` seconds, if it may have been blocked for `most_s`
 * of its own time, and have worked for what was hidden of the time for which it seems to have waited. */
frz_time blocked_work(frz_time work, double most_s, const struct blocked *, const struct span *, double run_s);
frz_time blocked_wait(frz_time wait, double most_s, const struct blocked *, const struct span *, double run_s);

#endif
