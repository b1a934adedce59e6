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
#include "analysis/base/search.h"
#include "analysis/graph/graph_messages.h"

#define MOST_CALLS 1024 /* behind each other's exits, of one rank's wait; with more it may have waited for anything */

/* A thread of a part's rank: its next call of MPI, which is this one of its calls, and came then at the earliest. */
struct comeback { uint32_t thread, part; size_t next; int64_t lo; };

/* Who may have waited. */
struct leaver { struct event_ref exit; uint32_t part; int64_t lo; };

/* Of one operation; and the inputs of one end of waiting. */
struct returns {
	struct builder *b;
	uint32_t *callers;        /* as graph_find_callers() has them */
	struct comeback *backs; size_t nbacks;
	struct leaver *leavers; size_t nleavers; /* by time */
	struct node_input *inputs; size_t n;
};

static int by_time(const void *x, const void *y)
{
	const struct leaver *a = x, *b = y;
	return a->lo != b->lo ? (a->lo > b->lo) - (a->lo < b->lo) : (a->part > b->part) - (a->part < b->part);
}

static struct event_ref call_at(const struct builder *b, const struct comeback *c)
{
	const struct graph_mpi_call *call = &b->threads[c->thread].calls.v[c->next];
	return (struct event_ref){ c->thread, call->at, call->stamp };
}

static void look_at_next(const struct builder *b, struct comeback *c)
{
	c->lo = c->next < b->threads[c->thread].calls.n ? graph_timed(b, call_at(b, c)).time.lo : INT64_MAX;
}

/* Behind the exit of a part, whose rank the thread is of; but not those before the wait. */
static void add_comeback(struct returns *r, uint32_t thread, const struct left_mpi *left, uint32_t part, struct event_ref since)
{
	struct mpi_calls *calls = &r->b->threads[thread].calls;
	bool own = thread == left->ref.thread;
	struct comeback *c = MEM_GROW(r->backs, r->nbacks);
	calls->behind = SEARCH_NEAR(calls->n, calls->behind, mid,
				    own ? calls->v[mid].at <= left->ref.at : calls->v[mid].stamp <= left->ref.stamp);
	*c = (struct comeback){ thread, part, calls->behind, 0 };
	while (since.at != NO_EVENT && c->next < calls->n && graph_certainly_before(r->b, call_at(r->b, c), since))
		c->next++;
	look_at_next(r->b, c);
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
			*MEM_GROW(r->leavers, r->nleavers) =
				(struct leaver){ left[k].ref, k, graph_timed(r->b, left[k].ref).time.lo };
	qsort(r->leavers, r->nleavers, sizeof *r->leavers, by_time);
}

/* All calls that were certainly before, and are not among the inputs of whoever left before. */
static void add_calls(struct returns *r, const struct leaver *l)
{
	for (struct comeback *c = r->backs; c < r->backs + r->nbacks && r->n <= MOST_CALLS; c++) {
		while (c->part != l->part && c->lo < l->lo && r->n <= MOST_CALLS &&
		       graph_certainly_before(r->b, call_at(r->b, c), l->exit)) {
			*MEM_GROW(r->inputs, r->n) = (struct node_input){ .ref = call_at(r->b, c), .candidate = true };
			c->next++;
			look_at_next(r->b, c);
		}
	}
}

/* The first input of what is hidden is of the thread that waits: it tells whose clock shows its end. */
static void leave(struct returns *r, const struct leaver *l)
{
	bool any = r->n > MOST_CALLS;
	if (any)
		r->inputs[0] = (struct node_input){ .ref = l->exit, .candidate = true, .never_last = true, .arrives = true };
	uint32_t number = graph_add_node(r->b, GRAPH_SYNC, r->inputs, any ? 1 : r->n);
	r->b->graph->nodes[number].hidden = r->b->graph->nodes[number].delayed = any;
	graph_wait_perhaps(r->b, l->exit, number);
}

static void look_at_exits(struct returns *r, bool all)
{
	const struct leaver *before = NULL; /* who may have waited so */
	for (const struct leaver *l = r->leavers; l < r->leavers + r->nleavers; l++) {
		r->n = 0;
		if (all && before)
			*MEM_GROW(r->inputs, r->n) = (struct node_input){ .ref = before->exit, .candidate = true };
		add_calls(r, l);
		if (r->n == 0)
			continue;
		leave(r, l);
		before = l;
	}
}

/* Hardly ever does anybody come back so soon. */
static bool comes_any(const struct returns *r)
{
	int64_t first = INT64_MAX;
	for (size_t i = 0; i < r->nbacks; i++)
		first = r->backs[i].lo < first ? r->backs[i].lo : first;
	return r->nleavers && first < r->leavers[r->nleavers - 1].lo;
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
			look_at_exits(&r, t->all);
	}
	free(r.callers);
	free(r.backs);
	free(r.leavers);
	free(r.inputs);
}
