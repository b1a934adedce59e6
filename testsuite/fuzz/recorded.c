/* SPDX-License-Identifier: MIT
 *
 * recorded.c - a program whose trace is damaged: two threads with a lock and a region, which pause so that the
 * helper packs what they record. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static volatile long sum;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *nothing)
{
	for (int i = 0; i < 400; i++) {
		if (i % 40 == 0)
			usleep(2000);
		#pragma dprof region(work)
		{
			pthread_mutex_lock(&mutex);
			for (int k = 0; k < 1000; k++)
				sum += k;
			pthread_mutex_unlock(&mutex);
		}
	}
	return nothing;
}

int main(void)
{
	pthread_t thread[2];
	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, work, NULL))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	printf("%ld\n", sum);
	return 0;
}
