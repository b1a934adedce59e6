/* SPDX-License-Identifier: MIT
 *
 * store.h - the events of all threads in columns, decoded once, when the trace is opened.
 *
 *   words of a thread --scan--> records --store_record()--> blocks --readers--> struct tr_columns
 *
 * A block has up to so many events of one thread, and all their arguments: the three columns, what, stamps since the
 * first one, values, each with as many bytes a number as its greatest one needs (most events take 5 to 10 in all).
 * Blocks stand one behind the other in memory, and beyond STORE_TAIL bytes in a temporary file without a name, in
 * $TMPDIR or else /var/tmp or /tmp. (Measured against unpacking once more: a block is read in a third of the
 * time, can be small where threads are many, and is what it was though the trace's files change.) Where no such file
 * can be made or it can grow no more, what is left stays in memory, and a message says so.
 *
 * Law: the columns of a thread are its records as they were put in: every event, every loss of more than none, and
 * with an event the first argument of each key; arguments of nothing, or of a loss, are left out. When all is stored
 * nothing changes any more: readers need no lock.
 *
 * Memory: STORE_TAIL, 16 bytes for each block, and a block for each reader; all readers of one pass over the
 * threads together have STORE_BUDGET, however many the threads: the more, the smaller the blocks. */
#ifndef ANALYSIS_STORE_H
#define ANALYSIS_STORE_H

#include "analysis/trace/trace.h"

#define STORE_TAIL   ((size_t)1 << 18)
#define STORE_BUDGET ((size_t)1 << 26)
#define STORE_EVENTS 1024 /* of a block, at most */

/* A record as it comes: the stamp of an event, the value of an argument, how many were lost; and what it is. */
struct tr_record { uint64_t stamp, what; };

/* `body`: the site of an event (TR_NO_SITE when it is missing), the key of an argument. */
#define TR_WHAT(body, op) ((uint64_t)(body) << 3 | (op))
#define TR_OP(what)       ((enum dprof_op)((what) & 7))
#define TR_BODY(what)     ((what) >> 3)

static inline bool is_event(const struct tr_record *r)
{
	return TR_OP(r->what) <= DPROF_POINT;
}

struct tr_block { uint64_t offset, first; }; /* `first`: the number of its first event */

/* The events of one thread. */
struct tr_blocks {
	struct tr_block *block; size_t nblocks; /* and one behind the last */
	size_t n;                /* events and losses */
	size_t most, most_values; /* of a block */
	bool any;                /* events: */
	uint64_t first, last;    /* their stamps */
	bool lost_before, lost_behind; /* records, before the first and behind the last */
};

struct tr_store;

struct tr_store *store_open(size_t nsites, size_t nthreads);
void store_close(struct tr_store *);

/* The records of one thread at a time, in order, between these two. The first gives up what was stored of it
 * before, which must have been the last. */
void store_begin(struct tr_store *, struct tr_blocks *again);
void store_record(struct tr_store *, const struct tr_record *);
void store_records(struct tr_store *, const struct tr_record *, size_t n);
struct tr_blocks *store_end(struct tr_store *);
void blocks_close(struct tr_blocks *);

/* The number of the next event. */
size_t store_events(const struct tr_store *);

/* Nothing more will be put in. Gives all that events are; *kept_in_memory: why no temporary file has what should
 * be there, or NULL. */
const struct tr_what *store_finish(struct tr_store *, const char **kept_in_memory);

/* ---- For columns.c --------------------------------------------------------------------------- */

/* What a block begins with. Each column fills up its last 8 bytes. */
struct block_head {
	uint64_t stamp;          /* the first */
	uint32_t n, nvalues;
	uint8_t what_bytes, stamp_bytes, value_bytes, unused[5];
};

/* No block takes more. */
#define BLOCK_BYTES(n, nvalues) (sizeof(struct block_head) + 12 * (size_t)(n) + 8 * (size_t)(nvalues) + 16)

/* Bytes of the store, of which `to` has room for all; dies if the temporary file has not got them. */
void store_read(const struct tr_store *, uint64_t offset, size_t bytes, void *to);

#endif
