/* SPDX-License-Identifier: MIT
 *
 * unmarked.c - unmarked loops|queue|tasks N: programs of threads in which nothing is marked, for counting instructions:
 * enough work a time that it is worth a thread, but for tasks.
 *
 *   loops   N parallel loops over 200,000 numbers
 *   queue   N pieces of work of some 400,000 instructions, which a thread makes and another takes
 *   tasks   the N-th number of Fibonacci by tasks that do nothing else */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 200000, PIECE = 100000 };

static double numbers[NUMBERS];

static double loops(int n)
{
	for (int i = 0; i < n; i++) {
#pragma omp parallel for num_threads(2)
		for (int k = 0; k < NUMBERS; k++)
			numbers[k] = numbers[k] * 0.5 + i;
	}
	return numbers[0];
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int pieces;

static double work(double x)
{
	for (int k = 0; k < PIECE; k++)
		x = x * 0.5 + k;
	return x;
}

static void move(int by, int unless)
{
	pthread_mutex_lock(&mutex);
	while (pieces == unless)
		pthread_cond_wait(&changed, &mutex);
	pieces += by;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&mutex);
}

static void *take(void *n)
{
	double x = 0;

	for (int i = *(int *)n; i > 0; i--) {
		move(-1, 0);
		x = work(x);
	}
	numbers[1] = x;
	return NULL;
}

static double queue(int n)
{
	double x = 0;
	pthread_t taker;

	pthread_create(&taker, NULL, take, &n);
	for (int i = 0; i < n; i++) {
		x = work(x);
		move(1, 16);
	}
	pthread_join(taker, NULL);
	return x + numbers[1];
}

static long number(int n)
{
	long a, b;

	if (n < 2)
		return n;
#pragma omp task shared(a)
	a = number(n - 1);
#pragma omp task shared(b)
	b = number(n - 2);
#pragma omp taskwait
	return a + b;
}

static double tasks(int n)
{
	long result = 0;

#pragma omp parallel num_threads(2)
#pragma omp single
	result = number(n);
	return (double)result;
}

int main(int argc, char **argv)
{
	int n = argc == 3 ? atoi(argv[2]) : 0;
	double (*what)(int) = argc != 3 ? NULL : !strcmp(argv[1], "loops") ? loops : !strcmp(argv[1], "queue") ? queue : tasks;

	if (n <= 0) {
		fputs("usage: unmarked loops|queue|tasks N\n", stderr);
		return 2;
	}
	printf("%g\n", what(n));
	return 0;
}
