/* SPDX-License-Identifier: MIT
 *
 * standings.h - the ranking of stragglers as a table, as JSON and in one sentence. */
#ifndef ANALYSIS_STANDINGS_H
#define ANALYSIS_STANDINGS_H

#include "analysis/base/json.h"
#include "analysis/report/findings.h"

/* The table of ranks, then that of threads where a rank has several; at most `most` lines each. */
void standings_print(const struct findings *, size_t most);

/* "proved" when the first place is, "undecided" otherwise. */
const char *standings_verdict(const struct standings *);
void standings_json(struct json *, const struct findings *); /* arrays "threads" and "ranks" */

/* What to look at, or why nothing can be said and what would help. To be freed. */
char *standings_advice(const struct findings *);

#endif
