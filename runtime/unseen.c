/* SPDX-License-Identifier: MIT
 *
 * unseen.c - see unseen.h. */
#include "runtime/unseen.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/single_threaded.h>
#include <time.h>

#include "runtime/adapter.h"
#include "runtime/process.h"
#include "runtime/sched.h"
#include "runtime/sys.h"
#include "runtime/thread.h"

#define OWN_THREADS 32 /* at a time: the helper, who measures clocks, MPI's */
#define LOOK_TICKS  (UINT64_C(1) << 30) /* 0.2 to 0.5 s */
#define WORTH_NS    1000000
#define LINES       64 /* it has grown by this part of what was said */

/* A library's thread ends without a word: then it counts as what it had run when it was asked for the last time. */
static struct { uint32_t id; uint64_t ns; } own[OWN_THREADS]; /* id 0: free */
static uint64_t own_past, own_ended, said, looked;

/* ---- Threads that are not the program's -------------------------------------------------------- */

static bool replace(uint32_t *id, uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(id, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static bool is_own(uint32_t id)
{
	for (int i = 0; i < OWN_THREADS; i++)
		if (__atomic_load_n(&own[i].id, __ATOMIC_SEQ_CST) == id)
			return true;
	return false;
}

static void add(uint32_t id)
{
	for (int i = 0; i < OWN_THREADS && !is_own(id); i++)
		if (replace(&own[i].id, 0, id))
			return;
}

void dprof_unseen_own_begins(void)
{
	add((uint32_t)sys(SYS_gettid));
}

static void count_as_past(uint64_t ns)
{
	__atomic_fetch_add(&own_past, ns, __ATOMIC_SEQ_CST);
}

static void is_over(int i)
{
	own[i].ns = 0;
	__atomic_store_n(&own[i].id, 0, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&own_ended, 1, __ATOMIC_SEQ_CST);
}

void dprof_unseen_own_ends(void)
{
	uint32_t id = (uint32_t)sys(SYS_gettid);

	for (int i = 0; i < OWN_THREADS; i++)
		if (own[i].id == id) {
			count_as_past(dprof_sched_cpu(id));
			is_over(i);
		}
}

void dprof_adapter_own_thread(bool begins)
{
	if (begins)
		dprof_unseen_own_begins();
	else
		dprof_unseen_own_ends();
}

static uint64_t own_ns(void)
{
	uint64_t sum = __atomic_load_n(&own_past, __ATOMIC_SEQ_CST);

	for (int i = 0; i < OWN_THREADS; i++) {
		uint32_t id = __atomic_load_n(&own[i].id, __ATOMIC_SEQ_CST);
		uint64_t ns = id ? dprof_sched_cpu(id) : 0;

		if (ns > own[i].ns)
			own[i].ns = ns;
		sum += id ? own[i].ns : 0;
	}
	return sum;
}

/* ---- What is left ------------------------------------------------------------------------------ */

/* 0: there is no such clock. */
static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	return sys(SYS_clock_gettime, clock, &t) < 0 ? 0 : frz_ns(&t);
}

static uint64_t above(uint64_t ns, uint64_t known)
{
	return ns > known ? ns - known : 0;
}

/* The process is asked last: so what is left is rather too much. */
static uint64_t left_of(uint64_t known)
{
	known += own_ns();
	return above(clock_ns(CLOCK_PROCESS_CPUTIME_ID), known);
}

/* The process is asked first: so what is left out is rather too little. */
void dprof_unseen_begin(void)
{
	uint64_t all = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	if (__libc_single_threaded)
		own_past = above(all, clock_ns(CLOCK_THREAD_CPUTIME_ID));
}

static void say(uint64_t ns, uint64_t ended)
{
	char line[96];
	int n = snprintf(line, sizeof(line), "unseen %llu cpu=%llu ended=%llu\n", (unsigned long long)dprof_now(),
			 (unsigned long long)ns, (unsigned long long)(ended + own_ended));

	said = ns;
	dprof_process_append(line, (size_t)n);
}

void dprof_unseen_look(uint64_t now)
{
	uint64_t recorded, ended, ns;

	if (now - looked < LOOK_TICKS || !dprof_threads_cpu(false, &recorded, &ended))
		return;
	looked = now;
	ns = left_of(recorded);
	if (ns >= said + said / LINES + WORTH_NS)
		say(ns, ended);
}

void dprof_unseen_say(void)
{
	uint64_t recorded, ended;

	if (dprof_threads_cpu(true, &recorded, &ended))
		say(left_of(recorded), ended);
}

/* ---- Libraries --------------------------------------------------------------------------------- */

/* The calling thread may have recorded nothing yet: it counts as one that has. The first time pages are touched that the
 * second finds there. */
static uint64_t left_but_caller(void)
{
	uint64_t recorded, ended, left = 0;

	for (int i = 0; i < 2 && dprof_threads_cpu(true, &recorded, &ended); i++)
		left = left_of(recorded + (dprof_self ? 0 : dprof_sched_cpu((uint64_t)sys(SYS_gettid))));
	return left;
}

struct unseen_entry { uint64_t number, offset; uint16_t length; uint8_t type; char name[]; }; /* as the kernel has it */

static void list_entries(const char *from, long n, struct dprof_library_call *to)
{
	for (long at = 0; at < n; at += ((const struct unseen_entry *)(from + at))->length) {
		const struct unseen_entry *e = (const struct unseen_entry *)(from + at);
		uint32_t id = (uint32_t)strtoul(e->name, NULL, 10);

		if (id && to->threads++ < DPROF_THREADS_LISTED)
			to->thread[to->threads - 1] = id;
	}
}

static long list_threads(void *list)
{
	char entries[2048] __attribute__((aligned(8)));
	int fd = (int)sys(SYS_open, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	long n;

	while (fd >= 0 && (n = sys(SYS_getdents64, fd, entries, sizeof(entries))) > 0)
		list_entries(entries, n, list);
	if (fd >= 0)
		sys(SYS_close, fd);
	return 0;
}

static bool is_listed(const struct dprof_library_call *l, uint32_t id)
{
	for (unsigned i = 0; i < l->threads; i++)
		if (l->thread[i] == id)
			return true;
	return false;
}

/* What a thread of the library had run stays counted. */
static void see_ended(const struct dprof_library_call *before, const struct dprof_library_call *now)
{
	for (int i = 0; i < OWN_THREADS; i++)
		if (own[i].id && is_listed(before, own[i].id) && !is_listed(now, own[i].id)) {
			count_as_past(own[i].ns);
			is_over(i);
		}
}

void dprof_adapter_library_begins(struct dprof_library_call *before)
{
	before->threads = 0;
	if (dprof_off)
		return;
	dprof_do_apart(list_threads, before);
	before->unseen_ns = left_but_caller();
}

/* Where there are more threads than are listed, none is known to have come. */
void dprof_adapter_library_ends(const struct dprof_library_call *before)
{
	struct dprof_library_call now = { .threads = 0 };
	uint64_t unseen;

	if (dprof_off || !before->threads || before->threads > DPROF_THREADS_LISTED)
		return;
	unseen = left_but_caller();
	count_as_past(unseen > before->unseen_ns ? unseen - before->unseen_ns : 0);
	dprof_do_apart(list_threads, &now);
	if (now.threads > DPROF_THREADS_LISTED)
		return;
	see_ended(before, &now);
	for (unsigned i = 0; i < now.threads; i++) {
		uint32_t id = now.thread[i];

		if (is_listed(before, id) || is_own(id) || dprof_threads_have(id))
			continue;
		count_as_past(-dprof_sched_cpu(id)); /* it is in what was added */
		add(id);
	}
}

void dprof_unseen_forget(void)
{
	own_past = own_ended = said = 0;
	for (int i = 0; i < OWN_THREADS; i++)
		own[i].id = 0, own[i].ns = 0;
}
