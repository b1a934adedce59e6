/* SPDX-License-Identifier: MIT
 *
 * path_sites.c - along one thread: the events are read once more, and what lies between two of them is added to the
 * innermost region or operation, where the path was there. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/graph/graph_losses.h"
#include "analysis/path/path_private.h"

enum { SURE, PERHAPS, SURENESSES };

struct path_site_row {                 /* of a site of one thread */
	struct stretches whole[SURENESSES]; /* that lie within the slice */
	frz_time more[SURENESSES]; /* of others */
	bool used;
};

/* Where the thread was when, up to now. */
#define LATELY 16 /* pieces, the last ones */
struct lately {
	struct { uint32_t site; uint64_t from, to; } v[LATELY];
	size_t n;
};

struct path_along {
	struct path *path;
	struct path_slice slice;
	uint32_t thread;
	struct path_whereabouts where;
	uint64_t at, stamp;  /* the next event, and the last one's stamp */
	size_t point;        /* of the graph, that is not before it */
	size_t stay;         /* the next one is before this */
	uint64_t known_from; /* stamp: before it the path may have been here at any time */
	bool lacks;          /* the event ends a wait that has no cause: before that it was elsewhere */
	uint64_t waited;     /* stamp: or from here on it waited for another one, of which it was on the path ... */
	frz_time arrival;    /* ... for no longer than this behind that one; UINT64_MAX: no such wait */
	struct graph_last last;
	struct lately lately;
	struct path_site_row *rows;    /* of each site, and of: */
	uint32_t *used; size_t nused;
};
enum { ROW_OUTSIDE, ROW_BEFORE, ROW_UNKNOWN, MORE_ROWS };

static uint32_t row_of(const struct path_along *a, uint32_t site)
{
	const struct trace *trace = a->path->graph.trace;
	uint32_t n = (uint32_t)trace->nsites;
	if (site < n)
		return tr_row(trace, site);
	return n + (site == TR_OUTSIDE ? ROW_OUTSIDE : site == TR_BEFORE ? ROW_BEFORE : ROW_UNKNOWN);
}

static uint32_t site_of(const struct path_along *a, uint32_t row)
{
	static const uint32_t more[MORE_ROWS] = { TR_OUTSIDE, TR_BEFORE, TR_NO_SITE };
	uint32_t n = (uint32_t)a->path->graph.trace->nsites;
	return row < n ? row : more[row - n];
}

static struct path_site_row *use_row(struct path_along *a, uint32_t site)
{
	uint32_t number = row_of(a, site);
	struct path_site_row *row = &a->rows[number];
	if (!row->used)
		*MEM_GROW(a->used, a->nused) = number;
	row->used = true;
	return row;
}

/* ---- Adding up ------------------------------------------------------------------------------- */

/* What began and ended at these times, and took so long, as far as it is in the slice. */
static void add_clipped(struct path_along *a, uint32_t site, bool sure, frz_time from, frz_time to, frz_time took)
{
	struct path_slice slice = a->slice;
	frz_time within = time_less(time_least(to, slice.to), time_most(from, slice.from));
	bool inside = from.lo >= slice.from.hi && to.hi <= slice.to.lo;
	frz_time part = { inside ? took.lo : within.lo, within.hi < took.hi && !inside ? within.hi : took.hi };
	if (part.hi <= 0)
		return;
	struct path_site_row *row = use_row(a, site);
	frz_time *sum = &row->more[sure ? SURE : PERHAPS];
	*sum = time_add(*sum, part);
}

static void add_piece(struct path_along *a, uint32_t site, bool sure, uint64_t from, uint64_t to)
{
	struct path *p = a->path;
	bool whole = a->slice.from.hi <= 0 && a->slice.to.lo == INT64_MAX;
	frz_time begin = { 0, 0 }, end = { 0, 0 };
	if (!whole) {
		begin = path_elapsed(p, a->thread, from);
		end = path_elapsed(p, a->thread, to);
		whole = begin.lo >= a->slice.from.hi && end.hi <= a->slice.to.lo;
	}
	if (!whole) {
		add_clipped(a, site, sure, begin, end, times_of_thread(p->times, a->thread, from, to));
		return;
	}
	stretches_add(&use_row(a, site)->whole[sure ? SURE : PERHAPS], from, to);
}

static void add_part(struct path_along *a, uint32_t site, bool sure, uint64_t until, frz_time took)
{
	frz_time end = path_elapsed(a->path, a->thread, until);
	add_clipped(a, site, sure, (frz_time){ ticks_minus(end.lo, took.hi), ticks_minus(end.hi, took.lo) }, end, took);
}

/* Where it is not known where the path was: perhaps here up to `until`, but not while the thread waited for another one, up to the
 * event at `to`. */
static void add_perhaps(struct path_along *a, uint32_t site, uint64_t from, uint64_t until, uint64_t to)
{
	if (a->lacks)
		return;
	if (a->waited >= until) {
		add_piece(a, site, false, from, until);
		return;
	}
	add_piece(a, site, false, from, a->waited);
	frz_time left = time_less(a->arrival, times_of_thread(a->path->times, a->thread, until, to));
	left.hi = left.hi < 0 ? 0 : left.hi;
	add_part(a, site, false, until, (frz_time){ 0, left.hi });
}

/* Between two events the thread was in this site: on the path as far as it stayed here. Even between equal stamps up to a
 * tick may have passed. */
static void add_between(struct path_along *a, uint32_t site, uint64_t from, uint64_t to)
{
	const struct stays *s = &a->path->stays[a->thread];
	if (from < a->known_from) {
		uint64_t until = to < a->known_from ? to : a->known_from;
		add_perhaps(a, site, from, until, to);
		from = until;
	}
	for (; a->stay > 0 && s->v[a->stay - 1].from <= to; a->stay--) {
		const struct stay *stay = &s->v[a->stay - 1];
		uint64_t begin = stay->from > from ? stay->from : from, end = stay->to < to ? stay->to : to;
		if (begin < end || (begin == end && from == to))
			add_piece(a, site, stay->sure, begin, end);
		if (stay->to >= to)
			break;
	}
}

/* ---- Where the thread is ---------------------------------------------------------------------- */

uint32_t path_site_now(const struct path_whereabouts *w)
{
	const struct replay_entry *place = replay_place(&w->replay);
	if (!place)
		return w->lost ? TR_NO_SITE : TR_OUTSIDE;
	return place->jumped || place->unsure ? TR_NO_SITE : place->site;
}

void path_move(struct path_whereabouts *w, const struct trace *trace, const struct tr_event *e)
{
	if (e->op == DPROF_LOST || e->site == TR_NO_SITE) {
		replay_lose(&w->replay);
		w->lost = true;
	} else if (e->op == DPROF_ENTER) {
		replay_enter(&w->replay, tr_entry(trace, e));
	} else if (e->op == DPROF_EXIT) {
		replay_exit(&w->replay, e->site);
	}
}

static uint32_t site_of_wait(const struct path_along *a, const struct tr_event *e)
{
	return e->op == DPROF_EXIT ? e->site : a->at == 0 ? TR_BEFORE : path_site_now(&a->where);
}

static void note_piece(struct path_along *a, uint32_t site, uint64_t from, uint64_t to)
{
	struct lately *l = &a->lately;
	if (l->n == LATELY)
		memmove(&l->v[0], &l->v[1], --l->n * sizeof *l->v);
	l->v[l->n].site = site;
	l->v[l->n].from = from;
	l->v[l->n++].to = to;
}

/* When the operation began that ends here, or in which a point is. */
static uint64_t operation_begin(const struct path_along *a)
{
	const struct replay_entry *place = replay_place(&a->where.replay);
	return place && !(place->is & OP_REGION) ? place->stamp : 0;
}

/* Whether a wait that ends at the event began before that, as of who asks in vain, finds a message and then takes it, or has been
 * woken and then gets the mutex. */
static bool waited_before(const struct path_along *a, uint64_t begun)
{
	const struct graph *g = &a->path->graph;
	const struct graph_thread *t = &g->threads[a->thread];
	bool before = false;
	for (size_t i = a->point; i < t->nsyncs && t->syncs[i].at <= a->at; i++) {
		if (t->syncs[i].at < a->at || t->syncs[i].what != GRAPH_WAITS)
			continue;
		const struct graph_node *node = &g->nodes[t->syncs[i].number];
		bool own = node->kind == GRAPH_SYNC || (node->ninputs && g->inputs[node->first].thread == a->thread);
		before |= own && graph_wait_begin(g, a->thread, i) < begun;
	}
	return before;
}

/* The event is the end of the innermost place, a wait that has no cause in the trace. */
static bool ends_without_cause(const struct path_along *a, const struct tr_event *e)
{
	const struct graph *g = &a->path->graph;
	const struct graph_thread *t = &g->threads[a->thread];
	const struct replay_entry *place = replay_place(&a->where.replay);
	if (!a->path->all_recorded || e->inherited || e->op != DPROF_EXIT)
		return false;
	if (!place || place->is & (OP_REGION | OP_SLEEP) || place->site != e->site)
		return false;
	for (size_t i = a->point; i < t->nsyncs && t->syncs[i].at <= a->at; i++)
		if (t->syncs[i].at == a->at && t->syncs[i].what == GRAPH_WAITS && graph_lacks_cause(&g->nodes[t->syncs[i].number]))
			return true;
	return false;
}

/* The wait that is over with the event, if there is one, and not several. */
static const struct graph_sync_point *only_wait(const struct path_along *a)
{
	const struct graph_thread *t = &a->path->graph.threads[a->thread];
	const struct graph_sync_point *found = NULL;
	for (size_t i = a->point; i < t->nsyncs && t->syncs[i].at <= a->at; i++) {
		if (t->syncs[i].at != a->at || t->syncs[i].what != GRAPH_WAITS)
			continue;
		if (found)
			return NULL;
		found = &t->syncs[i];
	}
	return found;
}

/* The event is the end of the innermost place, in which the thread waited for another one that is known: wherever the path went
 * on later, it was not in that wait. */
static void find_waited(struct path_along *a, const struct tr_event *e)
{
	const struct graph *g = &a->path->graph;
	const struct replay_entry *place = replay_place(&a->where.replay);
	a->waited = UINT64_MAX;
	if (!a->path->all_recorded || a->stamp >= a->known_from || e->inherited || e->op != DPROF_EXIT)
		return;
	if (!place || place->is & (OP_REGION | OP_SLEEP) || place->site != e->site)
		return;
	const struct graph_sync_point *s = only_wait(a);
	if (!s || !path_came(a->path, a->thread, s) || !graph_is_known(&g->nodes[s->number]))
		return;
	frz_time tried;
	uint64_t begin = graph_wait_begin(g, a->thread, (size_t)(s - g->threads[a->thread].syncs));
	graph_last_find(&a->last, s->number);
	if (begin < a->stamp || graph_last_is_doubtful(&a->last, &tried))
		return;
	a->waited = begin;
	a->arrival = graph_last_arrival(&a->last, a->thread, s->stamp);
}

/* Of so long, up to a moment, what it was in one place; what is left lies before that. */
static frz_time add_up_to(struct path_along *a, uint32_t site, bool sure, uint64_t from, uint64_t to, frz_time left)
{
	frz_time took = times_of_thread(a->path->times, a->thread, from, to);
	add_part(a, site, sure, to, time_least(left, took));
	return time_less(left, took);
}

/* The path was on it for so long up to this event, which ended a wait: in the operation, and before that where it was. */
static void add_waited(struct path_along *a, const struct tr_event *e, bool sure, uint64_t until, frz_time left)
{
	const struct lately *l = &a->lately;
	uint32_t site = site_of_wait(a, e);
	uint64_t begun = operation_begin(a);
	if (!waited_before(a, begun)) {
		add_part(a, site, sure, until, left);
		return;
	}
	left = add_up_to(a, site, sure, begun, until, left);
	for (size_t i = l->n; i-- > 0 && left.hi > 0;) {
		if (l->v[i].to > begun)
			continue;
		left = add_up_to(a, l->v[i].site, sure, l->v[i].from, l->v[i].to, left);
		begun = l->v[i].from;
	}
	add_part(a, site, sure, begun, left);
}

/* What ended here was a wait: behind the last that was waited for it was on the path. */
static void add_arrival(struct path_along *a, const struct tr_event *e)
{
	const struct stays *s = &a->path->stays[a->thread];
	for (size_t i = a->stay; i-- > 0 && s->v[i].from <= e->stamp;) {
		const struct stay *stay = &s->v[i];
		if (stay->at != a->at || stay->from < a->known_from)
			continue;
		int64_t since = ticks_minus(path_elapsed(a->path, a->thread, stay->from).lo, stay->arrival.hi);
		add_waited(a, e, stay->sure && since >= a->path->known_from, stay->from, stay->arrival);
	}
}

/* Where it is not known where the path was, it may have been in any wait that ended here: also before what was entered
 * last, as of one that asks again and again. */
static void add_unknown_arrival(struct path_along *a, const struct tr_event *e)
{
	const struct graph *g = &a->path->graph;
	const struct graph_thread *t = &g->threads[a->thread];
	uint64_t begin = UINT64_MAX;
	for (; a->point < t->nsyncs && t->syncs[a->point].at <= a->at; a->point++)
		if (t->syncs[a->point].what == GRAPH_WAITS && t->syncs[a->point].at == a->at) {
			uint64_t since = graph_wait_begin(g, a->thread, a->point);
			begin = since && since < begin ? since : begin;
		}
	if (e->stamp < a->known_from && begin < a->stamp)
		add_piece(a, site_of_wait(a, e), false, begin, e->stamp);
}

/* The path came to the thread's first event, and the run had begun before that. */
static void add_before(struct path_along *a)
{
	struct path *p = a->path;
	const struct stays *s = &p->stays[a->thread];
	struct moment first = { p->graph.trace->threads[a->thread].clock, p->graph.threads[a->thread].first };
	const struct stay *stay = s->n ? &s->v[s->n - 1] : NULL;
	bool here = stay && stay->at == STAY_BEGINS && stay->from == first.stamp;
	bool sure = here && stay->sure && p->known_from == 0;
	if (!here && p->known_from == 0)
		return;
	frz_time before = { 0, 0 };
	for (uint32_t c = 0; c < p->graph.trace->nclocks; c++) {
		struct moment other = { c, p->first[c] };
		if (other.stamp == UINT64_MAX)
			continue;
		frz_time one = times_between(p->times, other, first);
		before.lo = one.lo > before.lo ? one.lo : before.lo;
		before.hi = one.hi > before.hi ? one.hi : before.hi;
	}
	int64_t begins = path_elapsed(p, a->thread, first.stamp).hi; /* who came before them all may be among what is lost */
	before.hi = p->graph.nlosses && begins > before.hi ? begins : before.hi;
	add_clipped(a, TR_BEFORE, sure, (frz_time){ 0, 0 }, before, before);
}

/* Behind its last event it went on until its end, for which another one waited. */
static void add_end(struct path_along *a)
{
	const struct graph_thread *t = &a->path->graph.threads[a->thread];
	const struct graph_sync_point *last = t->nsyncs ? &t->syncs[t->nsyncs - 1] : NULL;
	if (last && graph_behind(&a->path->graph, a->thread, last) > 0)
		add_between(a, path_site_now(&a->where), a->stamp, last->stamp);
}

/* Where it was with its last event it may have stayed, and on the path. */
static void add_beyond(struct path_along *a)
{
	struct path *p = a->path;
	frz_time from = path_elapsed(p, a->thread, p->graph.threads[a->thread].last), more = { 0, times_beyond(p->times, a->thread) };
	if (more.hi > 0)
		add_clipped(a, path_site_now(&a->where), false, from, (frz_time){ from.lo, ticks_plus(from.hi, more.hi) }, more);
}

/* The first stamp from which on it is known where the path was. */
static uint64_t find_known(struct path *p, uint32_t thread)
{
	uint64_t low = p->graph.threads[thread].first, high = p->graph.threads[thread].last;
	if (p->known_from == 0)
		return 0;
	if (path_elapsed(p, thread, high).lo < p->known_from)
		return UINT64_MAX;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		if (path_elapsed(p, thread, middle).lo < p->known_from)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static void take_shares(struct path_profile *p, struct path_along *a)
{
	for (size_t i = 0; i < a->nused; i++) {
		struct path_site_row *row = &a->rows[a->used[i]];
		frz_time sure = time_add(times_sum(a->path->times, a->thread, row->whole[SURE]), row->more[SURE]);
		frz_time perhaps = time_add(times_sum(a->path->times, a->thread, row->whole[PERHAPS]), row->more[PERHAPS]);
		*MEM_GROW(p->shares, p->nshares) =
			(struct path_share){ a->thread, site_of(a, a->used[i]), { sure.lo, ticks_plus(sure.hi, perhaps.hi) },
					     perhaps.hi == 0 };
	}
}

void path_add_thread(struct path_profile *profile, struct path *p, struct path_slice slice, uint32_t thread)
{
	const struct trace *trace = p->graph.trace;
	struct path_along a = { .path = p, .slice = slice, .thread = thread, .stay = p->stays[thread].n };
	struct tr_event e;
	if (p->graph.threads[thread].nevents == 0 || (a.stay == 0 && p->known_from == 0))
		return;
	a.known_from = find_known(p, thread);
	a.rows = mem_zeroed(trace->nsites + MORE_ROWS, sizeof *a.rows);
	replay_open(&a.where.replay, trace->nsites);
	graph_last_open(&a.last, &p->graph);
	add_before(&a);
	struct tr_cursor events = trace_places(trace, thread);
	bool begun = false;
	while (trace_next_bare(&events, &e)) {
		if (begun && e.stamp >= a.stamp) {
			a.lacks = a.stamp < a.known_from && ends_without_cause(&a, &e);
			find_waited(&a, &e);
			add_between(&a, path_site_now(&a.where), a.stamp, e.stamp);
			note_piece(&a, path_site_now(&a.where), a.stamp, e.stamp);
		}
		if (!e.inherited && e.op != DPROF_LOST) {
			add_arrival(&a, &e);
			add_unknown_arrival(&a, &e);
		}
		path_move(&a.where, trace, &e);
		a.stamp = e.stamp > a.stamp ? e.stamp : a.stamp;
		a.at += !e.inherited;
		begun = true;
		spill_relax(p->graph.spill);
	}
	trace_end(&events);
	a.lacks = false;
	a.waited = UINT64_MAX;
	add_end(&a);
	add_beyond(&a);
	take_shares(profile, &a);
	graph_last_close(&a.last);
	replay_close(&a.where.replay);
	free(a.rows);
	free(a.used);
}
