/* SPDX-License-Identifier: MIT
 *
 * unify METHOD <TEXT >TEXT - a trace as one sees it who believes a method's estimates: each stamp of
 * clock 1 becomes what METHOD says of it on clock 0, and all threads are on clock 0 then.
 *
 * A filter over dprof's text form. Law: nothing but clocks and stamps changes, and stamps of one thread
 * keep their order. Status 3, after the reason on stderr: the packets contradict the method. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/paper/methods.h"

#define MAX_THREADS   4096
#define CONTRADICTION 3

struct text {
	char **line; size_t n;
	struct frz_link *link; size_t nlinks;
	bool far[MAX_THREADS];     /* on clock 1 */
	uint64_t last[MAX_THREADS];
};

static void *grown(void *old, size_t n, size_t size)
{
	void *new = n & (n - 1) ? old : realloc(old, (n ? 2 * n : 1) * size);

	if (!new) {
		fputs("unify: no memory\n", stderr);
		exit(1);
	}
	return new;
}

static void take(struct text *t, char *line)
{
	struct frz_link l;
	unsigned thread, clock;

	if (sscanf(line, "link %" SCNu32 " %" SCNu64 " %" SCNu32 " %" SCNu64, &l.from, &l.sent, &l.to,
		   &l.received) == 4) {
		t->link = grown(t->link, t->nlinks, sizeof *t->link);
		t->link[t->nlinks++] = l;
	} else if (sscanf(line, "thread %u clock=%u", &thread, &clock) == 2 && thread < MAX_THREADS) {
		t->far[thread] = clock == 1;
	}
	t->line = grown(t->line, t->n, sizeof *t->line);
	t->line[t->n++] = line;
}

static bool starts(const char *line, const char *word)
{
	return strncmp(line, word, strlen(word)) == 0;
}

/* "... clock=1 ..." with a 0 instead. */
static void put_owner(const char *line)
{
	const char *clock = strstr(line, " clock=");

	if (clock)
		printf("%.*s clock=0%s", (int)(clock - line), line,
		       clock + strlen(" clock=") + strspn(clock + strlen(" clock="), "0123456789"));
	else
		fputs(line, stdout);
}

static void put_event(struct text *t, struct fitted *f, const char *line)
{
	unsigned thread;
	uint64_t stamp;
	int behind;

	if (sscanf(line, "e %u %" SCNu64 "%n", &thread, &stamp, &behind) != 2 ||
	    thread >= MAX_THREADS) {
		fprintf(stderr, "unify: expected an event, found %s", line);
		exit(1);
	}
	if (t->far[thread])
		stamp = (uint64_t)((int64_t)f->origin + llround(method_time(f, stamp).estimate));
	if (stamp < t->last[thread])
		stamp = t->last[thread]; /* two stamps less than a tick apart */
	t->last[thread] = stamp;
	printf("e %u %" PRIu64 "%s", thread, stamp, line + behind);
}

static void put(struct text *t, struct fitted *f)
{
	for (size_t i = 0; i < t->n; i++) {
		const char *line = t->line[i];

		if (starts(line, "e "))
			put_event(t, f, line);
		else if (starts(line, "thread ") || starts(line, "process "))
			put_owner(line);
		else if (!starts(line, "link ") && !(starts(line, "clock ") && !starts(line, "clock 0 ")))
			fputs(line, stdout);
	}
}

int main(int argc, char **argv)
{
	static struct text t;
	struct fitted f;
	char *line = NULL;
	size_t room = 0;

	if (argc != 2) {
		fputs("usage: unify METHOD <TEXT >TEXT\n", stderr);
		return 2;
	}
	for (; getline(&line, &room, stdin) > 0; line = NULL, room = 0)
		take(&t, line);
	struct baseline_evidence e = { .clock = 1, .base = 0, .links = t.link, .nlinks = t.nlinks };
	int error = t.nlinks ? method_fit(&f, method_named(argv[1]), &e, t.link[0].sent) : -ENODATA;

	if (error) {
		fprintf(stderr, "%s\n", method_why(error));
		return error == -EDOM ? CONTRADICTION : 1;
	}
	put(&t, &f);
	method_release(&f);
	return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
