/* SPDX-License-Identifier: MIT
 *
 * graph_latches.c - what is there for good once it is given: C++'s futures and latches, what pthread_once has done. All who look
 * are recorded, also those who found it there; so it is known for whom they would have to wait in another run.
 *
 *   future   whoever gave last before the look has given it: a state is given once, and one that is at the same address later only
 *            after that look
 *   latch    all who have counted it down since it was made. It says from how much: that grows where a new one is
 *
 * A promise may be fulfilled by the last of several threads, or by the first, which only a counter in memory tells. So what any
 * third thread had done by then is a candidate, which that counter may have waited for: up to where it began to wait, if it did, or
 * to its end. Of one that was at work then, that is not known, and nothing is proved; nor that the one who gave it is needed, where
 * a third one went on before the look was over.
 *
 * Who tries whether it is there (a latch, or that a thread is to stop) does something else until then: in another run more of it or
 * less, or it ends before. Nothing of that is proved.
 *
 * What is made by whoever comes first (pthread_once) another one makes in another run: nothing is proved of who finds it made, nor
 * of who made it here, if others look for it: that one may find it made. Where it began with that is in no record. */
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/search.h"
#include "analysis/graph/graph_locks.h"

struct latch {
	struct builder *b;
	struct tried_records *tried;
	const struct sync_event **given; size_t ngiven; /* since it was made */
	const struct sync_event **last;                 /* of each thread of the process, or NULL */
	uint32_t first, nthreads;                       /* these */
	struct node_input *inputs; size_t ninputs;      /* of the node that is made */
	bool needed, loose;
};

static const struct operation *operation_at(const struct builder *b, const struct sync_event *e)
{
	return &b->graph->trace->sites[e->site].op;
}

static void give(struct latch *l, const struct sync_event *e)
{
	bool goes_on = l->ngiven && e->counts_from && e->counts_from < l->given[l->ngiven - 1]->counts_from;
	l->ngiven = goes_on ? l->ngiven : 0;
	*MEM_GROW(l->given, l->ngiven) = e;
	l->last[e->ref.thread - l->first] = e;
}

/* ---- Third threads of a future --------------------------------------------------------------------- */

/* Where it was when the other one gave; false: at work. */
static bool find_at(struct latch *l, uint32_t thread, uint64_t given, struct event_ref *at, uint64_t *until)
{
	const struct graph_thread *t = &l->b->graph->threads[thread];
	const struct blocking_calls *c = &l->b->threads[thread].blocking;
	size_t n = SEARCH(c->n, mid, c->v[mid].stamp <= given);
	*at = (struct event_ref){ thread, t->nevents - 1, t->last };
	*until = UINT64_MAX;
	if (t->last <= given)
		return true;
	if (n == 0 || c->v[n - 1].until <= given)
		return false;
	*at = (struct event_ref){ thread, c->v[n - 1].at, c->v[n - 1].stamp };
	*until = c->v[n - 1].until;
	return true;
}

static void add_third(struct latch *l, uint32_t thread, const struct sync_event *given, const struct sync_event *look)
{
	struct event_ref at;
	uint64_t until;
	if (!find_at(l, thread, given->ref.stamp, &at, &until)) {
		l->loose = true;
		l->needed = false;
		return;
	}
	l->needed &= until >= look->ref.stamp;
	*MEM_GROW(l->inputs, l->ninputs) = (struct node_input){ .ref = at, .candidate = true };
}

static void add_thirds(struct latch *l, const struct sync_event *given, const struct sync_event *look)
{
	const struct graph *g = l->b->graph;
	for (uint32_t t = l->first; t < l->first + l->nthreads; t++)
		if (t != given->ref.thread && t != look->ref.thread && g->threads[t].nevents > 0 &&
		    g->threads[t].first <= given->ref.stamp)
			add_third(l, t, given, look);
}

/* ---- Looks ----------------------------------------------------------------------------------------- */

static bool is_input(const struct latch *l, uint32_t thread)
{
	for (size_t i = 0; i < l->ninputs; i++)
		if (l->inputs[i].ref.thread == thread)
			return true;
	return false;
}

/* The last of each thread stands for those before it. */
static void add_given(struct latch *l, const struct sync_event *look)
{
	for (size_t i = l->ngiven; i-- > 0;)
		if (l->given[i]->ref.thread != look->ref.thread && !is_input(l, l->given[i]->ref.thread))
			*MEM_GROW(l->inputs, l->ninputs) = (struct node_input){ .ref = l->given[i]->ref, .sure = true, .needed = l->needed };
}

/* Two that count down at the same time may have said from how much in the other order: then one of them seems to be of an earlier
 * latch. */
static void add_earlier(struct latch *l, const struct sync_event *look)
{
	for (uint32_t t = 0; t < l->nthreads; t++)
		if (l->last[t] && l->first + t != look->ref.thread && !is_input(l, l->first + t))
			*MEM_GROW(l->inputs, l->ninputs) = (struct node_input){ .ref = l->last[t]->ref, .candidate = true };
}

/* Another one gives so soon behind the look that, as stamps of different cores show it, that may have been before. */
static bool is_soon(const struct builder *b, const struct sync_event *look, const struct sync_event *end)
{
	uint64_t slack = graph_skew_of(b, look);
	for (const struct sync_event *e = look + 1; e < end && e->ref.stamp <= look->ref.stamp + slack; e++)
		if (e->kind == SYNC_SIGNALLED && e->ref.thread != look->ref.thread)
			return true;
	return false;
}

static void unknown(struct builder *b, const struct sync_event *look)
{
	graph_diagnose(&b->diagnosed.alone, look->ref, look->site);
	graph_unknown(b, look->begin, look->ref);
}

/* The first input of what is waited for is never a candidate: a replay (coz/greedy_prepare.c) has that where nothing else is said
 * of a node. */
static void begin_waiting(struct latch *l, const struct sync_event *look)
{
	struct node_input begin[BEGIN_INPUTS];
	size_t n = graph_begin_inputs(&look->begin, begin);
	l->ninputs = 0;
	for (size_t i = 0; i < n; i++)
		*MEM_GROW(l->inputs, l->ninputs) = begin[i];
}

/* Whether its thread begins something between two looks. */
static bool does_between(const struct latch *l, const struct sync_event *e, const struct sync_event *next)
{
	const struct things_done *done = &l->b->threads[e->ref.thread].done;
	size_t i = SEARCH(done->n, mid, done->v[mid] <= e->ref.at);
	return i < done->n && done->v[i] < next->enter.at;
}

/* It found at once that it is there, went on with other work, and looks again, for what nobody has given anew: so that it is there
 * did not end what it did. */
static bool goes_on_all_the_same(const struct latch *l, const struct sync_event *e, const struct sync_event *end)
{
	if (e->begin.enter.at + 1 < e->enter.at || !(operation_at(l->b, e)->is & OP_ATTEMPT))
		return false;
	const struct sync_event *next = e + 1;
	while (next < end && next->kind != SYNC_SIGNALLED && next->ref.thread != e->ref.thread)
		next++;
	return next < end && next->kind != SYNC_SIGNALLED && next->site == e->site && does_between(l, e, next);
}

static void look(struct latch *l, const struct sync_event *e, const struct sync_event *end)
{
	const struct sync_event *given = l->ngiven ? l->given[l->ngiven - 1] : NULL;
	const struct operation *o = operation_at(l->b, e);
	if (!given && o->first && e->blocked)
		unknown(l->b, e);
	if ((!given && o->first) || goes_on_all_the_same(l, e, end))
		return; /* by who is not recorded; or in another run it may not be there yet */
	l->needed = !o->first && !e->begin.tried;
	l->loose = o->first || is_soon(l->b, e, end) || e->begin.tried;
	begin_waiting(l, e);
	size_t begins = l->ninputs;
	if (o->once && given && given->ref.thread != e->ref.thread)
		add_thirds(l, given, e);
	if (given) {
		graph_tried_by(l->tried, e, given->ref);
		add_given(l, e);
	}
	if (o->counted)
		add_earlier(l, e);
	if (l->ninputs == begins) { /* the thread gave it itself, or nobody is known to have */
		if (!given)
			unknown(l->b, e);
		return;
	}
	uint32_t number = graph_add_node(l->b, GRAPH_SYNC, l->inputs, l->ninputs);
	struct graph_node *node = &l->b->graph->nodes[number];
	node->loose = node->hidden = node->delayed = l->loose;
	node->posted = true;
	node->polled = e->begin.tried;
	graph_wait(l->b, e->ref, number);
}

static void find_threads(struct latch *l, uint32_t process)
{
	const struct trace *trace = l->b->graph->trace;
	while (l->first < trace->nthreads && trace->threads[l->first].process != process)
		l->first++;
	while (l->first + l->nthreads < trace->nthreads && trace->threads[l->first + l->nthreads].process == process)
		l->nthreads++;
	l->last = spill_zeros(l->b->spill, l->nthreads + 1, sizeof *l->last);
}

/* Whether any other thread looks for what is given here. */
static bool is_looked_for(const struct sync_event *t, size_t n, const struct sync_event *given)
{
	bool looked = false;
	for (size_t i = 0; i < n && !looked; i++)
		looked = t[i].kind != SYNC_SIGNALLED && t[i].ref.thread != given->ref.thread;
	return looked;
}

/* Another thread may make it in another run. */
static void let_go(struct builder *b, struct event_ref made)
{
	graph_set_schedule(b, (struct event_ref){ made.thread, 0, b->graph->threads[made.thread].first }, GRAPH_POOL_ENTERED);
	graph_let_go(b, made);
	graph_set_schedule(b, made, GRAPH_POOL_LEFT);
}

void graph_latches(struct builder *b, struct tried_records *tried, const struct sync_event *t, size_t n)
{
	struct latch l = { .b = b, .tried = tried };
	find_threads(&l, t->process);
	for (size_t i = 0; i < n; i++) {
		bool gives = t[i].kind == SYNC_SIGNALLED;
		if (gives && operation_at(b, &t[i])->first && is_looked_for(t, n, &t[i]))
			let_go(b, t[i].ref);
		if (gives)
			give(&l, &t[i]);
		else
			look(&l, &t[i], t + n);
	}
	spill_free(b->spill, l.last);
	free(l.given);
	free(l.inputs);
}
