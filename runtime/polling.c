/* SPDX-License-Identifier: MIT
 *
 * polling.c - a thread that asks again and again, in vain: one record for all of it.
 *
 *   ENTER MPI_Test tag=BETWEEN peer=NONE ............. EXIT     ENTER MPI_Test  POINT done  EXIT
 *   asks   asks   asks   asks  ...               asks           asks, and has it
 *
 * The record is written late, when it has lasted a while, and as long as nothing else is recorded behind it each further
 * attempt only moves its EXIT. So however long a thread polls, it leaves four words; and who asks once, and does something
 * else, leaves none.
 *
 * Law: what is recorded begins with the first attempt and ends with the last one, or with that which succeeded; nothing else
 * was recorded in between; and for `tag` of its ticks, exactly, the thread did not ask.
 *
 *   ENTER sched_yield until=0 peer=UNKNOWN ........... EXIT
 *   yields looks? yields looks? ...               yields
 *
 * Who yields may look for something in between, or be polite: as a wait that nobody is known to have ended. So are yields
 * that follow each other at once, however short each is, and are recorded when they have lasted as long as a call that has
 * blocked. Those between two attempts are part of what lies there. */
#include <time.h>

#include "runtime/adapter.h"
#include "runtime/sys.h"
#include "runtime/thread.h"

#define WORDS   4 /* ENTER, two arguments, EXIT */
#define A_WHILE 16 /* times as long as a call that has blocked: else some calls that follow each other would do */
#define END_WAIT_NS 10000 /* for a thread that is just moving an EXIT, and that */
#define END_WAITS   10000 /* many times */

uint64_t dprof_adapter_pause_ticks;

static __thread struct {
	const struct dprof_site *site; /* of the first attempt */
	const uint64_t *place;         /* nothing was recorded since it stood there; NULL: there was no attempt */
	uint64_t since, until, between;
	uint64_t left;                 /* when the thread went back to the program: what is done in here is part of asking */
	uint64_t last_words[2];        /* if it is written: of `between` and of `until` */
	uint64_t least;                /* ticks that it has to last */
	bool yields;                   /* and asks for nothing, as far as is known */
	bool written;                  /* in the words before `place` */
} polling;

static bool goes_on(bool yields, uint64_t from)
{
	return polling.place && polling.place == dprof_adapter_place() && polling.yields == yields &&
	       from - polling.left <= (yields ? dprof_adapter_blocked_ticks : dprof_adapter_pause_ticks);
}

/* With an attempt that was begun then, unless a signal handler has recorded something since. */
static void begin(bool yields, const struct dprof_site *site, struct dprof_moment from, uint64_t least)
{
	struct dprof_moment now = dprof_adapter_moment();

	polling.yields = yields;
	polling.written = false;
	polling.site = site;
	polling.since = from.place == now.place ? from.stamp : now.stamp;
	polling.until = now.stamp;
	polling.between = 0;
	polling.least = least;
	polling.place = now.place;
}

/* The arguments: its first, ... */
static int key(void)
{
	return polling.yields ? DPROF_KEY_UNTIL : DPROF_KEY_TAG;
}

/* ... which is 0 of yields, and its second. */
static uint64_t peer(void)
{
	return polling.yields ? DPROF_PEER_UNKNOWN : DPROF_PEER_NONE;
}

/* Where the fast path is closed, or the chunk is full. */
static void write_slowly(void)
{
	struct dprof_arguments a = { 0 };

	dprof_say(&a, key(), polling.between);
	dprof_say(&a, DPROF_KEY_PEER, peer());
	dprof_adapter_record_visit_slowly(polling.site, polling.since, polling.until, &a);
}

static void say(uint64_t words[2])
{
	words[0] = dprof_escape_word(DPROF_ESCAPE_ARG, key(), polling.between);
	words[1] = dprof_event_word(polling.until, (uint64_t)polling.site, DPROF_EXIT);
}

/* Changes what stands there from `old`; false: it was another one. One instruction: no signal handler comes in between. */
static bool replace(uint64_t *at, uint64_t old, uint64_t new)
{
	bool same;

	__asm__ volatile("cmpxchgq %3, %1" : "+a"(old), "+m"(*at), "=@ccz"(same) : "r"(new) : "memory");
	return same;
}

/* Right behind the place: then its words stand in a row. Where there is no room for that the next attempt begins another
 * one. */
static void write_it(void)
{
	const uint64_t *after = polling.place + WORDS;
	uint64_t *at = (uint64_t *)polling.place, enter, words[2];

	enter = dprof_event_word(polling.since, (uint64_t)polling.site, DPROF_ENTER);
	say(words);
	if (dprof_adapter_is_short(polling.since, polling.until) && after <= *(uint64_t *volatile *)&__dprof_cursor.end &&
	    replace((uint64_t *)&__dprof_cursor.next, (uint64_t)at, (uint64_t)after)) {
		*(volatile uint64_t *)at = enter;
		at[1] = polling.last_words[0] = words[0];
		at[2] = dprof_escape_word(DPROF_ESCAPE_ARG, DPROF_KEY_PEER, peer());
		at[3] = polling.last_words[1] = words[1];
		polling.place = after;
		polling.written = true;
		return;
	}
	if (dprof_adapter_place() == at)
		write_slowly();
	polling.place = dprof_adapter_place();
	polling.since = 0;
}

/* Of two stores, `rewriting` here and `dprof_ending` there, each side sees that of the other unless its own came later: so
 * when the process has ended, and has seen that we are not at it, the words stay as they are. */
static void rewrite(void)
{
	uint64_t *at = (uint64_t *)polling.place - WORDS, words[2];

	say(words);
	__atomic_store_n(&dprof_self->rewriting, 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&dprof_ending, __ATOMIC_SEQ_CST) && dprof_adapter_place() == polling.place) {
		(void)replace(&at[1], polling.last_words[0], words[0]);
		(void)replace(&at[3], polling.last_words[1], words[1]);
	}
	__atomic_store_n(&dprof_self->rewriting, 0, __ATOMIC_RELEASE);
	polling.last_words[0] = words[0];
	polling.last_words[1] = words[1];
}

void dprof_polling_ends(struct dprof_thread *t)
{
	struct timespec soon = { .tv_nsec = END_WAIT_NS };

	for (int i = 0; i < END_WAITS && t != dprof_self && __atomic_load_n(&t->rewriting, __ATOMIC_SEQ_CST); i++)
		sys(SYS_nanosleep, &soon, NULL);
}

/* Up to `until`, of which it did not ask for so long. */
static void extend(uint64_t between, uint64_t until)
{
	polling.between += between;
	polling.until = until;
	if (polling.written)
		rewrite();
	else if (polling.until - polling.since >= polling.least)
		write_it();
}

void dprof_adapter_in_vain(const struct dprof_site *site, struct dprof_moment from)
{
	if (!dprof_self || dprof_ending || dprof_stopped || !dprof_adapter_wanted(dprof_site_kind(site)))
		return;
	if (!goes_on(false, from.stamp))
		begin(false, site, from, A_WHILE * dprof_adapter_blocked_ticks);
	else if (!polling.since || !dprof_adapter_is_short(polling.since, from.stamp))
		begin(false, site, from, 2 * polling.least);
	else
		extend(from.stamp - polling.left, dprof_adapter_now());
	polling.left = dprof_adapter_now();
}

bool dprof_adapter_asks_again(struct dprof_moment from)
{
	return goes_on(false, from.stamp);
}

uint64_t dprof_adapter_polled(uint64_t from)
{
	bool polled = goes_on(false, from) && polling.since;

	if (polled) {
		polling.least = dprof_adapter_blocked_ticks;
		extend(from - polling.left, from);
	}
	polling.place = NULL;
	return polled ? from : 0;
}

/* Attempts that go on until this moment, and are not written: now they are. */
static bool write_before(uint64_t stamp)
{
	bool unwritten = !polling.written && polling.since && goes_on(false, stamp);

	if (unwritten)
		write_it();
	return unwritten;
}

void dprof_adapter_pauses(void)
{
	(void)write_before(dprof_adapter_now());
}

void dprof_adapter_yielded(const struct dprof_site *site, struct dprof_moment from)
{
	uint64_t now = dprof_adapter_now();

	if (dprof_ending || dprof_stopped || !dprof_adapter_wanted(dprof_site_kind(site)) || goes_on(false, now))
		return;
	if (write_before(from.stamp))
		from.place = polling.place;
	if (!goes_on(true, from.stamp) || !polling.since || !dprof_adapter_is_short(polling.since, now)) {
		begin(true, site, from, dprof_adapter_blocked_ticks);
		now = polling.until;
	}
	extend(0, now);
	polling.left = now;
}
