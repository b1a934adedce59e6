/* SPDX-License-Identifier: MIT
 *
 * graph_walk_tasks.c - along a thread: tasks that are made, run and waited for (graph_tasks.c joins them).
 *
 * Who waits in a barrier of its team, or for tasks, runs some of those that are ready. Which ones is chance, so in a what-if
 * whoever waits there gets others (coz/greedy_tasks.c). */
#include "analysis/base/memory.h"
#include "analysis/graph/graph_walk.h"

/* Threads one behind the other, as they stand in the trace. */
static uint64_t next_order(struct thread_walk *w)
{
	return (uint64_t)w->thread << 40 | ++w->tasks.order;
}

static void make_task(struct thread_walk *w, const struct tr_event *e, struct event_ref ref)
{
	const struct operation *o = walk_operation(w, e);
	struct task_records *tasks = &w->records->tasks;
	*SPILL_GROW(w->b->spill, tasks->made, tasks->nmade) = (struct made_task){
		.process = w->process, .task = arg_task_made(o, e), .order = next_order(w), .ref = ref,
		.parent = arg_task_maker(o, e), .group = arg_taskgroup(o, e), .empty = arg_task_empty(o, e),
		.priority = (uint32_t)arg_task_priority(o, e) };
	w->tasks.made = tasks->nmade;
}

#define HOW_UNKNOWN 1 /* as what waits for all before, and is waited for by all behind */

/* Of the task that was made last, by the same thread. */
static void depend(struct thread_walk *w, const struct tr_event *e)
{
	const struct operation *o = walk_operation(w, e);
	struct task_records *tasks = &w->records->tasks;
	const struct made_task *last = w->tasks.made ? &tasks->made[w->tasks.made - 1] : NULL;
	uint64_t how = arg_dependence_how(o, e);
	if (last)
		*SPILL_GROW(w->b->spill, tasks->depends, tasks->ndepends) = (struct depends){
			w->process, last->parent, arg_dependence(o, e), last->order, last->task,
			(unsigned)(how == ARG_NONE ? HOW_UNKNOWN : how) };
}

void walk_task_point(struct thread_walk *w, const struct tr_event *e, struct event_ref ref)
{
	const struct operation *o = walk_operation(w, e);
	struct task_records *tasks = &w->records->tasks;
	uint64_t event = arg_event_come(o, e);
	if (arg_task_made(o, e) != ARG_NONE)
		make_task(w, e, ref);
	else if (arg_dependence(o, e) != ARG_NONE)
		depend(w, e);
	else if (event != ARG_NONE)
		*SPILL_GROW(w->b->spill, tasks->fulfilled, tasks->nfulfilled) =
			(struct fulfilled){ w->process, event, ref };
}

/* Regions do not count here, but for the runs of tasks. */
void walk_region(struct thread_walk *w, const struct tr_event *e, struct event_ref ref)
{
	const struct operation *o = walk_operation(w, e);
	struct task_records *tasks = &w->records->tasks;
	if (e->op == DPROF_ENTER && e->site != TR_NO_SITE)
		w->b->graph->entered[e->site] = true;
	uint64_t task = arg_task_run(o, e), event = arg_run_event(o, e);
	if (task != ARG_NONE) {
		*MEM_GROW(w->tasks.running, w->tasks.nrunning) = (struct running){ tasks->nruns, e->site };
		*SPILL_GROW(w->b->spill, tasks->runs, tasks->nruns) = (struct task_run){
			.process = w->process, .task = task, .event = event, .order = next_order(w),
			.detached = event != ARG_NONE };
	} else if (e->op == DPROF_EXIT && w->tasks.nrunning &&
		   w->tasks.running[w->tasks.nrunning - 1].site == e->site) {
		struct task_run *run = &tasks->runs[w->tasks.running[--w->tasks.nrunning].run];
		run->ended = true;
		run->end = ref;
		w->tasks.just_ran = w->tasks.nwaits > 0 && w->tasks.waits[w->tasks.nwaits - 1].depth == w->tasks.nrunning;
	}
}

/* Its tasks that have not begun never do. */
void walk_cancel_taskgroup(struct thread_walk *w)
{
	struct task_records *tasks = &w->records->tasks;
	tasks->discarded = true;
	if (w->tasks.nrunning)
		tasks->runs[w->tasks.running[w->tasks.nrunning - 1].run].cancels = true;
}

static void come(struct thread_walk *w, struct event_ref ref, uint32_t wait)
{
	graph_point(w->b, ref, GRAPH_COMES, wait);
}

/* The first event behind the end of a task: that is still what the thread did, whoever runs the next one. */
void walk_come_again(struct thread_walk *w, struct event_ref ref)
{
	if (w->tasks.nwaits > 0)
		come(w, ref, w->tasks.waits[w->tasks.nwaits - 1].wait);
	w->tasks.just_ran = false;
}

struct collective_id walk_collective(const struct tr_event *e)
{
	return (struct collective_id){ trace_arg(e, DPROF_KEY_GROUP, UINT64_MAX),
				       trace_arg(e, DPROF_KEY_SEQ, UINT64_MAX) };
}

void walk_wait_for_tasks(struct thread_walk *w, struct event_ref exit, uint64_t number, bool all)
{
	struct task_records *tasks = &w->records->tasks;
	*SPILL_GROW(w->b->spill, tasks->waits, tasks->nwaits) = (struct task_wait){
		w->process, w->entered.site, number, next_order(w), all, w->enter, exit };
}

bool walk_is_team_barrier(const struct thread_walk *w, const struct tr_event *e)
{
	enum dprof_kind kind = walk_kind(w, e->site);
	return (kind == DPROF_KIND_BARRIER || kind == DPROF_KIND_JOIN) && trace_has(e, DPROF_KEY_GROUP);
}

/* A team's barriers are counted, and its end, which is one, too, is counted by itself. */
static uint64_t key_of_barrier(const struct thread_walk *w)
{
	struct collective_id id = walk_collective(&w->entered);
	return ids_mix(ids_mix(ids_mix(id.group, id.seq), walk_kind(w, w->entered.site)), w->process) | 1;
}

/* What the outermost operation is, as a wait in which tasks are run. */
static uint32_t add_wait(struct thread_walk *w)
{
	const struct operation *o = walk_operation(w, &w->entered);
	struct graph *g = w->b->graph;
	uint64_t tasks = arg_awaited_tasks(o, &w->entered);
	struct graph_task_wait wait = { .number = tasks, .process = w->process, .barrier = GRAPH_NO_BARRIER, .kind = GRAPH_FOR_TASKS };
	if (walk_is_team_barrier(w, &w->entered)) {
		wait.number = walk_collective(&w->entered).group;
		wait.kind = GRAPH_FOR_TEAM;
	} else if (tasks == ARG_NONE) {
		wait.number = arg_awaited_task(o, &w->entered);
		wait.kind = GRAPH_TO_BEGIN;
	}
	*SPILL_GROW(w->b->spill, g->task_waits, g->ntask_waits) = wait;
	return (uint32_t)g->ntask_waits - 1;
}

/* Who leaves its team does not know whether it will run tasks, so it may be through with the barrier, and come there again. */
static uint32_t wait_to_leave(struct thread_walk *w)
{
	bool of_team = walk_is_team_barrier(w, &w->entered);
	if (of_team && w->tasks.barrier == key_of_barrier(w))
		return w->tasks.wait;
	uint32_t wait = add_wait(w);
	come(w, w->enter, wait);
	if (of_team) {
		w->tasks.barrier = key_of_barrier(w);
		w->tasks.wait = wait;
	}
	return wait;
}

static bool is_in_wait(const struct thread_walk *w)
{
	return w->tasks.nwaits > 0 && w->tasks.waits[w->tasks.nwaits - 1].depth == w->tasks.nrunning;
}

void walk_leave_for_task(struct thread_walk *w, struct event_ref exit, uint64_t task)
{
	struct graph *g = w->b->graph;
	if (!is_in_wait(w))
		*MEM_GROW(w->tasks.waits, w->tasks.nwaits) = (struct left_wait){ wait_to_leave(w), w->tasks.nrunning };
	*SPILL_GROW(w->b->spill, g->task_runs, g->ntask_runs) = (struct graph_task_run){ .task = task, .process = w->process };
	graph_point(w->b, exit, GRAPH_RUNS, (uint32_t)g->ntask_runs - 1);
	w->tasks.apart = true;
}

/* A team's barrier: it is known only later whether tasks could be run there. */
static void note_visit(struct thread_walk *w, uint32_t wait)
{
	struct task_records *tasks = &w->records->tasks;
	uint64_t key = key_of_barrier(w);
	*SPILL_GROW(w->b->spill, tasks->visits, tasks->nvisits) = (struct team_visit){
		.key = key, .team = walk_collective(&w->entered).group, .enter = w->enter, .process = w->process,
		.wait = wait == NO_TASK_WAIT && w->tasks.barrier == key ? w->tasks.wait : wait, .tasks = w->tasks.apart };
	w->tasks.apart = false;
}

void walk_end_task_wait(struct thread_walk *w)
{
	uint32_t left = is_in_wait(w) ? w->tasks.waits[--w->tasks.nwaits].wait : NO_TASK_WAIT;
	if (walk_is_team_barrier(w, &w->entered)) {
		note_visit(w, left);
	} else if (walk_kind(w, w->entered.site) == DPROF_KIND_JOIN && trace_has(&w->entered, DPROF_KEY_ID)) {
		w->tasks.apart = true;
		if (left == NO_TASK_WAIT)
			come(w, w->enter, add_wait(w));
	}
}

/* Which of them it runs, and whether any, is chance, until the operation is over for which it waits. */
void walk_begin_task_chance(struct thread_walk *w, struct event_ref exit)
{
	if (w->tasks.by_chance)
		return;
	graph_note_pool(w->b->graph, w->entered.site);
	graph_set_schedule(w->b, exit, GRAPH_POOL_ENTERED);
	w->tasks.by_chance = true;
}

void walk_end_task_chance(struct thread_walk *w, struct event_ref exit)
{
	if (!w->tasks.by_chance || w->tasks.nrunning > 0)
		return;
	graph_set_schedule(w->b, exit, GRAPH_POOL_LEFT);
	w->tasks.by_chance = false;
}
