/* SPDX-License-Identifier: MIT
 *
 * path_slack.c - back from the end: how much later what a thread does might be before the run's end is. Then along each
 * thread: in which sites it was then. */
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/progress.h"
#include "analysis/graph/graph_last.h"
#include "analysis/path/path_private.h"

static const frz_time no_limit = { INT64_MAX, INT64_MAX };

static const struct call_slack no_call = { 0, INT64_MAX };

/* ---- Back from the end ----------------------------------------------------------------------- */

/* When an input was there at the latest. */
static int64_t latest(struct slacks *s, const struct graph_input *input)
{
	return path_elapsed(s->path, input->thread, graph_latest_stamp(&s->path->graph, input)).hi;
}

struct node_slack *path_look_at(struct slacks *s, uint32_t number)
{
	struct node_slack *n = &s->nodes[number];
	const struct graph *g = &s->path->graph;
	if (n->looked)
		return n;
	*n = (struct node_slack){ .slack = no_limit, .looked = true };
	graph_last_find(&s->last, number);
	n->only = s->last.n == 1 ? s->last.input[0] + 1 : 0;
	for (size_t i = 0; i < s->last.n && !n->only; i++) {
		const struct graph_input *input = &g->inputs[s->last.input[i]];
		int64_t at = path_elapsed(s->path, input->thread, input->stamp).lo, end = latest(s, input);
		bool waited = graph_was_waited_for(&g->nodes[number], s->last.input[i] - g->nodes[number].first, input);
		n->last.lo = waited && at > n->last.lo ? at : n->last.lo;
		n->last.hi = end > n->last.hi ? end : n->last.hi;
	}
	return n;
}

/* From an input to the last that was waited for with it. */
frz_time path_ahead(struct slacks *s, const struct node_slack *n, const struct graph_input *input)
{
	const struct graph *g = &s->path->graph;
	frz_time t;
	if (n->only) {
		const struct graph_input *only = &g->inputs[n->only - 1];
		t = graph_last_until(&s->last, graph_moment(g, input), only);
		if (input->open)
			t.lo = graph_last_since(&s->last, input, graph_moment(g, only)).lo;
	} else {
		int64_t at = path_elapsed(s->path, input->thread, input->stamp).lo;
		t = (frz_time){ ticks_minus(n->last.lo, latest(s, input)), ticks_minus(n->last.hi, at) };
	}
	return (frz_time){ t.lo > 0 ? t.lo : 0, t.hi > 0 ? t.hi : 0 };
}

/* A lock that may have been free when its thread came was perhaps not waited for: then its release may have come later. */
bool path_was_free(struct slacks *s, const struct graph_node *node, const struct graph_input *input)
{
	const struct graph *g = &s->path->graph;
	const struct graph_input *own = &g->inputs[node->first];
	if (node->kind != GRAPH_ARRIVAL || node->what != GRAPH_LOCKED || input == own)
		return false;
	return times_between_near(g->times, s->path->cursors, graph_moment(g, own), graph_moment(g, input)).lo <= 0;
}

/* Its thread had perhaps not come yet when the last came. */
static bool is_doubtful(struct slacks *s, uint32_t number)
{
	frz_time tried;
	graph_last_find(&s->last, number);
	return graph_last_is_doubtful(&s->last, &tried);
}

/* Of what posts an input. */
frz_time path_slack_of(struct slacks *s, uint32_t number)
{
	const struct graph *g = &s->path->graph;
	const struct graph_input *input = &g->inputs[number];
	const struct graph_node *node = &g->nodes[input->node];
	const struct node_slack *n = path_look_at(s, input->node);
	if (n->slack.lo == INT64_MAX)
		return no_limit;
	if (!path_knows(node))
		return (frz_time){ 0, INT64_MAX };
	frz_time slack = time_add(n->slack, path_ahead(s, n, input));
	bool end = input->node == g->end && s->end_open;
	if (end || !graph_was_waited_for(node, number - node->first, input) || path_was_free(s, node, input) ||
	    is_doubtful(s, input->node))
		slack.hi = INT64_MAX;
	return slack;
}

/* ---- Before a call with which a message may have come ----------------------------------------- */

#define MOST_WAITS 64 /* gone back over, one after the other: else nothing is known before */

static void lower_before(struct slacks *, struct path_moment, int64_t least, unsigned waits);

static void lower(int64_t *least, int64_t x)
{
	*least = x < *least ? x : *least;
}

static void know_nothing_until(struct slacks *s, uint32_t thread, uint64_t stamp)
{
	int64_t until = path_elapsed(s->path, thread, stamp).hi;
	s->unknown_until = until > s->unknown_until ? until : s->unknown_until;
}

/* What waits for a node has no less slack than this: nor have those that it may have waited for. */
static void lower_inputs(struct slacks *s, uint32_t number, int64_t least, unsigned waits)
{
	const struct graph_node *node = &s->path->graph.nodes[number];
	struct node_slack *n = path_look_at(s, number);
	if (n->slack.lo <= least)
		return;
	n->slack.lo = least;
	for (uint32_t i = node->first; i < node->first + node->ninputs; i++) {
		struct path_moment m = path_posted(&s->path->graph, i);
		if (m.point >= s->left[m.thread])
			lower_before(s, m, path_slack_of(s, i).lo, waits);
	}
}

/* Nor has what a thread does before this moment. */
static void lower_before(struct slacks *s, struct path_moment m, int64_t least, unsigned waits)
{
	const struct graph_thread *t = &s->path->graph.threads[m.thread];
	struct call_slack *call = &s->calls[m.thread];
	size_t now = s->left[m.thread];
	if (m.point < now) {
		lower(&call->least, least);
		call->point = m.point > call->point ? m.point : call->point;
		return;
	}
	for (size_t point = m.point; point >= now; point--) {
		if (point < t->nsyncs)
			lower(&s->before[s->first[m.thread] + point].lo, least);
		if (point == now)
			lower(&s->now[m.thread].lo, least);
		if (point == now || !path_waits(&s->path->graph, &t->syncs[point - 1]))
			continue;
		if (waits > 0)
			lower_inputs(s, t->syncs[point - 1].number, least, waits - 1);
		else
			know_nothing_until(s, m.thread, m.stamp);
		return;
	}
}

/* Whoever sends what is open may make it come later with the next call, too. */
static void go_to_next_calls(struct slacks *s, uint32_t number)
{
	const struct graph *g = &s->path->graph;
	const struct graph_node *node = &g->nodes[number];
	for (uint32_t i = node->first; i < node->first + node->ninputs; i++)
		if (g->inputs[i].open)
			lower_before(s, path_next_call(g, &g->inputs[i]), path_slack_of(s, i).lo, MOST_WAITS);
}

/* ---- Who else may have given ------------------------------------------------------------------- */

static void add_giver(struct givers *g, struct giver x)
{
	if (x.thread == g->last.thread) {
		g->last.until = x.until > g->last.until ? x.until : g->last.until;
	} else if (x.until > g->last.until) {
		g->other = g->last;
		g->last = x;
	} else if (x.until > g->other.until) {
		g->other = x;
	}
}

static void find_givers(struct slacks *s)
{
	const struct graph *g = &s->path->graph;
	s->givers = mem_resize(NULL, g->trace->nprocesses + 1, sizeof *s->givers);
	for (size_t p = 0; p < g->trace->nprocesses; p++)
		s->givers[p].last = s->givers[p].other = (struct giver){ UINT32_MAX, -1 };
	for (size_t n = 0; n < g->nnodes; n++, spill_relax(g->spill)) {
		const struct graph_node *node = &g->nodes[n];
		uint32_t own = node->kind == GRAPH_SYNC ? 0 : 1;
		for (uint32_t i = own; node->posted && i < node->ninputs; i++) {
			const struct graph_input *input = &g->inputs[node->first + i];
			add_giver(&s->givers[g->trace->threads[input->thread].process],
				  (struct giver){ input->thread, latest(s, input) });
		}
	}
}

/* Whether what a thread did from a stamp on may have been what another of its process waited for, unrecorded, before it gave. */
static bool may_be_before_giver(struct slacks *s, uint32_t thread, uint64_t stamp)
{
	const struct givers *g = &s->givers[s->path->graph.trace->threads[thread].process];
	int64_t until = g->last.thread != thread ? g->last.until : g->other.until;
	return until >= 0 && path_elapsed(s->path, thread, stamp).lo <= until;
}

/* Of what is just before a point; within a wait nothing is done. */
static frz_time allow_for_givers(struct slacks *s, uint32_t thread, size_t point, frz_time slack)
{
	const struct graph_thread *t = &s->path->graph.threads[thread];
	uint64_t since = point > 0 ? t->syncs[point - 1].stamp : t->first;
	if (slack.lo == 0 || t->syncs[point].what == GRAPH_WAITS || !may_be_before_giver(s, thread, since))
		return slack;
	s->withheld = true;
	return (frz_time){ 0, slack.hi };
}

/* ---- All points ------------------------------------------------------------------------------- */

static void go_back_over(struct slacks *s, uint32_t thread, const struct graph_sync_point *p, frz_time *now)
{
	const struct graph *g = &s->path->graph;
	if (p->what == GRAPH_POSTS) {
		*now = time_least(*now, path_slack_of(s, p->number));
	} else if (path_waits(g, p)) {
		struct node_slack *n = path_look_at(s, p->number);
		if (!n->waits || now->hi < n->slack.hi) {
			n->thread = thread;
			n->waits = (size_t)(p - g->threads[thread].syncs) + 1;
		}
		n->slack = time_least(n->slack, *now);
		*now = is_doubtful(s, p->number) ? (frz_time){ now->lo, INT64_MAX } : no_limit;
		if (!path_knows(&g->nodes[p->number]))
			know_nothing_until(s, thread, p->stamp);
		go_to_next_calls(s, p->number);
	}
}

static void go_back(struct slacks *s)
{
	const struct graph *g = &s->path->graph;
	const struct graph_order *order = &s->path->order;
	s->left = mem_resize(NULL, g->trace->nthreads + 1, sizeof *s->left);
	s->now = mem_resize(NULL, g->trace->nthreads + 1, sizeof *s->now);
	s->calls = mem_resize(NULL, g->trace->nthreads + 1, sizeof *s->calls);
	for (uint32_t t = 0; t < g->trace->nthreads; t++) {
		s->left[t] = g->threads[t].nsyncs;
		s->now[t] = no_limit;
		s->calls[t] = no_call;
	}
	path_look_at(s, g->end)->slack = (frz_time){ 0, 0 };
	for (size_t i = order->nsteps; i-- > 0; spill_relax(g->spill)) {
		uint32_t t = order->steps[i].thread;
		go_back_over(s, t, &g->threads[t].syncs[--s->left[t]], &s->now[t]);
		if (s->left[t] <= s->calls[t].point) {
			lower(&s->now[t].lo, s->calls[t].least);
			s->calls[t] = no_call;
		}
		s->now[t] = allow_for_givers(s, t, s->left[t], s->now[t]);
		s->before[s->first[t] + s->left[t]] = s->now[t];
	}
	free(s->left);
	free(s->now);
	free(s->calls);
}

/* ---- Along a thread -------------------------------------------------------------------------- */

struct place_row { struct stretches whole; frz_time slack; bool used; };

struct slack_walk {
	struct slacks *slacks;
	uint32_t thread;
	struct place_row *rows; /* of each site, and outside */
	uint32_t *used; size_t nused;
	size_t point;        /* the next one */
	uint64_t at;         /* events */
	struct stretches unknown; /* in which it is not known where the thread was */
};

static void add_piece(struct slack_walk *w, uint32_t site, uint64_t from, uint64_t to)
{
	struct path *p = w->slacks->path;
	uint32_t number = tr_row_or_last(p->graph.trace, site);
	struct place_row *row = &w->rows[number];
	frz_time slack = w->point < p->graph.threads[w->thread].nsyncs ? w->slacks->before[w->slacks->first[w->thread] + w->point]
								       : no_limit;
	if (!row->used)
		w->used[w->nused++] = number;
	if (!row->used)
		*row = (struct place_row){ .whole.from = from, .slack = no_limit, .used = true };
	row->whole.ticks += to - from;
	row->whole.pieces++;
	row->whole.to = to;
	if (slack.lo < INT64_MAX && slack.lo > 0 && w->slacks->unknown_until > 0 &&
	    path_elapsed(p, w->thread, from).lo <= w->slacks->unknown_until)
		slack.lo = 0;
	row->slack = time_least(row->slack, slack);
}

static void add_unknown(struct slack_walk *w, uint64_t from, uint64_t to)
{
	w->unknown.from = w->unknown.pieces ? w->unknown.from : from;
	w->unknown.to = to;
	w->unknown.ticks += to - from;
	w->unknown.pieces++;
}

/* Who waits for some thread of the same process no record says. */
static bool is_untied(const struct path *p, uint32_t thread)
{
	return p->graph.untied[p->graph.trace->threads[thread].process];
}

static void take_places(struct path_slack *found, const struct slack_walk *w)
{
	const struct path *p = w->slacks->path;
	for (size_t i = 0; i < w->nused; i++) {
		struct place_row *row = &w->rows[w->used[i]];
		uint32_t site = w->used[i] < p->graph.trace->nsites ? w->used[i] : TR_OUTSIDE;
		frz_time ticks = times_sum(p->times, w->thread, row->whole);
		int64_t around = p->graph.around[w->thread]; /* for so long it may have been there, and in what it inherited */
		if (around > 0)
			ticks.hi = ticks_plus(ticks.hi, ticks_plus(around, times_sum(p->times, w->thread, w->unknown).hi));
		if (around > 0 && site == TR_OUTSIDE)
			ticks.lo = ticks.lo > around ? ticks.lo - around : 0;
		if (p->graph.nlosses || is_untied(p, w->thread)) /* others may have waited for it where that is lost, or in no record */
			row->slack.lo = 0;
		if (row->slack.lo < INT64_MAX || site == TR_OUTSIDE || tr_is(p->graph.trace, site, OP_REGION))
			*MEM_GROW(found->places, found->n) = (struct path_place){ w->thread, site, ticks, row->slack };
		*row = (struct place_row){ 0 };
	}
}

static void follow(struct path_slack *found, struct slack_walk *w)
{
	const struct path *p = w->slacks->path;
	const struct trace *trace = p->graph.trace;
	const struct graph_thread *t = &p->graph.threads[w->thread];
	struct tr_cursor events = trace_places(trace, w->thread);
	struct path_whereabouts where = { .lost = false };
	struct tr_event e;
	uint64_t stamp = t->first;
	w->nused = w->point = w->at = 0;
	w->unknown = (struct stretches){ 0 };
	replay_open(&where.replay, trace->nsites);
	for (bool begun = false; trace_next_bare(&events, &e); begun = true) {
		uint32_t site = path_site_now(&where);
		if (begun && e.stamp >= stamp && site != TR_NO_SITE)
			add_piece(w, site, stamp, e.stamp);
		else if (begun && e.stamp > stamp)
			add_unknown(w, stamp, e.stamp);
		stamp = e.stamp > stamp ? e.stamp : stamp;
		while (!e.inherited && w->point < t->nsyncs && t->syncs[w->point].at <= w->at)
			w->point++;
		w->at += !e.inherited;
		path_move(&where, trace, &e);
		spill_relax(p->graph.spill);
	}
	trace_end(&events);
	replay_close(&where.replay);
	take_places(found, w);
}

/* ---- All of it ------------------------------------------------------------------------------- */

static int by_slack(const void *x, const void *y)
{
	const struct path_place *a = x, *b = y;
	if (a->slack.lo != b->slack.lo || a->slack.hi != b->slack.hi)
		return a->slack.lo != b->slack.lo ? ORDER(a->slack.lo, b->slack.lo)
						  : ORDER(a->slack.hi, b->slack.hi);
	if (a->ticks.hi != b->ticks.hi)
		return a->ticks.hi < b->ticks.hi ? 1 : -1;
	return ORDER_2(a, b, thread, site);
}

static void follow_all(struct path_slack *found, struct slacks *s)
{
	const struct trace *trace = s->path->graph.trace;
	struct slack_walk w = { .slacks = s };
	w.used = mem_resize(NULL, trace->nsites + 1, sizeof *w.used);
	w.rows = mem_zeroed(trace->nsites + 1, sizeof *w.rows);
	progress_begin("finding slack", trace_records(trace));
	for (w.thread = 0; w.thread < trace->nthreads; w.thread++)
		follow(found, &w);
	progress_end();
	free(w.rows);
	free(w.used);
}

static bool any_broken(const struct graph_order *order)
{
	for (size_t i = 0; i < order->nsteps; i++, spill_relax(order->graph->spill))
		if (order->steps[i].broken)
			return true;
	return false;
}

void path_slack_open(struct path_slack *found, struct path *p)
{
	const struct graph *g = &p->graph;
	struct slacks s = { .path = p, .unknown_until = p->known_from, .end_open = trace_end_open(g->trace) };
	*found = (struct path_slack){ .known = !any_broken(&p->order) };
	if (!found->known)
		return;
	s.first = mem_resize(NULL, g->trace->nthreads + 1, sizeof *s.first);
	s.first[0] = 0;
	for (size_t t = 0; t < g->trace->nthreads; t++)
		s.first[t + 1] = s.first[t] + g->threads[t].nsyncs;
	s.nodes = spill_zeros(g->spill, g->nnodes, sizeof *s.nodes);
	s.before = spill_zeros(g->spill, s.first[g->trace->nthreads], sizeof *s.before);
	graph_last_open(&s.last, g);
	find_givers(&s);
	go_back(&s);
	found->withheld = s.withheld;
	follow_all(found, &s);
	if (found->n)
		qsort(found->places, found->n, sizeof *found->places, by_slack);
	if (p->known_from == 0 && s.unknown_until == 0 && !g->nlosses && !g->nuntied)
		path_find_near(found, &s);
	graph_last_close(&s.last);
	spill_free(g->spill, s.nodes);
	spill_free(g->spill, s.before);
	free(s.givers);
	free(s.first);
}

void path_slack_close(struct path_slack *found)
{
	free(found->places);
	path_close_near(found);
}
