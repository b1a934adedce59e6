/* SPDX-License-Identifier: MIT
 *
 * library.c - what threads wait for in headers of libstdc++: what the plugin calls around that (plugin/library.def).
 *
 *   ENTER std::future id=ADDRESS ... EXIT         likewise std::latch: whether or not it had to wait
 *   POINT std::promise id=ADDRESS                 it is there
 *   POINT std::latch::count_down id=ADDRESS tag=N counted down from N
 *   ENTER std::counting_semaphore::acquire id=ADDRESS | until=0 ... EXIT
 *                                                 taken, or not within a time limit; try_acquire likewise, in vain as of polling.c
 *   POINT std::counting_semaphore::release id=ADDRESS
 *   POINT std::counting_semaphore::counting_semaphore id=ADDRESS tag=PERMITS
 *                                                 another one that was there before is gone
 *   ENTER std::future::wait_for id=ADDRESS role=0 ... EXIT
 *                                                 it was there already; in vain likewise
 *   ENTER std::stop_token::stop_requested id=ADDRESS ... EXIT
 *                                                 found asked for, in vain as of polling.c; std::latch::try_wait likewise
 *   POINT std::stop_source::request_stop id=ADDRESS
 *                                                 asked for the first time
 *   ENTER std::this_thread::sleep_until until=NS [tag=NS] ... EXIT
 *   ENTER std::atomic::wait id=ADDRESS [role=0] ... EXIT
 *                                                 role=0: it was stored already
 *   POINT std::atomic::notify id=ADDRESS
 *   POINT std::barrier::barrier id=ADDRESS tag=N role=1
 *                                                 another one that was there before is gone
 *   ENTER std::barrier::arrive_and_wait id=ADDRESS tag=N ... EXIT
 *                                                 whenever N have come they go on
 *   POINT std::barrier::arrive id=ADDRESS tag=N role=0
 *                                                 it has come
 *   ENTER std::barrier::wait id=ADDRESS ... EXIT
 *                                                 it goes on when all have come with whom it came last
 *   POINT std::barrier::arrive_and_drop id=ADDRESS tag=N
 *                                                 it has come for the last time
 *   POINT std::barrier completion function id=ADDRESS
 *                                                 that function is over: whoever came last has run it behind its EXIT, or
 *                                                 its last arrival, and all others go on
 *   POINT std::barrier                            once in a process: it has come for several (arrive); likewise of whatever
 *                                                 else is not told apart
 *
 * What the library asks of the kernel in there is a part of it, and no record of its own (runtime/libc).
 *
 * Law: who gives has its POINT stamped before anybody can have what is given, and who looks its EXIT behind it. */
#include "runtime/library.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>

#include "runtime/adapter.h"
#include "runtime/thread.h"
#include "runtime/sys.h"

#define X(WHAT, KIND, name) DPROF_SITE_OF(site_##WHAT, DPROF_KIND_##KIND, name);
DPROF_LIBRARY(X)
#undef X
DPROF_SITE_OF(site_promise, DPROF_KIND_WAIT, DPROF_LIBRARY_PROMISE);
DPROF_SITE_OF(site_count_down, DPROF_KIND_WAIT, DPROF_LIBRARY_COUNT_DOWN);
DPROF_SITE_OF(site_asked, DPROF_KIND_WAIT, DPROF_LIBRARY_ASKED);
DPROF_SITE_OF(site_notify, DPROF_KIND_WAIT, DPROF_LIBRARY_NOTIFY);
DPROF_SITE_OF(site_made, DPROF_KIND_WAIT, DPROF_LIBRARY_MADE);
DPROF_SITE_OF(site_release, DPROF_KIND_WAIT, DPROF_LIBRARY_RELEASE);
DPROF_SITE_OF(site_barrier_made, DPROF_KIND_BARRIER, DPROF_LIBRARY_BARRIER_MADE);
DPROF_SITE_OF(site_arrive, DPROF_KIND_BARRIER, DPROF_LIBRARY_ARRIVE);
DPROF_SITE_OF(site_drop, DPROF_KIND_BARRIER, DPROF_LIBRARY_DROP);
DPROF_SITE_OF(site_completed, DPROF_KIND_BARRIER, DPROF_LIBRARY_COMPLETED);
DPROF_SITE_OF(site_until, DPROF_KIND_SLEEP, DPROF_LIBRARY_UNTIL);

#define SITE(s) ((const struct dprof_site *)&(s))

static const struct dprof_site *const waits[] = {
#define X(WHAT, KIND, name) SITE(site_##WHAT),
	DPROF_LIBRARY(X)
#undef X
};

/* The call that the thread is in. */
static __thread struct {
	const void *object;       /* NULL: none */
	uint64_t stack;
	const struct dprof_site *site; /* NULL: it gives */
	bool tries;               /* and does not wait */
	bool elsewhere;           /* it may ask the kernel about another address */
	bool stored;              /* it is over at once if that is stored already */
	struct dprof_moment since;
	struct dprof_arguments more;
} now_in;

static bool said[DPROF_LIBRARY_COUNT];

#define MOST_RELEASED 1024 /* at once, that are recorded */
#define SEEN 16 /* objects that a thread knows to be initialised */

void dprof_library_forget(void)
{
	memset(said, 0, sizeof said);
	now_in.object = NULL;
}

DPROF_EXPORT void dprof_library_passes(long what);
DPROF_EXPORT void dprof_library_looks(const void *object, long what);
DPROF_EXPORT void dprof_library_gives(const void *object, long what);
DPROF_EXPORT void dprof_library_asks(const void *state, long what);
DPROF_EXPORT void dprof_library_makes(const void *object, long n);
DPROF_EXPORT void dprof_library_makes_barrier(const void *object, long n);
DPROF_EXPORT void dprof_library_posts(const void *object, long n);
DPROF_EXPORT void dprof_library_arrives(const void *barrier, long n);
DPROF_EXPORT void dprof_library_tried(const void *object, bool got);
DPROF_EXPORT void dprof_library_loaded(const void *future, unsigned there);
DPROF_EXPORT void dprof_library_until(const void *moment, long num, long den, long steady);
DPROF_EXPORT bool dprof_library_completes(const void *barrier);
DPROF_EXPORT void dprof_library_completed(const void *barrier, bool known);
DPROF_EXPORT void dprof_library_hides(const void *condition);
DPROF_EXPORT void dprof_library_shows(void);
DPROF_EXPORT void dprof_library_over(const void *object);
DPROF_EXPORT void dprof_library_acquires(const uint8_t *guard);
DPROF_EXPORT void dprof_library_acquired(const uint8_t *guard);
DPROF_EXPORT void dprof_library_releases(const uint8_t *guard);

static const struct dprof_site *site_of_call(const struct dprof_site *own)
{
	const struct dprof_site *told = dprof_adapter_call(dprof_site_kind(own), own->strings, DPROF_CALL_NEAR);

	return told ? told : own;
}

void dprof_library_passes(long what)
{
	if (dprof_adapter_wanted(DPROF_KIND_WAIT) && !__atomic_load_n(&said[what], __ATOMIC_RELAXED) &&
	    !__atomic_exchange_n(&said[what], true, __ATOMIC_RELAXED))
		dprof_adapter_point(site_of_call(waits[what]));
}

static void begin(const void *object, const struct dprof_site *site)
{
	now_in.object = object;
	now_in.stack = (uint64_t)__builtin_frame_address(0);
	now_in.site = site;
	now_in.more.words = 0;
	now_in.elsewhere = now_in.stored = false;
	now_in.since = dprof_adapter_moment();
}

/* A barrier begins with how many come. That changes when all have: not before who is about to come. */
static uint64_t expected_at(const void *barrier)
{
	return (uint64_t)__atomic_load_n((const ptrdiff_t *)barrier, __ATOMIC_RELAXED);
}

void dprof_library_looks(const void *object, long what)
{
	if (!dprof_adapter_kinds)
		return;
	begin(object, site_of_call(waits[what]));
	now_in.tries = what == DPROF_LIBRARY_TRIED_PERMIT || what == DPROF_LIBRARY_TRIED_LATCH || what == DPROF_LIBRARY_STOP;
	now_in.stored = what == DPROF_LIBRARY_ATOMIC;
	now_in.elsewhere = now_in.stored || what == DPROF_LIBRARY_ARRIVAL || what == DPROF_LIBRARY_ROUND;
	dprof_say(&now_in.more, DPROF_KEY_ID, (uint64_t)object);
	if (what == DPROF_LIBRARY_ARRIVAL)
		dprof_say(&now_in.more, DPROF_KEY_TAG, expected_at(object));
}

/* A latch begins with how often it is counted down. */
static uint64_t count_at(const void *latch)
{
	return (uint32_t)__atomic_load_n((const int *)latch, __ATOMIC_RELAXED);
}

static void point(const struct dprof_site *site, const void *object)
{
	struct dprof_argument id = { DPROF_KEY_ID, (uint64_t)object };

	dprof_adapter_record_with(site, DPROF_POINT, 0, &id, 1);
}

static void point_of(const struct dprof_site *site, const void *object, uint64_t n)
{
	const struct dprof_argument a[] = { { DPROF_KEY_ID, (uint64_t)object }, { DPROF_KEY_TAG, n } };

	dprof_adapter_record_with(site, DPROF_POINT, 0, a, 2);
}

void dprof_library_gives(const void *object, long what)
{
	if (!dprof_adapter_kinds)
		return;
	begin(object, NULL);
	now_in.elsewhere = what == DPROF_LIBRARY_ATOMIC || what == DPROF_LIBRARY_ARRIVAL;
	switch (what) {
	case DPROF_LIBRARY_LATCH: point_of(SITE(site_count_down), object, count_at(object)); break;
	case DPROF_LIBRARY_ARRIVAL: point_of(SITE(site_drop), object, expected_at(object)); break;
	case DPROF_LIBRARY_ATOMIC: point(SITE(site_notify), object); break;
	default: point(SITE(site_promise), object);
	}
}

/* A number of owners is first there, and then, in its lowest bit, whether it has been asked for. */
static bool is_asked(const void *state)
{
	return __atomic_load_n((const uint32_t *)state + 1, __ATOMIC_RELAXED) & 1;
}

/* Whatever is called behind that is no part of it. */
void dprof_library_asks(const void *state, long what)
{
	(void)what;
	if (dprof_adapter_kinds && !is_asked(state))
		point(SITE(site_asked), state);
}

void dprof_library_makes(const void *object, long n)
{
	if (dprof_adapter_kinds)
		point_of(SITE(site_made), object, (uint64_t)n);
}

void dprof_library_makes_barrier(const void *object, long n)
{
	const struct dprof_argument a[] = { { DPROF_KEY_ID, (uint64_t)object }, { DPROF_KEY_TAG, (uint64_t)n },
					    { DPROF_KEY_ROLE, 1 } };

	if (dprof_adapter_kinds)
		dprof_adapter_record_with(SITE(site_barrier_made), DPROF_POINT, 0, a, 3);
}

/* Who comes for several of a round is not told apart. */
void dprof_library_arrives(const void *barrier, long n)
{
	const struct dprof_argument a[] = { { DPROF_KEY_ID, (uint64_t)barrier }, { DPROF_KEY_TAG, expected_at(barrier) },
					    { DPROF_KEY_ROLE, 0 } };

	if (!dprof_adapter_kinds)
		return;
	begin(barrier, NULL);
	now_in.elsewhere = true;
	if (n == 1)
		dprof_adapter_record_with(SITE(site_arrive), DPROF_POINT, 0, a, 3);
	else
		dprof_library_passes(DPROF_LIBRARY_BARRIER);
}

/* Each of them is for one who takes it. */
void dprof_library_posts(const void *object, long n)
{
	if (!dprof_adapter_kinds)
		return;
	begin(object, NULL);
	for (long i = 0; i < n && i < MOST_RELEASED; i++)
		point(SITE(site_release), object);
	if (n > MOST_RELEASED)
		dprof_library_passes(DPROF_LIBRARY_SEMAPHORE);
}

/* Since the clock's epoch; nothing before that is told apart. */
static uint64_t in_ns(__int128 time)
{
	return time < 0 ? 0 : time > INT64_MAX ? INT64_MAX : (uint64_t)time;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t = { 0 };

	sys(SYS_clock_gettime, clock, &t);
	return frz_ns(&t);
}

void dprof_library_until(const void *moment, long num, long den, long steady)
{
	uint64_t until, now;

	if (!dprof_adapter_kinds)
		return;
	begin(moment, NULL);
	if (den == 0) {
		dprof_library_passes(DPROF_LIBRARY_OTHER_CLOCK);
		return;
	}
	begin(moment, site_of_call(SITE(site_until)));
	until = in_ns((__int128)*(const int64_t *)moment * num * 1000000000 / den);
	now = clock_ns(steady ? CLOCK_MONOTONIC : CLOCK_REALTIME);
	dprof_say(&now_in.more, DPROF_KEY_UNTIL, until);
	if (now > until)
		dprof_say(&now_in.more, DPROF_KEY_TAG, now - until);
}

static void record(const struct dprof_site *site, struct dprof_moment since, const struct dprof_arguments *a)
{
	uint64_t now = dprof_adapter_now_fenced();

	if (dprof_adapter_place() == since.place) {
		dprof_adapter_record_visit(site, since.stamp, now, a);
		return;
	}
	dprof_adapter_record_enter_late(site, since.stamp, a);
	dprof_adapter_record(site, DPROF_EXIT, dprof_adapter_now_fenced(), NULL);
}

/* Whether the thread was in that. A handler that did such a thing itself has left nothing of what it interrupted: then that is not
 * seen. */
static bool end(const void *object)
{
	bool known = now_in.object == object;

	now_in.object = NULL;
	if (!known)
		dprof_library_passes(DPROF_LIBRARY_INTERRUPTED);
	return known;
}

void dprof_library_over(const void *object)
{
	if (!dprof_adapter_kinds || !end(object) || !now_in.site)
		return;
	if (now_in.stored && dprof_adapter_now() - now_in.since.stamp < dprof_adapter_blocked_ticks)
		dprof_say(&now_in.more, DPROF_KEY_ROLE, 0);
	record(now_in.site, now_in.since, &now_in.more);
}

/* Whoever is about to run the function of a barrier has come to it last, be it to drop out, or only to arrive. Such a function may
 * come to another barrier, and run the function of that. */
bool dprof_library_completes(const void *barrier)
{
	bool known = dprof_adapter_kinds && now_in.object == barrier;

	if (known && now_in.site)
		record(now_in.site, now_in.since, &now_in.more);
	if (known)
		now_in.object = NULL;
	return known;
}

/* What the thread does at the barrier from here on is to let the others go. */
void dprof_library_completed(const void *barrier, bool known)
{
	if (!known)
		return;
	point(SITE(site_completed), barrier);
	begin(barrier, NULL);
	now_in.elsewhere = true;
}

/* Not to have taken one is to have waited until a moment, unless it does not wait. */
void dprof_library_tried(const void *object, bool got)
{
	if (!dprof_adapter_kinds || !end(object))
		return;
	if (now_in.tries && !got) {
		dprof_adapter_in_vain(now_in.site, now_in.since);
		return;
	}
	if (now_in.tries)
		dprof_adapter_polled_since(&now_in.since);
	if (!got) {
		now_in.more.words = 0;
		dprof_say(&now_in.more, DPROF_KEY_UNTIL, 0);
	}
	record(now_in.site, now_in.since, &now_in.more);
}

/* Whether it is there, before a wait with a time limit, which may be none. */
void dprof_library_loaded(const void *future, unsigned there)
{
	if (!dprof_adapter_kinds || !end(future))
		return;
	if (!there) {
		dprof_adapter_in_vain(now_in.site, now_in.since);
		if (now_in.site != SITE(site_TIMED_FUTURE))
			__dprof_call.site = now_in.site; /* the wait that may follow is a part of the same call */
		return;
	}
	dprof_adapter_polled_since(&now_in.since);
	dprof_say(&now_in.more, DPROF_KEY_ROLE, 0);
	record(now_in.site, now_in.since, &now_in.more);
}

/* ---- Condition variables with any lock ----------------------------------------------------------------- */

/* Such a one has a mutex of its own behind the C library's condition variable, which it takes to notify, and before it gives
 * back the lock that it waits with. Of the program's order that says nothing: what is recorded is as of a condition variable
 * that waits with that lock. The outermost call counts. */
__thread const void *dprof_adapter_hidden_lock;
static __thread unsigned hides;

void dprof_library_hides(const void *condition)
{
	if (hides++ == 0)
		dprof_adapter_hidden_lock = *(const void *const *)((const char *)condition + sizeof(pthread_cond_t));
}

void dprof_library_shows(void)
{
	if (hides && --hides == 0)
		dprof_adapter_hidden_lock = NULL;
}

/* ---- What is initialised once ----------------------------------------------------------------------- */

/* What each thread has found initialised, as long as nothing else is. */
static unsigned initialised;
static __thread struct { unsigned when; const void *object[SEEN]; } seen;

void dprof_adapter_initialises(void)
{
	__atomic_fetch_add(&initialised, 1, __ATOMIC_RELAXED);
}

bool dprof_adapter_finds(const void *object)
{
	unsigned now = __atomic_load_n(&initialised, __ATOMIC_RELAXED);
	const void **at = &seen.object[((uintptr_t)object >> 3) % SEEN];

	if (seen.when != now)
		memset(&seen, 0, sizeof seen);
	seen.when = now;
	if (*at == object)
		return false;
	*at = object;
	return true;
}

/* Who finds a static variable initialised looks at a byte, and leaves no record: so it is said if others might, and had
 * waited for long if they had come meanwhile. The outermost one counts. */
static __thread struct { const uint8_t *guard; uint64_t since; } in_static;

void dprof_library_acquires(const uint8_t *guard)
{
	if (in_static.guard)
		return;
	in_static.guard = guard;
	in_static.since = dprof_adapter_now();
}

void dprof_library_acquired(const uint8_t *guard)
{
	if (in_static.guard == guard && __atomic_load_n(guard, __ATOMIC_ACQUIRE))
		in_static.guard = NULL; /* another thread has done it */
}

/* Also where it was in vain. */
void dprof_library_releases(const uint8_t *guard)
{
	if (dprof_adapter_now() - in_static.since >= dprof_adapter_blocked_ticks && !dprof_only_thread())
		dprof_library_passes(DPROF_LIBRARY_STATIC);
	if (in_static.guard == guard)
		in_static.guard = NULL;
}

/* ---- Calls of the C library in there ---------------------------------------------------------------- */

/* The thread jumps, perhaps out of it. */
void dprof_library_jump(void)
{
	now_in.object = NULL;
	dprof_adapter_hidden_lock = NULL;
	hides = 0;
}

/* A call that was left by a jump of which nobody has told is taken for one that is under way only near the place where it was. */
bool dprof_adapter_in_library(const void *object)
{
	uint64_t here = (uint64_t)__builtin_frame_address(0);
	bool same = object ? now_in.elsewhere || now_in.object == object : now_in.site != NULL;

	return now_in.object && same && now_in.stack - here < DPROF_CALL_NEAR;
}
