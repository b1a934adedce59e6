/* SPDX-License-Identifier: MIT
 *
 * harness.c - see harness.h. Threads start together; each keeps its own samples, so that no number is
 * amortised over threads. The first tenth of the samples warms up and is not counted. */
#define _GNU_SOURCE
#include "bench/harness.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <x86intrin.h>

#define MAX_THREADS 256

struct worker {
	pthread_t thread;
	int number;
	size_t samples;
	uint32_t *ticks;           /* of each sample */
};

static pthread_barrier_t start;

__attribute__((weak)) void bench_begin(void) {}
__attribute__((weak)) void bench_thread_begin(int thread) { (void)thread; }
__attribute__((weak)) void bench_thread_end(void) {}
__attribute__((weak)) void bench_end(void) {}

static void pin(int core)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(core, &set);
	pthread_setaffinity_np(pthread_self(), sizeof set, &set); /* without it: only noisier */
}

static void *work(void *argument)
{
	struct worker *w = argument;
	pin(w->number);
	bench_thread_begin(w->number);
	pthread_barrier_wait(&start);
	for (size_t i = 0; i < w->samples; i++) {
		uint64_t before = __rdtsc();
		bench_record_pairs(SAMPLE / 2);
		uint64_t ticks = __rdtsc() - before;
		w->ticks[i] = ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
	}
	bench_thread_end();
	return NULL;
}

static int ascending(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

static void print(const struct worker *w)
{
	size_t warm = w->samples / 10, counted = w->samples - warm;
	uint32_t *ticks = w->ticks + warm;
	qsort(ticks, counted, sizeof *ticks, ascending);
	printf("%.2f %.2f\n", ticks[counted / 2] / (double)SAMPLE,
	       ticks[counted - 1 - counted / 1000] / (double)SAMPLE);
}

int main(int argc, char **argv)
{
	int threads = argc == 3 ? atoi(argv[1]) : 0;
	size_t samples = argc == 3 ? strtoull(argv[2], NULL, 10) / SAMPLE : 0;
	if (threads < 1 || threads > MAX_THREADS || samples < 10) {
		fprintf(stderr, "usage: %s THREADS RECORDS\n", argv[0]);
		return 2;
	}
	static struct worker workers[MAX_THREADS];
	pthread_barrier_init(&start, NULL, (unsigned)threads);
	bench_begin();
	for (int i = 0; i < threads; i++) {
		struct worker *w = &workers[i];
		*w = (struct worker){ .number = i, .samples = samples, .ticks = calloc(samples, sizeof *w->ticks) };
		if (!w->ticks || pthread_create(&w->thread, NULL, work, w))
			return 1;
	}
	for (int i = 0; i < threads; i++) {
		pthread_join(workers[i].thread, NULL);
		print(&workers[i]);
	}
	bench_end();
	return 0;
}
