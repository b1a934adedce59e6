/* SPDX-License-Identifier: MIT
 *
 * calls_walk.c - along one thread, once. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/calls/calls_private.h"
#include "analysis/graph/graph_activities.h"

/* On one path. */
struct on_path {
	uint64_t visits, bytes;
	struct { uint64_t ticks, pieces; } inclusive, possibly, exclusive;
	frz_time waited, transfer;
	int64_t uncaused;
	uint64_t at_times, in_times; /* ticks for which it may have been the innermost, or around operations, where what
					jumps left is not known */
	uint32_t open;               /* how often it is, where paths are not told apart */
	struct { int64_t inclusive, exclusive, operating; } beyond; /* behind the thread's last event, at most */
	bool used;
};

/* Beside the replay's. `bytes`: that a receive takes, as far as is known; `sure`: until its exit it was not left; `operations`: on
 * it and around it. */
struct calls_entry { uint32_t node, operations, operation; uint64_t since, bytes; bool sure; };

struct calls_along {
	struct calls_walk *w;
	struct graph_activities a;
	struct on_path *paths; size_t room; /* of each node */
	uint32_t *used; size_t nused;
	struct calls_entry *entries; size_t nentries;
	uint32_t last;               /* node of the last step, or CALL_ROOT */
	uint32_t operation;          /* node of the outermost one, or of that in a region inside of others */
	uint32_t idle;               /* site of the team's join that was left last */
	uint64_t unknown;            /* ticks */
	bool gave;                   /* the operation that it is in, something that others get: they are in the trace */
};

/* ---- The tree -------------------------------------------------------------------------------- */

static bool is_outermost(const struct call_profile *p, uint32_t parent, uint32_t site)
{
	for (uint32_t node = parent; node != CALL_ROOT; node = p->nodes[node].parent)
		if (p->nodes[node].site == site)
			return false;
	return true;
}

static uint32_t add_node(struct calls_walk *w, uint32_t parent, uint32_t site)
{
	struct call_profile *p = w->profile;
	uint32_t depth = parent == CALL_ROOT ? 0 : p->nodes[parent].depth + 1;
	bool outermost = is_outermost(p, parent, site);
	*MEM_GROW(p->nodes, p->nnodes) = (struct call_node){ .parent = parent, .site = site, .depth = depth, .outermost = outermost };
	return (uint32_t)p->nnodes - 1;
}

/* What is too deep hangs beside what it is in. */
static uint32_t child_of(struct calls_walk *w, uint32_t in, uint32_t site)
{
	uint32_t parent = w->profile->nodes[in].depth >= CALLS_DEPTH ? w->profile->nodes[in].parent : in;
	uint64_t id = (uint64_t)parent << 32 | site;
	if (ids_add(&w->children, id))
		return add_node(w, parent, site);
	return (uint32_t)ids_find(&w->children, id) + 1; /* the root is no child */
}

static struct on_path *use_path(struct calls_along *l, uint32_t node)
{
	size_t n = l->w->profile->nnodes;
	if (n > l->room) {
		l->paths = mem_resize(l->paths, 2 * n, sizeof *l->paths);
		memset(l->paths + l->room, 0, (2 * n - l->room) * sizeof *l->paths);
		l->room = 2 * n;
	}
	if (!l->paths[node].used)
		*MEM_GROW(l->used, l->nused) = node;
	l->paths[node].used = true;
	return &l->paths[node];
}

/* ---- What it did ----------------------------------------------------------------------------- */

static uint32_t node_now(const struct calls_along *l)
{
	return l->nentries ? l->entries[l->nentries - 1].node : 0;
}

/* Stretches that touch are one piece. */
static void add_exclusive(struct calls_along *l, uint32_t node)
{
	struct on_path *path = use_path(l, node);
	path->exclusive.ticks += l->a.step.to - l->a.step.from;
	path->exclusive.pieces += node != l->last;
	l->last = node;
	path->waited.hi = ticks_plus(path->waited.hi, l->a.step.perhaps);
}

static void add_idle(struct calls_along *l)
{
	uint32_t node = child_of(l->w, node_now(l), l->idle);
	frz_time waited = times_of_thread(l->w->graph->times, l->a.thread, l->a.step.from, l->a.step.to);
	struct on_path *path = use_path(l, node);
	path->waited = time_add(path->waited, waited);
	path->inclusive.ticks += l->a.step.to - l->a.step.from;
	path->inclusive.pieces++;
	add_exclusive(l, node);
}

/* It is in what was not left, and may be in what jumps have left: the innermost is one of those down to the first that was not. */
static void add_jumped(struct calls_along *l)
{
	uint64_t ticks = l->a.step.to - l->a.step.from;
	bool found = l->entries[l->nentries - 1].sure, operated = l->entries[l->nentries - 1].operations > 0;
	if (found)
		add_exclusive(l, node_now(l));
	else
		l->last = CALL_ROOT;
	for (size_t i = l->nentries + 1; i-- > 0;) {
		struct on_path *path = use_path(l, i ? l->entries[i - 1].node : 0);
		path->at_times += found ? 0 : ticks + 1;
		path->in_times += operated ? ticks + 1 : 0;
		found |= i && l->entries[i - 1].sure;
	}
}

/* Of a thread that switches stacks all is recorded, from its first event on. */
static void add_unknown(struct calls_along *l)
{
	uint64_t first = l->a.events.tangled ? l->w->graph->threads[l->a.thread].first : 0;
	uint64_t from = l->a.step.from > first ? l->a.step.from : first, ticks = l->a.step.to > from ? l->a.step.to - from : 0;
	l->unknown += ticks + 1;
	uint32_t node = child_of(l->w, 0, TR_NO_SITE);
	struct on_path *path = use_path(l, node);
	path->possibly.ticks += ticks;
	path->possibly.pieces++;
	l->last = CALL_ROOT;
}

static void add_step(struct calls_along *l)
{
	if (l->a.step.did == GRAPH_DID_UNKNOWN && !l->a.lost && l->nentries)
		add_jumped(l);
	else if (l->a.step.did == GRAPH_DID_UNKNOWN)
		add_unknown(l);
	else if (l->a.step.did == GRAPH_IDLED)
		add_idle(l);
	else
		add_exclusive(l, node_now(l));
}

static void note_points(struct calls_along *l)
{
	l->gave &= l->a.step.did == GRAPH_OPERATED;
	for (size_t i = 0; i < l->a.step.npoints; i++)
		l->gave |= l->a.step.points[i].what == GRAPH_SCHEDULES;
}

/* It may have waited, but for nobody who is known, nor is it known that others had what it sent. Of a lock, or the
 * like, whoever it is known to have waited for, another one that is not recorded may have been behind that. */
static bool is_uncaused(const struct calls_along *l, const struct graph_operation *o)
{
	const struct trace *trace = l->w->graph->trace;
	bool had = l->gave && tr_is(trace, o->site, OP_MESSAGE | OP_COLLECTIVE);
	bool alone = o->node == GRAPH_NO_NODE && !had;
	return (alone || tr_is(trace, o->site, OP_ADDRESS)) && tr_is(trace, o->site, OP_WAITS);
}

static void add_operation(struct calls_along *l)
{
	const struct graph_operation *o = &l->a.step.operation;
	if (o->site == TR_BEFORE)
		return;
	struct on_path *path = use_path(l, l->operation);
	bool uncaused = is_uncaused(l, o);
	bool hidden = (uncaused && l->w->lacks) || l->w->graph->nlosses; /* who had the lock, or sent, may be what is not recorded */
	path->waited = time_add(path->waited, hidden ? (frz_time){ o->waited.lo, o->took.hi } : o->waited);
	path->transfer = time_add(path->transfer, hidden ? (frz_time){ 0, o->transfer.hi } : o->transfer);
	path->uncaused = ticks_plus(path->uncaused, uncaused ? o->transfer.hi : 0);
}

/* ---- Enters and exits ------------------------------------------------------------------------ */

static bool is_of(const struct calls_along *l, uint32_t kinds)
{
	const struct trace *trace = l->w->graph->trace;
	uint32_t site = l->a.step.event.site;
	return site < trace->nsites && kinds >> trace->sites[site].kind & 1;
}

static const uint32_t givers = TR_KIND_BIT(DPROF_KIND_SEND) | TR_KIND_BIT(DPROF_KIND_COLL) | TR_KIND_BIT(DPROF_KIND_WAIT) |
			       TR_KIND_BIT(DPROF_KIND_IO);
static const uint32_t receives = TR_KIND_BIT(DPROF_KIND_RECV);

/* A receive that only begins has no bytes yet. */
static void enter(struct calls_along *l)
{
	const struct tr_event *e = &l->a.step.event;
	uint32_t node = child_of(l->w, node_now(l), tr_row(l->w->graph->trace, e->site));
	struct on_path *path = use_path(l, node);
	uint32_t around = l->nentries ? l->entries[l->nentries - 1].operations : 0;
	bool operation = tr_is(l->w->graph->trace, e->site, OP_OTHERS);
	struct calls_entry entry = { node, around + operation, l->operation, l->a.step.to, 0, !e->jumped && !e->unsure };
	path->visits += !e->inherited;
	path->open++;
	if (is_of(l, givers | receives) && !e->inherited) {
		struct tr_event whole = *e;
		trace_arguments(&l->a.events, &whole);
		uint64_t bytes = trace_arg(&whole, DPROF_KEY_BYTES, 0);
		path->bytes += is_of(l, givers) ? bytes : 0;
		entry.bytes = is_of(l, receives) && !trace_has(&whole, DPROF_KEY_ID) ? bytes : 0;
	}
	*MEM_GROW(l->entries, l->nentries) = entry;
	if (operation && l->a.operations == 1)
		l->operation = node;
}

/* Of an enter that may have been left before, all of the time is possible. */
static void leave(struct calls_along *l, bool sure)
{
	struct calls_entry *e = &l->entries[--l->nentries];
	struct on_path *path = use_path(l, e->node);
	uint64_t ticks = l->a.stamp - e->since;
	l->operation = e->operation;
	path->bytes += e->bytes;
	if (--path->open > 0)
		return;
	*(sure ? &path->inclusive.ticks : &path->possibly.ticks) += ticks;
	*(sure ? &path->inclusive.pieces : &path->possibly.pieces) += 1;
}

/* A receive is complete: what came counts for the operation around it. */
static void complete(struct calls_along *l)
{
	struct tr_event whole = l->a.step.event;
	if (!l->nentries || !is_of(l, receives))
		return;
	trace_arguments(&l->a.events, &whole);
	uint64_t bytes = trace_arg(&whole, DPROF_KEY_BYTES, 0);
	if (trace_has(&whole, DPROF_KEY_ID))
		use_path(l, node_now(l))->bytes += bytes;
	else if (trace_has(&whole, DPROF_KEY_BYTES))
		l->entries[l->nentries - 1].bytes = bytes;
}

static void move(struct calls_along *l)
{
	const struct tr_event *e = &l->a.step.event;
	const struct replay *r = &l->a.replay;
	for (size_t i = l->a.step.closed; i-- > 0;) {
		const struct replay_entry *entry = &r->entry[r->depth + i];
		leave(l, !entry->jumped && !entry->unsure);
	}
	if (e->op == DPROF_ENTER && e->site != TR_NO_SITE && r->depth > l->nentries)
		enter(l);
	else if (e->op == DPROF_ENTER && e->site != TR_NO_SITE && l->nentries)
		use_path(l, node_now(l))->visits++; /* once more, without an exit */
	else if (e->op == DPROF_POINT)
		complete(l);
	else if (e->op == DPROF_EXIT && tr_is(l->w->graph->trace, e->site, OP_TEAM_LEFT))
		l->idle = e->site;
}

/* ---- Behind its last event ------------------------------------------------------------------- */

/* Where it was, it may have stayed. */
static void stay(struct calls_along *l, int64_t most)
{
	if (l->a.operations)
		use_path(l, l->operation)->beyond.operating = most;
	if (l->a.idle)
		*MEM_GROW(l->entries, l->nentries) = (struct calls_entry){ .node = child_of(l->w, node_now(l), l->idle) };
	if (l->a.idle)
		use_path(l, node_now(l))->beyond.operating = most;
	use_path(l, 0)->beyond.inclusive = most;
	for (size_t i = 0; i < l->nentries; i++)
		use_path(l, l->entries[i].node)->beyond.inclusive = most;
	use_path(l, node_now(l))->beyond.exclusive = most;
	l->nentries -= l->a.idle;
}

/* Where records are lost it may have been anywhere. */
static void go_on(struct calls_along *l)
{
	const struct tr_thread *thread = &l->w->graph->trace->threads[l->a.thread];
	int64_t most = times_beyond(l->w->graph->times, l->a.thread);
	if (!trace_goes_on(thread))
		return;
	if (trace_lost_behind(thread))
		use_path(l, child_of(l->w, 0, TR_NO_SITE));
	stay(l, most);
	for (size_t i = 0; i < l->nused && trace_lost_behind(thread); i++) {
		struct on_path *path = &l->paths[l->used[i]];
		path->beyond.inclusive = path->beyond.exclusive = path->beyond.operating = most;
	}
}

/* ---- One thread ------------------------------------------------------------------------------ */

static frz_time sum_of(const struct calls_along *l, uint64_t ticks, uint64_t pieces)
{
	const struct graph_thread *t = &l->w->graph->threads[l->a.thread];
	return times_sum(l->w->graph->times, l->a.thread, (struct stretches){ ticks, pieces, t->first, t->last });
}

static struct call_sums sums_of(const struct calls_along *l, const struct on_path *path)
{
	struct call_sums s = { .visits = path->visits, .bytes = path->bytes, .waited = path->waited, .transfer = path->transfer,
				.uncaused = path->uncaused };
	s.inclusive = sum_of(l, path->inclusive.ticks, path->inclusive.pieces);
	s.exclusive = sum_of(l, path->exclusive.ticks, path->exclusive.pieces);
	s.inclusive.hi = ticks_plus(s.inclusive.hi, sum_of(l, path->possibly.ticks, path->possibly.pieces).hi);
	s.inclusive.hi = ticks_plus(s.inclusive.hi, path->beyond.inclusive);
	s.exclusive.hi = ticks_plus(s.exclusive.hi, path->beyond.exclusive);
	s.waited.hi = ticks_plus(s.waited.hi, path->beyond.operating);
	s.transfer.hi = ticks_plus(s.transfer.hi, path->beyond.operating);
	return s;
}

/* It may have been on this path for all of the time in which it is not known where it was. */
static void add_unknown_inside(const struct calls_along *l, const struct on_path *path, struct call_sums *s)
{
	int64_t unknown = sum_of(l, l->unknown, l->unknown > 0).hi, in = sum_of(l, path->in_times, path->in_times > 0).hi;
	int64_t around = ticks_plus(unknown, l->w->graph->around[l->a.thread]);
	s->exclusive.hi = ticks_plus(s->exclusive.hi, sum_of(l, path->at_times, path->at_times > 0).hi);
	s->waited.hi = ticks_plus(s->waited.hi, in);
	s->transfer.hi = ticks_plus(s->transfer.hi, in);
	s->inclusive.hi = ticks_plus(s->inclusive.hi, around);
	s->exclusive.hi = ticks_plus(s->exclusive.hi, unknown);
	s->waited.hi = ticks_plus(s->waited.hi, around);
	s->transfer.hi = ticks_plus(s->transfer.hi, around);
}

static void add_inside(struct call_sums *to, const struct call_sums *s)
{
	to->bytes += s->bytes;
	to->waited = time_add(to->waited, s->waited);
	to->transfer = time_add(to->transfer, s->transfer);
	to->uncaused = ticks_plus(to->uncaused, s->uncaused);
}

static void add_flat(struct calls_along *l, const struct call_sums *sums)
{
	struct calls_walk *w = l->w;
	uint32_t nsites = (uint32_t)w->graph->trace->nsites;
	struct call_sums *flat = mem_zeroed(nsites + 1, sizeof *flat);
	bool *seen = mem_zeroed(nsites + 1, sizeof *seen);
	for (size_t i = 0; i < l->nused; i++) {
		const struct call_node *node = &w->profile->nodes[l->used[i]];
		const struct call_sums *s = &sums[l->used[i]];
		uint32_t row = node->site < nsites ? node->site : nsites;
		if (node->site == TR_OUTSIDE)
			continue;
		seen[row] = true;
		flat[row].visits += s->visits;
		flat[row].exclusive = time_add(flat[row].exclusive, s->exclusive);
		if (!node->outermost)
			continue;
		flat[row].inclusive = time_add(flat[row].inclusive, s->inclusive);
		add_inside(&flat[row], s);
	}
	for (uint32_t row = 0; row <= nsites; row++)
		if (seen[row]) {
			call_spread_add(&w->flat[row], l->a.thread, &flat[row]);
			w->flat[row].lossy += w->graph->lost[l->a.thread] > 0;
			*MEM_GROW(w->profile->each, w->profile->neach) =
				(struct call_each){ l->a.thread, row < nsites ? row : TR_NO_SITE, flat[row] };
		}
	free(flat);
	free(seen);
}

/* What is received while it is under way, as in MPI_Sendrecv, is not sent. */
static bool is_send(const struct calls_along *l, uint32_t node)
{
	const struct trace *trace = l->w->graph->trace;
	uint32_t site = l->w->profile->nodes[node].site;
	return site < trace->nsites && trace->sites[site].kind == DPROF_KIND_SEND;
}

/* Children come behind their parents. */
static void take(struct calls_along *l)
{
	struct call_profile *p = l->w->profile;
	struct call_sums *sums = mem_resize(NULL, p->nnodes, sizeof *sums);
	qsort(l->used, l->nused, sizeof *l->used, order_uint32);
	for (size_t i = 0; i < l->nused; i++)
		sums[l->used[i]] = sums_of(l, &l->paths[l->used[i]]);
	for (size_t i = l->nused; i-- > 1;)
		add_inside(&sums[p->nodes[l->used[i]].parent], &sums[l->used[i]]);
	for (size_t i = 0; i < l->nused; i++)
		if (is_send(l, l->used[i]))
			sums[l->used[i]].bytes = l->paths[l->used[i]].bytes;
	for (size_t i = 0; i < l->nused; i++)
		add_unknown_inside(l, &l->paths[l->used[i]], &sums[l->used[i]]);
	for (size_t i = 0; i < l->nused; i++) {
		struct call_spread *spread = &p->nodes[l->used[i]].spread;
		call_spread_add(spread, l->a.thread, &sums[l->used[i]]);
		spread->lossy += l->w->graph->lost[l->a.thread] > 0;
	}
	add_flat(l, sums);
	free(sums);
}

void calls_add_thread(struct calls_walk *w, uint32_t thread)
{
	const struct graph_thread *t = &w->graph->threads[thread];
	struct calls_along l = { .w = w, .last = CALL_ROOT };
	if (t->nevents == 0)
		return;
	if (w->profile->nnodes == 0)
		add_node(w, CALL_ROOT, TR_OUTSIDE);
	struct on_path *root = use_path(&l, 0);
	root->inclusive.ticks = t->last - t->first;
	root->inclusive.pieces = root->visits = 1;
	graph_activities_open(&l.a, w->graph, thread, &w->last);
	while (graph_activities_next(&l.a)) {
		add_step(&l);
		note_points(&l);
		if (l.a.step.ended)
			add_operation(&l);
		move(&l);
		spill_relax(w->graph->spill);
	}
	go_on(&l);
	while (l.nentries > 0) {
		const struct replay_entry *entry = &l.a.replay.entry[l.nentries - 1];
		leave(&l, !entry->jumped && !entry->unsure);
	}
	take(&l);
	graph_activities_close(&l.a);
	free(l.paths);
	free(l.used);
	free(l.entries);
}
