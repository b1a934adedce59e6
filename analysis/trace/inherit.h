/* SPDX-License-Identifier: MIT
 *
 * inherit.h - regions that the threads of a team, and who runs a task, inherit.
 *
 * A region around `omp parallel` is entered by the thread that opens the team. The other threads of the team
 * are in it, too, from where they begin (EXIT of the fork with role=0) to where they leave (ENTER of the join
 * with role=0), and once more while they run a task on their way out (EXIT of the join with task=).
 *
 * A task belongs to the regions in which its maker was when it made it (POINT of a fork with task=), the run of the
 * task that made it among them, and not to those of the thread that runs it (ENTER of a region with task=), which are
 * around the wait in which it does that: these are left until the task is over (EXIT).
 *
 * Law: a cursor of trace_places() gives all events of the thread in their order and, with `inherited` set, an ENTER and
 * an EXIT for each region that the opener was in when it opened the team, inherited ones of its own among them: the
 * enters, outermost first, right behind the event with which the thread begins and with its stamp; the exits right
 * before the event with which it leaves.
 *
 * Likewise right before a task begins an EXIT of each region that the thread is in, innermost first, and an ENTER of
 * each that the maker was in; and the reverse right behind its end. But nothing of the outermost ones that are the
 * same, so nothing at all where the maker runs the task at once. In tasks of tasks a place that came before is not
 * inherited again: its latest instance is.
 *
 * What is inherited is not known after a loss of the opener or maker, and where the thread may have left its regions by
 * a jump: then it is one site that cannot be found, TR_NO_SITE, for which nothing is left. What was not lost and is not
 * there (forks that are not recorded) changes nothing.
 *
 * Memory: a few words for each stretch of teams, or of tasks, that inherit the same, and for each run of a task. */
#ifndef ANALYSIS_INHERIT_H
#define ANALYSIS_INHERIT_H

#include "analysis/trace/trace.h"

struct tr_inheritance; /* of a trace; what it holds is found out when it is first asked for */

struct tr_inheritance *inherit_open(void);
void inherit_close(struct tr_inheritance *);

/* Of a thread; NULL when it inherits nothing. */
const struct tr_inheritance *inherit_of(const struct trace *, size_t thread);

/* As trace_next_bare(), without what is inherited: trace.c. */
bool trace_next_recorded(struct tr_cursor *, struct tr_event *);

/* As trace_next_bare(), with what is inherited. */
bool inherit_next(struct tr_cursor *, struct tr_event *);

#endif
