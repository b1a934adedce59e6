/* SPDX-License-Identifier: MIT
 *
 * pool.c - see pool.h: threads that take the next task as long as there is one. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "analysis/base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

static size_t jobs = 1;
static _Thread_local bool in_task;

struct pool {
	pool_task *run;
	void *of;
	size_t tasks;
	atomic_size_t next;
};

struct pool_worker { struct pool *pool; size_t number; pthread_t thread; };

static size_t cores(void)
{
	cpu_set_t set;
	return sched_getaffinity(0, sizeof set, &set) == 0 ? (size_t)CPU_COUNT(&set) : 1;
}

void pool_set_jobs(size_t wanted)
{
	wanted = wanted ? wanted : cores();
	jobs = wanted < POOL_MOST ? wanted : POOL_MOST;
}

bool pool_in_task(void)
{
	return in_task;
}

size_t pool_workers(size_t tasks)
{
	size_t workers = in_task ? 1 : jobs;
	return tasks < workers ? (tasks ? tasks : 1) : workers;
}

static void *work(void *of)
{
	const struct pool_worker *w = of;
	bool within = in_task;
	in_task = true;
	for (size_t task; (task = atomic_fetch_add(&w->pool->next, 1)) < w->pool->tasks;)
		w->pool->run(w->pool->of, task, w->number);
	in_task = within;
	return NULL;
}

void pool_run(size_t tasks, size_t workers, pool_task *run, void *of)
{
	struct pool pool = { .run = run, .of = of, .tasks = tasks };
	struct pool_worker all[POOL_MOST];
	size_t most = pool_workers(tasks), n = 1;
	workers = workers < most ? workers : most;
	all[0] = (struct pool_worker){ .pool = &pool };
	for (; n < workers; n++) {
		all[n] = (struct pool_worker){ .pool = &pool, .number = n };
		if (pthread_create(&all[n].thread, NULL, work, &all[n]) != 0)
			break;
	}
	work(&all[0]);
	while (n > 1)
		pthread_join(all[--n].thread, NULL);
}
