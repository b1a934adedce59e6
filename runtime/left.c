/* SPDX-License-Identifier: MIT
 *
 * left.c - chunks of threads that run on when their process ends are full as they are.
 *
 * The thread that ends the process takes the current chunk away from each other one, if it has much, so that the
 * helper packs it as any full chunk. Such a thread goes on in a new chunk, with its next event, if that comes.
 *
 * Law: a chunk is taken only when its thread is not in slow.c, has written every word that it has claimed, and
 * claims no more of it: its fast path is closed, and membarrier() has made each core see what was stored before it.
 * So each of two stores, the thread's `serving` and our `hold`, is seen by the other side unless that one's
 * comes later: either we let it be, or the thread waits until we are done. Where there is no membarrier() nothing is
 * taken. (An adapter that had room, and is interrupted before it claims, may write one event that is lost: told
 * when it comes back.) */
#include <linux/membarrier.h>

#include "runtime/sys.h"
#include "runtime/thread.h"

static bool barrier(void)
{
	return sys(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

static bool prepare(void)
{
	return sys(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

/* The thread is held: it changes nothing but `next`, by claims in vain. */
static bool close_path(struct dprof_cursor *cursor)
{
	__atomic_store_n(&cursor->end, NULL, __ATOMIC_SEQ_CST);
	return barrier();
}

static bool is_worth(const struct dprof_thread *t, const uint64_t *next)
{
	return next >= t->current->start + DPROF_MUCH_WORDS && next < t->chunk_end;
}

static bool take(struct dprof_thread *t, struct dprof_cursor *cursor)
{
	struct dprof_chunk *c;
	uint64_t *next;

	if (!barrier() || __atomic_load_n(&t->serving, __ATOMIC_SEQ_CST) || !t->current)
		return false;
	if (!is_worth(t, __atomic_load_n(&cursor->next, __ATOMIC_SEQ_CST)) || !close_path(cursor))
		return false;
	c = t->current;
	next = __atomic_load_n(&cursor->next, __ATOMIC_SEQ_CST);
	if (!is_worth(t, next))
		return false;
	for (const uint64_t *word = c->start; word < next; word++)
		if (!*(const volatile uint64_t *)word)
			return false;
	c->claimed = next;
	c->hole = NULL;
	t->left_at = next;
	return true;
}

static bool may_have_much(const struct dprof_thread *t)
{
	const struct dprof_cursor *cursor = __atomic_load_n(&t->cursor, __ATOMIC_ACQUIRE);

	return cursor && t != dprof_self && t->current && !dprof_chunk_is_left(t) &&
	       is_worth(t, __atomic_load_n(&cursor->next, __ATOMIC_SEQ_CST));
}

static void hold(struct dprof_thread *t, struct dprof_cursor *cursor)
{
	bool taken;

	__atomic_store_n(&t->hold, HOLD_ASKED, __ATOMIC_SEQ_CST);
	taken = take(t, cursor);
	if (taken)
		__atomic_store_n(&t->current->state, CHUNK_FULL, __ATOMIC_SEQ_CST);
	__atomic_store_n(&t->hold, taken ? HOLD_LEFT : HOLD_NONE, __ATOMIC_SEQ_CST);
}

void dprof_chunks_leave(void)
{
	bool prepared = false;

	for (struct dprof_thread *t = dprof_threads(); t && dprof_helper_there(); t = t->following) {
		if (__atomic_load_n(&t->supply, __ATOMIC_ACQUIRE) == SUPPLY_FREE || !may_have_much(t))
			continue;
		if (!prepared && !prepare())
			return;
		prepared = true;
		hold(t, t->cursor);
	}
}
