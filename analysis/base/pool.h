/* SPDX-License-Identifier: MIT
 *
 * pool.h - tasks that do not depend on each other, on several cores.
 *
 * Law: pool_run() runs each of the tasks 0 .. n - 1 once, and begins them in that order. When it returns all have ended,
 * and what they wrote can be read. Which thread runs which task is left to chance; so what a task finds goes where its
 * number says, and whoever joins that does so in the order of numbers: then no answer depends on how many threads there
 * are. What a task needs but for itself (a buffer, a decoder) may be of its worker: no two tasks of one worker run at
 * the same time.
 *
 * A task that runs tasks itself runs them all, as worker 0 of those. */
#ifndef ANALYSIS_BASE_POOL_H
#define ANALYSIS_BASE_POOL_H

#include <stdbool.h>
#include <stddef.h>

#define POOL_MOST 256 /* threads, whatever is asked for */

/* So many threads at most from now on; without this call, one. 0: as many as there are cores. */
void pool_set_jobs(size_t jobs);

typedef void pool_task(void *of, size_t task, size_t worker);

/* `workers`: 0 .. workers - 1 is the number of the thread that runs a task; more than pool_workers() are not used. Where
 * no more threads can be made those that are there do it all. */
void pool_run(size_t tasks, size_t workers, pool_task *, void *of);

/* Whether the caller is a task. */
bool pool_in_task(void);

/* How many workers so many tasks keep busy. At least 1. */
size_t pool_workers(size_t tasks);

#endif
