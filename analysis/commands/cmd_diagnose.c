/* SPDX-License-Identifier: MIT
 *
 * cmd_diagnose.c - dprof-analyze diagnose: what is slow, why, and what to change. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/nearest.h"
#include "analysis/base/shown.h"
#include "analysis/commands/command.h"
#include "analysis/diagnose/diagnose.h"
#include "analysis/report/clock_facts.h"
#include "analysis/report/doubt.h"
#include "analysis/report/locations.h"
#include "analysis/report/notes.h"
#include "analysis/report/polling_sleeps.h"
#include "analysis/report/profile_table.h"
#include "analysis/report/relations.h"
#include "analysis/report/unclassified.h"
#include "analysis/trace/names.h"

#define MOST_FINDINGS 6 /* others are shown with -v */

struct diagnosis_answer {
	const struct trace *trace;
	const struct times *times;
	struct diagnosis diagnosis;
};

static struct interval seconds(const struct diagnosis_answer *a, frz_time ticks)
{
	return times_seconds(a->times, a->times->time_base[a->trace->threads[0].clock], ticks);
}

static struct interval span_seconds(const struct diagnosis_answer *a)
{
	return seconds(a, a->diagnosis.span.length);
}

/* ---- The data -------------------------------------------------------------------------------- */

static void fill_location(struct reply *r, const struct trace *trace, uint32_t thread)
{
	if (thread >= trace->nthreads)
		return;
	reply_value(r, "rank", tab_count(trace->threads[thread].rank));
	reply_value(r, "pid", tab_count(trace_pid(trace, thread)));
	reply_value(r, "thread", tab_count(trace->threads[thread].number));
}

/* Of which part it is; of the whole run that goes without saying. */
static void fill_part(struct reply *r, size_t part)
{
	if (part)
		reply_value(r, "part", tab_count((int64_t)part));
}

static void fill_finding(struct reply *r, const struct trace *trace, const struct diagnosis_finding *f)
{
	char *where = site_place(trace, f->site);
	reply_row(r, tab_text(f->cause), tab_flag(f->proved), tab_interval(f->cost), tab_text(where),
		  f->site < trace->nsites ? tab_text(trace->sites[f->site].name) : tab_text(NULL), tab_text(f->what),
		  tab_text(f->suggestion));
	fill_location(r, trace, f->thread);
	fill_part(r, f->part);
	if (f->asked) {
		reply_value(r, "less_percent", tab_count(f->ask_percent));
		reply_value(r, "speedup_percent", tab_interval(f->bought));
		reply_value(r, "expected_percent", tab_interval(f->expected));
	}
	free(where);
}

static void fill_findings(struct reply *r, const struct diagnosis_answer *a)
{
	static const struct tab_column columns[] = { TAB_KEY("cause"), TAB_KEY("proved"), TAB_KEY("cost_percent"), TAB_KEY("where"),
						     TAB_KEY("region"), TAB_KEY("what"), TAB_KEY("suggestion"), { 0 } };
	reply_table(r, "findings", columns, 0);
	for (size_t i = 0; i < a->diagnosis.nfindings; i++)
		fill_finding(r, a->trace, &a->diagnosis.findings[i]);
	reply_end(r);
}

static void fill_lines(struct reply *r, const struct diagnosis_answer *a)
{
	static const struct tab_column columns[] = { TAB_KEY("level"), TAB_KEY("text"), { 0 } };
	reply_table(r, "explanation", columns, 0);
	for (size_t i = 0; i < a->diagnosis.nlines; i++) {
		reply_row(r, tab_count(a->diagnosis.lines[i].level), tab_text(a->diagnosis.lines[i].text));
		fill_part(r, a->diagnosis.lines[i].part);
	}
	reply_end(r);
}

static void fill_metrics(struct reply *r, const struct diagnosis_answer *a)
{
	static const struct tab_column columns[] = { TAB_KEY("metric"), TAB_KEY("seconds"), TAB_KEY("percent"),
						     TAB_KEY("lost_percent"), { 0 } };
	reply_table(r, "metrics", columns, 0);
	for (size_t i = 0; i < a->diagnosis.nmetrics; i++) {
		const struct diagnosis_metric *m = &a->diagnosis.metrics[i];
		reply_row(r, tab_text(m->name), tab_interval(m->seconds), tab_interval(m->share), tab_interval(m->lost));
		fill_location(r, a->trace, m->thread);
		fill_part(r, m->part);
	}
	reply_end(r);
}

static void fill_parts(struct reply *r, const struct diagnosis_answer *a)
{
	static const struct tab_column columns[] = { TAB_KEY("part"), TAB_KEY("model"), TAB_KEY("processes"), TAB_KEY("why_model"),
						     TAB_KEY("begins_s"), TAB_KEY("length_s"), { 0 } };
	if (!a->diagnosis.nparts)
		return;
	reply_table(r, "parts", columns, 0);
	for (size_t i = 0; i < a->diagnosis.nparts; i++) {
		const struct diagnosis_part *p = &a->diagnosis.parts[i];
		reply_row(r, tab_count((int64_t)i + 1), tab_text(p->model), tab_text(p->who), tab_text(p->why),
			  tab_interval(seconds(a, p->begins)), tab_interval(seconds(a, p->length)));
	}
	reply_end(r);
}

/* ---- The page -------------------------------------------------------------------------------- */

/* "Part 1 (master-worker): rank 0 and rank 1, for 0.35 s from 0.01 s on; all 12 messages are ..." */
static void say_part(struct reply *r, const struct diagnosis_answer *a, size_t part)
{
	const struct diagnosis_part *p = &a->diagnosis.parts[part - 1];
	reply_gap(r);
	reply_say(r, SAY_TEXT, "Part %zu (%s): %s, for %s s from %s s on; %s.", part, p->model ? p->model : "no model fits", p->who,
		  reply_interval(r, seconds(a, p->length), 6).text, reply_interval(r, seconds(a, p->begins), 6).text, p->why);
}

static void say_lines(struct reply *r, const struct diagnosis_answer *a)
{
	const struct diagnosis *d = &a->diagnosis;
	size_t said = 0;
	for (size_t i = 0; i < d->nlines; i++) {
		for (; said < d->lines[i].part; said++)
			say_part(r, a, said + 1);
		if (i == 0 || d->lines[i].part != d->lines[i - 1].part || d->lines[i].level != d->lines[i - 1].level)
			reply_gap(r);
		reply_say(r, SAY_TEXT, "%d. %s", d->lines[i].level, d->lines[i].text);
	}
	for (; said < d->nparts; said++)
		say_part(r, a, said + 1);
}

/* "half of that time there would make the run 3.2 ±0.1 % shorter (proved: 2.9 .. 3.3 %)"; and if what. */
static void say_gain(struct reply *r, const struct diagnosis_answer *a, const struct diagnosis_finding *f)
{
	char *where = f->ask_site < a->trace->nsites ? mem_format("in %s", site_name_within(a->trace, f->ask_site, 40).text)
						       : mem_copy("of work");
	char *who = f->ask_thread < a->trace->nthreads ? mem_format(" on %s", location_name(a->trace, f->ask_thread).text)
							 : mem_copy("");
	reply_say(r, SAY_DETAIL, "%u %% less time %s%s: the run would be %s %% shorter (proved%s: %s)", f->ask_percent, where, who,
		  reply_interval(r, f->expected, 1).text, a->diagnosis.if_work ? " if " UNCLASSIFIED_IF : "",
		  profile_bounds(r, f->bought, 1).text);
	free(where);
	free(who);
}

static void say_findings(struct reply *r, const struct diagnosis_answer *a, bool every)
{
	const struct diagnosis *d = &a->diagnosis;
	int width = locations_width(a->trace);
	const struct tab_column columns[] = { TAB_SHOWN(NULL, "cost, %", 15, 1, .bar = true), TAB_SHOWN(NULL, "cause", 13),
					      TAB_SHOWN(NULL, "on", width), TAB_SHOWN(NULL, "where", 36 - width),
					      TAB_SHOWN(NULL, ""), { 0 } };
	size_t shown = every || d->nfindings < MOST_FINDINGS ? d->nfindings : MOST_FINDINGS;
	reply_gap(r);
	reply_table(r, NULL, columns, SIZE_MAX);
	for (size_t i = 0; i < shown; i++) {
		const struct diagnosis_finding *f = &d->findings[i];
		bool some = f->site < a->trace->nsites;
		reply_row(r, tab_interval(f->cost), tab_text(f->cause),
			  f->thread < a->trace->nthreads ? tab_text(location_name(a->trace, f->thread).text) : tab_text("all"),
			  some ? tab_text(site_name_within(a->trace, f->site, (size_t)(36 - width)).text) : tab_text(""),
			  tab_verdict(f->proved));
		if (f->part)
			reply_say(r, SAY_DETAIL, "part %zu: %s", f->part, f->what);
		else
			reply_say(r, SAY_DETAIL, "%s", f->what);
		if (*f->suggestion)
			reply_say(r, SAY_DETAIL, "suggestion: %s", f->suggestion);
		if (f->asked)
			say_gain(r, a, f);
	}
	reply_end(r);
	if (shown < d->nfindings)
		reply_say(r, SAY_INDENTED, "... and %zu more: -v", d->nfindings - shown);
}

/* What rules have printed, line by line. */
static void say_printed(struct reply *r, const char *printed)
{
	for (const char *line = printed; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		char *text = mem_format("%.*s", (int)strcspn(line, "\n"), line), *fit = shown_copy(text);
		reply_say(r, SAY_LINE, "%s", fit);
		free(text);
		free(fit);
	}
}

static const char assumptions[] =
	"Assumed: a wait was ended by an operation that the trace connects with it. A cost is a share of all threads' time. Costs "
	"of several causes may be of the same time.";

static void fill_page(struct reply *r, const struct diagnosis_answer *a, bool every)
{
	const struct diagnosis *d = &a->diagnosis;
	if (d->unknown) {
		reply_say(r, SAY_TEXT, "%s: what was slow in the run of %s s, and why, is not known.", d->unknown,
			  reply_interval(r, span_seconds(a), 9).text);
		return;
	}
	reply_say(r, SAY_TEXT, "What is slow in the run of %s s, and why (model: %s).",
		  reply_interval(r, span_seconds(a), 9).text, d->model);
	if (d->why)
		reply_say(r, SAY_TEXT, "Model: %s.", d->why);
	say_lines(r, a);
	if (d->nfindings)
		say_findings(r, a, every);
	else
		reply_say(r, SAY_TEXT, "No cause was found that costs enough to matter.");
	say_printed(r, d->printed);
	reply_gap(r);
	reply_say(r, SAY_TEXT, "%s", assumptions);
}

/* ---- All of it ------------------------------------------------------------------------------- */

static void fill(struct reply *r, const struct diagnosis_answer *a, const struct options *o)
{
	notes_damage(r, a->trace->ndiagnostics);
	reply_value(r, "unknown", a->diagnosis.unknown ? tab_text(a->diagnosis.unknown) : TAB_NONE);
	reply_value(r, "model", tab_text(a->diagnosis.model));
	reply_value(r, "why_model", tab_text(a->diagnosis.why));
	reply_value(r, "span_s", tab_interval(span_seconds(a)));
	reply_value(r, "bounds", tab_text(clock_bounds_word(a->times)));
	reply_value(r, "proved_if", a->diagnosis.if_work ? tab_text(UNCLASSIFIED_IF) : TAB_NONE);
	fill_parts(r, a);
	fill_findings(r, a);
	fill_lines(r, a);
	fill_metrics(r, a);
	reply_value(r, "assumptions", tab_text(assumptions));
	fill_page(r, a, o->verbose);
}

static int give(struct reply *reply, struct diagnosis_answer *a, const struct options *o, bool usable)
{
	if (usable)
		fill(reply, a, o);
	for (size_t i = 0; i < a->diagnosis.nerrors; i++)
		shown_complain("%s", a->diagnosis.errors[i]);
	return a->diagnosis.nerrors ? EXIT_USAGE : EXIT_FINE;
}

static int answer(struct trace *trace, const struct times *times, const struct options *o, struct reply *reply)
{
	struct diagnosis_answer a = { .trace = trace, .times = times };
	struct unrecorded u;
	unrecorded_open(&u, trace, NULL);
	struct unclassified *unclassified = unclassified_find(trace, times);
	struct diagnosis_doubts doubts = doubt_diagnosis(trace, &u, polling_sleeps_say(trace, NULL), unclassified);
	unclassified_say(trace, unclassified);
	bool usable = diagnosis_open(&a.diagnosis, trace, times, &doubts, o);
	graph_said_tell(&a.diagnosis.said, trace);
	int status = give(reply, &a, o, usable);
	diagnosis_close(&a.diagnosis);
	free(doubts.most_s);
	free(unclassified);
	unrecorded_close(&u);
	return status;
}

bool reply_diagnosis(struct reply *reply, struct graph *graph, const struct waits *waits, const struct call_profile *calls,
		     const struct diagnosis_doubts *doubts, const struct options *options, struct diagnosis *found)
{
	struct diagnosis_answer a = { .trace = graph->trace, .times = graph->times };
	bool usable = diagnosis_of_graph(&a.diagnosis, graph, waits, calls, doubts, options);
	give(reply, &a, options, usable);
	if (usable)
		*found = a.diagnosis;
	else
		diagnosis_close(&a.diagnosis);
	return usable;
}

static int refuse_model(const char *model)
{
	const char *names[16];
	size_t n = 0;
	names[n++] = "auto";
	for (size_t i = 0; diagnosis_model_name(i); i++)
		names[n++] = diagnosis_model_name(i);
	const char *like = nearest(model, names, n);
	shown_complain("--model: expected auto or a model such as %s; found \"%s\"", like ? like : names[1], model);
	return EXIT_USAGE;
}

int cmd_diagnose(struct trace *trace, const struct options *options, struct reply *reply)
{
	if (options->model && strcmp(options->model, "auto") != 0 && !diagnosis_has_model(options->model))
		return refuse_model(options->model);
	return relations_run(trace, options, reply, "nothing can be diagnosed", answer);
}
