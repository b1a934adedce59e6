/* SPDX-License-Identifier: MIT
 *
 * greedy_prepare.c - what a replay has to know of this run, found once. */
#include "analysis/coz/greedy_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/ids.h"
#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/search.h"

static void find_turns(struct greedy *y)
{
	const struct graph *g = y->g;
	y->turn_of = mem_resize(NULL, g->nnodes, sizeof *y->turn_of);
	memset(y->turn_of, 0xff, g->nnodes * sizeof *y->turn_of);
	y->queues = mem_zeroed(g->nqueues + 1, sizeof *y->queues);
	for (size_t i = 0; i < g->nturns; i++) {
		y->turn_of[g->turns[i].node] = (uint32_t)i;
		y->queues[g->turns[i].queue].names |= g->turns[i].named || g->turns[i].upto;
	}
}

/* From when another gave back what the node waited for until it went on. */
static void find_handed(struct greedy *y)
{
	const struct graph *g = y->g;
	y->had = mem_zeroed(g->nturns + 1, sizeof *y->had);
	for (size_t i = 0; i < y->npoints; i++) {
		const struct greedy_point *p = &y->points[i];
		uint32_t turn = p->what == GRAPH_WAITS ? y->turn_of[p->number] : GREEDY_NONE;
		if (turn == GREEDY_NONE)
			continue;
		const struct graph_node *j = &g->nodes[p->number];
		double least = INFINITY;
		for (uint32_t k = g->turns[turn].first; k < g->turns[turn].first + g->turns[turn].n; k++) {
			double took = p->at - y->came[j->first + k] - y->slack[j->first + k];
			least = isnan(took) ? least : fmin(least, fmax(took, 0));
		}
		y->had[turn] = (struct greedy_had){ .at = p->at, .handed = isinf(least) ? 0 : least };
	}
}

/* By how much the node's begin, or what arrived for it, could have come later: the least of them. */
double greedy_least_slack(const struct greedy *y, const struct graph_turn *turn, bool arrived)
{
	const struct graph_node *j = &y->g->nodes[turn->node];
	double least = INFINITY;
	for (uint32_t k = j->first; k < j->first + j->ninputs; k++)
		if (greedy_is_of_turn(turn, j, k) == arrived && !isnan(y->slack[k]))
			least = fmin(least, y->slack[k]);
	return least;
}

/* The place of what came last, of each stream. */
struct last_of_streams { struct ids keys; double *last; size_t n; };

static double *last_of_stream(struct last_of_streams *s, const struct graph_turn *turn)
{
	uint64_t key = (uint64_t)turn->queue << 32 | turn->stream;
	if (ids_add(&s->keys, key))
		*MEM_GROW(s->last, s->n) = -INFINITY;
	return &s->last[ids_find(&s->keys, key)];
}

/* Behind everybody before it; returns by how much that is later than it seems. */
static double stand_behind(double *last, double seems)
{
	double place = fmax(seems, *last + 1);
	*last = place;
	return place - seems;
}

/* Who had his turn before another had come first, whatever their stamps say: the queue is not quite fair, or they came
 * within less than it takes to stand in it. In another run they would be apart by as much. Where some take only what is of
 * one stream, that has come before all else of it. */
static void find_late(struct greedy *y)
{
	const struct graph *g = y->g;
	double *last = mem_resize(NULL, 2 * g->nqueues + 1, sizeof *last);
	struct last_of_streams streams = { .n = 0 };
	for (size_t q = 0; q < 2 * g->nqueues; q++)
		last[q] = -INFINITY;
	for (size_t i = 0; i < g->nturns; i++) {
		const struct graph_turn *turn = &g->turns[i];
		double waits = greedy_least_slack(y, turn, false), arrived = greedy_least_slack(y, turn, true);
		if (!isinf(waits))
			y->had[i].late = stand_behind(&last[2 * turn->queue], y->had[i].at - waits);
		y->queues[turn->queue].barges |= g->queues[turn->queue].kind == GRAPH_LOCK || y->had[i].late > y->had[i].handed;
		if (!isinf(arrived))
			y->had[i].came_late = stand_behind(y->queues[turn->queue].names ? last_of_stream(&streams, turn)
											: &last[2 * turn->queue + 1],
							   y->had[i].at - arrived);
	}
	free(last);
	ids_free(&streams.keys);
	free(streams.last);
}

/* Who looked at several, until nobody knows what, and then took something that arrived: that is what it looked for, so
 * looking takes no time of its own. */
static void find_looks(struct greedy *y)
{
	const struct graph *g = y->g;
	const struct greedy_point *look = NULL;
	for (size_t i = 0; i < y->npoints; i++) {
		const struct greedy_point *p = &y->points[i];
		if (p->what != GRAPH_WAITS)
			continue;
		uint32_t turn = y->turn_of[p->number];
		bool takes = turn != GREEDY_NONE && g->queues[g->turns[turn].queue].kind == GRAPH_INBOX;
		if (look && takes && look->thread == p->thread) {
			const struct graph_node *j = &g->nodes[look->number];
			y->slack[j->first] = look->at - y->came[j->first];
			for (uint32_t k = 1; k < j->ninputs; k++) /* no more than that */
				y->slack[j->first + k] = NAN;
			y->looks++;
			y->unknown -= !graph_is_presumed(j);
		}
		look = g->nodes[p->number].kind == GRAPH_UNKNOWN && turn == GREEDY_NONE ? p : NULL;
		y->unknown += look && !graph_is_presumed(&g->nodes[look->number]);
	}
}

/* The next point of the same thread at which something was waited for; or NULL. */
static const struct greedy_point *next_wait(const struct greedy *y, const struct greedy_point *p)
{
	for (const struct greedy_point *next = p + 1; next < y->points + y->npoints && next->thread == p->thread; next++)
		if (next->what == GRAPH_WAITS && y->g->nodes[next->number].kind != GRAPH_UNKNOWN)
			return next;
	return NULL;
}

/* Work in pieces that went on until a message from anyone was there (graph_polls.c) is part of the wait for it: another may come
 * first now. It comes as long before the end of that wait as before the end of the last piece. */
static void find_rows(struct greedy *y)
{
	const struct graph *g = y->g;
	for (size_t i = 0; i < y->npoints; i++) {
		const struct greedy_point *p = &y->points[i], *next = p->ends ? next_wait(y, p) : NULL;
		uint32_t turn = next ? y->turn_of[next->number] : GREEDY_NONE;
		if (!greedy_is_inbox(y, turn))
			continue;
		const struct graph_node *row = &g->nodes[p->number];
		uint32_t last = row->first + row->ninputs - 1, message = g->nodes[next->number].first + g->turns[turn].first;
		if (row->kind != GRAPH_SYNC || g->inputs[last].thread != g->inputs[message].thread ||
		    g->inputs[last].stamp != g->inputs[message].stamp)
			continue;
		double lasted = p->at - y->came[row->first];
		y->slack[message] = fmax(y->slack[last] - y->slack[row->first] - lasted, 0);
		y->slack[row->first] = lasted;
		for (uint32_t k = row->first + 1; k <= last; k++)
			y->slack[k] = NAN;
		y->looks++;
	}
}

/* Of what a queue's permits are given by: the queue, and the thread. */
struct permit_givers { uint64_t *v; size_t n; };

static uint64_t giver(uint32_t queue, uint32_t thread)
{
	return (uint64_t)queue << 32 | thread;
}

static struct permit_givers find_givers(const struct greedy *y)
{
	struct permit_givers g = { NULL, 0 };
	for (size_t i = 0; i < y->npoints; i++) {
		const struct greedy_point *p = &y->points[i];
		if (p->what == GRAPH_RELEASES && y->g->queues[p->number].kind == GRAPH_PERMITS)
			*MEM_GROW(g.v, g.n) = giver(p->number, p->thread);
	}
	if (g.n)
		qsort(g.v, g.n, sizeof *g.v, order_uint64);
	return g;
}

static bool gives(const struct permit_givers *g, uint64_t of)
{
	size_t at = SEARCH(g->n, mid, g->v[mid] < of);
	return at < g->n && g->v[at] == of;
}

/* Who has a permit at a node was woken at a lock: neither by that signal, nor by who gives none. */
static void leave_to_permit(struct greedy *y, const struct permit_givers *givers, const struct graph_node *lock,
			    const struct graph_turn *permit)
{
	const struct graph *g = y->g;
	const struct graph_input *put = &g->inputs[g->nodes[permit->node].first + permit->first];
	uint32_t own = g->inputs[lock->first].thread, of = y->turn_of[lock - g->nodes];
	for (uint32_t k = lock->first + 1; k < lock->first + lock->ninputs; k++) {
		const struct graph_input *input = &g->inputs[k];
		bool holder = of != GREEDY_NONE && greedy_is_of_turn(&g->turns[of], lock, k);
		bool signal = input->thread == put->thread && input->stamp == put->stamp;
		if (signal || (!holder && input->thread != own && !gives(givers, giver(permit->queue, input->thread))))
			y->slack[k] = NAN;
	}
}

/* Whoever takes what a condition variable was signalled for takes one of those that are there (graph_conditions.c). */
static void find_permits(struct greedy *y)
{
	const struct graph *g = y->g;
	const struct greedy_point *woken = NULL;
	struct permit_givers givers = find_givers(y);
	for (size_t i = 0; i < y->npoints; i++) {
		const struct greedy_point *p = &y->points[i];
		if (p->what != GRAPH_WAITS)
			continue;
		const struct graph_node *j = &g->nodes[p->number];
		uint32_t turn = y->turn_of[p->number];
		bool permit = p->ends && turn != GREEDY_NONE && g->queues[g->turns[turn].queue].kind == GRAPH_PERMITS;
		if (permit && woken && woken->thread == p->thread)
			leave_to_permit(y, &givers, &g->nodes[woken->number], &g->turns[turn]);
		woken = j->kind == GRAPH_ARRIVAL && j->what == GRAPH_LOCKED ? p : woken;
	}
	free(givers.v);
}

bool greedy_knows(const struct greedy *y)
{
	return y->looks > 0 && y->unknown == 0 && y->g->trace->nclocks == 1;
}

/* Of each thread whether it takes whatever comes first. To be freed. */
static bool *find_listeners(const struct greedy *y)
{
	const struct graph *g = y->g;
	bool *listens = mem_resize(NULL, g->trace->nthreads + 1, sizeof *listens);
	memset(listens, 0, g->trace->nthreads + 1);
	for (uint32_t i = 0; i < g->nturns; i++)
		if (greedy_is_inbox(y, i))
			listens[g->inputs[g->nodes[g->turns[i].node].first].thread] = true;
	return listens;
}

static bool is_own_message(const struct greedy *y, const struct graph_input *input)
{
	const struct graph_node *j = &y->g->nodes[input->node];
	return j->kind == GRAPH_ARRIVAL && (j->what == GRAPH_RECEIVED || j->what == GRAPH_WAITED_FOR) &&
	       y->turn_of[input->node] == GREEDY_NONE && y->g->inputs[j->first].thread != input->thread;
}

/* Who waited until such a one called MPI again came while it was at work for others. In a replay he comes at another moment, when
 * it may be waiting; so he waits for no call that it made here. */
static void leave_out_calls(struct greedy *y)
{
	bool *listens = find_listeners(y);
	for (size_t i = 0; i < y->g->ninputs; i++) {
		const struct graph_input *input = &y->g->inputs[i];
		if (input->candidate && !input->receiver && listens[input->thread] && is_own_message(y, input))
			y->slack[i] = NAN;
	}
	free(listens);
}

static void count_inputs(struct greedy *y)
{
	const struct graph *g = y->g;
	y->waits_for = mem_zeroed(g->nnodes + 1, sizeof *y->waits_for);
	for (uint32_t i = 0; i < g->ninputs; i++) {
		uint32_t node = g->inputs[i].node, turn = y->turn_of[node];
		bool of_turn = turn != GREEDY_NONE && greedy_is_of_turn(&g->turns[turn], &g->nodes[node], i);
		y->waits_for[node] += !of_turn && !isnan(y->slack[i]);
	}
}

/* Of what a thread posts at the event of a point: that with which a send waits until the receive begins; or GREEDY_NONE. */
static uint32_t find_meeting(const struct greedy *y, size_t point)
{
	const struct greedy_point *p = y->points, *at = &p[point];
	size_t i = point;
	while (i > 0 && p[i - 1].thread == at->thread && p[i - 1].at >= at->at)
		i--;
	for (; i < y->npoints && p[i].thread == at->thread && p[i].at <= at->at; i++) {
		bool meets = p[i].what == GRAPH_POSTS && y->g->inputs[p[i].number].receiver && !isnan(y->slack[p[i].number]);
		if (meets && y->turn_of[y->g->inputs[p[i].number].node] == GREEDY_NONE)
			return p[i].number;
	}
	return GREEDY_NONE;
}

/* Who sends to whoever receives from anyone, and waits for that, waits for the receive that takes the message. */
static void find_meetings(struct greedy *y)
{
	const struct graph *g = y->g;
	y->receives = mem_resize(NULL, g->nturns + 1, sizeof *y->receives);
	memset(y->receives, 0xff, g->nturns * sizeof *y->receives);
	y->met_at = mem_zeroed(g->ninputs + 1, sizeof *y->met_at);
	for (size_t i = 0; i < y->npoints; i++) {
		const struct greedy_point *p = &y->points[i];
		uint32_t node = p->what == GRAPH_POSTS ? g->inputs[p->number].node : GREEDY_NONE;
		uint32_t turn = node == GREEDY_NONE ? GREEDY_NONE : y->turn_of[node];
		if (!greedy_is_inbox(y, turn) || p->number != greedy_begin_of(y, &g->nodes[node]))
			continue;
		uint32_t meets = find_meeting(y, i);
		y->receives[turn].meets = meets;
		if (meets != GREEDY_NONE)
			y->met_at[meets] = true;
	}
}

void greedy_prepare(struct greedy *y)
{
	size_t nthreads = y->g->trace->nthreads;
	while (y->nthreads_seen <= nthreads)
		y->first[y->nthreads_seen++] = (uint32_t)y->npoints;
	for (size_t i = 0; i < y->g->nnodes; i++) /* what was not said */
		if (y->g->nodes[i].ninputs && isnan(y->slack[greedy_begin_of(y, &y->g->nodes[i])]))
			y->slack[y->g->nodes[i].first] = 0;
	find_turns(y);
	find_rows(y);
	greedy_pass_attempts(y);
	greedy_find_services(y);
	find_looks(y);
	find_permits(y);
	leave_out_calls(y);
	find_meetings(y);
	count_inputs(y);
	find_handed(y);
	find_late(y);
	greedy_find_pieces(y);
	greedy_find_leaders(y);
	greedy_find_tasks(y);
	y->waits = mem_resize(NULL, y->g->nnodes, sizeof *y->waits);
	y->bodies = mem_resize(NULL, nthreads + 1, sizeof *y->bodies);
	y->heap.items = mem_resize(NULL, nthreads + y->g->nqueues + y->g->ngroups + 1, sizeof *y->heap.items);
}
