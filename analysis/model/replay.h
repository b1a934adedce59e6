/* SPDX-License-Identifier: MIT
 *
 * replay.h - where a thread is: the enters without an exit, innermost last, as its events come by.
 *
 * Law: an exit belongs to the innermost open enter of the same site. What is open inside of that was left without an
 * exit (longjmp, for instance); an exit whose site is not open belongs to nothing.
 *
 * What jumps leave at one place again and again is one entry: an enter that has no exit (trace_jumps.h), right inside of
 * another such one of its site, only counts there. Both are gone when what encloses them is left.
 *
 * Whoever keeps more of each entry has an array of his own, of which element `depth - 1` belongs to what was entered
 * last. An exit costs the same at any depth; so do all exits together that belong to nothing.
 *
 * Memory: what is open. */
#ifndef ANALYSIS_REPLAY_H
#define ANALYSIS_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/model/operation.h"

struct replay_entry {
	uint64_t stamp;
	size_t record;     /* of the enter: whatever who replays counts */
	uint32_t site;
	uint32_t is;       /* OP_... of the site; 0 when it is missing */
	bool jumped, unsure; /* trace_jumps.h */
	uint32_t times;    /* how often, in a row, without an exit */
	uint32_t regions;  /* OP_REGION, of this entry and those around it */
};

struct replay {
	struct replay_entry *entry;
	size_t depth, room;
	uint32_t *open; size_t nsites; /* how many of each site, and of all that are missing; NULL: never asked */
};

void replay_open(struct replay *, size_t nsites);
void replay_close(struct replay *);

/* What is seldom needed of what follows. */
void replay_grow(struct replay *);
size_t replay_find(struct replay *, uint32_t site);
void replay_count(struct replay *, size_t from, size_t to, uint32_t by);

static inline struct replay_entry *replay_top(const struct replay *r)
{
	return r->depth ? &r->entry[r->depth - 1] : NULL;
}

static inline uint32_t replay_regions(const struct replay *r)
{
	return r->depth ? r->entry[r->depth - 1].regions : 0;
}

/* The innermost that is a region, or an operation in which others take part: a sleep, and what else is a thread's own time,
 * belongs to what is around it. NULL: there is none. */
static inline const struct replay_entry *replay_place(const struct replay *r)
{
	for (size_t i = r->depth; i-- > 0;)
		if (r->entry[i].is & (OP_REGION | OP_OTHERS))
			return &r->entry[i];
	return NULL;
}

/* False when the entry is one more of the innermost. */
static inline bool replay_enter(struct replay *r, struct replay_entry entry)
{
	struct replay_entry *top = replay_top(r);
	if (entry.jumped && top && top->jumped && top->site == entry.site && top->times < UINT32_MAX) {
		top->times++;
		return false;
	}
	entry.times = 1;
	entry.regions = replay_regions(r) + (entry.is & OP_REGION ? 1 : 0);
	if (r->depth == r->room)
		replay_grow(r);
	r->entry[r->depth++] = entry;
	if (r->open)
		replay_count(r, r->depth - 1, r->depth, 1);
	return true;
}

/* Likewise of one that does not jump, for who asks of entries no more than stamp, record and site. */
static inline void replay_enter_bare(struct replay *r, uint64_t stamp, size_t record, uint32_t site)
{
	if (r->depth == r->room)
		replay_grow(r);
	r->entry[r->depth++] = (struct replay_entry){ .stamp = stamp, .record = record, .site = site, .times = 1 };
	if (r->open)
		replay_count(r, r->depth - 1, r->depth, 1);
}

/* Closes so many of the innermost entries. */
static inline size_t replay_leave(struct replay *r, size_t closed)
{
	r->depth -= closed;
	if (r->open)
		replay_count(r, r->depth, r->depth + closed, -1u);
	return closed;
}

/* Closes the innermost entry if it is of that site. */
static inline bool replay_exit_innermost(struct replay *r, uint32_t site)
{
	return r->depth && r->entry[r->depth - 1].site == site && replay_leave(r, 1);
}

/* Closes the innermost entries, and says how many: the outermost of them is the exit's own. 0 when it has none. They can
 * be looked at behind r->depth until something is entered. */
static inline size_t replay_exit(struct replay *r, uint32_t site)
{
	if (replay_exit_innermost(r, site))
		return 1;
	return r->depth ? replay_leave(r, replay_find(r, site)) : 0;
}

/* Closes all of it, likewise: records are lost, or end. */
static inline size_t replay_lose(struct replay *r)
{
	return replay_leave(r, r->depth);
}

#endif
