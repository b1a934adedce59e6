/* SPDX-License-Identifier: MIT
 *
 * greedy_pieces.c - pieces of work that whoever comes next has, and batches of a queue.
 *
 * How long a piece takes is its own, in whichever thread. But where each thread's took about as long, and some thread's longer than
 * another's, it is the thread that decides that (another kind of core, or a program that says so): then who has a piece of another
 * thread takes as long for it as for its own. */
#include "analysis/coz/greedy_private.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/search.h"

static int by_time(const void *x, const void *y)
{
	const struct greedy_piece *a = x, *b = y;
	return ORDER_2(a, b, at, point);
}

/* They are in the order of threads. */
static void sort_pieces(const struct greedy *y, struct greedy_group *group)
{
	size_t n = 0;
	for (size_t i = 0; i < group->npieces; i++) {
		struct greedy_piece *p = &group->pieces[i];
		bool last = i + 1 == group->npieces || y->points[p[0].point].thread != y->points[p[1].point].thread;
		if (last || y->points[p->point].what == GRAPH_FINISHES)
			*MEM_GROW(group->own, group->nown) = (struct greedy_own){ p->point, false };
		else
			group->pieces[n++] = *p;
	}
	group->npieces = n;
	if (n)
		qsort(group->pieces, n, sizeof *group->pieces, by_time);
}

static bool are_of_several(const struct greedy *y, const struct greedy_group *group)
{
	for (size_t i = 1; i < group->npieces; i++)
		if (y->points[group->pieces[i].point].thread != y->points[group->pieces[0].point].thread)
			return true;
	return false;
}

/* When everything was left in a queue, in order. To be freed. */
static double *find_left(const struct greedy *y, uint32_t queue, size_t *n)
{
	double *left = NULL;
	*n = 0;
	for (size_t i = 0; i < y->npoints; i++)
		if (y->points[i].what == GRAPH_RELEASES && y->points[i].number == queue)
			*MEM_GROW(left, *n) = y->points[i].at;
	if (*n)
		qsort(left, *n, sizeof *left, order_doubles);
	return left;
}

static bool is_turn_at(const struct greedy *y, const struct greedy_point *p, uint32_t queue)
{
	uint32_t turn = p->what == GRAPH_WAITS ? y->turn_of[p->number] : GREEDY_NONE;
	return turn != GREEDY_NONE && y->g->turns[turn].queue == queue;
}

/* Of a group's batches, which are those of one thread, in its order. Their turns come soon behind. */
static void find_batches(struct greedy *y, uint32_t number)
{
	struct greedy_group *group = &y->groups[number];
	uint32_t queue = y->g->groups[number].queue;
	struct greedy_queue *q = &y->queues[queue];
	size_t n, k = 0;
	double *left = find_left(y, queue, &n);
	for (size_t i = 0; i < group->npieces; i++) {
		uint32_t at = group->pieces[i].point, end = y->first[y->points[at].thread + 1];
		while (at < end && !is_turn_at(y, &y->points[at], queue))
			at++;
		if (at == end) {
			group->npieces = i;
			break;
		}
		while (k < n && left[k] <= y->points[at].at)
			k++;
		group->pieces[i].left = k;
		q->last_at = at;
		q->last_turn = y->turn_of[y->points[at].number];
		q->all = k;
	}
	free(left);
}

/* ---- How long they take ------------------------------------------------------------------------ */

#define SOME_PIECES   2   /* of each thread, */
#define ENOUGH_PIECES 6   /* and of all */
#define ABOUT_AS_LONG 1.5 /* times the shortest */
#define LONGER        1.2 /* times another's longest */

/* Without what is waited for meanwhile. */
static double length_of(const struct greedy *y, const struct greedy_piece *p)
{
	double length = 0;
	for (uint32_t i = p->point + 1; i <= p->ends; i++)
		length += greedy_works_until(y, i);
	return length;
}

static struct greedy_pace *pace_of(const struct greedy_group *group, uint32_t thread)
{
	size_t at = SEARCH(group->npaces, mid, group->paces[mid].thread < thread);
	return at < group->npaces && group->paces[at].thread == thread ? &group->paces[at] : NULL;
}

static void add_length(struct greedy_group *group, uint32_t thread, double length)
{
	if (group->npaces == 0 || group->paces[group->npaces - 1].thread != thread)
		*MEM_GROW(group->paces, group->npaces) = (struct greedy_pace){ .thread = thread, .least = INFINITY };
	struct greedy_pace *pace = &group->paces[group->npaces - 1];
	pace->took += (length - pace->took) / (double)++pace->n;
	pace->least = fmin(pace->least, length);
	pace->most = fmax(pace->most, length);
}

static bool are_of_threads(const struct greedy_group *group)
{
	double least_most = INFINITY, most_least = 0;
	size_t n = 0;
	for (size_t i = 0; i < group->npaces; i++) {
		const struct greedy_pace *pace = &group->paces[i];
		if (pace->n < SOME_PIECES || pace->most > ABOUT_AS_LONG * pace->least)
			return false;
		n += pace->n;
		least_most = fmin(least_most, pace->most);
		most_least = fmax(most_least, pace->least);
	}
	return n >= ENOUGH_PIECES && most_least > LONGER * least_most;
}

/* Of pieces that are in the order of threads: what was done from when its thread came for it until it came for the next one; it may
 * have come before it was through with the last. */
static void find_paces_of(const struct greedy *y, struct greedy_group *group)
{
	for (size_t i = 0; i + 1 < group->npieces; i++) {
		struct greedy_piece *p = &group->pieces[i];
		uint32_t thread = y->points[p->point].thread;
		if (isinf(p->at) || y->points[p[1].point].thread != thread)
			continue;
		p->ends = p[1].point;
		add_length(group, thread, length_of(y, p));
	}
	if (!are_of_threads(group))
		group->npaces = 0;
}

static double less_in(const struct greedy *y, const struct greedy_piece *p)
{
	double less = 0;
	for (uint32_t i = p->point + 1; i <= p->ends; i++)
		less += y->points[i].less;
	return less;
}

void greedy_find_paces(struct greedy *y)
{
	for (size_t i = 0; i < y->g->ngroups; i++) {
		struct greedy_group *group = &y->groups[i];
		for (size_t k = 0; k < group->npaces; k++)
			group->paces[k].less = 0;
		for (size_t k = 0; k < group->npieces && group->npaces; k++) {
			const struct greedy_piece *p = &group->pieces[k];
			struct greedy_pace *pace = p->ends == GREEDY_NONE ? NULL : pace_of(group, y->points[p->point].thread);
			if (pace)
				pace->less += less_in(y, p) / (double)pace->n;
		}
	}
}

double greedy_slower(const struct greedy *y, const struct greedy_group *group, const struct greedy_piece *p, uint32_t thread)
{
	bool own = p->ends == GREEDY_NONE || y->points[p->point].thread == thread;
	const struct greedy_pace *pace = group->npaces && !own ? pace_of(group, thread) : NULL;
	double length = pace ? length_of(y, p) : 0;
	return length > 0 ? (pace->took - y->share * pace->less - length + y->share * less_in(y, p)) / length : 0;
}

void greedy_find_pieces(struct greedy *y)
{
	const struct graph *g = y->g;
	y->groups = mem_zeroed(g->ngroups + 1, sizeof *y->groups);
	for (size_t i = 0; i < y->npoints; i++) {
		const struct greedy_point *p = &y->points[i];
		bool of_group = p->what == GRAPH_REQUESTS || p->what == GRAPH_FINISHES || p->what == GRAPH_OBTAINS;
		if (of_group && g->groups[p->number].leads)
			continue;
		if (p->what == GRAPH_REQUESTS || p->what == GRAPH_FINISHES)
			*MEM_GROW(y->groups[p->number].pieces, y->groups[p->number].npieces) =
				(struct greedy_piece){ .at = INFINITY, .point = (uint32_t)i, .ends = GREEDY_NONE, .behind = GREEDY_NONE };
		else if (p->what == GRAPH_OBTAINS)
			y->groups[p->number].pieces[y->groups[p->number].npieces - 1].at = p->at;
	}
	for (size_t i = 0; i < g->ngroups; i++) {
		if (g->groups[i].batches) {
			find_batches(y, (uint32_t)i);
			continue;
		}
		find_paces_of(y, &y->groups[i]);
		sort_pieces(y, &y->groups[i]);
		if (g->groups[i].many || (g->groups[i].one && are_of_several(y, &y->groups[i])))
			y->groups[i].npieces = y->groups[i].nown = 0;
		else if (g->groups[i].one && y->groups[i].npieces > 1)
			y->groups[i].npieces = 1; /* with all that is behind it */
	}
	greedy_find_ready(y);
}
