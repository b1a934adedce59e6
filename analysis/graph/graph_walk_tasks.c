/* SPDX-License-Identifier: MIT
 *
 * graph_walk_tasks.c - along a thread: tasks that are made, run and waited for (graph_tasks.c joins them).
 *
 * Who waits in a barrier of its team, or for tasks, runs some of those that are ready. Which ones is chance, so in a what-if the
 * threads that were there share them out anew. */
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
		.parent = arg_task_maker(o, e), .group = arg_taskgroup(o, e), .empty = arg_task_empty(o, e) };
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

/* It comes for the next task. */
static void share_tasks(struct thread_walk *w, struct event_ref ref)
{
	w->tasks.shares = w->tasks.n++ < MOST_PIECES;
	w->b->graph->groups[w->tasks.group].many |= !w->tasks.shares;
	if (w->tasks.shares)
		graph_group_point(w->b, ref, GRAPH_REQUESTS, w->tasks.group);
}

/* Likewise, as it waits for tasks that are not of a barrier. */
static void note_request(struct thread_walk *w, struct event_ref ref)
{
	w->tasks.comes_too_often |= w->tasks.nrequests == MOST_PIECES;
	if (!w->tasks.comes_too_often)
		*MEM_GROW(w->tasks.requests, w->tasks.nrequests) = (struct task_request){ .ref = ref };
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
		w->tasks.just_ran = w->tasks.nrunning == 0;
	}
}

/* The first event behind the end of a task: that is still what the thread did, whoever runs the next one. */
void walk_come_again(struct thread_walk *w, struct event_ref ref)
{
	if (w->tasks.just_ran && w->tasks.shares)
		share_tasks(w, ref);
	else if (w->tasks.just_ran && w->tasks.waits_on)
		note_request(w, ref);
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

static void come_to_barrier(struct thread_walk *w)
{
	struct collective_id id = walk_collective(&w->entered);
	uint32_t group = walk_group(w, id.group, id.seq, false);
	bool more = w->tasks.n > 0 && group == w->tasks.group;
	w->tasks.group = group;
	w->tasks.n = more ? w->tasks.n : 0;
	w->tasks.shares = w->tasks.n < MOST_PIECES;
	if (!more)
		share_tasks(w, w->enter);
}

/* The outermost operation is left for a task: for the first one, to which the thread came when it entered, or for one more. */
void walk_begin_tasks(struct thread_walk *w, struct event_ref exit)
{
	if (!w->tasks.shares && walk_is_team_barrier(w, &w->entered))
		come_to_barrier(w);
	if (w->tasks.shares && walk_is_team_barrier(w, &w->entered))
		graph_group_point(w->b, exit, GRAPH_OBTAINS, w->tasks.group);
}

/* Likewise, but it is no barrier. */
void walk_begin_tasks_apart(struct thread_walk *w, struct event_ref exit)
{
	if (w->tasks.nrunning > 0 || walk_is_team_barrier(w, &w->entered))
		return;
	if (!w->tasks.waits_on)
		note_request(w, w->enter);
	w->tasks.waits_on = true;
	if (w->tasks.nrequests > 0)
		w->tasks.requests[w->tasks.nrequests - 1].has = exit;
}

/* The outermost operation is over, and if it was a wait for tasks, there is none left of those. */
void walk_end_tasks_apart(struct thread_walk *w)
{
	bool for_tasks = walk_kind(w, w->entered.site) == DPROF_KIND_JOIN && trace_has(&w->entered, DPROF_KEY_ID);
	if (w->tasks.nrunning > 0)
		return;
	if (for_tasks && !w->tasks.waits_on)
		note_request(w, w->enter);
	if ((for_tasks || w->tasks.waits_on) && w->tasks.nrequests > 0)
		w->tasks.requests[w->tasks.nrequests - 1].finishes = true;
	w->tasks.waits_on = false;
}

/* A team's barrier is over: whoever came there early has run tasks beside the one thread that waited for them before
 * it, and ran some as well. */
void walk_share_tasks_apart(struct thread_walk *w)
{
	struct collective_id id = walk_collective(&w->entered);
	bool shares = w->tasks.nrequests > 0 && !w->tasks.comes_too_often;
	uint32_t group = shares ? walk_group(w, id.group, id.seq, false) : 0;
	for (size_t i = 0; i < w->tasks.nrequests && shares; i++) {
		/* It has come once more, and there was nothing. */
		bool finishes = w->tasks.requests[i].finishes || !w->tasks.requests[i].has.stamp;
		graph_group_point(w->b, w->tasks.requests[i].ref, finishes ? GRAPH_FINISHES : GRAPH_REQUESTS, group);
		if (!finishes)
			graph_group_point(w->b, w->tasks.requests[i].has, GRAPH_OBTAINS, group);
	}
	if (shares) {
		w->b->graph->groups[group].many |= w->b->graph->groups[group].apart;
		w->b->graph->groups[group].apart = true;
	}
	w->tasks.nrequests = 0;
	w->tasks.comes_too_often = false;
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
