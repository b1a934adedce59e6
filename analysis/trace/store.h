/* SPDX-License-Identifier: MIT
 *
 * store.h - numbers of all threads in columns, made once: their events, when the trace is opened.
 *
 *   words of a thread --scan--> records --store_record(), store_tail()--> blocks --readers--> struct tr_columns
 *
 * A block has up to so many events of one thread, and all their arguments: the three columns, what, stamps since the
 * first one, values, each with as many bytes a number as its greatest one needs (most events take 5 to 10 in all).
 * Blocks stand one behind the other in regions of STORE_REGION bytes. The first region of each writer stays in memory if
 * it needs no other; else all are in a temporary file without a name, in $TMPDIR or else /var/tmp or /tmp. (Measured
 * against unpacking once more: a block is read in a third of the time, can be small where threads are many, and is what
 * it was though the trace's files change.) Where no such file can be made or it can grow no more, what is left stays in
 * memory, and a message says so.
 *
 * Several POSIX threads may put in different threads at the same time, each by a writer of its own.
 *
 * Law: the columns of a thread are its records as they were put in: every event, every loss of more than none, and
 * with an event the first argument of each key; arguments of nothing, or of a loss, are left out. Which writer put them in
 * does not matter. When all is stored nothing changes any more: readers need no lock.
 *
 * Memory: STORE_REGION for each writer, 24 bytes for each block, and a block for each reader; all readers of one pass
 * over the threads together have STORE_BUDGET, however many the threads: the more, the smaller the blocks. */
#ifndef ANALYSIS_STORE_H
#define ANALYSIS_STORE_H

#include "analysis/trace/pipe.h"
#include "analysis/trace/trace.h"

#define STORE_REGION ((size_t)1 << 18)
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

struct tr_block { uint64_t offset, first; uint32_t bytes; }; /* `first`: the number of its first event */

/* The events of one thread. */
struct tr_blocks {
	struct tr_block *block; size_t nblocks;
	size_t writer;           /* its number */
	size_t n, losses;        /* events and losses; of these losses */
	size_t most, most_values; /* of a block */
	uint64_t kinds;          /* a bit for each that there is, by its number in the writer, modulo 64 */
	bool any;                /* events: */
	uint64_t first, last;    /* their stamps */
	bool lost_before, lost_behind; /* records, before the first and behind the last */
};

struct tr_store;
struct tr_writer;

struct tr_store *store_open(size_t nsites, size_t nthreads);
void store_close(struct tr_store *);

/* One more writer; the store closes it. */
struct tr_writer *store_writer(struct tr_store *);

/* The records of one thread at a time, in order, between these two. The first gives up what was stored of it
 * before, which must have been the last that this writer has put in. */
void store_begin(struct tr_writer *, struct tr_blocks *again);
void store_record(struct tr_writer *, const struct tr_record *);
struct tr_blocks *store_end(struct tr_writer *);
void blocks_close(struct tr_blocks *);

/* With one more argument, of each key: which `what` that is; 0: it has not come yet. */
struct what_next { uint32_t of_key[DPROF_KEY_COUNT]; };
#define STORE_NO_WHAT UINT32_MAX /* the argument is left out */
#define STORE_OPS     3          /* that events have */

/* The block that is put in, behind an event: as long as there is room, events and arguments of kinds that have come before
 * can be added to it, as store_record() does. Who takes it adds some, and puts it back before anything else is put in. */
struct store_tail {
	const uint32_t *of_event; /* what an event is, without arguments: by TR_WHAT() */
	const struct what_next *next;
	uint64_t *is, *stamp, *value;
	size_t n, nvalues, most, most_values;
	size_t first;            /* the number of its first event */
	uint64_t what;           /* what the last event is, so far */
};
bool store_tail(struct tr_writer *, struct store_tail *); /* false: it does not stand behind an event */
void store_put_tail(struct tr_writer *, const struct store_tail *);
const struct tr_what *store_last(const struct tr_writer *); /* what the last event is, so far */

/* What an event of a site that is there is, without arguments; 0: none of its kind has come before, or there is no room. */
static inline uint32_t tail_knows(const struct store_tail *t, uint64_t what)
{
	bool room = t->n < t->most && t->nvalues <= t->most_values;
	return room ? t->of_event[what] : 0;
}

static inline void tail_event(struct store_tail *t, uint32_t is, uint64_t stamp)
{
	t->is[t->n] = t->what = is;
	t->stamp[t->n++] = stamp;
}

/* False: the event has not come with that before. */
static inline bool tail_argument(struct store_tail *t, unsigned key, uint64_t value)
{
	uint32_t is = t->next[t->what].of_key[key];
	if (!is || is == STORE_NO_WHAT)
		return false;
	t->is[t->n - 1] = t->what = is;
	t->value[t->nvalues++] = value;
	return true;
}

/* In place of records: any three numbers each, of which the first is what the columns have as `what`. There is room for at
 * least one; as many as have been put there are then said to be. */
struct store_room { uint64_t *what, *stamp, *value; size_t n; };
struct store_room store_room(struct tr_writer *);
void store_filled(struct tr_writer *, size_t n);

/* The number of the next event. */
size_t store_events(const struct tr_writer *);

/* Nothing more will be put in, by any writer. Gives all that events are; *kept_in_memory: why no temporary file has what
 * should be there, or NULL. NULL if they are more than one writer would have told apart: then all must be put in anew, by
 * one, so that it does not matter how many there were. */
const struct tr_what *store_finish(struct tr_store *, const char **kept_in_memory);

/* Behind that: a writer for the records of one more thread, or of one anew, whose blocks before are closed; and when
 * they are put in all that events are, as above. */
struct tr_writer *store_again(struct tr_store *);
const struct tr_what *store_settle(struct tr_store *);

/* Why something stays in memory, as above; or NULL. */
const char *store_error(const struct tr_store *);

/* ---- Of another process ---------------------------------------------------------------------- */

/* Where in a store the writers and regions of another one begin. */
struct store_place { size_t writers, regions; };

/* Gives all that a store has to a pipe, when it is finished; or takes that in, before it is finished, into one that has a
 * writer. */
struct store_place store_move(struct tr_store *, struct tr_pipe *);

/* Blocks of that other store are of this one now. */
void blocks_place(struct tr_blocks *, struct store_place);

/* ---- For columns.c --------------------------------------------------------------------------- */

/* What a block begins with. Each column fills up its last 8 bytes. */
struct block_head {
	uint64_t stamp;          /* the first */
	uint32_t n, nvalues;
	uint8_t what_bytes, stamp_bytes, value_bytes, unused[5];
};

/* No block takes more. */
#define BLOCK_BYTES(n, nvalues) (sizeof(struct block_head) + 12 * (size_t)(n) + 8 * (size_t)(nvalues) + 16)

/* Of a writer's numbers for what events are, those of the store; NULL: they are the same. */
const uint32_t *store_whats(const struct tr_store *, size_t writer);

/* Of each writer the bits that `kinds` has of what is wanted, of all that events are in the store. To be freed. */
uint64_t *store_kinds(const struct tr_store *, const bool *wanted);

/* The block as it is in the store; dies if the temporary file has not got it. `to` has room for the greatest block. */
void store_read(const struct tr_store *, const struct tr_block *, void *to);

/* The columns of a block that was read; each `to` has room for it. */
struct block_head block_columns(const void *block, uint32_t *what, uint64_t *stamp, uint64_t *value);

#endif
