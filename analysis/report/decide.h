/* SPDX-License-Identifier: MIT
 *
 * decide.h - what would decide verdicts that are undecided: clocks that are known better, and how another run gets there.
 *
 * The trace is analysed again as if its hosts had exchanged more packets (rerun.h): first so many that clocks are known
 * as well as one could wish, which says how many verdicts are open because of clocks at all; then fewer, for how well
 * is enough; then such as a run with a shorter DPROF_SYNC_INTERVAL would exchange, if they took as long as those of
 * this one.
 *
 * Nothing of this is proved: another run does other things at other times. */
#ifndef ANALYSIS_DECIDE_H
#define ANALYSIS_DECIDE_H

#include "analysis/base/options.h"
#include "analysis/clocks/times.h"
#include "analysis/tables/reply.h"

/* How many verdicts are undecided of a trace; SIZE_MAX: nothing is known. */
typedef size_t decide_count(struct trace *, const struct times *, const struct options *);

struct decide {
	size_t undecided;        /* verdicts of this trace */
	bool known;              /* what follows was looked for */
	size_t by_clocks;        /* of these would be decided if all clocks were known to `needed_s` */
	double known_s, needed_s;
	double interval_s;       /* DPROF_SYNC_INTERVAL with which so many of them would be; 0: none gets there */
	size_t by_interval;
	bool too_long;           /* of shorter intervals it is not known: packets would be too many (rerun.h) */
	bool any_packets;        /* went between the hosts, */
	struct interval packets_s; /* the fastest there and back */
	unsigned larger;         /* as many times longer pieces of work would need no better clocks, about */
};

/* Where one clock says it all nothing is looked for. In a trace of more than DECIDE_RECORDS it is only with -v. */
#define DECIDE_RECORDS 200000
struct decide decide_find(const struct times *, const struct options *, size_t undecided, decide_count *);

/* "undecided"; on the page a sentence or two. */
void decide_fill(struct reply *, const struct decide *);

#endif
