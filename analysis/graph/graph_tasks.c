/* SPDX-License-Identifier: MIT
 *
 * graph_tasks.c - within a process: what began when a task began, and what waited for its end.
 *
 *   a task begins      ARRIVAL: its thread was free, the task was made, what it depends on was over;
 *                      where its thread was not in an operation, it has waited for nothing
 *   a taskwait ends    ARRIVAL: it began, and all children that were made since the one before were over
 *   a taskgroup ends   the same, with all tasks that name it
 *
 * A task that is said to be made several times could be run from the last time on (format.h).
 *
 * A barrier needs nothing more: who runs tasks there enters it once more behind the last one (format.h). But where tasks are over
 * only when an event has come, it may have waited for that.
 *
 * Dependences are OpenMP's, among the children of one task. Of each address the tasks form generations:
 * an out is one by itself, and so are all ins, all inoutsets and all mutexinoutsets in a row. A task waits for
 * the generation before its own; a mutexinoutset may also have waited for earlier ones of its own. */
#define _GNU_SOURCE /* qsort_r */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/runs.h"
#include "analysis/base/search.h"
#include "analysis/graph/graph_losses.h"
#include "analysis/graph/graph_tasks.h"

enum { HOW_IN, HOW_OUT, HOW_MUTEX, HOW_SET };

/* `after` waits for `before`; both are tasks that were made. */
struct task_edge { size_t after, before; bool sure; };

struct task_graph {
	struct builder *b;
	struct task_records *records;
	struct task_edge *edges; size_t nedges;
	size_t *by_parent, *by_group;    /* tasks, sorted */
};

/* ---- Orders ---------------------------------------------------------------------------------- */

static int by_task(const void *x, const void *y)
{
	const struct made_task *a = x, *b = y;
	return ORDER_2(a, b, process, task);
}

/* Several tasks of one number, and several runs of a task, in the order in which they were found. */
static int made_in_order(const void *x, const void *y)
{
	const struct made_task *a = x, *b = y;
	int tasks = by_task(a, b);
	return tasks ? tasks : ORDER(a->order, b->order);
}

static int runs_by_task(const void *x, const void *y)
{
	const struct task_run *a = x, *b = y;
	return ORDER_2(a, b, process, task);
}

static int runs_in_order(const void *x, const void *y)
{
	const struct task_run *a = x, *b = y;
	int tasks = runs_by_task(a, b);
	return tasks ? tasks : ORDER(a->order, b->order);
}

static int by_event(const void *x, const void *y)
{
	const struct fulfilled *a = x, *b = y;
	return ORDER_3(a, b, process, event, ref.stamp);
}

static int fulfilled_in_order(const void *x, const void *y)
{
	const struct fulfilled *a = x, *b = y;
	int events = by_event(a, b);
	return events ? events : ORDER_2(a, b, ref.thread, ref.at);
}

/* Of one parent and address in the order in which they were made. */
static int by_address(const void *x, const void *y)
{
	const struct depends *a = x, *b = y;
	return ORDER_4(a, b, process, parent, address, order);
}

static int by_number(const void *x, const void *y)
{
	const struct task_wait *a = x, *b = y;
	return ORDER_4(a, b, process, all, number, order);
}

static int by_after(const void *x, const void *y)
{
	const struct task_edge *a = x, *b = y;
	int order = ORDER_2(a, b, after, before);
	return order ? order : ORDER(b->sure, a->sure); /* what is sure first */
}

static int by_parent(const void *x, const void *y, void *made)
{
	const struct made_task *a = (struct made_task *)made + *(const size_t *)x;
	const struct made_task *b = (struct made_task *)made + *(const size_t *)y;
	return ORDER_3(a, b, process, parent, order);
}

static int by_group(const void *x, const void *y, void *made)
{
	const struct made_task *a = (struct made_task *)made + *(const size_t *)x;
	const struct made_task *b = (struct made_task *)made + *(const size_t *)y;
	return ORDER_3(a, b, process, group, order);
}

/* ---- Which depends on which ------------------------------------------------------------------- */

#define NO_TASK SIZE_MAX

static size_t find_made(const struct task_records *r, uint32_t process, uint64_t task)
{
	struct made_task key = { .process = process, .task = task };
	const struct made_task *m =
		r->nmade ? bsearch(&key, r->made, r->nmade, sizeof *m, by_task) : NULL;
	return m ? (size_t)(m - r->made) : NO_TASK;
}

static void add_edge(struct task_graph *t, size_t after, size_t before, bool sure)
{
	if (after != NO_TASK && before != NO_TASK && after != before)
		*SPILL_GROW(t->b->spill, t->edges, t->nedges) = (struct task_edge){ after, before, sure };
}

static size_t task_of(const struct task_graph *t, const struct depends *d)
{
	return find_made(t->records, d->process, d->task);
}

/* d[0 .. n): all of one address. [before, own) is the generation before that of [own, i). A taskwait with dependences
 * is one of them: what comes behind it was made when it, and so what it had waited for, was over. */
static void generations(struct task_graph *t, const struct depends *d, size_t n)
{
	size_t before = 0, own = 0;
	for (size_t i = 0; i < n; i++) {
		bool joins = i > own && d[i].how == d[own].how && d[i].how != HOW_OUT;
		if (!joins) {
			before = own;
			own = i;
		}
		for (size_t k = before; k < own; k++)
			add_edge(t, task_of(t, &d[i]), task_of(t, &d[k]), true);
		for (size_t k = own; joins && d[i].how == HOW_MUTEX && k < i; k++)
			add_edge(t, task_of(t, &d[i]), task_of(t, &d[k]), false);
	}
}

/* d[0 .. n): all of one parent. Address 0 is all memory: what depends on that waits for all that depended
 * on anything before, and is waited for by all that does after. */
static void all_memory(struct task_graph *t, const struct depends *d, size_t n)
{
	for (size_t i = 0; i < n && d[i].address == 0; i++)
		for (size_t k = 0; k < n; k++)
			if (d[k].order < d[i].order)
				add_edge(t, task_of(t, &d[i]), task_of(t, &d[k]), true);
			else if (d[k].order > d[i].order)
				add_edge(t, task_of(t, &d[k]), task_of(t, &d[i]), true);
}

static void find_edges(struct task_graph *t)
{
	struct task_records *r = t->records;
	const struct depends *d = r->depends;
	runs_sort(t->b->spill, r->depends, r->ndepends, sizeof *r->depends, by_address);
	for (size_t i = 0, next; i < r->ndepends; i = next) {
		for (next = i + 1; next < r->ndepends && d[next].process == d[i].process &&
				   d[next].parent == d[i].parent; next++)
			;
		all_memory(t, d + i, next - i);
		for (size_t k = i, end; k < next; k = end) {
			for (end = k + 1; end < next && d[end].address == d[k].address; end++)
				;
			generations(t, d + k, end - k);
		}
	}
	runs_sort(t->b->spill, t->edges, t->nedges, sizeof *t->edges, by_after);
}

/* ---- Ends ------------------------------------------------------------------------------------- */

struct input_list { struct node_input *v; size_t n; };

static void add_input(struct input_list *s, struct event_ref ref, bool sure)
{
	*MEM_GROW(s->v, s->n) = (struct node_input){ .ref = ref, .sure = sure, .needed = sure };
}

/* What the thread itself did before it waited comes before that in any case. */
static bool is_before(struct event_ref ref, struct event_ref enter)
{
	return ref.thread == enter.thread && ref.at < enter.at;
}

/* The first one since the task was made. */
static bool add_event_input(struct task_graph *t, const struct made_task *made,
			    const struct task_run *run, struct input_list *s, bool sure)
{
	const struct task_records *r = t->records;
	struct fulfilled key = { made->process, run->event, made->ref };
	size_t lo = SEARCH(r->nfulfilled, mid, by_event(&r->fulfilled[mid], &key) < 0);
	if (lo == r->nfulfilled || r->fulfilled[lo].process != made->process ||
	    r->fulfilled[lo].event != run->event)
		return false;
	add_input(s, r->fulfilled[lo].ref, sure);
	return true;
}

/* False when the trace does not show the end of the task. */
static bool add_end_inputs(struct task_graph *t, size_t task, struct event_ref enter,
			   struct input_list *s, bool sure)
{
	const struct task_records *r = t->records;
	const struct made_task *made = &r->made[task];
	struct task_run key = { .process = made->process, .task = made->task };
	const struct task_run *run = r->nruns ? bsearch(&key, r->runs, r->nruns, sizeof *run,
							runs_by_task) : NULL;
	if (!run)
		return made->empty || (r->discarded && made->group && made->group != ARG_NONE);
	while (run > r->runs && runs_by_task(run - 1, &key) == 0)
		run--;
	for (; run < r->runs + r->nruns && runs_by_task(run, &key) == 0; run++) {
		if (!run->ended || (run->detached && !add_event_input(t, made, run, s, sure)))
			return false;
		add_input(s, run->end, sure);
		if (is_before(run->end, enter))
			s->v[s->n - 1].candidate = s->v[s->n - 1].never_last = true;
	}
	return true;
}

/* ---- Waits ------------------------------------------------------------------------------------ */

/* What task `number` had to wait for when its thread was free. */
static bool add_begin_inputs(struct task_graph *t, const struct task_wait *w, struct input_list *s)
{
	size_t task = find_made(t->records, w->process, w->number);
	if (task == NO_TASK)
		return false;
	add_input(s, t->records->made[task].ref, true);
	s->v[s->n - 1].candidate = is_before(t->records->made[task].ref, w->enter);
	size_t lo = SEARCH(t->nedges, mid, t->edges[mid].after < task);
	bool known = true;
	for (; lo < t->nedges && t->edges[lo].after == task && known; lo++)
		if (lo == 0 || t->edges[lo - 1].after != task ||
		    t->edges[lo - 1].before != t->edges[lo].before) /* sure ones come first */
			known = add_end_inputs(t, t->edges[lo].before, w->enter, s,
					       t->edges[lo].sure);
	return known;
}

/* The first in `order` that does not come before `key`. */
static size_t first_of(const struct task_graph *t, const size_t *order, const struct made_task *key,
		       bool of_group)
{
	const struct made_task *made = t->records->made;
	size_t lo = 0, hi = t->records->nmade;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct made_task *m = &made[order[mid]];
		uint64_t number = of_group ? m->group : m->parent;
		uint64_t wanted = of_group ? key->group : key->parent;
		bool less = m->process != key->process ? m->process < key->process
			    : number != wanted	       ? number < wanted
						       : m->order < key->order;
		if (less)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* All that were made by task w->number since `since`, and all in the taskgroup w->number. */
static bool add_all_inputs(struct task_graph *t, const struct task_wait *w, uint64_t since,
			   struct input_list *s)
{
	const struct task_records *r = t->records;
	struct made_task key = { .process = w->process, .parent = w->number, .group = w->number,
				 .order = since };
	bool known = true;
	for (size_t i = first_of(t, t->by_parent, &key, false); i < r->nmade && known; i++) {
		const struct made_task *m = &r->made[t->by_parent[i]];
		if (m->process != w->process || m->parent != w->number || m->order > w->order)
			break;
		known = add_end_inputs(t, t->by_parent[i], w->enter, s, true);
	}
	key.order = 0;
	for (size_t i = first_of(t, t->by_group, &key, true); i < r->nmade && known; i++) {
		const struct made_task *m = &r->made[t->by_group[i]];
		if (m->process != w->process || m->group != w->number)
			break;
		known = add_end_inputs(t, t->by_group[i], w->enter, s, true);
	}
	return known;
}

/* The thread has run all tasks that it waits for. */
static bool all_own(const struct input_list *s)
{
	for (size_t i = 1; i < s->n; i++)
		if (!s->v[i].never_last)
			return false;
	return true;
}

/* A task whose records were lost may have ended at any time. One that was cancelled before it began may begin in another run. */
static void add_wait(struct task_graph *t, const struct task_wait *w, uint64_t since)
{
	struct input_list s = { 0 };
	add_input(&s, w->enter, true);
	s.v[0].needed = w->all; /* a task may have begun in any thread */
	bool known = w->all ? add_all_inputs(t, w, since, &s) : add_begin_inputs(t, w, &s);
	if (!known) {
		graph_diagnose(&t->b->diagnosed.alone, w->exit, w->site);
		graph_unknown(t->b, (struct wait_begin){ .enter = w->enter }, w->exit);
	} else if (s.n > 1 && !(w->all && all_own(&s))) {
		struct graph_node *node =
			graph_arrival(t->b, w->exit, w->all ? GRAPH_TASKS_OVER : GRAPH_TASK_BEGAN, s.v, s.n);
		node->loose = node->delayed = !w->all;
	}
	if (w->all && t->records->discarded)
		graph_wait_perhaps(t->b, w->exit, graph_add_chance(t->b, GRAPH_UNKNOWN, s.v, 1));
	free(s.v);
}

static void add_waits(struct task_graph *t)
{
	struct task_records *r = t->records;
	runs_sort(t->b->spill, r->waits, r->nwaits, sizeof *r->waits, by_number);
	for (size_t i = 0; i < r->nwaits; i++) {
		const struct task_wait *w = &r->waits[i];
		bool repeated = i > 0 && w[-1].process == w->process && w[-1].all && w->all &&
				w[-1].number == w->number;
		add_wait(t, w, repeated ? w[-1].order : 0);
	}
}

/* Of each task what was said last. */
static void keep_last(struct task_records *r)
{
	size_t kept = 0;
	for (size_t i = 0; i < r->nmade; i++)
		if (i + 1 == r->nmade || by_task(&r->made[i], &r->made[i + 1]) != 0)
			r->made[kept++] = r->made[i];
	r->nmade = kept;
}

static size_t *sorted(const struct task_records *r, int order(const void *, const void *, void *))
{
	size_t *index = mem_resize(NULL, r->nmade + 1, sizeof *index);
	for (size_t i = 0; i < r->nmade; i++)
		index[i] = i;
	if (r->nmade)
		qsort_r(index, r->nmade, sizeof *index, order, r->made);
	return index;
}

/* ---- Who runs which tasks ---------------------------------------------------------------------- */

static int by_barrier(const void *x, const void *y)
{
	const struct team_visit *a = x, *b = y;
	return ORDER_3(a, b, key, enter.thread, enter.at);
}

static bool may_run_tasks(const struct team_visit *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].tasks || v[i].wait != NO_TASK_WAIT)
			return true;
	return false;
}

/* v[0 .. n): a thread's visits of a barrier. Where it has run no task there, it could have when it came last. */
static void wait_in_barrier(struct builder *b, const struct team_visit *v, size_t n, uint32_t barrier)
{
	struct graph *g = b->graph;
	uint32_t wait = NO_TASK_WAIT;
	for (size_t i = 0; i < n; i++)
		wait = v[i].wait != NO_TASK_WAIT ? v[i].wait : wait;
	if (wait == NO_TASK_WAIT) {
		wait = (uint32_t)g->ntask_waits;
		*SPILL_GROW(b->spill, g->task_waits, g->ntask_waits) = (struct graph_task_wait){
			.number = v->team, .process = v->process, .kind = GRAPH_FOR_TEAM };
		graph_point(b, v[n - 1].enter, GRAPH_COMES, wait);
	}
	g->task_waits[wait].barrier = barrier;
}

static void add_visits(struct builder *b, struct task_records *r)
{
	uint32_t barrier = 0;
	struct team_visit *v = r->visits;
	runs_sort(b->spill, v, r->nvisits, sizeof *v, by_barrier);
	for (size_t i = 0, end; i < r->nvisits; i = end, barrier++) {
		for (end = i + 1; end < r->nvisits && v[end].key == v[i].key; end++)
			;
		if (!may_run_tasks(v + i, end - i))
			continue;
		for (size_t k = i, next; k < end; k = next) {
			for (next = k + 1; next < end && v[next].enter.thread == v[k].enter.thread; next++)
				;
			wait_in_barrier(b, v + k, next - k, barrier);
		}
	}
}

static void find_makers(struct graph *g, const struct task_records *r)
{
	for (size_t i = 0; i < r->nruns; i++) {
		size_t made = r->runs[i].cancels ? find_made(r, r->runs[i].process, r->runs[i].task) : NO_TASK;
		if (made != NO_TASK)
			r->made[made].cancels = true;
	}
	for (size_t i = 0; i < g->ntask_runs; i++) {
		struct graph_task_run *run = &g->task_runs[i];
		size_t made = find_made(r, run->process, run->task);
		run->made = made != NO_TASK;
		run->maker = run->made ? r->made[made].parent : 0;
		run->group = run->made ? r->made[made].group : 0;
		run->priority = run->made ? r->made[made].priority : 0;
		run->cancels = run->made && r->made[made].cancels;
	}
	for (size_t i = 0; i < g->ntask_waits; i++) {
		struct graph_task_wait *wait = &g->task_waits[i];
		size_t made = wait->kind == GRAPH_TO_BEGIN ? find_made(r, wait->process, wait->number) : NO_TASK;
		wait->number = made != NO_TASK ? r->made[made].parent : wait->number;
	}
}

void graph_tasks(struct builder *b, struct task_records *r)
{
	struct task_graph t = { .b = b, .records = r };
	runs_sort(b->spill, r->made, r->nmade, sizeof *r->made, made_in_order);
	keep_last(r);
	runs_sort(b->spill, r->runs, r->nruns, sizeof *r->runs, runs_in_order);
	runs_sort(b->spill, r->fulfilled, r->nfulfilled, sizeof *r->fulfilled, fulfilled_in_order);
	t.by_parent = sorted(r, by_parent);
	t.by_group = sorted(r, by_group);
	find_edges(&t);
	add_waits(&t);
	find_makers(b->graph, r);
	if (b->graph->ntask_runs)
		add_visits(b, r);
	spill_free(b->spill, t.edges);
	free(t.by_parent);
	free(t.by_group);
}

/* ---- Barriers, and events ---------------------------------------------------------------------- */

static bool all_came_before(const struct graph *g, const struct graph_node *node, uint64_t stamp)
{
	for (uint32_t i = node->first; i < node->first + node->ninputs; i++)
		if (g->inputs[i].stamp >= stamp)
			return false;
	return true;
}

/* Who waited for the others of its team when all of them had come. */
static void doubt_wait(struct graph *g, uint32_t thread, uint64_t stamp)
{
	const struct graph_thread *t = &g->threads[thread];
	size_t i = SEARCH(t->nsyncs, mid, t->syncs[mid].stamp < stamp);
	while (i < t->nsyncs && t->syncs[i].what != GRAPH_WAITS)
		i++;
	if (i == t->nsyncs)
		return;
	struct graph_node *node = &g->nodes[t->syncs[i].number];
	bool is_of_team = node->kind == GRAPH_SYNC || (node->kind == GRAPH_ARRIVAL && node->what >= GRAPH_COLLECTIVE);
	uint64_t since = graph_wait_begin(g, thread, i);
	node->doubted |= is_of_team && since && since <= stamp && all_came_before(g, node, stamp);
}

void graph_doubt_by_events(struct graph *g, const struct task_records *r)
{
	for (size_t i = 0; i < r->nfulfilled; i++)
		for (uint32_t t = 0; t < g->trace->nthreads; t++)
			if (g->trace->threads[t].process == r->fulfilled[i].process)
				doubt_wait(g, t, r->fulfilled[i].ref.stamp);
}
