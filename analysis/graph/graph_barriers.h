/* SPDX-License-Identifier: MIT
 *
 * graph_barriers.h - visits to barriers that do not say their group: of any kind, at an address, or shared by processes. */
#ifndef ANALYSIS_GRAPH_BARRIERS_H
#define ANALYSIS_GRAPH_BARRIERS_H

#include "analysis/graph/graph_private.h"

/* A barrier that does not say its group. */
struct bare { uint32_t process; struct event_ref enter, exit; uint32_t site; };
#define ALL_RANKS UINT32_MAX

/* What has to do with a barrier at an address in a process, or, where that is OF_ANY_PROCESS, with one that processes of a clock's
 * host may share: a thread comes and waits, or only comes, for the last time or not, or what is done once when all have come is
 * over, or it is made. Only who waits has an exit. ARG_NONE threads: it is not known how many go on together. */
enum visit { VISIT_WAITS, VISIT_ONLY_COMES, VISIT_LEAVES, VISIT_COMPLETES, VISIT_MAKES };
struct barrier_visit {
	uint32_t clock, process; uint64_t object, threads; struct event_ref enter, exit; uint32_t site; enum visit how;
	size_t await; /* of who only comes: behind which of these it waits for the round, and 1; or 0 */
};
#define OF_ANY_PROCESS UINT32_MAX

struct barrier_records {
	struct bare *bare; size_t nbare;
	struct barrier_visit *visits; size_t nvisits;
	struct barrier_visit *awaits; size_t nawaits; /* who only came waits for that round */
};

void graph_bare_barriers(struct builder *, struct barrier_records *);
void graph_counted_barriers(struct builder *, struct barrier_records *);

#endif
