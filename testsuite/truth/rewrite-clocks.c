/* SPDX-License-Identifier: MIT
 *
 * rewrite-clocks - gives one host of a trace another clock: a filter over dprof's text form.
 *
 *   dprof-analyze dump DIR | rewrite-clocks --clock 1 --rate 1.35 --offset-hours 5 | dprof-analyze pack - DIR2
 *   dprof-analyze dump DIR | rewrite-clocks --merge | ...      all threads on clock 0: the truth, when
 *                                                             all hosts were one machine
 *
 * Law: each stamp of that clock becomes floor(rate * stamp) + offset, and its nominal ticks per nanosecond are as many
 * times more: what a kernel counts in nanoseconds is as long as before. Nothing else changes. */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testsuite/truth/clockmap.h"

#define MAX_THREADS 65536

struct rewrite {
	long clock;
	bool merge;
	struct clockmap map;
	double rate;
	long clock_of[MAX_THREADS];     /* of each thread */
	char **owners; size_t nowners;  /* lines of processes and threads, until another one comes */
};

static void die(const char *line, const char *why)
{
	fprintf(stderr, "rewrite-clocks: %s: %s", why, line);
	exit(1);
}

/* The number at *at, which moves behind it. */
static uint64_t number(char **at, const char *line)
{
	char *end;
	errno = 0;
	uint64_t n = strtoull(*at, &end, 10);
	if (end == *at || errno)
		die(line, "a number is missing");
	*at = end;
	return n;
}

static uint64_t new_stamp(const struct rewrite *r, uint64_t clock, uint64_t stamp)
{
	return !r->merge && (long)clock == r->clock ? clockmap_stamp(&r->map, (int64_t)stamp) : stamp;
}

/* What stands behind " clock=" in a line; NULL when it has none. */
static char *clock_value(char *line)
{
	char *key = strstr(line, " clock=");
	return key ? key + strlen(" clock=") : NULL;
}

/* "thread N clock=C ...", and "process N clock=C ..." where it has one: merged, all are on clock 0. */
static void owner_line(const struct rewrite *r, char *line)
{
	char *value = clock_value(line), *behind = value;
	if (r->merge && value) {
		number(&behind, line);
		printf("%.*s0%s", (int)(value - line), line, behind);
	} else {
		fputs(line, stdout);
	}
}

/* The line with the stamps changed that a process or a thread has in its keys; 0 is none. To be freed. */
static char *with_stamps(const struct rewrite *r, uint64_t clock, const char *line)
{
	static const char *const keys[] = { " started=", " unborn=", " init_from=", " init_to=", " ended=", " jumps=" };
	char *now = strdup(line);
	for (size_t i = 0; now && i < sizeof keys / sizeof *keys; i++) {
		char *key = strstr(now, keys[i]), *behind = key ? key + strlen(keys[i]) : NULL, *changed = NULL;
		uint64_t stamp = key ? number(&behind, line) : 0;
		if (!stamp)
			continue;
		if (asprintf(&changed, "%.*s%s%" PRIu64 "%s", (int)(key - now), now, keys[i], new_stamp(r, clock, stamp), behind) < 0)
			changed = NULL;
		free(now);
		now = changed;
	}
	if (!now)
		die(line, "no memory");
	return now;
}

/* Whose clock the process reads, its threads say. */
static uint64_t clock_of_process(const struct rewrite *r, char *line)
{
	char *at = line + strlen("process "), *clock = clock_value(line);
	uint64_t process = number(&at, line);
	if (clock)
		return number(&clock, line);
	for (size_t i = 0; i < r->nowners; i++) {
		char *of = *r->owners[i] == 't' ? strstr(r->owners[i], " process=") : NULL;
		clock = clock_value(r->owners[i]);
		if (of && (of += strlen(" process="), number(&of, line)) == process && clock)
			return number(&clock, line);
	}
	return 0;
}

/* Remembers whose clock a thread reads. */
static uint64_t clock_of_thread(struct rewrite *r, char *line)
{
	char *at = line + strlen("thread "), *clock = clock_value(line);
	uint64_t thread = number(&at, line);
	if (thread >= MAX_THREADS || !clock)
		die(line, "not a thread");
	return (uint64_t)(r->clock_of[thread] = (long)number(&clock, line));
}

/* All lines of processes and threads, which stand together. */
static void owner_lines(struct rewrite *r)
{
	for (size_t i = 0; i < r->nowners; i++) {
		char *line = r->owners[i];
		char *changed = with_stamps(r, *line == 't' ? clock_of_thread(r, line) : clock_of_process(r, line), line);
		owner_line(r, changed);
		free(changed);
	}
	for (size_t i = 0; i < r->nowners; i++)
		free(r->owners[i]);
	r->nowners = 0;
}

static void keep_owner(struct rewrite *r, const char *line)
{
	r->owners = realloc(r->owners, (r->nowners + 1) * sizeof *r->owners);
	if (!r->owners || !(r->owners[r->nowners++] = strdup(line)))
		die(line, "no memory");
}

/* "clock N ... ghz=G ...": merged, only the first one is left. */
static void clock_line(const struct rewrite *r, char *line)
{
	char *at = line + strlen("clock "), *ghz = strstr(line, " ghz="), *behind;
	long clock = (long)number(&at, line);
	if (r->merge && clock != 0)
		return;
	if (r->merge || clock != r->clock || !ghz) {
		fputs(line, stdout);
		return;
	}
	ghz += strlen(" ghz=");
	double nominal = strtod(ghz, &behind);
	printf("%.*s%.12g%s", (int)(ghz - line), line, nominal * r->rate, behind);
}

/* "e THREAD STAMP ..." and its kin. */
static void event_line(const struct rewrite *r, char *line)
{
	char *at = strchr(line, ' ');
	char *word_end = at;
	uint64_t thread = number(&at, line), stamp = number(&at, line);
	if (thread >= MAX_THREADS)
		die(line, "not a thread");
	printf("%.*s %" PRIu64 " %" PRIu64 "%s", (int)(word_end - line), line, thread,
	       new_stamp(r, (uint64_t)r->clock_of[thread], stamp), at);
}

/* "sched THREAD FROM TO ...". */
static void sched_line(const struct rewrite *r, char *line)
{
	char *at = line + strlen("sched ");
	uint64_t thread = number(&at, line), from = number(&at, line), to = number(&at, line);
	if (thread >= MAX_THREADS)
		die(line, "not a thread");
	uint64_t clock = (uint64_t)r->clock_of[thread];
	printf("sched %" PRIu64 " %" PRIu64 " %" PRIu64 "%s", thread, new_stamp(r, clock, from),
	       new_stamp(r, clock, to), at);
}

/* "link FROM SENT TO RECEIVED": evidence about clocks, which the truth does not need. */
static void link_line(const struct rewrite *r, char *line)
{
	if (r->merge)
		return;
	char *at = line + strlen("link ");
	uint64_t from = number(&at, line), sent = number(&at, line);
	uint64_t to = number(&at, line), received = number(&at, line);
	printf("link %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "%s", from, new_stamp(r, from, sent), to,
	       new_stamp(r, to, received), at);
}

static bool starts(const char *line, const char *word)
{
	return strncmp(line, word, strlen(word)) == 0;
}

static void rewrite(struct rewrite *r)
{
	char *line = NULL;
	size_t room = 0;
	while (getline(&line, &room, stdin) > 0) {
		bool owner = starts(line, "thread ") || starts(line, "process ");
		if (!owner)
			owner_lines(r);
		if (owner)
			keep_owner(r, line);
		else if (starts(line, "clock "))
			clock_line(r, line);
		else if (starts(line, "e "))
			event_line(r, line);
		else if (starts(line, "sched "))
			sched_line(r, line);
		else if (starts(line, "link "))
			link_line(r, line);
		else
			fputs(line, stdout);
	}
	owner_lines(r);
	free(r->owners);
	free(line);
}

/* "1.35" as 135 / 100. */
static void fraction(const char *text, int64_t *num, int64_t *den)
{
	*num = 0, *den = 1;
	bool behind_point = false;
	for (const char *c = text; *c; c++) {
		if (*c == '.' && !behind_point) {
			behind_point = true;
			continue;
		}
		if (*c < '0' || *c > '9' || *den > 100000000) {
			fprintf(stderr, "rewrite-clocks: --rate: expected a short decimal, found %s\n", text);
			exit(2);
		}
		*num = *num * 10 + (*c - '0');
		*den *= behind_point ? 10 : 1;
	}
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "clock", required_argument, NULL, 'c' }, { "rate", required_argument, NULL, 'r' },
		{ "offset-hours", required_argument, NULL, 'o' },
		{ "offset-ms", required_argument, NULL, 'O' }, { "merge", no_argument, NULL, 'm' }, { 0 },
	};
	static struct rewrite r = { .clock = -1 };
	int64_t num = 1, den = 1, offset_ticks = 0;

	for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
		switch (c) {
		case 'c': r.clock = atol(optarg); break;
		case 'r': fraction(optarg, &num, &den); break;
		case 'o': offset_ticks = atol(optarg) * 3600 * INT64_C(2250000000); break; /* some 2.25 GHz */
		case 'O': offset_ticks = atol(optarg) * INT64_C(2250000); break;
		case 'm': r.merge = true; break;
		default: return 2;
		}
	}
	if (!r.merge && r.clock < 0) {
		fprintf(stderr, "usage: rewrite-clocks --clock N [--rate X] [--offset-hours H | --offset-ms MS] | --merge\n");
		return 2;
	}
	r.map = clockmap_affine(0, offset_ticks, num, den);
	r.rate = (double)num / (double)den;
	rewrite(&r);
	clockmap_free(&r.map);
	return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
