/* SPDX-License-Identifier: MIT
 *
 * analysis_pool.c - each task is run once, begun in order, and over when pool_run() returns. */
#include <sched.h>
#include <stdatomic.h>

#include "analysis/base/pool.h"
#include "testsuite/unit/unit.h"

#define TASKS 300

struct ran {
	atomic_size_t begun;              /* tasks, so far */
	size_t most;                      /* workers */
	size_t times[TASKS], worker[TASKS], before[TASKS]; /* how many had begun before, at least */
	atomic_bool busy[POOL_MOST];
};

static void note(void *of, size_t task, size_t worker)
{
	struct ran *r = of;
	ck_assert_uint_lt(worker, r->most);
	ck_assert_msg(!atomic_exchange(&r->busy[worker], true), "worker %zu has two tasks", worker);
	r->before[task] = atomic_fetch_add(&r->begun, 1);
	if (task % 7 == 0)
		sched_yield();
	r->times[task]++;
	r->worker[task] = worker;
	atomic_store(&r->busy[worker], false);
}

START_TEST(each_task_runs_once)
{
	for (size_t jobs = 1; jobs <= 9; jobs++)
		for (size_t tasks = 0; tasks <= TASKS; tasks = 2 * tasks + 1) {
			struct ran r = { .begun = 0 };
			pool_set_jobs(jobs);
			r.most = pool_workers(tasks);
			ck_assert_uint_ge(r.most, 1);
			ck_assert_uint_le(r.most, jobs);
			ck_assert(tasks == 0 || r.most <= tasks);
			pool_run(tasks, r.most, note, &r);
			ck_assert_uint_eq(r.begun, tasks);
			for (size_t i = 0; i < TASKS; i++)
				ck_assert_uint_eq(r.times[i], i < tasks);
			/* Task i is taken after all before it; of these only what others have just taken may not have got so
			 * far as to say so. */
			for (size_t i = 0; i < tasks; i++)
				ck_assert_uint_ge(r.before[i] + r.most, i + 1);
		}
}
END_TEST

START_TEST(no_more_workers_than_wanted)
{
	pool_set_jobs(8);
	for (size_t most = 1; most <= 8; most++) {
		struct ran r = { .most = most };
		pool_run(TASKS, most, note, &r);
		ck_assert_uint_eq(r.begun, TASKS);
	}
	pool_set_jobs(10000);
	ck_assert_uint_eq(pool_workers(10000), POOL_MOST);
	ck_assert_uint_eq(pool_workers(3), 3);
	pool_set_jobs(0);
	ck_assert_uint_ge(pool_workers(10000), 1);
}
END_TEST

static void run_within(void *of, size_t task, size_t worker)
{
	struct ran *r = of, own = { .most = 1 };
	(void)worker;
	ck_assert(pool_in_task());
	ck_assert_uint_eq(pool_workers(20), 1);
	pool_run(20, 8, note, &own);
	for (size_t i = 0; i < 20; i++)
		r->times[task] += own.times[i];
}

START_TEST(tasks_of_a_task_are_its_own)
{
	struct ran r = { .most = 4 };
	pool_set_jobs(4);
	ck_assert(!pool_in_task());
	pool_run(TASKS, 4, run_within, &r);
	ck_assert(!pool_in_task());
	for (size_t i = 0; i < TASKS; i++)
		ck_assert_uint_eq(r.times[i], 20);
}
END_TEST

int main(void)
{
	TCase *laws = unit_begin(60, 0);

	tcase_add_test(laws, each_task_runs_once);
	tcase_add_test(laws, no_more_workers_than_wanted);
	tcase_add_test(laws, tasks_of_a_task_are_its_own);
	return unit_end();
}
