/* SPDX-License-Identifier: MIT
 *
 * ranking.h - the ranking of stragglers as tables and as advice. */
#ifndef ANALYSIS_RANKING_H
#define ANALYSIS_RANKING_H

#include "analysis/report/findings.h"
#include "analysis/tables/reply.h"

/* What scores take for work though the kernel's counts leave it open, if that is enough to be seen in one. */
void ranking_say_open(struct reply *, const struct findings *);

/* The page: the table of ranks where there are several, then that of threads where a rank has several; at most
 * `most` of each. More than 16 threads are shown in groups (routines.h). `every`: all of them, one by one. */
void ranking_say(struct reply *, const struct findings *, size_t most, bool every);

/* "proved" when the first place is, "undecided" otherwise: among ranks, or where there is only one among its threads. */
const char *ranking_verdict(const struct findings *);
void ranking_fill(struct reply *, const struct findings *); /* "threads" and "ranks" */

/* Who works for a while worth mentioning while everybody else waits, certainly or possibly: a rank,
 * or of the only one a thread; or NULL. */
const struct ranked *ranking_worth_a_look(const struct findings *);

/* Of those who are worth a look the places that are undecided; and of a trace, for decide.h. */
size_t ranking_undecided(const struct findings *);
size_t ranking_count_undecided(struct trace *, const struct times *, const struct options *);

/* What to look at, or why nothing can be said and what would help. To be freed. */
char *ranking_advice(const struct reply *, const struct findings *);

#endif
