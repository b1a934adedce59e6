/* SPDX-License-Identifier: MIT
 *
 * graph_returns.c - ranks that were through with an operation of several, or had sent a message, and came back to MPI before others
 * were through.
 *
 *   rank 0   ---enter)(exit---[work]---enter)
 *   rank 1        enter)                    (exit---    with what rank 0 has sent it there, or only here
 *
 * What a rank gives to others it may have copied: then it has left, and that goes on only when its rank calls MPI again, in
 * whichever thread, and no call need bring what it finds. So whoever left behind such a call may have waited for it, in any
 * run, besides what it has waited for (GRAPH_PERHAPS). Of a message the very next call of its sender is such a candidate as
 * well (graph_messages.c), which may be expected; and what was there when its receive began needed none of these.
 *
 * Where all wait for all, whoever leaves may have waited for whatever the one before him may have, and for what came since
 * then: so each call is an input once, however many ranks leave behind it. */
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/search.h"
#include "analysis/graph/graph_messages.h"

#define MOST_CALLS 1024 /* behind each other's exits, of one rank's wait; with more it may have waited for anything */

/* A thread of a part's rank: its next call of MPI, which is this one of its calls, and came then at the earliest; and what it did
 * before that, of which it is known how much sooner that may be: its last call before, or that it had left. */
struct comeback { uint32_t thread, part; size_t first, next; int64_t first_lo, lo; struct event_ref left, before; };

/* Who may have waited: and when he left, as far as clocks tell. */
struct leaver { struct event_ref exit; uint32_t part; frz_time time; };

/* Of one operation; and the inputs of one end of waiting, of which the first is the thread's own. */
struct returns {
	struct builder *b;
	uint32_t *callers;        /* as graph_find_callers() has them */
	struct comeback *backs; size_t nbacks;
	struct leaver *leavers; size_t nleavers; /* in the order in which they left, as far as lower bounds go */
	struct node_input *inputs; size_t n;
};

static int by_time(const void *x, const void *y)
{
	const struct leaver *a = x, *b = y;
	return ORDER_2(a, b, time.lo, part);
}

static struct event_ref call_at(const struct builder *b, const struct comeback *c)
{
	const struct graph_mpi_call *call = &b->threads[c->thread].calls.v[c->next];
	return (struct event_ref){ c->thread, call->at, call->stamp };
}

static frz_time time_of(const struct builder *b, struct event_ref ref)
{
	return graph_timed(b, ref).time;
}

static bool is_over(const struct builder *b, const struct comeback *c)
{
	return c->next == b->threads[c->thread].calls.n;
}

static void look_at_next(const struct builder *b, struct comeback *c)
{
	c->lo = is_over(b, c) ? INT64_MAX : time_of(b, call_at(b, c)).lo;
}

/* Behind the exit of a part, whose rank the thread is of; but not those before the wait. */
static void add_comeback(struct returns *r, uint32_t thread, const struct left_mpi *left, uint32_t part, struct event_ref since)
{
	struct mpi_calls *calls = &r->b->threads[thread].calls;
	bool own = thread == left->ref.thread;
	struct comeback *c = MEM_GROW(r->backs, r->nbacks);
	calls->behind = SEARCH_NEAR(calls->n, calls->behind, mid,
				    own ? calls->v[mid].at <= left->ref.at : calls->v[mid].stamp <= left->stamp);
	*c = (struct comeback){ .thread = thread, .part = part, .next = calls->behind, .left = left->ref };
	while (since.at != NO_EVENT && !is_over(r->b, c) && graph_certainly_before(r->b, call_at(r->b, c), since))
		c->next++;
	c->first = c->next;
	c->before = c->left;
	look_at_next(r->b, c);
	c->first_lo = c->lo;
}

static void find_comebacks(struct returns *r, const struct left_mpi *left, const struct left_together *of)
{
	r->nbacks = 0;
	for (uint32_t k = 0; k < of->n; k++) {
		uint32_t thread = left[k].ref.thread;
		add_comeback(r, thread, &left[k], k, of->since);
		for (uint32_t t = r->callers[thread]; t != thread; t = r->callers[t])
			add_comeback(r, t, &left[k], k, of->since);
	}
}

static void find_leavers(struct returns *r, const struct left_mpi *left, uint32_t n)
{
	r->nleavers = 0;
	for (uint32_t k = 0; k < n; k++)
		if (left[k].waits)
			*MEM_GROW(r->leavers, r->nleavers) = (struct leaver){ left[k].ref, k, time_of(r->b, left[k].ref) };
	qsort(r->leavers, r->nleavers, sizeof *r->leavers, by_time);
}

static void add_input(struct returns *r, struct event_ref ref)
{
	*MEM_GROW(r->inputs, r->n) = (struct node_input){ .ref = ref, .candidate = true };
}

static void begin_again(struct returns *r)
{
	for (struct comeback *c = r->backs; c < r->backs + r->nbacks; c++) {
		c->next = c->first;
		c->before = c->left;
		c->lo = c->first_lo;
	}
}

/* All calls that were certainly before, and are not among the inputs of whoever left before. */
static void add_calls(struct returns *r, const struct leaver *l)
{
	for (struct comeback *c = r->backs; c < r->backs + r->nbacks && r->n <= MOST_CALLS; c++) {
		while (c->part != l->part && c->lo < l->time.lo && r->n <= MOST_CALLS &&
		       graph_certainly_before(r->b, call_at(r->b, c), l->exit)) {
			c->before = call_at(r->b, c);
			add_input(r, c->before);
			c->next++;
			look_at_next(r->b, c);
		}
	}
}

static uint32_t clock_of(const struct builder *b, uint32_t thread)
{
	return b->graph->clocks[thread];
}

#define MOST_OPEN 64 /* calls of a thread that are looked at, of which clocks do not show whether they came before */

/* Until the last of them; or as long as can be, where another thread did what came before. On one clock stamps tell. */
static int64_t until_open(const struct builder *b, const struct comeback *c, struct event_ref exit)
{
	struct comeback next = *c;
	int64_t until = 0;
	if (is_over(b, c) || clock_of(b, c->thread) == clock_of(b, exit.thread) || graph_certainly_before(b, exit, call_at(b, c)))
		return 0;
	if (c->before.thread != c->thread)
		return (int64_t)GRAPH_MOST;
	for (; !is_over(b, &next) && next.next - c->next < MOST_OPEN &&
	       !graph_certainly_before(b, exit, call_at(b, &next)); next.next++)
		until = graph_between(b, c->before, call_at(b, &next)).hi;
	return until > 0 ? until : 0;
}

/* Of calls that may have come before, or not, none saves more than what came before it in its thread, and what passed since then.
 * Returns how long that was. */
static uint64_t add_open_calls(struct returns *r, const struct leaver *l)
{
	uint64_t passed = 0;
	for (const struct comeback *c = r->backs; c < r->backs + r->nbacks; c++) {
		int64_t until = c->part == l->part || c->lo > l->time.hi ? 0 : until_open(r->b, c, l->exit);
		passed = passed + (uint64_t)until < GRAPH_MOST ? passed + (uint64_t)until : GRAPH_MOST;
		if (until > 0 && graph_certainly_before(r->b, c->before, l->exit))
			add_input(r, c->before);
	}
	return passed;
}

/* The first input tells whose clock shows its end, and how much more may be saved. Of a message that is not asked where its receive
 * tells how much that is at most. */
static void leave(struct returns *r, const struct leaver *l, uint64_t more, bool limited)
{
	bool any = r->n > MOST_CALLS;
	r->n = any ? (size_t)1 + limited : r->n;
	r->inputs[0] = (struct node_input){ .ref = l->exit, .bytes = limited ? 0 : more, .candidate = true, .never_last = true,
					    .arrives = true };
	uint32_t number = graph_add_node(r->b, GRAPH_SYNC, r->inputs, r->n);
	struct graph_node *node = &r->b->graph->nodes[number];
	node->what = GRAPH_RETURNED;
	node->hidden = any || (limited && more > 0);
	node->delayed = any;
	graph_wait_perhaps(r->b, l->exit, number);
}

static void look_at_exits(struct returns *r, const struct left_together *of)
{
	const struct leaver *before = NULL; /* who may have waited so */
	bool limited = of->since.at != NO_EVENT;
	for (const struct leaver *l = r->leavers; l < r->leavers + r->nleavers; l++) {
		r->n = 0;
		add_input(r, l->exit);
		if (limited) { /* no sooner than that it is over */
			add_input(r, of->since);
			r->inputs[1].needed = true;
		}
		if (before && !graph_certainly_before(r->b, before->exit, l->exit)) {
			begin_again(r);
			before = NULL;
		}
		if (before)
			add_input(r, before->exit);
		size_t own = r->n;
		add_calls(r, l);
		uint64_t more = add_open_calls(r, l);
		if (r->n == own && more == 0 && !before)
			continue;
		leave(r, l, more, limited);
		before = of->all ? l : NULL;
	}
}

/* Hardly ever does anybody come back so soon. */
static bool comes_any(const struct returns *r)
{
	int64_t first = INT64_MAX, last = INT64_MIN;
	for (size_t i = 0; i < r->nbacks; i++)
		first = r->backs[i].lo < first ? r->backs[i].lo : first;
	for (size_t i = 0; i < r->nleavers; i++)
		last = r->leavers[i].time.hi > last ? r->leavers[i].time.hi : last;
	return first <= last;
}

uint32_t *graph_find_callers(const struct builder *b)
{
	const struct tr_thread *threads = b->graph->trace->threads;
	size_t n = b->graph->trace->nthreads;
	uint32_t *next = mem_resize(NULL, n + 1, sizeof *next), last = UINT32_MAX;
	for (uint32_t t = 0; t < n; t++) {
		next[t] = t;
		if (b->threads[t].calls.n == 0)
			continue;
		if (last != UINT32_MAX && threads[last].process == threads[t].process) {
			next[t] = next[last];
			next[last] = t;
		}
		last = t;
	}
	return next;
}

void graph_returns(struct builder *b, const struct message_records *m)
{
	struct returns r = { .b = b, .callers = graph_find_callers(b) };
	for (size_t i = 0; i < m->ntogether; i++, spill_relax(b->spill)) {
		const struct left_together *t = &m->together[i];
		find_comebacks(&r, &m->left[t->first], t);
		find_leavers(&r, &m->left[t->first], t->n);
		if (comes_any(&r))
			look_at_exits(&r, t);
	}
	free(r.callers);
	free(r.backs);
	free(r.leavers);
	free(r.inputs);
}
