/* SPDX-License-Identifier: MIT
 *
 * waits_threads.c - the ways in which threads wait for each other, each with a cause that is known: the main thread starts another
 * one, which works (in a region named after the case), and waits for it.
 *
 *   case        the other thread works in  the main thread waits in  dprof-analyze waits says
 *   lock        with_the_lock              pthread_mutex_lock        lock
 *   condition   before_the_signal          pthread_cond_wait         condition
 *   semaphore   before_the_post            sem_wait                  condition
 *   join        until_its_end              pthread_join              join
 *   polling     before_the_permit          sem_trywait               condition
 *
 * Law: the main thread begins to wait when the other one begins to work, or before; so the wait is as long as the work, but for
 * the time that either of them waits for a core. */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "examples/common/cases.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static bool is_ready;
static sem_t permit, begun;
static int64_t work_ns;

static pthread_t start(void *(*routine)(void *), int64_t ns)
{
	pthread_t thread;
	work_ns = ns;
	if (pthread_create(&thread, NULL, routine, NULL) != 0) {
		fprintf(stderr, "cannot make a thread\n");
		exit(1);
	}
	return thread;
}

static void *holds_the_lock(void *none)
{
	pthread_mutex_lock(&mutex);
	sem_post(&begun);
#pragma dprof region(with_the_lock)
	case_work(work_ns);
	pthread_mutex_unlock(&mutex);
	return none;
}

static void lock(int64_t ns)
{
	pthread_t other = start(holds_the_lock, ns);
	sem_wait(&begun);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	pthread_join(other, NULL);
}

static void *signals(void *none)
{
#pragma dprof region(before_the_signal)
	case_work(work_ns);
	pthread_mutex_lock(&mutex);
	is_ready = true;
	pthread_cond_signal(&ready);
	pthread_mutex_unlock(&mutex);
	return none;
}

static void condition(int64_t ns)
{
	is_ready = false;
	pthread_t other = start(signals, ns);
	pthread_mutex_lock(&mutex);
	while (!is_ready)
		pthread_cond_wait(&ready, &mutex);
	pthread_mutex_unlock(&mutex);
	pthread_join(other, NULL);
}

static void *posts(void *none)
{
#pragma dprof region(before_the_post)
	case_work(work_ns);
	sem_post(&permit);
	return none;
}

static void semaphore(int64_t ns)
{
	pthread_t other = start(posts, ns);
	sem_wait(&permit);
	pthread_join(other, NULL);
}

static void *works(void *none)
{
#pragma dprof region(until_its_end)
	case_work(work_ns);
	return none;
}

static void join(int64_t ns)
{
	pthread_join(start(works, ns), NULL);
}

static void *permits(void *none)
{
#pragma dprof region(before_the_permit)
	case_work(work_ns);
	sem_post(&permit);
	return none;
}

/* Who asks again and again in vain waits, too. */
static void polling(int64_t ns)
{
	pthread_t other = start(permits, ns);
	while (sem_trywait(&permit) != 0)
		;
	pthread_join(other, NULL);
}

int main(int argc, char **argv)
{
	static const struct example_case cases[] = {
		{ "lock", lock, "another one has the lock" },
		{ "condition", condition, "another one signals the condition variable later" },
		{ "semaphore", semaphore, "another one posts the semaphore later" },
		{ "join", join, "the other one ends later" },
		{ "polling", polling, "who waits asks sem_trywait again and again" },
		{ 0 },
	};
	sem_init(&permit, 0, 0);
	sem_init(&begun, 0, 0);
	cases_run(argc, argv, cases, "Shows how threads wait for each other.", true);
	return 0;
}
