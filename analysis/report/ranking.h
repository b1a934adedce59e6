/* SPDX-License-Identifier: MIT
 *
 * ranking.h - the ranking of stragglers as a table, as JSON and as advice. */
#ifndef ANALYSIS_RANKING_H
#define ANALYSIS_RANKING_H

#include "analysis/base/json.h"
#include "analysis/report/findings.h"

/* The table of ranks where there are several, then that of threads where a rank has several; at most
 * `most` of each. More than 16 threads are shown in groups (routines.h). `every`: all of them, one by one. */
void ranking_print(const struct findings *, size_t most, bool every);

/* "proved" when the first place is, "undecided" otherwise. */
const char *ranking_verdict(const struct ranking *);
void ranking_json(struct json *, const struct findings *); /* arrays "threads" and "ranks" */

/* Who works for a while worth mentioning while everybody else waits, certainly or possibly: a rank,
 * or of the only one a thread; or NULL. */
const struct ranked *ranking_worth_a_look(const struct findings *);

/* What to look at, or why nothing can be said and what would help. To be freed. */
char *ranking_advice(const struct findings *);

#endif
