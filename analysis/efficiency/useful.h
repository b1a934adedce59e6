/* SPDX-License-Identifier: MIT
 *
 * useful.h - for how long each thread was useful (efficiency.h), and the factors of that which need no graph.
 *
 * Where the kernel's counts show that a thread was blocked in nothing that was recorded, or leave that open (blocked.h), for
 * a hundredth of the run or more, that time may not be useful.
 *
 * Law: the true useful time of each thread with events lies in the interval given for it; and the parallel efficiency, the
 * load balance and the communication efficiency in those given for them. */
#ifndef ANALYSIS_USEFUL_H
#define ANALYSIS_USEFUL_H

#include "analysis/clocks/times.h"
#include "analysis/efficiency/factors.h"
#include "analysis/states/blocked.h"
#include "analysis/states/totals.h"

struct useful {
	struct span span;
	size_t nthreads, nprocesses; /* with events */
	uint32_t *threads;           /* which ones, */
	struct factor_part *parts;   /* and the useful time of each; its weight is 1 */
	int64_t *blocked;            /* of each of the trace's threads, ticks at most for which it was so; 0: below a
					hundredth of the run */
	int64_t *hidden;             /* likewise, ticks for which it may have worked in operations */
	int64_t blocked_sum, hidden_sum; /* of all */
	bool unseen;                 /* of some thread all is lost, so that it is not among these */
	bool open;                   /* for more than a hundredth of the run some thread may be useful or not */
};

/* All clocks with threads must be on one time base, and nothing left out. `totals`: of the trace, with roles_open_useful();
 * NULL: there are none, and each thread is followed once. `blocked`: of each
 * thread, or NULL likewise. */
void useful_open(struct useful *, struct trace *, const struct times *, const struct totals *, const struct blocked *);
void useful_close(struct useful *);

/* Of at least one thread; if some are unseen, nothing is known. That of an ideal network is not known: serialisation
 * and transfer say nothing. */
struct factors useful_factors(const struct useful *);

#endif
