/* SPDX-License-Identifier: MIT
 *
 * quantities.h - what is compared of two runs: how long they took, and what makes that up.
 *
 *   run         the span
 *   efficiency  each of POP's factors (factors.h), in percent
 *   score       for how long all others wait for a rank, or where there is only one process, for a thread (csp.h)
 *   region      in a region, or in all of the run, but for waiting there: of all threads together
 *   path        in a region or operation, on the critical path
 *   wait        waiting in an operation, of all threads together
 *
 * Regions are told apart by name, operations by name and file, and not by line or folder: lines move when programs
 * change, and two versions of a program may lie in two folders.
 *
 * Law: each value lies in the interval given for it, under what its analysis assumes. Seconds are those of `ghz`. */
#ifndef ANALYSIS_DIFF_QUANTITIES_H
#define ANALYSIS_DIFF_QUANTITIES_H

#include <stddef.h>

#include "analysis/base/interval.h"
#include "analysis/base/options.h"
#include "analysis/trace/trace.h"

enum quantity_kind {
	QUANTITY_RUN, QUANTITY_EFFICIENCY, QUANTITY_SCORE, QUANTITY_REGION, QUANTITY_PATH, QUANTITY_WAIT, QUANTITY_KINDS
};

struct quantity {
	enum quantity_kind kind;
	char *name, *file;       /* file: NULL without a place */
	struct interval value;   /* seconds, or of an efficiency percent */
	bool by_name;            /* a region: whatever its file, as everywhere */
};

enum quantity_scores { SCORES_OF_NONE, SCORES_OF_PROCESSES, SCORES_OF_THREADS }; /* none: nobody could wait for another */

struct quantities {
	const char *directory;
	char *host; double ghz;  /* of the base clock: its name, and what it nominally ticks in a nanosecond */
	struct quantity *v; size_t n; /* by quantities_order, each once */
	bool sound;              /* nothing is wrong with the trace; else values are not known: what is missing may be anything */
	enum quantity_scores scores;
	bool lossy;              /* records are missing: what was done then may be in any value */
	bool related;            /* who waited for whom is known; else there are only run and score */
};

/* Of an open trace. EXIT_FINE, or a message says why not, and there is nothing to close. What cannot be had is one of
 * its diagnostics. */
int quantities_open(struct quantities *, const char *directory, struct trace *, const struct options *);

/* The same of what an unsound trace has: what it says, and nothing that holds. */
int quantities_found(struct quantities *, const char *directory, struct trace *, const struct options *);
void quantities_close(struct quantities *);

/* By kind, then name, and for what is no region file. */
int quantities_order(const struct quantity *, const struct quantity *);

/* Whether a score that is not there is one of nothing: of threads that is not known where those of processes are, and the
 * other way round. */
bool quantities_know_score(const struct quantities *, const struct quantity *);

/* "region" */
const char *quantity_word(enum quantity_kind);

#endif
