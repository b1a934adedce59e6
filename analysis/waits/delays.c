/* SPDX-License-Identifier: MIT
 *
 * delays.c - back from the end: what was longer elsewhere, of which waiting came. waits.h defines it.
 *
 * The waits are gone through in an order of effects before causes, so that all that came of a wait is known when it is its
 * turn to be shared out. Costs are doubles, rounded outward. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/progress.h"
#include "analysis/graph/graph_order.h"
#include "analysis/waits/waits_private.h"

struct cost { double lo, hi; };

struct delays_profile_row { uint64_t ticks, pieces; frz_time more; bool used; };

/* What a thread did between two of its points. */
struct delays_profile {
	struct delays_profile_row *rows;
	uint32_t *used; size_t nused;
	size_t *waits; size_t nwaits, room;
	uint32_t thread;
	uint64_t from, to;   /* stamps */
};

struct delays_stretch { uint32_t thread; size_t from, to; uint64_t begin, end; }; /* pieces, and stamps */

struct met { uint32_t round, of, behind; }; /* at a node, in this search; points up to its event */

struct delay { uint32_t thread, row; struct cost short_term, long_term; bool sure; };

#define NO_WAIT SIZE_MAX

/* Two threads, up to a point of each, and to where that wait of the other one was over, or NO_WAIT. */
struct compared { uint32_t waited, mine, other, its; size_t upto; };

struct delays_blame {
	struct finder *f;
	struct delays_profile a, b;
	frz_time *excess; size_t room; /* of each row that b used, then of each of its waits */
	struct met *met;     /* of each node, in the graph's spill */
	uint32_t round;
	struct compared now; /* what it is for */
	struct delays_sync *synced; size_t nsynced; /* that were found in it */
	struct delay *delays; size_t n;
	uint32_t **delay_of; /* of each thread and row: the number and 1, or 0; NULL: none of the thread */
	struct cost uncaused, later; /* later: all waits that came behind */
};

/* ---- Arithmetic ------------------------------------------------------------------------------ */

/* Of what was rounded once, and is not negative. */
static double down(double x)
{
	return x * (1 - 0x1p-52);
}

static double up(double x)
{
	return x * (1 + 0x1p-51);
}

static void add_cost(struct cost *sum, struct cost x)
{
	sum->lo = down(sum->lo + x.lo);
	sum->hi = up(sum->hi + x.hi);
}

static struct cost cost_of(frz_time t)
{
	return (struct cost){ down((double)t.lo), up((double)t.hi) };
}

/* A part of what is shared out by these lengths: x / (x + others) grows with x. */
static struct cost part_of(struct cost c, frz_time x, frz_time all)
{
	double rest_hi = up((double)ticks_minus(all.hi, x.hi)), rest_lo = down((double)ticks_minus(all.lo, x.lo));
	double lo = x.lo > 0 ? down(down((double)x.lo) / up(up((double)x.lo) + rest_hi)) : 0;
	double hi = x.hi > 0 ? up(up((double)x.hi) / down(down((double)x.hi) + rest_lo)) : 0;
	hi = hi < 1 ? hi : 1;
	return (struct cost){ down(c.lo * lo), up(c.hi * hi) };
}

static frz_time floor_to_ticks(struct cost c)
{
	return (frz_time){ c.lo < 0x1p62 ? (int64_t)floor(c.lo) : INT64_MAX, c.hi < 0x1p62 ? (int64_t)ceil(c.hi) : INT64_MAX };
}

/* ---- Where two threads had synchronised last ------------------------------------------------- */

/* The node that a point of a thread has to do with; GRAPH_NO_NODE: none. */
static uint32_t node_at(const struct graph *g, const struct graph_sync_point *s)
{
	if (s->what == GRAPH_WAITS)
		return s->number;
	if (s->what != GRAPH_POSTS)
		return GRAPH_NO_NODE;
	const struct graph_input *input = &g->inputs[s->number];
	return input->sure && !input->candidate ? input->node : GRAPH_NO_NODE;
}

/* A thread's points, back to its begin. */
struct delays_line {
	uint32_t thread, left; /* points */
	uint32_t behind;     /* the event that was looked at last: points up to it */
};

/* Two threads may have synchronised: points up to the events of both, at which node, and surely so; and the wait of one of both for
 * the other, or NO_WAIT: both waited, or one began there. Who is late took there what the other one had posted; who was created
 * began. */
struct delays_sync {
	uint32_t thread, behind, other, of_other, node;
	bool sure, taken, perhaps, began; /* perhaps: or it waited for that */
	size_t wait;
};

/* Of the points at the event that ends so many of a thread, the one that has to do with a node. */
static uint32_t point_at(const struct graph *g, uint32_t thread, uint32_t behind, uint32_t node)
{
	const struct graph_sync_point *syncs = g->threads[thread].syncs;
	uint32_t point = behind - 1;
	while (node_at(g, &syncs[point]) != node)
		point--;
	return point;
}

/* The wait at a point of a thread, or NO_WAIT. */
static size_t wait_at(const struct finder *f, uint32_t thread, uint32_t point)
{
	size_t low = 0, high = f->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct wait *w = &f->list[middle];
		bool before = w->thread < thread || (w->thread == thread && f->costs[middle].point < point);
		low = before ? middle + 1 : low;
		high = before ? high : middle;
	}
	return low < f->n && f->list[low].thread == thread && f->costs[low].point == point ? low : NO_WAIT;
}

enum brought { NOT_AT_ALL, PERHAPS, SURELY };

/* Whether what was posted at a point ended a wait. */
static enum brought brought_about(struct finder *f, size_t wait, const struct graph_sync_point *post)
{
	if (wait == NO_WAIT || f->costs[wait].ticks.hi == 0 || post->what != GRAPH_POSTS)
		return NOT_AT_ALL;
	if (f->costs[wait].cause)
		return f->costs[wait].cause == post->number + 1 ? SURELY : NOT_AT_ALL;
	wait_find_last(f, &f->list[wait]);
	for (size_t i = 0; i < f->last.n; i++)
		if (wait_sent(&f->g->inputs[f->last.input[i]]) == &f->g->inputs[post->number])
			return PERHAPS;
	return NOT_AT_ALL;
}

/* Whether the thread that comes to a point begins there, since another one created it, or most likely did. */
static bool is_begin(const struct graph *g, const struct graph_sync_point *s)
{
	const struct graph_node *node = &g->nodes[s->number];
	return s->at == 0 && s->what == GRAPH_WAITS && node->kind == GRAPH_SYNC && node->ninputs == 1;
}

/* Whether what was posted is there for whoever takes it in a wait, which cannot go on sooner. A lock that is free is none. */
static bool is_taken(const struct finder *f, size_t wait, const struct graph_sync_point *post)
{
	const struct graph_input *own = wait == NO_WAIT ? NULL : wait_own(f, &f->list[wait]);
	if (!own || !f->posted[own - f->g->inputs].point || post->what != GRAPH_POSTS)
		return false;
	const struct graph_input *input = &f->g->inputs[post->number];
	const struct graph_node *node = &f->g->nodes[input->node];
	bool lock = node->kind == GRAPH_ARRIVAL && node->what == GRAPH_LOCKED;
	return graph_is_known(node) && !lock && graph_was_waited_for(node, post->number - node->first, input);
}

/* Whether both waited for a node, or one of them for the other; or one was created there; or the one that was late took there what
 * the other one had posted. */
static enum brought synced_there(struct delays_blame *b, struct delays_sync *m)
{
	struct finder *f = b->f;
	uint32_t x = point_at(f->g, m->thread, m->behind, m->node), y = point_at(f->g, m->other, m->of_other, m->node);
	const struct graph_sync_point *one = &f->g->threads[m->thread].syncs[x], *other = &f->g->threads[m->other].syncs[y];
	bool first = one->what == GRAPH_WAITS;
	m->wait = NO_WAIT;
	if (first && other->what == GRAPH_WAITS)
		return SURELY;
	m->began = is_begin(f->g, first ? one : other);
	if (m->began)
		return SURELY;
	m->wait = first ? wait_at(f, m->thread, x) : wait_at(f, m->other, y);
	enum brought met = brought_about(f, m->wait, first ? other : one);
	m->taken = met != SURELY && (first ? m->thread : m->other) == b->now.other && is_taken(f, m->wait, first ? other : one);
	m->perhaps = met == PERHAPS;
	return m->taken ? SURELY : met;
}

/* Has seen one point: the other thread may have been there. */
static void meet(struct delays_blame *b, const struct delays_line *l, uint32_t node)
{
	struct met *met = &b->met[node];
	if (met->round != b->round)
		*met = (struct met){ b->round, l->thread, l->behind };
	else if (met->of != l->thread)
		*MEM_GROW(b->synced, b->nsynced) = (struct delays_sync){ .thread = l->thread, .behind = l->behind, .other = met->of,
									     .of_other = met->behind, .node = node };
}

static int latest_first(const void *x, const void *y)
{
	const struct delays_sync *a = x, *b = y;
	return a->of_other != b->of_other ? ORDER(b->of_other, a->of_other) : ORDER(b->node, a->node);
}

/* Of those that were found at one event, from `first` on: the latest that is sure, and those before it that may be. */
static bool keep_synced(struct delays_blame *b, size_t first)
{
	size_t kept = first;
	qsort(b->synced + first, b->nsynced - first, sizeof *b->synced, latest_first);
	for (size_t i = first; i < b->nsynced; i++) {
		struct delays_sync m = b->synced[i];
		enum brought met = synced_there(b, &m);
		m.sure = met == SURELY;
		if (met != NOT_AT_ALL)
			b->synced[kept++] = m;
		if (m.sure)
			break;
	}
	b->nsynced = kept;
	return kept > first && b->synced[kept - 1].sure;
}

/* Looks at one more event; true when the two surely met there. */
static bool look_back(struct delays_blame *b, struct delays_line *l, uint32_t except)
{
	const struct graph_sync_point *syncs = b->f->g->threads[l->thread].syncs, *event = NULL;
	size_t first = b->nsynced;
	for (; l->left > 0 && (!event || syncs[l->left - 1].at == event->at); l->left--) {
		const struct graph_sync_point *s = &syncs[l->left - 1];
		uint32_t node = node_at(b->f->g, s);
		if (node == GRAPH_NO_NODE || node == except)
			continue;
		if (!event)
			l->behind = l->left;
		event = s;
		meet(b, l, node);
	}
	if (!event)
		l->behind = 0;
	return b->nsynced > first && keep_synced(b, first);
}

/* From a point of a thread on, and whatever is at the same event. */
static struct delays_line line_of(const struct graph *g, uint32_t thread, uint32_t point)
{
	const struct graph_thread *t = &g->threads[thread];
	uint32_t left = point + 1;
	while (left < t->nsyncs && t->syncs[left].at == t->syncs[point].at)
		left++;
	return (struct delays_line){ thread, left, 0 };
}

/* One of two threads was created by the other one. */
static bool find_begin(struct delays_blame *b, uint32_t thread, uint32_t creator, uint32_t upto)
{
	const struct graph_thread *t = &b->f->g->threads[thread];
	if (t->nsyncs == 0 || !is_begin(b->f->g, t->syncs))
		return false;
	const struct graph_node *node = &b->f->g->nodes[t->syncs->number];
	uint32_t point = b->f->posted[node->first].point;
	if (b->f->g->inputs[node->first].thread != creator || !point || point > upto)
		return false;
	*MEM_GROW(b->synced, b->nsynced) = (struct delays_sync){ .thread = thread, .behind = 1, .other = creator, .of_other = point,
		.node = t->syncs->number, .sure = true, .began = true, .wait = NO_WAIT };
	return true;
}

/* Fills `synced` with where two threads may have synchronised last, the latest first; the last one is one where they did, or how
 * far they were looked at, at their begins at the latest. */
static void find_synced(struct delays_blame *b, uint32_t except)
{
	struct delays_line x = line_of(b->f->g, b->now.waited, b->now.mine), y = line_of(b->f->g, b->now.other, b->now.its);
	b->round++;
	b->nsynced = 0;
	for (unsigned i = 0; i < DELAYS_LOOK_BACK && (x.left > 0 || y.left > 0); i++)
		if (look_back(b, &x, except) || look_back(b, &y, except))
			return;
	if (find_begin(b, x.thread, y.thread, b->now.its + 1) || find_begin(b, y.thread, x.thread, b->now.mine + 1))
		return;
	*MEM_GROW(b->synced, b->nsynced) = (struct delays_sync){ .thread = x.thread, .behind = x.left > 0 ? x.behind : 0,
		.other = y.thread, .of_other = y.left > 0 ? y.behind : 0, .node = GRAPH_NO_NODE, .sure = true, .wait = NO_WAIT };
}

/* Points of the thread that waited up to there, or of the other one. */
static uint32_t mine_at(const struct delays_blame *b, const struct delays_sync *m)
{
	return m->thread == b->now.waited ? m->behind : m->of_other;
}

static uint32_t its_at(const struct delays_blame *b, const struct delays_sync *m)
{
	return m->thread == b->now.waited ? m->of_other : m->behind;
}

static frz_time between(const struct delays_blame *b, struct moment from, struct moment to)
{
	return times_between_near(b->f->g->times, b->f->last.cursors, from, to);
}

/* How late the other thread was there: it took what it might have taken sooner, or began. */
static frz_time late_by(const struct delays_blame *b, const struct delays_sync *m)
{
	const struct graph *g = b->f->g;
	uint32_t mine = mine_at(b, m), its = its_at(b, m), x = b->now.waited, y = b->now.other;
	struct moment since = { g->trace->threads[x].clock, mine ? g->threads[x].syncs[mine - 1].stamp : g->threads[x].first };
	if (m->taken) {
		const struct wait *w = &b->f->list[m->wait];
		frz_time late = between(b, since, graph_moment(g, wait_own(b->f, w)));
		late = time_positive(time_add(late, b->f->costs[m->wait].ticks));
		late.lo = m->perhaps || w->pieces ? 0 : late.lo;
		return late;
	}
	bool begins = m->began ? its == 1 : mine == 0 && its == 0 && m->node == GRAPH_NO_NODE;
	if (!begins)
		return (frz_time){ 0, 0 };
	return time_positive(between(b, since, (struct moment){ g->trace->threads[y].clock, g->threads[y].first }));
}

/* ---- What they did since --------------------------------------------------------------------- */

/* From behind so many points up to another. */
static struct delays_stretch stretch_of(const struct delays_blame *b, uint32_t thread, uint32_t since, uint32_t point)
{
	const struct history *h = &b->f->history;
	const struct graph_thread *t = &b->f->g->threads[thread];
	size_t first = h->first[thread];
	return (struct delays_stretch){ thread, since ? h->upto[first + since - 1] : h->begins[thread], h->upto[first + point],
				 since ? t->syncs[since - 1].stamp : t->first, t->syncs[point].stamp };
}

static struct delays_profile_row *use_row(struct delays_profile *p, uint32_t number)
{
	struct delays_profile_row *row = &p->rows[number];
	if (!row->used)
		p->used[p->nused++] = number;
	row->used = true;
	return row;
}

/* Of a wait's operation, what was no waiting. */
static frz_time transfer_of(const struct delays_blame *b, size_t number)
{
	const struct wait *w = &b->f->list[number];
	const struct wait_cost *c = &b->f->costs[number];
	frz_time whole = times_of_thread(b->f->g->times, w->thread, c->begin, w->until > c->begin ? w->until : c->begin);
	whole = time_add(whole, wait_before(b->f, w));
	frz_time rest = { ticks_minus(whole.lo, c->ticks.hi), ticks_minus(whole.hi, c->ticks.lo) };
	return (frz_time){ rest.lo > 0 ? rest.lo : 0, rest.hi > 0 ? rest.hi : 0 };
}

static void add_wait(struct delays_profile *p, size_t wait)
{
	if (p->nwaits == p->room)
		p->waits = mem_resize(p->waits, p->room = 2 * p->room + 16, sizeof *p->waits);
	p->waits[p->nwaits++] = wait;
}

/* Behind the wait for the other thread, if it was one, also what was left of its operation. */
static void fill_profile(const struct delays_blame *b, struct delays_profile *p, struct delays_stretch s, size_t behind)
{
	const struct history_piece *pieces = b->f->history.pieces;
	for (size_t i = 0; i < p->nused; i++)
		p->rows[p->used[i]] = (struct delays_profile_row){ 0 };
	p->nused = p->nwaits = 0;
	p->thread = s.thread;
	p->from = s.begin;
	p->to = s.end;
	for (size_t i = s.from; i < s.to; i++) {
		struct delays_profile_row *row = use_row(p, pieces[i].row);
		row->pieces += pieces[i].pieces;
		if (pieces[i].pieces) {
			row->ticks += pieces[i].ticks;
		} else {
			row->more = time_add(row->more, transfer_of(b, pieces[i].ticks));
			add_wait(p, pieces[i].ticks);
		}
	}
	if (behind == NO_WAIT || b->f->list[behind].thread != s.thread)
		return;
	struct delays_profile_row *row = use_row(p, waits_row(b->f->g->trace, b->f->list[behind].site));
	row->more = time_add(row->more, transfer_of(b, behind));
}

static frz_time length_of(const struct delays_blame *b, const struct delays_profile *p, uint32_t number)
{
	const struct delays_profile_row *row = &p->rows[number];
	if (!row->used)
		return (frz_time){ 0, 0 };
	return time_add(times_sum(b->f->g->times, p->thread, (struct stretches){ row->ticks, row->pieces, p->from, p->to }),
			row->more);
}

/* How much longer b was in each of its rows than a, and how long it waited. Returns all of that. */
static frz_time find_excess(struct delays_blame *b)
{
	frz_time all = { 0, 0 };
	size_t n = b->b.nused + b->b.nwaits;
	if (n > b->room)
		b->excess = mem_resize(b->excess, b->room = 2 * n, sizeof *b->excess);
	for (size_t i = 0; i < n; i++) {
		frz_time x;
		if (i < b->b.nused) {
			frz_time longer = length_of(b, &b->b, b->b.used[i]), than = length_of(b, &b->a, b->b.used[i]);
			x = time_minus(longer, than);
		} else {
			x = b->f->costs[b->b.waits[i - b->b.nused]].ticks;
		}
		b->excess[i] = (frz_time){ x.lo > 0 ? x.lo : 0, x.hi > 0 ? x.hi : 0 };
		all = time_add(all, b->excess[i]);
	}
	return all;
}

/* ---- Sharing out ----------------------------------------------------------------------------- */

struct costs { struct cost own, inherited; bool sure; }; /* of one wait: its own, and what came of it */

static void add_uncaused(struct delays_blame *b, struct costs c, bool surely)
{
	add_cost(&b->uncaused, (struct cost){ surely ? c.own.lo : 0, c.own.hi });
	add_cost(&b->uncaused, (struct cost){ surely ? c.inherited.lo : 0, c.inherited.hi });
}

static void add_delay(struct delays_blame *b, uint32_t thread, uint32_t row, struct costs c, frz_time x, frz_time all)
{
	uint32_t **rows = &b->delay_of[thread];
	if (!*rows) {
		size_t n = waits_rows(b->f->g->trace);
		*rows = mem_resize(NULL, n, sizeof **rows);
		memset(*rows, 0, n * sizeof **rows);
	}
	if (!(*rows)[row]) {
		*MEM_GROW(b->delays, b->n) = (struct delay){ .thread = thread, .row = row, .sure = true };
		(*rows)[row] = (uint32_t)b->n;
	}
	struct delay *d = &b->delays[(*rows)[row] - 1];
	add_cost(&d->short_term, part_of(c.own, x, all));
	add_cost(&d->long_term, part_of(c.inherited, x, all));
	d->sure &= c.sure;
}

static void pass_on(struct delays_blame *b, size_t wait, struct costs c, frz_time x, frz_time all)
{
	struct wait_cost *to = &b->f->costs[wait];
	struct cost sum = { to->lo, to->hi };
	add_cost(&sum, part_of(c.own, x, all));
	add_cost(&sum, part_of(c.inherited, x, all));
	to->lo = sum.lo;
	to->hi = sum.hi;
	to->unsure |= !c.sure;
}

/* Of one of both it is not known where it was: where the other one was longer, and whether, is not either. */
static bool anywhere(const struct delays_blame *b)
{
	uint32_t row = waits_unknown_row(b->f->g->trace);
	return b->a.rows[row].used || b->b.rows[row].used;
}

static struct costs perhaps(struct costs c)
{
	return (struct costs){ { 0, c.own.hi }, { 0, c.inherited.hi }, false };
}

/* To what the other thread did since they had synchronised there, while the one that waited did something else; or since both had
 * begun. Returns what of it is for how late it was then. */
static struct costs share_out_since(struct delays_blame *b, const struct delays_sync *m, struct costs c, frz_time late)
{
	const struct compared *x = &b->now;
	fill_profile(b, &b->a, stretch_of(b, x->waited, mine_at(b, m), x->mine), m->wait);
	fill_profile(b, &b->b, stretch_of(b, x->other, its_at(b, m), x->its), m->wait);
	if (x->upto != NO_WAIT)
		add_wait(&b->b, x->upto);
	frz_time all = time_add(find_excess(b), late);
	bool unknown = anywhere(b);
	c = unknown ? perhaps(c) : c;
	if (all.lo == 0 || unknown)
		add_uncaused(b, c, all.hi == 0);
	for (size_t i = 0; i < b->b.nused + b->b.nwaits; i++) {
		if (b->excess[i].hi == 0)
			continue;
		frz_time of = unknown ? b->excess[i] : all; /* it may be all of it */
		if (i >= b->b.nused)
			pass_on(b, b->b.waits[i - b->b.nused], c, b->excess[i], of);
		else
			add_delay(b, x->other, b->b.used[i], c, b->excess[i], of);
	}
	return (struct costs){ part_of(c.own, late, all), part_of(c.inherited, late, all), c.sure };
}

/* To what the other thread did since the two had synchronised: since each time when that may have been. Returns what goes further
 * back, since the other one was late then, with what it is for. */
static struct costs share_out_once(struct delays_blame *b, uint32_t *except, struct costs c, bool last)
{
	find_synced(b, *except);
	c = b->nsynced > 1 || last ? perhaps(c) : c;
	for (size_t i = 0; i + 1 < b->nsynced; i++)
		share_out_since(b, &b->synced[i], c, (frz_time){ 0, 0 });
	const struct delays_sync *m = &b->synced[b->nsynced - 1];
	struct costs rest = share_out_since(b, m, c, last ? (frz_time){ 0, 0 } : late_by(b, m));
	if (!m->taken || last) {
		add_uncaused(b, rest, true);
		return (struct costs){ .sure = c.sure };
	}
	const struct graph_input *own = wait_own(b->f, &b->f->list[m->wait]);
	b->now.mine = point_at(b->f->g, b->now.waited, mine_at(b, m), m->node);
	b->now.its = b->f->posted[own - b->f->g->inputs].point - 1;
	b->now.upto = m->wait;
	*except = m->node;
	return rest;
}

/* To what the other thread did, up to this input. */
static void share_out(struct delays_blame *b, const struct wait *w, const struct graph_input *cause, struct costs c)
{
	const struct finder *f = b->f;
	uint32_t mine = w->own ? f->posted[w->own - 1].point : 0, its = f->posted[cause - f->g->inputs].point, except = w->node;
	if (!mine || !its || cause->thread == w->thread) {
		add_uncaused(b, c, true);
		return;
	}
	b->now = (struct compared){ w->thread, mine - 1, cause->thread, its - 1, NO_WAIT };
	for (unsigned i = 1; i <= DELAYS_LOOK_BACK && (c.own.hi > 0 || c.inherited.hi > 0); i++)
		c = share_out_once(b, &except, c, i == DELAYS_LOOK_BACK);
}

/* Of the node that was looked at last. */
static void share_out_among(struct delays_blame *b, const struct wait *w, struct costs c)
{
	const struct finder *f = b->f;
	size_t n = f->last.n;
	uint32_t *last = mem_resize(NULL, n, sizeof *last);
	memcpy(last, f->last.input, n * sizeof *last);
	for (size_t i = 0; i < n; i++) {
		const struct graph_input *input = &f->g->inputs[last[i]], *sent = wait_sent(input);
		frz_time ticks = wait_for(b->f, w, input);
		bool goes_on = i + 1 < n && last[i + 1] == last[i] + 1 && (input + 1)->progress;
		if (ticks.hi > 0 && !goes_on) /* then it is the next one, for which the wait is no shorter */
			share_out(b, w, sent, (struct costs){ { 0, up((double)ticks.hi) }, { 0, c.inherited.hi }, false });
	}
	free(last);
}

/* Perhaps to each of those that may have been the last; and of a barrier that was over before. */
static void share_out_perhaps(struct delays_blame *b, const struct wait *w, struct costs c)
{
	struct finder *f = b->f;
	struct wait_looked found;
	if (!wait_look(f, w, &found) || !found.any) {
		add_uncaused(b, c, true);
		return;
	}
	share_out_among(b, w, c);
	if (!wait_is_on_its_way(f, w) || !graph_is_known(&f->g->nodes[f->g->inputs[w->left - 1].node]))
		return;
	graph_last_find(&f->last, f->g->inputs[w->left - 1].node);
	share_out_among(b, w, c);
}

/* All that came of a wait, and itself. */
static void go_back_over_wait(struct delays_blame *b, size_t number, bool broken)
{
	const struct finder *f = b->f;
	const struct wait_cost *cost = &f->costs[number];
	struct costs c = { cost_of(cost->ticks), { cost->lo, cost->hi < b->later.hi ? cost->hi : b->later.hi }, !cost->unsure };
	add_cost(&b->later, c.own);
	if (c.own.hi == 0 && c.inherited.hi == 0)
		return;
	if (broken)
		add_uncaused(b, c, true);
	else if (cost->cause)
		share_out(b, &f->list[number], &f->g->inputs[cost->cause - 1], c);
	else
		share_out_perhaps(b, &f->list[number], c);
}

/* ---- Sums ------------------------------------------------------------------------------------ */

static int by_length(const void *x, const void *y)
{
	const struct wait_delay *a = x, *b = y;
	int64_t p = time_middle(a->ticks), q = time_middle(b->ticks);
	if (p != q)
		return p < q ? 1 : -1;
	return ORDER_2(a, b, thread, site);
}

/* Nothing costs more than all waiting but what others surely cost. */
static void limit(struct waits *w)
{
	int64_t most = 0, sure = w->uncaused.lo;
	for (size_t i = 0; i < w->nplaces; i++)
		most = ticks_plus(most, w->places[i].ticks.hi);
	for (size_t i = 0; i < w->ndelays; i++)
		sure = ticks_plus(sure, w->delays[i].ticks.lo);
	for (size_t i = 0; i < w->ndelays; i++) {
		frz_time *t = &w->delays[i].ticks;
		int64_t rest = ticks_minus(most, ticks_minus(sure, t->lo));
		t->hi = t->hi < rest ? t->hi : rest > t->lo ? rest : t->lo;
	}
	int64_t rest = ticks_minus(most, ticks_minus(sure, w->uncaused.lo));
	w->uncaused.hi = w->uncaused.hi < rest ? w->uncaused.hi : rest > w->uncaused.lo ? rest : w->uncaused.lo;
}

static void finish(struct delays_blame *b)
{
	struct waits *w = b->f->waits;
	for (size_t i = 0; i < b->n; i++) {
		const struct delay *d = &b->delays[i];
		struct cost all = d->short_term;
		add_cost(&all, d->long_term);
		*MEM_GROW(w->delays, w->ndelays) =
			(struct wait_delay){ d->thread, waits_site_of(b->f->g->trace, d->row), floor_to_ticks(all),
					     floor_to_ticks(d->short_term), floor_to_ticks(d->long_term), d->sure };
	}
	w->uncaused = floor_to_ticks(b->uncaused);
	limit(w);
	if (w->ndelays)
		qsort(w->delays, w->ndelays, sizeof *w->delays, by_length);
}

/* ---- All of it ------------------------------------------------------------------------------- */

static void go_back(struct delays_blame *b, const struct graph_order *order)
{
	const struct graph *g = b->f->g;
	size_t *points = mem_resize(NULL, g->trace->nthreads + 1, sizeof *points);
	size_t *waits = mem_resize(NULL, g->trace->nthreads + 1, sizeof *waits);
	for (uint32_t t = 0; t < g->trace->nthreads; t++)
		points[t] = g->threads[t].nsyncs;
	for (size_t i = 0; i < b->f->n; i++, spill_relax(g->spill)) {
		if (b->f->list[i].ends)
			go_back_over_wait(b, i, false);
		else
			waits[b->f->list[i].thread] = i + 1;
	}
	for (size_t i = order->nsteps; i-- > 0; spill_relax(g->spill)) {
		uint32_t thread = order->steps[i].thread;
		const struct graph_sync_point *s = &g->threads[thread].syncs[--points[thread]];
		if (s->what != GRAPH_WAITS || graph_only_found(&g->nodes[s->number])) /* which is no wait of the list */
			continue;
		go_back_over_wait(b, --waits[thread], order->steps[i].broken);
		progress_add(1);
	}
	free(points);
	free(waits);
}

static void profile_open(struct delays_profile *p, const struct trace *trace)
{
	p->used = mem_resize(NULL, waits_rows(trace), sizeof *p->used);
	p->rows = mem_zeroed(waits_rows(trace), sizeof *p->rows);
}

static void profile_close(struct delays_profile *p)
{
	free(p->rows);
	free(p->used);
	free(p->waits);
}

void delays_find(struct finder *f)
{
	struct delays_blame b = { .f = f };
	profile_open(&b.a, f->g->trace);
	profile_open(&b.b, f->g->trace);
	b.delay_of = mem_zeroed(f->g->trace->nthreads + 1, sizeof *b.delay_of);
	b.met = spill_zeros(f->g->spill, f->g->nnodes, sizeof *b.met);
	progress_begin("finding what waits go back to", f->n);
	go_back(&b, &f->order);
	progress_end();
	finish(&b);
	for (size_t t = 0; t < f->g->trace->nthreads; t++)
		free(b.delay_of[t]);
	free(b.delay_of);
	spill_free(f->g->spill, b.met);
	profile_close(&b.a);
	profile_close(&b.b);
	free(b.excess);
	free(b.synced);
	free(b.delays);
}
