/* SPDX-License-Identifier: MIT
 *
 * blocking.c - what it costs to record what blocks in the C library: blocking WAY TIMES prints ns of the thread's
 * processor time per call, the least of some batches: a machine that does other things too takes none of that.
 *
 *   pipe    write a byte to a pipe and read it: the write is recorded, the read only with DPROF_BLOCKED_NS=0
 *   sleep   nanosleep that is refused (any other takes longer than can be measured well)
 *   null    write a byte to /dev/null: input and output that does not block
 *
 * Linked with dprof's adapters, and without them as the reference. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BATCHES 200

static int in, out;

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void through_pipe(long times)
{
	char c = 'x';

	for (long i = 0; i < times; i++)
		if (write(out, &c, 1) != 1 || read(in, &c, 1) != 1)
			exit(1);
}

static void sleep_none(long times)
{
	struct timespec none = { 0, -1 };

	for (long i = 0; i < times; i++)
		nanosleep(&none, NULL);
}

static void to_null(long times)
{
	for (long i = 0; i < times; i++)
		if (write(out, "x", 1) != 1)
			exit(1);
}

int main(int argc, char **argv)
{
	const char *way = argc == 3 ? argv[1] : "";
	long times = argc == 3 ? atol(argv[2]) : 0;
	void (*what)(long) = !strcmp(way, "pipe") ? through_pipe : !strcmp(way, "sleep") ? sleep_none : to_null;
	int fd[2];
	double best = 0;

	if (times < BATCHES || pipe(fd) != 0) {
		fprintf(stderr, "usage: blocking pipe|sleep|null TIMES\n");
		return 2;
	}
	in = fd[0];
	out = what == to_null ? open("/dev/null", O_WRONLY) : fd[1];
	what(times / BATCHES);
	for (int i = 0; i < BATCHES; i++) {
		double begin = now_ns(), took;

		what(times / BATCHES);
		took = (now_ns() - begin) / (double)(times / BATCHES);
		best = !i || took < best ? took : best;
	}
	printf("%.2f\n", best);
	return 0;
}
