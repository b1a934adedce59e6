/* SPDX-License-Identifier: MIT
 *
 * locks.c - mutexes, reader-writer locks and spin locks.
 *
 *   ENTER pthread_mutex_lock id=LOCK ... EXIT     held from here; at once, if it was free
 *   POINT pthread_mutex_unlock id=LOCK            just before it is released
 *
 * So, of one lock, the stamps of what is released and taken stand in the order in which that was done.
 *   ENTER pthread_mutex_timedlock until=0 ... EXIT    a wait: it was not had in time
 *
 * What need not succeed is recorded once it has. A lock that processes share may be held by any of them:
 * whoever takes it may have waited for an unknown thread; it has an object, too. */
#include <errno.h>

#include "runtime/pthread/pthread.h"

#define EXCLUSIVE 1
#define SHARED    0

/* ---- Which of them processes share ------------------------------------------------------------- */

/* As glibc has it, in objects that programs compiled with other versions of it share, too. */
#define OF_PROCESSES 0x80

static bool mutex_of_processes(pthread_mutex_t *lock)
{
	return __atomic_load_n(&lock->__data.__kind, __ATOMIC_RELAXED) & OF_PROCESSES;
}

static bool rwlock_of_processes(pthread_rwlock_t *lock)
{
	return __atomic_load_n(&lock->__data.__shared, __ATOMIC_RELAXED);
}

/* A spin lock does not say it itself. */
static bool any_spin_of_processes;

static bool spin_of_processes(pthread_spinlock_t *lock)
{
	(void)lock;
	return __atomic_load_n(&any_spin_of_processes, __ATOMIC_RELAXED);
}

DPROF_EXPORT int pthread_spin_init(pthread_spinlock_t *lock, int shared)
{
	if (shared != PTHREAD_PROCESS_PRIVATE)
		__atomic_store_n(&any_spin_of_processes, true, __ATOMIC_RELAXED);
	return REAL(pthread_spin_init)(lock, shared);
}

#define OF_PROCESSES_OF(lock)                                                             \
	_Generic((lock), pthread_mutex_t *: mutex_of_processes,                           \
		 pthread_rwlock_t *: rwlock_of_processes,                                 \
		 pthread_spinlock_t *: spin_of_processes)(lock)

/* ---- What is said ------------------------------------------------------------------------------ */

static inline void say_lock(struct dprof_arguments *a, const void *lock, int role, bool of_processes)
{
	dprof_say(a, DPROF_KEY_ID, (uint64_t)lock);
	if (role == SHARED)
		dprof_say(a, DPROF_KEY_ROLE, SHARED);
	if (of_processes)
		dprof_say(a, DPROF_KEY_PEER, DPROF_PEER_UNKNOWN);
	if (of_processes)
		say_object(a, lock);
}

static void enter(const struct dprof_site *site, const void *lock, int role, bool of_processes,
			 uint64_t stamp)
{
	struct dprof_arguments a;

	a.words = 0;
	say_lock(&a, lock, role, of_processes);
	dprof_adapter_record(site, DPROF_ENTER, stamp, &a);
}

/* At no receiving end: whoever takes it then waits for this. */
static inline void released(const struct dprof_site *site, const void *lock, bool of_processes)
{
	if (__builtin_expect(of_processes, 0))
		point_of_processes(site, lock);
	else
		record_with(site, DPROF_POINT, 0, DPROF_KEY_ID, (uint64_t)lock);
}

/* Asked for, and held. */
static inline __attribute__((always_inline)) void visit(const struct dprof_site *site, const void *lock, int role,
							bool of_processes, uint64_t asked, uint64_t held)
{
	const struct dprof_argument id = { DPROF_KEY_ID, (uint64_t)lock };

	if (__builtin_expect(role == EXCLUSIVE && !of_processes, 1)) {
		dprof_adapter_record_visit_with(site, asked, held, &id, 1);
		return;
	}
	enter(site, lock, role, of_processes, asked);
	dprof_adapter_record(site, DPROF_EXIT, held, NULL);
}

/* A signal handler has recorded something since. */
static __attribute__((noinline)) void taken_late(const struct dprof_site *site, const void *lock, int role,
						 bool of_processes, uint64_t since, uint64_t held)
{
	struct dprof_arguments a = { 0 };

	say_lock(&a, lock, role, of_processes);
	dprof_adapter_record_enter_late(site, since, &a);
	dprof_adapter_record(site, DPROF_EXIT, held, NULL);
}

static void taken(const struct dprof_site *site, const void *lock, int role, bool of_processes,
		  struct dprof_moment since)
{
	uint64_t stamp = dprof_adapter_now_fenced();

	if (__builtin_expect(dprof_adapter_place() == since.place, 1))
		visit(site, lock, role, of_processes, since.stamp, stamp);
	else
		taken_late(site, lock, role, of_processes, since.stamp, dprof_adapter_now_fenced());
}

/* Whoever died with a lock has left it to the next one. */
static bool has_it(int error)
{
	return error == 0 || error == EOWNERDEAD;
}

#define SITE_OF_LOCK(site, lock) ((const void *)(lock) == dprof_adapter_hidden_lock ? NULL : WANTED_SITE_OF_CALL(site))

/* The function waits until it has the lock. An error is rare (a deadlock that was noticed): then what
 * was recorded as taken is released. What is not recorded keeps nothing on the stack: it is a jump.
 *
 * A lock that is free is taken without waiting; so one stamp, behind that, says both that it was asked for and
 * that it is held. */
#define LOCK(name, try, type, role)                                                       \
	DPROF_SITE_OF(site_##name, DPROF_KIND_LOCK, #name);                               \
	static __attribute__((noinline, cold)) int name##_waiting(type *lock,             \
								  const struct dprof_site *site) \
	{                                                                                 \
		int error;                                                                \
                                                                                          \
		enter(site, (const void *)lock, role, OF_PROCESSES_OF(lock), 0);          \
		error = REAL(name)(lock);                                                 \
		dprof_adapter_exit(site);                                                 \
		if (!has_it(error))                                                       \
			released(site, (const void *)lock, OF_PROCESSES_OF(lock));        \
		return error;                                                             \
	}                                                                                 \
	static __attribute__((noinline)) int name##_recorded(type *lock,                  \
							     const struct dprof_site *site) \
	{                                                                                 \
		bool of_processes = OF_PROCESSES_OF(lock);                                \
		int error = REAL(try)(lock);                                              \
		uint64_t stamp;                                                           \
                                                                                          \
		if (error == EBUSY)                                                       \
			return name##_waiting(lock, site);                                \
		if (!has_it(error)) /* not recoverable: it may not be asked for again */  \
			return error;                                                     \
		stamp = dprof_adapter_now_fenced();                                       \
		visit(site, (const void *)lock, role, of_processes, stamp, stamp);        \
		return error;                                                             \
	}                                                                                 \
	DPROF_EXPORT int name(type *lock)                                                 \
	{                                                                                 \
		const struct dprof_site *site = SITE_OF_LOCK(site_##name, lock);          \
                                                                                          \
		return site ? name##_recorded(lock, site) : REAL(name)(lock);             \
	}

/* It waited until a moment, for nothing. Which one is not said: it may be of any clock. */
static void gave_up(const struct dprof_site *site, struct dprof_moment since)
{
	struct dprof_arguments a;

	a.words = 0;
	dprof_say(&a, DPROF_KEY_UNTIL, 0);
	dprof_adapter_record_enter_at(site, since, &a);
	dprof_adapter_exit(site);
}

/* It may give up. */
#define TRY(name, type, role, parameters, arguments)                                      \
	DPROF_SITE_OF(site_##name, DPROF_KIND_LOCK, #name);                               \
	DPROF_SITE_OF(site_##name##_gave_up, DPROF_KIND_WAIT, #name);                     \
	DPROF_EXPORT int name parameters                                                  \
	{                                                                                 \
		struct dprof_moment since = dprof_adapter_attempt(DPROF_KIND_LOCK);       \
		const struct dprof_site *site = SITE_OF_LOCK(site_##name, lock);          \
		int error = REAL(name) arguments;                                         \
                                                                                          \
		if (site && has_it(error)) {                                              \
			dprof_adapter_polled_since(&since);                               \
			taken(site, (const void *)lock, role, OF_PROCESSES_OF(lock), since); \
		} else if (site && error == EBUSY) {                                      \
			dprof_adapter_in_vain((const void *)&site_##name##_gave_up, since); \
		} else if (site && error == ETIMEDOUT) {                                  \
			gave_up((const void *)&site_##name##_gave_up, since);             \
		}                                                                         \
		return error;                                                             \
	}

#define UNLOCK(name, type)                                                                \
	DPROF_SITE_OF(site_##name, DPROF_KIND_LOCK, #name);                               \
	DPROF_EXPORT int name(type *lock)                                                 \
	{                                                                                 \
		const struct dprof_site *site = SITE_OF_LOCK(site_##name, lock);          \
                                                                                          \
		if (site)                                                                 \
			released(site, (const void *)lock, OF_PROCESSES_OF(lock));        \
		return REAL(name)(lock);                                                  \
	}

#define TRY_UNTIL(name, clock_name, type, role)                                           \
	TRY(name, type, role, (type *lock, const struct timespec *until), (lock, until))  \
	TRY(clock_name, type, role,                                                       \
	    (type *lock, clockid_t clock, const struct timespec *until), (lock, clock, until))

LOCK(pthread_mutex_lock, pthread_mutex_trylock, pthread_mutex_t, EXCLUSIVE)
TRY(pthread_mutex_trylock, pthread_mutex_t, EXCLUSIVE, (pthread_mutex_t *lock), (lock))
TRY_UNTIL(pthread_mutex_timedlock, pthread_mutex_clocklock, pthread_mutex_t, EXCLUSIVE)
UNLOCK(pthread_mutex_unlock, pthread_mutex_t)

LOCK(pthread_rwlock_wrlock, pthread_rwlock_trywrlock, pthread_rwlock_t, EXCLUSIVE)
TRY(pthread_rwlock_trywrlock, pthread_rwlock_t, EXCLUSIVE, (pthread_rwlock_t *lock), (lock))
TRY_UNTIL(pthread_rwlock_timedwrlock, pthread_rwlock_clockwrlock, pthread_rwlock_t, EXCLUSIVE)
LOCK(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, pthread_rwlock_t, SHARED)
TRY(pthread_rwlock_tryrdlock, pthread_rwlock_t, SHARED, (pthread_rwlock_t *lock), (lock))
TRY_UNTIL(pthread_rwlock_timedrdlock, pthread_rwlock_clockrdlock, pthread_rwlock_t, SHARED)
UNLOCK(pthread_rwlock_unlock, pthread_rwlock_t)

LOCK(pthread_spin_lock, pthread_spin_trylock, pthread_spinlock_t, EXCLUSIVE)
TRY(pthread_spin_trylock, pthread_spinlock_t, EXCLUSIVE, (pthread_spinlock_t *lock), (lock))
UNLOCK(pthread_spin_unlock, pthread_spinlock_t)

/* ---- The mutex of a condition variable -------------------------------------------------------- */

void lock_released(pthread_mutex_t *lock)
{
	if (lock != dprof_adapter_hidden_lock)
		released(SITE(site_pthread_mutex_unlock), lock, mutex_of_processes(lock));
}

void lock_taken(pthread_mutex_t *lock, struct dprof_moment since)
{
	if (lock != dprof_adapter_hidden_lock)
		taken(SITE(site_pthread_mutex_lock), lock, EXCLUSIVE, mutex_of_processes(lock), since);
}
