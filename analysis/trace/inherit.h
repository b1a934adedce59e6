/* SPDX-License-Identifier: MIT
 *
 * inherit.h - regions that the threads of a team inherit.
 *
 * A region around `omp parallel` is entered by the thread that opens the team. The other threads of the team
 * are in it, too, from where they begin (EXIT of the fork with role=0) to where they leave (ENTER of the join
 * with role=0), and once more while they run a task on their way out (EXIT of the join with task=).
 *
 * Law: a cursor of trace_places() gives all events of the thread in their order and, with `inherited` set, an
 * ENTER and an EXIT for each region that the opener was in when it opened the team, inherited ones of its own
 * among them: the enters, outermost first, right behind the event with which the thread begins and with its
 * stamp; the exits right before the event with which it leaves. After a loss of the opener it is not
 * known what the others inherit: one site that cannot be found, TR_NO_SITE.
 *
 * Memory: a few words for each stretch of teams that inherit the same; a team inside of a team is one. */
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
