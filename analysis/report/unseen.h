/* SPDX-License-Identifier: MIT
 *
 * unseen.h - threads of which nothing is recorded, but of which the kernel counted that they ran: a library's own.
 *
 * What they did, nobody knows; but whoever waited may have waited for them. While one of them works, no other one is alone,
 * and it may be so itself: so a verdict that they could change in the time for which they ran is not proved (findings.h).
 *
 * Of what the runtime says a little is none of theirs: what recorded threads ran as they ended. */
#ifndef ANALYSIS_UNSEEN_H
#define ANALYSIS_UNSEEN_H

#include "analysis/trace/trace.h"

/* Seconds by the kernel's clock, in all threads of one process together. */
double unseen_s(const struct tr_process *);

/* Whether of any process that is worth mentioning: of the longest one's time, at least UNRECORDED_PERCENT (unrecorded.h). */
bool unseen_matters(const struct trace *);

/* A note of the processes of which it is, or of all if `all`; none when there are none. */
void unseen_say(struct trace *, bool all);

#endif
