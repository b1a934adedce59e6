/* SPDX-License-Identifier: MIT
 *
 * standings.h - the ranking of stragglers as a table, as JSON and in one sentence. */
#ifndef ANALYSIS_STANDINGS_H
#define ANALYSIS_STANDINGS_H

#include "analysis/base/json.h"
#include "analysis/report/findings.h"

/* The table of ranks where there are several, then that of threads where a rank has several; at most
 * `most` of each. More than 16 threads are shown in groups (routines.h). `every`: all of them, one by one. */
void standings_print(const struct findings *, size_t most, bool every);

/* "proved" when the first place is, "undecided" otherwise. */
const char *standings_verdict(const struct standings *);
void standings_json(struct json *, const struct findings *); /* arrays "threads" and "ranks" */

/* Who works for a while worth mentioning while everybody else waits, certainly or possibly: a rank,
 * or of the only one a thread; or NULL. */
const struct standing *standings_worth_a_look(const struct findings *);

/* What to look at, or why nothing can be said and what would help. To be freed. */
char *standings_advice(const struct findings *);

#endif
