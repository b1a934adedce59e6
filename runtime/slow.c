/* SPDX-License-Identifier: MIT
 *
 * slow.c - a claim found no room: make some, or lose the record and count it.
 *
 * Called with the user's registers saved but for the vector registers, and so compiled to touch
 * general registers only (see room.mk). Signal handlers may interrupt the inserted code and this
 * code anywhere, and record:
 *
 * - Before `busy` is set, the handler does all of this itself, and we find room when we come to it.
 * - While it is set, the handler's claim fails at once and is taken back, so that for us nothing
 *   has happened. A handler that jumps out of here ends the recording of its thread.
 * - A claim is compared with `end` one instruction after it was made; a handler in between may
 *   have changed chunks. So each chunk lies below the one before: what failed, fails, and what
 *   has room in the chunk before is given up. Its slot stays zero.
 * - Claims that failed have moved `next` past `end`; so every store to `next` here is absolute. */
#include <linux/futex.h>
#include <stdatomic.h>
#include <time.h>

#include "runtime/sys.h"
#include "runtime/thread.h"

#define HELPER_WAIT_NS   1000000 /* for a chunk that is being made, and that */
#define HELPER_WAITS     100     /* many times: signals cut them short */
#define REFUSED_PATIENCE 1024    /* records are lost before we ask the system again */

__thread struct dprof_cursor __dprof_cursor = { DPROF_NOWHERE, NULL };
__thread struct dprof_thread *dprof_self;
static __thread volatile bool busy;
static __thread uint64_t homeless; /* records of this thread that are lost for want of a file */
uint64_t dprof_lost_homeless;

/* One record of this thread is lost. Atomic, since a handler may count in the midst of it. */
static void lose(struct dprof_thread *t)
{
	if (t) {
		__atomic_fetch_add(&t->header->lost, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&t->lost_unwritten, 1, __ATOMIC_RELAXED);
	} else {
		homeless++;
		__atomic_fetch_add(&dprof_lost_homeless, 1, __ATOMIC_RELAXED);
	}
}

/* What a handler, or we at earlier tries, lost before there was a file. */
static void bring_home(struct dprof_thread *t)
{
	__atomic_fetch_add(&t->header->lost, homeless, __ATOMIC_RELAXED);
	__atomic_fetch_add(&t->lost_unwritten, homeless, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&dprof_lost_homeless, homeless, __ATOMIC_RELAXED);
	homeless = 0;
}

/* Tries at the 1st event, and after 1, 2, 4, 8 ... were lost: what failed may well fail again. */
static bool begin(void)
{
	if ((homeless & (homeless - 1)) == 0)
		dprof_keeping_vectors(dprof_thread_begin, NULL);
	if (!dprof_self)
		return false;
	bring_home(dprof_self);
	dprof_chunk_enter(dprof_self);
	return true;
}

/* Nobody makes t's next chunk when this returns true: then it is ours to make. Waits for a
 * helper that is at it, but not for long, and not again before it is done. */
static bool take_over(struct dprof_thread *t)
{
	struct timespec patience = { .tv_nsec = HELPER_WAIT_NS };
	int state = SUPPLY_WANTED;

	if (__atomic_compare_exchange_n(&t->supply, &state, SUPPLY_NONE, false, __ATOMIC_ACQUIRE,
					__ATOMIC_ACQUIRE))
		return true;
	for (int i = 0; i < HELPER_WAITS && state == SUPPLY_MAKING && t->refused == 0; i++) {
		sys(SYS_futex, &t->supply, FUTEX_WAIT_PRIVATE, SUPPLY_MAKING, &patience);
		state = __atomic_load_n(&t->supply, __ATOMIC_ACQUIRE);
	}
	return state != SUPPLY_MAKING;
}

static bool next_chunk(struct dprof_thread *t)
{
	if (!take_over(t)) {
		t->refused = 1;
		return false;
	}
	if (t->supply != SUPPLY_READY) {
		if (t->supply == SUPPLY_REFUSED && t->refused++ % REFUSED_PATIENCE)
			return false;
		if (dprof_chunk_make(t) < 0) {
			t->supply = SUPPLY_REFUSED;
			t->refused += !t->refused;
			return false;
		}
	}
	dprof_chunk_enter(t);
	__atomic_store_n(&t->supply, SUPPLY_WANTED, __ATOMIC_RELEASE);
	dprof_helper_wake();
	return true;
}

static bool refill(struct dprof_thread *t)
{
	volatile struct dprof_cursor *cursor = &__dprof_cursor;

	if (cursor->next < cursor->end)
		return true; /* a handler came before us */
	return t ? next_chunk(t) : begin();
}

int dprof_make_room(void)
{
	bool room;

	if (busy) {
		__asm__("subq $16, %0" : "+m"(__dprof_cursor.next) : : "cc");
		lose(dprof_self);
		return 0;
	}
	busy = true;
	atomic_signal_fence(memory_order_seq_cst);
	room = refill(dprof_self);
	if (!room) {
		__dprof_cursor.next = __dprof_cursor.end ? __dprof_cursor.end : DPROF_NOWHERE;
		lose(dprof_self);
	}
	atomic_signal_fence(memory_order_seq_cst);
	busy = false;
	return room;
}
