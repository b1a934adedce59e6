/* SPDX-License-Identifier: MIT
 *
 * waits_openmp.c - the ways in which the threads of a team wait for each other, each with a cause that is known: one of two
 * threads works (in a region named after the case), and the other one waits for it.
 *
 *   case        who works     in region           who waits     in            dprof-analyze waits says
 *   imbalance   thread 1      until_its_end       the master    omp parallel  imbalance
 *   barrier     thread 1      before_barrier      the master    omp barrier   wait_at_barrier
 *   serial      the master    between_teams       thread 1      omp parallel  task_starvation
 *   critical    thread 1      in_critical         the master    omp critical  lock
 *
 * Law: the wait is as long as the work, but for the time that either of them waits for a core. */
#include <omp.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "examples/common/cases.h"

#define THREADS 2

static void imbalance(int64_t ns)
{
#pragma omp parallel num_threads(THREADS)
	if (omp_get_thread_num() == 1) {
#pragma dprof region(until_its_end)
		case_work(ns);
	}
}

static void barrier(int64_t ns)
{
#pragma omp parallel num_threads(THREADS)
	{
		if (omp_get_thread_num() == 1) {
#pragma dprof region(before_barrier)
			case_work(ns);
		}
#pragma omp barrier
	}
}

/* Until the next team, its threads have nothing to do. */
static void serial(int64_t ns)
{
#pragma omp parallel num_threads(THREADS)
	case_work(0);
#pragma dprof region(between_teams)
	case_work(ns);
#pragma omp parallel num_threads(THREADS)
	case_work(0);
}

static void critical(int64_t ns)
{
	atomic_bool entered = false;
#pragma omp parallel num_threads(THREADS)
	{
		while (omp_get_thread_num() == 0 && !entered)
			case_work(ns / 100);
#pragma omp critical
		if (omp_get_thread_num() == 1) {
			entered = true;
#pragma dprof region(in_critical)
			case_work(ns);
		}
	}
}

int main(int argc, char **argv)
{
	static const struct example_case cases[] = {
		{ "imbalance", imbalance, "one thread of a team comes later to its end" },
		{ "barrier", barrier, "one of two comes later to a barrier" },
		{ "serial", serial, "between two teams only the master works" },
		{ "critical", critical, "another one is in the critical section" },
		{ 0 },
	};
	cases_run(argc, argv, cases, "Shows how threads of a team wait for each other.", true);
	return 0;
}
