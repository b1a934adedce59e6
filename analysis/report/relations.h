/* SPDX-License-Identifier: MIT
 *
 * relations.h - whether it is known who waited for whom, and if not, why. */
#ifndef ANALYSIS_RELATIONS_H
#define ANALYSIS_RELATIONS_H

#include <stdbool.h>

#include "analysis/base/options.h"
#include "analysis/clocks/times.h"
#include "analysis/tables/reply.h"

/* Half a sentence; NULL: it is known, as far as the records go. */
const char *relations_missing(const struct times *);
/* Likewise; there is nothing to say of threads that recorded nothing. */
const char *relations_unanswered(const struct times *);

/* A command that stands on it. `answer` is asked where it is known, and says what is wrong with the trace, the values and the
 * page; its status is EXIT_FINE, or it has printed why not. Else it is said that `unknown`, such as "no waits are known".
 * Returns the exit status. */
typedef int relations_answer(struct trace *, const struct times *, const struct options *, struct reply *);
int relations_run(struct trace *, const struct options *, struct reply *, const char *unknown, relations_answer *answer);

/* That page, without an answer. */
void relations_unknown(struct reply *, const struct trace *, const char *why, const char *unknown);

#define RELATIONS_WORTH 1.0 /* percent of the run: what is less need not be decided */

/* The verdict of a row, whatever shows it. But for a tenth: worth no word beside an interval that says it. */
static inline bool relations_decided(frz_time ticks)
{
	return ticks.hi - ticks.lo <= ticks.hi / 10;
}

#endif
