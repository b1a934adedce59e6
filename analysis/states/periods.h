/* SPDX-License-Identifier: MIT
 *
 * periods.h - the periods of all threads (states.h), found once and read as often as there are questions.
 *
 * They stand in a store of their own (store.h): of each one the stamp at which it begins, the states and the site. So a
 * sweep needs no stack, and reads some 4 bytes a period.
 *
 * Law: a cursor gives the periods that states_periods() gives. Any number of cursors at once. */
#ifndef ANALYSIS_PERIODS_H
#define ANALYSIS_PERIODS_H

#include "analysis/states/states.h"
#include "analysis/trace/store.h"

struct periods {
	struct tr_store *store;
	struct tr_blocks **of_thread;
	size_t nthreads;
	struct periods *within; /* of those of work in several places, these: where each begins; NULL: that is what these are */
};

void periods_open(struct periods *, const struct trace *);
void periods_close(struct periods *);

/* Those of one thread at a time, in order; each writer (store_writer()) is for one POSIX thread. */
void periods_begin(struct tr_writer *);
void periods_add(struct tr_writer *, const struct period_begin *, size_t n);
void periods_end(struct periods *, struct tr_writer *, size_t thread);

/* When those of all threads are there, before any is read; says where they stay if they find no room, unless that has
 * been said of the trace. */
void periods_finish(struct periods *, const struct trace *);

/* How many they are, of all threads. */
uint64_t periods_count(const struct periods *);

struct period_cursor {
	const struct periods *periods;
	const struct tr_blocks *blocks;
	struct period_begin *begin; /* of those of a block; a buffer of its own */
	size_t next, n, block;
};

struct period_cursor periods_cursor(const struct periods *, size_t thread);
void period_cursor_close(struct period_cursor *);
bool period_read_block(struct period_cursor *);

/* Up to this stamp, where a period begins, a cursor can be moved without reading more; PERIOD_AFTER: to the end. */
static inline uint64_t period_horizon(const struct period_cursor *c)
{
	return c->block < c->blocks->nblocks ? c->begin[c->n - 1].from : PERIOD_AFTER;
}

/* False when the last one, which goes on to PERIOD_AFTER, has been given. */
static inline bool period_next(struct period_cursor *c, struct period *out)
{
	if (c->next == c->n && !period_read_block(c))
		return false;
	const struct period_begin *b = &c->begin[c->next++];
	out->from = b->from;
	out->site = b->site;
	out->may = b->may;
	out->to = c->next < c->n || period_read_block(c) ? c->begin[c->next].from : PERIOD_AFTER;
	return true;
}

#endif
