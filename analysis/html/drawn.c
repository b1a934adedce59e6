/* SPDX-License-Identifier: MIT
 *
 * drawn.c - see drawn.h. */
#include "analysis/html/drawn.h"

#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/progress.h"
#include "analysis/graph/graph_activities.h"
#include "analysis/path/path_private.h"

int64_t drawn_time(const struct drawn *d, uint32_t thread, uint64_t stamp)
{
	return time_middle(path_elapsed(d->path, thread, stamp));
}

/* ---- Putting together ------------------------------------------------------------------------ */

/* The second follows the first. */
static struct drawn_bar together(const struct drawn_bar *x, const struct drawn_bar *y)
{
	bool same = x->did == y->did && x->site == y->site;
	struct drawn_bar sum = y->most > x->most ? *y : *x;
	sum.from = x->from;
	sum.to = y->to;
	sum.most = same ? x->most + y->most : sum.most;
	sum.waited = x->waited + y->waited;
	sum.count = x->count + y->count;
	return sum;
}

static void put_together(struct drawn_thread *t, uint64_t grain)
{
	size_t kept = 0;
	for (size_t i = 0; i < t->nbars; i++) {
		if (kept > 0 && t->bars[i].to - t->bars[kept - 1].from < grain)
			t->bars[kept - 1] = together(&t->bars[kept - 1], &t->bars[i]);
		else
			t->bars[kept++] = t->bars[i];
	}
	t->nbars = kept;
}

static void put_all_together(struct drawn *d, size_t nthreads)
{
	d->nbars = 0;
	for (size_t t = 0; t < nthreads; t++) {
		put_together(&d->threads[t], (uint64_t)((double)d->grain / d->threads[t].rate));
		d->nbars += d->threads[t].nbars;
	}
}

/* Until a half of what there is room for is free: what came since the last time, and if that is not enough with a greater grain. */
static void make_room(struct drawn *d, size_t nthreads, size_t most)
{
	put_all_together(d, nthreads);
	while (d->nbars > most / 2 && d->grain < UINT64_MAX / 2) {
		d->grain = d->grain ? 2 * d->grain : 64;
		put_all_together(d, nthreads);
	}
}

/* ---- Along a thread -------------------------------------------------------------------------- */

struct drawn_along {
	struct drawn *d;
	struct drawn_thread *thread;
	struct graph_activities a;
};

static void add_bar(struct drawn_along *l)
{
	static const enum drawn_did as[] = { [GRAPH_WORKED] = DRAWN_WORK, [GRAPH_OPERATED] = DRAWN_OPERATION,
					     [GRAPH_IDLED] = DRAWN_IDLE, [GRAPH_DID_UNKNOWN] = DRAWN_UNKNOWN };
	struct drawn_thread *t = l->thread;
	uint64_t ticks = l->a.step.to - l->a.step.from;
	enum drawn_did did = as[l->a.step.did];
	struct drawn_bar bar = { l->a.step.from, l->a.step.to, ticks, did == DRAWN_IDLE ? ticks : 0, l->a.step.in, 1, did };
	struct drawn_bar *last = t->nbars ? &t->bars[t->nbars - 1] : NULL;
	if (ticks == 0)
		return;
	if (last && last->to == bar.from && last->count == 1 && last->did == did && last->site == bar.site &&
	    did != DRAWN_OPERATION) {
		*last = together(last, &bar);
		last->count--;
	} else {
		*MEM_GROW(t->bars, t->nbars) = bar;
		l->d->nbars++;
	}
}

static uint64_t middle(frz_time x)
{
	return x.lo < 0 || x.hi <= 0 ? 0 : (uint64_t)time_middle(x);
}

/* What an operation waited is what its last bars were, but for its transfer. */
static void add_waiting(struct drawn_along *l)
{
	const struct graph_operation *o = &l->a.step.operation;
	uint64_t left = (uint64_t)((double)middle(o->waited) / l->thread->rate);
	for (size_t i = l->thread->nbars; i-- > 0 && left > 0 && l->thread->bars[i].did == DRAWN_OPERATION;) {
		struct drawn_bar *bar = &l->thread->bars[i];
		uint64_t room = bar->to - bar->from - bar->waited, part = left < room ? left : room;
		bar->waited += part;
		left -= part;
	}
}

static int by_waiting(const void *x, const void *y)
{
	const struct drawn_link *a = x, *b = y;
	if (a->waited != b->waited)
		return a->waited < b->waited ? 1 : -1;
	return a->to != b->to ? ORDER(a->to, b->to) : ORDER(a->done, b->done);
}

static void keep_longest_links(struct drawn *d, size_t most)
{
	if (d->nlinks)
		qsort(d->links, d->nlinks, sizeof *d->links, by_waiting);
	d->nlinks = d->nlinks < most ? d->nlinks : most;
}

/* From the one event that ended the wait, if that is known. */
static void add_link(struct drawn_along *l)
{
	const struct graph_operation *o = &l->a.step.operation;
	const struct graph *g = l->a.graph;
	if (o->node == GRAPH_NO_NODE || !o->known || o->waited.hi <= 0)
		return;
	graph_last_find(l->a.last, o->node);
	if (l->a.last->n != 1)
		return;
	const struct graph_input *input = &g->inputs[l->a.last->input[0]];
	if (input->thread == l->a.thread)
		return;
	if (l->d->nlinks == 2 * DRAWN_LINKS)
		keep_longest_links(l->d, DRAWN_LINKS);
	*MEM_GROW(l->d->links, l->d->nlinks) = (struct drawn_link){ input->thread, l->a.thread, input->stamp, l->a.step.to,
								    middle(o->waited) };
	l->d->all_links++;
}

static void follow(struct drawn *d, uint32_t thread, struct graph_last *last, size_t most)
{
	struct drawn_along l = { .d = d, .thread = &d->threads[thread] };
	graph_activities_open(&l.a, &d->path->graph, thread, last);
	while (graph_activities_next(&l.a)) {
		add_bar(&l);
		if (l.a.step.ended && l.a.step.operation.site != TR_BEFORE) {
			add_waiting(&l);
			add_link(&l);
		}
		if (d->nbars > most)
			make_room(d, d->path->graph.trace->nthreads, most);
	}
	graph_activities_close(&l.a);
}

/* As far as it is known; drawing needs no more. */
static double rate_of(const struct drawn *d, uint32_t thread)
{
	const struct graph_thread *t = &d->path->graph.threads[thread];
	if (t->nevents == 0 || t->last <= t->first)
		return 1;
	double elapsed = (double)(drawn_time(d, thread, t->last) - drawn_time(d, thread, t->first));
	return elapsed > 0 ? elapsed / (double)(t->last - t->first) : 1;
}

/* The widest that any of its bars' ends is. */
static void find_width(struct drawn *d, uint32_t thread)
{
	struct drawn_thread *t = &d->threads[thread];
	for (size_t i = 0; i < t->nbars; i++) {
		frz_time e = path_elapsed(d->path, thread, t->bars[i].from);
		int64_t half = ticks_minus(e.hi, e.lo) / 2 + 1;
		t->uncertainty = half > t->uncertainty ? half : t->uncertainty;
	}
}

/* ---- The critical path ----------------------------------------------------------------------- */

static int by_length(const void *x, const void *y)
{
	const struct drawn_stay *a = x, *b = y;
	uint64_t p = a->to - a->from, q = b->to - b->from;
	if (p != q)
		return p < q ? 1 : -1;
	return ORDER_2(a, b, thread, from);
}

static void keep_longest_stays(struct drawn *d, size_t most)
{
	if (d->nstays)
		qsort(d->stays, d->nstays, sizeof *d->stays, by_length);
	d->nstays = d->nstays < most ? d->nstays : most;
}

/* Those of a thread that touch are one. */
static void add_stays(struct drawn *d, uint32_t thread)
{
	const struct stays *s = &d->path->stays[thread];
	const struct graph_thread *t = &d->path->graph.threads[thread];
	for (size_t i = s->n; i-- > 0;) {
		struct drawn_stay stay = { thread, s->v[i].from, s->v[i].to < t->last ? s->v[i].to : t->last, s->v[i].sure };
		struct drawn_stay *last = d->nstays ? &d->stays[d->nstays - 1] : NULL;
		stay.from = stay.from > t->first ? stay.from : t->first;
		if (stay.from >= stay.to)
			continue;
		if (last && last->thread == thread && last->to == stay.from && last->sure == stay.sure) {
			last->to = stay.to;
			continue;
		}
		if (d->nstays == 2 * DRAWN_LINKS)
			keep_longest_stays(d, DRAWN_LINKS);
		*MEM_GROW(d->stays, d->nstays) = stay;
	}
}

/* ---- All of it ------------------------------------------------------------------------------- */

void drawn_open(struct drawn *d, struct path *path, size_t most)
{
	const struct trace *trace = path->graph.trace;
	struct graph_last last;
	*d = (struct drawn){ .path = path };
	d->threads = mem_zeroed(trace->nthreads + 1, sizeof *d->threads);
	graph_last_open(&last, &path->graph);
	for (uint32_t t = 0; t < trace->nthreads; t++)
		d->threads[t].rate = rate_of(d, t);
	progress_begin("what is drawn", trace_records(trace));
	for (uint32_t t = 0; t < trace->nthreads; t++)
		follow(d, t, &last, most);
	progress_end();
	graph_last_close(&last);
	put_all_together(d, trace->nthreads); /* all of them by one grain */
	for (uint32_t t = 0; t < trace->nthreads; t++) {
		find_width(d, t);
		add_stays(d, t);
	}
	keep_longest_links(d, DRAWN_LINKS);
	keep_longest_stays(d, DRAWN_LINKS);
}

void drawn_close(struct drawn *d)
{
	for (size_t t = 0; t < d->path->graph.trace->nthreads; t++)
		free(d->threads[t].bars);
	free(d->threads);
	free(d->links);
	free(d->stays);
}
