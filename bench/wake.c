/* SPDX-License-Identifier: MIT
 *
 * wake.c - what it costs a thread that sleeps to wake up: microseconds of its core, the median. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define WAKES    21
#define SLEEP_MS 50

static double cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_value(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

int main(void)
{
	double cost[WAKES];

	for (int i = 0; i < WAKES; i++) {
		double before = cpu_us();

		poll(NULL, 0, SLEEP_MS);
		cost[i] = cpu_us() - before;
	}
	qsort(cost, WAKES, sizeof *cost, by_value);
	printf("%.0f\n", cost[WAKES / 2]);
	return 0;
}
