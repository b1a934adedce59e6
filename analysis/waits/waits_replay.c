/* SPDX-License-Identifier: MIT
 *
 * waits_replay.c - along a thread: where it waited, and what it had mostly done since it had last waited when it posted what others
 * waited for. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/waits/waits_private.h"

/* ---- What a thread has done since it last waited --------------------------------------------- */

/* In the outermost operation, since it was entered or a wait in it was over: of regions inside of it, and outside of these. */
struct doing_inside {
	uint64_t ticks, regions, now; /* outside; in all regions; in the one that it is in */
	uint32_t pieces;     /* outside */
	bool follows;        /* was outside just now */
	uint64_t over;       /* when the last region was, or 0; and up to that one: */
	uint64_t before, last; uint32_t pieces_before;
};

/* A lock that the thread holds: what it had done before it took it, since it last waited. */
#define HELD_MOST 8      /* locks */
#define HELD_ROWS 64     /* in more it does not count where it was before */
struct held_lock {
	uint64_t id;
	bool since_waits;    /* it has waited meanwhile, or was in more places: there is nothing to take off */
	size_t n; struct { uint32_t row; uint64_t ticks; } before[HELD_ROWS];
};

struct doing {
	const struct trace *trace;
	struct replay replay;
	uint64_t *ticks;     /* of each row */
	uint32_t *used; size_t nused;
	uint64_t stamp;
	uint64_t asks, between; /* since when in vain, or 0; without any attempt under way for so many ticks of that, */
	uint64_t left;       /* up to here */
	uint32_t asked_in;   /* the first attempt */
	bool asked;          /* in the operation, in vain */
	bool yields;         /* likewise: perhaps in vain; that lies between attempts, if they go on */
	bool looks;          /* likewise: it finds a message, and leaves it to a receive, */
	uint32_t found_in;   /* which has waited where it was found, there and 1; or 0 */
	uint64_t since;      /* of what has been done: from here on, and before that what this of the finder's `busy` says */
	uint32_t before;
	uint32_t idle;       /* the last wait, of the finder's `list`, and 1; or 0 */
	uint32_t team;       /* what it posted when it last left a team that another thread had opened, and 1; or 0 */
	uint32_t barrier;    /* likewise as it last came to a barrier at which all wait for all */
	struct history *history; /* or NULL, and pieces of it before the first attempt, and the outermost operation */
	size_t before_asks, before_operation;
	bool jumped;         /* out of an operation, perhaps: it may still be there */
	bool lost;           /* what it is in, but for what it has entered since */
	bool interrupted;    /* some thread was in a region inside of an operation: then */
	struct doing_inside inside;
	uint64_t regions_before; /* in all regions of the operation before */
	struct held_lock held[HELD_MOST]; size_t nheld; /* the last one was taken last */
	uint64_t takes;          /* the lock that it waits for, */
	const struct held_lock *releases; /* and the one that it gives back just now, or NULL */
};

static const struct replay_entry *outermost(const struct doing *);

/* Whether it is in a region inside of the outermost operation. */
static bool is_inside(const struct doing *d)
{
	for (const struct replay_entry *e = outermost(d); e && e < d->replay.entry + d->replay.depth; e++)
		if (e->is & OP_REGION)
			return true;
	return false;
}

static void add_inside(struct doing *d, uint64_t ticks)
{
	struct doing_inside *i = &d->inside;
	bool inside = is_inside(d);
	if (inside) {
		i->regions += ticks;
		i->now += ticks;
	} else if (outermost(d)) {
		i->ticks += ticks;
		i->pieces += !i->follows;
	}
	i->follows = !inside;
}

/* A region inside of the operation is over. */
static void end_inside(struct doing *d, uint64_t stamp)
{
	struct doing_inside *i = &d->inside;
	i->over = stamp;
	i->before = i->ticks;
	i->pieces_before = i->pieces;
	i->last = i->now;
	i->now = 0;
}

static void add_until(struct doing *d, uint64_t stamp)
{
	const struct replay_entry *place = replay_place(&d->replay);
	uint32_t row = place ? place->site : d->lost ? waits_unknown_row(d->trace) : (uint32_t)d->trace->nsites;
	if (d->history && stamp >= d->stamp)
		history_add(d->history, tr_row(d->trace, row), d->stamp, stamp);
	if (d->interrupted && stamp >= d->stamp)
		add_inside(d, stamp - d->stamp);
	if (stamp <= d->stamp)
		return;
	if (!d->ticks[row])
		d->used[d->nused++] = row;
	d->ticks[row] += stamp - d->stamp;
	d->stamp = stamp;
}

static void forget(struct doing *d)
{
	for (size_t i = 0; i < d->nused; i++)
		d->ticks[d->used[i]] = 0;
	d->nused = 0;
	for (size_t i = 0; i < d->nheld; i++)
		d->held[i].since_waits = true;
}

/* How long it was there before it took the lock. */
static uint64_t before_it_was_held(const struct held_lock *h, uint32_t row)
{
	for (size_t i = 0; h && !h->since_waits && i < h->n; i++)
		if (h->before[i].row == row)
			return h->before[i].ticks;
	return 0;
}

/* Of equally long ones the first. While it holds a lock, or NULL: anyway. */
static uint32_t mostly_while(const struct doing *d, const struct held_lock *h)
{
	uint32_t most = d->lost ? waits_unknown_row(d->trace) : (uint32_t)d->trace->nsites;
	uint64_t ticks = 0;
	for (size_t i = 0; i < d->nused; i++) {
		uint64_t there = d->ticks[d->used[i]] - before_it_was_held(h, d->used[i]);
		if (there <= ticks)
			continue;
		ticks = there;
		most = d->used[i];
	}
	return waits_site_of(d->trace, most);
}

static uint32_t mostly(const struct doing *d)
{
	return mostly_while(d, NULL);
}

/* ---- Locks that it holds --------------------------------------------------------------------- */

static void give_back(struct doing *d, const struct held_lock *h)
{
	size_t at = (size_t)(h - d->held);
	memmove(d->held + at, d->held + at + 1, (--d->nheld - at) * sizeof *d->held);
}

static struct held_lock *find_held(struct doing *d, uint64_t id)
{
	for (size_t i = 0; i < d->nheld; i++)
		if (d->held[i].id == id)
			return &d->held[i];
	return NULL;
}

/* That it takes one again which it holds says that it was not seen to give it back. Of too many, the first is forgotten. */
static void take_lock(struct doing *d, uint64_t id)
{
	struct held_lock *again = find_held(d, id);
	if (again || d->nheld == HELD_MOST)
		give_back(d, again ? again : d->held);
	struct held_lock *h = &d->held[d->nheld++];
	h->id = id;
	h->since_waits = d->nused > HELD_ROWS;
	h->n = h->since_waits ? 0 : d->nused;
	for (size_t i = 0; i < h->n; i++) {
		h->before[i].row = d->used[i];
		h->before[i].ticks = d->ticks[d->used[i]];
	}
}

/* Before what happens at an event is noted: which lock it gives back. */
static void note_release(struct doing *d, const struct tr_cursor *events, const struct tr_event *e)
{
	struct tr_event x = *e;
	d->releases = NULL;
	if (e->op != DPROF_POINT || e->site == TR_NO_SITE || d->trace->sites[e->site].op.kind != DPROF_KIND_LOCK || !d->nheld)
		return;
	trace_arguments(events, &x);
	d->releases = find_held(d, trace_arg(&x, DPROF_KEY_ID, 0));
}

/* And behind that: it has given it back, or has taken one. */
static void note_locks(struct doing *d, const struct tr_cursor *events, const struct tr_event *e)
{
	struct tr_event x = *e;
	if (d->releases)
		give_back(d, d->releases);
	d->releases = NULL;
	if (e->op == DPROF_LOST)
		d->nheld = 0;
	if (e->site == TR_NO_SITE || d->trace->sites[e->site].op.kind != DPROF_KIND_LOCK)
		return;
	if (e->op == DPROF_ENTER) {
		trace_arguments(events, &x);
		d->takes = trace_arg(&x, DPROF_KEY_ID, 0);
	} else if (e->op == DPROF_EXIT && d->takes) {
		take_lock(d, d->takes);
		d->takes = 0;
	}
}

/* The outermost operation that the thread is in, or NULL. */
static const struct replay_entry *outermost(const struct doing *d)
{
	for (size_t i = 0; i < d->replay.depth; i++)
		if (d->replay.entry[i].is & OP_OTHERS)
			return &d->replay.entry[i];
	return NULL;
}

static void enter(struct doing *d, struct replay_entry entry)
{
	if (d->history && entry.is & OP_OTHERS && !outermost(d))
		d->before_operation = history_cut(d->history);
	if (d->interrupted && entry.is & OP_OTHERS && !outermost(d)) {
		d->regions_before = d->inside.regions;
		d->inside = (struct doing_inside){ 0 };
	}
	replay_enter(&d->replay, entry);
}

static void move(struct doing *d, const struct tr_event *e)
{
	bool inside = d->interrupted && is_inside(d);
	d->lost |= e->op == DPROF_LOST || e->site == TR_NO_SITE;
	if (e->op == DPROF_LOST || e->site == TR_NO_SITE)
		replay_lose(&d->replay);
	else if (e->op == DPROF_ENTER && !e->jumped)
		enter(d, tr_entry(d->trace, e));
	else if (e->op == DPROF_ENTER)
		d->jumped |= tr_is(d->trace, e->site, OP_OTHERS);
	else if (e->op == DPROF_EXIT)
		replay_exit(&d->replay, e->site);
	if (inside && !is_inside(d))
		end_inside(d, e->stamp);
}

/* Perhaps it waits there, for nobody knows what: a yield, or what a time limit or a signal has ended. */
static bool may_be_in_vain(const struct tr_cursor *events, const struct operation *o, const struct tr_event *e)
{
	struct tr_event x = *e;
	if (o->kind != DPROF_KIND_WAIT || o->is & OP_MPI)
		return false;
	trace_arguments(events, &x);
	return arg_expired(o, &x) && arg_for_unknown(o, &x);
}

/* Attempts in vain follow each other, but for sleeps and yields. Behind them another operation may be what ends the wait; and
 * behind one that found a message that which takes it. */
static void note_attempts(struct doing *d, const struct tr_cursor *events, const struct tr_event *e)
{
	const struct operation *o = tr_operation(d->trace, e);
	struct tr_event x = *e;
	bool goes_on = o->is & (OP_ATTEMPT | OP_SLEEP) || d->looks || d->asked || d->yields;
	if (e->op == DPROF_LOST || e->site == TR_NO_SITE || o->is & OP_REGION || (e->op == DPROF_EXIT && !goes_on))
		d->asks = d->between = d->found_in = 0;
	d->looks = d->looks && e->op == DPROF_POINT;
	if (e->op == DPROF_EXIT && !(o->is & OP_SLEEP) && !d->yields)
		d->left = e->stamp;
	d->asked = false;
	d->yields = d->asks && e->op == DPROF_ENTER && may_be_in_vain(events, o, e);
	if (e->op != DPROF_ENTER || e->site == TR_NO_SITE || o->is & OP_SLEEP || d->yields)
		return;
	d->between += d->asks && e->stamp > d->left ? e->stamp - d->left : 0;
	if (!operation_may_ask(o))
		return;
	trace_arguments(events, &x);
	d->looks = arg_only_found(o, &x);
	d->asked = arg_in_vain(o, &x);
	if (!d->asked && !d->looks)
		return;
	if (d->history && !d->asks)
		d->before_asks = d->before_operation; /* which this is */
	d->asked_in = d->asks ? d->asked_in : e->site;
	d->asks = d->asks ? d->asks : e->stamp;
	d->between += arg_between(o, &x);
}

/* Since when the thread surely has been waiting, in the outermost operation that it is in, or 0: the graph knows. */
static uint64_t surely_since(const struct doing *d)
{
	const struct replay_entry *entry = outermost(d);
	return d->asks || !entry ? d->asks : entry->stamp;
}

/* The thread's own input of the node that it waits for there, and 1; or 0. It has posted it not long ago. */
static uint32_t own_input(const struct graph *g, uint32_t thread, const struct graph_sync_point *s)
{
	const struct graph_node *node = &g->nodes[s->number];
	if (node->kind != GRAPH_SYNC)
		return node->ninputs && g->inputs[node->first].thread == thread ? node->first + 1 : 0;
	for (const struct graph_sync_point *p = s; p-- > g->threads[thread].syncs;)
		if (p->what == GRAPH_POSTS && g->inputs[p->number].node == s->number)
			return p->number + 1;
	return 0;
}

/* The wait goes into the history in place of what came behind its begin, and the last wait. (Where the thread
 * may be anywhere, its places have no site.) */
static void log_wait(struct finder *f, struct doing *d, size_t number, bool again)
{
	struct wait *w = &f->list[number];
	const struct graph_input *own = wait_own(f, w);
	const struct posted *posted = own ? &f->posted[w->own - 1] : NULL;
	struct wait_cost *cost = &f->costs[number];
	size_t cut = !w->surely ? 0 : d->asks ? d->before_asks : d->before_operation;
	if (posted && posted->point) {
		size_t then = f->history.upto[f->history.first[w->thread] + posted->point - 1];
		cut = then > cut || again ? then : cut;
	}
	if (w->pieces)
		history_forget(&f->history, d->before_operation, waits_row(d->trace, w->site));
	cost->begin = own && own->stamp > w->surely ? own->stamp : w->surely;
	if (own || w->surely)
		history_wait(&f->history, cut, waits_row(d->trace, w->site), number);
}

/* Who waits for a condition variable has what it waited for when it has taken the mutex again, in another call: there the
 * wait is where it began. */
static bool relocks(const struct finder *f, const struct graph_node *node, uint32_t own)
{
	uint32_t begun = own ? f->posted[own - 1].site : TR_NO_SITE;
	return node->kind == GRAPH_ARRIVAL && node->what == GRAPH_LOCKED && begun < f->g->trace->nsites &&
	       f->g->trace->sites[begun].op.kind == DPROF_KIND_WAIT && !tr_is(f->g->trace, begun, OP_ATTEMPT);
}

/* A lock that was free is no end of what the thread does. Nor is whatever else was there already, as a message, others who all
 * were at a barrier (of a team of one it is the only one), or a thread that was over, for whoever waits since before that; but
 * who began to wait only then waits for what comes behind it. */
enum found { FOUND_NOT, FOUND_LOCK, FOUND_OTHERS };
static enum found found_it_there(struct finder *f, const struct graph_node *node, uint32_t own)
{
	if (!own || !(node->kind == GRAPH_SYNC || node->kind == GRAPH_ARRIVAL))
		return FOUND_NOT;
	graph_last_find(&f->last, (uint32_t)(node - f->g->nodes));
	if (f->last.n != 1 || f->last.input[0] + 1 != own)
		return FOUND_NOT;
	return node->kind == GRAPH_ARRIVAL && node->what == GRAPH_LOCKED ? FOUND_LOCK : FOUND_OTHERS;
}

/* It goes on with something else. */
static void go_on(struct finder *f, struct doing *d, enum found found, uint64_t stamp)
{
	if (found == FOUND_LOCK)
		return;
	if (found == FOUND_OTHERS)
		*SPILL_GROW(f->g->spill, f->busy, f->nbusy) = (struct busy){ d->since, stamp, mostly(d), d->before };
	d->before = found == FOUND_OTHERS ? (uint32_t)f->nbusy : 0;
	d->since = stamp;
	forget(d);
}

/* Who has left a team is idle from then on, until the next one begins, or there is none and the thread ends. Who has come to a
 * barrier, and begins a task there that was made behind it, was there until that was over, and on its way out. */
static uint32_t left_with(const struct finder *f, const struct doing *d, const struct graph_node *node, uint32_t own, uint32_t site)
{
	bool idle = tr_is(d->trace, site, OP_TEAM | OP_LIFE_ENDS), began = wait_begins_task(node);
	uint32_t left = began ? d->barrier : idle ? d->team : 0;
	return own && left && f->g->inputs[left - 1].stamp == f->g->inputs[own - 1].stamp ? left : 0;
}

/* Where regions inside of the operation have moved the wait's begin, what lies before them is a part of it; where they
 * have not, they lie in what seems to be waiting. */
static void note_inside(const struct finder *f, struct doing *d, struct wait *w, bool again)
{
	struct doing_inside *i = &d->inside;
	const struct graph_input *own = wait_own(f, w);
	if (own && i->over && own->stamp == i->over) {
		w->before = i->before;
		w->pieces = i->pieces_before;
		w->last = i->last;
	} else {
		w->between += i->regions + (again ? d->regions_before : 0);
	}
	*i = (struct doing_inside){ 0 };
}

/* Who has waited since before the operation has done so where a message was found, or where it asked in vain if that was longer. */
static uint32_t waited_in(const struct finder *f, const struct doing *d, uint32_t own, uint32_t site, uint64_t until)
{
	const struct replay_entry *last = outermost(d);
	uint64_t since = own ? f->g->inputs[own - 1].stamp : d->asks;
	bool before = last && d->asks && since < last->stamp;
	if (before && d->found_in)
		return d->found_in - 1;
	if (before && last->stamp - since > until - last->stamp && tr_is(d->trace, d->asked_in, OP_MPI))
		return d->asked_in;
	return tr_is(d->trace, site, OP_REGION) && last ? last->site : site; /* which begins as the wait is over */
}

static void note_wait(struct finder *f, struct doing *d, uint32_t thread, const struct graph_sync_point *s, uint32_t site)
{
	uint32_t own = own_input(f->g, thread, s);
	if (graph_only_found(&f->g->nodes[s->number])) { /* it goes on, in a receive */
		d->found_in = site + 1;
		return;
	}
	enum found found = found_it_there(f, &f->g->nodes[s->number], own);
	go_on(f, d, found, s->stamp);
	bool again = relocks(f, &f->g->nodes[s->number], own);
	uint32_t left = left_with(f, d, &f->g->nodes[s->number], own, site);
	uint32_t begun = again ? own : tr_is(d->trace, site, OP_LIFE_ENDS) ? left : 0;
	struct wait w = { .until = s->stamp, .surely = again ? f->g->inputs[own - 1].stamp : surely_since(d), .between = d->between,
			  .thread = thread, .site = begun ? f->posted[begun - 1].site : waited_in(f, d, own, site, s->stamp),
			  .node = s->number, .own = own, .left = left };
	note_inside(f, d, &w, again);
	*SPILL_GROW(f->g->spill, f->list, f->n) = w;
	d->idle = found == FOUND_NOT ? (uint32_t)f->n : d->idle;
	if (d->history) {
		size_t number = f->n - 1, costs = number;
		*SPILL_GROW(f->g->spill, f->costs, costs) =
			(struct wait_cost){ .point = (uint32_t)(s - f->g->threads[thread].syncs) };
		log_wait(f, d, number, again);
	}
	if (f->g->nodes[s->number].kind != GRAPH_UNKNOWN)
		d->asks = d->between = d->found_in = 0;
}

static void note_posted(struct finder *f, struct doing *d, size_t sync, uint32_t number, uint32_t site)
{
	const struct graph_input *input = &f->g->inputs[number];
	uint32_t holding = d->releases && !d->releases->since_waits ? mostly_while(d, d->releases) : HOLDS_NOTHING;
	f->posted[number] = (struct posted){ mostly(d), (uint32_t)sync + 1, site, d->before, holding, d->idle };
	if (tr_is(d->trace, site, OP_TEAM_LEFT) && f->g->nodes[input->node].first != number)
		d->team = number + 1;
	bool barrier = site < d->trace->nsites && d->trace->sites[site].op.kind == DPROF_KIND_BARRIER;
	if (barrier && f->g->nodes[input->node].kind == GRAPH_SYNC)
		d->barrier = number + 1;
}

/* Notes the wait that ends at a point, or what had been done before what it posts. */
static void note_point(struct finder *f, struct doing *d, uint32_t thread, size_t sync, uint32_t site)
{
	const struct graph_sync_point *s = &f->g->threads[thread].syncs[sync];
	if (s->what == GRAPH_POSTS)
		note_posted(f, d, sync, s->number, site);
	if (s->what == GRAPH_WAITS)
		note_wait(f, d, thread, s, site);
	if (d->history)
		history_point(d->history);
}

/* Those at an event. */
static void note_points(struct finder *f, struct doing *d, uint32_t thread, size_t *sync, uint64_t at, const struct tr_event *e)
{
	const struct graph_thread *t = &f->g->threads[thread];
	for (; *sync < t->nsyncs && t->syncs[*sync].at == at && !graph_behind(f->g, thread, &t->syncs[*sync]); ++*sync)
		note_point(f, d, thread, *sync, e->site);
}

/* And those at the thread's end, for which others waited. */
static void note_end(struct finder *f, struct doing *d, uint32_t thread, size_t sync)
{
	const struct graph_thread *t = &f->g->threads[thread];
	for (; sync < t->nsyncs && graph_behind(f->g, thread, &t->syncs[sync]); sync++) {
		add_until(d, t->syncs[sync].stamp);
		note_point(f, d, thread, sync, TR_NO_SITE);
	}
}

/* Who has left a team that is its last one, and does not end before its process, waits for the last thread of that. */
static void note_last_team(struct finder *f, uint32_t thread)
{
	const struct graph *g = f->g;
	uint64_t until;
	uint32_t left = graph_last_team(g, thread, &until);
	size_t costs = f->n;
	if (!left)
		return;
	*SPILL_GROW(g->spill, f->list, f->n) = (struct wait){
		.until = until, .surely = g->inputs[left - 1].stamp, .thread = thread, .node = g->inputs[left - 1].node,
		.site = f->posted[left - 1].site, .own = left, .ends = true };
	if (f->delays)
		*SPILL_GROW(g->spill, f->costs, costs) = (struct wait_cost){
			.begin = g->inputs[left - 1].stamp, .point = (uint32_t)g->threads[thread].nsyncs };
}

void waits_replay(struct finder *f, uint32_t thread)
{
	const struct trace *trace = f->g->trace;
	struct doing d = { .trace = trace, .interrupted = f->g->interrupted, .history = f->delays ? &f->history : NULL };
	struct tr_cursor events = trace_places(trace, thread);
	struct tr_event e;
	bool goes_on = trace_goes_on(&trace->threads[thread]);
	size_t sync = 0;
	uint64_t at = 0;
	d.used = mem_resize(NULL, waits_rows(trace), sizeof *d.used);
	d.ticks = mem_zeroed(waits_rows(trace), sizeof *d.ticks);
	replay_open(&d.replay, trace->nsites);
	d.stamp = d.since = f->g->threads[thread].first;
	if (d.history)
		history_begin_thread(d.history, thread);
	while ((sync < f->g->threads[thread].nsyncs || goes_on) && trace_next_bare(&events, &e)) {
		add_until(&d, e.stamp);
		note_release(&d, &events, &e);
		if (!e.inherited)
			note_points(f, &d, thread, &sync, at, &e);
		note_locks(&d, &events, &e);
		move(&d, &e);
		note_attempts(&d, &events, &e);
		at += !e.inherited;
		spill_relax(f->g->spill);
	}
	note_end(f, &d, thread, sync);
	note_last_team(f, thread);
	wait_note_unknown(f, thread, goes_on && outermost(&d)); /* what would have ended it did not come */
	f->waits->lacks[thread] |= goes_on && d.jumped;
	trace_end(&events);
	replay_close(&d.replay);
	free(d.ticks);
	free(d.used);
}
