/* SPDX-License-Identifier: MIT
 *
 * greedy.c - who comes first, decided again: what that saves. */
#include "analysis/coz/greedy_private.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/base/memory.h"

static double middle(frz_time t)
{
	return (double)t.lo + (double)(t.hi - t.lo) / 2;
}

static size_t count_points(const struct graph *g)
{
	size_t n = 0;
	for (size_t t = 0; t < g->trace->nthreads; t++)
		n += g->threads[t].nsyncs;
	return n;
}

static size_t count_probes(const struct graph *g)
{
	size_t n = 0;
	for (size_t t = 0; t < g->trace->nthreads; t++)
		for (size_t i = 0; i < g->threads[t].nsyncs; i++)
			n += g->threads[t].syncs[i].what == GRAPH_PROBE;
	return n;
}

static bool nothing_to_decide(const struct graph *g)
{
	return g->nturns == 0 && g->ngroups == 0 && g->ntask_runs == 0;
}

bool greedy_too_many(const struct graph *g, size_t scenarios)
{
	size_t n = nothing_to_decide(g) ? 0 : count_points(g);
	return n > GREEDY_POINTS || n * scenarios > GREEDY_MOST;
}

struct greedy *greedy_open(const struct graph *g, const struct savings *all)
{
	size_t n = nothing_to_decide(g) ? 0 : count_points(g);
	if (n == 0 || n > GREEDY_POINTS)
		return NULL;
	struct greedy *y = mem_resize(NULL, 1, sizeof *y);
	*y = (struct greedy){ .g = g, .all = all, .nprobes = count_probes(g), .region = SIZE_MAX };
	y->points = mem_resize(NULL, n, sizeof *y->points);
	y->first = mem_resize(NULL, g->trace->nthreads + 1, sizeof *y->first);
	y->came = mem_resize(NULL, g->ninputs + 1, sizeof *y->came);
	y->slack = mem_resize(NULL, g->ninputs + 1, sizeof *y->slack);
	for (size_t i = 0; i < g->ninputs; i++)
		y->slack[i] = NAN;
	y->found = mem_resize(NULL, y->nprobes + 1, sizeof *y->found);
	return y;
}

void greedy_close(struct greedy *y)
{
	if (!y)
		return;
	for (size_t q = 0; y->queues && q < y->g->nqueues; q++) {
		free(y->queues[q].waiting.v);
		free(y->queues[q].arrived.v);
	}
	for (size_t i = 0; y->groups && i < y->g->ngroups; i++) {
		free(y->groups[i].pieces);
		free(y->groups[i].own);
		free(y->groups[i].paces);
		free(y->groups[i].visits);
		free(y->groups[i].leads);
		free(y->groups[i].come);
	}
	greedy_close_tasks(y);
	void *arrays[] = { y->points, y->less, y->first, y->came, y->slack, y->turn_of, y->waits_for, y->waits, y->had,
			   y->services, y->receives, y->met_at, y->shares, y->queues, y->groups, y->openings, y->bodies,
			   y->heap.items, y->baseline, y->found };
	for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
		free(arrays[i]);
	free(y);
}

/* What was less behind the last point of the thread before moves none. */
static void comes_to(struct greedy *y, uint32_t thread)
{
	while (y->of_thread != thread && y->nless > 0 && y->less[y->nless - 1].point == y->npoints)
		y->nless--;
	y->of_thread = thread;
}

void greedy_cut(struct greedy *y, uint32_t thread, size_t region, frz_time duration)
{
	comes_to(y, thread);
	*MEM_GROW(y->less, y->nless) = (struct greedy_less){ (uint32_t)y->npoints, (uint32_t)region, middle(duration) };
}

void greedy_point(struct greedy *y, uint32_t thread, const struct graph_sync_point *s, frz_time at)
{
	comes_to(y, thread);
	while (y->nthreads_seen <= thread)
		y->first[y->nthreads_seen++] = (uint32_t)y->npoints;
	uint8_t what = s->what == GRAPH_ENDS ? GRAPH_WAITS : (uint8_t)s->what;
	y->points[y->npoints++] = (struct greedy_point){ middle(at), 0, thread, s->number, what, s->what == GRAPH_ENDS, false };
	if (s->what == GRAPH_POSTS)
		y->came[s->number] = middle(at);
}

/* The last that can have been waited for was. Whoever else runs a task, or waits for tasks, waits for what its thread did here,
 * too. */
void greedy_slacks(struct greedy *y, const struct graph_node *j, const struct slack *slack)
{
	double least = INFINITY;
	bool moves = j->kind == GRAPH_ARRIVAL && (j->what == GRAPH_TASK_BEGAN || j->what == GRAPH_TASKS_OVER);
	for (size_t i = 0; i < j->ninputs; i++)
		least = slack[i].absent ? least : fmin(least, (double)slack[i].hi);
	for (size_t i = 0; i < j->ninputs; i++) {
		double own = (double)slack[0].hi - least + fmax(y->came[j->first] - y->came[j->first + i], 0);
		y->slack[j->first + i] = !slack[i].absent ? (double)slack[i].hi - least : moves ? own : NAN;
	}
}

static void run_baseline(struct greedy *y)
{
	comes_to(y, UINT32_MAX);
	greedy_prepare(y);
	y->baseline_stuck = !greedy_run(y, 0);
	if (y->baseline_stuck && y->tasks) {
		greedy_close_tasks(y);
		y->baseline_stuck = !greedy_run(y, 0);
	}
	y->baseline_changed = y->changed;
	y->baseline = y->found;
	y->found = mem_resize(NULL, y->nprobes + 1, sizeof *y->found);
}

static void choose_region(struct greedy *y, size_t region)
{
	if (y->region == region)
		return;
	for (size_t i = 0; i < y->nless; i++)
		y->points[y->less[i].point].less = 0;
	y->region_has = false;
	for (size_t i = 0; i < y->nless; i++) {
		double ticks = y->less[i].region == region ? y->less[i].ticks : 0;
		y->points[y->less[i].point].less += ticks;
		y->region_has |= ticks > 0;
	}
	y->region = region;
}

const double *greedy_replay(struct greedy *y, size_t region, size_t scenario, double *end)
{
	double part = (y->all->share[scenario].lo + y->all->share[scenario].hi) / 2;
	if (!y->baseline)
		run_baseline(y);
	choose_region(y, region);
	if (y->baseline_stuck || part == 0 || !y->region_has || !greedy_run(y, part) ||
	    !(y->changed || y->baseline_changed || y->looks))
		return NULL;
	for (size_t i = 0; i <= y->nprobes; i++)
		y->found[i] -= y->baseline[i];
	*end = y->found[y->nprobes];
	return y->found;
}
