/* SPDX-License-Identifier: MIT
 *
 * cmd_csp.c - dprof-analyze csp: who works while everybody else waits, and for how long. */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/commands/command.h"
#include "analysis/report/aggregate.h"
#include "analysis/report/clock_facts.h"
#include "analysis/report/frame_list.h"
#include "analysis/report/instances.h"
#include "analysis/report/machine.h"
#include "analysis/report/notes.h"
#include "analysis/report/ranking.h"
#include "analysis/report/run_ends.h"

/* What was asked for beside the scores. */
struct more {
	bool frames, by_instance;
	uint32_t time_base;
	struct aggregate aggregate;
	struct instances instances;
};

static void print_json(const struct findings *f, const struct more *more)
{
	struct json j = jw_on(stdout);
	jw_object(&j, NULL);
	jw_interval(&j, "span_s", findings_run_s(f));
	run_ends_json(&j, "outside_span", &f->times, f->spans);
	jw_string(&j, "bounds", clock_bounds_word(&f->times));
	jw_string(&j, "verdict", ranking_verdict(&f->ranks));
	ranking_json(&j, f);
	machine_json(&j, "machine", f);
	if (more->frames)
		aggregate_json(&j, "aggregated", &more->aggregate, &f->times, more->time_base,
			       &f->spans[more->time_base]);
	if (more->by_instance)
		instances_json(&j, "by_instance", &more->instances, f);
	notes_json(&j, f->trace);
	jw_end(&j);
}

static void heading(const char *text)
{
	printf("%s\n", text);
}

static void print_text(const struct findings *f, const struct more *more, bool every)
{
	notes_damage(f->trace->ndiagnostics - f->doubted);
	printf("Straggler scores; the run took %s s\n",
	       interval_compact(findings_run_s(f), 9).text);
	clock_bounds_print(&f->times);
	machine_print(f, heading);
	ranking_print(f, SIZE_MAX, every);
	char *advice = ranking_advice(f);
	print_wrapped("", advice);
	free(advice);
	if (more->frames)
		aggregate_print(&more->aggregate, &f->times, more->time_base,
				&f->spans[more->time_base]);
	if (more->by_instance)
		instances_print(&more->instances, f);
	notes_print(f->trace);
}

/* False after a message. */
static bool open_more(struct more *more, const struct findings *f, const struct options *options)
{
	*more = (struct more){ .frames = options->frames, .by_instance = options->instances,
			       .time_base = findings_time_base(f) };
	if (more->by_instance && !instances_open(&more->instances, f, options->instances))
		return false;
	if (more->frames)
		aggregate_open(&more->aggregate, &f->times, more->time_base,
			       &f->spans[more->time_base],
			       options->json ? FRAMES_IN_JSON : FRAMES_IN_TEXT);
	return true;
}

static void close_more(struct more *more)
{
	if (more->frames)
		aggregate_close(&more->aggregate);
	if (more->by_instance)
		instances_close(&more->instances);
}

int cmd_csp(struct trace *trace, const struct options *options)
{
	struct findings f;
	struct more more;
	int status = findings_open(&f, trace, options);
	if (status != EXIT_FINE)
		return status;
	status = EXIT_USAGE;
	if (open_more(&more, &f, options)) {
		if (options->json)
			print_json(&f, &more);
		else
			print_text(&f, &more, options->verbose);
		close_more(&more);
		status = trace->ndiagnostics > 0 ? EXIT_DAMAGED : EXIT_FINE;
	}
	findings_close(&f);
	return status;
}
