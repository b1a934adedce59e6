/* SPDX-License-Identifier: MIT
 *
 * greedy_leaders.c - what one of those who come does for all (graph/graph_leaders.c): who leads, and for whom, decided again.
 *
 * Who comes while nobody leads does so at once, and else stands there until that is over; then one of those who came too late for
 * it leads next. The n-th time takes as long as the n-th time here, and beyond those as long as the mean. Nothing is replayed of
 * how they waited: a body goes on where its thread went away. */
#include "analysis/coz/greedy_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/search.h"

/* Of each point of a group its visit; they are in the order of threads. */
static void find_visits(struct greedy *y)
{
	for (uint32_t i = 0; i < y->npoints; i++) {
		const struct greedy_point *p = &y->points[i];
		if ((p->what != GRAPH_REQUESTS && p->what != GRAPH_OBTAINS && p->what != GRAPH_FINISHES) || !y->g->groups[p->number].leads)
			continue;
		struct greedy_group *group = &y->groups[p->number];
		struct greedy_visit *v = group->nvisits ? &group->visits[group->nvisits - 1] : NULL;
		if (p->what == GRAPH_REQUESTS)
			*MEM_GROW(group->visits, group->nvisits) = (struct greedy_visit){ i, i, GREEDY_NONE, GREEDY_NONE, 0 };
		else if (p->what == GRAPH_FINISHES)
			v->left = i;
		else if (v->begins == GREEDY_NONE)
			v->begins = i;
		else
			v->ends = i;
	}
}

/* What each visit that leads does, from when it came, or the one before was over; in that order. */
static int by_end(const void *x, const void *y)
{
	const struct greedy_lead *a = x, *b = y;
	return ORDER_2(a, b, over, begins);
}

static void find_leads(const struct greedy *y, struct greedy_group *group)
{
	double last = -INFINITY;
	for (size_t i = 0; i < group->nvisits; i++) {
		const struct greedy_visit *v = &group->visits[i];
		if (v->ends != GREEDY_NONE)
			*MEM_GROW(group->leads, group->nleads) = (struct greedy_lead){ v->came, v->begins, v->ends, y->points[v->ends].at,
										       0, 0, 0 };
	}
	qsort(group->leads, group->nleads, sizeof *group->leads, by_end);
	for (size_t i = 0; i < group->nleads; i++) {
		struct greedy_lead *lead = &group->leads[i];
		double since = fmax(last, y->points[lead->came].at);
		lead->until_begins = fmax(y->points[lead->begins].at - since, 0);
		lead->took = lead->over - since;
		last = lead->over;
	}
}

/* How long behind such an end each went away. */
static void find_wakings(const struct greedy *y, struct greedy_group *group)
{
	for (size_t i = 0; i < group->nvisits; i++) {
		struct greedy_visit *v = &group->visits[i];
		double left = y->points[v->left].at;
		size_t by = SEARCH(group->nleads, mid, group->leads[mid].over <= left);
		double over = v->ends != GREEDY_NONE ? y->points[v->ends].at : by > 0 ? group->leads[by - 1].over : left;
		v->wakes = fmax(left - over, 0);
	}
}

/* ---- Whether they have to do with nothing else ------------------------------------------------------ */

/* Of each point the group in one of whose visits it is, before its end; or GREEDY_NONE. To be freed. */
static uint32_t *find_inside(const struct greedy *y)
{
	uint32_t *in = mem_resize(NULL, y->npoints + 1, sizeof *in);
	memset(in, 0xff, (y->npoints + 1) * sizeof *in);
	for (uint32_t i = 0; i < y->g->ngroups; i++)
		for (size_t k = 0; k < y->groups[i].nvisits; k++)
			for (uint32_t at = y->groups[i].visits[k].came; at < y->groups[i].visits[k].left; at++)
				in[at] = i;
	return in;
}

/* With the end of its thread, who does not come again, it wakes nobody: he is only counted (graph_alike.c). */
static bool is_at_thread_end(const struct greedy *y, const struct greedy_point *p)
{
	return p->at >= y->points[y->first[p->thread + 1] - 1].at;
}

static void forget(struct greedy *y, uint32_t group)
{
	if (group != GREEDY_NONE)
		y->groups[group].nvisits = 0;
}

#define UNWAITED (GREEDY_NONE - 1)

/* Who waits, or is waited for, inside of a visit and outside of all of that group: nothing is known of that group. (Of what is
 * passed over nobody waits for anything.) What else is shared out inside of visits is not. */
static void forget_open(struct greedy *y, const uint32_t *in)
{
	uint32_t *of = mem_resize(NULL, y->g->nnodes + 1, sizeof *of);
	for (size_t i = 0; i < y->g->nnodes; i++)
		of[i] = UNWAITED;
	for (size_t i = 0; i < y->npoints; i++)
		if (y->points[i].what == GRAPH_WAITS)
			of[y->points[i].number] = in[i];
	const struct greedy_point *last = NULL;
	for (size_t i = 0; i < y->npoints; i++) {
		const struct greedy_point *p = &y->points[i];
		last = p->what == GRAPH_FINISHES && y->g->groups[p->number].leads ? p : last;
		uint32_t node = p->what == GRAPH_POSTS && !isnan(y->slack[p->number]) ? y->g->inputs[p->number].node : GREEDY_NONE;
		bool at_end = last && last->thread == p->thread && last->at >= p->at;
		if (node != GREEDY_NONE && of[node] != UNWAITED && of[node] != in[i] && !at_end && !is_at_thread_end(y, p)) {
			forget(y, of[node]);
			forget(y, in[i]);
		}
		if (p->what == GRAPH_REQUESTS && in[i] != GREEDY_NONE && p->number != in[i])
			y->groups[p->number].npieces = y->groups[p->number].nown = 0;
	}
	free(of);
}

void greedy_find_leaders(struct greedy *y)
{
	bool any = false;
	for (size_t i = 0; i < y->g->ngroups; i++)
		any |= y->g->groups[i].leads;
	if (!any)
		return;
	find_visits(y);
	for (size_t i = 0; i < y->g->ngroups; i++) {
		find_leads(y, &y->groups[i]);
		find_wakings(y, &y->groups[i]);
	}
	uint32_t *in = find_inside(y);
	forget_open(y, in);
	free(in);
}

/* ---- In a replay ------------------------------------------------------------------------------------- */

static double less_between(const struct greedy *y, uint32_t from, uint32_t to)
{
	double less = 0;
	for (uint32_t i = from + 1; i <= to; i++)
		less += y->points[i].less;
	return less;
}

static struct greedy_lead mean_of(const struct greedy_group *group)
{
	struct greedy_lead mean = { 0 };
	for (size_t i = 0; i < group->nleads; i++) {
		const struct greedy_lead *lead = &group->leads[i];
		double n = (double)(i + 1);
		mean.until_begins += (lead->until_begins - mean.until_begins) / n;
		mean.took += (lead->took - mean.took) / n;
		mean.less += (lead->less - mean.less) / n;
	}
	return mean;
}

void greedy_begin_leaders(struct greedy *y)
{
	for (size_t i = 0; i < y->g->ngroups; i++) {
		struct greedy_group *group = &y->groups[i];
		group->led = group->ncome = 0;
		group->is_led = false;
		for (size_t k = 0; k < group->nleads; k++)
			group->leads[k].less = less_between(y, group->leads[k].begins, group->leads[k].ends);
	}
}

static void lead(struct greedy *y, uint32_t number, double from)
{
	struct greedy_group *group = &y->groups[number];
	struct greedy_lead does = group->led < group->nleads ? group->leads[group->led] : mean_of(group);
	group->led++;
	group->is_led = true;
	group->begins = from + does.until_begins;
	group->over = from + fmax(does.took - y->share * does.less, does.until_begins);
	heap_add(&y->heap, heap_key((int64_t)group->over), (uint32_t)(y->g->trace->nthreads + y->g->nqueues) + number);
}

/* It goes on where its thread went away. */
static void go_away(struct greedy *y, struct greedy_body *b, const struct greedy_group *group)
{
	size_t visit = SEARCH(group->nvisits, mid, group->visits[mid].came < b->point);
	const struct greedy_visit *v = &group->visits[visit];
	double when = group->over + v->wakes;
	b->saving = y->points[v->left].at - when;
	for (; b->point < v->left; b->point++, y->passed++)
		if (y->points[b->point].what == GRAPH_PROBE)
			y->found[y->points[b->point].number] = b->saving;
	heap_add(&y->heap, heap_key((int64_t)when), (uint32_t)(b - y->bodies));
}

bool greedy_come_to_lead(struct greedy *y, struct greedy_body *b, uint32_t number)
{
	struct greedy_group *group = &y->groups[number];
	if (group->nvisits == 0 || y->points[b->point].what != GRAPH_REQUESTS)
		return false;
	*MEM_GROW(group->come, group->ncome) = (struct greedy_come){ (uint32_t)(b - y->bodies), y->now };
	if (!group->is_led)
		lead(y, number, y->now);
	y->changed = true;
	return true;
}

void greedy_end_lead(struct greedy *y, uint32_t number)
{
	struct greedy_group *group = &y->groups[number];
	size_t left = 0;
	for (size_t i = 0; i < group->ncome; i++) {
		if (group->come[i].at <= group->begins)
			go_away(y, &y->bodies[group->come[i].body], group);
		else
			group->come[left++] = group->come[i];
	}
	group->ncome = left;
	group->is_led = false;
	if (left > 0)
		lead(y, number, group->over);
}
