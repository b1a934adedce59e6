/* SPDX-License-Identifier: MIT
 *
 * count.c - how many events the process recorded, for the line at its end (notice.h).
 *
 * Runs in the helper and at the ends of threads, too: general registers only (room.mk). A chunk is counted when it
 * is packed or forgotten; at the end what stands in the others is added.
 *
 * Law: the count is never more than was recorded, nor than was lost; it says `all` only when it is that. */
#include "runtime/count.h"

#include "runtime/sys.h"

#define TRIES   10
#define WAIT_NS 1000000

bool dprof_counting;
static uint64_t gone; /* events in chunks that are counted */
static uint64_t lost, why_lost; /* events, and bits 1 << enum dprof_why */

static bool is_wide(const volatile uint64_t *word, const uint64_t *end)
{
	return dprof_is(*word, DPROF_ESCAPE_WIDE) && word + DPROF_WIDE_WORDS <= end;
}

static uint64_t events_in(const uint64_t *start, const uint64_t *end)
{
	uint64_t n = 0;

	for (const volatile uint64_t *word = start; word < end; word++) {
		if (is_wide(word, end)) {
			word += DPROF_WIDE_WORDS - 1;
			n += *word != 0;
		} else {
			n += *word && !dprof_is_escape(*word);
		}
	}
	return n;
}

void dprof_count_chunk(const struct dprof_chunk *c)
{
	if (dprof_counting)
		__atomic_fetch_add(&gone, events_in(c->start, c->claimed), __ATOMIC_SEQ_CST);
}

void dprof_count_lost(uint64_t why)
{
	if (!dprof_counting)
		return;
	__atomic_fetch_or(&why_lost, why, __ATOMIC_RELAXED);
	__atomic_fetch_add(&lost, 1, __ATOMIC_RELAXED);
}

void dprof_count_forget_lost(void)
{
	lost = why_lost = 0;
}

/* A thread that changes from one chunk to the next has two for a moment. */
static bool is_in(const struct dprof_chunk *c, const uint64_t *next)
{
	return next >= c->start && next <= c->start + c->bytes / sizeof(*next);
}

/* False: the helper is at one of them. */
static bool add_thread(uint64_t *events, const struct dprof_thread *t)
{
	bool all = true;

	for (const struct dprof_chunk *c = t->chunk; c < t->chunk + DPROF_CHUNKS; c++) {
		int state = __atomic_load_n(&c->state, __ATOMIC_ACQUIRE);
		const struct dprof_cursor *cursor = __atomic_load_n(&t->cursor, __ATOMIC_ACQUIRE);

		if (state == CHUNK_FULL)
			*events += events_in(c->start, c->claimed);
		else if (state == CHUNK_CURRENT && cursor && is_in(c, cursor->next))
			*events += events_in(c->start, cursor->next < t->chunk_end ? cursor->next : t->chunk_end);
		else if (state >= CHUNK_CURRENT)
			all = false;
	}
	return all;
}

/* Who asks records nothing meanwhile; another thread may. */
static struct dprof_count count_once(void)
{
	uint64_t before = __atomic_load_n(&gone, __ATOMIC_SEQ_CST);
	struct dprof_count c = { .events = before, .all = true };

	for (const struct dprof_thread *t = dprof_threads(); t; t = t->following) {
		if (__atomic_load_n(&t->supply, __ATOMIC_ACQUIRE) == SUPPLY_FREE || !t->header)
			continue;
		c.all &= add_thread(&c.events, t);
		c.all &= t == dprof_self || !__atomic_load_n(&t->cursor, __ATOMIC_ACQUIRE);
	}
	c.all &= __atomic_load_n(&gone, __ATOMIC_SEQ_CST) == before;
	return c;
}

struct dprof_count dprof_count_all(void)
{
	struct timespec soon = { .tv_nsec = WAIT_NS };
	struct dprof_count c = { 0 };

	for (int i = 0; i < TRIES && dprof_counting && !c.all; i++) {
		if (i > 0)
			sys(SYS_nanosleep, &soon, NULL);
		c = count_once();
	}
	c.lost = __atomic_load_n(&lost, __ATOMIC_RELAXED);
	c.why_lost = __atomic_load_n(&why_lost, __ATOMIC_RELAXED) | __atomic_load_n(&dprof_why_homeless, __ATOMIC_RELAXED);
	return c;
}
