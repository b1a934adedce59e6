/* SPDX-License-Identifier: MIT
 *
 * pthread.h - the parts of the adapter for POSIX threads.
 *
 *   threads.c   pthread_create, join, detach: who made whom, and who waited for whose end
 *   locks.c     mutexes, reader-writer locks, spin locks
 *   waits.c     condition variables and semaphores
 *   barriers.c  barriers
 *   c11.c       the same by C11's names
 *   jumps.c     longjmp, other stacks, exceptions: whatever leaves functions without a return
 *   table.c     what threads.c and barriers.c know of an object, by its address
 *
 * The functions stand before the C library's by the order of linking, and call those. What the
 * plugin saw is recorded around the call already (adapter.h); all else here, if it is called
 * from code that is ours.
 *
 * Law: the program gets what the C library would have given it. What a function cannot know (a lock
 * that it did not get, a signal that did not come) it does not record. */
#ifndef RUNTIME_PTHREAD_H
#define RUNTIME_PTHREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/adapter.h"
#include "runtime/next.h"

/* The C library's function of that name. */
#define REAL(name) ((__typeof__(&name))NEXT_FUNCTION(#name, __typeof__(name)))

/* Is the call of the exported function in which this stands to be recorded? */
#define IS_OURS (dprof_adapter_recording() && dprof_adapter_is_ours(__builtin_return_address(0)))

#define SITE(s) ((const struct dprof_site *)&(s))

/* At which site; NULL: it is not to be. */
#define SITE_OF_CALL(site) dprof_adapter_site(SITE(site), __builtin_return_address(0))

/* The same for what programs do so often that it shows: first of all, is the kind recorded? */
#define WANTED_SITE_OF_CALL(site)                                                                \
	(dprof_adapter_wanted((enum dprof_kind)(site).kind) ? SITE_OF_CALL(site) : NULL)

/* threads.c: has the program made threads, or a library? (dprof's helper does not count.) */
extern bool program_has_threads;

/* locks.c: what a condition variable does with its mutex. */
void lock_released(pthread_mutex_t *);
void lock_taken(pthread_mutex_t *, struct dprof_moment since);

/* An event with one argument. */
static inline void record_with(const struct dprof_site *site, enum dprof_op op, uint64_t stamp,
			       enum dprof_key key, uint64_t value)
{
	const struct dprof_argument a = { key, value };

	dprof_adapter_record_with(site, op, stamp, &a, 1);
}

/* Of what processes share: which it is, if that is known; and a point with that. */
static inline void say_object(struct dprof_arguments *a, const void *at)
{
	uint64_t object = dprof_adapter_object_at(at);

	if (object)
		dprof_say(a, DPROF_KEY_OBJECT, object);
}

static inline void point_of_processes(const struct dprof_site *site, const void *at)
{
	struct dprof_arguments a;

	a.words = 0;
	dprof_say(&a, DPROF_KEY_ID, (uint64_t)at);
	say_object(&a, at);
	dprof_adapter_record(site, DPROF_POINT, 0, &a);
}

/* An ENTER of which more is known only later; then that, if nothing was recorded since (an empty place: the
 * kind is left out). */
static inline const uint64_t *enter_first(const struct dprof_site *site)
{
	dprof_adapter_enter(site);
	return dprof_adapter_wanted(dprof_site_kind(site)) ? dprof_adapter_place() : NULL;
}

static inline void add_argument(const uint64_t *place, enum dprof_key key, uint64_t value)
{
	struct dprof_arguments a;

	a.words = 0;
	dprof_say(&a, key, value);
	if (place)
		dprof_adapter_add(place, &a);
}

/* Objects by address or number. The lock of a table is held for a few instructions, and never over a fork. */
struct entry {
	struct entry *next;
	uint64_t key;
};
#define TABLE_BUCKETS 256
struct table {
	int lock;
	struct entry *bucket[TABLE_BUCKETS];
};
void table_lock(struct table *);
void table_unlock(struct table *);
/* While it is locked; the latest one of a key comes first. */
struct entry *table_find(const struct table *, uint64_t key);
void table_add(struct table *, struct entry *);
void table_remove(struct table *, struct entry *); /* if it is in there */

extern struct table threads_table, barriers_table;

/* barriers.c: in the child of a fork. */
void barriers_forked(void);

#endif
