/* SPDX-License-Identifier: MIT
 *
 * greedy_services.c - what a thread does with each message from anyone: which points are behind it. */
#include "analysis/coz/greedy_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/ids.h"
#include "analysis/base/memory.h"

/* Where each node's wait is over: a point, or GREEDY_NONE. */
static uint32_t *find_ends(const struct greedy *y)
{
	uint32_t *over = mem_resize(NULL, y->g->nnodes + 1, sizeof *over);
	memset(over, 0xff, y->g->nnodes * sizeof *over);
	for (uint32_t i = 0; i < y->npoints; i++)
		if (y->points[i].what == GRAPH_WAITS)
			over[y->points[i].number] = i;
	return over;
}

static bool is_absent(const struct greedy *y, uint32_t point)
{
	return y->points[point].what == GRAPH_POSTS && isnan(y->slack[y->points[point].number]);
}

/* Whether what a thread does at a point is part of how it looks for the message for which it waits from another one on: it begins
 * with that, or is through with its row of pieces. */
static bool looks_on(const struct greedy *y, uint32_t point, uint32_t from, const uint32_t *over)
{
	const struct greedy_point *p = &y->points[point];
	if (p->what != GRAPH_POSTS)
		return p->what == GREEDY_PASSED || (p->what == GRAPH_WAITS && p->ends);
	uint32_t end = over[y->g->inputs[p->number].node];
	if (is_absent(y, point) || end == GREEDY_NONE) /* its wait is passed over */
		return true;
	return y->points[end].thread == p->thread && (end >= from || y->points[end].ends);
}

/* Where a service ends whose thread waits for the next message from anyone at a point, or does nothing more. */
static uint32_t end_of_service(const struct greedy *y, uint32_t first, uint32_t next, const uint32_t *over)
{
	const struct greedy_point *p = y->points;
	if (next == y->first[p[first - 1].thread + 1])
		return next;
	uint32_t begins = y->g->nodes[p[next].number].first;
	while (next > first && (p[next].what != GRAPH_POSTS || p[next].number != begins))
		next--;
	while (next > first && looks_on(y, next - 1, next, over))
		next--;
	return next;
}

static uint64_t of_both(uint32_t queue, uint32_t other)
{
	return (uint64_t)queue << 32 | other;
}

/* Whether another message of that sender is waited for, and of nobody else: what belongs to the first one, most likely. */
static bool hears_more(const struct greedy *y, const struct greedy_point *p, uint32_t sender)
{
	const struct graph_node *j = &y->g->nodes[p->number];
	bool more = false;
	if (p->what != GRAPH_WAITS || j->kind != GRAPH_ARRIVAL || j->what != GRAPH_RECEIVED)
		return false;
	for (uint32_t k = j->first; k < j->first + j->ninputs; k++) {
		uint32_t from = y->g->inputs[k].thread;
		if (!isnan(y->slack[k]) && from != p->thread && from != sender)
			return false;
		more |= from == sender;
	}
	return more;
}

/* Whom a service gives something: who sent its message, or others who send there. Who hears more of that one does so of each. */
static void note_gifts(struct greedy *y, uint32_t turn, const uint32_t *over, const struct ids *senders)
{
	const struct graph *g = y->g;
	struct greedy_service *s = &y->services[turn];
	uint32_t sender = greedy_sender_of(y, turn), queue = g->turns[turn].queue;
	bool absent, *others = &y->queues[queue].gives_others;
	for (uint32_t i = s->first; i < s->end; i++) {
		s->answers |= hears_more(y, &y->points[i], sender);
		uint32_t end = y->points[i].what == GRAPH_POSTS ? over[g->inputs[y->points[i].number].node] : GREEDY_NONE;
		uint32_t to = end == GREEDY_NONE ? GREEDY_NONE : y->points[end].thread;
		s->answers |= to == sender;
		absent = to == GREEDY_NONE || is_absent(y, i);
		*others |= !absent && to != sender && ids_find(senders, of_both(queue, to)) != SIZE_MAX;
	}
	y->queues[queue].answers |= s->answers;
}

/* From one point on, but for what nobody waits for. */
static uint32_t count_between(const struct greedy *y, uint32_t first, uint32_t end)
{
	uint32_t n = 0;
	for (; first < end; first++)
		n += !is_absent(y, first);
	return n;
}

/* Behind so many of them. */
static uint32_t behind_points(const struct greedy *y, uint32_t first, uint32_t end, uint32_t n)
{
	for (; first < end && (n > 0 || is_absent(y, first)); first++)
		n -= !is_absent(y, first);
	return first;
}

/* Behind the end of each wait that begins before there: in a replay it does not begin where another message is served. (Who waits
 * for nobody knows what may already look for the next message.) */
static uint32_t behind_waits(const struct greedy *y, uint32_t first, uint32_t end, uint32_t most, const uint32_t *over)
{
	for (; first < end; first++) {
		const struct greedy_point *p = &y->points[first];
		uint32_t node = p->what == GRAPH_POSTS ? y->g->inputs[p->number].node : GREEDY_NONE;
		bool known = node != GREEDY_NONE && y->g->nodes[node].kind != GRAPH_UNKNOWN;
		bool begins = known && p->number == greedy_begin_of(y, &y->g->nodes[node]);
		if (begins && over[node] >= end && over[node] < most && y->points[over[node]].thread == p->thread)
			end = over[node] + 1;
	}
	return end;
}

/* Where some messages are answered, each to whom it is from alone, what is done with any goes with it. Who gives something to
 * several at once, when all have come, does that whoever comes last. */
static void find_answers(struct greedy *y, const uint32_t *over)
{
	struct ids senders = { .n = 0 };
	for (int known = 0; known < 2; known++)
		for (uint32_t i = 0; i < y->g->nturns; i++)
			if (y->services[i].waits != GREEDY_NONE && known)
				note_gifts(y, i, over, &senders);
			else if (y->services[i].waits != GREEDY_NONE)
				ids_add(&senders, of_both(y->g->turns[i].queue, greedy_sender_of(y, i)));
	ids_free(&senders);
}

#define ENOUGH_OF_A_KIND 4 /* messages */

/* Of the messages of each inbox, and of those with one tag, how many there were, and the least number of points behind one. */
struct shortest { struct ids keys; struct shortest_of { uint32_t points, messages; } *v; size_t n; };

static struct shortest_of *shortest_of(struct shortest *s, uint64_t key)
{
	if (ids_add(&s->keys, key))
		*MEM_GROW(s->v, s->n) = (struct shortest_of){ UINT32_MAX, 0 };
	return &s->v[ids_find(&s->keys, key)];
}

static struct shortest_of *shortest_of_inbox(struct shortest *s, const struct graph_turn *turn)
{
	return shortest_of(s, of_both(turn->queue, UINT32_MAX));
}

static struct shortest_of *shortest_of_kind(struct shortest *s, const struct graph_turn *turn)
{
	return shortest_of(s, of_both(turn->queue, turn->kind));
}

static void note_points(struct shortest_of *of, uint32_t points)
{
	of->points = points < of->points ? points : of->points;
	of->messages++;
}

/* From each wait for a message up to the next one. */
static void find_all(struct greedy *y, const uint32_t *over, struct shortest *least)
{
	uint32_t next = (uint32_t)y->npoints;
	for (uint32_t i = (uint32_t)y->npoints; i-- > 0;) {
		const struct greedy_point *p = &y->points[i];
		uint32_t turn = p->what == GRAPH_WAITS ? y->turn_of[p->number] : GREEDY_NONE, first = i + 1;
		y->shares[p->thread] |= p->what == GRAPH_REQUESTS || p->what == GRAPH_RUNS;
		if (!greedy_is_inbox(y, turn) || y->g->turns[turn].named)
			continue;
		next = next < y->first[p->thread + 1] ? next : y->first[p->thread + 1];
		while (first < next && y->points[first].at == p->at)
			first++;
		uint32_t end = end_of_service(y, first, next, over), n = count_between(y, first, end);
		bool last = next == y->first[p->thread + 1];
		next = i;
		if (y->g->turns[turn].n > 1) /* it is done with all of them */
			continue;
		note_points(shortest_of_inbox(least, &y->g->turns[turn]), n);
		note_points(shortest_of_kind(least, &y->g->turns[turn]), n);
		y->services[turn] = (struct greedy_service){ i, first, end, last, false };
	}
}

/* As many points as behind any other message of the same inbox, or of the same tag: what comes only behind some, such as a barrier,
 * is no part of it. */
void greedy_find_services(struct greedy *y)
{
	const struct graph *g = y->g;
	struct shortest least = { .n = 0 };
	uint32_t *over = find_ends(y);
	y->services = mem_resize(NULL, g->nturns + 1, sizeof *y->services);
	memset(y->services, 0xff, g->nturns * sizeof *y->services);
	y->shares = mem_zeroed(g->trace->nthreads + 1, sizeof *y->shares);
	find_all(y, over, &least);
	for (uint32_t i = 0; i < g->nturns; i++) {
		struct greedy_service *s = &y->services[i];
		if (s->waits == GREEDY_NONE)
			continue;
		struct shortest_of kind = *shortest_of_kind(&least, &g->turns[i]), all = *shortest_of_inbox(&least, &g->turns[i]);
		uint32_t end = behind_points(y, s->first, s->end, kind.messages < ENOUGH_OF_A_KIND ? all.points : kind.points);
		end = behind_waits(y, s->first, end, s->end, over);
		s->open |= end != s->end;
		s->end = end;
	}
	find_answers(y, over);
	ids_free(&least.keys);
	free(least.v);
	free(over);
}
