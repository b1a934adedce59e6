/* SPDX-License-Identifier: MIT
 *
 * graph_tasks.h - tasks of OpenMP as walks along threads find them, until it is known which of them depend on which. */
#ifndef ANALYSIS_GRAPH_TASKS_H
#define ANALYSIS_GRAPH_TASKS_H

#include "analysis/graph/graph_private.h"

/* In a process; `order` grows from thread to thread and along each. */
struct made_task { uint32_t process; uint64_t task, parent, group, order; struct event_ref ref;
		   uint32_t priority; bool empty, cancels; };
struct task_run { uint32_t process; uint64_t task, event, order; struct event_ref end; bool ended,
		  detached, cancels; }; /* cancels: its taskgroup */
struct depends { uint32_t process; uint64_t parent, address, order, task; unsigned how; };
struct fulfilled { uint32_t process; uint64_t event; struct event_ref ref; };

/* A wait until a task may begin; or for all tasks of a task, or in a taskgroup. */
struct task_wait {
	uint32_t process, site;
	uint64_t number, order;
	bool all;
	struct event_ref enter, exit;
};

/* A barrier of a team to which a thread has come; perhaps it has been there before. `tasks`: they may be run there, as this thread
 * has run some, or waited for some, since the last one; `wait`: of the graph's, if it was left for one, or NO_TASK_WAIT. */
struct team_visit { uint64_t key, team; struct event_ref enter; uint32_t process, wait; bool tasks; };
#define NO_TASK_WAIT UINT32_MAX

struct task_records {
	struct team_visit *visits; size_t nvisits;
	struct made_task *made; size_t nmade;
	struct task_run *runs; size_t nruns;
	struct depends *depends; size_t ndepends;
	struct fulfilled *fulfilled; size_t nfulfilled;
	struct task_wait *waits; size_t nwaits;
	bool discarded;          /* somebody has cancelled a taskgroup: of its tasks some are never begun */
};

void graph_tasks(struct builder *, struct task_records *);
void graph_doubt_by_events(struct graph *, const struct task_records *); /* behind all others, when points are sorted */

#endif
