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
 *   ENTER loop until a timer's signal offset=NS role=2 EXIT    what its handler has set was looked at so long before first, and
 *                                                              then again and again, with what is recorded in between
 *
 * Law: an object in which two numbers were found, or one and another was set before or behind that, is recorded; one that stays the
 * same is not, unless there are too many to be remembered. */
#include "runtime/adapter.h"
#include "runtime/clocks.h"
#include "runtime/objects.h"
#include "runtime/spins.h"
#include "runtime/sum.h"
#include "runtime/thread.h"

#define SEEN  4096 /* objects that are remembered */
#define TRIES 8    /* places where one may stand */
#define BUSY  2    /* no key */

/* A number of an object, and whether somebody has found it there, since when; key 0: nothing yet. Set by a handler of a timer's
 * signal, on this thread. */
static struct flag_seen { uint64_t key, number, since; bool found; const char *timed; } seen[SEEN];
static __thread char own; /* its address tells threads apart */

DPROF_SITE_OF(site_signal, DPROF_KIND_SLEEP, "loop until a timer's signal");

bool dprof_adapter_timers;
__thread bool dprof_adapter_in_timer;

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
	__atomic_store_n(&s->since, found ? dprof_adapter_now() : 0, __ATOMIC_RELAXED);
	__atomic_store_n(&s->key, key, __ATOMIC_RELEASE);
	return true;
}

static void say(const struct dprof_site *site, const void *object)
{
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

static bool is_found(const struct flag_seen *s, uint64_t number)
{
	return __atomic_load_n(&s->found, __ATOMIC_RELAXED) && __atomic_load_n(&s->number, __ATOMIC_RELAXED) == number &&
	       __atomic_load_n(&s->since, __ATOMIC_RELAXED);
}

static void find_again(struct flag_seen *s)
{
	__atomic_store_n(&s->found, true, __ATOMIC_RELAXED);
	if (!__atomic_load_n(&s->since, __ATOMIC_RELAXED))
		__atomic_store_n(&s->since, dprof_adapter_now(), __ATOMIC_RELAXED);
}

/* What this thread has done since it first looked there was over when a timer's signal came. */
static bool ended_by_timer(struct flag_seen *s)
{
	const char *mine = &own;

	if (!__atomic_compare_exchange_n(&s->timed, &mine, NULL, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return false;
	uint64_t since = __atomic_exchange_n(&s->since, 0, __ATOMIC_RELAXED);
	if (since && dprof_adapter_wanted(DPROF_KIND_SLEEP))
		dprof_was_open((const struct dprof_site *)&site_signal, since, dprof_adapter_now());
	return true;
}

void dprof_looked(const struct dprof_site *site, const void *object, long number)
{
	uint64_t key = key_of(object);
	struct flag_seen *s = find(key);
	bool known = holds(s, key);

	if (known && is_found(s, (uint64_t)number))
		return;
	bool shared = is_shared(object);
	if (!shared && !dprof_adapter_timers)
		return;
	if (known && __atomic_load_n(&s->number, __ATOMIC_RELAXED) == (uint64_t)number)
		find_again(s);
	else if (!known && s)
		remember(s, key, (uint64_t)number, true);
	else if ((!known || !ended_by_timer(s)) && shared)
		say(site, object);
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
	if (known && dprof_adapter_in_timer)
		__atomic_store_n(&s->timed, &own, __ATOMIC_RELAXED);
	if (known && !__atomic_load_n(&s->found, __ATOMIC_RELAXED))
		return;
	if ((known && bytes && __atomic_load_n(&s->number, __ATOMIC_RELAXED) == (uint64_t)number) || !is_shared(object))
		return;
	if (known)
		say(site, object);
	else
		remember(s, key, number_at(object, bytes), false);
}
