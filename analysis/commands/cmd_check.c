/* SPDX-License-Identifier: MIT
 *
 * cmd_check.c - dprof-analyze check: says what is wrong with a trace (trace_check.c), its clocks included.
 *
 * Law: a trace that this calls fine has every event of every thread, and each enter has its exit, but for
 * automatic regions and for what was open when a process ended. What has no cause in it (graph_causes.h) is said, and is no
 * damage: it may never have been recorded. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/clocks/times.h"
#include "analysis/commands/command.h"
#include "analysis/report/causes_table.h"
#include "analysis/report/records_end.h"

static uint64_t dropped(const struct trace *t)
{
	uint64_t n = 0;
	for (size_t i = 0; i < t->nthreads; i++)
		n += t->threads[i].dropped;
	return n;
}

/* ---- The verdict ----------------------------------------------------------------------------- */

/* Those of files, and the check's own, of which the first is `note`. To be freed. */
static char **notes_of(const struct trace *t, size_t note, size_t *n)
{
	size_t own = t->nnotes - note;
	char **notes = mem_resize(NULL, t->nnotes_of_files + own + 1, sizeof *notes);
	*n = 0;
	for (size_t i = 0; i < t->nnotes_of_files; i++)
		notes[(*n)++] = t->notes[t->note_of_file + i];
	for (size_t i = 0; i < own; i++)
		notes[(*n)++] = t->notes[note + i];
	return notes;
}

static void fill_data(struct reply *r, const struct trace *t, uint64_t events, char **notes, size_t n)
{
	reply_value(r, "verdict", tab_text(t->ndiagnostics ? "damaged" : "fine"));
	reply_value(r, "hosts", tab_count(t->nclocks));
	reply_value(r, "processes", tab_count((int64_t)(t->nprocesses + t->uncounted)));
	reply_value(r, "threads", tab_count((int64_t)(t->nthreads + t->uncounted)));
	reply_value(r, "events", tab_count(events));
	reply_value(r, "lost", tab_count(dropped(t)));
	reply_value(r, "links", tab_count(t->nlinks));
	reply_texts(r, "problems", t->diagnostics, t->ndiagnostics);
	reply_texts(r, "notes", notes, n);
}

struct counted { char text[48]; };

/* "1 host", "2 processes" */
static struct counted counted(uint64_t n, const char *what)
{
	struct counted c;
	const char *plural = what[strlen(what) - 1] == 's' ? "es" : "s";
	snprintf(c.text, sizeof c.text, "%" PRIu64 " %s%s", n, what, n == 1 ? "" : plural);
	return c;
}

static void fill_page(struct reply *r, const struct trace *t, uint64_t events, char *const *notes, size_t n)
{
	for (size_t i = 0; i < t->ndiagnostics; i++)
		reply_say(r, SAY_LINE, "%s", t->diagnostics[i]);
	for (size_t i = 0; i < n; i++)
		reply_say(r, SAY_LINE, "note: %s", notes[i]);
	reply_say(r, SAY_LINE, "%s: %s%s %s, %s, %s%s, %s%s%s%s", t->directory,
		  t->ndiagnostics ? counted(t->ndiagnostics, "problem").text : "fine", t->ndiagnostics ? ";" : ":",
		  counted(t->nclocks, "host").text, counted(t->nprocesses + t->uncounted, "process").text,
		  t->uncounted ? "at least " : "", counted(t->nthreads + t->uncounted, "thread").text,
		  counted(events, "event").text, t->nclocks > 1 ? ", " : "",
		  t->nclocks > 1 ? counted(t->nlinks, "link").text : "", t->nclocks > 1 ? " between clocks" : "");
}

/* Opening the clocks has said whether their links agree with each other. */
int cmd_check(struct trace *t, const struct options *options, struct reply *reply)
{
	struct times times;
	int status = times_open(&times, t, options);
	if (status != EXIT_FINE)
		return status;
	size_t note = t->nnotes, n;
	uint64_t events = trace_check(t);
	records_end_say(t);
	struct causes_table causes;
	causes_table_open(&causes, t, &times);
	char **notes = notes_of(t, note, &n);
	fill_data(reply, t, events, notes, n);
	causes_table_fill(reply, &causes);
	fill_page(reply, t, events, notes, n);
	free(notes);
	causes_table_say(reply, &causes);
	causes_table_close(&causes);
	times_close(&times);
	return t->ndiagnostics ? EXIT_DAMAGED : EXIT_FINE;
}
