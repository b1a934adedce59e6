/* SPDX-License-Identifier: MIT
 *
 * threads.c - what it costs to record threads: threads lock|team|start|burst TIMES prints ns per uncontended
 * pthread_mutex_lock and unlock, or per empty parallel region of two threads; or the median of what passes from
 * pthread_create to the first statement of the thread, of threads that begin every 2 ms; or (burst) the median
 * of what passes per thread until 32 threads are made one right after the other and joined, every 20 ms.
 *
 * Linked with dprof's adapters, and without them as the reference. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BURST 32

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void lock(long times)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

	for (long i = 0; i < times; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
}

static void team(long times)
{
	for (long i = 0; i < times; i++) {
#pragma omp parallel num_threads(2)
		__asm__ volatile("");
	}
}

static void *other(void *unused)
{
	return unused;
}

static double begun;

static void *begin_thread(void *unused)
{
	begun = now_ns();
	return unused;
}

static int by_size(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

/* ns, or negative */
static double start_one(void)
{
	double from = now_ns();
	pthread_t thread;

	if (pthread_create(&thread, NULL, begin_thread, NULL) || pthread_join(thread, NULL))
		return -1;
	return begun - from;
}

static double start_burst(void)
{
	double from = now_ns();
	pthread_t thread[BURST];

	for (int i = 0; i < BURST; i++)
		if (pthread_create(&thread[i], NULL, other, NULL))
			return -1;
	for (int i = 0; i < BURST; i++)
		pthread_join(thread[i], NULL);
	return (now_ns() - from) / BURST;
}

static int start(double (*one)(void), long pause_ns, long times)
{
	double *took = calloc((size_t)times, sizeof(*took));

	for (long i = 0; took && i < times; i++) {
		nanosleep(&(struct timespec){ .tv_nsec = pause_ns }, NULL);
		took[i] = one();
		if (took[i] < 0)
			return 1;
	}
	if (!took)
		return 1;
	qsort(took, (size_t)times, sizeof(*took), by_size);
	printf("%.2f\n", took[times / 2]);
	free(took);
	return 0;
}

int main(int argc, char **argv)
{
	void (*what)(long) = argc == 3 && !strcmp(argv[1], "team") ? team : lock;
	long times = argc == 3 ? atol(argv[2]) : 0;
	pthread_t thread;
	double begin;

	if (times <= 0) {
		fputs("usage: threads lock|team|start|burst TIMES\n", stderr);
		return 2;
	}
	if (!strcmp(argv[1], "start"))
		return start(start_one, 2000000, times);
	if (!strcmp(argv[1], "burst"))
		return start(start_burst, 20000000, times);
	pthread_create(&thread, NULL, other, NULL); /* the C library's locks are cheaper before */
	pthread_join(thread, NULL);
	what(times / 10 + 1);
	begin = now_ns();
	what(times);
	printf("%.2f\n", (now_ns() - begin) / (double)times);
	return 0;
}
