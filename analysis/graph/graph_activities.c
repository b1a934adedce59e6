/* SPDX-License-Identifier: MIT
 *
 * graph_activities.c - see graph_activities.h. */
#include "analysis/graph/graph_activities.h"

#include <stdlib.h>

#include "analysis/base/memory.h"

/* ---- Between attempts ------------------------------------------------------------------------ */

/* The wait that ends next, if all of this lies in it, and it is known what ended it; or NULL. */
static const struct graph_sync_point *wait_around(struct graph_activities *a, uint64_t from, uint64_t to)
{
	const struct graph_thread *t = &a->graph->threads[a->thread];
	a->wait = a->wait > a->sync ? a->wait : a->sync;
	while (a->wait < t->nsyncs && t->syncs[a->wait].what != GRAPH_WAITS)
		a->wait++;
	if (a->wait == t->nsyncs)
		return NULL;
	const struct graph_sync_point *s = &t->syncs[a->wait];
	const struct graph_node *node = &a->graph->nodes[s->number];
	const struct graph_input *own = &a->graph->inputs[node->first];
	bool known = node->kind != GRAPH_SYNC && graph_is_known(node) && own->thread == a->thread;
	return known && own->stamp <= from && to <= s->stamp ? s : NULL;
}

/* How long before this stamp the last was there of what that wait was for. */
static frz_time since_it_came(struct graph_activities *a, const struct graph_sync_point *wait, uint64_t stamp)
{
	graph_last_find(a->last, wait->number);
	return graph_last_arrival(a->last, a->thread, stamp);
}

/* Of work from one attempt to another. */
static int64_t perhaps_waited(struct graph_activities *a)
{
	bool worked = a->step.did == GRAPH_WORKED && a->step.to > a->step.from;
	const struct graph_sync_point *wait = worked ? wait_around(a, a->step.from, a->step.to) : NULL;
	if (!wait)
		return 0;
	frz_time took = times_of_thread(a->graph->times, a->thread, a->step.from, a->step.to);
	return time_less(took, since_it_came(a, wait, a->step.to)).hi;
}

/* ---- The step before the event --------------------------------------------------------------- */

static enum graph_did what_it_did(const struct graph_activities *a, const struct replay_entry *place)
{
	if (a->doubted || (a->lost && !place))
		return GRAPH_DID_UNKNOWN;
	if (a->idle)
		return GRAPH_IDLED;
	return place && place->is & OP_OTHERS ? GRAPH_OPERATED : GRAPH_WORKED;
}

/* Stretches that follow each other are one; those that lie apart are two, even where both are in one tick. */
static void add_to_part(struct graph_activities *a, bool follows, uint64_t from, uint64_t to)
{
	struct stretches *p = &a->part;
	p->from = p->pieces ? p->from : from;
	p->pieces += p->pieces == 0 || !follows;
	p->to = to;
	p->ticks += to - from;
}

static void pass(struct graph_activities *a, uint64_t stamp)
{
	const struct replay_entry *place = replay_place(&a->replay);
	uint64_t to = stamp > a->stamp ? stamp : a->stamp;
	bool follows = a->step.did == GRAPH_OPERATED;
	a->step.did = what_it_did(a, place);
	a->step.in = place ? place->site : TR_OUTSIDE;
	a->step.from = a->begun ? a->stamp : to;
	a->step.to = to;
	a->step.perhaps = perhaps_waited(a);
	if (a->begun && a->step.did == GRAPH_OPERATED)
		add_to_part(a, follows, a->step.from, to);
	a->stamp = to;
	a->begun = true;
}

/* ---- Operations ------------------------------------------------------------------------------ */

static frz_time at_most(frz_time x, frz_time most)
{
	return (frz_time){ x.lo < most.lo ? x.lo : most.lo, x.hi < most.hi ? x.hi : most.hi };
}

/* Of the last that it waited for, and until then: for what is over at this stamp. */
static void share_out(struct graph_activities *a, uint32_t node, uint64_t end, bool before)
{
	struct graph_operation *o = &a->step.operation;
	graph_last_find(a->last, node);
	frz_time arrival = graph_last_arrival(a->last, a->thread, end);
	o->transfer = before ? arrival : at_most(arrival, o->took);
	o->waited.lo = o->took.lo > o->transfer.hi ? o->took.lo - o->transfer.hi : 0;
	o->waited.hi = o->took.hi > o->transfer.lo ? o->took.hi - o->transfer.lo : 0;
}

/* A wait for a condition variable, which has no node of its own: its node is that of the mutex that it takes again, in the next
 * call. */
static const struct graph_sync_point *retakes(const struct graph_activities *a)
{
	const struct graph_thread *t = &a->graph->threads[a->thread];
	const struct graph_sync_point *s = t->syncs + a->sync;
	while (s < t->syncs + t->nsyncs && s->what != GRAPH_WAITS)
		s++;
	if (s == t->syncs + t->nsyncs)
		return NULL;
	const struct graph_node *node = &a->graph->nodes[s->number];
	const struct graph_input *own = &a->graph->inputs[node->first];
	bool locked = node->kind == GRAPH_ARRIVAL && node->what == GRAPH_LOCKED && graph_is_known(node);
	return locked && own->thread == a->thread && own->stamp >= a->part.from && own->stamp < a->part.to ? s : NULL;
}

/* Nobody is known to have signalled it: it may have been woken by one who is not recorded. */
static bool is_for_condition(const struct trace *trace, uint32_t site)
{
	const struct operation *o = site < trace->nsites ? &trace->sites[site].op : NULL;
	return o && o->kind == DPROF_KIND_WAIT && o->is & OP_ADDRESS && !(o->is & (OP_SEMAPHORE | OP_FUTEX | OP_IN_ORDER)) &&
	       !operation_is_for_good(o);
}

static void end_condition(struct graph_activities *a)
{
	struct graph_operation *o = &a->step.operation;
	const struct graph_sync_point *s = retakes(a);
	if (s) {
		share_out(a, s->number, a->step.to, false);
	} else {
		o->transfer.lo = 0;
		o->waited = o->transfer;
	}
}

/* Attempts in vain are over. */
static void end_attempts(struct graph_activities *a)
{
	struct graph_operation *o = &a->step.operation;
	frz_time took = o->took, behind = { 0, 0 };
	const struct graph_sync_point *wait = wait_around(a, a->part.from, a->part.to);
	int64_t between = times_duration(a->graph->times, a->graph->trace->threads[a->thread].clock, a->between).hi;
	if (wait)
		behind = at_most(since_it_came(a, wait, a->part.to), took);
	int64_t most = ticks_plus(between, behind.hi);
	o->known = false;
	o->waited = (frz_time){ took.lo > most ? took.lo - most : 0, took.hi > behind.lo ? took.hi - behind.lo : 0 };
	o->transfer = (frz_time){ behind.lo, took.hi < most ? took.hi : most };
}

/* A part of it is over; `wait`: when this node happened, or NULL. */
static void end_part(struct graph_activities *a, const struct graph_sync_point *wait)
{
	struct graph_operation *o = &a->step.operation;
	const struct graph_node *node = wait ? &a->graph->nodes[wait->number] : NULL;
	bool before = wait && wait->at == 0;
	bool may_wait = a->naround > 0 && tr_is(a->graph->trace, a->outermost, OP_WAITS); /* of such waits the graph has no nodes */
	frz_time took = times_sum(a->graph->times, a->thread, a->part);
	*o = (struct graph_operation){ .site = before ? TR_BEFORE : a->outermost, .took = took, .transfer = took,
				       .node = wait ? wait->number : GRAPH_NO_NODE,
				       .known = node ? graph_is_known(node) : !may_wait, .nested = a->naround > 0 };
	a->step.ended = true;
	if (!wait && a->in_vain) {
		end_attempts(a);
	} else if (!o->known) {
		o->transfer.lo = 0;
		o->waited = o->transfer;
	} else if (wait) {
		share_out(a, wait->number, wait->stamp, before);
	} else if (is_for_condition(a->graph->trace, o->site)) {
		end_condition(a);
	}
	a->part = (struct stretches){ 0 };
	if (a->inside) {
		o->transfer.lo = 0;
		o->waited.hi = took.hi;
	}
}

/* What ends with a wait; of several that it waited for the last counts. */
static void take_points(struct graph_activities *a)
{
	const struct graph_thread *t = &a->graph->threads[a->thread];
	const struct graph_sync_point *wait = NULL;
	a->step.points = t->syncs + a->sync;
	a->step.npoints = 0;
	for (; a->sync < t->nsyncs && t->syncs[a->sync].at == a->step.at; a->sync++, a->step.npoints++) {
		const struct graph_sync_point *s = &t->syncs[a->sync];
		const struct graph_node *node = graph_node_at(a->graph, s);
		if (s->what == GRAPH_WAITS)
			wait = s;
		a->inside |= node && node->inside;
	}
	if (wait && !a->doubted && (a->operations || wait->at == 0))
		end_part(a, wait);
}

/* ---- Where it is then ------------------------------------------------------------------------ */

static void note_attempts(struct graph_activities *a, const struct tr_event *e)
{
	const struct operation *o = tr_operation(a->graph->trace, e);
	struct tr_event whole = *e;
	a->in_vain = false;
	if (!operation_may_ask(o))
		return;
	trace_arguments(&a->events, &whole);
	a->in_vain = arg_in_vain(o, &whole);
	a->between = arg_between(o, &whole);
}

static void enter(struct graph_activities *a, const struct tr_event *e)
{
	struct replay_entry entry = tr_entry(a->graph->trace, e);
	if (!replay_enter(&a->replay, entry))
		return;
	a->doubted += entry.jumped || entry.unsure;
	if (entry.is & OP_OTHERS && a->regions > 0) {
		*MEM_GROW(a->around, a->naround) =
			(struct graph_entered){ a->operations, a->regions, a->outermost, a->part, a->in_vain, a->inside,
						a->between };
		a->operations = a->regions = 0;
		a->inside = false;
	}
	a->regions += entry.is & OP_REGION && a->operations > 0;
	if (entry.is & OP_OTHERS && a->operations++ == 0) {
		a->outermost = e->site;
		note_attempts(a, e);
		a->part = (struct stretches){ 0 };
	}
}

static void go_on_around(struct graph_activities *a)
{
	const struct graph_entered *o = &a->around[--a->naround];
	a->operations = o->operations;
	a->regions = o->regions;
	a->outermost = o->outermost;
	a->part = o->part;
	a->in_vain = o->in_vain;
	a->inside = o->inside;
	a->between = o->between;
}

/* `seen`: its end is in the trace. */
static void forget_closed(struct graph_activities *a, bool seen)
{
	bool operated = a->operations > 0 && !a->doubted;
	for (size_t i = a->step.closed; i-- > 0;) { /* the innermost first */
		const struct replay_entry *entry = &a->replay.entry[a->replay.depth + i];
		a->doubted -= entry->jumped || entry->unsure;
		a->regions -= entry->is & OP_REGION && a->regions > 0;
		a->operations -= entry->is & OP_OTHERS ? 1 : 0;
		if (operated && seen && i == 0 && a->operations == 0 && !a->step.ended)
			end_part(a, NULL);
		if (entry->is & OP_OTHERS && a->operations == 0 && a->naround > 0)
			go_on_around(a);
	}
}

static void lose(struct graph_activities *a)
{
	a->lost = true;
	a->in_team = false;
	a->step.closed = replay_lose(&a->replay);
	forget_closed(a, false);
	a->part = (struct stretches){ 0 };
}

/* Who has left a team, and was not called away to a task, waits for the next one. */
static void leave_team(struct graph_activities *a, const struct tr_event *e)
{
	const struct operation *o = tr_operation(a->graph->trace, e);
	struct tr_event whole = *e;
	trace_arguments(&a->events, &whole);
	if (e->op == DPROF_ENTER)
		a->in_team = arg_is_member(o, &whole);
	else if (e->op == DPROF_EXIT)
		a->idle = a->in_team && arg_called_away(o, &whole) == ARG_NONE;
}

static void apply(struct graph_activities *a, const struct tr_event *e)
{
	a->idle = false;
	if (e->op == DPROF_LOST || e->site == TR_NO_SITE) {
		lose(a);
	} else if (e->op == DPROF_ENTER) {
		enter(a, e);
	} else if (e->op == DPROF_EXIT) {
		a->step.closed = replay_exit(&a->replay, e->site);
		forget_closed(a, true);
	}
	if (tr_is(a->graph->trace, e->site, OP_TEAM_LEFT))
		leave_team(a, e);
}

/* ---- All of it ------------------------------------------------------------------------------- */

void graph_activities_open(struct graph_activities *a, const struct graph *g, uint32_t thread, struct graph_last *last)
{
	*a = (struct graph_activities){ .graph = g, .last = last, .thread = thread, .events = trace_places(g->trace, thread) };
	replay_open(&a->replay, g->trace->nsites);
}

bool graph_activities_next(struct graph_activities *a)
{
	struct tr_event *e = &a->step.event;
	if (!trace_next_bare(&a->events, e))
		return false;
	pass(a, e->op == DPROF_LOST ? 0 : e->stamp);
	a->step.closed = a->step.npoints = 0;
	a->step.ended = false;
	a->step.at = a->next_at;
	if (!e->inherited)
		take_points(a);
	apply(a, e);
	a->inside &= a->operations > 0;
	a->next_at += !e->inherited;
	return true;
}

void graph_activities_close(struct graph_activities *a)
{
	replay_close(&a->replay);
	trace_end(&a->events);
	free(a->around);
}
