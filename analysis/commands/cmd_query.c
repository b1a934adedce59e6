/* SPDX-License-Identifier: MIT
 *
 * cmd_query.c - dprof-analyze query: for how long does a condition hold, and when? */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/shown.h"
#include "analysis/commands/command.h"
#include "analysis/report/clock_facts.h"
#include "analysis/report/frame_list.h"
#include "analysis/report/notes.h"
#include "analysis/report/presence.h"
#include "analysis/states/totals.h"

struct query_answer {
	struct trace *trace;
	const char *text;        /* of the query */
	struct times times;
	struct roles roles;
	struct query query;
	struct totals totals;
	struct span span;
	uint32_t time_base;
	struct frames frames;
};

/* ---- As text --------------------------------------------------------------------------------- */

static struct interval seconds(const struct query_answer *a, frz_time ticks)
{
	return times_seconds(&a->times, a->time_base, ticks);
}

static void print_text(const struct query_answer *a)
{
	const struct frames *f = &a->frames;
	struct interval percent = interval_percent(f->holds, a->span.length);
	notes_damage(a->trace->ndiagnostics);
	char *holds = mem_format("holds for %s s of the run's %s s, that is %s %%",
				 interval_compact(seconds(a, f->holds), 9).text,
				 interval_compact(seconds(a, a->span.length), 9).text,
				 interval_range(percent, 3).text);
	puts(a->text);
	print_wrapped("  ", holds);
	free(holds);
	printf("  certain in %" PRIu64 " stretch%s, possible in %" PRIu64 " more\n", f->certain,
	       f->certain == 1 ? "" : "es", f->possible);
	frame_list_print(&a->times, a->time_base, f);
	clock_bounds_print(&a->times);
	for (size_t i = 0; i < a->query.nnotes; i++)
		print_wrapped("note: ", a->query.notes[i]);
	notes_print(a->trace);
}

/* ---- As JSON --------------------------------------------------------------------------------- */

static void print_json(const struct query_answer *a)
{
	struct json j = jw_on(stdout);
	jw_object(&j, NULL);
	jw_string(&j, "query", a->text);
	jw_string(&j, "bounds", clock_bounds_word(&a->times));
	jw_interval(&j, "span_s", seconds(a, a->span.length));
	jw_interval(&j, "holds_s", seconds(a, a->frames.holds));
	jw_interval(&j, "share_percent", interval_percent(a->frames.holds, a->span.length));
	jw_object(&j, "frames");
	jw_integer(&j, "certain", (int64_t)a->frames.certain);
	jw_integer(&j, "possible", (int64_t)a->frames.possible);
	jw_end(&j);
	frame_list_json(&j, "longest", &a->times, a->time_base, &a->frames);
	jw_array(&j, "remarks");
	for (size_t i = 0; i < a->query.nnotes; i++)
		jw_string(&j, NULL, a->query.notes[i]);
	jw_end(&j);
	notes_json(&j, a->trace);
	jw_end(&j);
}

/* ---- The answer ------------------------------------------------------------------------------ */

static void say_error(const char *text, struct query_error *error)
{
	char *before = mem_format("%.*s", (int)error->at, text);
	char *what = shown_copy(error->what), *shown = shown_copy(text), *indent = shown_copy(before);
	fprintf(stderr, "dprof-analyze: query: %s\n  %s\n  ", what, shown);
	for (const char *c = indent; *c; c++) /* a letter may have several bytes */
		if ((*c & 0xc0) != 0x80)
			putc(' ', stderr);
	fputs("^\n", stderr);
	free(before);
	free(indent);
	free(shown);
	free(what);
	free(error->what);
}

/* The base clock's time base; the first one that has events when that has none. */
static void find_span(struct query_answer *a)
{
	a->span = times_span(&a->times, a->time_base, a->totals.ends);
	for (uint32_t time_base = 1; time_base < a->times.ntime_bases && !a->span.events;
	     time_base++) {
		a->time_base = time_base;
		a->span = times_span(&a->times, time_base, a->totals.ends);
	}
}

static void compute(struct query_answer *a, const struct options *options)
{
	totals_open(&a->totals, a->trace, &a->roles);
	totals_states(&a->totals);
	say_open_ends(a->trace, &a->totals);
	say_unrecorded(a->trace);
	say_absent(a->trace, &a->totals, options);
	find_span(a);
	frames_open(&a->frames, &a->times, &a->query, a->time_base, &a->span,
		    options->json ? FRAMES_IN_JSON : FRAMES_IN_TEXT);
	if (options->json)
		print_json(a);
	else
		print_text(a);
	frames_close(&a->frames);
	totals_close(&a->totals);
}

int cmd_query(struct trace *trace, const struct options *options)
{
	struct query_answer a = { .trace = trace, .text = options->query };
	struct query_error error;
	int status = times_open(&a.times, trace, options);
	if (status != EXIT_FINE)
		return status;
	status = EXIT_USAGE;
	if (roles_open(&a.roles, trace, options->work, options->wait)) {
		if (query_open(&a.query, trace, &a.roles, options->query, &error)) {
			compute(&a, options);
			query_close(&a.query);
			status = trace->ndiagnostics > 0 ? EXIT_DAMAGED : EXIT_FINE;
		} else {
			say_error(options->query, &error);
		}
	}
	roles_close(&a.roles);
	times_close(&a.times);
	return status;
}
