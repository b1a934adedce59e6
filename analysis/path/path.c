/* SPDX-License-Identifier: MIT
 *
 * path.c - see path.h. The points of the graph are gone through from the last to the first. Flow comes to a node from
 * all that waited for it, and goes on to the inputs of it that may have been the last; it comes to a thread where it
 * posts such an input, and leaves it where it had waited. */
#include "analysis/path/path_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/progress.h"
#include "analysis/graph/graph_last.h"
#include "analysis/states/blocked.h"

#define RETAKES 2 /* events: a wait is over, and then its lock is taken again */

frz_time path_elapsed(struct path *p, uint32_t thread, uint64_t stamp)
{
	frz_time now = frz_time_of(&p->cursors[p->graph.trace->threads[thread].clock], stamp);
	frz_time e = { ticks_minus(now.lo, p->span.first.hi), ticks_minus(now.hi, p->span.first.lo) };
	e.lo = e.lo > 0 ? e.lo : 0;
	e.hi = e.hi > 0 ? e.hi : 0;
	return e;
}

/* Before this event of the thread the path may have been anywhere. */
void path_lose(struct back *b, uint32_t thread, uint64_t stamp)
{
	int64_t until = stamp == UINT64_MAX ? INT64_MAX : path_elapsed(b->path, thread, stamp).hi;
	if (until > b->path->known_from)
		b->path->known_from = until;
}

/* Behind the wait it took its lock again, which another one had given back meanwhile: perhaps it waited for that, too. */
static bool waited_for_lock(struct path *p, uint32_t thread, const struct graph_sync_point *wait)
{
	const struct graph *g = &p->graph;
	const struct graph_thread *t = &g->threads[thread];
	int64_t begin = path_elapsed(p, thread, g->inputs[g->nodes[wait->number].first].stamp).lo;
	bool waited = false;
	for (const struct graph_sync_point *s = wait + 1; s < t->syncs + t->nsyncs && s->at <= wait->at + RETAKES; s++) {
		const struct graph_node *n = s->what == GRAPH_WAITS ? &g->nodes[s->number] : NULL;
		for (uint32_t i = n ? n->first : 0; n && i < n->first + n->ninputs; i++)
			waited |= g->inputs[i].thread != thread &&
				  path_elapsed(p, g->inputs[i].thread, g->inputs[i].stamp).hi >= begin;
	}
	return waited;
}

bool path_came(struct path *p, uint32_t thread, const struct graph_sync_point *s)
{
	const struct graph_node *n = &p->graph.nodes[s->number];
	if (!path_waits(&p->graph, s))
		return false;
	bool expired = n->kind == GRAPH_UNKNOWN && !n->behind && !n->doubted;
	bool locked = expired && n->what == GRAPH_LIMIT_LOCKED, own = expired && n->what == GRAPH_OWN_LIMIT;
	return locked ? waited_for_lock(p, thread, s) : !own;
}

/* ---- Flow ------------------------------------------------------------------------------------ */

void path_add_stay(struct back *b, uint32_t thread, struct stay stay, size_t at)
{
	struct stays *s = &b->path->stays[thread];
	(void)SPILL_GROW(b->path->graph.spill, s->v, s->n);
	memmove(&s->v[at + 1], &s->v[at], (s->n - 1 - at) * sizeof *s->v);
	s->v[at] = stay;
}

void path_end_stay(struct back *b, uint32_t thread, struct stay stay)
{
	const struct path_stay *p = &b->places[thread];
	stay.to = p->until;
	stay.sure = p->flow == WHOLE;
	if (b->path->graph.lost[thread]) /* behind a loss, too, what it waited for may be taken for something else, or
					    for nothing */
		path_lose(b, thread, stay.to);
	path_add_stay(b, thread, stay, b->path->stays[thread].n);
}

/* What has come to a node goes on to its inputs. */
static void distribute(struct back *b, uint32_t number)
{
	uint64_t flow = b->to_node[number];
	graph_last_find(&b->last, number);
	b->to_node[number] = 0;
	if (flow < b->last.n) {
		b->path->known_from = INT64_MAX;
		return;
	}
	for (size_t i = 0; i < b->last.n; i++) {
		uint64_t part = flow / (b->last.n - i);
		b->to_input[b->last.input[i]] += part;
		flow -= part;
	}
}

/* ---- From rank to rank ----------------------------------------------------------------------- */

void path_add_hops(struct back *b, uint32_t thread, uint64_t stamp, frz_time arrival)
{
	struct path *p = b->path;
	const struct tr_thread *threads = p->graph.trace->threads;
	frz_time until = path_elapsed(p, thread, stamp);
	bool sure = b->places[thread].flow == WHOLE && b->last.n == 1 && ticks_minus(until.lo, arrival.hi) >= p->known_from;
	for (size_t i = 0; i < b->last.n; i++) {
		uint32_t from = p->graph.inputs[b->last.input[i]].thread;
		if (from == thread)
			continue;
		*SPILL_GROW(p->graph.spill, p->hops, p->nhops) = (struct hop){ threads[from].rank, threads[thread].rank, until,
									       { sure ? arrival.lo : 0, arrival.hi }, sure };
	}
}

static void go_back_over_post(struct back *b, uint32_t thread, const struct graph_sync_point *s)
{
	struct path_stay *p = &b->places[thread];
	uint32_t node = b->path->graph.inputs[s->number].node;
	if (b->to_node[node])
		distribute(b, node);
	uint64_t flow = b->to_input[s->number];
	if (!flow)
		return;
	if (p->flow)
		path_end_stay(b, thread, (struct stay){ .from = s->stamp, .at = STAY_BEGINS });
	p->flow += flow;
	p->until = s->stamp;
}

static void go_back_over_wait(struct back *b, uint32_t thread, const struct graph_sync_point *s, bool broken)
{
	struct path_stay *p = &b->places[thread];
	const struct graph_node *node = &b->path->graph.nodes[s->number];
	if (!p->flow)
		return;
	b->broken |= broken;
	if (broken || !path_knows(node)) {
		path_lose(b, thread, s->stamp);
		return;
	}
	graph_last_find(&b->last, s->number);
	frz_time arrival = graph_last_arrival(&b->last, thread, s->stamp), tried = arrival;
	bool doubtful = graph_last_is_doubtful(&b->last, &tried);
	if (doubtful && p->flow < 2)
		path_lose(b, thread, s->stamp);
	arrival.lo = tried.lo < arrival.lo ? tried.lo : arrival.lo;
	path_end_stay(b, thread, (struct stay){ .from = s->stamp, .at = s->at, .arrival = arrival });
	uint64_t stays = doubtful ? p->flow / 2 : 0; /* then the path may have been here all the time */
	p->flow -= stays;
	path_add_hops(b, thread, s->stamp, arrival);
	uint64_t flow = p->flow;
	p->flow = stays;
	p->until = s->stamp;
	if (!path_detour(b, thread, s, flow))
		b->to_node[s->number] += flow;
}

static void go_back(struct back *b)
{
	const struct graph *g = &b->path->graph;
	for (size_t i = b->order->nsteps; i-- > 0; spill_relax(g->spill)) {
		struct graph_step step = b->order->steps[i];
		const struct graph_sync_point *s = &g->threads[step.thread].syncs[--b->places[step.thread].syncs];
		if (s->what == GRAPH_POSTS)
			go_back_over_post(b, step.thread, s);
		else if (path_came(b->path, step.thread, s))
			go_back_over_wait(b, step.thread, s, step.broken);
	}
	for (uint32_t t = 0; t < g->trace->nthreads; t++)
		if (b->places[t].flow)
			path_end_stay(b, t, (struct stay){ .from = g->threads[t].first, .at = STAY_BEGINS });
}

/* ---- Missing records ------------------------------------------------------------------------- */

/* Before records of any thread are lost it may have been anywhere: whoever it was on may have waited for what they tell. */
static void lose_losses(struct path *p)
{
	const struct graph *g = &p->graph;
	int64_t hi = g->nlosses ? g->losses[g->nlosses - 1].hi : 0;
	int64_t until = !g->nlosses ? 0 : hi < p->span.last.hi ? ticks_minus(hi, p->span.first.lo) : INT64_MAX;
	p->known_from = until > p->known_from ? until : p->known_from;
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* When the path was on which thread. */
static void find_stays(struct path *p)
{
	const struct graph *g = &p->graph;
	struct back b = { .path = p, .order = &p->order };
	b.places = mem_resize(NULL, g->trace->nthreads + 1, sizeof *b.places);
	for (uint32_t t = 0; t < g->trace->nthreads; t++)
		b.places[t] = (struct path_stay){ .syncs = g->threads[t].nsyncs };
	b.to_node = spill_zeros(g->spill, g->nnodes, sizeof *b.to_node);
	b.to_input = spill_zeros(g->spill, g->ninputs, sizeof *b.to_input);
	b.to_node[g->end] = WHOLE;
	if ((g->nodes[g->end].hidden && !g->ended_by_known) || trace_end_open(g->trace))
		p->known_from = INT64_MAX;
	lose_losses(p);
	graph_last_open(&b.last, g);
	go_back(&b);
	graph_last_close(&b.last);
	spill_free(g->spill, b.to_node);
	spill_free(g->spill, b.to_input);
	free(b.places);
}

static int by_length(const void *a, const void *b)
{
	const struct path_share *x = a, *y = b;
	int64_t p = time_middle(x->ticks), q = time_middle(y->ticks);
	if (p != q)
		return ORDER(q, p);
	return ORDER_2(x, y, thread, site);
}

/* Who is in a wait when its process ends is not waited for (graph.h), though its last event may be the run's. */
static frz_time length_of(struct path *p)
{
	const struct graph *g = &p->graph;
	const struct graph_node *end = &g->nodes[g->end];
	frz_time length = p->span.length;
	size_t present = 0;
	int64_t least = 0;
	for (uint32_t t = 0; t < g->trace->nthreads; t++)
		present += g->threads[t].nevents > 0;
	for (size_t i = 0; i < end->ninputs; i++) {
		const struct graph_input *input = &g->inputs[end->first + i];
		int64_t lo = path_elapsed(p, input->thread, input->stamp).lo;
		least = lo > least ? lo : least;
	}
	if (end->ninputs < present && least < length.lo)
		length.lo = least;
	return length;
}

/* Of each clock, its first stamp; UINT64_MAX without any. */
static uint64_t *first_events(const struct graph *g)
{
	uint64_t *first = mem_resize(NULL, g->trace->nclocks, sizeof *first);
	for (uint32_t c = 0; c < g->trace->nclocks; c++)
		first[c] = UINT64_MAX;
	for (uint32_t t = 0; t < g->trace->nthreads; t++) {
		uint64_t *of = &first[g->trace->threads[t].clock];
		*of = g->threads[t].first < *of ? g->threads[t].first : *of;
	}
	return first;
}

/* What of a path that is so long lies in the slice. */
static frz_time length_within(frz_time length, struct path_slice slice)
{
	frz_time found = time_less(time_least(length, slice.to), slice.from);
	bool over = slice.to.hi <= length.lo; /* before the path is */
	found.lo = over && slice.length.lo > found.lo ? slice.length.lo : found.lo;
	found.hi = slice.length.hi < found.hi ? slice.length.hi : found.hi;
	return found;
}

/* Nothing is on the path for longer than all of it less what else surely is. */
static void limit_shares(struct path_profile *p)
{
	int64_t sure = 0;
	for (size_t i = 0; i < p->nshares; i++)
		sure = ticks_plus(sure, p->shares[i].ticks.lo);
	for (size_t i = 0; i < p->nshares; i++) {
		frz_time *ticks = &p->shares[i].ticks;
		int64_t others = ticks_minus(sure, ticks->lo), most = ticks_minus(p->length.hi, others);
		ticks->hi = ticks->hi < most ? ticks->hi : most > ticks->lo ? most : ticks->lo;
	}
}

/* What a thread was blocked in, in nothing that was recorded, was for others. */
static void doubt_shares(struct path_profile *profile, const struct path *p)
{
	int64_t all = 0, length = profile->length.hi;
	for (size_t t = 0; t < p->graph.trace->nthreads; t++)
		all = ticks_plus(all, p->unrecorded[t]);
	for (size_t i = 0; i < profile->nshares && all > 0; i++) {
		struct path_share *s = &profile->shares[i];
		int64_t own = s->thread < p->graph.trace->nthreads ? p->unrecorded[s->thread] : 0;
		int64_t least = ticks_minus(s->ticks.lo, own), most = ticks_plus(s->ticks.hi, ticks_minus(all, own));
		s->ticks = (frz_time){ least > 0 ? least : 0, most < length ? most : length };
		s->sure = false;
	}
	profile->certain &= all == 0;
}

/* Where it is not known where the path was, it may have been on its way. */
static void add_unknown_hops(struct path_profile *profile, const struct path *p, struct path_slice slice)
{
	int64_t until = p->known_from < slice.to.hi ? p->known_from : slice.to.hi, unknown = ticks_minus(until, slice.from.lo);
	for (size_t i = 0; i < profile->nhops && unknown > 0; i++) {
		int64_t hi = ticks_plus(profile->hops[i].ticks.hi, unknown), most = profile->length.hi;
		profile->hops[i].ticks.hi = hi < most ? hi : most;
	}
}

/* What of a stretch in which all waited is in the slice, and where nothing is known; no more than that at least. */
static int64_t least_within(const struct path *p, struct path_slice slice, const struct causes_still *s)
{
	int64_t most = slice.to.lo < p->known_from ? slice.to.lo : p->known_from, from = ticks_minus(s->from, p->span.first.lo);
	int64_t to = ticks_minus(s->to, p->span.first.hi), least = from > slice.from.hi ? from : slice.from.hi;
	if (ticks_minus(s->from, p->span.first.hi) >= slice.from.hi && ticks_minus(s->to, p->span.first.lo) <= most)
		return ticks_minus(s->to, s->from);
	to = to < most ? to : most;
	return to > least ? to - least : 0;
}

/* Who is in no wait because nothing of it is recorded may have been on it; nor is anything known where the trace contradicts
 * itself, or was damaged: what ended a wait may have been in it. */
static bool is_all_recorded(const struct path *p)
{
	const struct graph *g = &p->graph;
	bool all = g->nlosses == 0 && g->trace->ndiagnostics == 0 && g->said.ndiagnostics == 0;
	for (uint32_t t = 0; t < g->trace->nthreads; t++)
		all &= g->threads[t].nevents > 0;
	for (size_t i = 0; i < p->causes.n; i++)
		all &= p->causes.rows[i].lack != CAUSES_CIRCLE;
	return all;
}

static void add_elsewhere(struct path_profile *profile, const struct path *p, struct path_slice slice)
{
	int64_t until = p->known_from < slice.to.hi ? p->known_from : slice.to.hi, unknown = ticks_minus(until, slice.from.lo);
	frz_time ticks = { 0, unknown < profile->length.hi ? unknown : profile->length.hi };
	if (p->causes.missing == 0 || unknown <= 0)
		return;
	for (size_t i = 0; i < p->causes.nstill && p->all_recorded; i++, spill_relax(p->graph.spill))
		ticks.lo = ticks_plus(ticks.lo, least_within(p, slice, &p->causes.still[i]));
	*MEM_GROW(profile->shares, profile->nshares) =
		(struct path_share){ PATH_ELSEWHERE, PATH_ELSEWHERE, ticks, ticks.lo == ticks.hi };
}

static int64_t unknown_of(const struct path_profile *profile, uint32_t thread)
{
	int64_t unknown = 0;
	for (size_t i = 0; i < profile->nshares; i++)
		if (profile->shares[i].thread == thread && profile->shares[i].site == TR_NO_SITE)
			unknown = ticks_plus(unknown, profile->shares[i].ticks.hi);
	return unknown;
}

/* So long a thread may have been there besides: in what is lost, and behind that, as long as it is not known where it is. */
static void add_lost(struct path_profile *profile, const struct graph *g)
{
	for (size_t i = 0; i < profile->nshares && g->nlosses > 0; i++) {
		struct path_share *s = &profile->shares[i];
		if (s->thread == PATH_ELSEWHERE)
			continue;
		int64_t unknown = s->site == TR_NO_SITE ? 0 : unknown_of(profile, s->thread);
		int64_t hi = ticks_plus(s->ticks.hi, ticks_plus(unknown, g->lost[s->thread]));
		s->ticks.hi = hi < profile->length.hi ? hi : profile->length.hi;
	}
}

/* ---- From rank to rank, in a slice ------------------------------------------------------------ */

static int by_ranks(const void *x, const void *y)
{
	const struct path_hop *a = x, *b = y;
	return ORDER_2(a, b, from, to);
}

static int by_ticks(const void *x, const void *y)
{
	const struct path_hop *a = x, *b = y;
	int64_t p = time_middle(a->ticks), q = time_middle(b->ticks);
	return p != q ? ORDER(q, p) : by_ranks(x, y);
}

static void sum_up_hops(struct path_profile *p)
{
	size_t kept = 0;
	if (p->nhops)
		qsort(p->hops, p->nhops, sizeof *p->hops, by_ranks);
	for (size_t i = 0; i < p->nhops; i++) {
		struct path_hop *sum = kept ? &p->hops[kept - 1] : NULL;
		if (!sum || by_ranks(sum, &p->hops[i]) != 0) {
			p->hops[kept++] = p->hops[i];
			continue;
		}
		sum->ticks = time_add(sum->ticks, p->hops[i].ticks);
		sum->count += p->hops[i].count;
		sum->sure &= p->hops[i].sure;
	}
	p->nhops = kept;
}

/* What of it is within the slice: all, or at an end of the slice perhaps some. False: surely nothing. */
static bool within_slice(const struct hop *h, struct path_slice slice, struct path_hop *part)
{
	int64_t since = ticks_minus(h->until.lo, h->ticks.hi);
	bool inside = h->until.hi <= slice.to.lo && (since >= slice.from.hi || slice.from.hi == 0);
	*part = (struct path_hop){ h->from, h->to, h->ticks, 1, h->sure && inside };
	if (!inside)
		part->ticks.lo = 0;
	return h->until.hi >= slice.from.lo && since <= slice.to.hi;
}

#define MANY_HOPS 65536 /* that are not added up yet */

static void add_slice_hops(struct path_profile *profile, const struct path *p, struct path_slice slice)
{
	size_t most = MANY_HOPS;
	struct path_hop part;
	for (size_t i = 0; i < p->nhops; i++, spill_relax(p->graph.spill)) {
		if (!within_slice(&p->hops[i], slice, &part))
			continue;
		*MEM_GROW(profile->hops, profile->nhops) = part;
		if (profile->nhops < most)
			continue;
		sum_up_hops(profile);
		most = profile->nhops + MANY_HOPS;
	}
	sum_up_hops(profile);
	if (profile->nhops)
		qsort(profile->hops, profile->nhops, sizeof *profile->hops, by_ticks);
}

void path_open(struct path *p, const struct trace *trace, const struct times *times)
{
	*p = (struct path){ .times = times };
	graph_open(&p->graph, trace, times);
	graph_order_open(&p->order, &p->graph);
	p->span = graph_span(&p->graph);
	p->cursors = times_cursors(times);
	p->first = first_events(&p->graph);
	p->length = length_of(p);
	p->stays = mem_zeroed(trace->nthreads + 1, sizeof *p->stays);
	p->unrecorded = mem_zeroed(trace->nthreads + 1, sizeof *p->unrecorded);
	find_stays(p);
	if (p->known_from > 0)
		causes_open(&p->causes, &p->graph, &p->order);
	p->all_recorded = is_all_recorded(p);
}

void path_doubt(struct path *p, uint32_t thread, double s)
{
	uint32_t clock = p->graph.trace->threads[thread].clock;
	double run_s = times_seconds(p->times, p->times->time_base[clock], p->span.length).lo;
	p->unrecorded[thread] = blocked_ticks(s, &p->span, run_s);
}

void path_close(struct path *p)
{
	causes_close(&p->causes);
	free(p->cursors);
	free(p->first);
	free(p->unrecorded);
	free(p->stays);
	graph_order_close(&p->order);
	graph_close(&p->graph);
}

void path_profile_open(struct path_profile *profile, struct path *p, struct path_slice slice)
{
	const struct trace *trace = p->graph.trace;
	*profile = (struct path_profile){ .certain = p->known_from <= slice.from.lo, .length = length_within(p->length, slice) };
	progress_begin("along the critical path", trace_records(trace));
	for (uint32_t t = 0; t < trace->nthreads; t++)
		path_add_thread(profile, p, slice, t);
	progress_end();
	add_elsewhere(profile, p, slice);
	add_lost(profile, &p->graph);
	limit_shares(profile);
	doubt_shares(profile, p);
	add_slice_hops(profile, p, slice);
	add_unknown_hops(profile, p, slice);
	if (profile->nshares)
		qsort(profile->shares, profile->nshares, sizeof *profile->shares, by_length);
}

void path_profile_close(struct path_profile *profile)
{
	free(profile->shares);
	free(profile->hops);
}
