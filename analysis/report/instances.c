/* SPDX-License-Identifier: MIT
 *
 * instances.c - one walk over each thread; visits of the same id come together. */
#include "analysis/report/instances.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/order.h"
#include "analysis/base/shown.h"
#include "analysis/base/ids.h"
#include "analysis/base/memory.h"
#include "analysis/base/nearest.h"
#include "analysis/trace/names.h"

#define SHOWN 10

struct gather {
	const struct findings *findings;
	struct instances *result;
	struct ids ids;
	bool *sites;              /* which are the region */
	struct open_visit *open;  /* of each entry on the stack that is a visit */
	size_t room;
};

/* Ticks in which a thread waited, surely, and perhaps, in so many periods, up to some stamp. */
struct waited { uint64_t sure, perhaps, periods; };
struct open_visit { uint64_t id; struct waited before; };

static int64_t larger(int64_t x, int64_t y)
{
	return x > y ? x : y;
}

static int64_t smaller(int64_t x, int64_t y)
{
	return x < y ? x : y;
}

/* ---- Visits ---------------------------------------------------------------------------------- */

struct region_visit { uint64_t id; size_t thread; uint64_t from, to; struct waited waited; };
struct visit_work { frz_time recorded, bounds; };

static struct instance *instance_of(struct gather *g, const struct region_visit *v)
{
	if (ids_add(&g->ids, v->id))
		*MEM_GROW(g->result->list, g->result->count) = (struct instance){
			.id = v->id,
			.begin = { INT64_MAX, INT64_MAX }, .end = { INT64_MIN, INT64_MIN },
			.clock = g->findings->trace->threads[v->thread].clock,
			.first = UINT64_MAX,
			.longest = { INT64_MIN, INT64_MIN }, .shortest = { INT64_MAX, INT64_MAX },
			.slowest = v->thread, .slowest_recorded = { INT64_MIN, INT64_MIN },
			.slowest_work = { INT64_MIN, INT64_MIN }, .rival = INT64_MIN,
		};
	return &g->result->list[ids_find(&g->ids, v->id)];
}

/* Whose visit has the most work, and how much that of another rank may have at most. */
static void compete(const struct trace *trace, struct instance *x, size_t thread, struct visit_work work)
{
	bool same = trace->threads[thread].process == trace->threads[x->slowest].process;
	if (time_middle(work.recorded) <= time_middle(x->slowest_recorded)) {
		x->rival = same ? x->rival : larger(x->rival, work.bounds.hi);
		return;
	}
	if (!same)
		x->rival = larger(x->rival, x->slowest_work.hi);
	x->slowest = thread;
	x->slowest_recorded = work.recorded;
	x->slowest_work = work.bounds;
}

/* The clock's bounds at its two ends may be tighter than its rate. */
static frz_time length_of(const struct times *times, const struct region_visit *v)
{
	uint32_t clock = times->trace->threads[v->thread].clock;
	frz_time apart = times_between(times, (struct moment){ clock, v->from },
				       (struct moment){ clock, v->to });
	frz_time passed = times_of_thread(times, v->thread, v->from, v->to);
	return (frz_time){ larger(apart.lo, passed.lo), smaller(apart.hi, passed.hi) };
}

/* Its stretches of work are one more than those in which it waits, at most. */
static frz_time work_of(const struct findings *f, const struct region_visit *v, frz_time length)
{
	uint64_t ticks = v->to - v->from, pieces = v->waited.periods + 1;
	if (v->waited.periods == 0)
		return length;
	uint64_t sure = v->waited.sure < ticks ? v->waited.sure : ticks, most = ticks - sure;
	uint64_t least = v->waited.perhaps < most ? most - v->waited.perhaps : 0;
	int64_t lo = times_sum(&f->times, v->thread, (struct stretches){ least, pieces, v->from, v->to }).lo;
	int64_t hi = times_sum(&f->times, v->thread, (struct stretches){ most, pieces, v->from, v->to }).hi;
	uint32_t clock = f->trace->threads[v->thread].clock;
	hi = ticks_plus(hi, times_duration(&f->times, clock, f->totals.threads[v->thread].between).hi);
	return (frz_time){ larger(lo, 0), smaller(hi, length.hi) };
}

/* All that the thread was blocked for in what was not recorded may have been in this visit, or all that is hidden. */
static frz_time work_bounds(const struct findings *f, const struct region_visit *v, frz_time work, frz_time length)
{
	if (!f->unrecorded.checked)
		return work;
	const struct span *span = findings_span(f, v->thread);
	double run_s = findings_seconds(f, v->thread, span->length).lo;
	double most_s = unrecorded_most(&f->unrecorded, f->trace, v->thread);
	work = blocked_work(work, most_s, &f->unrecorded.threads[v->thread], span, run_s);
	return (frz_time){ work.lo, smaller(work.hi, length.hi) };
}

static void add_visit(struct gather *g, const struct region_visit *v)
{
	const struct times *times = &g->findings->times;
	uint32_t clock = times->trace->threads[v->thread].clock;
	struct instance *x = instance_of(g, v);
	struct frz_cursor cursor = times_cursor(times, clock);
	frz_time from = frz_time_of(&cursor, v->from), to = frz_time_of(&cursor, v->to);
	frz_time length = length_of(times, v);
	x->visits++;
	x->begin = (frz_time){ smaller(x->begin.lo, from.lo), smaller(x->begin.hi, from.hi) };
	x->end = (frz_time){ larger(x->end.lo, to.lo), larger(x->end.hi, to.hi) };
	x->longest = (frz_time){ larger(x->longest.lo, length.lo),
				 larger(x->longest.hi, length.hi) };
	x->shortest = (frz_time){ smaller(x->shortest.lo, length.lo),
				  smaller(x->shortest.hi, length.hi) };
	x->clock = x->clock == clock ? clock : UINT32_MAX;
	x->first = v->from < x->first ? v->from : x->first;
	x->last = v->to > x->last ? v->to : x->last;
	frz_time work = work_of(g->findings, v, length);
	compete(times->trace, x, v->thread, (struct visit_work){ work, work_bounds(g->findings, v, work, length) });
}

/* ---- Threads --------------------------------------------------------------------------------- */

static void note_open(struct gather *g, size_t depth, struct open_visit visit)
{
	if (depth > g->room) {
		g->room = 2 * depth;
		g->open = mem_resize(g->open, g->room, sizeof *g->open);
	}
	g->open[depth - 1] = visit;
}

struct visit_walk {
	size_t thread;
	struct replay replay;
	uint64_t visits;
	bool lost;
	struct period_cursor periods;
	struct period period;     /* in which the walk is, if there is any; `waited` is up to its begin */
	bool any;
	struct waited waited;
};

static struct waited add_period(struct waited sum, const struct period *p, uint64_t to)
{
	bool waits = p->may & MAY_WAIT, sure = p->may == MAY_WAIT;
	uint64_t ticks = waits && to > p->from ? to - p->from : 0;
	return (struct waited){ sum.sure + (sure ? ticks : 0), sum.perhaps + (sure ? 0 : ticks), sum.periods + waits };
}

/* Stamps that are asked for do not go back. */
static struct waited waited_until(struct visit_walk *w, uint64_t stamp)
{
	while (w->any && w->period.to <= stamp) {
		w->waited = add_period(w->waited, &w->period, w->period.to);
		w->any = period_next(&w->periods, &w->period);
	}
	return w->any ? add_period(w->waited, &w->period, stamp) : w->waited;
}

/* A period that was under way at the begin is one of those, too. One that is no tick long may have been some of one. */
static struct waited waited_since(struct waited before, struct waited now)
{
	uint64_t sure = now.sure - before.sure, perhaps = now.perhaps - before.perhaps, periods = now.periods - before.periods;
	return (struct waited){ sure, perhaps, sure + perhaps + periods ? periods + 1 : 0 };
}

static bool is_visit(const struct gather *g, uint32_t site)
{
	return site != TR_NO_SITE && g->sites[site];
}

static void enter(struct gather *g, struct visit_walk *w, const struct tr_event *e)
{
	bool counted = is_visit(g, e->site) && !arg_has_instance(e);
	struct replay_entry entry = tr_entry(g->findings->trace, e);
	entry.record = !(counted && w->lost) && !e->unsure; /* it is known which visit it is, and how long */
	replay_enter(&w->replay, entry);
	if (!is_visit(g, e->site))
		return;
	g->result->counted |= counted;
	uint64_t id = counted ? w->visits : arg_instance(e);
	note_open(g, w->replay.depth, (struct open_visit){ id, waited_until(w, e->stamp) });
	w->visits += counted;
}

static void leave(struct gather *g, struct visit_walk *w, const struct tr_event *e)
{
	for (size_t closed = replay_exit(&w->replay, e->site); closed > 0; closed--) {
		size_t at = w->replay.depth + closed - 1;
		const struct replay_entry *entry = &w->replay.entry[at];
		if (!is_visit(g, entry->site))
			continue;
		struct region_visit v = { g->open[at].id, w->thread, entry->stamp, e->stamp,
					  waited_since(g->open[at].before, waited_until(w, e->stamp)) };
		if (closed == 1 && entry->record)
			add_visit(g, &v);
		else
			g->result->left_out += entry->times;
	}
}

static void abandon(struct gather *g, struct visit_walk *w)
{
	for (size_t closed = replay_lose(&w->replay); closed > 0; closed--) {
		const struct replay_entry *entry = &w->replay.entry[closed - 1];
		g->result->left_out += is_visit(g, entry->site) ? entry->times : 0;
	}
}

static void walk_thread(struct gather *g, size_t thread)
{
	const struct trace *trace = g->findings->trace;
	struct visit_walk w = { .thread = thread, .periods = periods_cursor(&g->findings->totals.periods, thread) };
	struct tr_cursor events = trace_places(trace, thread);
	w.any = period_next(&w.periods, &w.period);
	replay_open(&w.replay, trace->nsites);
	for (struct tr_event e; trace_next(&events, &e);) {
		/* Which visit of the opener it is only its id says. */
		if (e.inherited && !arg_has_instance(&e))
			continue;
		if (e.op == DPROF_ENTER)
			enter(g, &w, &e);
		else if (e.op == DPROF_EXIT)
			leave(g, &w, &e);
		else if (e.op == DPROF_LOST)
			abandon(g, &w), w.lost = true;
	}
	abandon(g, &w);
	trace_end(&events);
	period_cursor_close(&w.periods);
	replay_close(&w.replay);
}

/* ---- Instances ------------------------------------------------------------------------------- */

static void finish(const struct times *times, struct instance *x)
{
	x->length = (frz_time){ larger(ticks_minus(x->end.lo, x->begin.hi), x->longest.lo),
				ticks_minus(x->end.hi, x->begin.lo) };
	if (x->clock != UINT32_MAX) {
		frz_time on = times_duration(times, x->clock, x->last - x->first);
		x->length.lo = larger(x->length.lo, on.lo);
		x->length.hi = smaller(x->length.hi, on.hi);
	}
	x->proved = x->slowest_work.lo > x->rival;
}

static int by_length(const void *x, const void *y)
{
	const struct instance *a = x, *b = y;
	int64_t l = time_middle(a->length), m = time_middle(b->length);
	return l != m ? (l < m ? 1 : -1) : ORDER(a->id, b->id);
}

/* The k-th of sorted lower bounds and the k-th of sorted upper ones enclose the k-th of the
 * values. Of an even number the median is between two. */
static void summarize(struct instances *r)
{
	int64_t *ends = mem_resize(NULL, r->count, sizeof *ends);
	size_t low = (r->count - 1) / 2, high = r->count / 2, last = r->count - 1;
	for (size_t i = 0; i < r->count; i++)
		ends[i] = r->list[i].length.lo;
	qsort(ends, r->count, sizeof *ends, order_int64);
	r->shortest.lo = ends[0];
	r->median.lo = ends[low] + (ends[high] - ends[low]) / 2;
	r->longest.lo = ends[last];
	for (size_t i = 0; i < r->count; i++)
		ends[i] = r->list[i].length.hi;
	qsort(ends, r->count, sizeof *ends, order_int64);
	r->shortest.hi = ends[0];
	r->median.hi = ends[high] - (ends[high] - ends[low]) / 2;
	r->longest.hi = ends[last];
	free(ends);
}

static bool find_sites(struct gather *g, const char *region)
{
	const struct trace *trace = g->findings->trace;
	const char **names = mem_resize(NULL, trace->nsites, sizeof *names);
	size_t nnames = 0;
	bool any = false;
	for (size_t i = 0; i < trace->nsites; i++) {
		const struct tr_site *site = &trace->sites[i];
		g->sites[i] = site->kind == DPROF_KIND_REGION && strcmp(site->name, region) == 0;
		any |= g->sites[i];
		if (site->kind == DPROF_KIND_REGION)
			names[nnames++] = site->name;
	}
	const char *meant = any ? NULL : nearest(region, names, nnames);
	if (!any)
		shown_complain("--instances: expected the name of a region of this trace%s%s; found \"%s\"",
			meant ? ", such as " : "", meant ? meant : "", region);
	free(names);
	return any;
}

bool instances_open(struct instances *r, const struct findings *f, const char *region)
{
	struct gather g = { .findings = f, .result = r };
	*r = (struct instances){ .region = region, .time_base = findings_time_base(f) };
	g.sites = mem_resize(NULL, f->trace->nsites, sizeof *g.sites);
	bool known = find_sites(&g, region);
	for (size_t i = 0; known && i < f->trace->nthreads; i++)
		if (f->times.time_base[f->trace->threads[i].clock] == r->time_base)
			walk_thread(&g, i);
	for (size_t i = 0; i < r->count; i++)
		finish(&f->times, &r->list[i]);
	if (r->count > 0) {
		summarize(r);
		qsort(r->list, r->count, sizeof *r->list, by_length);
	}
	ids_free(&g.ids);
	free(g.open);
	free(g.sites);
	return known;
}

void instances_close(struct instances *r)
{
	free(r->list);
}

/* ---- The reply ------------------------------------------------------------------------------- */

static struct interval seconds(const struct instances *list, const struct findings *f, frz_time t)
{
	return times_seconds(&f->times, list->time_base, t);
}

static void fill_lengths(struct reply *r, const struct instances *list, const struct findings *f)
{
	struct interval shortest = seconds(list, f, list->shortest), median = seconds(list, f, list->median),
			longest = seconds(list, f, list->longest);
	reply_value(r, "by_instance.shortest_s", tab_interval(shortest));
	reply_value(r, "by_instance.median_s", tab_interval(median));
	reply_value(r, "by_instance.longest_s", tab_interval(longest));
	reply_say(r, SAY_INDENTED, "shortest %s s, median %s s, longest %s s", reply_interval(r, shortest, 9).text,
		  reply_interval(r, median, 9).text, reply_interval(r, longest, 9).text);
	reply_gap(r);
}

static void fill_list(struct reply *r, const struct instances *list, const struct findings *f)
{
	static const struct tab_column columns[] = {
		TAB_SHOWN("instance", "instance", 10), TAB_KEY("visits"), TAB_SHOWN("length_s", "seconds, longest first", 22, 9),
		TAB_SHOWN("slowest_work_s", "most work", 22, 9), TAB_KEY("longest_visit_s"), TAB_KEY("shortest_visit_s"),
		TAB_KEY("slowest_rank"), TAB_KEY("slowest_thread"), TAB_KEY("verdict"), TAB_SHOWN(NULL, "by"), { 0 } };
	reply_table(r, "by_instance.instances", columns, SHOWN);
	for (size_t i = 0; i < list->count; i++) {
		const struct instance *x = &list->list[i];
		const struct tr_thread *slowest = &f->trace->threads[x->slowest];
		char by[64];
		snprintf(by, sizeof by, "%s, %s", rank_name(f->trace, x->slowest).text, x->proved ? "proved" : "undecided");
		reply_row(r, tab_count(x->id), tab_count(x->visits), tab_interval(seconds(list, f, x->length)),
			  tab_interval(seconds(list, f, x->slowest_work)), tab_interval(seconds(list, f, x->longest)),
			  tab_interval(seconds(list, f, x->shortest)), tab_count(slowest->rank),
			  tab_count(slowest->number), tab_verdict(x->proved), tab_text(by));
	}
	reply_end(r);
	if (list->count > SHOWN)
		reply_say(r, SAY_LINE, "  and %zu more, see --json", list->count - SHOWN);
}

void instances_fill(struct reply *r, const struct instances *list, const struct findings *f)
{
	reply_value(r, "by_instance.region", tab_text(list->region));
	reply_value(r, "by_instance.left_out", tab_count(list->left_out));
	reply_value(r, "by_instance.counted", tab_flag(list->counted));
	reply_gap(r);
	reply_say(r, SAY_TEXT, "Instances of region %s: %zu", list->region, list->count);
	if (list->count > 0)
		fill_lengths(r, list, f);
	fill_list(r, list, f);
	if (list->count > 0)
		reply_say(r, SAY_TEXT, "Most work is that of one visit: its length without what was waited in it.");
	if (list->counted)
		reply_say(r, SAY_TEXT, "Visits without instance(EXPR) are counted, in each thread from 0.");
	if (list->left_out > 0)
		reply_say(r, SAY_LINE, "Left out, as not left, or behind records that were lost: %" PRIu64 " visit%s.",
			  list->left_out, list->left_out == 1 ? "" : "s");
}
