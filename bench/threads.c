/* SPDX-License-Identifier: MIT
 *
 * threads.c - what it costs to record threads: threads lock|team TIMES prints ns per uncontended
 * pthread_mutex_lock and unlock, or per empty parallel region of two threads.
 *
 * Linked with dprof's adapters, and without them as the reference. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

int main(int argc, char **argv)
{
	void (*what)(long) = argc == 3 && !strcmp(argv[1], "team") ? team : lock;
	long times = argc == 3 ? atol(argv[2]) : 0;
	pthread_t thread;
	double begin;

	if (times <= 0) {
		fputs("usage: threads lock|team TIMES\n", stderr);
		return 2;
	}
	pthread_create(&thread, NULL, other, NULL); /* the C library's locks are cheaper before */
	pthread_join(thread, NULL);
	what(times / 10 + 1);
	begin = now_ns();
	what(times);
	printf("%.2f\n", (now_ns() - begin) / (double)times);
	return 0;
}
