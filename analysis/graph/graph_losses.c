/* SPDX-License-Identifier: MIT
 *
 * graph_losses.c - see graph_losses.h. */
#include "analysis/graph/graph_losses.h"

#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/search.h"

struct losses_finder { struct graph *g; struct frz_cursor *cursors; uint32_t thread; };

/* Between two stamps of the thread; 0: from the begin on, UINT64_MAX: until the end. */
static void add_loss(struct losses_finder *f, uint64_t from, uint64_t to)
{
	struct graph *g = f->g;
	struct frz_cursor *c = &f->cursors[g->trace->threads[f->thread].clock];
	frz_time loss = { from ? frz_time_of(c, from).lo : INT64_MIN, to < UINT64_MAX ? frz_time_of(c, to).hi : INT64_MAX };
	if (loss.lo <= loss.hi)
		*MEM_GROW(g->losses, g->nlosses) = loss;
}

/* Those of which a loss among the records tells, or one of which it is not known what it is. */
static void find_gaps(struct losses_finder *f)
{
	struct tr_cursor events = trace_events(f->g->trace, f->thread);
	struct tr_event e;
	uint64_t before = 0, begin = 0;
	bool open = false;
	while (trace_next_bare(&events, &e)) {
		bool unknown = e.op == DPROF_LOST || e.site == TR_NO_SITE;
		if (open && e.op != DPROF_LOST)
			add_loss(f, begin, e.stamp);
		begin = open && e.op == DPROF_LOST ? begin : before;
		open = unknown;
		before = e.op == DPROF_LOST ? before : e.stamp;
	}
	trace_end(&events);
}

static void find_losses_of(struct losses_finder *f)
{
	const struct tr_thread *t = &f->g->trace->threads[f->thread];
	uint64_t first, last;
	size_t found = f->g->nlosses;
	if (!trace_ends(t, &first, &last)) {
		if (t->lost || t->gaps)
			add_loss(f, t->earliest, t->latest);
		return;
	}
	find_gaps(f);
	if (trace_lost_before(t))
		add_loss(f, t->earliest < first ? t->earliest : first, first);
	if (trace_lost_behind(t))
		add_loss(f, last, t->latest > last ? t->latest : last);
	if (t->gaps && f->g->nlosses == found)
		add_loss(f, 0, UINT64_MAX);
}

/* For how long, of the run. */
static int64_t length_of(const struct graph *g, size_t first, const struct span *span)
{
	int64_t sum = 0;
	for (size_t i = first; i < g->nlosses; i++) {
		frz_time x = g->losses[i];
		int64_t from = x.lo > span->first.lo ? x.lo : span->first.lo, to = x.hi < span->last.hi ? x.hi : span->last.hi;
		sum = ticks_plus(sum, to > from ? ticks_minus(to, from) : 0);
	}
	return sum < span->length.hi ? sum : span->length.hi;
}

/* From the first of them on. */
static int64_t rest_of(const struct graph *g, size_t first, const struct span *span)
{
	int64_t from = INT64_MAX;
	for (size_t i = first; i < g->nlosses; i++)
		from = g->losses[i].lo < from ? g->losses[i].lo : from;
	from = from > span->first.lo ? from : span->first.lo;
	return from < span->last.hi ? ticks_minus(span->last.hi, from) : 0;
}

static int by_begin(const void *a, const void *b)
{
	const frz_time *x = a, *y = b;
	return ORDER(x->lo, y->lo);
}

/* Those that touch are one. */
static void join_losses(struct graph *g)
{
	size_t kept = 0;
	if (g->nlosses)
		qsort(g->losses, g->nlosses, sizeof *g->losses, by_begin);
	for (size_t i = 0; i < g->nlosses; i++) {
		frz_time *last = kept ? &g->losses[kept - 1] : NULL;
		if (last && last->hi >= g->losses[i].lo)
			last->hi = last->hi > g->losses[i].hi ? last->hi : g->losses[i].hi;
		else
			g->losses[kept++] = g->losses[i];
	}
	g->nlosses = kept;
}

bool graph_lost_all_of(const struct graph *g, uint32_t thread)
{
	return g->threads[thread].first > g->threads[thread].last && g->lost[thread] > 0;
}

/* Whether any thread's records may be missing between two stamps of a thread; `cursors`: as times_cursors() gives them. */
static bool lost_between(const struct graph *g, struct frz_cursor *cursors, uint32_t thread, uint64_t from, uint64_t to)
{
	if (!g->nlosses)
		return false;
	struct frz_cursor *c = &cursors[g->trace->threads[thread].clock];
	int64_t begin = frz_time_of(c, from).lo, end = frz_time_of(c, to).hi;
	size_t i = SEARCH(g->nlosses, mid, g->losses[mid].hi < begin);
	return i < g->nlosses && g->losses[i].lo <= end;
}

uint64_t graph_wait_begin(const struct graph *g, uint32_t thread, size_t at)
{
	const struct graph_sync_point *syncs = g->threads[thread].syncs;
	const struct graph_node *node = &g->nodes[syncs[at].number];
	if (node->kind != GRAPH_SYNC)
		return node->ninputs ? g->inputs[node->first].stamp : 0;
	for (size_t i = at; i-- > 0;)
		if (syncs[i].what == GRAPH_POSTS && g->inputs[syncs[i].number].node == syncs[at].number)
			return syncs[i].stamp;
	return 0;
}

static void doubt_waits(struct graph *g, struct frz_cursor *cursors)
{
	for (uint32_t t = 0; t < g->trace->nthreads; t++)
		for (size_t i = 0; i < g->threads[t].nsyncs; i++, spill_relax(g->spill)) {
			const struct graph_sync_point *s = &g->threads[t].syncs[i];
			if (s->what != GRAPH_WAITS)
				continue;
			struct graph_node *node = &g->nodes[s->number];
			if (!node->keyed && lost_between(g, cursors, t, graph_wait_begin(g, t, i), s->stamp))
				node->doubted = true;
		}
}

/* What threads inherit they inherit from others of their process. */
static void share_around(struct graph *g)
{
	const struct trace *trace = g->trace;
	int64_t *most = mem_zeroed(trace->nprocesses + 1, sizeof *most);
	for (size_t t = 0; t < trace->nthreads; t++) {
		int64_t *of = &most[trace->threads[t].process];
		*of = g->around[t] > *of ? g->around[t] : *of;
	}
	for (size_t t = 0; t < trace->nthreads; t++)
		g->around[t] = most[trace->threads[t].process];
	free(most);
}

void graph_find_losses(struct graph *g, struct frz_cursor *cursors)
{
	const struct trace *trace = g->trace;
	struct losses_finder f = { .g = g, .cursors = cursors };
	struct span span = graph_span(g);
	bool lacking = !trace_has_all(trace);
	g->lost = mem_resize(NULL, trace->nthreads + 1, sizeof *g->lost);
	g->around = mem_resize(NULL, trace->nthreads + 1, sizeof *g->around);
	for (uint32_t t = 0; t < trace->nthreads; t++) {
		size_t first = g->nlosses;
		f.thread = t;
		if (!trace->threads[t].unrecorded && (trace->threads[t].lost || trace->threads[t].gaps || lacking))
			find_losses_of(&f);
		g->lost[t] = length_of(g, first, &span);
		g->around[t] = rest_of(g, first, &span);
	}
	join_losses(g);
	share_around(g);
	if (g->nlosses)
		doubt_waits(g, cursors);
}

int64_t graph_sum_of(const struct graph *g, const int64_t *ticks)
{
	int64_t sum = 0;
	for (size_t t = 0; t < g->trace->nthreads; t++)
		sum = ticks_plus(sum, ticks[t]);
	return sum;
}
