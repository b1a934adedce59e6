/* SPDX-License-Identifier: MIT
 *
 * efficiency_walk.c - along each thread, once. */
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/progress.h"
#include "analysis/efficiency/efficiency_private.h"
#include "analysis/graph/graph_activities.h"

struct efficiency_row {                 /* of a site of one thread */
	struct stretches useful;
	frz_time waited, transfer;
	bool used;
};

/* What a thread has done so far, or within a region. */
struct efficiency_done { uint64_t ticks, pieces, doubtful; frz_time transfer; };

struct efficiency_visits {              /* of a region of one thread */
	uint32_t depth;
	bool used;
	uint64_t entered;    /* stamp; */
	struct efficiency_done before;  /* what it had done then; */
	struct efficiency_done inside;
	uint64_t ticks, pieces;
};

struct efficiency_along {
	struct efficiency_walk *w;
	struct graph_activities a;
	struct before_point now;     /* since the last point */
	bool working;                /* the last step was work, too */
	struct efficiency_done done;
	struct efficiency_row *rows;            /* of each site, and outside of them */
	struct efficiency_visits *visits;       /* of each region */
	uint32_t *used; size_t nused; /* rows */
	uint32_t *visited; size_t nvisited;
};

static struct efficiency_row *use_row(struct efficiency_along *l, uint32_t site)
{
	uint32_t number = tr_row_or_last(l->w->graph->trace, site);
	struct efficiency_row *row = &l->rows[number];
	if (!row->used)
		*MEM_GROW(l->used, l->nused) = number;
	row->used = true;
	return row;
}

/* ---- What it did ------------------------------------------------------------------------------ */

static void add_work(struct efficiency_along *l)
{
	uint64_t ticks = l->a.step.to - l->a.step.from;
	struct stretches *useful = &use_row(l, l->a.step.in)->useful;
	useful->from = useful->pieces ? useful->from : l->a.step.from;
	useful->pieces += !l->working || useful->pieces == 0 || useful->to != l->a.step.from; /* the first may begin at stamp 0 */
	useful->to = l->a.step.to;
	useful->ticks += ticks;
	l->now.ticks += ticks;
	l->now.pieces += !l->working || l->now.pieces == 0;
	l->done.ticks += ticks;
	l->done.pieces += !l->working;
	l->working = true;
}

static void add_step(struct efficiency_along *l)
{
	if (l->a.step.did == GRAPH_WORKED) {
		add_work(l);
		return;
	}
	l->working = false;
	if (l->a.step.did != GRAPH_DID_UNKNOWN)
		return;
	l->now.doubtful = true;
	l->done.doubtful += l->a.step.to - l->a.step.from + 1;
}

static uint32_t kind_of(const struct trace *trace, const struct graph_operation *o)
{
	return o->site < trace->nsites ? trace->sites[o->site].alike : (uint32_t)trace->nsites;
}

static void add_kind(struct efficiency_along *l, uint32_t kind)
{
	struct efficiency_walk *w = l->w;
	*SPILL_GROW(w->graph->spill, w->operations, w->noperations) = kind;
	l->now.noperations++;
}

static void add_operation(struct efficiency_along *l)
{
	struct efficiency_walk *w = l->w;
	const struct graph_operation *o = &l->a.step.operation;
	uint32_t kind = kind_of(w->graph->trace, o);
	if (o->node == GRAPH_NO_NODE)
		add_kind(l, o->known ? kind : KIND_UNKNOWN);
	if (o->known && o->transfer.hi < w->least[kind])
		w->least[kind] = o->transfer.hi;
	if (o->site == TR_BEFORE)
		return;
	struct efficiency_row *row = use_row(l, o->site);
	row->waited = time_add(row->waited, o->waited);
	row->transfer = time_add(row->transfer, o->transfer);
	l->done.transfer = time_add(l->done.transfer, o->transfer);
	if (tr_is(w->graph->trace, o->site, OP_MPI))
		w->mpi[l->a.thread] = time_add(w->mpi[l->a.thread], o->took);
}

/* A wait of which it is not said what it was in has a kind, too. */
static void add_wait(struct efficiency_along *l, uint32_t node)
{
	const struct graph_operation *o = &l->a.step.operation;
	if (l->a.step.ended && o->node != node)
		return; /* the event waits for several */
	add_kind(l, l->a.step.ended && o->known ? kind_of(l->w->graph->trace, o) : KIND_UNKNOWN);
	l->now.ended = true;
}

static void add_points(struct efficiency_along *l)
{
	struct efficiency_walk *w = l->w;
	uint64_t before = 0;
	for (size_t i = 0; i < l->a.step.npoints; i++) {
		uint64_t behind = graph_behind(w->graph, l->a.thread, &l->a.step.points[i]);
		if (l->a.step.points[i].what == GRAPH_WAITS)
			add_wait(l, l->a.step.points[i].number);
		l->now.ticks += behind - before; /* until its end it went on */
		l->now.pieces += behind > before;
		before = behind;
		*SPILL_GROW(w->graph->spill, w->points, w->npoints) = l->now;
		l->now = (struct before_point){ 0 };
	}
}

/* ---- Regions --------------------------------------------------------------------------------- */

static struct efficiency_done less(struct efficiency_done x, const struct efficiency_done *y)
{
	x.ticks -= y->ticks;
	x.pieces -= y->pieces;
	x.doubtful -= y->doubtful;
	x.transfer.lo -= y->transfer.lo;
	x.transfer.hi = ticks_minus(x.transfer.hi, y->transfer.hi);
	return x;
}

/* `sure`: it has an exit. What may have been left before has only doubtful time. */
static void enter_region(struct efficiency_along *l, uint32_t site, bool sure)
{
	uint32_t region = l->w->graph->trace->sites[site].alike;
	struct efficiency_visits *v = &l->visits[region];
	if (!v->used)
		*MEM_GROW(l->visited, l->nvisited) = region;
	v->used = true;
	if (!sure || v->depth++ > 0)
		return;
	v->entered = l->a.step.to;
	v->before = l->done;
}

static void leave_region(struct efficiency_along *l, struct efficiency_visits *v)
{
	if (--v->depth > 0)
		return;
	struct efficiency_done inside = less(l->done, &v->before);
	v->inside.ticks += inside.ticks;
	v->inside.pieces += inside.pieces + 1; /* work that had begun before it */
	v->inside.doubtful += inside.doubtful;
	v->inside.transfer = time_add(v->inside.transfer, inside.transfer);
	v->ticks += l->a.step.to - v->entered;
	v->pieces++;
}

static bool is_sure_region(const struct replay_entry *e)
{
	return e->is & OP_REGION && !e->jumped && !e->unsure;
}

static void move(struct efficiency_along *l)
{
	const struct tr_event *e = &l->a.step.event;
	const struct replay *r = &l->a.replay;
	for (size_t i = l->a.step.closed; i-- > 0;)
		if (is_sure_region(&r->entry[r->depth + i]))
			leave_region(l, &l->visits[l->w->graph->trace->sites[r->entry[r->depth + i].site].alike]);
	if (e->op == DPROF_ENTER && tr_is(l->w->graph->trace, e->site, OP_REGION))
		enter_region(l, e->site, !e->jumped && !e->unsure);
}

/* ---- One thread ------------------------------------------------------------------------------ */

static frz_time sum_of(const struct efficiency_along *l, uint64_t ticks, uint64_t pieces)
{
	const struct graph_thread *t = &l->w->graph->threads[l->a.thread];
	return times_sum(l->w->times, l->a.thread, (struct stretches){ ticks, pieces, t->first, t->last });
}

static void take_sites(struct efficiency_along *l)
{
	struct efficiency_walk *w = l->w;
	const struct trace *trace = w->graph->trace;
	for (size_t i = 0; i < l->nused; i++) {
		const struct efficiency_row *row = &l->rows[l->used[i]];
		*MEM_GROW(w->sites, w->nsites) = (struct site_sum){
			l->a.thread, l->used[i] < trace->nsites ? l->used[i] : TR_OUTSIDE,
			sum_of(l, row->useful.ticks, row->useful.pieces), row->waited, row->transfer };
	}
}

/* In doubtful time it may have been in any of them. */
static void take_regions(struct efficiency_along *l)
{
	struct efficiency_walk *w = l->w;
	int64_t doubtful = sum_of(l, l->done.doubtful, l->done.doubtful > 0).hi;
	for (size_t i = 0; i < l->nvisited; i++) {
		struct efficiency_visits *v = &l->visits[l->visited[i]];
		for (; v->depth > 0; v->depth = v->depth > 1 ? 1 : 0)
			leave_region(l, v);
		frz_time time = sum_of(l, v->ticks, v->pieces);
		frz_time surely = sum_of(l, v->ticks > v->inside.doubtful ? v->ticks - v->inside.doubtful : 0, v->pieces);
		frz_time useful = sum_of(l, v->inside.ticks, v->inside.pieces);
		*MEM_GROW(w->regions, w->nregions) = (struct region_sum){
			l->a.thread, l->visited[i], { useful.lo, ticks_plus(useful.hi, doubtful) },
			{ surely.lo, ticks_plus(time.hi, doubtful) }, v->inside.transfer };
	}
}

static void walk_thread(struct efficiency_walk *w, uint32_t thread)
{
	const struct trace *trace = w->graph->trace;
	struct efficiency_along l = { .w = w };
	l.rows = mem_zeroed(trace->nsites + 1, sizeof *l.rows);
	l.visits = mem_zeroed(trace->nsites + 1, sizeof *l.visits);
	w->points_of[thread] = w->npoints;
	w->operations_of[thread] = w->noperations;
	graph_activities_open(&l.a, w->graph, thread, &w->last);
	while (graph_activities_next(&l.a)) {
		add_step(&l);
		if (l.a.step.ended)
			add_operation(&l);
		add_points(&l);
		move(&l);
		spill_relax(w->graph->spill);
	}
	w->mpi[thread].hi = ticks_plus(w->mpi[thread].hi, sum_of(&l, l.done.doubtful, l.done.doubtful > 0).hi);
	take_sites(&l);
	take_regions(&l);
	graph_activities_close(&l.a);
	free(l.rows);
	free(l.visits);
	free(l.used);
	free(l.visited);
}

/* ---- All of them ----------------------------------------------------------------------------- */

void efficiency_walk_open(struct efficiency_walk *w, const struct graph *g)
{
	const struct trace *trace = g->trace;
	size_t n = trace->nthreads;
	*w = (struct efficiency_walk){ .graph = g, .times = g->times };
	graph_last_open(&w->last, g);
	w->points_of = mem_resize(NULL, n + 1, sizeof *w->points_of);
	w->operations_of = mem_resize(NULL, n + 1, sizeof *w->operations_of);
	w->mpi = mem_zeroed(n + 1, sizeof *w->mpi);
	w->least = mem_resize(NULL, trace->nsites + 1, sizeof *w->least);
	for (size_t i = 0; i <= trace->nsites; i++)
		w->least[i] = INT64_MAX;
	progress_begin("adding up what is useful", trace_records(trace));
	for (uint32_t t = 0; t < n; t++)
		walk_thread(w, t);
	progress_end();
}

void efficiency_walk_close(struct efficiency_walk *w)
{
	graph_last_close(&w->last);
	free(w->points_of);
	free(w->operations_of);
	free(w->least);
	free(w->mpi);
	free(w->sites);
	free(w->regions);
	spill_free(w->graph->spill, w->points);
	spill_free(w->graph->spill, w->operations);
}
