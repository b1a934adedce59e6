/* SPDX-License-Identifier: MIT
 *
 * open_calls.h - the calls that the calling thread is in and that are recorded when they are over: a signal's handler may
 * leave them by a jump, behind which nobody would.
 *
 *   read() ... handler ... siglongjmp()       ENTER read peer=UNKNOWN until=0 ... EXIT, by who jumps (jumps.c)
 *
 * They are a list, innermost first, of what stands on the thread's stacks. A jump that passes none of our functions leaves
 * some in it that are gone. So whoever comes to be above one of them drops it, and none is believed that does not have
 * the stamp with which it was put there.
 *
 * Law: each call in the list that a jump leaves is recorded as over at the jump, once; and nothing else is. */
#ifndef RUNTIME_PTHREAD_OPEN_CALLS_H
#define RUNTIME_PTHREAD_OPEN_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct call_under_way;

struct open_calls {
	struct call_under_way *call;  /* the innermost; or NULL */
	uint64_t begun;
};

struct call_under_way {
	struct open_calls outer;
	uint64_t begun;          /* a stamp */
	void (*left)(struct call_under_way *);
};

extern __thread struct open_calls open_calls;
extern __thread unsigned handlers_begun; /* of signals, that came to the calling thread; */
extern __thread int handled_last;        /* and the last of them */

static inline bool call_is_below(const struct call_under_way *c, const struct call_under_way *other)
{
	return c && (uintptr_t)c < (uintptr_t)other;
}

/* A frame further down is gone, as stacks grow down; or of another stack, which costs only that it is not known. */
static inline void call_opens(struct call_under_way *c, uint64_t begun, void (*left)(struct call_under_way *))
{
	c->outer = open_calls;
	if (__builtin_expect(call_is_below(c->outer.call, c), 0))
		c->outer.call = NULL;
	c->begun = begun;
	c->left = left;
	__atomic_signal_fence(__ATOMIC_RELEASE); /* a handler that jumps finds all of it, or not this call */
	open_calls = (struct open_calls){ c, begun };
}

/* Likewise a handler, which may be on a stack of its own. */
void call_interrupts(struct call_under_way *, uint64_t begun, void (*left)(struct call_under_way *));

/* Also of one that was never opened, or was left. */
static inline void call_closes(const struct call_under_way *c)
{
	if (open_calls.call == c)
		open_calls = c->outer;
}

#endif
