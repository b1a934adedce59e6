/* SPDX-License-Identifier: MIT
 *
 * graph_order.c - see graph_order.h. Threads go on to their next point that has to wait; of those that can, the one whose
 * next point is earliest goes first, so that little is under way. */
#include "analysis/graph/graph_order.h"

#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/merge.h"
#include "analysis/base/progress.h"

struct order_walker {              /* of one thread */
	size_t sync;         /* the next point */
	uint32_t next_sleeper;
	bool sleeps;         /* until the node of its next point has happened */
};

struct expected_node {
	uint32_t posted;     /* inputs */
	uint32_t sleepers : 30; /* the first, and 1; or 0 */
	uint32_t happened : 1, broken : 1;
};

struct ordering {
	const struct graph *g;
	struct graph_order *order;
	struct order_walker *walkers;
	struct expected_node *nodes; /* in the graph's spill */
	struct frz_cursor *cursors;  /* of each clock */
	struct merge awake;          /* threads, by when their next points are */
};

static int64_t time_of_next(struct ordering *o, uint32_t thread)
{
	uint64_t stamp = o->g->threads[thread].syncs[o->walkers[thread].sync].stamp;
	return frz_time_of(&o->cursors[o->g->trace->threads[thread].clock], stamp).lo;
}

static bool is_over(const struct ordering *o, uint32_t thread)
{
	return o->walkers[thread].sync == o->g->threads[thread].nsyncs;
}

static void wake(struct ordering *o, uint32_t thread)
{
	o->walkers[thread].sleeps = false;
	merge_set(&o->awake, thread, merge_key(heap_key(time_of_next(o, thread))));
}

static void happen(struct ordering *o, uint32_t number)
{
	struct expected_node *node = &o->nodes[number];
	node->happened = true;
	for (uint32_t sleeper = node->sleepers; sleeper; sleeper = o->walkers[sleeper - 1].next_sleeper)
		wake(o, sleeper - 1);
	node->sleepers = 0;
}

static void post(struct ordering *o, uint32_t input)
{
	uint32_t number = o->g->inputs[input].node;
	struct expected_node *node = &o->nodes[number];
	if (!node->happened && ++node->posted == o->g->nodes[number].ninputs)
		happen(o, number);
}

/* The thread's next point; false when it must wait there. */
static bool do_point(struct ordering *o, uint32_t thread)
{
	struct order_walker *w = &o->walkers[thread];
	const struct graph_sync_point *s = &o->g->threads[thread].syncs[w->sync];
	struct expected_node *node = s->what == GRAPH_WAITS ? &o->nodes[s->number] : NULL;
	if (node && !node->happened) {
		w->next_sleeper = node->sleepers;
		w->sleeps = true;
		node->sleepers = thread + 1;
		return false;
	}
	w->sync++;
	*SPILL_GROW(o->g->spill, o->order->steps, o->order->nsteps) =
		(struct graph_step){ .thread = thread, .broken = node && node->broken };
	if (s->what == GRAPH_POSTS)
		post(o, s->number);
	return true;
}

/* Everyone sleeps: of the node of whoever is earliest nothing is known. False if all are over. */
static bool break_stalemate(struct ordering *o)
{
	uint32_t n = (uint32_t)o->g->trace->nthreads, earliest = n;
	int64_t when = INT64_MAX;
	for (uint32_t t = 0; t < n; t++) {
		if (!o->walkers[t].sleeps)
			continue;
		int64_t next = time_of_next(o, t);
		if (earliest == n || next < when) {
			earliest = t;
			when = next;
		}
	}
	if (earliest == n)
		return false;
	uint32_t number = o->g->threads[earliest].syncs[o->walkers[earliest].sync].number;
	o->nodes[number].broken = true;
	happen(o, number);
	return true;
}

static void visit(struct ordering *o)
{
	for (uint32_t t = 0; t < o->g->trace->nthreads; t++)
		if (!is_over(o, t))
			wake(o, t);
	do {
		while (merge_first(&o->awake).key != MERGE_OVER) {
			uint32_t thread = merge_first(&o->awake).source;
			if (do_point(o, thread) && !is_over(o, thread))
				wake(o, thread);
			else
				merge_set(&o->awake, thread, MERGE_OVER);
			progress_add(1);
			spill_relax(o->g->spill);
		}
	} while (break_stalemate(o));
}

void graph_order_open(struct graph_order *order, const struct graph *g)
{
	size_t n = g->trace->nthreads, points = 0;
	struct ordering o = { .g = g, .order = order };
	*order = (struct graph_order){ .graph = g };
	o.walkers = mem_zeroed(n + 1, sizeof *o.walkers);
	merge_open(&o.awake, n);
	o.nodes = spill_zeros(g->spill, g->nnodes, sizeof *o.nodes);
	o.cursors = times_cursors(g->times);
	for (size_t t = 0; t < n; t++)
		points += g->threads[t].nsyncs;
	progress_begin("ordering what was waited for", points);
	visit(&o);
	progress_end();
	free(o.cursors);
	spill_free(g->spill, o.nodes);
	merge_close(&o.awake);
	free(o.walkers);
}

void graph_order_close(struct graph_order *order)
{
	spill_free(order->graph->spill, order->steps);
}
