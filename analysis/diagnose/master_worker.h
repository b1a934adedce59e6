/* SPDX-License-Identifier: MIT
 *
 * master_worker.h - how each worker of a program spent its time that has a master who deals out tasks to whoever asks.
 *
 *	t_worker = t_init + t_comp + t_comm + t_wait + t_final
 *	t_wait   = t_seq + t_w-setup + t_w-bn + t_w-final
 *
 * Law: if a wait was ended by what the graph connects it with, each of these lies in its interval; so the sum of all
 * parts and t_worker lie in each other's.
 *
 * A worker's time goes from its first event to its last. Its tasks are recognised as abstract events
 * (rules/master-worker.events); the one behind which it asks no more is no task: it was told that it is over. *T_fin*
 * is when it asks behind its last task.
 *
 *   t_init    what it does before it asks for the first task, but for waiting
 *   t_comp    its tasks, with what its process's first thread waits in them for others of its process
 *   t_comm    what its messages to and from the master take, beyond waiting; and what else it does between tasks
 *   t_final   what it does behind T_fin, but for waiting and the message that it is over
 *   t_seq     waiting before the master takes the first request, and behind the last T_fin of all: for what the master
 *             does before and behind all tasks; where all come together between tasks, behind the last T_fin of that
 *             round
 *   t_w-setup waiting for a task while the master sets that one up t_w-final waiting behind its own T_fin until the
 *   last one, and where all come together between tasks likewise: there
 *             T_fin is when one asked last behind a task
 *   t_w-bn    all other waiting: the master is busy with requests
 *
 * Marks say it better: what a worker does in regions with role(task) are its tasks, in role(init) and role(final)
 * t_init and t_final. Of a worker with role(task) nothing else is a task; and what it asks for without coming there
 * then is none: it asks behind its last task when it asks first behind the last of these, or its life ends.
 *
 * What the master does between its last operation and sending a task is the *service* of that task. Set-up is what it
 * does there in regions with role(setup); without such marks, in regions in which it never is where it says that it is
 * over. What it does in both is handling requests. Where it is in no region there at all, all of a service is set-up.
 *
 * (Section 4 of Li and Malony, with what it leaves open made explicit: waiting is divided by when it was.)
 *
 * Memory: some 150 bytes for each operation of master and workers, in the graph's spill. */
#ifndef ANALYSIS_MASTER_WORKER_H
#define ANALYSIS_MASTER_WORKER_H

#include "analysis/diagnose/events.h"
#include "analysis/diagnose/steps.h"
#include "analysis/graph/graph_last.h"

enum worker_metric {
	WORKER_INIT, WORKER_COMP, WORKER_COMM, WORKER_FINAL, /* what it does */
	WORKER_SEQ, WORKER_SETUP, WORKER_BOTTLENECK, WORKER_FINALIZATION, /* what it waits for */
	WORKER_METRICS
};

struct worker {
	uint32_t thread;
	uint64_t tasks;
	frz_time life, wait, metric[WORKER_METRICS];
};

struct master_worker {
	uint32_t master;             /* thread */
	struct worker *workers; size_t nworkers;
	uint64_t tasks;
	frz_time task, service, message; /* in the middle of all: how long a task took, what the master did for one, and
					    its messages */
	frz_time apart, between;     /* of all workers' t_seq, and of their t_w-bn, that in which the master works */
	frz_time last_alone;         /* and of their t_w-final that in which it does not */
	uint32_t seq_site, busy_site, service_site, setup_site; /* where the master mostly was: in workers' t_seq and t_w-bn; in
								   services; in set-up. TR_NO_SITE: nowhere */
	uint32_t task_site, last;    /* where a worker's tasks were longest; the worker (thread) whose T_fin was the last */
	uint32_t assign_site;        /* where workers receive tasks */
};

/* `role_of` each process; `windows`: of each thread only in there (steps.h), or NULL. False: there are no tasks. */
bool master_worker_open(struct master_worker *, const struct graph *, struct graph_last *, const struct event_type *life_cycle,
			const enum event_role *role_of, const struct steps_window *windows);
void master_worker_close(struct master_worker *);

const char *worker_metric_key(enum worker_metric); /* "seq" */

#endif
