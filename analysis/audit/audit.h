/* SPDX-License-Identifier: MIT
 *
 * audit.h - which findings of a trace whose times are estimates hold, whatever its clocks did.
 *
 * The same events twice: as they were recorded, as if all processes had one clock; and with a clock for each process,
 * known by nothing but the program's messages and collective operations. What a reader of the recorded times would say
 * of the run is a claim: who keeps the others waiting longest, where most waiting is, what most of the critical path
 * is, and how much the largest of these are. Where records are missing, or scores would be more than the run in all, only
 * of what these times say all the same.
 *
 * Law: a claim *holds* only if it is true at any times that the messages allow, and *flips* only if it is false at all
 * of them, both under what the bounds assume (times.h). */
#ifndef ANALYSIS_AUDIT_H
#define ANALYSIS_AUDIT_H

#include "analysis/diff/quantities.h"

enum audit_verdict { AUDIT_HOLDS, AUDIT_FLIPS, AUDIT_UNDECIDED };

struct audit_claim {
	char *text;
	double recorded;         /* percent: of the run; of the critical path; of waiting, of the time of all threads */
	struct interval bounds;  /* the same, as far as it is known */
	enum audit_verdict verdict;
};

struct audit {
	struct audit_claim *claims; size_t n;
	bool lossy;              /* records are missing: nothing is claimed of what depends on them */
};

/* How far a share may be from what was recorded and still be called the same, in points. */
#define AUDIT_POINTS 1.0

/* `threads`: of the trace. */
void audit_open(struct audit *, const struct quantities *recorded, const struct quantities *bounds, size_t threads);
void audit_close(struct audit *);

/* "holds" */
const char *audit_word(enum audit_verdict);

#endif
