/* SPDX-License-Identifier: MIT
 *
 * graph_bytes.h - bytes of pipes, socket pairs and connections as walks along threads find them. */
#ifndef ANALYSIS_GRAPH_BYTES_H
#define ANALYSIS_GRAPH_BYTES_H

#include "analysis/graph/graph_private.h"

/* Bytes from .. to - 1 of a channel, which were taken or given; or, if none were taken, its end. */
struct moved_bytes {
	uint64_t channel, from, to;
	struct event_ref enter, exit;
	struct wait_begin begin;
	uint32_t site;
	bool gave, blocked;
	bool goes_on;             /* as of a lock */
	bool partial;             /* there was room for more: another run may take more or fewer at a time */
	bool chosen;              /* in another run the thread may turn to another channel here; */
	bool found;               /* and most likely does so (graph_looks.c): */
	uint32_t looks;           /* it has looked so often before at what is not one channel */
	struct event_ref other;   /* blocked: what the other side did last before the exit; or at = NO_EVENT */
	struct event_ref look;    /* the ENTER of the look that found them, or its own */
	bool by_attempts;         /* which may be in vain */
	struct event_ref given;   /* taken: the first of them; or at = NO_EVENT: it is not known when */
};


/* Bytes of a channel of which it is not known which they are: n of them, or as many things of a queue that processes share.
 * `wait`: it is that of the builder's waits that are not known, and 1; or 0: it did not wait. */
struct loose_bytes {
	uint64_t channel, n;
	struct event_ref enter, exit;
	struct wait_begin begin;
	uint32_t site;
	bool gave;
	size_t wait;
};

struct exchange_records;
struct byte_records {
	struct moved_bytes *v; size_t n;
	struct loose_bytes *loose; size_t nloose;
};

void graph_bytes(struct builder *, struct byte_records *, struct exchange_records *);

/* Bytes that were given, up to `to`, and by what. */
struct given_bytes { uint64_t to; struct event_ref by; };

/* Of one channel: first those that gave, and all by time; behind what is known: what was given, and how much of it was taken. */
struct loose_channel {
	const struct loose_bytes *v; size_t n;
	struct given_bytes *gave; size_t ngave;
	uint64_t taken;
	bool placed;              /* all that was given was taken, and all of that is seen: so it is known what most
				     likely gave what */
};
void graph_place_loose(const struct builder *, struct loose_channel *); /* the given then has all, and v those that took */
void graph_have_loose(struct builder *, const struct loose_channel *, uint32_t queue); /* in which they arrive */
void graph_find_looks(struct builder *, struct byte_records *); /* once it is known who gave what was taken */

#endif
