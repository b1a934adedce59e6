/* SPDX-License-Identifier: MIT
 *
 * efficiency_ideal.c - when each event would have happened on an ideal network, since the run's first one.
 *
 * Each thread carries that time along, as bounds. What it does outside of operations takes as long as it did, by its own clock; so
 * clocks need not be compared, but for when threads begin that nobody made. An operation goes on when the last that it waits for
 * would have come there. No event would have been later than it was.
 *
 * A node's lower bound is that of the last that it surely waited for; its upper one that of the last that it may have. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/efficiency/efficiency_private.h"
#include "analysis/graph/graph_order.h"

struct timed_node {          /* as far as its inputs have been posted */
	frz_time last;
	bool any;            /* WOKEN: one that may have woken it has */
};

struct timed_thread {
	frz_time now;
	size_t point, operation; /* the next ones */
	size_t sync;
	uint64_t stamp;      /* of the last point */
	bool begun;
};

struct ideal {
	struct efficiency_walk *w;
	const struct span *span;
	struct frz_cursor *cursors;  /* of each clock */
	struct timed_node *nodes;    /* in the graph's spill */
	struct timed_thread *threads;
};

/* Since the run's first event, as it was. */
static frz_time elapsed(struct ideal *d, uint32_t thread, uint64_t stamp)
{
	frz_time now = frz_time_of(&d->cursors[d->w->graph->trace->threads[thread].clock], stamp);
	frz_time e = { ticks_minus(now.lo, d->span->first.hi), ticks_minus(now.hi, d->span->first.lo) };
	return (frz_time){ e.lo > 0 ? e.lo : 0, e.hi > 0 ? e.hi : 0 };
}

static void post(struct ideal *d, const struct timed_thread *t, uint32_t number)
{
	const struct graph_input *input = &d->w->graph->inputs[number];
	const struct graph_node *node = &d->w->graph->nodes[input->node];
	struct timed_node *timed = &d->nodes[input->node];
	bool one_of_them = node->kind == GRAPH_WOKEN && number != node->first;
	if (t->now.hi > timed->last.hi && !input->follows) /* or else it was there before */
		timed->last.hi = t->now.hi;
	if (one_of_them) /* the first of them, at least; that itself has come its thread knows */
		timed->last.lo = timed->any && timed->last.lo < t->now.lo ? timed->last.lo : t->now.lo;
	else if (node->kind != GRAPH_WOKEN && graph_was_waited_for(node, number - node->first, input) && t->now.lo > timed->last.lo)
		timed->last.lo = t->now.lo;
	timed->any |= one_of_them;
}

/* Between nothing and this does an operation take; INT64_MAX: not known. */
static int64_t next_operation(struct ideal *d, struct timed_thread *t)
{
	uint32_t kind = d->w->operations[t->operation++];
	return kind == KIND_UNKNOWN ? INT64_MAX : d->w->least[kind];
}

static void end_wait(struct ideal *d, uint32_t thread, const struct graph_sync_point *s, bool broken)
{
	struct timed_thread *t = &d->threads[thread];
	const struct timed_node *node = &d->nodes[s->number];
	if (broken || !graph_is_known(&d->w->graph->nodes[s->number])) {
		t->now.hi = INT64_MAX;
		return;
	}
	t->now.lo = node->last.lo > t->now.lo ? node->last.lo : t->now.lo;
	t->now.hi = node->last.hi > t->now.hi ? node->last.hi : t->now.hi;
}

/* Up to its next point. A thread that waits to begin was nowhere before. */
static void go_on(struct ideal *d, uint32_t thread, const struct before_point *before, const struct graph_sync_point *s,
		  bool broken)
{
	struct timed_thread *t = &d->threads[thread];
	uint64_t first = d->w->graph->threads[thread].first;
	size_t operations = before->noperations - before->ended;
	bool waits = s->what == GRAPH_WAITS;
	if (!t->begun && !(waits && s->at == 0))
		t->now = elapsed(d, thread, first);
	t->now = time_add(t->now, times_sum(d->w->times, thread, (struct stretches){ before->ticks, before->pieces,
						t->begun ? t->stamp : first, s->stamp }));
	for (; operations > 0; operations--)
		t->now.hi = ticks_plus(t->now.hi, next_operation(d, t));
	if (waits)
		end_wait(d, thread, s, broken);
	if (before->ended)
		t->now.hi = ticks_plus(t->now.hi, next_operation(d, t));
	int64_t latest = before->doubtful || waits || t->now.hi == INT64_MAX ? elapsed(d, thread, s->stamp).hi : INT64_MAX;
	t->now.hi = before->doubtful || latest < t->now.hi ? latest : t->now.hi;
	t->now.hi = t->now.hi > t->now.lo ? t->now.hi : t->now.lo;
	t->begun = true;
	t->stamp = s->stamp;
}

static void visit(struct ideal *d)
{
	const struct graph *g = d->w->graph;
	struct graph_order order;
	graph_order_open(&order, g);
	for (size_t i = 0; i < order.nsteps; i++, spill_relax(g->spill)) {
		uint32_t thread = order.steps[i].thread;
		struct timed_thread *t = &d->threads[thread];
		const struct graph_sync_point *s = &g->threads[thread].syncs[t->sync++];
		go_on(d, thread, &d->w->points[t->point++], s, order.steps[i].broken);
		if (s->what == GRAPH_POSTS)
			post(d, t, s->number);
	}
	graph_order_close(&order);
}

frz_time efficiency_ideal(struct efficiency_walk *w, const struct span *span)
{
	const struct graph *g = w->graph;
	struct ideal d = { .w = w, .span = span, .cursors = times_cursors(w->times) };
	d.nodes = spill_zeros(g->spill, g->nnodes, sizeof *d.nodes);
	d.threads = mem_resize(NULL, g->trace->nthreads + 1, sizeof *d.threads);
	for (uint32_t t = 0; t < g->trace->nthreads; t++)
		d.threads[t] = (struct timed_thread){ .point = w->points_of[t], .operation = w->operations_of[t] };
	visit(&d);
	frz_time end = d.nodes[g->end].last;
	if (g->nodes[g->end].hidden || end.hi > span->length.hi)
		end.hi = span->length.hi;
	end.lo = end.lo < end.hi ? end.lo : end.hi;
	spill_free(g->spill, d.nodes);
	free(d.threads);
	free(d.cursors);
	return end;
}
