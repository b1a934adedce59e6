/* SPDX-License-Identifier: MIT
 *
 * unclassified.h - for how much of the run threads did what nobody can classify (states.h): there they may have waited for
 * a flag in memory. Scores are proved for every choice of it (findings.h); what-ifs take it for work, so what they prove is
 * proved only if that is so (doubt.h).
 *
 * Law: what a thread did before its last event and what may be unclassified is in its interval, in percent of the run. Behind
 * its last event it waits for nothing that the trace knows. */
#ifndef ANALYSIS_UNCLASSIFIED_H
#define ANALYSIS_UNCLASSIFIED_H

#include "analysis/base/interval.h"
#include "analysis/clocks/times.h"

#define UNCLASSIFIED_PERCENT 1 /* of the run: worth saying */

/* Of each thread; to be freed. 0 where a process has no marks. */
struct interval *unclassified_find(const struct trace *, const struct times *);

/* Whether a thread is unclassified for a time worth saying, and there is another thread that it may have waited for. */
bool unclassified_matters(const struct trace *, const struct interval *);

/* What has to be so then: "proved if ..." */
#define UNCLASSIFIED_IF "unclassified time is work"

/* A note of those threads of which that is worth saying. */
void unclassified_say(struct trace *, const struct interval *);

#endif
