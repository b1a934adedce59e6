/* SPDX-License-Identifier: MIT
 *
 * threads.c - who made whom, and who waited for whose end.
 *
 *   creator   ENTER pthread_create thread=N ... EXIT
 *   thread N  POINT (thread begin) ... POINT (thread end)
 *   joiner    ENTER pthread_join thread=N ... EXIT
 *             ENTER pthread_timedjoin_np until=0 ... EXIT    a wait: it was not over in time
 *   canceller POINT pthread_cancel thread=N
 *
 * What destructors of the thread's own data (pthread_key_create) do comes before its end, too. A sanitizer's own
 * function may stand between the thread and the program's; then it is recorded all the same.
 *
 * The number is reserved before the thread is made, and the thread takes it before it records anything: so no signal handler
 * runs in it before that, unless the program gave it signals of its own.
 * What its id stands for is known from when pthread_create returns, or from when the thread itself
 * begins if that is earlier, until it was joined, or detached and over. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "runtime/pthread/open_calls.h"
#include "runtime/pthread/pthread.h"

DPROF_SITE_OF(site_create, DPROF_KIND_FORK, "pthread_create");
DPROF_SITE_OF(site_begin, DPROF_KIND_FORK, "thread begin");
DPROF_SITE_OF(site_end, DPROF_KIND_JOIN, "thread end");
DPROF_SITE_OF(site_join, DPROF_KIND_JOIN, "pthread_join");
DPROF_SITE_OF(site_tryjoin, DPROF_KIND_JOIN, "pthread_tryjoin_np");
DPROF_SITE_OF(site_tryjoin_in_vain, DPROF_KIND_WAIT, "pthread_tryjoin_np");
DPROF_SITE_OF(site_timedjoin, DPROF_KIND_JOIN, "pthread_timedjoin_np");
DPROF_SITE_OF(site_cancel, DPROF_KIND_JOIN, "pthread_cancel");
DPROF_SITE_OF(site_timedjoin_in_vain, DPROF_KIND_WAIT, "pthread_timedjoin_np");

struct known_thread {
	struct entry entry;     /* key: its pthread_t */
	void *(*function)(void *);
	void *argument;
	uint32_t number;
	uint64_t made;          /* not before this stamp */
	uint64_t held;          /* signals, until it has recorded that it is there */
	unsigned users;         /* its creator until that knows its id; itself; whoever may join it */
	bool listed, joinable, over;
};

struct table threads_table;

/* ---- Under the table's lock ------------------------------------------------------------------- */

static void list(struct known_thread *k, pthread_t id)
{
	if (k->listed)
		return;
	k->listed = true;
	k->entry.key = (uint64_t)id;
	table_add(&threads_table, &k->entry);
}

static void let_go(struct known_thread *k, unsigned users)
{
	k->users -= users;
	if (k->users)
		return;
	table_remove(&threads_table, &k->entry);
	free(k);
}

/* ---- The new thread --------------------------------------------------------------------------- */

static void ended(void *known)
{
	struct known_thread *k = known;

	dprof_adapter_last_point(SITE(site_end));
	table_lock(&threads_table);
	k->over = true;
	if (!k->joinable)
		table_remove(&threads_table, &k->entry);
	let_go(k, 1);
	table_unlock(&threads_table);
}

static void __attribute__((constructor)) say_silent_end(void)
{
	dprof_adapter_silent_end(SITE(site_end));
}

/* However it ends: by return, pthread_exit or cancellation. */
static void *begin(void *known)
{
	struct known_thread *k = known;
	void *result;

	table_lock(&threads_table);
	list(k, pthread_self());
	table_unlock(&threads_table);
	dprof_adapter_be_thread(k->number, k->made);
	dprof_adapter_point(SITE(site_begin));
	dprof_adapter_release_signals(k->held);
	pthread_cleanup_push(ended, k);
	result = k->function(k->argument);
	pthread_cleanup_pop(1);
	return result;
}

/* ---- Its creator ------------------------------------------------------------------------------ */

static bool is_joinable(const pthread_attr_t *attr)
{
	int state = PTHREAD_CREATE_JOINABLE;

	if (attr)
		pthread_attr_getdetachstate(attr, &state);
	return state == PTHREAD_CREATE_JOINABLE;
}

static bool has_signals_of_its_own(const pthread_attr_t *attr)
{
	sigset_t own;

	return attr && pthread_attr_getsigmask_np(attr, &own) == 0;
}

#define SMALL_STACK 65536
#define OWN_STACK   16384 /* what the recorder may need of it, with all registers kept */

/* A small stack, which the C library makes, gets room for the recorder: it had been measured for the program alone.
 * `own` is what is pointed to then, which owns nothing. */
static const pthread_attr_t *with_room(const pthread_attr_t *attr, pthread_attr_t *own)
{
	size_t bytes;
	void *stack;

	if (!attr || pthread_attr_getstack(attr, &stack, &bytes) != 0 || bytes == 0 || bytes >= SMALL_STACK)
		return attr;
	if ((uintptr_t)stack + bytes != 0) /* the program's own memory */
		return attr;
	*own = *attr;
	return pthread_attr_setstacksize(own, bytes + OWN_STACK) == 0 ? own : attr;
}

static int create(pthread_t *id, const pthread_attr_t *attr, struct known_thread *k,
		  const struct dprof_site *site)
{
	uint64_t held = dprof_adapter_hold_signals();
	const uint64_t *place;
	pthread_attr_t own;
	int error;

	k->held = has_signals_of_its_own(attr) ? 0 : held;
	k->joinable = is_joinable(attr);
	k->users = 2 + k->joinable;
	place = enter_first(site); /* first: the creator's own number may be due */
	k->number = dprof_adapter_reserve_thread();
	add_argument(place, DPROF_KEY_THREAD, k->number);
	k->made = dprof_adapter_now();
	error = REAL(pthread_create)(id, with_room(attr, &own), begin, k);
	dprof_adapter_release_signals(held);
	dprof_adapter_exit(site);
	if (error) {
		dprof_adapter_return_thread(k->number);
		free(k);
		return error;
	}
	table_lock(&threads_table);
	if (!k->over)
		list(k, *id);
	let_go(k, 1);
	table_unlock(&threads_table);
	return 0;
}

/* Of a call that a sanitizer makes for the program, too. */
static const struct dprof_site *site_of(const struct dprof_site *own, const void *caller)
{
	const struct dprof_site *site = dprof_adapter_site(own, caller);

	return site || !dprof_adapter_kinds || !dprof_adapter_is_sanitizer(caller) ? site : own;
}

/* ThreadSanitizer gives attributes to each thread that it makes for the program; to the one of its own, none. */
void __tsan_init(void) __attribute__((weak));

static bool is_for_sanitizer(const pthread_attr_t *attr)
{
	return __tsan_init && !attr;
}

bool program_has_threads;

/* dprof's own. */
static bool is_helper(void *(*function)(void *))
{
	struct dl_find_object one, core;

	return _dl_find_object((void *)function, &one) == 0 &&
	       _dl_find_object((void *)dprof_adapter_recording, &core) == 0 && one.dlfo_map_start == core.dlfo_map_start;
}

DPROF_EXPORT int pthread_create(pthread_t *id, const pthread_attr_t *attr,
				void *(*function)(void *), void *argument)
{
	const void *caller = __builtin_return_address(0);
	const struct dprof_site *site = is_for_sanitizer(attr) ? NULL : site_of(SITE(site_create), caller);
	struct known_thread *k = site ? calloc(1, sizeof(*k)) : NULL;

	if (!program_has_threads && !is_helper(function))
		program_has_threads = true;
	if (!k)
		return REAL(pthread_create)(id, attr, function, argument);
	k->function = function;
	k->argument = argument;
	return create(id, attr, k, site);
}

/* ---- Waiting for its end ----------------------------------------------------------------------- */

static struct known_thread *find(pthread_t id)
{
	struct known_thread *k;

	if (dprof_adapter_is_off())
		return NULL;
	table_lock(&threads_table);
	k = (struct known_thread *)table_find(&threads_table, (uint64_t)id);
	if (k)
		k->users++;
	table_unlock(&threads_table);
	return k;
}

/* `gone`: it was joined or detached, and its id may stand for another thread as soon as it is over. */
static void release(struct known_thread *k, bool gone)
{
	unsigned users = 1;

	if (!k)
		return;
	table_lock(&threads_table);
	if (gone && k->joinable) {
		k->joinable = false;
		table_remove(&threads_table, &k->entry);
		users++;
	}
	let_go(k, users);
	table_unlock(&threads_table);
}

/* Who waits is cancelled, and the other thread neither joined nor detached. */
static void stop_waiting(void *known)
{
	release(known, false);
}

struct joining {
	struct call_under_way open;
	const struct dprof_site *site;
	struct known_thread *thread;
};

static void join_left(struct call_under_way *open)
{
	struct joining *j = (struct joining *)open;

	dprof_adapter_exit(j->site);
	stop_waiting(j->thread);
}

static void end_join(void *joining)
{
	struct joining *j = joining;

	call_closes(&j->open);
	dprof_adapter_exit(j->site);
}

/* `k`, or NULL: its number is unknown. */
static __attribute__((noinline)) int wait_for_end(pthread_t id, void **result, struct known_thread *k,
						  const struct dprof_site *site)
{
	struct dprof_arguments a = { 0 };
	struct joining j = { .site = site, .thread = k };
	int error;

	if (k)
		dprof_say(&a, DPROF_KEY_THREAD, k->number);
	dprof_adapter_record(site, DPROF_ENTER, 0, &a);
	call_opens(&j.open, dprof_adapter_now(), join_left);
	pthread_cleanup_push(end_join, &j);
	error = REAL(pthread_join)(id, result);
	pthread_cleanup_pop(1);
	return error;
}

DPROF_EXPORT int pthread_join(pthread_t id, void **result)
{
	struct known_thread *k;
	const struct dprof_site *site;
	int error;

	if (pthread_equal(id, pthread_self())) /* is refused: it waits for nothing */
		return REAL(pthread_join)(id, result);
	k = find(id);
	site = site_of(SITE(site_join), __builtin_return_address(0));
	pthread_cleanup_push(stop_waiting, k);
	error = site ? wait_for_end(id, result, k, site) : REAL(pthread_join)(id, result);
	pthread_cleanup_pop(0);
	release(k, error == 0);
	return error;
}

/* It waited until a moment, for nothing. Which one is not said: it may be of any clock. */
static void joined_in_vain(struct dprof_moment since)
{
	struct dprof_arguments a = { 0 };

	dprof_say(&a, DPROF_KEY_UNTIL, 0);
	dprof_adapter_record_enter_at(SITE(site_timedjoin_in_vain), since, &a);
	dprof_adapter_exit(SITE(site_timedjoin_in_vain));
}

static int joined(struct known_thread *k, struct dprof_moment since, const struct dprof_site *site,
		  int error)
{
	struct dprof_arguments a = { 0 };

	if (site && error == 0) {
		if (k)
			dprof_say(&a, DPROF_KEY_THREAD, k->number);
		dprof_adapter_record_enter_at(site, since, &a);
		dprof_adapter_exit(site);
	}
	if (site && error == ETIMEDOUT && dprof_adapter_now() - since.stamp >= dprof_adapter_blocked_ticks)
		joined_in_vain(since);
	release(k, error == 0);
	return error;
}

DPROF_EXPORT int pthread_tryjoin_np(pthread_t id, void **result)
{
	struct known_thread *k = find(id);
	struct dprof_moment since = dprof_adapter_moment();
	const struct dprof_site *site = site_of(SITE(site_tryjoin), __builtin_return_address(0));

	int error = REAL(pthread_tryjoin_np)(id, result);

	if (site && error == EBUSY)
		dprof_adapter_in_vain(SITE(site_tryjoin_in_vain), since);
	else if (site && error == 0)
		dprof_adapter_polled_since(&since);
	return joined(k, since, site, error);
}

DPROF_EXPORT int pthread_timedjoin_np(pthread_t id, void **result, const struct timespec *until)
{
	struct known_thread *k = find(id);
	struct dprof_moment since = dprof_adapter_moment();
	const struct dprof_site *site = site_of(SITE(site_timedjoin), __builtin_return_address(0));
	int error;

	pthread_cleanup_push(stop_waiting, k);
	error = REAL(pthread_timedjoin_np)(id, result, until);
	pthread_cleanup_pop(0);
	return joined(k, since, site, error);
}

DPROF_EXPORT int pthread_clockjoin_np(pthread_t id, void **result, clockid_t clock,
				      const struct timespec *until)
{
	struct known_thread *k = find(id);
	struct dprof_moment since = dprof_adapter_moment();
	const struct dprof_site *site = site_of(SITE(site_join), __builtin_return_address(0));
	int error;

	pthread_cleanup_push(stop_waiting, k);
	error = REAL(pthread_clockjoin_np)(id, result, clock, until);
	pthread_cleanup_pop(0);
	return joined(k, since, site, error);
}

DPROF_EXPORT int pthread_detach(pthread_t id)
{
	struct known_thread *k = find(id);
	int error = REAL(pthread_detach)(id);

	release(k, error == 0);
	return error;
}

/* ---- Ending it --------------------------------------------------------------------------------- */

static void cancels(const struct dprof_site *site, pthread_t id)
{
	struct known_thread *k = find(id);

	if (k)
		record_with(site, DPROF_POINT, 0, DPROF_KEY_THREAD, k->number);
	release(k, false);
}

/* May be called where the caller may be cancelled at any instruction: but not while it has the table's lock. */
DPROF_EXPORT int pthread_cancel(pthread_t id)
{
	const struct dprof_site *site = site_of(SITE(site_cancel), __builtin_return_address(0));
	int state;

	if (site) {
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
		cancels(site, id);
		pthread_setcancelstate(state, NULL);
	}
	return REAL(pthread_cancel)(id);
}
