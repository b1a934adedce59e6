/* SPDX-License-Identifier: MIT
 *
 * progress.c - see progress.h. */
#include "analysis/base/progress.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "analysis/base/pool.h"

#define PATIENCE_NS INT64_C(1000000000) /* before the first word, */
#define PAUSE_NS    INT64_C(250000000)  /* and between two */

static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

static struct {
	const char *stage;       /* NULL: none */
	uint64_t done, total;
	int64_t next_ns;         /* then it is time to say something */
	bool said;
} now;

static bool silent;

void progress_silence(void)
{
	silent = true;
}

static int64_t clock_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void progress_begin(const char *stage, uint64_t total)
{
	if (pool_in_task())
		return;
	now.stage = !silent && isatty(STDERR_FILENO) ? stage : NULL;
	now.done = 0;
	now.total = total;
	now.said = false;
	now.next_ns = now.stage ? clock_ns() + PATIENCE_NS : 0;
}

static void say(void)
{
	if (now.total)
		fprintf(stderr, "\r\033[K%s: %.0f %%", now.stage,
			100.0 * (double)(now.done < now.total ? now.done : now.total) /
				(double)now.total);
	else
		fprintf(stderr, "\r\033[K%s: %.1f million", now.stage, (double)now.done / 1e6);
	fflush(stderr);
	now.said = true;
}

void progress_add(uint64_t done)
{
	if (!now.stage)
		return;
	pthread_mutex_lock(&adding);
	now.done += done;
	int64_t ns = clock_ns();
	if (ns >= now.next_ns) {
		now.next_ns = ns + PAUSE_NS;
		say();
	}
	pthread_mutex_unlock(&adding);
}

void progress_end(void)
{
	if (pool_in_task())
		return;
	if (now.said)
		fputs("\r\033[K", stderr);
	now.stage = NULL;
	now.said = false;
}
