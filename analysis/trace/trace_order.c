/* SPDX-License-Identifier: MIT
 *
 * trace_order.c - puts the records of one thread in the order of their stamps.
 *
 * An enter and a point claim a slot and then read the counter; an exit reads the counter and
 * then claims a slot. A signal handler that comes between the two claims its own slots there:
 *
 *   slots    7 enter   20 enter   11 enter   12 exit   23 exit     the enter was interrupted
 *   slots    7 enter   11 enter   12 exit     8 exit   23 exit     the exit was interrupted
 *
 * An adapter stamps what an operation is, and claims the slots for that behind it, which takes longest where a chunk
 * ends:
 *
 *   slots   11 enter   12 exit    8 enter lock    8 exit lock     the adapter was interrupted
 *
 * So of two records that stand in the wrong order, the first is no exit, or the second is one, or it is an operation's
 * whose last stamp was known, too, and what handlers have recorded stands whole before it: each visit that ends there
 * begins there, and did so behind that stamp.
 *
 * Law: what handlers explain comes out sorted, with nothing lost. What they do not explain is
 * damage and is dropped: whatever contradicts a longest sorted selection of the thread's
 * records.
 *
 * Records without a stamp (arguments, losses) stay behind the event that they speak of. The
 * counter never shows a thread the same number twice, so equal stamps need no care. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/trace/trace_private.h"

/* An event and the records without a stamp that belong to it. */
struct item {
	uint64_t stamp;
	size_t slot, run;      /* run: slot of the first of them; NO_RUN */
	bool is_exit, keep;
	bool is_late;          /* may have been stamped before what stands before it was */
};
#define NO_RUN SIZE_MAX

struct sorter {
	const struct trace *trace;
	const struct tr_record *in;
	size_t n;
	struct item *item;
	size_t nitems;
};

static bool event(const struct sorter *s, size_t slot)
{
	return is_event(&s->in[slot]);
}

/* ---- Which argument speaks of which event ---------------------------------------------------- */

/* Of the event just before, as a rule. But when a handler has interrupted an enter, that enter's
 * arguments stand behind the handler's last event; we know it by the next event, which is
 * younger than the enter. */
static struct item *owner(struct sorter *s, struct item *highest, uint64_t next_stamp)
{
	struct item *last = &s->item[s->nitems - 1];
	bool exit_was_late = last->is_exit && s->nitems > 1 && last[-1].stamp > last->stamp;
	if (highest->is_exit || highest->run != NO_RUN || exit_was_late ||
	    next_stamp < highest->stamp)
		return last;
	return highest;
}

static size_t next_event(const struct sorter *s, size_t slot)
{
	while (slot < s->n && !event(s, slot))
		slot++;
	return slot;
}

static void collect(struct sorter *s)
{
	struct item *highest = NULL;
	for (size_t slot = next_event(s, 0); slot < s->n;) {
		struct item *item = &s->item[s->nitems++];
		bool is_exit = TR_OP(s->in[slot].what) == DPROF_EXIT;
		*item = (struct item){ .stamp = s->in[slot].stamp, .slot = slot, .run = NO_RUN, .is_exit = is_exit };
		highest = !highest || item->stamp >= highest->stamp ? item : highest;
		size_t next = next_event(s, slot + 1);
		if (next > slot + 1)
			owner(s, highest, next < s->n ? s->in[next].stamp : UINT64_MAX)->run =
				slot + 1;
		slot = next;
	}
}

/* ---- What to keep ---------------------------------------------------------------------------- */

/* A longest selection whose stamps do not go back: for each length the selection of that length
 * that ends lowest, found by bisection. */
static void keep_longest(struct sorter *s)
{
	size_t *last = mem_resize(NULL, s->nitems, sizeof *last), length = 0;
	size_t *before = mem_resize(NULL, s->nitems, sizeof *before);
	for (size_t i = 0; i < s->nitems; i++) {
		size_t lo = 0, hi = length;
		while (lo < hi) {
			size_t mid = lo + (hi - lo) / 2;
			if (s->item[last[mid]].stamp <= s->item[i].stamp)
				lo = mid + 1;
			else
				hi = mid;
		}
		before[i] = lo ? last[lo - 1] : SIZE_MAX;
		last[lo] = i;
		length += lo == length;
	}
	for (size_t i = length ? last[length - 1] : SIZE_MAX; i != SIZE_MAX; i = before[i])
		s->item[i].keep = true;
	free(last);
	free(before);
}

static bool of_operation(const struct sorter *s, const struct item *item)
{
	uint64_t site = TR_BODY(s->in[item->slot].what);
	enum dprof_kind kind = site < s->trace->nsites ? s->trace->sites[site].kind : DPROF_KIND_NONE;
	return kind != DPROF_KIND_NONE && kind != DPROF_KIND_REGION && kind != DPROF_KIND_PROGRESS;
}

/* The item that ends what begins with item i, behind whole visits of handlers; or NULL. */
static const struct item *exit_of(const struct sorter *s, size_t i)
{
	size_t inside = 0;
	for (size_t k = i + 1; k < s->nitems && k - i < HANDLER_RECORDS; k++) {
		unsigned op = TR_OP(s->in[s->item[k].slot].what);
		if (op == DPROF_EXIT && !inside)
			return TR_BODY(s->in[s->item[k].slot].what) == TR_BODY(s->in[s->item[i].slot].what) ? &s->item[k] : NULL;
		inside += op == DPROF_ENTER;
		inside -= op == DPROF_EXIT;
	}
	return NULL;
}

/* The last stamp of an operation, which was known before its slots were claimed: of a visit that of its exit. 0: it is no
 * such operation. */
static uint64_t last_stamp(const struct sorter *s, size_t i)
{
	const struct item *self = &s->item[i], *exit;
	if (!of_operation(s, self))
		return 0;
	if (TR_OP(s->in[self->slot].what) == DPROF_POINT)
		return self->stamp;
	exit = exit_of(s, i);
	return exit ? exit->stamp : 0;
}

/* Whether what stands before operation i and has younger stamps may be what handlers recorded, between its stamps and its
 * slots: they are over, and so is what they visited, which they have begun. */
static bool whole_before(const struct sorter *s, size_t i)
{
	size_t visits = 0, k = i;
	if (!i || s->item[i - 1].stamp <= s->item[i].stamp)
		return false;
	uint64_t last = last_stamp(s, i), least = UINT64_MAX;
	while (k > 0 && i - k < HANDLER_RECORDS && s->item[k - 1].stamp > s->item[i].stamp) {
		unsigned op = TR_OP(s->in[s->item[--k].slot].what);
		visits += op == DPROF_EXIT;
		visits -= op == DPROF_ENTER && visits;
		least = s->item[k].stamp < least ? s->item[k].stamp : least;
	}
	return !visits && last && last < least;
}

static void find_late(struct sorter *s)
{
	for (size_t i = 0; i < s->nitems; i++)
		s->item[i].is_late = s->item[i].is_exit || whole_before(s, i);
}

/* Whether handlers explain that item i stands where it does among those of the longest
 * selection. */
static bool explained(const struct sorter *s, const bool *selected, size_t i)
{
	const struct item *self = &s->item[i];
	for (size_t k = i; k-- > 0 && s->item[k].stamp > self->stamp;)
		if (selected[k] &&
		    (i - k > HANDLER_RECORDS || (s->item[k].is_exit && !self->is_late)))
			return false;
	for (size_t k = i + 1; k < s->nitems && s->item[k].stamp < self->stamp; k++)
		if (selected[k] &&
		    (k - i > HANDLER_RECORDS || (self->is_exit && !s->item[k].is_late)))
			return false;
	return true;
}

static void keep_explained(struct sorter *s)
{
	bool *selected = mem_resize(NULL, s->nitems, sizeof *selected);
	for (size_t i = 0; i < s->nitems; i++)
		selected[i] = s->item[i].keep;
	for (size_t i = 0; i < s->nitems; i++)
		s->item[i].keep = selected[i] || explained(s, selected, i);
	free(selected);
}

static size_t records_of(const struct sorter *s, const struct item *item)
{
	return item->run == NO_RUN ? 1 : 1 + next_event(s, item->run) - item->run;
}

static void find_damage(const struct sorter *s, struct order_damage *damage)
{
	*damage = (struct order_damage){ .at_most = UINT64_MAX };
	for (size_t i = 0; i < s->nitems; i++) {
		const struct item *item = &s->item[i];
		if (!item->keep && !damage->dropped)
			damage->first = item->slot;
		if (item->keep && !damage->dropped)
			damage->at_least = item->stamp;
		if (item->keep && damage->dropped && damage->at_most == UINT64_MAX)
			damage->at_most = item->stamp;
		damage->dropped += item->keep ? 0 : records_of(s, item);
	}
}

/* ---- Sorting --------------------------------------------------------------------------------- */

static int by_stamp(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	return ORDER_2(x, y, stamp, slot);
}

static size_t write_run(const struct sorter *s, size_t slot, struct tr_record *out)
{
	size_t n = 0;
	for (size_t end = next_event(s, slot); slot < end; slot++)
		if (TR_OP(s->in[slot].what) > DPROF_POINT)
			out[n++] = s->in[slot];
	return n;
}

static size_t write_sorted(struct sorter *s, struct tr_record *out)
{
	size_t n = write_run(s, 0, out);
	qsort(s->item, s->nitems, sizeof *s->item, by_stamp);
	for (size_t i = 0; i < s->nitems; i++) {
		if (!s->item[i].keep)
			continue;
		out[n++] = s->in[s->item[i].slot];
		if (s->item[i].run != NO_RUN)
			n += write_run(s, s->item[i].run, out + n);
	}
	return n;
}

size_t order_records(const struct trace *trace, const struct tr_record *in, size_t n, struct tr_record *out,
		     struct order_damage *damage)
{
	struct sorter s = { .trace = trace, .in = in, .n = n };
	s.item = mem_resize(NULL, n, sizeof *s.item);
	collect(&s);
	find_late(&s);
	keep_longest(&s);
	keep_explained(&s);
	find_damage(&s, damage);
	n = write_sorted(&s, out);
	free(s.item);
	return n;
}
