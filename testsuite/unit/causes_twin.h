/* SPDX-License-Identifier: MIT
 *
 * causes_twin.h - a list of all waits of a random program, moment by moment: which lack a cause, and when all threads waited. */
#ifndef CAUSES_TWIN_H
#define CAUSES_TWIN_H

#include "analysis/base/memory.h"
#include "analysis/graph/graph.h"
#include "testsuite/truth/program.h"
#include "testsuite/unit/ends_twin.h"
#include "testsuite/unit/unit.h"

static struct tr_arg *tag_of(struct program_event *e)
{
	for (unsigned i = 0; i < e->nargs; i++)
		if (e->args[i].key == DPROF_KEY_TAG)
			return &e->args[i];
	return NULL;
}

/* ---- All waits ------------------------------------------------------------------------------- */

struct causes_truth {
	struct causes_stretch { uint32_t thread; int64_t from, to; } *v; size_t n;
	int64_t *made;           /* when another thread made this one, or INT64_MIN */
	struct { uint64_t count; int64_t ticks, first; } lacks[PROGRAM_SITES];
	uint64_t missing;
	int64_t still;           /* all waited, in all, and from when to when */
	struct causes_stretch *stills; size_t nstills;
};

/* From the enter until the last that it waited for, or all the way. */
static void add_wait(struct causes_truth *t, const struct program *p, const struct graph *g, uint32_t thread,
		     const struct graph_sync_point *s)
{
	const struct graph_node *node = &g->nodes[s->number];
	const struct program_event *exit = &p->threads[thread].events[s->at];
	int64_t from = exit[-1].truth, to = from;
	bool known = node->kind != GRAPH_UNKNOWN;

	ck_assert(exit[-1].site == exit->site && exit[-1].op == DPROF_ENTER && exit->op == DPROF_EXIT);
	for (size_t i = node->first; known && i < node->first + node->ninputs; i++) {
		int64_t when = twin_time_posted(p, g, i);
		if (g->inputs[i].sure && !g->inputs[i].candidate && when > to)
			to = when;
	}
	if (!known) {
		to = exit->truth;
		if (t->lacks[exit->site].count++ == 0 || to < t->lacks[exit->site].first)
			t->lacks[exit->site].first = to;
		t->lacks[exit->site].ticks += to - from;
		t->missing++;
	}
	*MEM_GROW(t->v, t->n) = (struct causes_stretch){ thread, from, to };
}

static int by_number(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

	return (a > b) - (a < b);
}

/* Between two moments, between which nothing changes: each thread waits, or is not there; and one does wait. */
static bool is_still(const struct causes_truth *t, const struct program *p, int64_t from, int64_t to)
{
	bool any = false;

	for (uint32_t thread = 0; thread < p->nthreads; thread++) {
		const struct program_thread *self = &p->threads[thread];
		bool waits = false;
		for (size_t i = 0; i < t->n; i++)
			waits |= t->v[i].thread == thread && t->v[i].from <= from && to <= t->v[i].to;
		bool away = !self->nevents || to <= t->made[thread] || from >= self->events[self->nevents - 1].truth;
		if (!waits && !away)
			return false;
		any |= waits;
	}
	return any;
}

static void add_stillness(struct causes_truth *t, const struct program *p)
{
	int64_t *moments = NULL;
	size_t n = 0;

	for (uint32_t thread = 0; thread < p->nthreads; thread++)
		for (size_t i = 0; i < p->threads[thread].nevents; i++)
			*MEM_GROW(moments, n) = p->threads[thread].events[i].truth;
	for (size_t i = 0; i < t->n; i++)
		*MEM_GROW(moments, n) = t->v[i].to;
	qsort(moments, n, sizeof *moments, by_number);
	for (size_t i = 1; i < n; i++)
		if (moments[i - 1] < moments[i] && is_still(t, p, moments[i - 1], moments[i])) {
			t->still += moments[i] - moments[i - 1];
			*MEM_GROW(t->stills, t->nstills) = (struct causes_stretch){ 0, moments[i - 1], moments[i] };
		}
	free(moments);
}

static struct causes_truth causes_truth(const struct program *p)
{
	struct options options = { .assumption = p->assumption };
	struct trace *trace = program_trace(p, PROGRAM_TRUE);
	struct causes_truth t = { .v = NULL };
	struct times times;
	struct graph g;

	ck_assert_int_eq(times_open(&times, trace, &options), EXIT_FINE);
	graph_open(&g, trace, &times);
	t.made = mem_resize(NULL, p->nthreads, sizeof *t.made);
	for (uint32_t thread = 0; thread < p->nthreads; thread++) {
		t.made[thread] = INT64_MIN;
		for (size_t i = 0; i < g.threads[thread].nsyncs; i++) {
			const struct graph_sync_point *s = &g.threads[thread].syncs[i];
			if (s->what == GRAPH_WAITS && s->at > 0)
				add_wait(&t, p, &g, thread, s);
			else if (s->what == GRAPH_WAITS)
				t.made[thread] = twin_time_posted(p, &g, g.nodes[s->number].first);
		}
	}
	add_stillness(&t, p);
	graph_close(&g);
	times_close(&times);
	trace_close(trace);
	return t;
}

static void causes_truth_free(struct causes_truth *t)
{
	free(t->v);
	free(t->made);
	free(t->stills);
}

#endif
