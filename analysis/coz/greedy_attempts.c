/* SPDX-License-Identifier: MIT
 *
 * greedy_attempts.c - attempts in vain are part of the wait that they are in. */
#include "analysis/coz/greedy_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"

/* Where each node's wait begins, and where it is over: points, or GREEDY_NONE. */
struct wait_points { uint32_t *begin, *end; };

uint32_t greedy_begin_of(const struct greedy *y, const struct graph_node *j)
{
	uint32_t last = j->first + j->ninputs - 1;
	return graph_resumes(y->g, j) && !isnan(y->slack[last]) ? last : j->first;
}

static struct wait_points find_waits(const struct greedy *y)
{
	size_t n = y->g->nnodes + 1;
	struct wait_points w = { mem_resize(NULL, n, sizeof *w.begin), mem_resize(NULL, n, sizeof *w.end) };
	memset(w.begin, 0xff, n * sizeof *w.begin);
	memset(w.end, 0xff, n * sizeof *w.end);
	for (uint32_t i = 0; i < y->npoints; i++) {
		const struct greedy_point *p = &y->points[i];
		uint32_t node = p->what == GRAPH_POSTS ? y->g->inputs[p->number].node : p->what == GRAPH_WAITS ? p->number : GREEDY_NONE;
		if (p->what == GRAPH_POSTS && p->number == greedy_begin_of(y, &y->g->nodes[node]))
			w.begin[node] = i;
		else if (p->what == GRAPH_WAITS)
			w.end[node] = i;
	}
	return w;
}

/* What a thread does at a point between the begin of a wait and its end: nothing that concerns others, or it has a lock for a
 * while. */
enum within { ELSEWHERE, OF_WAIT, TAKES_LOCK, LEAVES_LOCK };

static bool is_of_lock(const struct greedy *y, uint32_t turn)
{
	return turn != GREEDY_NONE && y->g->queues[y->g->turns[turn].queue].kind == GRAPH_LOCK;
}

static enum within is_within_wait(const struct greedy *y, const struct greedy_point *p)
{
	const struct graph *g = y->g;
	if (p->what == GRAPH_RELEASES)
		return g->queues[p->number].kind == GRAPH_LOCK ? LEAVES_LOCK : ELSEWHERE;
	if (p->what == GRAPH_SCHEDULES)
		return OF_WAIT;
	if (p->what != GRAPH_POSTS && p->what != GRAPH_WAITS)
		return ELSEWHERE;
	if (p->what == GRAPH_POSTS && isnan(y->slack[p->number]))
		return OF_WAIT; /* it is absent */
	uint32_t node = p->what == GRAPH_POSTS ? g->inputs[p->number].node : p->number, turn = y->turn_of[node];
	const struct graph_node *j = &g->nodes[node];
	if (is_of_lock(y, turn) && p->what == GRAPH_WAITS)
		return TAKES_LOCK;
	if (is_of_lock(y, turn) && (g->inputs[j->first].thread == p->thread || greedy_is_of_turn(&g->turns[turn], j, p->number)))
		return OF_WAIT;
	bool own = j->nwaiting == 1 && turn == GREEDY_NONE;
	for (uint32_t i = j->first; i < j->first + j->ninputs; i++)
		own &= g->inputs[i].thread == p->thread;
	return own ? OF_WAIT : ELSEWHERE;
}

#define MOST_PASSED 8 /* looks at each point */

/* Its own thread waits for it, from a point on. */
static bool is_for_own(const struct greedy *y, const struct wait_points *w, const struct greedy_point *p, uint32_t from)
{
	const struct graph *g = y->g;
	if (p->what != GRAPH_POSTS || isnan(y->slack[p->number]))
		return false;
	uint32_t node = g->inputs[p->number].node;
	return g->inputs[g->nodes[node].first].thread == p->thread && w->end[node] >= from;
}

/* Passes over the points behind one and before another, if they are of a wait, in which each lock that is taken is given back. What
 * happens when that begins may be anything. */
static bool pass_between(struct greedy *y, const struct wait_points *w, uint32_t from, uint32_t end, size_t *looks)
{
	size_t locks = 0;
	uint32_t first = end;
	for (; first > from + 1; first--, (*looks)--) {
		const struct greedy_point *p = &y->points[first - 1];
		enum within what = *looks > 0 ? is_within_wait(y, p) : ELSEWHERE;
		if (what == ELSEWHERE || is_for_own(y, w, p, end) || (what == TAKES_LOCK && locks == 0))
			break;
		locks += (what == LEAVES_LOCK) - (size_t)(what == TAKES_LOCK);
	}
	if (locks > 0 || y->points[first - 1].at > y->points[from].at)
		return false;
	for (; first < end; first++)
		y->points[first].what = GREEDY_PASSED;
	return true;
}

/* Waits that began at the same event, and have been passed over up to a point: they do not begin. */
static void pass_begins(struct greedy *y, const struct wait_points *w, uint32_t from, uint32_t end)
{
	for (uint32_t i = from; i-- > 0 && y->points[i].thread == y->points[from].thread && y->points[i].at >= y->points[from].at;) {
		const struct greedy_point *p = &y->points[i];
		uint32_t node = p->what == GRAPH_POSTS ? y->g->inputs[p->number].node : GREEDY_NONE;
		if (node != GREEDY_NONE && w->begin[node] == i && w->end[node] > from && w->end[node] < end)
			y->points[i].what = GREEDY_PASSED;
	}
}

/* The wait at a point begins earlier than it did, at another one. */
static void begin_at(struct greedy *y, uint32_t from, uint32_t begin, uint32_t wait)
{
	for (uint32_t i = begin; i < wait; i++) {
		if (y->points[i].what == GRAPH_POSTS)
			y->slack[y->points[i].number] += y->points[i].at - y->points[from].at;
		y->points[i].at = y->points[from].at;
	}
}

/* Attempts in vain, and what is done between them, are part of a wait that begins before them: in a replay it may be over before
 * the last of them was made here. */
void greedy_pass_attempts(struct greedy *y)
{
	struct wait_points w = find_waits(y);
	size_t looks = MOST_PASSED * y->npoints;
	for (uint32_t i = (uint32_t)y->npoints; i-- > 0;) {
		const struct greedy_point *p = &y->points[i];
		uint32_t from = p->what == GRAPH_WAITS ? w.begin[p->number] : GREEDY_NONE, to = i;
		if (from == GREEDY_NONE || from >= i || y->points[from].thread != p->thread)
			continue;
		bool behind = p->ends && p[-1].what == GRAPH_WAITS && !p[-1].ends && p[-1].at >= p->at && w.begin[p[-1].number] < i;
		if (behind) /* another one */
			to = w.begin[p[-1].number];
		if (to <= from || !pass_between(y, &w, from, to, &looks))
			continue;
		if (behind)
			begin_at(y, from, to, i - 1);
		pass_begins(y, &w, from, to);
		i = from + 1;
	}
	free(w.begin);
	free(w.end);
}
