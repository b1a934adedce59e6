/* SPDX-License-Identifier: MIT
 *
 * machine.h - what the machine did to the threads, which the program did not cause: who could have run, and
 * waited for a core that something else had.
 *
 * Said of a thread for which that is certainly so for at least MACHINE_PERCENT of the run. */
#ifndef ANALYSIS_MACHINE_H
#define ANALYSIS_MACHINE_H

#include "analysis/report/findings.h"
#include "analysis/tables/reply.h"

#define MACHINE_PERCENT 5.0

/* A sentence on the worst, or nothing. */
void machine_say(struct reply *, const struct findings *);

/* "machine": all threads of which the kernel told it. */
void machine_fill(struct reply *, const struct findings *);

#endif
