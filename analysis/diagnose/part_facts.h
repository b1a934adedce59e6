/* SPDX-License-Identifier: MIT
 *
 * part_facts.h - what the analyses know of one part of a run (parts.h), in the form in which they know it of all of it:
 * so that facts.h tells both, and rules need not know which it is.
 *
 * Law: as of facts.h; shares are of all threads' time in the whole run. Of what may have been waiting without a cause
 * in an operation as much may be the part's as is the run's.
 *
 *   run, operation               of the part's threads, in its time
 *   region, delay, contention    of regions in which no thread ever is outside of the part: what is known of these is
 *                                of the part */
#ifndef ANALYSIS_PART_FACTS_H
#define ANALYSIS_PART_FACTS_H

#include "analysis/diagnose/facts.h"
#include "analysis/diagnose/parts.h"

struct part_facts {
	struct facts facts;          /* of the part */
	struct call_profile calls;
	struct waits waits;
};

void part_facts_open(struct part_facts *, const struct facts *whole, const struct graph *, struct graph_last *,
		     const struct parts *, size_t part);
void part_facts_close(struct part_facts *);

#endif
