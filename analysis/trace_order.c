/* SPDX-License-Identifier: MIT
 *
 * trace_order.c - puts the records of one thread in the order of their stamps.
 *
 * A slot is claimed before its stamp is read. A signal handler that comes between the two claims later
 * slots and stamps them earlier; it may be interrupted in the same way. So what was claimed last is
 * stamped first, as on a stack, and a stack undoes it:
 *
 *   slots   7  8  20  11  15  12  23      20 was interrupted, and the handler's 15 as well
 *   stack         20  20  20  20
 *                     11  15  15
 *                             12
 *   order   7  8          11      12 15 20  23
 *
 * Law: what n interrupted records explain comes out sorted, with nothing lost. What they do not explain
 * is damage; then the longest sorted selection is kept and the rest dropped and counted.
 *
 * Records without a stamp (arguments, losses) stay behind the event that they speak of. The counter never
 * shows a thread the same number twice, so ties need no care. */
#include <stdlib.h>
#include <string.h>

#include "analysis/memory.h"
#include "analysis/trace_private.h"

struct sorter {
	const struct dprof_record *in;
	size_t n;
	size_t zeros;          /* before this record, 0 is a stamp */
	size_t *out, nout;     /* indices of `in`, in order */
	size_t *stack, depth;
};

static bool event(const struct sorter *s, size_t i)
{
	return is_event(&s->in[i], i < s->zeros);
}

static void pop(struct sorter *s)
{
	s->out[s->nout++] = s->stack[--s->depth];
}

static void pop_up_to(struct sorter *s, uint64_t stamp)
{
	while (s->depth && s->in[s->stack[s->depth - 1]].stamp <= stamp)
		pop(s);
}

/* The records without a stamp from `i` on speak of the last event that had its stamp when they were claimed:
 * all that did are older than the next event, all that did not are younger. The next event's index. */
static size_t take_unstamped(struct sorter *s, size_t i)
{
	size_t end = i;
	while (end < s->n && !event(s, end))
		end++;
	if (end > i)
		pop_up_to(s, end < s->n ? s->in[end].stamp : UINT64_MAX);
	for (; i < end; i++)
		if (DPROF_OP(s->in[i].what) > DPROF_POINT)
			s->out[s->nout++] = i;
	return end;
}

static void unstack(struct sorter *s)
{
	s->nout = 0;
	for (size_t i = take_unstamped(s, 0); i < s->n;) {
		pop_up_to(s, s->in[i].stamp);
		if (s->depth && i - s->stack[0] > HANDLER_RECORDS)
			pop_up_to(s, UINT64_MAX);
		s->stack[s->depth++] = i;
		i = take_unstamped(s, i + 1);
	}
	pop_up_to(s, UINT64_MAX);
}

/* All as it was, but for what is unfinished. */
static void leave(struct sorter *s)
{
	s->nout = 0;
	for (size_t i = 0; i < s->n; i++)
		if (event(s, i) || DPROF_OP(s->in[i].what) > DPROF_POINT)
			s->out[s->nout++] = i;
}

/* Marks a longest selection of stamped records whose stamps do not go back: for each length the selection
 * of that length that ends lowest, found by bisection. Returns its length. */
static size_t longest_sorted(const struct sorter *s, bool *keep)
{
	size_t *last = mem_resize(NULL, s->nout, sizeof *last), length = 0;
	size_t *before = mem_resize(NULL, s->nout, sizeof *before);
	for (size_t i = 0; i < s->nout; i++) {
		if (!event(s, s->out[i]))
			continue;
		uint64_t stamp = s->in[s->out[i]].stamp;
		size_t lo = 0, hi = length;
		while (lo < hi) {
			size_t mid = lo + (hi - lo) / 2;
			if (s->in[s->out[last[mid]]].stamp <= stamp)
				lo = mid + 1;
			else
				hi = mid;
		}
		before[i] = lo ? last[lo - 1] : SIZE_MAX;
		last[lo] = i;
		length += lo == length;
	}
	for (size_t i = length ? last[length - 1] : SIZE_MAX; i != SIZE_MAX; i = before[i])
		keep[s->out[i]] = true;
	free(last);
	free(before);
	return length;
}

/* Between which stamps, in the order of the slots, the first dropped one should be. */
static void find_bounds(const struct sorter *s, const bool *keep, struct order_damage *damage)
{
	size_t before = damage->first, after = damage->first;
	while (before && !keep[before])
		before--;
	while (after < s->n && !keep[after])
		after++;
	damage->at_least = keep[before] ? s->in[before].stamp : 0;
	damage->at_most = after < s->n ? s->in[after].stamp : UINT64_MAX;
}

/* Marks what to keep of a damaged thread: in the order of the slots, unless handlers explain more of it. */
static void choose(struct sorter *s, bool *keep)
{
	memset(keep, 0, s->n * sizeof *keep);
	size_t unstacked = longest_sorted(s, keep);
	leave(s);
	memset(keep, 0, s->n * sizeof *keep);
	if (longest_sorted(s, keep) >= unstacked)
		return;
	unstack(s);
	memset(keep, 0, s->n * sizeof *keep);
	longest_sorted(s, keep);
}

/* Takes out what is not to be kept, each with the unstamped records behind it. */
static void drop_unsorted(struct sorter *s, struct order_damage *damage)
{
	bool *keep = mem_resize(NULL, s->n, sizeof *keep), keeping = true;
	size_t kept = 0;
	choose(s, keep);
	damage->first = SIZE_MAX;
	for (size_t i = 0; i < s->nout; i++) {
		size_t slot = s->out[i];
		if (event(s, slot))
			keeping = keep[slot];
		if (keeping)
			s->out[kept++] = slot;
		else if (slot < damage->first)
			damage->first = slot;
	}
	damage->dropped = s->nout - kept;
	find_bounds(s, keep, damage);
	s->nout = kept;
	free(keep);
}

static bool sorted(const struct sorter *s)
{
	uint64_t highest = 0;
	for (size_t i = 0; i < s->nout; i++) {
		const struct dprof_record *r = &s->in[s->out[i]];
		if (!event(s, s->out[i]))
			continue;
		if (r->stamp < highest)
			return false;
		highest = r->stamp;
	}
	return true;
}

static size_t count_zeros(const struct dprof_record *in, size_t n)
{
	size_t i = 0;
	while (i < n && !(DPROF_OP(in[i].what) <= DPROF_POINT && in[i].stamp))
		i++;
	return i;
}

size_t order_records(const struct dprof_record *in, size_t n, bool complete, struct dprof_record *out,
		     struct order_damage *damage)
{
	struct sorter s = { .in = in, .n = n, .zeros = complete ? count_zeros(in, n) : 0 };
	s.out = mem_resize(NULL, n, sizeof *s.out);
	s.stack = mem_resize(NULL, n, sizeof *s.stack);
	*damage = (struct order_damage){ 0 };
	unstack(&s);
	if (!sorted(&s))
		drop_unsorted(&s, damage);
	for (size_t i = 0; i < s.nout; i++)
		out[i] = in[s.out[i]];
	free(s.out);
	free(s.stack);
	return s.nout;
}
