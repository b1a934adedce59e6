/* SPDX-License-Identifier: MIT
 *
 * graph_barriers.h - visits to barriers that do not say their group, and to those that processes share. */
#ifndef ANALYSIS_GRAPH_BARRIERS_H
#define ANALYSIS_GRAPH_BARRIERS_H

#include "analysis/graph/graph_private.h"

/* A barrier that does not say its group. */
struct bare { uint32_t process; struct event_ref enter, exit; uint32_t site; };
#define ALL_RANKS UINT32_MAX

/* A visit to a barrier that processes of a clock's host may share; ARG_NONE threads: it is not known how many go on together. */
struct barrier_visit { uint32_t clock; uint64_t object, threads; struct event_ref enter, exit; uint32_t site; };


struct barrier_records {
	struct bare *bare; size_t nbare;
	struct barrier_visit *visits; size_t nvisits;
};

void graph_bare_barriers(struct builder *, struct barrier_records *);
void graph_shared_barriers(struct builder *, struct barrier_records *);

#endif
