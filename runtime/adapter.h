/* SPDX-License-Identifier: MIT
 *
 * adapter.h - what the core offers to adapters: libraries that know a programming model (MPI,
 * ...) and say what a recorded operation was.
 *
 * Of a call that the plugin saw it says only where it stands (dprof_adapter_call): the adapter records it, as it
 * does those from code that the plugin never saw, which have a site of the adapter's own.
 *
 * Law: arguments stand directly behind the event that they belong to, or nowhere. All of this
 * may be called at any time, recording or not, and leaves errno alone. */
#ifndef RUNTIME_ADAPTER_H
#define RUNTIME_ADAPTER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "runtime/format.h"
#include "runtime/record.h"
#include "runtime/words.h"

#define DPROF_EXPORT __attribute__((visibility("default")))

/* False: nothing is recorded here, and what an adapter would find out is in vain. */
DPROF_EXPORT bool dprof_adapter_recording(void);

/* DPROF_OFF, or a program that has more rights than its user: once it runs, nothing of dprof asks anything of the kernel, which may
 * kill for that. What stands before the C library's functions hands on what it is given. */
DPROF_EXPORT bool dprof_adapter_is_off(void);

/* The calling library is this adapter: inserted code leaves calls to it (record.h). Before the first of them. */
DPROF_EXPORT void dprof_adapter_present(enum dprof_adapter);

/* The kinds that are recorded, as bits: not those that DPROF_EVENTS leaves out, of which events come to
 * nothing; none while nothing is recorded. A variable, because programs take locks so often that a call
 * to ask would show. */
extern DPROF_EXPORT uint32_t dprof_adapter_kinds;

static inline bool dprof_adapter_wanted(enum dprof_kind kind)
{
	return dprof_adapter_kinds >> kind & 1;
}

/* ---- Events and their arguments -----------------------------------------------------------------
 *
 * An event with all its arguments is one claim and a few stores. The claim is one instruction that fails
 * where a signal handler has claimed before it, and then is tried again: so what was claimed has room, and
 * nothing stands between an event and its arguments. The event is written first: without it they would be
 * those of the event before. */

#define DPROF_ARGUMENTS_MAX 15 /* words; an argument is one, or two where its upper 8 bits are not 0 */

struct dprof_argument { enum dprof_key key; uint64_t value; };

struct dprof_arguments {
	unsigned words;
	uint64_t word[DPROF_ARGUMENTS_MAX];
};

static inline void dprof_say(struct dprof_arguments *a, enum dprof_key key, uint64_t value)
{
	a->word[a->words++] = dprof_escape_word(DPROF_ESCAPE_ARG, key, value);
	if (value >> 56)
		a->word[a->words++] = dprof_escape_word(DPROF_ESCAPE_ARG_HIGH, key, value >> 56);
}

/* The same of several; and where each is one word. */
static inline __attribute__((always_inline)) void dprof_say_all(struct dprof_arguments *to,
								const struct dprof_argument *a, unsigned n)
{
#pragma GCC unroll 8
	for (unsigned i = 0; i < n; i++)
		dprof_say(to, a[i].key, a[i].value);
}

static inline __attribute__((always_inline)) bool dprof_are_short(const struct dprof_argument *a, unsigned n)
{
	uint64_t all = 0;

#pragma GCC unroll 8
	for (unsigned i = 0; i < n; i++)
		all |= a[i].value;
	return all <= DPROF_VALUE_MAX;
}

static inline __attribute__((always_inline)) void dprof_write_all(volatile uint64_t *at,
								  const struct dprof_argument *a, unsigned n)
{
#pragma GCC unroll 8
	for (unsigned i = 0; i < n; i++)
		at[i] = dprof_escape_word(DPROF_ESCAPE_ARG, a[i].key, a[i].value);
}

/* The counter is none to be used here (a machine without an invariant one, FREEZER_CLOCK): then stamps are
 * those of another clock. */
extern DPROF_EXPORT bool dprof_adapter_no_tsc;
DPROF_EXPORT uint64_t dprof_adapter_other_now(void);

/* A stamp. Whoever may be at the receiving end of a link takes the fenced one: a branch that was predicted
 * to leave a waiting loop must not have read the counter before what was waited for had come. */
static inline uint64_t dprof_adapter_now(void)
{
	if (__builtin_expect(dprof_adapter_no_tsc, 0))
		return dprof_adapter_other_now();
	return __builtin_ia32_rdtsc();
}

static inline uint64_t dprof_adapter_now_fenced(void)
{
	__builtin_ia32_lfence();
	return dprof_adapter_now();
}

/* So many words in a row; NULL: the fast path is closed, or the chunk is full. */
static inline uint64_t *dprof_adapter_claim(unsigned words)
{
	uint64_t next = (uint64_t)*(uint64_t *volatile *)&__dprof_cursor.next, after;
	bool mine;

	do {
		after = next + words * sizeof(uint64_t);
		if (after > (uint64_t)*(uint64_t *volatile *)&__dprof_cursor.end)
			return NULL;
		__asm__ volatile("cmpxchgq %3, %1"
				 : "+a"(next), "+m"(__dprof_cursor.next), "=@ccz"(mine)
				 : "r"(after) : "memory");
	} while (!mine);
	return (uint64_t *)next;
}

/* Likewise, but right at this place: NULL, too, if something was recorded since it was asked for. */
static inline uint64_t *dprof_adapter_claim_at(const uint64_t *place, unsigned words)
{
	uint64_t next = (uint64_t)place, after = next + words * sizeof(uint64_t);
	bool mine;

	if (after > (uint64_t)*(uint64_t *volatile *)&__dprof_cursor.end)
		return NULL;
	__asm__ volatile("cmpxchgq %3, %1"
			 : "+a"(next), "+m"(__dprof_cursor.next), "=@ccz"(mine)
			 : "r"(after) : "memory");
	return mine ? (uint64_t *)next : NULL;
}

/* What dprof_adapter_record does where the first claim has failed. */
DPROF_EXPORT void dprof_adapter_record_slowly(const struct dprof_site *, enum dprof_op, uint64_t stamp,
					      const struct dprof_arguments *);

/* An event of a kind that is recorded; `a` may be NULL. Stamp 0: when it is written; else the thread has recorded nothing
 * between that and the call, or the call is soon behind it. */
static inline void dprof_adapter_record(const struct dprof_site *site, enum dprof_op op, uint64_t stamp,
					const struct dprof_arguments *a)
{
	unsigned words = a ? a->words : 0;
	volatile uint64_t *at;

	if (!dprof_adapter_wanted(dprof_site_kind(site)))
		return;
	at = dprof_adapter_claim(1 + words);
	if (!at) {
		dprof_adapter_record_slowly(site, op, stamp, a);
		return;
	}
	*at++ = dprof_event_word(stamp ? stamp : dprof_adapter_now(), (uint64_t)site, op);
	for (unsigned i = 0; i < words; i++)
		at[i] = a->word[i];
}

/* The same where it is known to the compiler how many arguments there are: they go from registers to where they
 * stand. */
static inline __attribute__((always_inline)) void
dprof_adapter_record_with(const struct dprof_site *site, enum dprof_op op, uint64_t stamp,
			  const struct dprof_argument *a, unsigned n)
{
	volatile uint64_t *at = NULL;
	struct dprof_arguments many;

	if (!dprof_adapter_wanted(dprof_site_kind(site)))
		return;
	if (__builtin_expect(dprof_are_short(a, n), 1))
		at = dprof_adapter_claim(1 + n);
	if (__builtin_expect(!at, 0)) {
		many.words = 0;
		dprof_say_all(&many, a, n);
		dprof_adapter_record_slowly(site, op, stamp, &many);
		return;
	}
	*at++ = dprof_event_word(stamp ? stamp : dprof_adapter_now(), (uint64_t)site, op);
	dprof_write_all(at, a, n);
}

/* For so many ticks words go on without an epoch: what took longer is recorded slowly, which writes them. */
#define DPROF_ADAPTER_LONG (UINT64_C(1) << (DPROF_STAMP_BITS - 2))

static inline bool dprof_adapter_is_short(uint64_t from, uint64_t to)
{
	return to - from < DPROF_ADAPTER_LONG;
}

/* An ENTER with arguments and its EXIT, of which both stamps are known: one claim for both. */
DPROF_EXPORT void dprof_adapter_record_visit_slowly(const struct dprof_site *, uint64_t entered, uint64_t left,
						    const struct dprof_arguments *);

static inline void dprof_adapter_record_visit(const struct dprof_site *site, uint64_t entered, uint64_t left,
					      const struct dprof_arguments *a)
{
	volatile uint64_t *at;

	if (!dprof_adapter_wanted(dprof_site_kind(site)))
		return;
	at = dprof_adapter_is_short(entered, left) ? dprof_adapter_claim(2 + a->words) : NULL;
	if (!at) {
		dprof_adapter_record_visit_slowly(site, entered, left, a);
		return;
	}
	*at++ = dprof_event_word(entered, (uint64_t)site, DPROF_ENTER);
	for (unsigned i = 0; i < a->words; i++)
		*at++ = a->word[i];
	*at = dprof_event_word(left, (uint64_t)site, DPROF_EXIT);
}

/* Likewise where it is known how many arguments there are. */
static inline __attribute__((always_inline)) void
dprof_adapter_record_visit_with(const struct dprof_site *site, uint64_t entered, uint64_t left,
				const struct dprof_argument *a, unsigned n)
{
	volatile uint64_t *at = NULL;
	struct dprof_arguments many;

	if (!dprof_adapter_wanted(dprof_site_kind(site)))
		return;
	if (__builtin_expect(dprof_are_short(a, n) && dprof_adapter_is_short(entered, left), 1))
		at = dprof_adapter_claim(2 + n);
	if (__builtin_expect(!at, 0)) {
		many.words = 0;
		dprof_say_all(&many, a, n);
		dprof_adapter_record_visit_slowly(site, entered, left, &many);
		return;
	}
	*at++ = dprof_event_word(entered, (uint64_t)site, DPROF_ENTER);
	dprof_write_all(at, a, n);
	at[n] = dprof_event_word(left, (uint64_t)site, DPROF_EXIT);
}

/* Where the calling thread's next word will stand: tells whether anything was recorded since. */
static inline const uint64_t *dprof_adapter_place(void)
{
	return *(uint64_t *volatile *)&__dprof_cursor.next;
}

/* More of what was recorded last, if nothing was recorded since that place was asked for. */
DPROF_EXPORT void dprof_adapter_add(const uint64_t *place, const struct dprof_arguments *);

/* A moment, and what the thread had recorded until then: for an ENTER of which only later is known
 * that it should be recorded. What was recorded since, signal handlers have recorded. */
struct dprof_moment { uint64_t stamp; const uint64_t *place; };

/* The place first: a handler that comes before the stamp is taken (and signals like to come at that instruction) has
 * recorded behind it, and not as if it came later. */
static inline struct dprof_moment dprof_adapter_moment(void)
{
	const uint64_t *place = dprof_adapter_place();

	return (struct dprof_moment){ dprof_adapter_now(), place };
}

/* They have: says so (DPROF_KEY_SINCE), unless that stamp is 0. */
DPROF_EXPORT void dprof_adapter_record_enter_late(const struct dprof_site *, uint64_t since,
						  const struct dprof_arguments *);

/* Whether they have, or where there is no room. */
DPROF_EXPORT void dprof_adapter_record_enter_at_slowly(const struct dprof_site *, struct dprof_moment,
						       const struct dprof_arguments *);

static inline void dprof_adapter_record_enter_at(const struct dprof_site *site, struct dprof_moment m,
						 const struct dprof_arguments *a)
{
	volatile uint64_t *at;

	if (!dprof_adapter_wanted(dprof_site_kind(site)))
		return;
	at = dprof_adapter_claim_at(m.place, 1 + a->words);
	if (!at) {
		dprof_adapter_record_enter_at_slowly(site, m, a);
		return;
	}
	*at++ = dprof_event_word(m.stamp, (uint64_t)site, DPROF_ENTER);
	for (unsigned i = 0; i < a->words; i++)
		at[i] = a->word[i];
}

/* What lies on the stack between a call that the plugin has seen and the adapter: a few frames of headers
 * of C++ at most. A signal handler's frame begins further down (what the kernel saves is larger). */
#define DPROF_CALL_NEAR 1024 /* bytes */

/* Where the name is known to the compiler, two or three instructions, also in files that call the C library's own functions
 * only where they say so (-fno-builtin). */
static inline bool dprof_adapter_is_called(const struct dprof_site *site, const char *name)
{
	size_t n = __builtin_strlen(name) + 1;

	return n <= DPROF_SITE_MIN - sizeof(*site) ? !__builtin_memcmp(site->strings, name, n)
						   : !__builtin_strcmp(site->strings, name);
}

/* The site that the plugin gave to the call of `name` that the calling thread is in; NULL when it has not
 * seen it. Of that kind, unless the kind is NONE. Answered once: what is called from then on is another call.
 * A region, which the call will only begin, has any name. */
static inline const struct dprof_site *dprof_adapter_call(enum dprof_kind kind, const char *name, uint64_t near)
{
	const struct dprof_site *site = __dprof_call.site;
	uint64_t stack;

	if (!site)
		return NULL;
	__asm__("mov %%rsp, %0" : "=r"(stack));
	if (__dprof_call.stack - stack > near || (kind && dprof_site_kind(site) != kind) ||
	    (kind != DPROF_KIND_REGION && !dprof_adapter_is_called(site, name)))
		return NULL;
	__dprof_call.site = NULL;
	return site;
}

DPROF_EXPORT void dprof_adapter_enter(const struct dprof_site *);
DPROF_EXPORT void dprof_adapter_exit(const struct dprof_site *);
DPROF_EXPORT void dprof_adapter_point(const struct dprof_site *);

/* The number of a thread that is to be made, and in that thread, before it records anything: this is
 * it, and it was not yet there `before` that stamp. Given back: the thread could not be made. */
DPROF_EXPORT uint32_t dprof_adapter_reserve_thread(void);
DPROF_EXPORT void dprof_adapter_return_thread(uint32_t number);
DPROF_EXPORT void dprof_adapter_be_thread(uint32_t number, uint64_t before);

/* From here on signals that can wait do so in the calling thread, and in one that it makes, until either releases them: in a
 * new thread, once it has recorded that it is there. Which ones are held that were not before, as the kernel has them; 0: none. */
DPROF_EXPORT uint64_t dprof_adapter_hold_signals(void);
DPROF_EXPORT void dprof_adapter_release_signals(uint64_t held);

/* The last event of the calling thread is a point of this site, which stays: behind what its destructors (those of
 * pthread_key_create) record, but for those of the last round whose keys come after dprof's, the 32nd. A thread
 * that recorded nothing so far records it at once. */
DPROF_EXPORT void dprof_adapter_last_point(const struct dprof_site *);

/* The child of a fork that ends without any event records a point of this site, which stays: else
 * no one would know that it was there. */
DPROF_EXPORT void dprof_adapter_silent_end(const struct dprof_site *);

/* The calling thread ends now, and no function of the C library is called for that. */
DPROF_EXPORT void dprof_adapter_thread_leaves(void);

/* When the calling thread forked last, behind what other libraries have called before that (pthread_atfork); the stamp 0: never.
 * From now on it is as if that had been the last one, for whoever forks in what is called there. */
DPROF_EXPORT struct dprof_moment dprof_adapter_forks_from(struct dprof_moment);

/* In the child of a fork this is called before what other libraries have called there (pthread_atfork). */
#define DPROF_FORKED_MAX 4 /* functions, of all adapters */
DPROF_EXPORT void dprof_adapter_forked(void (*function)(void));

/* Another program is about to take the process's place; or could not, and the process goes on. */
DPROF_EXPORT void dprof_adapter_exec(const char *program, size_t bytes);
DPROF_EXPORT void dprof_adapter_exec_failed(void);

/* The process has started another program, as the process `pid`; or as one that it does not know (0). */
DPROF_EXPORT void dprof_adapter_ran(const char *program, size_t bytes, long pid);

/* Has this child of the process, which is over, files in the trace? If so, the process's file says that it was there. */
DPROF_EXPORT bool dprof_adapter_child_ended(long pid);

/* No other thread of the process is counted, and so none takes a child's end. */
DPROF_EXPORT bool dprof_adapter_is_alone(void);

/* The number of the calling thread, which has recorded something; UINT32_MAX if it could not. */
DPROF_EXPORT uint32_t dprof_adapter_thread(void);

/* A number for a group of threads of this process that no other group of the trace has. */
DPROF_EXPORT uint64_t dprof_adapter_new_group(void);

/* Is this an address in code that we are to look at: of the program, or of a library that was
 * compiled with the plugin, or one that works for those (libstdc++, libgomp)? */
DPROF_EXPORT bool dprof_adapter_is_ours(const void *code);

/* The same of calls for input and output: libgfortran makes those for the program, too. */
DPROF_EXPORT bool dprof_adapter_is_for_us(const void *code);

/* Is it a sanitizer's, which stands before the C library's functions and calls them for the program? */
DPROF_EXPORT bool dprof_adapter_is_sanitizer(const void *code);

/* The calling thread looks at memory again and again until another one has stored something there (spins.c): to yield or to sleep
 * is part of that. */
DPROF_EXPORT bool dprof_adapter_spins(void);

/* The program handles a timer's signal; the calling thread does so now (flags.c). */
extern DPROF_EXPORT bool dprof_adapter_timers;
extern DPROF_EXPORT __thread bool dprof_adapter_in_timer __attribute__((tls_model("initial-exec")));

/* The calling thread is dprof's helper, whose descriptors are not those of the process. */
extern DPROF_EXPORT __thread bool dprof_adapter_apart __attribute__((tls_model("initial-exec")));

/* Where the calling thread waits for others without a time limit, or sleeps, in a call that is recorded when it is over: at this
 * site, since this stamp; or since is 0. Where the process ends meanwhile, the thread's header says so (end.c). It is to be
 * recorded only if `caller` is code that we serve, or NULL. Since is written last. */
struct dprof_open_call { const struct dprof_site *site; const void *caller; uint64_t since; };
extern DPROF_EXPORT __thread struct dprof_open_call dprof_adapter_open_call __attribute__((tls_model("initial-exec")));

/* The thread sleeps for what is left of a time, if it sleeps now: NULL, when it has begun to (clocks.c). */
extern DPROF_EXPORT __thread const struct dprof_site *dprof_adapter_rests __attribute__((tls_model("initial-exec")));

/* The calling thread, at its begin and its end, is one that the adapter has made for itself: what it does is not the
 * program's. */
DPROF_EXPORT void dprof_adapter_own_thread(bool begins);

/* The calling thread calls a library that is recorded, to begin or to end it. What threads do meanwhile that are not recorded is
 * a part of that call; and those that come are the library's, whose work is a part of its recorded operations. */
#define DPROF_THREADS_LISTED 64
struct dprof_library_call {
	uint64_t unseen_ns;
	unsigned threads;
	uint32_t thread[DPROF_THREADS_LISTED];
};
DPROF_EXPORT void dprof_adapter_library_begins(struct dprof_library_call *);
DPROF_EXPORT void dprof_adapter_library_ends(const struct dprof_library_call *);

/* Who was in a call of the C library for less is not taken to have waited (DPROF_BLOCKED_NS). */
extern DPROF_EXPORT uint64_t dprof_adapter_blocked_ticks;

/* ---- What processes share (DPROF_KEY_OBJECT) ---------------------------------------------------- */

/* The number of what the kernel calls so on this host. */
DPROF_EXPORT uint64_t dprof_adapter_object(const char *kind, uint64_t a, uint64_t b, uint64_t c);

/* The same of what lies at an address; 0: not known. */
DPROF_EXPORT uint64_t dprof_adapter_object_at(const void *);

/* The inode of the socket with which that of this inode, a local one (AF_UNIX), is connected; 0: not known, or with none that
 * has been accepted and is not closed. Asks the helper. */
DPROF_EXPORT uint64_t dprof_adapter_local_peer(uint64_t inode);

/* This process was started by one that records, and is one more in its trace. */
extern DPROF_EXPORT bool dprof_adapter_joined;

/* ---- Attempts ------------------------------------------------------------------------------------
 *
 * What asks for something, and does not wait for it, is recorded once it has succeeded. Attempts in vain that follow each
 * other, with nothing recorded in between and less than dprof_adapter_pause_ticks, are a record of their own
 * (polling.c). */

extern DPROF_EXPORT uint64_t dprof_adapter_pause_ticks;

/* When the call of an attempt begins: the first thing to be asked. */
static inline struct dprof_moment dprof_adapter_attempt(enum dprof_kind kind)
{
	return dprof_adapter_wanted(kind) ? dprof_adapter_moment() : (struct dprof_moment){ 0 };
}

/* An attempt that was begun then has just ended in vain, at a site of a wait. */
DPROF_EXPORT void dprof_adapter_in_vain(const struct dprof_site *, struct dprof_moment from);

/* Whether one that was begun then follows others, so that it is part of what is recorded of them. */
DPROF_EXPORT bool dprof_adapter_asks_again(struct dprof_moment from);

/* One that was begun then has succeeded, and is to be recorded from then on; 0: it was the first. */
DPROF_EXPORT uint64_t dprof_adapter_polled(uint64_t from);

/* Likewise of one that was begun at this moment, since which nothing else was recorded. */
static inline void dprof_adapter_polled_since(struct dprof_moment *m)
{
	if (dprof_adapter_polled(m->stamp))
		m->place = dprof_adapter_place();
}

/* The thread has yielded its core since then, perhaps until it finds what it looks for: a site of a wait. */
DPROF_EXPORT void dprof_adapter_yielded(const struct dprof_site *, struct dprof_moment from);

/* A lock that the library takes besides the program's, which is not recorded; NULL: none. */
DPROF_EXPORT extern __thread const void *dprof_adapter_hidden_lock __attribute__((tls_model("initial-exec")));

/* The thread is in a call of libstdc++ that is recorded as a whole (library.c), about this object, or any (NULL). */
DPROF_EXPORT bool dprof_adapter_in_library(const void *object);

/* The thread has initialised something that others find done: from now on. And: it finds that so, and that is to be recorded, as it
 * has not found it so before, or not since something was initialised. */
DPROF_EXPORT void dprof_adapter_initialises(void);
DPROF_EXPORT bool dprof_adapter_finds(const void *object);

/* The thread is about to sleep, perhaps until it tries again. */
DPROF_EXPORT void dprof_adapter_pauses(void);

/* The site of the call that the calling thread is in: where the plugin says that it stands, or the adapter's
 * own. NULL: it is not to be recorded, made by others or at the wrong time. */
static inline const struct dprof_site *dprof_adapter_site(const struct dprof_site *site_of_adapter,
							  const void *caller)
{
	const struct dprof_site *told;

	if (!dprof_adapter_kinds)
		return NULL;
	told = dprof_adapter_call(dprof_site_kind(site_of_adapter), site_of_adapter->strings, DPROF_CALL_NEAR);
	return told ? told : dprof_adapter_is_ours(caller) ? site_of_adapter : NULL;
}

/* Whoever calls this tells of every jump (format.h, struct dprof_jumps) from now on; and: the calling thread is
 * about to jump. That may be called in a signal handler. */
DPROF_EXPORT void dprof_adapter_tells_jumps(void);
DPROF_EXPORT void dprof_adapter_jump(void);

/* This process has this rank among that many. */
DPROF_EXPORT void dprof_adapter_rank(int64_t rank, int64_t size);

/* A line of the process file (format.h); the value is escaped. */
DPROF_EXPORT void dprof_adapter_line(const char *key, const char *value);

/* A line of the process file whose fields stand as they are. */
DPROF_EXPORT void dprof_adapter_fields(const char *key, const char *fields);

/* A line `group ID ranks=RANKS`; ranks are numbers with commas between them. */
DPROF_EXPORT void dprof_adapter_group(uint64_t id, const char *ranks);

/* Who we are. Valid for the life of the process, recording or not; the directory is "" when
 * there is none. */
DPROF_EXPORT const char *dprof_adapter_host(void);
DPROF_EXPORT const char *dprof_adapter_hostid(void);
DPROF_EXPORT const char *dprof_adapter_directory(void);

/* What the names of our files begin with: HOST-RANK; "" when there are none. */
DPROF_EXPORT const char *dprof_adapter_stem(void);

/* Whether files are to be brought to one place (DPROF_GATHER). Before that is done: nothing is recorded any more in this
 * process, for good; and then: its files are as at the end of a process, which ended when it was stopped. */
DPROF_EXPORT bool dprof_adapter_gathers(void);
DPROF_EXPORT void dprof_adapter_stop(void);
DPROF_EXPORT void dprof_adapter_end(void);

/* Defines a site as the plugin would make it. Not relocated, so it says nothing that the linker would have to fill in.
 * Its name is followed by two empty strings: file and function. */
#define DPROF_SITE_STRINGS(name) \
	(sizeof(name) + 2 < DPROF_SITE_MIN - 16 ? DPROF_SITE_MIN - 16 : (sizeof(name) + 17) & ~15u)
#define DPROF_SITE_OF(variable, kind_, name_)                                              \
	static const struct {                                                              \
		uint32_t magic;                                                            \
		uint16_t size;                                                             \
		uint8_t  kind, version;                                                    \
		uint32_t line, column;                                                     \
		char     strings[DPROF_SITE_STRINGS(name_)];                               \
	} variable __attribute__((section(DPROF_SITE_SECTION), used,                       \
				  aligned(DPROF_SITE_ALIGN))) = {                          \
		DPROF_SITE_MAGIC, sizeof(variable), kind_, DPROF_SITE_VERSION, 0, 0, name_, \
	}

#endif
