/* SPDX-License-Identifier: MIT
 *
 * orders.c - first which locks are plain, then the sum of all that comes beside the paths. */
#include "analysis/coz/orders.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/search.h"

#define NO_QUEUE UINT32_MAX

/* ---- Nodes ----------------------------------------------------------------------------------- */

/* The lock that is had behind a node; or NO_QUEUE. */
static uint32_t lock_of(const struct graph *g, uint32_t node)
{
	size_t i = SEARCH(g->nturns, mid, g->turns[mid].node < node);
	bool turn = i < g->nturns && g->turns[i].node == node && g->queues[g->turns[i].queue].kind == GRAPH_LOCK;
	return turn ? g->turns[i].queue : NO_QUEUE;
}

bool orders_is_plain(const struct orders *o, const struct graph *g, uint32_t node)
{
	uint32_t lock = g->nodes[node].loose ? lock_of(g, node) : NO_QUEUE;
	return lock != NO_QUEUE && o->plain[lock];
}

/* Not of an end that a time brings, nor of what happens by itself (graph_let_go) or begins a thread that nobody is known to have
 * begun. But a wait of which nobody knows for whom may be for a lock (of a file, of a stream, ...). */
bool orders_decide(const struct graph_node *j)
{
	bool by_time = j->kind == GRAPH_UNKNOWN && (!graph_lacks_cause(j) || j->what == GRAPH_TIMED);
	return j->loose && j->delayed && !by_time && !(j->kind == GRAPH_SYNC && j->ninputs == 1);
}

/* ---- Where a thread is ------------------------------------------------------------------------ */

static bool is_wait(const struct graph_sync_point *s)
{
	return s->what == GRAPH_WAITS || s->what == GRAPH_ENDS;
}

/* Whether a thread goes on from a point only when the node has happened: not if it comes to that again before it waits, as who
 * comes to a barrier, does something else, and then waits for the others. */
static bool waits_next(const struct graph *g, const struct graph_thread *t, size_t sync, uint32_t node)
{
	uint64_t event = t->syncs[sync].at;
	bool again = false;
	for (sync++; sync < t->nsyncs && !is_wait(&t->syncs[sync]); sync++) {
		const struct graph_sync_point *s = &t->syncs[sync];
		again |= s->what == GRAPH_POSTS && s->at > event && g->inputs[s->number].node == node;
	}
	return !again && sync < t->nsyncs && t->syncs[sync].number == node;
}

static bool is_given(const struct visitor *r)
{
	return r->schedule != GRAPH_STATIC || r->pools > 0;
}

bool orders_beside(const struct orders *o, const struct visitor *r)
{
	return !r->waiting && (r->locks > 0 || (is_given(r) && o->given));
}

frz_time orders_passed(const struct visit *v, struct visitor *r, uint64_t stamp)
{
	frz_time passed = { 0, 0 };
	if (orders_beside(v->orders, r) && stamp > r->stamp)
		passed = times_of_thread(v->times, (size_t)(r - v->visitors), r->stamp, stamp);
	r->stamp = stamp;
	return passed;
}

void orders_pass(const struct orders *o, const struct graph *g, struct visitor *r, const struct graph_thread *t, size_t sync)
{
	const struct graph_sync_point *s = &t->syncs[sync];
	if (is_wait(s)) {
		r->waiting = false;
		r->locks += orders_is_plain(o, g, s->number);
	} else if (s->what == GRAPH_POSTS) {
		r->waiting |= waits_next(g, t, sync, g->inputs[s->number].node);
	} else if (s->what == GRAPH_RELEASES) {
		r->locks -= o->plain[s->number];
	}
}

/* ---- Which locks are plain -------------------------------------------------------------------- */

/* A thread that is looked at, and the locks that it has. */
struct holder {
	const struct visit *v;
	struct orders *o;
	struct visitor at;   /* whose work it does */
	uint32_t *locks; size_t n, step;
	bool changed;        /* some lock is not plain, or work that is given out is not as it must be */
};

static void not_plain(struct holder *h, uint32_t lock)
{
	h->changed |= h->o->plain[lock];
	h->o->plain[lock] = false;
}

/* The thread waits for something, or it is not known for how long it stays there. */
static void stay(struct holder *h)
{
	for (size_t i = 0; i < h->n; i++)
		not_plain(h, h->locks[i]);
	if (is_given(&h->at)) {
		h->changed |= h->o->given;
		h->o->given = false;
	}
}

static void give_back(struct holder *h, uint32_t lock)
{
	size_t i = 0;
	if (h->v->g->queues[lock].kind != GRAPH_LOCK)
		return;
	while (i < h->n && h->locks[i] != lock)
		i++;
	if (i == h->n)
		not_plain(h, lock); /* another one has it */
	else
		h->locks[i] = h->locks[--h->n];
}

/* A barrier, or the end of a team. */
static bool is_of_all(const struct graph *g, const struct graph_node *j)
{
	size_t site = j->what >= GRAPH_COLLECTIVE ? (size_t)j->what - GRAPH_COLLECTIVE : SIZE_MAX;
	bool named = j->kind == GRAPH_ARRIVAL && site < g->trace->nsites;
	return j->kind == GRAPH_SYNC || (named && g->trace->sites[site].kind == DPROF_KIND_JOIN);
}

/* Work that is given out may be over behind the wait. */
static bool ends_there(const struct graph_thread *t, size_t sync, struct visitor at)
{
	uint64_t event = t->syncs[sync].at;
	for (; sync < t->nsyncs && t->syncs[sync].at == event; sync++)
		if (t->syncs[sync].what == GRAPH_SCHEDULES)
			visitor_schedule(&at, t->syncs[sync].number);
	return !is_given(&at);
}

static void wait_there(struct holder *h, const struct graph_thread *t, size_t sync)
{
	uint32_t node = t->syncs[sync].number, lock = lock_of(h->v->g, node);
	if (lock == NO_QUEUE || !h->o->plain[lock]) {
		struct visitor at = h->at;
		if (is_of_all(h->v->g, &h->v->g->nodes[node]) && ends_there(t, sync, at))
			h->at = (struct visitor){ .schedule = GRAPH_STATIC };
		stay(h);
		h->at = at;
	}
	if (lock != NO_QUEUE)
		*MEM_GROW(h->locks, h->n) = lock;
}

/* Who does work that is given out gives nothing to others but locks and its end, and comes only to what it waits for: it creates no
 * thread and counts down no latch, as another one may do in another run. */
static bool may_give(const struct graph *g, const struct graph_thread *t, size_t sync)
{
	uint32_t node = g->inputs[t->syncs[sync].number].node;
	const struct graph_node *j = &g->nodes[node];
	bool ends = t->syncs[sync].at + 1 == t->nevents;
	if (j->kind == GRAPH_SYNC)
		return waits_next(g, t, sync, node) || (ends && !j->posted);
	return is_of_all(g, j) || (j->kind == GRAPH_ARRIVAL && (j->what == GRAPH_LOCKED || j->what == GRAPH_JOINED));
}

static void look_at_steps(struct holder *h, uint32_t thread, size_t sync)
{
	const struct coz_steps *steps = &h->v->steps[thread];
	for (; h->step < steps->n && steps->v[h->step].sync <= sync; h->step++)
		if (steps->v[h->step].what == STEP_FORGET || steps->v[h->step].what == STEP_DELAY)
			stay(h);
}

static void look_at_thread(struct holder *h, uint32_t thread)
{
	const struct graph *g = h->v->g;
	const struct graph_thread *t = &g->threads[thread];
	h->at = (struct visitor){ .schedule = GRAPH_STATIC };
	h->n = h->step = 0;
	for (size_t i = 0; i < t->nsyncs; i++, spill_relax(g->spill)) {
		const struct graph_sync_point *s = &t->syncs[i];
		look_at_steps(h, thread, i);
		if (is_wait(s))
			wait_there(h, t, i);
		else if (s->what == GRAPH_SCHEDULES)
			visitor_schedule(&h->at, s->number);
		else if (s->what == GRAPH_RELEASES)
			give_back(h, s->number);
		else if (s->what == GRAPH_POSTS && is_given(&h->at) && !may_give(g, t, i))
			stay(h);
	}
	for (size_t i = 0; i < h->n; i++)
		not_plain(h, h->locks[i]);
}

/* Which turns are plain; and then, until nothing changes, what they need of each other. */
static void find_plain(struct orders *o, struct visit *v)
{
	const struct graph *g = v->g;
	struct holder h = { .v = v, .o = o, .changed = true };
	for (size_t q = 0; q < g->nqueues; q++)
		o->plain[q] = g->queues[q].kind == GRAPH_LOCK;
	for (size_t i = 0; i < g->nturns; i++, spill_relax(g->spill)) {
		const struct graph_turn *turn = &g->turns[i];
		o->plain[turn->queue] &= turn->plain && transfer_handed_on(&v->coz->transfer, &g->nodes[turn->node]) < INT64_MAX;
	}
	while (h.changed) {
		h.changed = false;
		for (uint32_t t = 0; t < g->trace->nthreads; t++)
			look_at_thread(&h, t);
	}
	free(h.locks);
}

/* ---- What comes beside the paths --------------------------------------------------------------- */

static void cut_beside(struct visit *v, const struct visitor *r, const struct coz_step *s)
{
	for (size_t q = 0; q < v->rows->nquestions; q++) {
		uint32_t region = visit_region_of(v, r->asked, s->row, q);
		if (region != TR_NO_SITE)
			saving_cut_beside(v->all, region, s->ticks);
	}
}

static void add_thread(struct visit *v, uint32_t thread)
{
	const struct graph *g = v->g;
	const struct graph_thread *t = &g->threads[thread];
	const struct coz_steps *steps = &v->steps[thread];
	struct visitor *r = &v->visitors[thread], kept = *r;
	size_t step = 0;
	for (size_t i = 0; i < t->nsyncs; i++, spill_relax(g->spill)) {
		const struct graph_sync_point *s = &t->syncs[i];
		for (; step < steps->n && steps->v[step].sync <= i; step++)
			if (steps->v[step].what == STEP_CUT && orders_beside(v->orders, r))
				cut_beside(v, r, &steps->v[step]);
		saving_beside(v->all, orders_passed(v, r, s->stamp).hi);
		if (is_wait(s) && orders_is_plain(v->orders, g, s->number))
			saving_beside(v->all, transfer_handed_on(&v->coz->transfer, &g->nodes[s->number]));
		if (s->what == GRAPH_SCHEDULES)
			visitor_schedule(r, s->number);
		orders_pass(v->orders, g, r, t, i);
	}
	*r = kept;
}

static bool is_open(const struct orders *o, const struct graph *g)
{
	if (g->dynamic && !o->given)
		return true;
	for (uint32_t j = 0; j < g->nnodes; j++, spill_relax(g->spill))
		if (orders_decide(&g->nodes[j]) && !orders_is_plain(o, g, j))
			return true;
	return false;
}

static bool any_order(const struct graph *g)
{
	if (g->dynamic)
		return true;
	for (size_t j = 0; j < g->nnodes; j++, spill_relax(g->spill))
		if (orders_decide(&g->nodes[j]))
			return true;
	return false;
}

/* What all threads took, one after the other. */
static int64_t longest(const struct visit *v)
{
	int64_t sum = 0;
	for (uint32_t t = 0; t < v->g->trace->nthreads; t++) {
		const struct graph_thread *self = &v->g->threads[t];
		if (self->nevents > 0 &&
		    __builtin_add_overflow(sum, times_of_thread(v->times, t, self->first, self->last).hi, &sum))
			return INT64_MAX;
	}
	return sum;
}

void orders_open(struct orders *o, struct visit *v)
{
	const struct graph *g = v->g;
	*o = (struct orders){ .any = v->hides && any_order(g), .given = g->unseen == TR_NO_SITE && !g->nuntied };
	v->orders = o;
	if (!o->any)
		return;
	o->plain = mem_resize(NULL, g->nqueues + 1, sizeof *o->plain);
	find_plain(o, v);
	o->open = is_open(o, g);
	o->longest = longest(v);
	for (uint32_t t = 0; t < g->trace->nthreads; t++)
		add_thread(v, t);
}

void orders_close(struct orders *o)
{
	free(o->plain);
}
