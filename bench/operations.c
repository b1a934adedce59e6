/* SPDX-License-Identifier: MIT
 *
 * operations.c - operations mpi|lock|parallel N prints ns of the thread's processor time for each call of MPI in
 * loops of MPI_Irecv, MPI_Isend and two MPI_Wait to oneself, or for each pthread_mutex_lock and unlock of a
 * lock without contention: the least of 200 batches of N / 200 loops, which other work on the
 * machine does not reach; and ns of all other threads for each of them, on the average. Or ns of
 * time for each empty parallel region of two threads, which spin: the least of 400 batches, since
 * both must have a core for all of it. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TIMES = 200, TEAM_TIMES = 400, CALLS = 4 };

static double now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double others_ns(void)
{
	return now_ns(CLOCK_PROCESS_CPUTIME_ID) - now_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void locks(long n)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

	for (long i = 0; i < n; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
}

static void teams(long n)
{
	for (long i = 0; i < n; i++) {
#pragma omp parallel num_threads(2)
		__asm__ volatile("");
	}
}

static void *other(void *unused)
{
	return unused;
}

static void messages(long n)
{
	char in[8], out[8] = "message";

	for (long i = 0; i < n; i++) {
		MPI_Request receive, send;

		MPI_Irecv(in, sizeof(in), MPI_CHAR, 0, 1, MPI_COMM_WORLD, &receive);
		MPI_Isend(out, sizeof(out), MPI_CHAR, 0, 1, MPI_COMM_WORLD, &send);
		MPI_Wait(&send, MPI_STATUS_IGNORE);
		MPI_Wait(&receive, MPI_STATUS_IGNORE);
	}
}

int main(int argc, char **argv)
{
	void (*what)(long) = argc != 3 ? NULL : !strcmp(argv[1], "mpi") ? messages
				  : !strcmp(argv[1], "lock") ? locks : teams;
	clockid_t clock = what == teams ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
	int times = what == teams ? TEAM_TIMES : TIMES;
	long n = argc == 3 ? atol(argv[2]) / times : 0;
	double least = 0, took, others, each = (double)n * (what == messages ? CALLS : 1);
	pthread_t thread;

	if (n <= 0) {
		fputs("usage: operations mpi|lock|parallel N\n", stderr);
		return 2;
	}
	MPI_Init(&argc, &argv);
	pthread_create(&thread, NULL, other, NULL); /* the C library's locks are cheaper before */
	pthread_join(thread, NULL);
	what(n);
	others = others_ns();
	for (int i = 0; i < times; i++) {
		double begin = now_ns(clock);

		what(n);
		took = now_ns(clock) - begin;
		least = !i || took < least ? took : least;
	}
	printf("%.2f %.2f\n", least / each, (others_ns() - others) / each / times);
	MPI_Finalize();
	return 0;
}
