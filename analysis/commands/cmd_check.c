/* SPDX-License-Identifier: MIT
 *
 * cmd_check.c - dprof-analyze check: says what is wrong with a trace (trace_check.c), its clocks included.
 *
 * Law: a trace that this calls fine has every event of every thread, and each enter has its exit, but for
 * automatic regions and for what was open when a process ended. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/base/json.h"
#include "analysis/clocks/times.h"
#include "analysis/commands/command.h"

/* Whether the links between clocks agree with each other; opening them says so when they do not. */
static int check_clocks(struct trace *t, const struct options *options)
{
	struct times times;
	int status = times_open(&times, t, options);
	if (status == EXIT_FINE)
		times_close(&times);
	return status;
}

static uint64_t dropped(const struct trace *t)
{
	uint64_t n = 0;
	for (size_t i = 0; i < t->nthreads; i++)
		n += t->threads[i].dropped;
	return n;
}

/* ---- The verdict ----------------------------------------------------------------------------- */

/* `note`: the first of the check's own notes. */
static void print_json(const struct trace *t, uint64_t events, size_t note)
{
	struct json j = jw_on(stdout);
	jw_object(&j, NULL);
	jw_string(&j, "verdict", t->ndiagnostics ? "damaged" : "fine");
	jw_integer(&j, "hosts", (int64_t)t->nclocks);
	jw_integer(&j, "processes", (int64_t)t->nprocesses);
	jw_integer(&j, "threads", (int64_t)t->nthreads);
	jw_integer(&j, "events", (int64_t)events);
	jw_integer(&j, "lost", (int64_t)dropped(t));
	jw_integer(&j, "links", (int64_t)t->nlinks);
	jw_array(&j, "problems");
	for (size_t i = 0; i < t->ndiagnostics; i++)
		jw_string(&j, NULL, t->diagnostics[i]);
	jw_end(&j);
	jw_array(&j, "notes");
	for (size_t i = note; i < t->nnotes; i++)
		jw_string(&j, NULL, t->notes[i]);
	jw_end(&j);
	jw_end(&j);
}

static void print_count(const char *what, uint64_t n, const char *end)
{
	const char *plural = what[strlen(what) - 1] == 's' ? "es" : "s";
	printf("%" PRIu64 " %s%s%s", n, what, n == 1 ? "" : plural, end);
}

static void print_text(const struct trace *t, uint64_t events, size_t note)
{
	for (size_t i = 0; i < t->ndiagnostics; i++)
		puts(t->diagnostics[i]);
	for (size_t i = note; i < t->nnotes; i++)
		printf("note: %s\n", t->notes[i]);
	printf("%s: ", t->directory);
	if (t->ndiagnostics)
		print_count("problem", t->ndiagnostics, "; ");
	else
		fputs("fine: ", stdout);
	print_count("host", t->nclocks, ", ");
	print_count("process", t->nprocesses, ", ");
	print_count("thread", t->nthreads, ", ");
	print_count("event", events, ", ");
	print_count("link", t->nlinks, " between clocks\n");
}

int cmd_check(struct trace *t, const struct options *options)
{
	int status = check_clocks(t, options);
	if (status != EXIT_FINE)
		return status;
	size_t note = t->nnotes;
	uint64_t events = trace_check(t);
	if (options->json)
		print_json(t, events, note);
	else
		print_text(t, events, note);
	return t->ndiagnostics ? EXIT_DAMAGED : EXIT_FINE;
}
