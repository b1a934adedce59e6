/* SPDX-License-Identifier: MIT
 *
 * helper.c - the thread that makes chunks ahead, packs full ones, looks for new modules and sees to it that
 * no stamp is far from an epoch.
 *
 * It starts with the first event. Without it threads make their chunks themselves and record wide.
 *
 * Law: a thread that is counted (the process's first, and whoever records) lives longer than the helper. The last
 * one to end, in its destructor, dismisses the helper and waits until the kernel knows it no more; so it is never
 * the helper that the C library finds to be the process's last thread, where it would call exit(), with the
 * program's output and functions in our hands and its descriptors elsewhere. Whoever starts a helper is counted.
 *
 * It has all signals blocked and a table of descriptors of its own, which is empty: it neither
 * takes the number that the program expects of its next open() nor holds open what the program
 * closes. Threads of the program that need a file ask it (dprof_do_apart), and wait; while it waits for what such a
 * thread may hold, it goes on answering. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <linux/close_range.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <time.h>

#include "runtime/modules.h"
#include "runtime/pack.h"
#include "runtime/process.h"
#include "runtime/sys.h"
#include "runtime/thread.h"
#include "runtime/unseen.h"

#define STACK_BYTES ((size_t)256 << 10)
#define EPOCH_TICKS (UINT64_C(1) << 35)   /* 7 s at 5 GHz; words.h bears 2^39 */
#define STOPPED_TICKS (UINT64_C(1) << 37) /* so long without us may have borne too much */
#define SOON_NS     10000000
#define PATIENCE    64                    /* events between two attempts to start, of those that a handler may make */

/* A helper that was dismissed is waited for, 10 s in all: it may be busy, or wait for the loader while another
 * thread loads a library. */
#define SHORTEST_WAIT_NS 20000
#define LONGEST_WAIT_NS  1000000
#define GONE_WAITS       10000

/* Of a process that ends, for what is still to be packed: 1 s in all, or 2000 chunks of the largest. */
#define FINISH_WAIT_NS 10000000
#define FINISH_WAITS   100

/* Who asks for something waits so often for ASK_WAIT_NS until the helper is at it. */
#define ASK_WAIT_NS 1000000
#define ASK_WAITS   1000
#define QUESTIONS   32      /* at a time */

enum { NO_HELPER, HELPER, DISMISSED, CANNOT_HELP };
static int state;

#define FILTERED "system calls are filtered (seccomp), and dprof's helper cannot do without some"
#define REFUSED  "no thread could be made for dprof's helper"
#define QUEUES   "a message queue was open, whose notification (mq_notify) dprof's helper might take back"
#define SHARED   "this kernel gives dprof's helper no descriptors of its own"
#define HANDLERS "each event that might have started dprof's helper may have been one in a signal handler"
static uint32_t id; /* the thread's, or 0: it has not begun */
static long process; /* in which it is: a child that nobody told of its fork has none */
static uint32_t work; /* a futex; changes whenever there is some */
static const char *absent = HANDLERS; /* why there was none so far; or NULL */
static bool sleeping;
static uint32_t rested;  /* a futex: what `work` was when there was none left */
static uint32_t running; /* a futex */

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

/* ---- What threads ask of it ------------------------------------------------------------------ */

static struct helper_question {
	enum { UNUSED, CLAIMED, ASKED, AT_IT, DONE } state; /* a futex */
	long (*what)(void *);
	void *with;
	long result;
} questions[QUESTIONS];

static bool move_on(struct helper_question *q, int from, int to)
{
	return __atomic_compare_exchange_n((int *)&q->state, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* While it is in that state, but not for ever with `times` > 0. */
static void wait_while(struct helper_question *q, int still, int times)
{
	struct timespec patience = { .tv_nsec = ASK_WAIT_NS };

	for (int i = 0; (i < times || !times) && __atomic_load_n((int *)&q->state, __ATOMIC_SEQ_CST) == still; i++)
		sys(SYS_futex, &q->state, FUTEX_WAIT_PRIVATE, still, &patience);
}

static struct helper_question *claim(void)
{
	for (size_t i = 0; i < QUESTIONS; i++)
		if (move_on(&questions[i], UNUSED, CLAIMED))
			return &questions[i];
	return NULL;
}

/* False if the helper does not come: then nothing was done. */
static bool put(struct helper_question *q, long (*what)(void *), void *with, long *result)
{
	q->what = what;
	q->with = with;
	__atomic_store_n((int *)&q->state, ASKED, __ATOMIC_SEQ_CST);
	dprof_helper_wake();
	wait_while(q, ASKED, ASK_WAITS);
	if (move_on(q, ASKED, UNUSED))
		return false;
	wait_while(q, AT_IT, 0);
	*result = q->result;
	__atomic_store_n((int *)&q->state, UNUSED, __ATOMIC_SEQ_CST);
	return true;
}

/* Likewise. Without signals: a handler might not come back, and a thread be cancelled, while the helper is at it. */
static bool ask(long (*what)(void *), void *with, long *result)
{
	uint64_t all = DPROF_SIGNALS_THAT_WAIT, before;
	bool masked = sys(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, sizeof(all)) == 0;
	struct helper_question *q = claim();
	bool answered = q && put(q, what, with, result);

	if (masked)
		sys(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
	return answered;
}

bool dprof_helper_answer(void)
{
	bool any = false;

	for (struct helper_question *q = questions; q < questions + QUESTIONS; q++) {
		if (__atomic_load_n((int *)&q->state, __ATOMIC_SEQ_CST) != ASKED || !move_on(q, ASKED, AT_IT))
			continue;
		q->result = q->what(q->with);
		__atomic_store_n((int *)&q->state, DONE, __ATOMIC_SEQ_CST);
		sys(SYS_futex, &q->state, FUTEX_WAKE_PRIVATE, 1);
		any = true;
	}
	return any;
}

long dprof_do_apart(long (*what)(void *), void *with)
{
	long result;

	if (!dprof_is_apart() && dprof_helper_there() && sys(SYS_getpid) == process && ask(what, with, &result))
		return result;
	return what(with);
}

/* ---- What it does ----------------------------------------------------------------------------- */

/* Until there is work or it is time to look for modules, or at young threads. False where futexes are forbidden
 * meanwhile. */
static bool rest(uint32_t seen, bool soon)
{
	struct timespec look_again = { .tv_sec = !soon, .tv_nsec = soon * SOON_NS };
	long error;

	__atomic_store_n(&rested, seen, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&dprof_ending, __ATOMIC_SEQ_CST))
		sys(SYS_futex, &rested, FUTEX_WAKE_PRIVATE, INT_MAX);
	__atomic_store_n(&sleeping, true, __ATOMIC_SEQ_CST);
	error = sys(SYS_futex, &work, FUTEX_WAIT_PRIVATE, seen, &look_again);
	__atomic_store_n(&sleeping, false, __ATOMIC_SEQ_CST);
	return error == 0 || error == -EAGAIN || error == -EINTR || error == -ETIMEDOUT;
}

static void *leave(void)
{
	dprof_pack_close();
	dprof_unseen_own_ends();
	__atomic_store_n(&dprof_supervised, false, __ATOMIC_SEQ_CST);
	for (unsigned n = 0; !dprof_threads_slow_down(); n++)
		sys_wait_for_other(n);
	return NULL;
}

/* For descriptors of our own the kernel copies what lies below this (NR_OPEN_DEFAULT), and closes the copies; before
 * Linux 5.9, which has no close_range(), it copies all, and the copies are ours to close. */
#define COPIED      64
#define COPIED_MOST 65536
#define QUEUE_MAGIC 0x19800202 /* of its file system, as statfs(2) has it */

/* Whoever closes a message queue takes back what its process has asked for there (mqueue_flush_file() in the kernel). */
static bool would_close_queue(int copied)
{
	struct statfs of;

	for (int fd = 0; fd < copied; fd++)
		if (sys(SYS_fstatfs, fd, &of) == 0 && of.f_type == QUEUE_MAGIC)
			return true;
	return false;
}

static bool has_close_range(void)
{
	return sys(SYS_close_range, 1, 0, 0) == -EINVAL; /* an empty range */
}

/* As long as one may be, of a program whose limit is not beyond what we look at. */
static int all_descriptors(void)
{
	struct rlimit limit = { .rlim_cur = COPIED_MOST };

	sys(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit);
	return limit.rlim_cur < COPIED_MOST ? (int)limit.rlim_cur : COPIED_MOST;
}

static bool close_copies(void)
{
	if (sys(SYS_unshare, CLONE_FILES) != 0)
		return false;
	for (int fd = 0, most = all_descriptors(); fd < most; fd++)
		sys(SYS_close, fd);
	return true;
}

/* Why there are no descriptors of our own; or NULL. */
static const char *leave_descriptors(void)
{
	bool ranges = has_close_range();

	if (would_close_queue(ranges ? COPIED : all_descriptors()))
		return QUEUES;
	if (ranges ? sys(SYS_close_range, 0, ~0u, CLOSE_RANGE_UNSHARE) == 0 : close_copies())
		return NULL;
	return SHARED;
}

static void *give_up(const char *why)
{
	absent = why;
	__atomic_store_n(&state, CANNOT_HELP, __ATOMIC_SEQ_CST);
	return leave();
}

static void *helper(void *unused)
{
	uint64_t looked = dprof_now(), asked = looked;
	const char *why;
	uint32_t seen;
	bool soon;

	(void)unused;
	__atomic_store_n(&id, (uint32_t)sys(SYS_gettid), __ATOMIC_SEQ_CST);
	__atomic_store_n(&running, 1, __ATOMIC_SEQ_CST);
	sys(SYS_futex, &running, FUTEX_WAKE_PRIVATE, 1);
	prctl(PR_SET_NAME, "dprof-helper");
	dprof_be_apart();
	dprof_unseen_own_begins();
	why = leave_descriptors();
	if (why)
		return give_up(why);
	__atomic_store_n(&dprof_supervised, true, __ATOMIC_SEQ_CST);
	for (;;) {
		seen = __atomic_load_n(&work, __ATOMIC_SEQ_CST);
		supervise(&looked, &asked);
		if (dprof_chunks_make_wanted() || dprof_threads_prepare_slots() || dprof_chunks_pack())
			continue;
		dprof_modules_look();
		soon = dprof_threads_look(looked);
		dprof_unseen_look(looked);
		if (__atomic_load_n(&state, __ATOMIC_SEQ_CST) == DISMISSED)
			return leave();
		if (!rest(seen, soon))
			return give_up(FILTERED);
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
	pthread_t thread;

	(void)unused;
	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	running = id = 0;
	absent = is_filtered() ? FILTERED : pthread_create(&thread, &attr, helper, NULL) != 0 ? REFUSED : NULL;
	if (absent)
		__atomic_store_n(&state, CANNOT_HELP, __ATOMIC_SEQ_CST);
	else
		wait_until_it_runs();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	errno = saved_errno;
}

/* What keeps a list of the process's threads: a child of a fork may then make none of its own (ThreadSanitizer)
 * or misses those of its parent, aloud (LeakSanitizer). A thread that is not on the list may not even allocate
 * memory. So there is no helper; as a library or in the program, each has one of these. */
void __asan_init(void) __attribute__((weak));
void __lsan_init(void) __attribute__((weak));
void __msan_init(void) __attribute__((weak));
void __tsan_init(void) __attribute__((weak));

static bool is_sanitized(void)
{
	return __asan_init || __lsan_init || __msan_init || __tsan_init;
}

/* The program brings its own malloc, in which it may be when it records. */
static bool own_malloc;

void dprof_helper_look(void)
{
	Dl_info program, allocator;

	own_malloc = dladdr((void *)getauxval(AT_ENTRY), &program) && dladdr((void *)malloc, &allocator) &&
		     program.dli_fbase == allocator.dli_fbase;
}

struct kernel_action { void (*handler)(int); unsigned long flags; void (*restorer)(void); uint64_t mask; };

static bool has_handler(int signal)
{
	struct kernel_action a = { 0 };

	return sys(SYS_rt_sigaction, signal, NULL, &a, sizeof(a.mask)) != 0 ||
	       (a.handler != SIG_DFL && a.handler != SIG_IGN);
}

/* A handler has its own signal blocked. (One that asks not to, or that is taken away while it runs, is not known for one.) */
static bool may_be_handler(void)
{
	uint64_t blocked = dprof_blocked_signals();

	if (blocked && is_filtered())
		return true;
	for (int signal = 1; blocked; signal++, blocked >>= 1)
		if (blocked & 1 && has_handler(signal))
			return true;
	return false;
}

/* pthread_create() allocates memory. In a signal handler malloc may be what was interrupted; so whoever may be in one leaves
 * the start to another, unless it is in a call that no handler makes, nor any malloc. */
static bool may_start(bool in_handler)
{
	return !in_handler || (!own_malloc && !may_be_handler());
}

/* `in_handler`: perhaps. In a process that is at its end a helper would have less to do than it takes to begin and to be
 * waited for. One that the child of a vfork started would be a thread of that child: it would die with it, in the middle of
 * anything, and leave its parent, whose memory it is, with locks that nobody gives back. */
static void begin_helping(bool in_handler)
{
	int none = NO_HELPER;

	if (sys(SYS_getpid) != dprof_process_pid() || dprof_process_ends())
		return;
	process = dprof_process_pid(); /* before anybody can ask */
	if (!is_sanitized() && dprof_any_thread() && may_start(in_handler) &&
	    __atomic_compare_exchange_n(&state, &none, HELPER, false, __ATOMIC_SEQ_CST,
					__ATOMIC_SEQ_CST))
		dprof_call(start);
}

void dprof_helper_wake(void)
{
	__atomic_fetch_add(&work, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&state, __ATOMIC_SEQ_CST) == NO_HELPER)
		begin_helping(true);
	else if (__atomic_load_n(&sleeping, __ATOMIC_SEQ_CST))
		sys(SYS_futex, &work, FUTEX_WAKE_PRIVATE, 1);
}

void dprof_helper_wanted(bool in_handler)
{
	static __thread unsigned asked;

	if (__atomic_load_n(&state, __ATOMIC_RELAXED) == NO_HELPER && (!in_handler || asked++ % PATIENCE == 0))
		begin_helping(in_handler);
}

/* ---- Its end ---------------------------------------------------------------------------------- */

/* A thread is nothing to the C library any more when it is nothing to the kernel. */
static bool is_gone(void)
{
	uint32_t thread = __atomic_load_n(&id, __ATOMIC_SEQ_CST);

	if (!thread) /* it could not begin, or is about to */
		return __atomic_load_n(&state, __ATOMIC_SEQ_CST) == CANNOT_HELP;
	return sys(SYS_tgkill, sys(SYS_getpid), thread, 0) != 0;
}

static void wait_until_gone(void)
{
	struct timespec patience = { .tv_nsec = SHORTEST_WAIT_NS };

	for (int i = 0; i < GONE_WAITS && !is_gone(); i++) {
		sys(SYS_nanosleep, &patience, NULL);
		if (patience.tv_nsec < LONGEST_WAIT_NS)
			patience.tv_nsec += patience.tv_nsec / 2;
	}
}

void dprof_helper_dismiss(void)
{
	int now = HELPER, dismissed = DISMISSED;

	if (!__atomic_compare_exchange_n(&state, &now, DISMISSED, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) &&
	    now != CANNOT_HELP)
		return; /* there is none, or whoever dismissed it waits */
	dprof_helper_wake();
	wait_until_gone();
	if (is_gone())
		__atomic_compare_exchange_n(&state, &dismissed, NO_HELPER, false, __ATOMIC_SEQ_CST,
					    __ATOMIC_SEQ_CST);
}

void dprof_helper_finish(void)
{
	struct timespec patience = { .tv_nsec = FINISH_WAIT_NS };
	uint32_t asked, seen;

	if (!dprof_helper_there())
		return;
	dprof_helper_wake();
	asked = __atomic_load_n(&work, __ATOMIC_SEQ_CST);
	for (int i = 0; i < FINISH_WAITS; i++) {
		seen = __atomic_load_n(&rested, __ATOMIC_SEQ_CST);
		if ((int32_t)(seen - asked) >= 0)
			return;
		sys(SYS_futex, &rested, FUTEX_WAIT_PRIVATE, seen, &patience);
	}
}

bool dprof_helper_possible(void)
{
	return !is_sanitized() && __atomic_load_n(&state, __ATOMIC_RELAXED) != CANNOT_HELP;
}

const char *dprof_helper_absent(void)
{
	return is_sanitized() ? "dprof starts no helper beside a sanitizer" : absent;
}

bool dprof_helper_there(void)
{
	return __atomic_load_n(&state, __ATOMIC_SEQ_CST) == HELPER;
}

void dprof_helper_forget(void)
{
	state = NO_HELPER;
	absent = HANDLERS;
	for (size_t i = 0; i < QUESTIONS; i++)
		questions[i].state = UNUSED;
	id = 0;
	sleeping = false;
	dprof_supervised = false;
}
