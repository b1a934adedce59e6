/* SPDX-License-Identifier: MIT
 *
 * harness.c - see harness.h. Threads start together; each counts for itself, in histograms that are exact
 * up to EXACT ticks and to 1/64 above, so that 10^8 records need no more memory than 10^4. */
#define _GNU_SOURCE
#include "bench/harness.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <x86intrin.h>

#define MAX_THREADS 256
#define EXACT       16384 /* = 2^14: more than a batch costs but when it is disturbed */
#define STEPS       64    /* buckets for each doubling above */

struct histogram {
	uint64_t n, sum;
	uint32_t count[EXACT + STEPS * (64 - 14)];
};

struct bench_worker {
	pthread_t thread;
	int number;
	uint64_t batches;
	struct histogram longer, shorter; /* ticks of LONG and of SHORT records */
};

static pthread_barrier_t start;

__attribute__((weak)) void bench_begin(void) {}
__attribute__((weak)) void bench_thread_begin(int thread) { (void)thread; }
__attribute__((weak)) void bench_thread_end(void) {}
__attribute__((weak)) void bench_end(void) {}

static unsigned bucket_of(uint64_t ticks)
{
	if (ticks < EXACT)
		return (unsigned)ticks;
	unsigned top = 63 - (unsigned)__builtin_clzll(ticks); /* >= 14 */
	return EXACT + (top - 14) * STEPS + (unsigned)(ticks >> (top - 6)) % STEPS;
}

/* The least number of ticks in a bucket. */
static uint64_t ticks_of(unsigned bucket)
{
	if (bucket < EXACT)
		return bucket;
	unsigned top = 14 + (bucket - EXACT) / STEPS;
	return (uint64_t)(STEPS + (bucket - EXACT) % STEPS) << (top - 6);
}

static void note(struct histogram *h, uint64_t ticks)
{
	h->n++;
	h->sum += ticks;
	h->count[bucket_of(ticks)]++;
}

/* What a share of all is greater than. */
static double exceeded_by(const struct histogram *h, double share)
{
	uint64_t more = (uint64_t)(share * (double)h->n);
	unsigned bucket = sizeof h->count / sizeof *h->count;
	for (uint64_t seen = 0; seen <= more && bucket; )
		seen += h->count[--bucket];
	return (double)ticks_of(bucket);
}

static void pin(int core)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(core, &set);
	pthread_setaffinity_np(pthread_self(), sizeof set, &set); /* without it: only noisier */
}

static void time_pairs(unsigned pairs, struct histogram *h)
{
	uint64_t before = __rdtsc();
	bench_record_pairs(pairs);
	note(h, __rdtsc() - before);
}

static void *work(void *argument)
{
	struct bench_worker *w = argument;
	pin(w->number);
	bench_thread_begin(w->number);
	pthread_barrier_wait(&start);
	for (uint64_t i = 0; i < w->batches; i++) {
		if (i == w->batches / 10)
			w->longer = w->shorter = (struct histogram){ 0 };
		time_pairs(LONG / 2, &w->longer);
		for (int k = 0; k < LONG / SHORT; k++)
			time_pairs(SHORT / 2, &w->shorter);
	}
	bench_thread_end();
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc == 3 ? atoi(argv[1]) : 0;
	uint64_t batches = argc == 3 ? (uint64_t)strtod(argv[2], NULL) / (2 * LONG) : 0;
	if (threads < 1 || threads > MAX_THREADS || batches < 10) {
		fprintf(stderr, "usage: %s THREADS RECORDS\n", argv[0]);
		return 2;
	}
	static struct bench_worker workers[MAX_THREADS];
	pthread_barrier_init(&start, NULL, (unsigned)threads);
	bench_begin();
	for (int i = 0; i < threads; i++) {
		workers[i].number = i;
		workers[i].batches = batches;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			return 1;
	}
	for (int i = 0; i < threads; i++) {
		struct bench_worker *w = &workers[i];
		pthread_join(w->thread, NULL);
		printf("%.2f %.2f %.2f\n", exceeded_by(&w->longer, 0.5) / LONG, exceeded_by(&w->shorter, 0.001) / SHORT,
		       (double)w->longer.sum / (double)w->longer.n / LONG);
	}
	bench_end();
	return 0;
}
