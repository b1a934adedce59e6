/* SPDX-License-Identifier: MIT
 *
 * match_log.c - matches one behind the other, in bytes: most of their numbers are small, or little more than those of the
 * thread's part before. A number is 7 bits a byte, the least first, with the upper bit in all but the last byte.
 *
 *   match   kind, flow and what else is true of it; group if it is not that of the match before; number; parts
 *   part    thread, root, whether it has a `done`; site; ordinal and stamp of its enter, since the thread's part before;
 *           ordinal and stamp of `done`, since those; bytes
 *
 * That is some 25 bytes a message, where the structs are 176. */
#include "analysis/match/match_log.h"

#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/spill.h"

/* What both sides have come to. */
struct before { uint64_t group; struct { uint64_t at, stamp; } *of_thread; uint32_t nthreads; };

struct match_log {
	struct spill *spill;
	uint8_t *bytes; size_t n;
	size_t next;             /* to be read */
	struct before before;
	struct match_part *parts; size_t room; /* of the match that was read last */
	struct match_tally tally;
	bool full;
};

struct match_log *match_log_open(void)
{
	struct match_log *l = mem_resize(NULL, 1, sizeof *l);
	*l = (struct match_log){ .spill = spill_open(SPILL_MEMORY / 8, 1) };
	return l;
}

void match_log_close(struct match_log *l)
{
	if (!l)
		return;
	spill_close(l->spill);
	free(l->before.of_thread);
	free(l->parts);
	free(l);
}

bool match_log_is_full(const struct match_log *l)
{
	return l && l->full;
}

void match_log_begin(struct match_log *l)
{
	l->next = 0;
	l->before.group = 0;
	for (uint32_t t = 0; t < l->before.nthreads; t++)
		l->before.of_thread[t].at = l->before.of_thread[t].stamp = 0;
	if (!l->full)
		l->n = 0;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

#define MOST_BYTES 10 /* of a number */

/* Behind which the next one goes. */
static inline uint8_t *put(uint8_t *at, uint64_t x)
{
	for (; x > 0x7f; x >>= 7)
		*at++ = (uint8_t)(x | 0x80);
	*at++ = (uint8_t)x;
	return at;
}

static inline uint64_t get(const uint8_t **at)
{
	const uint8_t *p = *at;
	uint64_t x = *p & 0x7f;
	for (unsigned shift = 7; *p++ & 0x80; shift += 7)
		x |= (uint64_t)(*p & 0x7f) << shift;
	*at = p;
	return x;
}

/* Differences either way, modulo 2^64: the lesser they are, the lesser the number. */
static inline uint64_t as_number(uint64_t difference)
{
	return difference << 1 ^ -(difference >> 63);
}

static inline uint64_t as_difference(uint64_t number)
{
	return number >> 1 ^ -(number & 1);
}

/* ---- Parts ----------------------------------------------------------------------------------- */

/* What `done_at`, `done` and `done_in` say beside the enter: nothing, unless it has one. */
enum { PART_ROOT = 1, PART_DONE = 2, PART_STAMP = 4, PART_ELSEWHERE = 8, PART_BITS = 4 };

static void grow_threads(struct before *b, uint32_t thread)
{
	uint32_t room = 2 * thread + 16;
	b->of_thread = mem_resize(b->of_thread, room, sizeof *b->of_thread);
	for (uint32_t t = b->nthreads; t < room; t++)
		b->of_thread[t].at = b->of_thread[t].stamp = 0;
	b->nthreads = room;
}

static uint8_t *put_part(struct before *b, uint8_t *at, const struct match_part *p)
{
	bool done = p->done_at != MATCH_NEVER, stamp = p->done != 0, elsewhere = p->done_in != p->thread;
	if (p->thread >= b->nthreads)
		grow_threads(b, p->thread);
	at = put(at, (uint64_t)p->thread << PART_BITS | (p->root ? PART_ROOT : 0) | (done ? PART_DONE : 0) |
			     (stamp ? PART_STAMP : 0) | (elsewhere ? PART_ELSEWHERE : 0));
	at = elsewhere ? put(at, p->done_in) : at;
	at = put(at, p->site);
	at = put(at, as_number(p->enter_at - b->of_thread[p->thread].at));
	at = put(at, as_number(p->enter - b->of_thread[p->thread].stamp));
	at = done ? put(at, as_number(p->done_at - p->enter_at)) : at;
	at = stamp ? put(at, as_number(p->done - p->enter)) : at;
	b->of_thread[p->thread].at = p->enter_at;
	b->of_thread[p->thread].stamp = p->enter;
	return put(at, p->bytes + 1); /* MATCH_NO_BYTES is 0 */
}

static void get_part(struct before *b, const uint8_t **at, struct match_part *p)
{
	uint64_t what = get(at);
	p->thread = (uint32_t)(what >> PART_BITS);
	p->done_in = what & PART_ELSEWHERE ? (uint32_t)get(at) : p->thread;
	p->root = what & PART_ROOT;
	p->site = (uint32_t)get(at);
	p->enter_at = b->of_thread[p->thread].at += as_difference(get(at));
	p->enter = b->of_thread[p->thread].stamp += as_difference(get(at));
	p->done_at = what & PART_DONE ? p->enter_at + as_difference(get(at)) : MATCH_NEVER;
	p->done = what & PART_STAMP ? p->enter + as_difference(get(at)) : 0;
	p->bytes = get(at) - 1;
}

/* ---- Matches --------------------------------------------------------------------------------- */

enum { IS_ARRIVAL = 1, IS_BEGUN = 2, IS_OF_ANY = 4, IS_OF_TAGS = 8, IS_BY_CHANCE = 16, IS_COMPLETE = 32, NEW_GROUP = 64,
       IS_UNLIKE = 128, IS_ALL_CAME = 256, IS_BITS = 9, KIND_BITS = 3 };

void match_log_put(struct match_log *l, const struct match *m)
{
	bool new_group = m->group != l->before.group;
	uint64_t is = (m->arrival ? IS_ARRIVAL : 0) | (m->begun ? IS_BEGUN : 0) | (m->of_any ? IS_OF_ANY : 0) |
		      (m->of_tags ? IS_OF_TAGS : 0) | (m->by_chance ? IS_BY_CHANCE : 0) |
		      (m->complete ? IS_COMPLETE : 0) | (new_group ? NEW_GROUP : 0) | (m->unlike ? IS_UNLIKE : 0) |
		      (m->all_came ? IS_ALL_CAME : 0);
	l->bytes = spill_grow(l->spill, l->bytes, l->n + (4 + 8 * m->nparts) * MOST_BYTES, 1);
	uint8_t *at = put(l->bytes + l->n, is | (uint64_t)m->kind << IS_BITS | (uint64_t)m->flow << (IS_BITS + KIND_BITS));
	at = new_group ? put(at, m->group) : at;
	at = put(at, m->number);
	at = put(at, m->nparts);
	for (size_t i = 0; i < m->nparts; i++)
		at = put_part(&l->before, at, &m->parts[i]);
	l->n = (size_t)(at - l->bytes);
	l->before.group = m->group;
	spill_relax(l->spill);
}

void match_log_fill(struct match_log *l, const struct match_tally *tally)
{
	l->tally = *tally;
	l->full = true;
}

bool match_log_next(struct match_log *l, struct match *m)
{
	if (l->next == l->n)
		return false;
	const uint8_t *at = l->bytes + l->next;
	uint64_t is = get(&at);
	if (is & NEW_GROUP)
		l->before.group = get(&at);
	*m = (struct match){ .kind = (enum match_kind)(is >> IS_BITS & ((1u << KIND_BITS) - 1)),
			     .flow = (enum flow)(is >> (IS_BITS + KIND_BITS)), .group = l->before.group,
			     .arrival = is & IS_ARRIVAL, .begun = is & IS_BEGUN, .of_any = is & IS_OF_ANY,
			     .of_tags = is & IS_OF_TAGS, .by_chance = is & IS_BY_CHANCE, .complete = is & IS_COMPLETE,
			     .unlike = is & IS_UNLIKE, .all_came = is & IS_ALL_CAME };
	m->number = get(&at);
	m->nparts = get(&at);
	if (m->nparts > l->room)
		l->parts = mem_resize(l->parts, l->room = 2 * m->nparts, sizeof *l->parts);
	for (size_t i = 0; i < m->nparts; i++)
		get_part(&l->before, &at, &l->parts[i]);
	l->next = (size_t)(at - l->bytes);
	m->parts = l->parts;
	spill_relax(l->spill);
	return true;
}

const struct match_tally *match_log_tally(const struct match_log *l)
{
	return &l->tally;
}

void match_log_end(struct match_log *l)
{
	spill_rest(l->spill);
}
