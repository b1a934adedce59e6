/* SPDX-License-Identifier: MIT
 *
 * flags.c - numbers in memory that decide what threads do, and others set, where the plugin has seen that (plugin/flags.cc):
 *
 *   POINT flag in memory offset=ADDRESS    for the first time somebody has found there another number than before, or has set
 *                        [role=1]          another one than somebody has found; in memory that processes share: ADDRESS is its
 *                                          number in all of them
 *
 * Once for each place in the code and each thread: from then on it is known that another thread may change what is done behind
 * that. Of one that is always the same when it is looked at nothing is said, nor of what a process with one thread does, but in
 * memory of which it is known that others share it: to find that out a file would have to be read, and this may be called in any
 * handler.
 *
 * Law: an object in which two numbers were found, or one and another was set before or behind that, is recorded; one that stays the
 * same is not, unless there are too many to be remembered. */
#include "runtime/adapter.h"
#include "runtime/objects.h"
#include "runtime/spins.h"
#include "runtime/sum.h"
#include "runtime/thread.h"

#define SEEN  4096 /* objects that are remembered */
#define TRIES 8    /* places where one may stand */
#define BUSY  2    /* no key */

/* A number of an object, and whether somebody has found it there; key 0: nothing yet. */
static struct flag_seen { uint64_t key, number; bool found; } seen[SEEN];

DPROF_EXPORT void dprof_looked(const struct dprof_site *site, const void *object, long number);
DPROF_EXPORT void dprof_looked_at(const struct dprof_site *site, const void *object, const void *found, long bytes);
DPROF_EXPORT void dprof_sets(const struct dprof_site *site, const void *object, long number, long bytes);

/* Odd. */
static uint64_t key_of(const void *what)
{
	return (uint64_t)what << 1 | 1;
}

/* Where that is, or may be put; NULL: nowhere. */
static struct flag_seen *find(uint64_t key)
{
	uint64_t at = (key * UINT64_C(0x9e3779b97f4a7c15)) >> 40;

	for (uint64_t i = 0; i < TRIES; i++) {
		struct flag_seen *s = &seen[(at + i) % SEEN];
		uint64_t there = __atomic_load_n(&s->key, __ATOMIC_ACQUIRE);

		if (there == key || there == 0)
			return s;
	}
	return NULL;
}

static bool holds(const struct flag_seen *s, uint64_t key)
{
	return s && __atomic_load_n(&s->key, __ATOMIC_ACQUIRE) == key;
}

/* True for one thread. */
static bool remember(struct flag_seen *s, uint64_t key, uint64_t number, bool found)
{
	uint64_t nobody = 0;

	if (!s || !__atomic_compare_exchange_n(&s->key, &nobody, BUSY, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return false;
	__atomic_store_n(&s->number, number, __ATOMIC_RELAXED);
	__atomic_store_n(&s->found, found, __ATOMIC_RELAXED);
	__atomic_store_n(&s->key, key, __ATOMIC_RELEASE);
	return true;
}

static void say(const struct dprof_site *site, const void *object)
{
	static __thread char own; /* its address tells threads apart */
	uint64_t key = key_of(site) ^ (uint64_t)&own << 20;
	struct flag_seen *said = find(key);
	uint64_t shared = dprof_known_shared_object(object);
	const struct dprof_argument a[] = { { DPROF_KEY_OFFSET, shared ? shared : (uint64_t)object }, { DPROF_KEY_ROLE, 1 } };
	static bool full;

	if (said ? !holds(said, key) && remember(said, key, 0, false) : !__atomic_exchange_n(&full, true, __ATOMIC_RELAXED))
		dprof_adapter_record_with(site, DPROF_POINT, 0, a, shared ? 2 : 1);
}

static bool is_shared(const void *object)
{
	return dprof_adapter_wanted(DPROF_KIND_WAIT) && (!dprof_only_thread() || dprof_known_shared_object(object));
}

void dprof_looked(const struct dprof_site *site, const void *object, long number)
{
	uint64_t key = key_of(object);
	struct flag_seen *s = find(key);
	bool known = holds(s, key);

	if (known && __atomic_load_n(&s->found, __ATOMIC_RELAXED) && __atomic_load_n(&s->number, __ATOMIC_RELAXED) == (uint64_t)number)
		return;
	if (!is_shared(object))
		return;
	if (known && __atomic_load_n(&s->number, __ATOMIC_RELAXED) == (uint64_t)number)
		__atomic_store_n(&s->found, true, __ATOMIC_RELAXED);
	else if (known || !s)
		say(site, object);
	else
		remember(s, key, (uint64_t)number, true);
}

/* What is no number: its bytes were copied to there. */
void dprof_looked_at(const struct dprof_site *site, const void *object, const void *found, long bytes)
{
	dprof_looked(site, object, (long)dprof_sum_bytes(DPROF_SUM_BEGIN, found, (size_t)bytes));
}

#define NONE UINT64_C(0x8badf00ddeadc0de) /* most likely none that is found */

/* With its sign, as the plugin tells numbers. */
static uint64_t number_at(const void *object, long bytes)
{
	switch (bytes) {
	case 0: return NONE;
	case 1: return (uint64_t)__atomic_load_n((const int8_t *)object, __ATOMIC_RELAXED);
	case 2: return (uint64_t)__atomic_load_n((const int16_t *)object, __ATOMIC_RELAXED);
	case 4: return (uint64_t)__atomic_load_n((const int32_t *)object, __ATOMIC_RELAXED);
	default: return (uint64_t)__atomic_load_n((const int64_t *)object, __ATOMIC_RELAXED);
	}
}

void dprof_sets(const struct dprof_site *site, const void *object, long number, long bytes)
{
	uint64_t key = key_of(object);
	struct flag_seen *s = find(key);
	bool known = holds(s, key);

	dprof_changes(object);
	if (known && !__atomic_load_n(&s->found, __ATOMIC_RELAXED))
		return;
	if ((known && bytes && __atomic_load_n(&s->number, __ATOMIC_RELAXED) == (uint64_t)number) || !is_shared(object))
		return;
	if (known)
		say(site, object);
	else
		remember(s, key, number_at(object, bytes), false);
}
