/* SPDX-License-Identifier: MIT
 *
 * graph_begins.c - begins of threads: behind the event that created them, where that is recorded; else behind what the first
 * thread of their process did last before. Of such a thread nobody recorded either who waited for its end (graph.untied). */
#include "analysis/graph/graph_private.h"

void graph_begin_after(struct builder *b, uint32_t thread, struct event_ref cause, bool recorded)
{
	struct node_input input = { .ref = cause, .sure = true, .needed = recorded };
	struct event_ref begin = { thread, 0, b->graph->threads[thread].first };
	uint32_t number = graph_add_node(b, GRAPH_SYNC, &input, 1);
	struct graph_node *node = &b->graph->nodes[number];
	node->loose = node->hidden = node->delayed = !recorded;
	graph_wait(b, begin, number);
}

/* The threads of the process from `first` on whose creator is unknown, and that begin
 * between an event of the first thread and its next one. */
static void begin_others(struct builder *b, uint32_t first, struct event_ref event, uint64_t next)
{
	const struct graph *g = b->graph;
	const struct tr_thread *threads = g->trace->threads;
	for (uint32_t t = first + 1;
	     t < g->trace->nthreads && threads[t].process == threads[first].process; t++)
		if (b->threads[t].fork.at == NO_FORK && g->threads[t].nevents > 0 &&
		    g->threads[t].first > event.stamp && g->threads[t].first <= next)
			graph_begin_after(b, t, event, false);
}

/* When the next thread of the process begins after the stamp. */
static uint64_t next_begin(const struct builder *b, uint32_t first, uint64_t stamp)
{
	const struct graph *g = b->graph;
	const struct tr_thread *threads = g->trace->threads;
	uint64_t next = UINT64_MAX;
	for (uint32_t t = first + 1; t < g->trace->nthreads && threads[t].process == threads[first].process; t++)
		if (g->threads[t].first > stamp && g->threads[t].first < next)
			next = g->threads[t].first;
	return next;
}

static void begin_unknown(struct builder *b, uint32_t first)
{
	struct tr_cursor events = trace_events(b->graph->trace, first);
	struct tr_event e;
	struct event_ref before = { first, NO_FORK, 0 };
	uint64_t next = 0;
	for (uint64_t at = 0; trace_next_bare(&events, &e); at++) {
		if (e.op == DPROF_LOST)
			continue;
		if (before.at != NO_FORK && e.stamp >= next) {
			begin_others(b, first, before, e.stamp);
			next = next_begin(b, first, e.stamp);
		}
		before = (struct event_ref){ first, at, e.stamp };
	}
	if (before.at != NO_FORK)
		begin_others(b, first, before, UINT64_MAX);
	trace_end(&events);
}

/* They asked the C library for calls in threads of its own, for which nobody waits; so creations would be recorded, too. */
static bool asked_for_threads(const struct trace *t, uint32_t first, uint32_t end)
{
	bool asked = false;
	for (uint32_t i = first; i < end; i++)
		asked |= t->threads[i].unseen > 0 && !t->threads[i].lost_child;
	return asked;
}

/* Of the threads of a process, from the first one on until `end`, those whose creation is not recorded: others may have waited for
 * them, or would in another run, where nothing is recorded. But where nobody recorded when the process was started (a trace that is
 * made of text, or another tool's), its threads are there as it is. */
static void note_untied(struct builder *b, uint32_t first, uint32_t end)
{
	struct graph *g = b->graph;
	uint32_t process = g->trace->threads[first].process;
	size_t recorded = 0;
	for (uint32_t t = first; t < end; t++)
		recorded += g->threads[t].nevents > 0;
	if (recorded < 2 || asked_for_threads(g->trace, first, end))
		return;
	for (uint32_t t = first + 1; t < end && g->trace->processes[process].started > 0; t++) {
		if (b->threads[t].fork.at != NO_FORK || g->threads[t].nevents == 0)
			continue;
		b->may_wait[process] = g->untied[process] = true;
		g->first_untied = g->nuntied++ == 0 ? t : g->first_untied;
	}
}

void graph_begins(struct builder *b)
{
	const struct graph *g = b->graph;
	const struct tr_thread *threads = g->trace->threads;
	for (uint32_t first = 0, next; first < g->trace->nthreads; first = next) {
		bool unknown = false;
		for (next = first; next < g->trace->nthreads &&
				   threads[next].process == threads[first].process; next++) {
			uint64_t slack = tr_slack(g->trace, threads[next].clock);
			bool late = b->threads[next].fork.at != NO_FORK &&
				    b->threads[next].fork.stamp > g->threads[next].first + slack;
			if (late && g->threads[next].nevents)
				graph_diagnose(&b->diagnosed.unmade, (struct event_ref){ next, 0, g->threads[next].first }, TR_NO_SITE);
			if (late || g->threads[next].nevents == 0)
				b->threads[next].fork.at = NO_FORK;
			if (b->threads[next].fork.at != NO_FORK)
				graph_begin_after(b, next, b->threads[next].fork, true);
			else
				unknown |= next > first;
		}
		if (!unknown)
			continue;
		note_untied(b, first, next);
		begin_unknown(b, first);
	}
}

/* In another run it may happen sooner or later by itself, as nothing else says. */
void graph_let_go(struct builder *b, struct event_ref ref)
{
	struct node_input own = { .ref = ref, .sure = true, .arrives = true };
	uint32_t number = graph_add_chance(b, GRAPH_SYNC, &own, 1);
	graph_end_by(b, ref, number);
}
