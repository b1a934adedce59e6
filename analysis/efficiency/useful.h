/* SPDX-License-Identifier: MIT
 *
 * useful.h - for how long each thread was useful (efficiency.h), and the factors of that which need no graph.
 *
 * Law: the true useful time of each thread with events lies in the interval given for it; and the parallel efficiency, the
 * load balance and the communication efficiency in those given for them. */
#ifndef ANALYSIS_USEFUL_H
#define ANALYSIS_USEFUL_H

#include "analysis/clocks/times.h"
#include "analysis/efficiency/factors.h"
#include "analysis/states/totals.h"

struct useful {
	struct span span;
	size_t nthreads, nprocesses; /* with events */
	uint32_t *threads;           /* which ones, */
	struct factor_part *parts;   /* and the useful time of each; its weight is 1 */
	bool open;                   /* for more than a hundredth of the run some thread may be useful or not */
};

/* All clocks with threads must be on one time base, and nothing left out. `totals`: of the trace, with roles_open_useful();
 * NULL: there are none, and each thread is followed once. */
void useful_open(struct useful *, struct trace *, const struct times *, const struct totals *);
void useful_close(struct useful *);

/* Of at least one thread. That of an ideal network is not known: serialisation and transfer say nothing. */
struct factors useful_factors(const struct useful *);

#endif
