/* SPDX-License-Identifier: MIT
 *
 * cmd_csp.c - dprof-analyze csp: who works while everybody else waits, and for how long. */
#include <stdlib.h>

#include "analysis/commands/command.h"
#include "analysis/report/aggregate.h"
#include "analysis/report/clock_facts.h"
#include "analysis/report/decide.h"
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

static void fill_data(struct reply *r, const struct findings *f)
{
	reply_value(r, "span_s", tab_interval(findings_run_s(f)));
	run_ends_fill(r, &f->times, f->spans);
	reply_value(r, "bounds", tab_text(clock_bounds_word(&f->times)));
	reply_value(r, "verdict", tab_text(ranking_verdict(f)));
	ranking_fill(r, f);
	machine_fill(r, f);
}

static void fill_page(struct reply *r, const struct findings *f, bool every)
{
	notes_damage(r, f->trace->ndiagnostics - f->doubted);
	if (f->any_events)
		reply_say(r, SAY_LINE, "Straggler scores; the run took %s s", reply_interval(r, findings_run_s(f), 9).text);
	clock_bounds_say(r, &f->times);
	machine_say(r, f);
	ranking_say_open(r, f);
	ranking_say(r, f, SIZE_MAX, every);
	char *advice = ranking_advice(r, f);
	reply_say(r, SAY_TEXT, "%s", advice);
	free(advice);
}

static void fill(struct reply *r, const struct findings *f, const struct more *more, const struct options *options)
{
	if (r->data)
		fill_data(r, f);
	if (r->page)
		fill_page(r, f, options->verbose);
	struct decide decide = decide_find(&f->times, options, ranking_undecided(f), ranking_count_undecided);
	decide_fill(r, &decide);
	if (more->frames)
		aggregate_fill(r, &more->aggregate, &f->times, more->time_base, &f->spans[more->time_base]);
	if (more->by_instance)
		instances_fill(r, &more->instances, f);
	notes_fill(r, f->trace);
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

int cmd_csp(struct trace *trace, const struct options *options, struct reply *reply)
{
	struct findings f;
	struct more more;
	int status = findings_open(&f, trace, options);
	if (status != EXIT_FINE)
		return status;
	status = EXIT_USAGE;
	if (open_more(&more, &f, options)) {
		fill(reply, &f, &more, options);
		close_more(&more);
		status = trace->ndiagnostics > 0 ? EXIT_DAMAGED : EXIT_FINE;
	}
	findings_close(&f);
	return status;
}
