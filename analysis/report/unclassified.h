/* SPDX-License-Identifier: MIT
 *
 * unclassified.h - for how much of the run threads did what nobody can classify (states.h): there they may have waited for
 * a flag in memory. Scores are proved for every choice of it (findings.h); what-ifs take it for work, so what they prove is
 * proved only if that is so (doubt.h).
 *
 * Law: how long a thread may have been unclassified is in its interval, in percent of the run: in all of the run, which is what
 * every command says; and before its last event, which is what may change a what-if, as behind that it waits for nothing
 * that the trace knows. */
#ifndef ANALYSIS_UNCLASSIFIED_H
#define ANALYSIS_UNCLASSIFIED_H

#include "analysis/base/interval.h"
#include "analysis/states/totals.h"

#define UNCLASSIFIED_PERCENT 1 /* of the run: worth saying */

struct unclassified { struct interval of_run, before_end; }; /* percent */

/* Of each thread; to be freed. 0 where a process has no marks. */
struct unclassified *unclassified_find(struct trace *, const struct times *);

/* Likewise of totals that are there, of roles by default. */
struct unclassified *unclassified_of_totals(const struct totals *, const struct times *);

/* How much of the run it is, in percent, of a thread in a span; 0 without events. */
struct interval unclassified_of_run(const struct times *, const struct span *, const struct totals *, size_t thread);

/* Whether a thread is unclassified for a time worth saying, and there is another thread that it may have waited for. */
bool unclassified_matters(const struct trace *, const struct unclassified *);

/* What has to be so then: "proved if ..." */
#define UNCLASSIFIED_IF "unclassified time is work"

/* A note of those threads of which that is worth saying. */
void unclassified_say(struct trace *, const struct unclassified *);

#endif
