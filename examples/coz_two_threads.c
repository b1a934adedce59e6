/* SPDX-License-Identifier: MIT
 *
 * coz_two_threads.c - the two threads of Figure 1 of the Coz paper (Curtsinger and Berger, SOSP
 * 2015), annotated for dprof.
 *
 * One thread is in region a for 6.7 s, the other one in region b for 6.4 s, and the run ends when
 * both have ended. A sampling profiler says that each is half of the run. But the run would be
 * only 4.5 % shorter without a, since b takes as long as ever; and no shorter at all without b.
 *
 * The threads do not compute but sleep, until a time that was fixed before they began; so the run
 * is what is written above, whatever else runs on the cores; and it says how late they woke. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common/option.h"
#include "examples/common/pace.h"

struct two_threads_work {
	int64_t end_ns;  /* when it is to end */
	int64_t late_ns; /* by how much it ended later */
};

struct two_threads_run {
	double a_s, b_s, scale;
	struct two_threads_work a, b;
};

static void work(struct two_threads_work *w)
{
	pace_until(w->end_ns);
	w->late_ns = pace_now() - w->end_ns;
}

static void *a(void *w)
{
#pragma dprof region(a)
	work(w);
	return NULL;
}

static void *b(void *w)
{
#pragma dprof region(b)
	work(w);
	return NULL;
}

/* 0 or an error number. */
static int run_both(struct two_threads_run *run)
{
	pthread_t thread[2];
	int64_t begin_ns = pace_now();
	run->a.end_ns = begin_ns + (int64_t)(run->a_s * run->scale * PACE_SECOND);
	run->b.end_ns = begin_ns + (int64_t)(run->b_s * run->scale * PACE_SECOND);
	int error = pthread_create(&thread[0], NULL, a, &run->a);
	if (error)
		return error;
	error = pthread_create(&thread[1], NULL, b, &run->b);
	if (!error)
		pthread_join(thread[1], NULL);
	pthread_join(thread[0], NULL);
	return error;
}

static const struct argp_option options[] = {
	{ "a", 'a', "S", 0, "how long a takes (6.7 s)", 0 },
	{ "b", 'b', "S", 0, "how long b takes (6.4 s)", 0 },
	{ "scale", 's', "X", 0, "both take X times as long (0.1)", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct two_threads_run *run = state->input;
	switch (key) {
	case 'a': run->a_s = option_real(state, "--a", arg, 0, 1000); return 0;
	case 'b': run->b_s = option_real(state, "--b", arg, 0, 1000); return 0;
	case 's': run->scale = option_real(state, "--scale", arg, 0, 1000); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, NULL, "Two threads: one is in region a, the other one in region b.",
		NULL, NULL, NULL,
	};
	struct two_threads_run run = { .a_s = 6.7, .b_s = 6.4, .scale = 0.1 };
	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &run);
	int64_t begin_ns = pace_now();
	int error = run_both(&run);
	if (error) {
		fprintf(stderr, "coz_two_threads: cannot start a thread: %s\n", strerror(error));
		return 1;
	}
	printf("a was %.3f ms late, b %.3f ms, the run took %.4f s\n", (double)run.a.late_ns / 1e6,
	       (double)run.b.late_ns / 1e6, (double)(pace_now() - begin_ns) / PACE_SECOND);
	return 0;
}
