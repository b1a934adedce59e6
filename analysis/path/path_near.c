/* SPDX-License-Identifier: MIT
 *
 * path_near.c - other ways through the run, which are nearly as long as the critical path. From a place that has little slack a
 * way goes on to the end where it has the least, and back to the begin over what ended each wait; it is shorter by what lies on
 * it between what was waited for and the last that was. */
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/path/path_private.h"

struct leg { uint32_t thread; struct stay stay; };

struct near_walk {
	struct slacks *slacks;
	struct path_near *way;
	struct leg *legs; size_t nlegs; /* from the place on, in the spill */
};

/* ---- On to the end ---------------------------------------------------------------------------- */

/* The input with the least slack that a thread posts from a point on, before it waits: its point, or the number of all
 * of them. What was perhaps not waited for has slack without limit. */
static size_t find_post(struct slacks *s, uint32_t thread, size_t point)
{
	const struct graph_thread *t = &s->path->graph.threads[thread];
	size_t best = t->nsyncs;
	int64_t least = INT64_MAX;
	for (; point < t->nsyncs && t->syncs[point].what != GRAPH_WAITS; point++) {
		if (t->syncs[point].what != GRAPH_POSTS)
			continue;
		int64_t slack = path_slack_of(s, t->syncs[point].number).hi;
		best = slack < least ? point : best;
		least = slack < least ? slack : least;
	}
	return best;
}

/* How a thread's stay begins that waited at a point. */
static struct stay after_wait(struct slacks *s, uint32_t thread, const struct graph_sync_point *p)
{
	graph_last_find(&s->last, p->number);
	return (struct stay){ .from = p->stamp, .at = p->at, .arrival = graph_last_arrival(&s->last, thread, p->stamp),
			      .sure = true };
}

/* Notes the legs; the first stay begins nowhere yet. False: it does not come to the end. */
static bool go_on(struct near_walk *w, uint32_t thread, size_t point)
{
	struct slacks *s = w->slacks;
	const struct graph *g = &s->path->graph;
	struct stay stay = { .sure = true };
	for (;; spill_relax(g->spill)) {
		const struct graph_thread *t = &g->threads[thread];
		size_t post = find_post(s, thread, point);
		if (post == t->nsyncs)
			return false;
		const struct graph_input *input = &g->inputs[t->syncs[post].number];
		const struct node_slack *n = path_look_at(s, input->node);
		stay.to = input->stamp;
		*SPILL_GROW(g->spill, w->legs, w->nlegs) = (struct leg){ thread, stay };
		w->way->shorter = time_add(w->way->shorter, path_ahead(s, n, input));
		if (input->node == g->end)
			return true;
		if (!n->waits)
			return false;
		thread = n->thread;
		point = n->waits;
		stay = after_wait(s, thread, &g->threads[thread].syncs[point - 1]);
	}
}

/* ---- Back to the begin ------------------------------------------------------------------------ */

static void add_leg(struct near_walk *w, uint32_t thread, struct stay stay)
{
	struct stays *s = &w->way->stays[thread];
	*SPILL_GROW(w->slacks->path->graph.spill, s->v, s->n) = stay;
}

/* Whether the node surely waited for it. */
static bool leads_on(struct slacks *s, uint32_t number)
{
	const struct graph *g = &s->path->graph;
	const struct graph_input *input = &g->inputs[number];
	const struct graph_node *node = &g->nodes[input->node];
	return graph_is_known(node) && graph_was_waited_for(node, number - node->first, input) && !path_was_free(s, node, input);
}

/* Of what ended a wait, the first that was surely waited for; GRAPH_NO_NODE: that is none. */
static uint32_t find_cause(struct slacks *s, uint32_t number)
{
	graph_last_find(&s->last, number);
	for (size_t i = 0; i < s->last.n; i++)
		if (leads_on(s, s->last.input[i]))
			return s->last.input[i];
	return GRAPH_NO_NODE;
}

/* From this stay of the thread, which ends before a point. */
static bool go_back(struct near_walk *w, uint32_t thread, size_t point, struct stay stay)
{
	struct slacks *s = w->slacks;
	const struct graph *g = &s->path->graph;
	for (;; spill_relax(g->spill)) {
		const struct graph_thread *t = &g->threads[thread];
		uint64_t until = stay.to;
		while (point > 0 && t->syncs[point - 1].what != GRAPH_WAITS)
			point--;
		if (point == 0) {
			add_leg(w, thread, (struct stay){ .from = t->first, .to = until, .at = STAY_BEGINS, .sure = true });
			return true;
		}
		const struct graph_sync_point *p = &t->syncs[point - 1];
		uint32_t cause = find_cause(s, p->number);
		if (cause == GRAPH_NO_NODE)
			return false;
		stay = after_wait(s, thread, p);
		stay.to = until;
		add_leg(w, thread, stay);
		w->way->shorter = time_add(w->way->shorter, path_ahead(s, path_look_at(s, p->number), &g->inputs[cause]));
		struct path_moment from = path_posted(g, cause);
		thread = from.thread;
		point = from.point;
		stay.to = from.stamp;
	}
}

/* ---- All of them ------------------------------------------------------------------------------ */

static void close_way(const struct path_near *way, const struct graph *g)
{
	for (uint32_t t = 0; t < g->trace->nthreads; t++)
		spill_free(g->spill, way->stays[t].v);
	free(way->stays);
}

/* From a stretch of a thread, just before a point, which has slack of at least `least`. */
static bool find_way(struct near_walk *w, uint32_t thread, size_t point, int64_t least)
{
	const struct graph *g = &w->slacks->path->graph;
	*w->way = (struct path_near){ .shorter = { 0, 0 }, .stays = mem_zeroed(g->trace->nthreads + 1, sizeof *w->way->stays) };
	w->nlegs = 0;
	bool found = go_on(w, thread, point);
	if (found) {
		for (size_t i = w->nlegs; i-- > 1;)
			add_leg(w, w->legs[i].thread, w->legs[i].stay);
		found = go_back(w, thread, point, w->legs[0].stay);
		w->way->shorter.lo = least < w->way->shorter.lo ? least : w->way->shorter.lo;
	}
	if (!found)
		close_way(w->way, g);
	return found;
}

/* A stretch of a thread, just before a point. */
struct near_stretch { uint32_t thread; size_t point; frz_time slack; };

static int by_slack(const void *x, const void *y)
{
	const struct near_stretch *a = x, *b = y;
	return ORDER_2(a, b, slack.hi, thread);
}

/* That with the least slack which surely has some, and less than it is long: what comes just before a barrier is near
 * for nothing. False: there is none. */
static bool find_stretch(const struct slacks *s, uint32_t thread, struct near_stretch *found)
{
	const frz_time *before = s->before + s->first[thread];
	const struct graph_thread *t = &s->path->graph.threads[thread];
	uint64_t since = t->first;
	*found = (struct near_stretch){ .thread = thread, .slack = { 0, INT64_MAX } };
	for (size_t i = 0; i < t->nsyncs; i++) {
		bool longer = before[i].hi < INT64_MAX && t->syncs[i].stamp - since > (uint64_t)before[i].hi;
		if (longer && before[i].lo > 0 && before[i].hi < found->slack.hi)
			*found = (struct near_stretch){ thread, i, before[i] };
		since = t->syncs[i].stamp;
		spill_relax(s->path->graph.spill);
	}
	return found->slack.hi < INT64_MAX;
}

static bool is_new(const struct path_slack *found, const struct graph *g, const struct near_stretch *x)
{
	uint64_t stamp = g->threads[x->thread].syncs[x->point].stamp;
	for (size_t i = 0; i < found->nnear; i++) {
		const struct stays *s = &found->near[i].stays[x->thread];
		for (size_t k = 0; k < s->n; k++)
			if (s->v[k].from < stamp && stamp <= s->v[k].to)
				return false;
	}
	return true;
}

void path_find_near(struct path_slack *found, struct slacks *s)
{
	const struct graph *g = &s->path->graph;
	struct near_walk w = { .slacks = s };
	struct near_stretch *stretches = mem_resize(NULL, g->trace->nthreads + 1, sizeof *stretches);
	size_t n = 0;
	for (uint32_t t = 0; t < g->trace->nthreads; t++)
		n += find_stretch(s, t, &stretches[n]);
	qsort(stretches, n, sizeof *stretches, by_slack);
	for (size_t i = 0; i < n && found->nnear < PATH_NEAR; i++) {
		w.way = &found->near[found->nnear];
		if (is_new(found, g, &stretches[i]))
			found->nnear += find_way(&w, stretches[i].thread, stretches[i].point, stretches[i].slack.lo);
	}
	free(stretches);
	spill_free(g->spill, w.legs);
	found->graph = g;
}

void path_close_near(struct path_slack *found)
{
	for (size_t i = 0; i < found->nnear; i++)
		close_way(&found->near[i], found->graph);
}

void path_near_profile_open(struct path_profile *profile, struct path *p, const struct path_near *way)
{
	struct path other = *p;
	other.stays = way->stays;
	other.nhops = 0;
	other.length = time_minus(p->length, way->shorter);
	other.length.lo = other.length.lo > 0 ? other.length.lo : 0;
	path_profile_open(profile, &other, PATH_ALL);
}
