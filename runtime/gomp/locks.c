/* SPDX-License-Identifier: MIT
 *
 * locks.c - critical sections and OpenMP's locks.
 *
 *   ENTER omp critical id=LOCK ... EXIT     held from here
 *   POINT omp critical id=LOCK              just before it is released
 *
 * An ordered part likewise, but its turn goes on only when the thread asks for more iterations, with an ordered part or without:
 *
 *   POINT omp ordered id=TURN               it is through with what it had
 *   ENTER omp ordered id=TURN ... EXIT      and waits until all before them are: recorded if it blocked
 *
 * Names of critical sections are addresses; the one without a name is that of a variable here. A turn's number is its team's.
 *
 * libgomp has one lock for all atomic constructs that are no instruction of the machine, and for the end of reductions that are
 * none, where each thread in turn combines what it has with what others had. To Fortran a lock is the variable that has it. */
#include <omp.h>
#include <stdlib.h>

#include "runtime/gomp/gomp.h"

DPROF_SITE_OF(site_critical, DPROF_KIND_LOCK, "omp critical");
DPROF_SITE_OF(site_atomic, DPROF_KIND_LOCK, "omp atomic or reduction");
DPROF_SITE_OF(site_lock, DPROF_KIND_LOCK, "omp_set_lock");
DPROF_SITE_OF(site_test, DPROF_KIND_LOCK, "omp_test_lock");
DPROF_SITE_OF(site_test_in_vain, DPROF_KIND_WAIT, "omp_test_lock");
DPROF_SITE_OF(site_ordered, DPROF_KIND_LOCK, "omp ordered");

static const char unnamed, atomic, ordered;

#define WANTED_SITE_OF_CALL(site) (dprof_adapter_wanted(DPROF_KIND_LOCK) ? SITE_OF_CALL(site) : NULL)

static void record(const struct dprof_site *site, enum dprof_op op, const void *lock)
{
	struct dprof_arguments a;

	a.words = 0;
	dprof_say(&a, DPROF_KEY_ID, (uint64_t)lock);
	dprof_adapter_record(site, op, 0, &a);
}

static void begin(const struct dprof_site *site, const void *lock)
{
	record(site, DPROF_ENTER, lock);
}

static void released(const struct dprof_site *site, const void *lock)
{
	record(site, DPROF_POINT, lock);
}

static void taken(const struct dprof_site *site, const void *lock)
{
	begin(site, lock);
	dprof_adapter_exit(site);
}

#define LOCK(name, own, parameters, arguments, id)            \
	DPROF_EXPORT void name parameters;                    \
	DPROF_EXPORT void name parameters                     \
	{                                                     \
		const struct dprof_site *site = WANTED_SITE_OF_CALL(own); \
                                                              \
		if (site)                                     \
			begin(site, id);                      \
		REAL(name) arguments;                         \
		if (site)                                     \
			dprof_adapter_exit(site);             \
	}
#define UNLOCK(name, own, parameters, arguments, id)          \
	DPROF_EXPORT void name parameters;                    \
	DPROF_EXPORT void name parameters                     \
	{                                                     \
		const struct dprof_site *site = WANTED_SITE_OF_CALL(own); \
                                                              \
		if (site)                                     \
			released(site, id);                   \
		REAL(name) arguments;                         \
	}
#define TEST(name, type)                                      \
	DPROF_EXPORT int name(type *lock);                    \
	DPROF_EXPORT int name(type *lock)                     \
	{                                                     \
		struct dprof_moment from = dprof_adapter_attempt(DPROF_KIND_LOCK); \
		const struct dprof_site *site = WANTED_SITE_OF_CALL(site_test); \
		int got = REAL(name)(lock);                   \
                                                              \
		if (site && !got)                             \
			dprof_adapter_in_vain((const void *)&site_test_in_vain, from); \
		if (site && got) {                            \
			dprof_adapter_polled(from.stamp);     \
			taken(site, lock);                    \
		}                                             \
		return got;                                   \
	}

LOCK(GOMP_critical_start, site_critical, (void), (), &unnamed)
UNLOCK(GOMP_critical_end, site_critical, (void), (), &unnamed)
LOCK(GOMP_critical_name_start, site_critical, (void **name), (name), name)
UNLOCK(GOMP_critical_name_end, site_critical, (void **name), (name), name)
LOCK(GOMP_atomic_start, site_atomic, (void), (), &atomic)
UNLOCK(GOMP_atomic_end, site_atomic, (void), (), &atomic)

#define LOCKS(kind, fortran, type)                            \
	LOCK(omp_set_##kind##fortran, site_lock, (type *lock), (lock), lock) \
	UNLOCK(omp_unset_##kind##fortran, site_lock, (type *lock), (lock), lock) \
	TEST(omp_test_##kind##fortran, type)

LOCKS(lock, , omp_lock_t)
LOCKS(nest_lock, , omp_nest_lock_t)
LOCKS(lock, _, void)
LOCKS(nest_lock, _, void)

/* The turns of a team: others have their own at the same time. */
static const void *turn(void)
{
	return team_place.group ? (const void *)team_place.group : &ordered;
}

/* From one iteration to the next. */
LOCK(GOMP_ordered_start, site_ordered, (void), (), turn())
UNLOCK(GOMP_ordered_end, site_ordered, (void), (), turn())

struct dprof_moment ordered_pass(const void *caller)
{
	if (!dprof_adapter_wanted(DPROF_KIND_LOCK) || !dprof_adapter_is_ours(caller))
		return (struct dprof_moment){ 0, NULL };
	released(SITE(site_ordered), turn());
	return dprof_adapter_moment();
}

void ordered_passed(struct dprof_moment since)
{
	struct dprof_arguments a;

	if (!since.stamp || dprof_adapter_now() - since.stamp < dprof_adapter_blocked_ticks)
		return;
	a.words = 0;
	dprof_say(&a, DPROF_KEY_ID, (uint64_t)turn());
	dprof_adapter_record_enter_at(SITE(site_ordered), since, &a);
	dprof_adapter_exit(SITE(site_ordered));
}
