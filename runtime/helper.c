/* SPDX-License-Identifier: MIT
 *
 * helper.c - the thread that makes chunks ahead, packs full ones, looks for new modules and sees to it that
 * no stamp is far from an epoch.
 *
 * It starts with the first event and ends with the last thread that records, because a process
 * whose main thread left by pthread_exit would otherwise wait for it for ever. Nothing but speed
 * depends on it: without it threads make their chunks themselves and record wide.
 *
 * It has all signals blocked and a table of descriptors of its own, which is empty: it neither
 * takes the number that the program expects of its next open() nor holds open what the program
 * closes. */
#include <errno.h>
#include <linux/close_range.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>

#include "runtime/modules.h"
#include "runtime/pack.h"
#include "runtime/process.h"
#include "runtime/sys.h"
#include "runtime/thread.h"

#define STACK_BYTES ((size_t)256 << 10)
#define EPOCH_TICKS (UINT64_C(1) << 35)   /* 7 s at 5 GHz; words.h bears 2^39 */
#define STOPPED_TICKS (UINT64_C(1) << 37) /* so long without us may have borne too much */
#define SOON_NS     10000000
#define PATIENCE    64                    /* events between two attempts to start */

enum { NO_HELPER, HELPER, CANNOT_HELP };
static int state;
static uint32_t work; /* a futex; changes whenever there is some */
static bool sleeping;
static uint32_t running; /* a futex */

/* The last thread may have ended and another begun meanwhile: then that one found us and
 * counts on us, unless it started a helper of its own. */
static bool leave(void)
{
	int gone = NO_HELPER;

	dprof_pack_close();
	__atomic_store_n(&dprof_supervised, false, __ATOMIC_SEQ_CST);
	__atomic_store_n(&state, NO_HELPER, __ATOMIC_SEQ_CST);
	if (!dprof_any_thread() ||
	    !__atomic_compare_exchange_n(&state, &gone, HELPER, false, __ATOMIC_SEQ_CST,
					 __ATOMIC_SEQ_CST))
		return true;
	__atomic_store_n(&dprof_supervised, true, __ATOMIC_SEQ_CST);
	return false;
}

static void note_stop(uint64_t from, uint64_t to)
{
	char line[64];
	int n = snprintf(line, sizeof(line), "stopped %llu %llu\n", (unsigned long long)from,
			 (unsigned long long)to);

	dprof_process_append(line, (size_t)n);
}

/* Asks for epochs when they are due. A helper that was not there for long says so: threads may have
 * recorded since, before they were asked. */
static void supervise(uint64_t *looked, uint64_t *asked)
{
	uint64_t now = dprof_now();

	if (now - *looked > STOPPED_TICKS)
		note_stop(*looked, now);
	if (now - *asked > EPOCH_TICKS) {
		dprof_threads_slow_down();
		*asked = now;
	}
	*looked = now;
}

/* Until there is work or it is time to look for modules, or at young threads. False where futexes are forbidden
 * meanwhile. */
static bool rest(uint32_t seen, bool soon)
{
	struct timespec look_again = { .tv_sec = !soon, .tv_nsec = soon * SOON_NS };
	long error;

	__atomic_store_n(&sleeping, true, __ATOMIC_SEQ_CST);
	error = sys(SYS_futex, &work, FUTEX_WAIT_PRIVATE, seen, &look_again);
	__atomic_store_n(&sleeping, false, __ATOMIC_SEQ_CST);
	return error == 0 || error == -EAGAIN || error == -EINTR || error == -ETIMEDOUT;
}

static void give_up(void)
{
	dprof_pack_close();
	__atomic_store_n(&dprof_supervised, false, __ATOMIC_SEQ_CST);
	__atomic_store_n(&state, CANNOT_HELP, __ATOMIC_SEQ_CST);
}

static void *helper(void *unused)
{
	uint64_t looked = dprof_now(), asked = looked;
	uint32_t seen;
	bool soon;

	(void)unused;
	__atomic_store_n(&running, 1, __ATOMIC_SEQ_CST);
	sys(SYS_futex, &running, FUTEX_WAKE_PRIVATE, 1);
	prctl(PR_SET_NAME, "dprof-helper");
	dprof_be_apart();
	sys(SYS_close_range, 0, ~0u, CLOSE_RANGE_UNSHARE);
	__atomic_store_n(&dprof_supervised, true, __ATOMIC_SEQ_CST);
	for (;;) {
		seen = __atomic_load_n(&work, __ATOMIC_SEQ_CST);
		supervise(&looked, &asked);
		if (dprof_chunks_make_wanted() || dprof_threads_spare() || dprof_chunks_pack())
			continue;
		dprof_modules_look();
		soon = dprof_threads_look(looked);
		if (!dprof_any_thread() && leave())
			return NULL;
		if (!rest(seen, soon)) {
			give_up();
			return NULL;
		}
	}
}

/* A thread that begins makes system calls (the C library registers it for restartable sequences, and ends
 * the program where that is forbidden). So none begins behind a filter, nor while one may be put up. */
static void wait_until_it_runs(void)
{
	struct timespec most = { .tv_nsec = 100000000 };

	if (!__atomic_load_n(&running, __ATOMIC_SEQ_CST))
		sys(SYS_futex, &running, FUTEX_WAIT_PRIVATE, 0, &most);
}

static bool is_filtered(void)
{
	long mode = sys(SYS_prctl, PR_GET_SECCOMP);

	return mode != SECCOMP_MODE_DISABLED && mode != -EINVAL; /* a kernel without filters */
}

static void start(void *unused)
{
	int saved_errno = errno;
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t id;

	(void)unused;
	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	running = 0;
	if (is_filtered() || pthread_create(&id, &attr, helper, NULL) != 0)
		__atomic_store_n(&state, CANNOT_HELP, __ATOMIC_SEQ_CST);
	else
		wait_until_it_runs();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	errno = saved_errno;
}

/* pthread_create() allocates memory. In a signal handler, where malloc may be what was interrupted,
 * the signal is blocked; so whoever has a signal blocked leaves the start to somebody else. */
static bool may_start(void)
{
	uint64_t blocked = 0;

	return sys(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &blocked, sizeof(blocked)) == 0 && !blocked;
}

static void begin_helping(void)
{
	int none = NO_HELPER;

	if (dprof_any_thread() && may_start() &&
	    __atomic_compare_exchange_n(&state, &none, HELPER, false, __ATOMIC_SEQ_CST,
					__ATOMIC_SEQ_CST))
		dprof_keeping_vectors(start, NULL);
}

void dprof_helper_wake(void)
{
	__atomic_fetch_add(&work, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&state, __ATOMIC_SEQ_CST) == NO_HELPER)
		begin_helping();
	else if (__atomic_load_n(&sleeping, __ATOMIC_SEQ_CST))
		sys(SYS_futex, &work, FUTEX_WAKE_PRIVATE, 1);
}

void dprof_helper_wanted(void)
{
	static __thread unsigned asked;

	if (__atomic_load_n(&state, __ATOMIC_RELAXED) == NO_HELPER && asked++ % PATIENCE == 0)
		begin_helping();
}

bool dprof_helper_there(void)
{
	return __atomic_load_n(&state, __ATOMIC_SEQ_CST) == HELPER;
}

void dprof_helper_forget(void)
{
	state = NO_HELPER;
	sleeping = false;
	dprof_supervised = false;
}
