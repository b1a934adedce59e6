/* SPDX-License-Identifier: MIT
 *
 * waits.c - condition variables and semaphores.
 *
 *   POINT pthread_mutex_unlock id=MUTEX                   what pthread_cond_wait does with its mutex:
 *   ENTER pthread_cond_wait [id=CONDITION] ... EXIT       it is released, and it is held again when
 *   ENTER pthread_mutex_lock id=MUTEX EXIT                the wait ends
 *   POINT pthread_cond_signal id=CONDITION
 *   POINT sem_init id=SEMAPHORE tag=PERMITS               another one that was there before is gone
 *
 * A wait says its id when it is over, and only if it did not give up: before, it is unknown whether it was for a signal
 * that it ended. One that lasted until a moment says until=MOMENT. Who signals what processes share need not be one
 * that is recorded here: such a wait says peer=UNKNOWN and object=N instead, and who signals says the object, too. */
#include <errno.h>
#include <semaphore.h>

#include "freezer/clock.h"
#include "runtime/pthread/open_calls.h"
#include "runtime/pthread/pthread.h"

DPROF_SITE_OF(site_wait, DPROF_KIND_WAIT, "pthread_cond_wait");
DPROF_SITE_OF(site_signal, DPROF_KIND_WAIT, "pthread_cond_signal");
DPROF_SITE_OF(site_broadcast, DPROF_KIND_WAIT, "pthread_cond_broadcast");
DPROF_SITE_OF(site_sem_wait, DPROF_KIND_WAIT, "sem_wait");
DPROF_SITE_OF(site_sem_trywait, DPROF_KIND_WAIT, "sem_trywait");
DPROF_SITE_OF(site_sem_post, DPROF_KIND_WAIT, "sem_post");
DPROF_SITE_OF(site_sem_init, DPROF_KIND_WAIT, "sem_init");

static void signalled(const struct dprof_site *site, const void *at, bool of_processes)
{
	if (__builtin_expect(of_processes, 0))
		point_of_processes(site, at);
	else
		record_with(site, DPROF_POINT, 0, DPROF_KEY_ID, (uint64_t)at);
}

/* Before the wait for it, as it may be gone behind that. */
struct awaited {
	const void *at;
	bool of_processes;
	uint64_t object; /* 0: not known */
};

static struct awaited awaited(const void *at, bool of_processes)
{
	return (struct awaited){ at, of_processes, of_processes ? dprof_adapter_object_at(at) : 0 };
}

/* The wait, with which what it waits for is said only afterwards. */
static struct dprof_moment enter_now(const struct dprof_site *site)
{
	const uint64_t *place = enter_first(site);

	return (struct dprof_moment){ dprof_adapter_now(), place };
}

/* If a signal handler has recorded meanwhile, that has no place any more behind the ENTER: then a wait in the wait
 * says it, which begins and ends with it. */
static void say_which(const struct dprof_site *site, struct dprof_moment entered, const struct awaited *what)
{
	struct dprof_arguments a;

	a.words = 0;
	if (what->of_processes)
		dprof_say(&a, DPROF_KEY_PEER, DPROF_PEER_UNKNOWN);
	else
		dprof_say(&a, DPROF_KEY_ID, (uint64_t)what->at);
	if (what->object)
		dprof_say(&a, DPROF_KEY_OBJECT, what->object);
	if (!entered.place)
		return;
	if (dprof_adapter_place() == entered.place) {
		dprof_adapter_add(entered.place, &a);
	} else {
		dprof_adapter_record_enter_late(site, entered.stamp, &a);
		dprof_adapter_exit(site);
	}
}

/* It has waited until a moment, for nothing. */
static void say_until(struct dprof_moment entered, const struct timespec *until)
{
	struct dprof_arguments a;

	if (!entered.place || dprof_adapter_place() != entered.place)
		return;
	a.words = 0;
	dprof_say(&a, DPROF_KEY_UNTIL, frz_ns(until));
	dprof_adapter_add(entered.place, &a);
}

/* Glibc keeps these beside what it counts (locks.c). */
static bool condition_of_processes(const pthread_cond_t *condition)
{
	return __atomic_load_n(&condition->__data.__wrefs, __ATOMIC_RELAXED) & 1;
}

static bool semaphore_of_processes(const sem_t *semaphore)
{
	return __atomic_load_n((const int *)semaphore + 2, __ATOMIC_RELAXED) != 0;
}

/* Then nobody waits for it, most likely. */
static bool semaphore_is_free(const sem_t *semaphore)
{
	return __atomic_load_n((const int *)semaphore, __ATOMIC_RELAXED) > 0;
}

/* ---- Condition variables ---------------------------------------------------------------------- */

struct condition_wait {
	struct awaited condition;
	pthread_mutex_t *mutex;
	const struct dprof_site *site;
	struct dprof_moment entered;
	const struct timespec *until; /* or NULL */
	int error;
};

static struct condition_wait begin_wait(const pthread_cond_t *condition, pthread_mutex_t *mutex,
					const struct timespec *until, const struct dprof_site *site)
{
	struct awaited which = { 0 };
	struct dprof_moment entered = { 0 };

	if (site) {
		which = awaited(condition, condition_of_processes(condition));
		lock_released(mutex);
		entered = enter_now(site);
	}
	return (struct condition_wait){ which, mutex, site, entered, until, ECANCELED };
}

/* Also when the thread is cancelled: it holds the mutex then. */
static void end_wait(void *wait)
{
	const struct condition_wait *w = wait;

	if (!w->site)
		return;
	if (w->error == 0)
		say_which(w->site, w->entered, &w->condition);
	else if (w->error == ETIMEDOUT && w->until)
		say_until(w->entered, w->until);
	dprof_adapter_exit(w->site);
	lock_taken(w->mutex, dprof_adapter_moment());
}

#define COND_WAIT(name, moment, parameters, arguments)               \
	DPROF_EXPORT int name parameters                             \
	{                                                            \
		struct condition_wait w = begin_wait(condition, mutex, moment, WANTED_SITE_OF_CALL(site_wait)); \
                                                                     \
		pthread_cleanup_push(end_wait, &w);                  \
		w.error = REAL(name) arguments;                      \
		pthread_cleanup_pop(1);                              \
		return w.error;                                      \
	}

COND_WAIT(pthread_cond_wait, NULL, (pthread_cond_t *condition, pthread_mutex_t *mutex),
	  (condition, mutex))
COND_WAIT(pthread_cond_timedwait, until,
	  (pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until),
	  (condition, mutex, until))
COND_WAIT(pthread_cond_clockwait, until,
	  (pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
	   const struct timespec *until),
	  (condition, mutex, clock, until))

DPROF_EXPORT int pthread_cond_signal(pthread_cond_t *condition)
{
	const struct dprof_site *site = WANTED_SITE_OF_CALL(site_signal);

	if (site)
		signalled(site, condition, condition_of_processes(condition));
	return REAL(pthread_cond_signal)(condition);
}

DPROF_EXPORT int pthread_cond_broadcast(pthread_cond_t *condition)
{
	const struct dprof_site *site = WANTED_SITE_OF_CALL(site_broadcast);

	if (site)
		signalled(site, condition, condition_of_processes(condition));
	return REAL(pthread_cond_broadcast)(condition);
}

/* ---- Semaphores ------------------------------------------------------------------------------- */

/* Of those that processes share nothing is certain. */
DPROF_EXPORT int sem_init(sem_t *semaphore, int shared, unsigned permits)
{
	const struct dprof_site *site = WANTED_SITE_OF_CALL(site_sem_init);
	int result = REAL(sem_init)(semaphore, shared, permits);
	const struct dprof_argument a[] = { { DPROF_KEY_ID, (uint64_t)semaphore }, { DPROF_KEY_TAG, permits } };

	if (site && result == 0 && !shared)
		dprof_adapter_record_with(site, DPROF_POINT, 0, a, 2);
	return result;
}

struct sem_use {
	struct call_under_way open;
	struct awaited semaphore;
	const struct dprof_site *site;
	struct dprof_moment entered;
	const struct timespec *until; /* or NULL */
	int result;
};

static struct sem_use begin_sem(const sem_t *semaphore, const struct timespec *until, const struct dprof_site *site)
{
	struct awaited which = site ? awaited(semaphore, semaphore_of_processes(semaphore)) : (struct awaited){ 0 };
	struct dprof_moment entered = site ? enter_now(site) : (struct dprof_moment){ 0 };

	return (struct sem_use){ .semaphore = which, .site = site, .entered = entered, .until = until, .result = -1 };
}

/* A handler has jumped: it has not got it. */
static void sem_left(struct call_under_way *open)
{
	struct sem_use *u = (struct sem_use *)open;

	dprof_adapter_exit(u->site);
	u->site = NULL;
}

static void end_sem(void *use)
{
	const struct sem_use *u = use;

	call_closes(&u->open);
	if (!u->site)
		return;
	if (u->result == 0)
		say_which(u->site, u->entered, &u->semaphore);
	else if (u->until && errno == ETIMEDOUT)
		say_until(u->entered, u->until);
	dprof_adapter_exit(u->site);
}

#define SEM_WAIT(name, moment, parameters, arguments)               \
	DPROF_EXPORT int name parameters                            \
	{                                                           \
		struct sem_use u = begin_sem(semaphore, moment, WANTED_SITE_OF_CALL(site_sem_wait)); \
                                                                    \
		if (u.site && !semaphore_is_free(semaphore))        \
			call_opens(&u.open, u.entered.stamp, sem_left); \
		pthread_cleanup_push(end_sem, &u);                  \
		u.result = REAL(name) arguments;                    \
		pthread_cleanup_pop(1);                             \
		return u.result;                                    \
	}

SEM_WAIT(sem_wait, NULL, (sem_t *semaphore), (semaphore))
SEM_WAIT(sem_timedwait, until, (sem_t *semaphore, const struct timespec *until), (semaphore, until))
SEM_WAIT(sem_clockwait, until, (sem_t *semaphore, clockid_t clock, const struct timespec *until),
	 (semaphore, clock, until))

DPROF_EXPORT int sem_trywait(sem_t *semaphore)
{
	struct dprof_moment from = dprof_adapter_attempt(DPROF_KIND_WAIT);
	const struct dprof_site *site = WANTED_SITE_OF_CALL(site_sem_trywait);
	struct awaited which = site ? awaited(semaphore, semaphore_of_processes(semaphore)) : (struct awaited){ 0 };
	int result = REAL(sem_trywait)(semaphore);

	if (site && result != 0)
		dprof_adapter_in_vain(site, from);
	if (site && result == 0) {
		dprof_adapter_polled(from.stamp);
		say_which(site, enter_now(site), &which);
		dprof_adapter_exit(site);
	}
	return result;
}

DPROF_EXPORT int sem_post(sem_t *semaphore)
{
	const struct dprof_site *site = WANTED_SITE_OF_CALL(site_sem_post);

	if (site)
		signalled(site, semaphore, semaphore_of_processes(semaphore));
	return REAL(sem_post)(semaphore);
}
