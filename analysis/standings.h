/* SPDX-License-Identifier: MIT
 *
 * standings.h - the ranking of stragglers as a table, as JSON and in one sentence. */
#ifndef ANALYSIS_STANDINGS_H
#define ANALYSIS_STANDINGS_H

#include "analysis/findings.h"
#include "analysis/json.h"

/* "rank 3", or "pid 4711" without ranks. */
struct actor_name { char text[40]; };
struct actor_name rank_name(const struct trace *, size_t thread);

/* "assign (kmeans.c:88)" */
struct site_name { char text[64]; };
struct site_name site_name(const struct trace *, uint32_t site);

/* The table of ranks, then that of threads where a rank has several; at most `most` lines each. */
void standings_print(const struct findings *, size_t most);

/* "proved" when the first place is, "undecided" otherwise. */
const char *standings_verdict(const struct standings *);
void standings_json(struct json *, const struct findings *); /* arrays "threads" and "ranks" */

/* What to look at, or why nothing can be said and what would help. To be freed. */
char *standings_advice(const struct findings *);

#endif
