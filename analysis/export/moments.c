/* SPDX-License-Identifier: MIT
 *
 * moments.c - see moments.h. */
#include "analysis/export/moments.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/search.h"
#include "analysis/graph/graph_order.h"
#include "analysis/match/match.h"

bool moments_possible(const struct trace *trace, const struct times *times)
{
	for (size_t i = 0; i < trace->nthreads; i++)
		if (times->time_base[trace->threads[i].clock] != 0)
			return false;
	return trace->nthreads > 0;
}

/* As far as bounds alone say. */
static int64_t moment(const struct moments *m, frz_time bounds)
{
	return m->middle ? bounds.lo + ticks_minus(bounds.hi, bounds.lo) / 2 : bounds.lo;
}

static frz_time bounds_of(const struct moments *m, struct frz_cursor *clock, uint64_t stamp)
{
	return time_apart((frz_time){ m->begin, m->begin }, frz_time_of(clock, stamp));
}

/* ---- What is moved --------------------------------------------------------------------------- */

/* How many of them are at or before the stamp. */
static size_t moved_until(const struct moves *moves, uint64_t stamp)
{
	return SEARCH(moves->n, mid, moves->v[mid].stamp <= stamp);
}

/* The last at or before the stamp is the latest: moments of a thread do not go back. */
static int64_t no_earlier(const struct moves *moves, uint64_t stamp)
{
	size_t n = moved_until(moves, stamp);
	return n ? moves->v[n - 1].at : 0;
}

/* Later than all at or before its stamp; those behind it that are no later than it are dropped. */
static void add_move(struct moves *moves, struct moved move)
{
	size_t at = moved_until(moves, move.stamp), behind = at, n = moves->n;
	while (behind < n && moves->v[behind].at <= move.at)
		behind++;
	*MEM_GROW(moves->v, moves->n) = move;
	memmove(&moves->v[at + 1], &moves->v[behind], (n - behind) * sizeof *moves->v);
	moves->v[at] = move;
	moves->n = at + 1 + (n - behind);
}

/* Both in one, by stamp; what is no later than one before it is dropped. */
static void join_moves(struct moves *to, struct moves *more)
{
	struct moves both = { 0 };
	int64_t latest = 0;
	for (size_t i = 0, k = 0; i < to->n || k < more->n;) {
		bool first = k == more->n || (i < to->n && to->v[i].stamp <= more->v[k].stamp);
		struct moved next = first ? to->v[i++] : more->v[k++];
		if (next.at > latest)
			*MEM_GROW(both.v, both.n) = next;
		latest = next.at > latest ? next.at : latest;
	}
	free(to->v);
	free(more->v);
	*to = both;
	*more = (struct moves){ 0 };
}

/* ---- Whether it is kept ---------------------------------------------------------------------- */

struct check {
	const struct moments *m;
	struct frz_cursor *clocks;
	struct moves *fresh;     /* of each thread: what is moved besides; NULL while nothing is */
};

static int64_t at(const struct check *c, uint32_t thread, uint64_t stamp)
{
	int64_t is = moment(c->m, bounds_of(c->m, &c->clocks[c->m->trace->threads[thread].clock], stamp));
	if (!c->fresh)
		return is;
	int64_t before = no_earlier(&c->m->moved[thread], stamp), now = no_earlier(&c->fresh[thread], stamp);
	before = before > now ? before : now;
	return is > before ? is : before;
}

static int64_t entered(const struct check *c, const struct match_part *p)
{
	return at(c, p->thread, p->enter);
}

static bool is_done_before(const struct check *c, const struct match_part *by, int64_t needed)
{
	return by->done_at != MATCH_NEVER && at(c, by->done_in, by->done) < needed;
}

static bool gives(const struct match *m, size_t part)
{
	return m->flow == FLOW_FROM_ROOT ? m->parts[part].root : m->flow != FLOW_NOWHERE;
}

/* The last that gives is all that is looked at for FLOW_ALL: parts are not too many to be asked in turn. */
static bool crosses_collective(const struct check *c, const struct match *m)
{
	int64_t latest = INT64_MIN;
	for (size_t i = 0; i < m->nparts; i++) {
		int64_t enter = gives(m, i) && m->flow != FLOW_UPWARD ? entered(c, &m->parts[i]) : INT64_MIN;
		latest = enter > latest ? enter : latest;
	}
	for (size_t i = 0; i < m->nparts; i++)
		if ((m->flow != FLOW_TO_ROOT || m->parts[i].root) && is_done_before(c, &m->parts[i], latest))
			return true;
	return false;
}

/* One of two: the second of them comes before the first, though it needs that. */
static bool crosses_pair(const struct check *c, const struct match *m)
{
	int64_t needed = entered(c, &m->parts[0]);
	return m->kind == MATCH_CREATED ? entered(c, &m->parts[1]) < needed : is_done_before(c, &m->parts[1], needed);
}

static bool is_pair(const struct match *m)
{
	return m->kind == MATCH_MESSAGE || m->kind == MATCH_CREATED || m->kind == MATCH_JOINED;
}

struct match_walk *moments_matches(const struct moments *m)
{
	return match_walk_again(m->trace, m->times->program.matches);
}

static bool is_kept(const struct moments *m)
{
	struct check c = { m, times_cursors(m->times), NULL };
	struct match_walk *walk = moments_matches(m);
	struct match match;
	bool kept = true;
	while (kept && match_walk_next(walk, &match))
		kept = !(is_pair(&match) ? crosses_pair(&c, &match) : match.kind == MATCH_COLLECTIVE && crosses_collective(&c, &match));
	match_walk_close(walk);
	free(c.clocks);
	return kept;
}

/* ---- The earliest ----------------------------------------------------------------------------
 *
 * In rounds, until nothing is moved: what is needed in every run as the graph has it, causes first; then what was in
 * this one: a message that was received from any source, and that it was there when its receive was done, which may be
 * before the call was over. Matches come nearly in the order of causes, so that there are few rounds; and they end, as
 * every moment is some event's lower bound. */

struct earliest {
	struct moments *m;
	struct graph graph;
	struct graph_order order;
	struct check check;
	size_t *next;            /* point of each thread */
	int64_t *posted;         /* of each node: the latest that it needs */
	bool moved;              /* something was, in this round */
};

static void move_thread(struct earliest *e, uint32_t thread, uint64_t stamp, int64_t to)
{
	frz_time bounds = bounds_of(e->m, &e->check.clocks[e->m->trace->threads[thread].clock], stamp);
	e->moved = true;
	if (!e->check.fresh)
		return;
	add_move(&e->check.fresh[thread], (struct moved){ stamp, to });
	e->m->kept &= to <= bounds.hi;
}

static void take_point(struct earliest *e, uint32_t thread, bool broken)
{
	const struct graph_sync_point *s = &e->graph.threads[thread].syncs[e->next[thread]++];
	if (s->what != GRAPH_WAITS && s->what != GRAPH_POSTS)
		return;
	int64_t moment_of = at(&e->check, thread, s->stamp);
	if (s->what == GRAPH_POSTS) {
		const struct graph_input *input = &e->graph.inputs[s->number];
		int64_t *posted = &e->posted[input->node];
		*posted = input->needed && moment_of > *posted ? moment_of : *posted;
	} else if (!broken && e->posted[s->number] > moment_of) {
		move_thread(e, thread, s->stamp, e->posted[s->number]);
	}
}

static void take_points(struct earliest *e)
{
	memset(e->next, 0, e->m->trace->nthreads * sizeof *e->next);
	for (size_t i = 0; i < e->order.nsteps; i++) {
		take_point(e, e->order.steps[i].thread, e->order.steps[i].broken);
		spill_relax(e->graph.spill);
	}
}

static void take_matches(struct earliest *e)
{
	struct match_walk *walk = moments_matches(e->m);
	for (struct match m; match_walk_next(walk, &m);) {
		if (!is_pair(&m) || !crosses_pair(&e->check, &m))
			continue;
		const struct match_part *by = &m.parts[1];
		move_thread(e, by->done_in, m.kind == MATCH_CREATED ? by->enter : by->done, entered(&e->check, &m.parts[0]));
	}
	match_walk_close(walk);
}

static void join_all(struct earliest *e)
{
	for (size_t t = 0; t < e->m->trace->nthreads; t++)
		join_moves(&e->m->moved[t], &e->check.fresh[t]);
}

static struct moves *no_moves(const struct trace *t)
{
	struct moves *moves = mem_zeroed(t->nthreads, sizeof *moves);
	return moves;
}

static void earliest_open(struct earliest *e, struct moments *m)
{
	*e = (struct earliest){ .m = m, .check = { m, times_cursors(m->times), NULL },
				.next = mem_resize(NULL, m->trace->nthreads, sizeof *e->next) };
	graph_open(&e->graph, m->trace, m->times);
	graph_order_open(&e->order, &e->graph);
	e->posted = spill_zeros(e->graph.spill, e->graph.nnodes, sizeof *e->posted);
}

static void earliest_close(struct earliest *e)
{
	free(e->check.clocks);
	free(e->check.fresh);
	free(e->next);
	graph_order_close(&e->order);
	graph_close(&e->graph);
}

static void find_earliest(struct moments *m)
{
	struct earliest e;
	earliest_open(&e, m);
	m->moved = no_moves(m->trace);
	e.check.fresh = no_moves(m->trace);
	do {
		e.moved = false;
		take_points(&e);
		join_all(&e);
		take_matches(&e);
		join_all(&e);
	} while (e.moved);
	earliest_close(&e);
}

/* ---- Bytes -----------------------------------------------------------------------------------
 *
 * No links come of them, so that the middles of two hosts need not be in their order. */

static bool may_give_to_other_clocks(const struct trace *t)
{
	bool gives = false, other = false;
	for (size_t i = 0; i < trace_kinds(t) && !gives; i++)
		gives = t->whats[i].keys >> DPROF_KEY_CHANNEL & 1;
	for (size_t i = 0; i < t->nthreads && !other; i++)
		other = t->threads[i].clock != t->threads[0].clock;
	return gives && other;
}

static bool is_kept_with_bytes(struct moments *m)
{
	struct earliest e;
	if (!may_give_to_other_clocks(m->trace))
		return true;
	earliest_open(&e, m);
	take_points(&e);
	earliest_close(&e);
	return !e.moved;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static int64_t find_begin(const struct trace *trace, const struct times *times)
{
	int64_t begin = INT64_MAX;
	uint64_t first, last;
	for (size_t i = 0; i < trace->nthreads; i++) {
		if (times->time_base[trace->threads[i].clock] != 0 || !trace_ends(&trace->threads[i], &first, &last))
			continue;
		struct frz_cursor clock = times_cursor(times, trace->threads[i].clock);
		int64_t lo = frz_time_of(&clock, first).lo;
		begin = lo < begin ? lo : begin;
	}
	return begin == INT64_MAX ? 0 : begin;
}

struct moments moments_unit(const struct trace *trace, const struct times *times)
{
	return (struct moments){ .trace = trace, .times = times, .begin = find_begin(trace, times), .middle = true, .kept = true,
				 .ghz = trace->clocks[times_unit(times, 0)].ghz };
}

void moments_open(struct moments *m, const struct trace *trace, const struct times *times)
{
	*m = moments_unit(trace, times);
	if (is_kept(m) && is_kept_with_bytes(m))
		return;
	m->middle = false;
	find_earliest(m);
}

void moments_close(struct moments *m)
{
	for (size_t t = 0; t < m->trace->nthreads && m->moved; t++)
		free(m->moved[t].v);
	free(m->moved);
}

struct moments_cursor moments_of(const struct moments *m, uint32_t thread)
{
	return (struct moments_cursor){ .of = m, .clock = times_cursor(m->times, m->trace->threads[thread].clock),
					.thread = thread };
}

int64_t moments_at_any(struct moments_cursor *c, uint64_t stamp, frz_time *bounds)
{
	*bounds = bounds_of(c->of, &c->clock, stamp);
	int64_t is = moment(c->of, *bounds), moved = c->of->moved ? no_earlier(&c->of->moved[c->thread], stamp) : 0;
	return is > moved ? is : moved;
}

int64_t moments_at(struct moments_cursor *c, uint64_t stamp, frz_time *bounds)
{
	*bounds = bounds_of(c->of, &c->clock, stamp);
	int64_t is = moment(c->of, *bounds);
	c->last = is > c->last ? is : c->last;
	for (; c->of->moved && c->next < c->of->moved[c->thread].n && c->of->moved[c->thread].v[c->next].stamp <= stamp; c->next++)
		c->last = c->of->moved[c->thread].v[c->next].at > c->last ? c->of->moved[c->thread].v[c->next].at : c->last;
	return c->last;
}
