/* SPDX-License-Identifier: MIT
 *
 * moments.c - see moments.h. */
#include "analysis/export/moments.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
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

/* ---- Whether it is kept ---------------------------------------------------------------------- */

struct check {
	const struct moments *m;
	struct frz_cursor *clocks;
};

static int64_t at(const struct check *c, const struct match_part *part, uint64_t stamp)
{
	uint32_t clock = c->m->trace->threads[part->thread].clock;
	return moment(c->m, bounds_of(c->m, &c->clocks[clock], stamp));
}

/* Whether one that leaves comes before one that it needs. */
static bool crosses(const struct check *c, const struct match_part *needed, const struct match_part *by)
{
	return by->done_at != MATCH_NEVER && at(c, needed, needed->enter) > at(c, by, by->done);
}

static bool gives(const struct match *m, size_t part)
{
	return m->flow == FLOW_FROM_ROOT ? m->parts[part].root : m->flow != FLOW_NOWHERE;
}

/* The last that gives is all that is looked at for FLOW_ALL: parts are not too many to be asked in turn. */
static bool crosses_collective(const struct check *c, const struct match *m)
{
	const struct match_part *last = NULL;
	int64_t latest = INT64_MIN;
	for (size_t i = 0; i < m->nparts; i++) {
		int64_t enter = gives(m, i) && m->flow != FLOW_UPWARD ? at(c, &m->parts[i], m->parts[i].enter) : INT64_MIN;
		if (enter > latest) {
			latest = enter;
			last = &m->parts[i];
		}
	}
	for (size_t i = 0; i < m->nparts && last; i++)
		if ((m->flow != FLOW_TO_ROOT || m->parts[i].root) && crosses(c, last, &m->parts[i]))
			return true;
	return false;
}

static bool is_crossed(const struct check *c, const struct match *m)
{
	switch (m->kind) {
	case MATCH_MESSAGE: return crosses(c, &m->parts[0], &m->parts[1]);
	case MATCH_COLLECTIVE: return crosses_collective(c, m);
	case MATCH_CREATED: return at(c, &m->parts[0], m->parts[0].enter) > at(c, &m->parts[1], m->parts[1].enter);
	case MATCH_JOINED: return at(c, &m->parts[0], m->parts[0].enter) > at(c, &m->parts[1], m->parts[1].done);
	default: return false;
	}
}

struct match_walk *moments_matches(const struct moments *m)
{
	struct match_log *log = m->times->program.matches; /* where links came of it */
	return match_walk_open(m->trace, match_slack(m->trace), match_log_is_full(log) ? log : NULL);
}

static bool is_kept(const struct moments *m)
{
	struct check c = { m, times_cursors(m->times) };
	struct match_walk *walk = moments_matches(m);
	struct match match;
	bool kept = true;
	while (kept && match_walk_next(walk, &match))
		kept = !is_crossed(&c, &match);
	match_walk_close(walk);
	free(c.clocks);
	return kept;
}

/* ---- The earliest ---------------------------------------------------------------------------- */

struct earliest {
	struct moments *m;
	const struct graph *graph;
	struct moments_cursor *threads;
	size_t *next;            /* point of each thread */
	int64_t *posted;         /* of each node: the latest that it needs */
};

static void move_thread(struct earliest *e, uint32_t thread, uint64_t stamp, int64_t to)
{
	*MEM_GROW(e->m->moved[thread].v, e->m->moved[thread].n) = (struct moved){ stamp, to };
}

static void take_point(struct earliest *e, uint32_t thread, bool broken)
{
	const struct graph_sync_point *s = &e->graph->threads[thread].syncs[e->next[thread]++];
	frz_time bounds;
	if (s->what != GRAPH_WAITS && s->what != GRAPH_POSTS)
		return;
	int64_t moment_of = moments_at(&e->threads[thread], s->stamp, &bounds);
	if (s->what == GRAPH_POSTS) {
		const struct graph_input *input = &e->graph->inputs[s->number];
		int64_t *posted = &e->posted[input->node];
		*posted = input->needed && moment_of > *posted ? moment_of : *posted;
	} else if (!broken && e->posted[s->number] > moment_of) {
		move_thread(e, thread, s->stamp, e->posted[s->number]);
		e->m->kept &= e->posted[s->number] <= bounds.hi;
	}
}

static void find_earliest(struct moments *m)
{
	struct graph graph;
	struct graph_order order;
	graph_open(&graph, m->trace, m->times);
	graph_order_open(&order, &graph);
	struct earliest e = { m, &graph, mem_resize(NULL, m->trace->nthreads, sizeof *e.threads),
			      mem_resize(NULL, m->trace->nthreads, sizeof *e.next), spill_zeros(graph.spill, graph.nnodes, sizeof *e.posted) };
	m->moved = mem_resize(NULL, m->trace->nthreads, sizeof *m->moved);
	memset(m->moved, 0, m->trace->nthreads * sizeof *m->moved);
	for (uint32_t t = 0; t < m->trace->nthreads; t++) {
		e.threads[t] = moments_of(m, t);
		e.next[t] = 0;
	}
	for (size_t i = 0; i < order.nsteps; i++) {
		take_point(&e, order.steps[i].thread, order.steps[i].broken);
		spill_relax(graph.spill);
	}
	free(e.threads);
	free(e.next);
	graph_order_close(&order);
	graph_close(&graph);
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
	if (is_kept(m))
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
	return (struct moments_cursor){ .of = m, .clock = times_cursor(m->times, m->trace->threads[thread].clock), .thread = thread };
}

/* The last that is moved at or before the stamp is the latest: moments of a thread do not go back. */
int64_t moments_at_any(struct moments_cursor *c, uint64_t stamp, frz_time *bounds)
{
	size_t lo = 0, hi = c->of->moved ? c->of->moved[c->thread].n : 0;
	*bounds = bounds_of(c->of, &c->clock, stamp);
	int64_t is = moment(c->of, *bounds);
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (c->of->moved[c->thread].v[mid].stamp <= stamp)
			lo = mid + 1;
		else
			hi = mid;
	}
	int64_t moved = lo ? c->of->moved[c->thread].v[lo - 1].at : 0;
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
