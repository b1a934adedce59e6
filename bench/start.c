/* SPDX-License-Identifier: MIT
 *
 * start.c - start THREADS: creates so many threads, each of which is in one region and ends, one after the other;
 * and the main thread is in one. What a process and a thread cost at start and at finish; nothing else is done.
 *
 * With dprof and, as the reference, without. */
#include <pthread.h>
#include <stdlib.h>

static void *region(void *unused)
{
#pragma dprof region(empty)
	{
		__asm__ volatile("" ::: "memory");
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	region(NULL);
	for (int i = argc > 1 ? atoi(argv[1]) : 0; i > 0; i--)
		if (pthread_create(&thread, NULL, region, NULL) || pthread_join(thread, NULL))
			return 1;
	return 0;
}
