/* SPDX-License-Identifier: MIT
 *
 * recycle.c - full chunks are packed and made clean again.
 *
 * Runs in the helper, which first of all sees to it that no thread waits for a chunk. What threads share
 * is not touched by functions of the C library here, which a sanitizer would watch (room.mk).
 *
 * Law: what a chunk holds is in the file of packed ones, whole, before the chunk's first word is wiped;
 * and that is wiped before all else. So whenever the process is killed each chunk is to be found, and one
 * that is in both places has the same number in both. What cannot be packed stays where it is; so does a chunk in a
 * slot, which is small, and whose page is needed for the header anyway: it is sealed; and so does
 * what is being packed when the process ends, which does not wait for that: it is sealed (thread.h). */
#include <sys/mman.h>

#include "runtime/count.h"
#include "runtime/pack.h"
#include "runtime/sys.h"
#include "runtime/thread.h"
#include "runtime/unpacked.h"

#define CLEAN_CHUNKS 2 /* of a thread; more than one are there when the helper was late */

static uint64_t never_written; /* the hole in what the system would not let us pack */

static uint64_t *find_hole(const struct dprof_chunk *c)
{
	for (uint64_t *word = c->start; word < c->claimed; word++)
		if (!*(volatile uint64_t *)word)
			return word;
	return NULL;
}

static bool may_be_packed(const struct dprof_chunk *c)
{
	return __atomic_load_n(&c->state, __ATOMIC_ACQUIRE) == CHUNK_FULL &&
	       !(c->hole && !*(volatile uint64_t *)c->hole);
}

static bool has_hole(const struct dprof_thread *t)
{
	for (const struct dprof_chunk *c = t->chunk; c < t->chunk + DPROF_CHUNKS; c++)
		if (__atomic_load_n(&c->state, __ATOMIC_ACQUIRE) == CHUNK_FULL && c->hole && c->hole != &never_written &&
		    !*(volatile uint64_t *)c->hole)
			return true;
	return false;
}

static struct dprof_chunk *oldest(struct dprof_thread *t)
{
	struct dprof_chunk *found = NULL;

	for (struct dprof_chunk *c = t->chunk; c < t->chunk + DPROF_CHUNKS; c++)
		if (may_be_packed(c) && (!found || c->number < found->number))
			found = c;
	return found;
}

static void name_packed(char *to, const char *events)
{
	static const char packed[] = ".packed";
	size_t n = 0, suffix = sizeof(packed) - 1; /* as long as ".events" */

	for (; events[n]; n++)
		to[n] = events[n];
	to[n] = '\0';
	for (size_t i = 0; i < suffix; i++)
		to[n - suffix + i] = packed[i];
}

/* True when the file has it. */
static bool pack(struct dprof_thread *t, struct dprof_chunk *c)
{
	char path[sizeof(t->path)];
	long end;

	name_packed(path, t->path);
	c->hole = find_hole(c);
	if (c->hole)
		return false;
	end = dprof_pack(path, t->packed_bytes, t->owner, c->number, c->start, (size_t)(c->claimed - c->start));
	if (end < 0) {
		dprof_unpacked_refused(end);
		c->hole = &never_written;
		return false;
	}
	t->packed_bytes = (uint64_t)end;
	dprof_count_chunk(c);
	return true;
}

/* True when it is sealed. */
static bool keep(struct dprof_chunk *c)
{
	c->hole = find_hole(c);
	if (c->hole)
		return false;
	dprof_chunk_seal(c);
	dprof_count_chunk(c);
	return true;
}

static unsigned clean_chunks(const struct dprof_thread *t)
{
	unsigned n = 0;

	for (const struct dprof_chunk *c = t->chunk; c < t->chunk + DPROF_CHUNKS; c++)
		n += __atomic_load_n(&c->state, __ATOMIC_RELAXED) == CHUNK_CLEAN;
	return n;
}

/* Old records stay where a file system makes no holes; no one looks at them. What was left for its thread (left.c) stays
 * mapped: the thread does not know yet. */
static void give_back(const struct dprof_thread *t, struct dprof_chunk *c)
{
	size_t bytes = c->bytes;

	if (c != t->current)
		dprof_chunk_unmap(c);
	dprof_file_punch(t->path, c->offset, bytes);
}

static void wipe(const struct dprof_chunk *c)
{
	for (uint64_t *word = c->start; word < c->start + c->bytes / sizeof(*word); word++)
		*word = 0;
}

static void recycle(struct dprof_thread *t, struct dprof_chunk *c)
{
	__atomic_store_n(c->start, 0, __ATOMIC_SEQ_CST); /* first of all */
	if (t->supply != SUPPLY_ENDED && !__atomic_load_n(&dprof_ending, __ATOMIC_ACQUIRE) &&
	    c->bytes == t->largest && clean_chunks(t) < CLEAN_CHUNKS) {
		wipe(c);
		__atomic_store_n(&c->state, CHUNK_CLEAN, __ATOMIC_RELEASE);
	} else {
		give_back(t, c);
		__atomic_store_n(&c->state, CHUNK_NONE, __ATOMIC_RELEASE);
	}
}

void dprof_chunks_give_back(struct dprof_thread *t)
{
	for (struct dprof_chunk *c = t->chunk; c < t->chunk + DPROF_CHUNKS; c++) {
		int clean = CHUNK_CLEAN;

		if (!t->current || !__atomic_compare_exchange_n(&c->state, &clean, CHUNK_GOING, false,
								__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		give_back(t, c);
		__atomic_store_n(&c->state, CHUNK_NONE, __ATOMIC_RELEASE);
	}
}

static bool pack_one(struct dprof_thread *t)
{
	struct dprof_chunk *c = oldest(t);
	int full = CHUNK_FULL, packing = CHUNK_PACKING;
	bool packed;

	if (!c || !__atomic_compare_exchange_n(&c->state, &full, CHUNK_PACKING, false, __ATOMIC_ACQUIRE,
					       __ATOMIC_RELAXED))
		return false;
	packed = c->in_slot ? keep(c) : pack(t, c);
	if (!__atomic_compare_exchange_n(&c->state, &packing, packed ? CHUNK_GOING : CHUNK_FULL, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED) || !packed)
		return true;
	if (c->in_slot)
		__atomic_store_n(&c->state, CHUNK_NONE, __ATOMIC_RELEASE);
	else
		recycle(t, c);
	return true;
}

bool dprof_chunks_pack(void)
{
	bool any = false;

	for (struct dprof_thread *t = dprof_threads(); t; t = t->following) {
		int supply = __atomic_load_n(&t->supply, __ATOMIC_ACQUIRE);

		if (supply == SUPPLY_FREE)
			continue;
		__atomic_store_n(&t->has_hole, has_hole(t), __ATOMIC_RELAXED);
		if (pack_one(t)) {
			dprof_chunks_make_wanted();
			any = true;
		} else if (supply == SUPPLY_ENDED) {
			dprof_thread_gone(t);
			any = true;
		}
	}
	return any;
}
