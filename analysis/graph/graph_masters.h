/* SPDX-License-Identifier: MIT
 *
 * graph_masters.h - who takes requests of anyone, and answers them. */
#ifndef ANALYSIS_GRAPH_MASTERS_H
#define ANALYSIS_GRAPH_MASTERS_H

#include "analysis/graph/graph_messages.h"

/* What a thread got from another, as it could have from anyone (`asked`); or what it gave to that. */
struct exchange {
	struct event_ref ref;
	uint32_t other, number;
	bool asked;
	struct take take;
	uint64_t received;        /* what it gave, by that event; or 0 */
};

struct exchange_records { struct exchange *v; size_t n; };

/* Someone got something that it need not have got next, from the thread of the request; and gave something to another. */
void graph_note_request(struct builder *, struct exchange_records *, struct event_ref, struct event_ref request, uint32_t site);
void graph_note_reply(struct builder *, struct exchange_records *, struct event_ref, uint32_t other, uint64_t received);

/* Likewise by semaphores, where who listens answers one at a time. The records are given up. */
void graph_deal_permits(struct builder *, struct exchange_records *);

void graph_masters(struct builder *, const struct message_records *, struct exchange_records *);

#endif
