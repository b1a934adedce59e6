/* SPDX-License-Identifier: MIT
 *
 * thread.c - threads begin, end, and are listed.
 *
 * The list only grows; a structure whose thread ended serves the next one, found without a search: what it
 * costs to begin or end a thread does not depend on how many there are or were. */
#include "runtime/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "runtime/adapter.h"
#include "runtime/count.h"
#include "runtime/nursery.h"
#include "runtime/pack.h"
#include "runtime/packed.h"
#include "runtime/process.h"
#include "runtime/sched.h"
#include "runtime/settings.h"
#include "runtime/sys.h"

/* The end of the process waits so often for the lock, 10 s in all: whoever holds it has blocked all signals and
 * needs some microseconds, but may not get a core, or may have been stopped. */
#define LOCK_TRIES   10000
#define HELPER_LOOKS_NS 50000 /* while it waits for a lock: what is asked of it */
#define LOCK_WAIT_NS 1000000

#define YOUNG_TICKS (INT64_C(1) << 24) /* 3 to 8 ms */
#define LOOK_TICKS  (INT64_C(1) << 30) /* 0.2 to 0.5 s; and then, of a thread's life, ... */
#define LOOKS       64                 /* ... this part */

/* So many threads may have chunks of DPROF_BUFFER. One that begins among more has smaller ones, so that all of them
 * had no more if they were like it; but none so small that it is not worth packing. */
#define LARGE_THREADS 64
#define LARGEST_LEAST ((size_t)64 << 10)

#define MISSING_LINES 64 /* of threads without a file, at most */

static struct dprof_thread *all;
static uint32_t begun; /* in this process: the number of the next */
static int alive;      /* threads that are counted: thread.h */
static pthread_key_t key;
static bool has_key;
#define NOT_RECORDING ((void *)&key) /* its value in a thread that is counted all the same */
static __thread bool gone; /* its destructor ran */
static __thread uint32_t promised; /* the calling thread's number, and 1; or 0 */
static __thread uint64_t jumped;       /* stamp: since its fork, before it recorded anything; or 0 */
static __thread uint64_t unmade, made; /* it was not there before this stamp, or 0; and was at that, or 0: when it records */

/* Held while a thread takes its mappings down, so that the end of the process does not write
 * there. A futex: threads end after ThreadSanitizer has forgotten them, and it would look at a
 * mutex. */
static enum { UNLOCKED, LOCKED, WAITED_FOR } taking_down;

static bool try_lock(void)
{
	int unlocked = UNLOCKED;

	return __atomic_compare_exchange_n((int *)&taking_down, &unlocked, LOCKED, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* Likewise, of one who waits where that is not so, but not for longer than this. */
static bool lock_or_wait(const struct timespec *patience)
{
	if (__atomic_exchange_n((int *)&taking_down, WAITED_FOR, __ATOMIC_ACQUIRE) == UNLOCKED)
		return true;
	sys(SYS_futex, &taking_down, FUTEX_WAIT_PRIVATE, WAITED_FOR, patience);
	return false;
}

/* Whoever holds it may have asked something of the helper (dprof_do_apart). */
static void lock(void)
{
	struct timespec soon = { .tv_nsec = HELPER_LOOKS_NS };

	if (try_lock())
		return;
	do
		if (dprof_is_apart())
			dprof_helper_answer();
	while (!lock_or_wait(dprof_is_apart() ? &soon : NULL));
}

static void unlock(void)
{
	if (__atomic_exchange_n((int *)&taking_down, UNLOCKED, __ATOMIC_RELEASE) == WAITED_FOR)
		sys(SYS_futex, &taking_down, FUTEX_WAKE_PRIVATE, 1);
}

/* A stack of structures whose threads ended: address and, below it, how often it changed. Structures begin at
 * pages and users' addresses have 47 bits, so both fit; and whoever was interrupted between reading the top and
 * taking it notices that others came and went. In a handler, too, so there is no lock. */
#define CHANGES_BITS 28
#define ADDRESS_UP   (CHANGES_BITS - 12)

static uint64_t free_ones;

static struct dprof_thread *top_of(uint64_t stack)
{
	return (struct dprof_thread *)(stack >> CHANGES_BITS << 12);
}

static uint64_t changed(uint64_t stack, const struct dprof_thread *top)
{
	uint64_t changes = (stack + 1) & ((UINT64_C(1) << CHANGES_BITS) - 1);

	return (uint64_t)top << ADDRESS_UP | changes;
}

/* Only the caller knows of t any more, but for what looks at all. */
static void set_free(struct dprof_thread *t)
{
	uint64_t stack = __atomic_load_n(&free_ones, __ATOMIC_RELAXED);

	__atomic_store_n(&t->supply, SUPPLY_FREE, __ATOMIC_RELEASE);
	do
		__atomic_store_n(&t->below, top_of(stack), __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&free_ones, &stack, changed(stack, t), false,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

static struct dprof_thread *reuse(void)
{
	uint64_t stack = __atomic_load_n(&free_ones, __ATOMIC_ACQUIRE);
	struct dprof_thread *t, *below;

	do {
		t = top_of(stack);
		if (!t)
			return NULL;
		below = __atomic_load_n(&t->below, __ATOMIC_RELAXED);
	} while (!__atomic_compare_exchange_n(&free_ones, &stack, changed(stack, below), false,
					      __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE));
	__atomic_store_n(&t->supply, SUPPLY_NONE, __ATOMIC_RELEASE);
	return t;
}

static struct dprof_thread *allocate(void)
{
	struct dprof_thread *t = reuse();
	long at;

	if (t)
		return t;
	at = sys(SYS_mmap, NULL, sizeof(*t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		 -1);
	if (sys_failed(at))
		return NULL;
	t = (struct dprof_thread *)at;
	t->supply = SUPPLY_NONE;
	t->following = __atomic_load_n(&all, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&all, &t->following, t, false, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
	return t;
}

static size_t largest_chunk(void)
{
	size_t threads = (size_t)__atomic_load_n(&alive, __ATOMIC_RELAXED) + 1, bytes = dprof_settings.chunk_bytes;

	while (bytes * threads > dprof_settings.chunk_bytes * LARGE_THREADS && bytes / 2 >= LARGEST_LEAST)
		bytes = bytes / 2 / DPROF_HEADER_SIZE * DPROF_HEADER_SIZE;
	return bytes;
}

static void clean(struct dprof_thread *t)
{
	memset(t->chunk, 0, sizeof(t->chunk));
	t->header = NULL;
	t->current = NULL;
	t->chunk_end = t->before = NULL;
	t->kept_bytes = DPROF_HEADER_SIZE;
	t->made_bytes = t->file_bytes = 0;
	t->largest = largest_chunk();
	t->numbers = t->packed_bytes = 0;
	t->lost_unwritten = 0;
	t->why = DPROF_WHY_REFUSED;
	t->refused = t->destructor_rounds = 0;
	t->last = NULL;
	t->hold = HOLD_NONE;
	t->serving = 0;
	t->rewriting = 0;
	t->has_hole = t->ends = false;
	t->checked = t->begun = t->looked = dprof_now();
}

/* `known` is written last: the process may be killed any time. */
static void keep_sched(struct dprof_sched *at, struct dprof_sched s)
{
	uint32_t known = s.known;

	s.known = 0;
	*at = s;
	__atomic_store_n(&at->known, known, __ATOMIC_RELEASE);
}

bool dprof_jumps_told, dprof_ending;

static void write_header(struct dprof_events_header *h, uint32_t bytes, uint32_t number, size_t largest)
{
	char name[sizeof(h->name)];

	h->version = DPROF_FORMAT_VERSION;
	h->header_size = bytes;
	h->word_size = sizeof(uint64_t);
	h->thread = number;
	h->rank = dprof_process_rank();
	h->pid = (uint64_t)dprof_process_given_pid();
	h->tid = sys(SYS_getpid) == dprof_process_pid() ? (uint64_t)sys(SYS_gettid) : 0;
	h->started = dprof_now();
	prctl(PR_GET_NAME, name); /* not into h: it takes long until the kernel may write to one more page */
	memcpy(h->name, name, sizeof(h->name));
	h->largest_chunk = largest;
	h->first_chunk = dprof_first_chunk();
	if (dprof_jumps_told)
		h->jumps = jumped ? (struct dprof_jumps){ jumped, ~jumped } : (struct dprof_jumps){ DPROF_JUMPS_NONE, ~DPROF_JUMPS_NONE };
	__atomic_thread_fence(__ATOMIC_RELEASE);
	memcpy(h->magic, DPROF_EVENTS_MAGIC, sizeof(h->magic));
}

uint32_t dprof_thread_reserve(void)
{
	return __atomic_fetch_add(&begun, 1, __ATOMIC_SEQ_CST); /* before nursery.c looks at it */
}

void dprof_thread_return(uint32_t number)
{
	uint32_t next = number + 1; /* unless there is another one since */

	__atomic_compare_exchange_n(&begun, &next, number, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
}

void dprof_thread_be(uint32_t number, uint64_t before)
{
	promised = number + 1;
	unmade = before;
}

void dprof_thread_was_forked(uint64_t from, uint64_t to)
{
	unmade = from;
	made = to;
	jumped = 0;
}

void dprof_thread_jumps(void)
{
	if (made && !jumped)
		jumped = dprof_now();
}

static uint32_t take_number(void)
{
	uint32_t number = promised ? promised - 1 : dprof_thread_reserve();

	promised = 0;
	return number;
}

/* ---- Which threads have files ----------------------------------------------------------------- */

/* Of those with numbers up to this one it is known which have a file; it is never so of more. */
#define LISTED_THREADS ((uint32_t)1 << 16)

static uint64_t has_file[LISTED_THREADS / 64]; /* bits */

static void note_file(uint32_t number)
{
	if (number < LISTED_THREADS)
		__atomic_fetch_or(&has_file[number / 64], UINT64_C(1) << number % 64, __ATOMIC_RELAXED);
}

static bool is_noted(uint32_t number)
{
	return number < LISTED_THREADS &&
	       __atomic_load_n(&has_file[number / 64], __ATOMIC_RELAXED) >> number % 64 & 1;
}

bool dprof_threads_list(char *to, size_t size, uint32_t *from)
{
	size_t n = 0, most = sizeof("4294967295-4294967295,");
	uint32_t first, i = *from;

	while (n + most < size && i < LISTED_THREADS) {
		while (i < LISTED_THREADS && !is_noted(i))
			i = has_file[i / 64] ? i + 1 : (i / 64 + 1) * 64;
		for (first = i; is_noted(i); i++)
			;
		if (i > first)
			n += (size_t)snprintf(to + n, size - n, i - first > 1 ? "%s%u-%u" : "%s%u",
					      n ? "," : "", first, i - 1);
	}
	*from = i;
	return n > 0;
}

/* Said once, while there is room for lines that say so. The next try has the same number. */
static void say_missing(uint32_t number, enum dprof_why why)
{
	static unsigned lines;
	static __thread bool said;
	char line[64];
	int n;

	promised = number + 1;
	__atomic_fetch_or(&dprof_why_homeless, UINT64_C(1) << why, __ATOMIC_RELAXED);
	if (said || __atomic_fetch_add(&lines, 1, __ATOMIC_RELAXED) >= MISSING_LINES)
		return;
	said = true;
	n = snprintf(line, sizeof(line), "missing %u why=%s\n", number, dprof_why_word(why));
	dprof_process_append(line, (size_t)n);
}

_Static_assert(sizeof(struct dprof_events_header) <= DPROF_SLOT_HEADER, "a header does not fit into a slot");

/* Both: the header and, behind it, the first chunk. */

static bool begin_in_slot(struct dprof_thread *t, uint32_t number)
{
	char *slot = number > 0 ? dprof_nursery_take(number) : NULL;

	if (!slot)
		return false;
	t->header = (struct dprof_events_header *)slot;
	t->chunk[0] = (struct dprof_chunk){ .state = CHUNK_CLEAN,
					    .in_slot = true,
					    .start = (uint64_t *)(slot + DPROF_SLOT_HEADER),
					    .bytes = DPROF_SLOT - DPROF_SLOT_HEADER,
					    .offset = (uint64_t)number * DPROF_SLOT + DPROF_SLOT_HEADER };
	write_header(t->header, DPROF_SLOT_HEADER, number, t->largest);
	return true;
}

static bool begin_in_file(struct dprof_thread *t, uint32_t number)
{
	size_t bytes = dprof_first_chunk();
	long start = dprof_file_map(t->path, O_CREAT | O_EXCL, 0, DPROF_HEADER_SIZE + bytes);

	if (sys_failed(start)) {
		say_missing(number, dprof_why_refused(start));
		return false;
	}
	t->made_bytes = bytes;
	t->file_bytes = DPROF_HEADER_SIZE + bytes;
	t->header = (struct dprof_events_header *)start;
	t->chunk[0] = (struct dprof_chunk){ .state = CHUNK_CLEAN,
					    .start = (uint64_t *)(start + (long)DPROF_HEADER_SIZE),
					    .bytes = bytes,
					    .offset = DPROF_HEADER_SIZE };
	write_header(t->header, DPROF_HEADER_SIZE, number, t->largest);
	return true;
}

/* By hand: printf() takes 1.6 KB of a stack, each time that a thread begins. */
static bool name_file(struct dprof_thread *t, uint32_t number)
{
	char suffix[] = "-4294967295.events", *at = suffix + sizeof("-4294967295") - 1;

	do
		*--at = (char)('0' + number % 10);
	while (number /= 10);
	*--at = '-';
	return dprof_process_path(t->path, sizeof(t->path), at);
}

static bool begin_somewhere(struct dprof_thread *t)
{
	uint32_t number = take_number();

	if (!name_file(t, number))
		return false;
	if (!begin_in_slot(t, number) && !begin_in_file(t, number))
		return false;
	t->owner = dprof_part_owner(t->header);
	note_file(number);
	return true;
}

/* Nothing had been counted of a thread when it was made, which was behind a stamp. */
static void keep_first_sched(struct dprof_thread *t)
{
	if (!unmade)
		return;
	keep_sched(&t->header->sched[0],
		   (struct dprof_sched){ .from = unmade, .to = made ? made : t->begun,
					 .known = DPROF_SCHED_CPU | DPROF_SCHED_DELAY | DPROF_SCHED_INVOLUNTARY | DPROF_SCHED_MOVES });
	t->looked = unmade;
	unmade = made = 0;
}

/* A thread that is counted may start a helper, and is not the last to be without having waited for its end. */
static void count_in(void)
{
	__atomic_fetch_add(&alive, 1, __ATOMIC_SEQ_CST);
}

static bool first_ended; /* the process's first thread, by pthread_exit(): so the last one calls exit() */
static uint64_t past_ns, past_threads; /* of those that ended */
static __thread uint64_t own_past_ns;  /* of these */
static uint64_t in_exit; /* tid: the thread that go_on_in_exit() found, whether it has recorded anything since or not; or 0 */

/* What functions of atexit() and destructors do there is recorded as by one more thread, which ends with the process: exit()
 * does not come back, so its memory stays. The kernel goes on counting where it was. */
static void go_on_in_exit(void)
{
	if (!gone)
		return;
	lock();
	past_ns -= own_past_ns;
	past_threads--;
	in_exit = (uint64_t)sys(SYS_gettid);
	unlock();
	gone = false;
}

#define EXITS_MOST 32 /* so many have memory in the C library */

/* While it records, since the C library may call the program's malloc. What is asked for last is called first: so by the last
 * thread, though it cannot know; and, if others end at the same time, by the first one before. */
static void expect_exit(void)
{
	static unsigned exits;
	bool first = sys(SYS_gettid) == sys(SYS_getpid);
	bool last = first_ended && __atomic_load_n(&alive, __ATOMIC_SEQ_CST) == 1;

	if ((first || last) && __atomic_fetch_add(&exits, 1, __ATOMIC_RELAXED) < EXITS_MOST)
		atexit(go_on_in_exit);
}

static void count_out(void)
{
	if (sys(SYS_gettid) == sys(SYS_getpid))
		__atomic_store_n(&first_ended, true, __ATOMIC_SEQ_CST);
	if (__atomic_sub_fetch(&alive, 1, __ATOMIC_SEQ_CST) == 0)
		dprof_helper_dismiss();
}

void dprof_thread_begin(void *unused)
{
	int saved_errno = errno;
	struct dprof_thread *t = NULL;
	bool counted;

	(void)unused;
	counted = pthread_getspecific(key) != NULL;
	if (gone)
		__atomic_fetch_or(&dprof_why_homeless, UINT64_C(1) << DPROF_WHY_ENDED, __ATOMIC_RELAXED);
	if (!gone && dprof_process_begin())
		t = allocate();
	if (t) {
		clean(t);
		if (!counted)
			count_in();
		if (pthread_setspecific(key, t) == 0 && begin_somewhere(t)) {
			keep_first_sched(t);
			t->open = &dprof_adapter_open_call;
			__atomic_store_n(&t->cursor, &__dprof_cursor, __ATOMIC_RELEASE);
			dprof_self = t;
		} else {
			pthread_setspecific(key, counted ? NOT_RECORDING : NULL);
			set_free(t);
			if (!counted)
				count_out();
		}
	}
	errno = saved_errno;
}

/* No other makes chunks of t when this returns. */
static void stop_supply(struct dprof_thread *t)
{
	int state = SUPPLY_WANTED;

	while (!__atomic_compare_exchange_n(&t->supply, &state, SUPPLY_NONE, false,
					    __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE) &&
	       state == SUPPLY_MAKING) {
		sys(SYS_futex, &t->supply, FUTEX_WAIT_PRIVATE, SUPPLY_MAKING, NULL);
		state = SUPPLY_WANTED;
	}
}

/* All but the header, or the slot that it is in: one page, which it returns. */
static void *unmap_chunks(struct dprof_thread *t)
{
	void *header = __atomic_exchange_n(&t->header, NULL, __ATOMIC_SEQ_CST); /* first, as dprof_chunk_unmap() says */

	for (struct dprof_chunk *c = t->chunk; c < t->chunk + DPROF_CHUNKS; c++)
		if (c->state != CHUNK_NONE && !c->in_slot)
			dprof_chunk_unmap(c);
	return header;
}

/* Outside of the lock: who reads files, and perhaps waits for the helper, would have all wait that end. */
static struct dprof_sched last_counts(struct dprof_thread *t)
{
	lock();
	t->ends = true;
	unlock();
	return dprof_sched_last(dprof_now() - t->begun > YOUNG_TICKS);
}

/* Nothing is recorded here any more. */
static void close_cursor(struct dprof_thread *t, struct dprof_sched last)
{
	uint64_t *next = __dprof_cursor.next;

	__dprof_cursor = (struct dprof_cursor){ DPROF_NOWHERE, NULL };
	t->cursor = NULL;
	dprof_self = NULL;
	gone = true;
	if (!dprof_chunk_is_left(t)) {
		if (t->lost_unwritten && next < t->chunk_end)
			*next++ = dprof_escape_word(DPROF_ESCAPE_LOST, 0, t->lost_unwritten);
		t->current->claimed = next < t->chunk_end ? next : t->chunk_end;
	}
	if (t->header->ended) /* its process was faster: the header has its sum */
		return;
	keep_sched(&t->header->sched[1], last);
	own_past_ns = last.known & DPROF_SCHED_CPU ? last.cpu_ns : 0;
	past_ns += own_past_ns;
	past_threads++;
	dprof_end_thread(t);
}

void dprof_thread_gone(struct dprof_thread *t)
{
	uint32_t number;

	lock();
	dprof_chunks_seal(t, true);
	for (const struct dprof_chunk *c = t->chunk; c < t->chunk + DPROF_CHUNKS; c++)
		if (c->state >= CHUNK_CURRENT)
			dprof_count_chunk(c);
	if (t->file_bytes)
		sys(SYS_truncate, t->path, dprof_chunks_end(t));
	number = t->header->thread;
	dprof_nursery_leave(number, unmap_chunks(t));
	set_free(t);
	unlock();
}

/* Which packs what it began, and more than one chunk of it; a single one stays as it is, and only has its file
 * cut behind it. */
static void leave_to_helper(struct dprof_thread *t)
{
	if (t->numbers > 1 && !dprof_chunk_is_left(t)) {
		t->current->hole = NULL;
		__atomic_store_n(&t->current->state, CHUNK_FULL, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&t->supply, SUPPLY_ENDED, __ATOMIC_RELEASE);
}

/* What a handler would record in a thread that has ended would be lost. So those that can wait stay blocked for the little
 * that the C library still does there, and go to other threads; but not in one that may be the process's last and call
 * exit(). */
static uint64_t blocked_to_its_end(uint64_t before)
{
	return __atomic_load_n(&first_ended, __ATOMIC_SEQ_CST) ? before : before | DPROF_SIGNALS_OF_PROGRAM;
}

/* Other destructors may record, too, or work: ours comes back until the last round. */
static void end(void *value)
{
	struct dprof_thread *t = value;
	uint64_t waiting = DPROF_SIGNALS_THAT_WAIT, before = 0;
	struct dprof_sched last;

	if (value == NOT_RECORDING) {
		expect_exit();
		count_out();
		return;
	}
	if (++t->destructor_rounds < PTHREAD_DESTRUCTOR_ITERATIONS &&
	    pthread_setspecific(key, t) == 0)
		return;
	expect_exit();
	if (t->last)
		dprof_adapter_point(t->last);
	stop_supply(t);
	/* no handler may record from here on */
	sys(SYS_rt_sigprocmask, SIG_BLOCK, &waiting, &before, sizeof(waiting));
	last = last_counts(t);
	lock();
	close_cursor(t, last);
	unlock();
	if (!t->file_bytes || (!dprof_helper_there() && dprof_chunks_take(t))) {
		dprof_thread_gone(t);
	} else {
		leave_to_helper(t);
		dprof_helper_wake();
	}
	count_out();
	before = blocked_to_its_end(before);
	sys(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
}

void dprof_adapter_thread_leaves(void)
{
	int saved_errno = errno;
	void *value = has_key ? pthread_getspecific(key) : NULL;

	if (value && value != NOT_RECORDING)
		((struct dprof_thread *)value)->destructor_rounds = PTHREAD_DESTRUCTOR_ITERATIONS;
	if (value && pthread_setspecific(key, NULL) == 0)
		end(value);
	errno = saved_errno;
}

/* What the helper did not come to. */
static void cut(const struct dprof_thread *t)
{
	if (t->numbers == 1 && __atomic_load_n(&t->supply, __ATOMIC_ACQUIRE) == SUPPLY_ENDED)
		sys(SYS_truncate, t->path, dprof_chunks_end(t));
}

static void end_with_process(struct dprof_thread *t, uint64_t stamp)
{
	dprof_chunks_give_back(t);
	dprof_chunks_seal(t, t->header->ended != 0);
	if (t->header->ended) {
		cut(t);
		return;
	}
	if (t->cursor)
		keep_sched(&t->header->sched[1], dprof_sched_read(t->header->tid));
	dprof_end_with_process(t, stamp);
}

static bool lock_at_end(void)
{
	struct timespec patience = { .tv_nsec = LOCK_WAIT_NS };

	for (int i = 0; i < LOCK_TRIES; i++)
		if (lock_or_wait(&patience))
			return true;
	return false;
}

bool dprof_threads_cpu(bool waits, uint64_t *ns, uint64_t *ended)
{
	if (!(waits ? lock_at_end() : try_lock()))
		return false;
	*ns = past_ns + dprof_sched_cpu(in_exit);
	*ended = past_threads;
	for (struct dprof_thread *t = dprof_threads(); t; t = t->following)
		if (__atomic_load_n(&t->cursor, __ATOMIC_ACQUIRE) && t->header->tid != in_exit)
			*ns += dprof_sched_cpu(t->header->tid);
	unlock();
	return true;
}

bool dprof_threads_have(uint64_t tid)
{
	bool found = false;

	if (!lock_at_end())
		return true;
	for (struct dprof_thread *t = dprof_threads(); t && !found; t = t->following)
		found = __atomic_load_n(&t->cursor, __ATOMIC_ACQUIRE) && t->header->tid == tid;
	unlock();
	return found;
}

/* Records that other threads, or what the C library runs after us, still make are kept: current chunks stay mapped,
 * and files as long as they are. */
struct dprof_count dprof_threads_end(uint64_t stamp)
{
	struct dprof_count count = { 0 };
	struct dprof_thread *t;

	__atomic_store_n(&dprof_ending, true, __ATOMIC_SEQ_CST);
	dprof_wait_for_begins();
	for (t = __atomic_load_n(&all, __ATOMIC_ACQUIRE); t; t = t->following)
		dprof_polling_ends(t);
	dprof_chunk_finish();
	if (lock_at_end()) {
		dprof_chunks_leave();
		unlock();
	}
	dprof_helper_finish();
	if (!lock_at_end())
		return count;
	for (t = __atomic_load_n(&all, __ATOMIC_ACQUIRE); t; t = t->following)
		if (__atomic_load_n(&t->supply, __ATOMIC_ACQUIRE) != SUPPLY_FREE && t->header)
			end_with_process(t, stamp);
	if (dprof_self)
		dprof_chunk_shrink(dprof_self);
	count = dprof_count_all();
	unlock();
	return count;
}

bool dprof_threads_prepare_slots(void)
{
	return dprof_nursery_make(&begun);
}

bool dprof_any_thread(void)
{
	return __atomic_load_n(&alive, __ATOMIC_SEQ_CST) > 0;
}

bool dprof_only_thread(void)
{
	return __atomic_load_n(&alive, __ATOMIC_SEQ_CST) == (pthread_getspecific(key) != NULL);
}

/* A thread's cursor goes when the thread does; so not while one is taken down. Then the next look
 * is soon enough. */
bool dprof_threads_slow_down(void)
{
	struct dprof_thread *t;

	if (!try_lock())
		return false;
	for (t = __atomic_load_n(&all, __ATOMIC_ACQUIRE); t; t = t->following) {
		struct dprof_cursor *cursor = __atomic_load_n(&t->cursor, __ATOMIC_ACQUIRE);

		if (cursor)
			__atomic_store_n(&cursor->end, NULL, __ATOMIC_RELEASE);
	}
	unlock();
	return true;
}

struct dprof_thread *dprof_threads(void)
{
	return __atomic_load_n(&all, __ATOMIC_ACQUIRE);
}

/* The longer a thread runs the more seldom, so that there are not many lines of it; but once it has run for a
 * little while. */
static bool is_due(const struct dprof_thread *t, uint64_t now)
{
	int64_t since = (int64_t)(now - t->looked), age = (int64_t)(now - t->begun);

	if (t->looked == t->begun)
		return age > YOUNG_TICKS;
	return since > LOOK_TICKS && since > age / LOOKS;
}

/* Not once the process has ended: what it kept of the thread is summed then (end.c). */
static void look_at(struct dprof_thread *t, uint64_t now)
{
	struct dprof_sched s;
	bool first;

	if (!t->cursor || t->ends || !is_due(t, now))
		return;
	first = t->looked == t->begun;
	t->looked = now;
	if (t->header->ended)
		return;
	s = dprof_sched_read(t->header->tid);
	if (first)
		keep_sched(&t->header->sched[0], s);
	else
		dprof_sched_line(t->header->thread, &s);
}

bool dprof_threads_look(uint64_t now)
{
	bool soon = false;

	for (struct dprof_thread *t = dprof_threads(); t; t = t->following) {
		if (!__atomic_load_n(&t->cursor, __ATOMIC_ACQUIRE))
			continue;
		if (is_due(t, now) && try_lock()) {
			look_at(t, now);
			unlock();
		}
		soon |= t->looked == t->begun;
	}
	return soon;
}

static void make_wanted(struct dprof_thread *t)
{
	int result = dprof_chunk_make(t) < 0 ? SUPPLY_REFUSED : SUPPLY_READY;

	__atomic_store_n(&t->supply, result, __ATOMIC_RELEASE);
	sys(SYS_futex, &t->supply, FUTEX_WAKE_PRIVATE, 1);
}

bool dprof_chunks_make_wanted(void)
{
	bool any = dprof_helper_answer();
	struct dprof_thread *t;

	if (__atomic_load_n(&dprof_ending, __ATOMIC_ACQUIRE))
		return any;
	for (t = __atomic_load_n(&all, __ATOMIC_ACQUIRE); t; t = t->following) {
		int state = __atomic_load_n(&t->supply, __ATOMIC_RELAXED);

		if (state != SUPPLY_WANTED ||
		    !__atomic_compare_exchange_n(&t->supply, &state, SUPPLY_MAKING, false,
						 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		make_wanted(t);
		any = true;
	}
	return any;
}

/* To GCC's own libraries (gthr-posix.h: libgfortran, libgcc_eh) a static program has threads if it has pthread_key_create();
 * then they call these, which they refer to only weakly, and which nobody else may link. So we link them; a shared libc
 * has them all. */
__asm__(".pushsection .data.rel.ro, \"aw\"; .balign 8\n"
	"\t.irp function,"
	"pthread_once,pthread_create,pthread_join,pthread_detach,pthread_cancel,pthread_self,pthread_equal,sched_yield,"
	"pthread_getspecific,pthread_setspecific,pthread_key_create,pthread_key_delete,"
	"pthread_mutex_init,pthread_mutex_lock,pthread_mutex_trylock,pthread_mutex_timedlock,pthread_mutex_unlock,"
	"pthread_mutex_destroy,pthread_mutexattr_init,pthread_mutexattr_settype,pthread_mutexattr_destroy,"
	"pthread_cond_init,pthread_cond_wait,pthread_cond_timedwait,pthread_cond_signal,pthread_cond_broadcast,"
	"pthread_cond_destroy\n"
	"\t.quad \\function\n"
	"\t.endr\n"
	"\t.popsection");

/* In each round destructors run in the order of their keys' numbers, and ours is to be the last. So it takes the
 * highest one of those for whose values the C library allocates no memory (which a handler may not). */
#define HIGHEST_KEY 31

static int make_key(void)
{
	pthread_key_t lower[HIGHEST_KEY];
	size_t n = 0;
	int error = pthread_key_create(&key, end);

	while (!error && key < HIGHEST_KEY && n < HIGHEST_KEY) {
		lower[n++] = key;
		error = pthread_key_create(&key, end);
	}
	if (error && n) {
		key = lower[--n];
		error = 0;
	}
	while (n)
		pthread_key_delete(lower[--n]);
	has_key = !error;
	return error;
}

int dprof_threads_prepare(void)
{
	int error = make_key();

	if (!error && sys(SYS_gettid) == sys(SYS_getpid) && pthread_setspecific(key, NOT_RECORDING) == 0)
		count_in();
	return error;
}

/* Memory that is nobody's file. */
static void replace(void *at, size_t bytes)
{
	long there = sys(SYS_mmap, at, bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);

	if (sys_failed(there))
		sys(SYS_munmap, at, bytes);
}

/* A handler that forks may have interrupted the inserted code, which writes the word that it has claimed, in the child
 * as well, when the handler returns: that is its parent's event. So nothing of the child comes to stand where that may be,
 * in the current chunk or, if the handler has begun others, in one that is full. A slot is where its header is. */
static void leave_to_parent(struct dprof_thread *t)
{
	for (struct dprof_chunk *c = t->chunk; c < t->chunk + DPROF_CHUNKS; c++)
		if (c->state >= CHUNK_CURRENT && c->state != CHUNK_GOING && !c->in_slot) {
			replace(c->start, c->bytes);
			c->state = CHUNK_NONE;
		}
	replace(unmap_chunks(t), DPROF_SLOT);
}

void dprof_threads_forget(void)
{
	dprof_pack_close();
	free_ones = 0;
	for (struct dprof_thread *t = all; t; t = t->following) {
		if (t->supply != SUPPLY_FREE && t->header && t == dprof_self)
			leave_to_parent(t);
		else if (t->supply != SUPPLY_FREE && t->header)
			sys(SYS_munmap, unmap_chunks(t), DPROF_SLOT);
		t->cursor = NULL;
		set_free(t);
	}
	dprof_nursery_forget();
	taking_down = UNLOCKED;
	__dprof_cursor = (struct dprof_cursor){ DPROF_NOWHERE, NULL };
	dprof_self = NULL;
	dprof_ending = false;
	promised = begun = 0;
	unmade = made = 0;
	dprof_beginning = 0;
	alive = pthread_setspecific(key, NOT_RECORDING) == 0;
	first_ended = false;
	past_ns = past_threads = in_exit = 0;
	dprof_lost_homeless = dprof_why_homeless = 0;
	dprof_count_forget_lost();
	memset(has_file, 0, sizeof(has_file));
}
