/* SPDX-License-Identifier: MIT
 *
 * greedy_services.c - what a thread does with each message from anyone: which points are behind it. */
#include "analysis/coz/greedy_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"

/* Where a service ends whose thread waits for the next message from anyone at a point, or does nothing more. */
static uint32_t end_of_service(const struct greedy *y, uint32_t first, uint32_t next)
{
	const struct greedy_point *p = y->points;
	if (next == y->first[p[first - 1].thread + 1])
		return next;
	uint32_t begins = y->g->nodes[p[next].number].first;
	while (next > first && (p[next].what != GRAPH_POSTS || p[next].number != begins))
		next--;
	return next;
}

/* Who waits for each node. */
static uint32_t *find_waiters(const struct greedy *y)
{
	uint32_t *waiters = mem_resize(NULL, y->g->nnodes + 1, sizeof *waiters);
	memset(waiters, 0xff, y->g->nnodes * sizeof *waiters);
	for (size_t i = 0; i < y->npoints; i++)
		if (y->points[i].what == GRAPH_WAITS)
			waiters[y->points[i].number] = y->points[i].thread;
	return waiters;
}

static bool gives_back(const struct greedy *y, const struct greedy_service *s, uint32_t sender, const uint32_t *waiters)
{
	const struct graph *g = y->g;
	for (uint32_t i = s->first; i < s->end; i++)
		if (y->points[i].what == GRAPH_POSTS && waiters[g->inputs[y->points[i].number].node] == sender)
			return true;
	return false;
}

static bool is_absent(const struct greedy *y, uint32_t point)
{
	return y->points[point].what == GRAPH_POSTS && isnan(y->slack[y->points[point].number]);
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

/* As many points as behind any other message of the same inbox: what comes only behind some, such as a barrier, is no part of it. */
void greedy_find_services(struct greedy *y)
{
	const struct graph *g = y->g;
	y->services = mem_resize(NULL, g->nturns + 1, sizeof *y->services);
	memset(y->services, 0xff, g->nturns * sizeof *y->services);
	y->shares = mem_resize(NULL, g->trace->nthreads + 1, sizeof *y->shares);
	memset(y->shares, 0, g->trace->nthreads * sizeof *y->shares);
	uint32_t *least = mem_resize(NULL, g->nqueues + 1, sizeof *least), next = (uint32_t)y->npoints;
	memset(least, 0xff, g->nqueues * sizeof *least);
	for (uint32_t i = (uint32_t)y->npoints; i-- > 0;) {
		const struct greedy_point *p = &y->points[i];
		uint32_t turn = p->what == GRAPH_WAITS ? y->turn_of[p->number] : GREEDY_NONE, first = i + 1;
		y->shares[p->thread] |= p->what == GRAPH_COMES;
		if (!greedy_is_inbox(y, turn))
			continue;
		next = next < y->first[p->thread + 1] ? next : y->first[p->thread + 1];
		while (first < next && y->points[first].at == p->at)
			first++;
		uint32_t end = end_of_service(y, first, next), *known = &least[g->turns[turn].queue];
		uint32_t n = count_between(y, first, end);
		*known = n < *known ? n : *known;
		y->services[turn] = (struct greedy_service){ i, first, end, next == y->first[p->thread + 1], false };
		next = i;
	}
	uint32_t *waiters = find_waiters(y);
	for (uint32_t i = 0; i < g->nturns; i++) {
		struct greedy_service *s = &y->services[i];
		if (s->waits == GREEDY_NONE)
			continue;
		uint32_t end = behind_points(y, s->first, s->end, least[g->turns[i].queue]);
		s->open |= end != s->end;
		s->end = end;
		s->answers = gives_back(y, s, greedy_sender_of(y, i), waiters);
	}
	free(waiters);
	free(least);
}
