/* SPDX-License-Identifier: MIT
 *
 * activities_twin.h - what the threads of a random program (truth/program.h) did, event by event, on a clock that shows
 * the truth: the slow twin of graph_activities.h. */
#ifndef TESTSUITE_ACTIVITIES_TWIN_H
#define TESTSUITE_ACTIVITIES_TWIN_H

#include "analysis/base/memory.h"
#include "analysis/base/options.h"
#include "analysis/graph/graph.h"
#include "testsuite/truth/program.h"
#include "testsuite/unit/unit.h"

enum { WORKS, OUTSIDE, OPERATES, IDLES };

struct twin_event {               /* of a thread, and those that it inherits */
	int64_t when;
	struct tr_event e;
	int before;          /* what the thread did since the event before */
	unsigned operation;  /* then: of which site it was in one */
	bool ends;           /* an operation */
	size_t own;          /* index among its own events */
	int64_t ideal;       /* -1: not known yet */
};

struct twin {
	const struct program *p;
	struct trace *trace;
	struct graph graph;          /* of the clock that shows the truth */
	struct { struct twin_event *v; size_t n; } *threads;
};

static inline bool twin_is_region(unsigned site)
{
	return site <= PROGRAM_D || site == PROGRAM_TASK;
}

/* Who has left a team as a member, and not for a task. */
static inline bool twin_leaves_team(const struct twin_event *v, size_t i)
{
	struct tr_event enter = v[i].e;

	if (v[i].e.op != DPROF_EXIT || v[i].e.site != PROGRAM_PARALLEL_END)
		return false;
	for (size_t k = i; k-- > 0;)
		if (v[k].e.site == PROGRAM_PARALLEL_END && v[k].e.op == DPROF_ENTER) {
			enter = v[k].e;
			break;
		}
	return trace_arg(&enter, DPROF_KEY_ROLE, 1) == 0;
}

static inline void twin_read_thread(struct twin *t, uint32_t thread)
{
	struct tr_cursor events = trace_places(t->trace, thread);
	struct twin_event *v = NULL;
	size_t n = 0, own = 0;
	unsigned open[64], depth = 0;

	for (struct twin_event x = { .ideal = -1 }; trace_next(&events, &x.e);) {
		x.when = (int64_t)x.e.stamp;
		x.own = own;
		own += !x.e.inherited;
		*MEM_GROW(v, n) = x;
	}
	trace_end(&events);
	for (size_t i = 0; i < n; i++) {
		unsigned top = depth ? open[depth - 1] : PROGRAM_SITES;
		v[i].operation = top;
		v[i].before = i > 0 && twin_leaves_team(v, i - 1) ? IDLES : !depth ? OUTSIDE : twin_is_region(top) ? WORKS : OPERATES;
		v[i].ends = v[i].e.op == DPROF_EXIT && !twin_is_region(top);
		if (v[i].e.op == DPROF_ENTER)
			open[depth++] = v[i].e.site;
		depth -= v[i].e.op == DPROF_EXIT;
	}
	t->threads[thread].v = v;
	t->threads[thread].n = n;
}

/* The node that the event waited for, of several the last; or NULL. */
static inline const struct graph_node *twin_waited_for(const struct twin *t, uint32_t thread, const struct twin_event *e)
{
	const struct graph_thread *g = &t->graph.threads[thread];

	for (size_t i = g->nsyncs; i-- > 0 && !e->e.inherited;)
		if (g->syncs[i].at == e->own && g->syncs[i].what == GRAPH_WAITS)
			return &t->graph.nodes[g->syncs[i].number];
	return NULL;
}

static inline bool twin_counts(const struct graph_input *input)
{
	return input->sure && !input->candidate;
}

static inline struct twin_event *twin_poster(const struct twin *t, const struct graph_input *input)
{
	const struct graph_thread *g = &t->graph.threads[input->thread];

	for (size_t i = 0; i < g->nsyncs; i++)
		if (g->syncs[i].what == GRAPH_POSTS && &t->graph.inputs[g->syncs[i].number] == input)
			for (size_t k = 0; k < t->threads[input->thread].n; k++) {
				struct twin_event *e = &t->threads[input->thread].v[k];
				if (e->own == g->syncs[i].at && !e->e.inherited)
					return e;
			}
	ck_abort_msg("an input that nobody posts");
	return NULL;
}

/* Since the operation was entered that ends there. */
static inline int64_t twin_time_in(const struct twin_event *v, size_t i)
{
	size_t k = i;

	while (v[k].e.op != DPROF_ENTER || v[k].e.site != v[i].e.site)
		k--;
	return v[i].when - v[k].when;
}

/* How long an operation took behind the last that it waited for, as it was. */
static inline int64_t twin_transfer(const struct twin *t, uint32_t thread, size_t i)
{
	const struct twin_event *e = &t->threads[thread].v[i];
	const struct graph_node *node = twin_waited_for(t, thread, e);
	int64_t took = i ? twin_time_in(t->threads[thread].v, i) : INT64_MAX, behind = node ? INT64_MAX : took;

	for (size_t k = 0; node && k < node->ninputs; k++) {
		const struct graph_input *input = &t->graph.inputs[node->first + k];
		if (twin_counts(input) && e->when - (int64_t)input->stamp < behind)
			behind = e->when - (int64_t)input->stamp;
	}
	return behind < took ? behind : took;
}

/* How long all of an operation took that ends at event i. */
static inline int64_t twin_took(const struct twin *t, uint32_t thread, size_t i)
{
	return twin_time_in(t->threads[thread].v, i);
}

static inline struct twin twin_open(const struct program *p)
{
	struct twin t = { .p = p, .trace = program_trace(p, PROGRAM_TRUE) };
	struct options options = { .assumption = p->assumption };
	struct times times;

	ck_assert_int_eq(times_open(&times, t.trace, &options), EXIT_FINE);
	graph_open(&t.graph, t.trace, &times);
	times_close(&times);
	t.threads = mem_resize(NULL, p->nthreads, sizeof *t.threads);
	for (uint32_t thread = 0; thread < p->nthreads; thread++)
		twin_read_thread(&t, thread);
	return t;
}

static inline void twin_close(struct twin *t)
{
	for (size_t i = 0; i < t->p->nthreads; i++)
		free(t->threads[i].v);
	free(t->threads);
	graph_close(&t->graph);
	trace_close(t->trace);
}

#endif
