/* SPDX-License-Identifier: MIT
 *
 * cmd_report.c - dprof-analyze report: where the time went, and what to look at. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/shown.h"
#include "analysis/commands/command.h"
#include "analysis/commands/html_page.h"
#include "analysis/diagnose/diagnose.h"
#include "analysis/efficiency/useful.h"
#include "analysis/report/clock_facts.h"
#include "analysis/report/decide.h"
#include "analysis/report/doubt.h"
#include "analysis/report/enclosing.h"
#include "analysis/report/frequent.h"
#include "analysis/report/location_table.h"
#include "analysis/report/machine.h"
#include "analysis/report/next_step.h"
#include "analysis/report/notes.h"
#include "analysis/report/profile_table.h"
#include "analysis/report/ranking.h"
#include "analysis/report/region_table.h"
#include "analysis/report/relations.h"
#include "analysis/report/run_ends.h"
#include "analysis/report/unclassified.h"
#include "analysis/trace/names.h"

#define RANKED_SHOWN 8
#define PROFILE_SHOWN   8
#define CAUSES_SHOWN    3
#define PROGRAM_ROOM    40
#define HOST_ROOM       20

static size_t count_ranks(const struct trace *trace)
{
	size_t ranks = 0;
	for (size_t p = 0; p < trace->nprocesses; p++)
		ranks += trace->processes[p].rank >= 0;
	return ranks + trace->uncounted;
}

static size_t count_unfinished(const struct trace *trace)
{
	size_t unfinished = 0;
	for (size_t p = 0; p < trace->nprocesses; p++)
		unfinished += trace_was_cut(&trace->processes[p]);
	return unfinished;
}

static const char *program_name(const struct trace *trace)
{
	size_t first = 0;
	while (first + 1 < trace->nprocesses && trace->processes[first].executed)
		first++;
	const char *path = trace->nprocesses ? trace->processes[first].program : NULL;
	if (!path)
		return "unknown program";
	return strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

struct page {
	struct findings *f;
	struct unclassified *unclassified; /* percent of each thread */
	struct profile profile;
	struct next_step step;
	bool efficiency;             /* these are known: parallel, load balance, communication */
	struct factors factors;
	struct decide decide;
	bool diagnosed;              /* why it was slow is known: */
	struct diagnosis diagnosis;
	struct graph *graph;           /* there already, or NULL; */
	const struct diagnosis *known; /* and this */
};

/* ---- What faster code would buy -------------------------------------------------------------- */

struct report_region_time { uint32_t region; double ticks; };

static int by_ticks(const void *x, const void *y)
{
	const struct report_region_time *a = x, *b = y;
	if (a->ticks != b->ticks)
		return a->ticks < b->ticks ? 1 : -1;
	return ORDER(a->region, b->region);
}

/* Regions that enclose all that was done are as big as the run, and say nothing where there are others. */
static bool any_within(const struct totals *totals, const struct report_region_time *times)
{
	for (uint32_t r = 0; r < totals->nregions; r++)
		if (times[r].ticks > 0 && !encloses_run(totals, totals->site_of_region[times[r].region]))
			return true;
	return false;
}

/* The sites of the regions that took most: others cannot buy much. */
static bool *biggest_regions(const struct findings *f)
{
	const struct totals *totals = &f->totals;
	struct report_region_time *times = mem_resize(NULL, totals->nregions + 1, sizeof *times);
	bool *big = mem_resize(NULL, totals->nregions + 1, sizeof *big);
	bool *wanted = mem_resize(NULL, f->trace->nsites + 1, sizeof *wanted);
	for (uint32_t r = 0; r < totals->nregions; r++) {
		times[r] = (struct report_region_time){ r, 0 };
		for (size_t t = 0; t < f->trace->nthreads; t++)
			times[r].ticks += (double)totals->threads[t].regions[r].time.sure.ticks;
	}
	qsort(times, totals->nregions, sizeof *times, by_ticks);
	bool within = any_within(totals, times);
	for (uint32_t i = 0; i < totals->nregions; i++)
		big[times[i].region] = i < PROFILE_ROWS && times[i].ticks > 0 &&
				       !(within && encloses_run(totals, totals->site_of_region[times[i].region]));
	for (size_t i = 0; i < f->trace->nsites; i++)
		wanted[i] = totals->region_of_site[i] != TR_NO_SITE &&
			    big[totals->region_of_site[i]];
	free(times);
	free(big);
	return wanted;
}

/* Of a graph that is there, and more that is to be asked of it; or NULL. */
static void find_profile(struct page *p, struct graph *graph, const struct profile_more *more, size_t nmore)
{
	const struct findings *f = p->f;
	bool *wanted = biggest_regions(f);
	struct profile_aside aside = next_step_asks(f);
	struct profile_request request = { .wanted = wanted, .who = COZ_ALL, .aside = &aside, .graph = graph, .more = more,
					   .nmore = nmore };
	doubt_profile(&request, f->trace, &f->unrecorded, f->polling_sleeps_s, p->unclassified);
	profile_open(&p->profile, f->trace, &f->times, &request);
	graph_said_tell(&p->profile.said, f->trace);
	free(wanted);
}

/* ---- How much was useful -------------------------------------------------------------------------- */

/* Of one thread they say what its row of waiting does. */
static void find_efficiency(struct page *p)
{
	const struct findings *f = p->f;
	struct useful useful;
	if (f->trace->nthreads < 2 || relations_missing(&f->times))
		return;
	bool followed = roles_are_useful(&f->roles, f->trace);
	useful_open(&useful, f->trace, &f->times, followed ? &f->totals : NULL,
		    f->unrecorded.checked ? f->unrecorded.threads : NULL);
	p->efficiency = useful.nthreads > 1;
	if (p->efficiency)
		p->factors = useful_factors(&useful);
	useful_close(&useful);
}

/* ---- Why ------------------------------------------------------------------------------------- */

/* They take longer than the rest: as with what would decide, of a long trace only with -v. */
static bool wants_causes(const struct page *p, const struct options *options)
{
	bool possible = p->efficiency && !relations_missing(&p->f->times);
	return possible && (trace_records(p->f->trace) <= DECIDE_RECORDS || options->verbose);
}

/* Both by one visit of one graph: what to do about a cause would buy is asked beside the profile. */
static void find_causes_and_profile(struct page *p, const struct options *options)
{
	struct trace *trace = p->f->trace;
	struct diagnosis *d = &p->diagnosis;
	struct diagnosis_doubts doubts = doubt_diagnosis(trace, &p->f->unrecorded, p->f->polling_sleeps_s, p->unclassified);
	struct profile_more more[PROFILE_MORE];
	struct graph graph;
	graph_open(&graph, trace, &p->f->times);
	p->diagnosed = diagnosis_find(d, &graph, &doubts, options);
	find_profile(p, &graph, more, p->diagnosed ? diagnosis_asks(d, trace, more) : 0);
	graph_close(&graph);
	free(doubts.most_s);
	if (trace->ndiagnostics > 0)
		diagnosis_prove_nothing(d);
	for (size_t i = 0; i < d->nerrors; i++)
		shown_complain("%s", d->errors[i]);
	if (p->diagnosed)
		diagnosis_take(d, &p->profile);
	else
		diagnosis_close(d);
}

static void find_why(struct page *p, const struct options *options)
{
	bool wanted = wants_causes(p, options);
	if (wanted && !p->known) {
		find_causes_and_profile(p, options);
		return;
	}
	p->diagnosed = wanted;
	if (wanted)
		p->diagnosis = *p->known;
	find_profile(p, p->graph, NULL, 0);
}

/* ---- The page -------------------------------------------------------------------------------- */

static const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

static void say_lost(struct reply *r, const struct findings *f)
{
	if (f->lost == 0)
		return;
	char *why = trace_why(f->why);
	reply_say(r, SAY_TEXT, "Records are missing, at least %" PRIu64 "%s. What they touch is wider for it.", f->lost, why);
	free(why);
}

/* "2 ranks, 8 threads on 2 hosts": what there is one of goes without saying, but the last. */
static char *who_ran(const struct trace *trace)
{
	size_t ranks = count_ranks(trace), processes = trace->nprocesses + trace->uncounted;
	size_t threads = trace->nthreads + trace->uncounted;
	const char *least = trace->uncounted ? "at least " : "";
	char *text = ranks == processes ? mem_format("%zu rank%s", ranks, plural(ranks))
		     : ranks		? mem_format("%zu processes (%zu rank%s)", processes, ranks, plural(ranks))
					: mem_format("%zu process%s", processes, processes == 1 ? "" : "es");
	char *whole = threads > processes
			      ? mem_format("%s, %s%zu threads, on %zu host%s", text, least, threads, trace->nclocks,
					   plural(trace->nclocks))
			      : mem_format("%s on %zu host%s", text, trace->nclocks, plural(trace->nclocks));
	free(text);
	return whole;
}

static void say_job(struct reply *r, const struct findings *f)
{
	const struct trace *trace = f->trace;
	size_t unfinished = count_unfinished(trace);
	bool sound = trace->ndiagnostics == 0 && f->lost == 0 && unfinished == 0;
	char *who = who_ran(trace), *took = f->events ? mem_format(", %s s", reply_interval(r, findings_run_s(f), 9).text) : mem_copy("");
	reply_say(r, SAY_TEXT, "%s: %s%s; %" PRIu64 " event%s%s", name_within(program_name(trace), PROGRAM_ROOM).text, who, took,
		  f->events, plural(f->events), sound ? "; trace sound" : "");
	free(took);
	free(who);
	if (f->events > 0)
		reply_say(r, SAY_TEXT, r->ends ? "Each lo .. hi contains the true value."
					       : "Each x ±y and each lo .. hi contains the true value.");
	ranking_say_open(r, f);
	say_lost(r, f);
	if (unfinished > 0)
		reply_say(r, SAY_TEXT,
			  "%zu process%s did not end in good order: killed, left by _exit or exec, or still running.",
			  unfinished, unfinished == 1 ? "" : "es");
}

/* How far the cores of a host differ is in every bound, if that was measured: MPI's adapter does. */
static void say_uncompared(struct reply *r, const struct trace *t)
{
	const struct tr_clock *first = NULL;
	size_t n = 0;
	char more[48] = "";
	for (size_t c = t->nclocks; c-- > 0;)
		if (!t->clocks[c].compared) {
			first = &t->clocks[c];
			n++;
		}
	if (n > 1)
		snprintf(more, sizeof more, " and %zu other host%s", n - 1, plural(n - 1));
	if (n)
		reply_say(r, SAY_TEXT,
			  "Assumed, and not measured here: the counters of all cores of %s%s agree (programs that use "
			  "MPI measure that).", name_within(first->host, HOST_ROOM).text, more);
}

/* In a line. */
static void say_clocks(struct reply *r, const struct findings *f)
{
	reply_gap(r);
	clock_widths_say(r, &f->times, "What is assumed: -v.");
	clock_bounds_say(r, &f->times);
}

static void say_assumptions(struct reply *r, const struct findings *f)
{
	const struct times *t = &f->times;
	const struct tr_clock *base = &f->trace->clocks[t->base];
	if (f->trace->nclocks > 1) {
		reply_say(r, SAY_HEADING, "Clocks");
		clock_facts_fill(r, t);
		bool affine = t->assumption.model == FRZ_AFFINE;
		reply_say(r, SAY_TEXT,
			  "Assumed, and checked against %zu packets and %" PRIu64
			  " links from the program: each clock's rate %s (%s). Seconds are ticks of "
			  "%s at nominally %g GHz.",
			  f->trace->nlinks, t->program.found,
			  affine ? "is always the same" : "stays this near to its mean",
			  clock_model_name(t->assumption).text, name_within(base->host, HOST_ROOM).text, base->ghz);
	} else {
		reply_gap(r);
		reply_say(r, SAY_TEXT, "One host, one clock: no clock error. Seconds are its ticks at nominally %g GHz.",
			  base->ghz);
	}
	clock_bounds_say(r, t);
	say_uncompared(r, f->trace);
	reply_say(r, SAY_TEXT, "Assumed: a stamp is taken where its instruction stands (a processor may "
			       "move it by tens of ns).");
}

/* "Works while all wait" is not yet "worth mending". */
static void say_without(struct reply *r, const struct page *p)
{
	char *text = next_step_without(r, p->f, &p->profile);
	if (text)
		reply_say(r, SAY_INDENTED, "%s", text);
	free(text);
}

/* What to look at, and what that would buy. */
static void say_findings(struct reply *r, const struct page *p)
{
	char *advice = ranking_advice(r, p->f);
	reply_gap(r);
	if (p->step.first)
		reply_say(r, SAY_ADVICE, "%s %s", p->step.first, p->step.advice);
	reply_say(r, SAY_ADVICE, "%s%s%s", advice, p->step.there ? " " : "", p->step.there ? p->step.there : "");
	free(advice);
	if (p->step.advice && !p->step.there && !p->step.first)
		reply_say(r, SAY_ADVICE, "%s", p->step.advice);
	if (p->efficiency)
		reply_say(r, SAY_TEXT, "Efficiency %s %%: load balance %s %%, communication %s %%",
			  reply_interval(r, p->factors.of[FACTOR_PARALLEL], 1).text,
			  reply_interval(r, p->factors.of[FACTOR_LOAD_BALANCE], 1).text,
			  reply_interval(r, p->factors.of[FACTOR_COMMUNICATION], 1).text);
	machine_say(r, p->f);
	decide_fill(r, &p->decide);
}

static void say_profile(struct reply *r, const struct page *p)
{
	reply_say(r, SAY_HEADING, "What less time in a region would buy if nothing else changes: %% of the run");
	profile_table_say(r, p->f->trace, &p->profile, false, PROFILE_SHOWN);
	if (p->profile.filled)
		reply_say(r, SAY_INDENTED, "%sWhat is expected takes it to be the same.", p->profile.filled);
	else
		reply_say(r, SAY_INDENTED, "Holds if what threads do depends neither on a clock nor on what others change unseen: in memory, "
			  "in files, or in the kernel.");
}

/* The findings that matter most. */
static void say_causes(struct reply *r, const struct page *p)
{
	if (!p->diagnosed || p->diagnosis.nfindings == 0)
		return;
	reply_say(r, SAY_HEADING, "What costs most: %% of all threads' time");
	for (size_t i = 0; i < p->diagnosis.nfindings && i < CAUSES_SHOWN; i++) {
		const struct diagnosis_finding *f = &p->diagnosis.findings[i];
		reply_say(r, SAY_INDENTED, "%s: %s (%s)", reply_interval(r, f->cost, 1).text, f->what,
			  f->proved ? "proved" : "undecided");
	}
}

#define NAMED_AT_MOST 70 /* columns: a longer name has no line, and the whole causal profile has that region, too */

static void say_commands(struct reply *r, const struct page *p)
{
	char *profile = next_step_command(p->f, "coz"), *why = next_step_command(p->f, "diagnose");
	char *path = next_step_command(p->f, "path");
	if (p->step.command)
		reply_say(r, SAY_COMMAND, "More: %s", p->step.named > NAMED_AT_MOST ? profile : p->step.command);
	if (p->efficiency) {
		reply_say(r, SAY_COMMAND, "Why:  %s", why);
		reply_say(r, SAY_COMMAND, "Next: %s", path);
	}
	free(profile);
	free(why);
	free(path);
}

/* What was found first; what it stands on last. */
static void fill_page(struct reply *r, const struct page *p, bool every)
{
	const struct findings *f = p->f;
	bool scores = f->threads.count > 1 && !f->doubted, profile = f->events > 0 && p->profile.nrows > 0 && p->profile.possible;
	notes_damage(r, f->trace->ndiagnostics - f->doubted);
	say_job(r, f);
	say_findings(r, p);
	if (scores)
		location_table_say(r, f, RANKED_SHOWN, every);
	if (scores && every)
		say_without(r, p);
	if (profile)
		say_profile(r, p);
	if (f->events > 0 && (every || !profile)) {
		reply_say(r, SAY_HEADING, "Time in regions");
		region_table_say(r, f);
	}
	say_causes(r, p);
	if (every)
		say_assumptions(r, f);
	else
		say_clocks(r, f);
	say_commands(r, p);
}

/* ---- The data -------------------------------------------------------------------------------- */

static void fill_advice(struct reply *r, const struct findings *f, const struct next_step *step)
{
	char *advice = ranking_advice(r, f);
	reply_value(r, "advice", tab_text(advice));
	free(advice);
	if (step->first)
		reply_value(r, "first", tab_text(step->first));
	if (step->advice) {
		reply_value(r, "gain", tab_text(step->advice));
		reply_value(r, "command", tab_text(step->command));
	}
}

static void fill_causes(struct reply *r, const struct page *p)
{
	static const struct tab_column columns[] = {
		TAB_KEY("cause"), TAB_KEY("proved"), TAB_KEY("cost_percent"), TAB_KEY("what"), { 0 } };
	if (!p->diagnosed)
		return;
	reply_table(r, "findings", columns, 0);
	for (size_t i = 0; i < p->diagnosis.nfindings && i < CAUSES_SHOWN; i++) {
		const struct diagnosis_finding *f = &p->diagnosis.findings[i];
		reply_row(r, tab_text(f->cause), tab_flag(f->proved), tab_interval(f->cost), tab_text(f->what));
	}
	reply_end(r);
}

static void fill_efficiency(struct reply *r, const struct page *p)
{
	static const enum factor shown[] = { FACTOR_PARALLEL, FACTOR_LOAD_BALANCE, FACTOR_COMMUNICATION };
	static const char *const keys[] = { "efficiency.parallel", "efficiency.load_balance", "efficiency.communication" };
	for (size_t i = 0; p->efficiency && i < sizeof shown / sizeof *shown; i++)
		reply_value(r, keys[i], tab_interval(p->factors.of[shown[i]]));
}

static void fill_data(struct reply *r, const struct page *page)
{
	const struct findings *f = page->f;
	const struct profile *p = &page->profile;
	const struct trace *trace = f->trace;
	reply_value(r, "program", tab_text(program_name(trace)));
	reply_value(r, "processes", tab_count((int64_t)(trace->nprocesses + trace->uncounted)));
	reply_value(r, "unfinished", tab_count(count_unfinished(trace)));
	reply_value(r, "hosts", tab_count(trace->nclocks));
	reply_value(r, "events", tab_count(f->events));
	reply_value(r, "lost", tab_count(f->lost));
	reply_value(r, "span_s", tab_interval(findings_run_s(f)));
	run_ends_fill(r, &f->times, f->spans);
	reply_value(r, "base", tab_text(trace->clocks[f->times.base].host));
	reply_value(r, "model", tab_text(clock_model_name(f->times.assumption).text));
	reply_value(r, "bounds", tab_text(clock_bounds_word(&f->times)));
	clock_facts_fill(r, &f->times);
	region_table_fill(r, f);
	reply_value(r, "verdict", tab_text(ranking_verdict(f)));
	ranking_fill(r, f);
	if (p->possible && p->asked_aside) {
		reply_value(r, "without_straggler_percent", tab_interval(p->without[COZ_PROVED]));
		reply_value(r, "without_straggler_expected_percent", tab_interval(p->without[COZ_EXPECTED]));
	}
	fill_efficiency(r, page);
	fill_causes(r, page);
	machine_fill(r, f);
	reply_value(r, "proved_if", p->if_work ? tab_text(UNCLASSIFIED_IF) : TAB_NONE);
	if (f->events > 0)
		profile_table_fill(r, "profile", trace, p, "speedup_percent");
	fill_advice(r, f, &page->step);
	decide_fill(r, &page->decide);
}

int cmd_report(struct trace *trace, const struct options *options, struct reply *reply)
{
	return options->html ? html_page(trace, options, reply) : reply_report(trace, options, reply, NULL, NULL);
}

int reply_report(struct trace *trace, const struct options *options, struct reply *reply, struct graph *graph,
		 const struct diagnosis *known)
{
	struct findings f;
	size_t before = trace->ndiagnostics; /* on a page for the browser others have looked before */
	int status = findings_open(&f, trace, options);
	if (status != EXIT_FINE)
		return status;
	trace_forget_repeated(trace, before);
	findings_regions(&f);
	bool by_default = !options->work && !options->wait;
	struct page page = { .f = &f, .graph = graph, .known = known,
			     .unclassified = by_default ? unclassified_of_totals(&f.totals, &f.times) : unclassified_find(trace, &f.times) };
	find_efficiency(&page);
	find_why(&page, options);
	page.decide = decide_find(&f.times, options, ranking_undecided(&f), ranking_count_undecided);
	page.step = next_step(reply, &f, &page.profile);
	if (page.diagnosed)
		next_step_prefer(&page.step, reply, &f, &page.profile, &page.diagnosis);
	if (reply->data)
		fill_data(reply, &page);
	if (reply->page)
		fill_page(reply, &page, options->verbose);
	frequent_say(trace);
	notes_fill(reply, trace);
	if (page.diagnosed && !known)
		diagnosis_close(&page.diagnosis);
	next_step_close(&page.step);
	profile_close(&page.profile);
	free(page.unclassified);
	findings_close(&f);
	return trace->ndiagnostics > 0 ? EXIT_DAMAGED : EXIT_FINE;
}
