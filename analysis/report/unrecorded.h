/* SPDX-License-Identifier: MIT
 *
 * unrecorded.h - threads that were blocked for a time worth mentioning in something that dprof did not record
 * (blocked.h): in verdicts that time counts as work, but it may have been waiting. */
#ifndef ANALYSIS_UNRECORDED_H
#define ANALYSIS_UNRECORDED_H

#include "analysis/states/blocked.h"

#define UNRECORDED_PERCENT 1 /* of the longest thread's time, at least */

struct unrecorded {
	struct blocked *threads;
	bool *worth;         /* of each thread: so long that it is worth saying */
	size_t count;        /* of these */
};

/* With a note for the reader of the trace. `roles`: or NULL for those by default. */
void unrecorded_open(struct unrecorded *, struct trace *, const struct roles *);
void unrecorded_close(struct unrecorded *);

#endif
