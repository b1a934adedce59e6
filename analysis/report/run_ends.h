/* SPDX-License-Identifier: MIT
 *
 * run_ends.h - what processes did before the run's first event and behind its last.
 *
 * The span goes from the one to the other, and all shares are of that. What a program computes before it makes
 * its first thread or calls MPI_Init, and behind the last event, is not in it; how long that was is known from
 * when a process was there and when it ended in good order.
 *
 * Law: each interval contains the time for which the process was there before the first event, or behind the last. */
#ifndef ANALYSIS_RUN_ENDS_H
#define ANALYSIS_RUN_ENDS_H

#include "analysis/clocks/times.h"
#include "analysis/tables/reply.h"

#define RUN_ENDS_PERCENT 5.0 /* of the span: worth saying, MPI_Init aside */

/* A note for the reader of the trace if any process has that much. `spans`: of each time base. */
void run_ends_say(struct trace *, const struct times *, const struct span *spans);

/* "outside_span": all processes of which one of both is known. */
void run_ends_fill(struct reply *, const struct times *, const struct span *spans);

#endif
