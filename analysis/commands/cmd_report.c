/* SPDX-License-Identifier: MIT
 *
 * cmd_report.c - dprof-analyze report: where the time went, and what to look at, in 80 columns.
 *
 * Colour only on a terminal, and not when NO_COLOR is set. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/memory.h"
#include "analysis/commands/command.h"
#include "analysis/report/clock_facts.h"
#include "analysis/report/enclosing.h"
#include "analysis/report/machine.h"
#include "analysis/report/next_step.h"
#include "analysis/report/notes.h"
#include "analysis/report/profile_table.h"
#include "analysis/report/region_table.h"
#include "analysis/report/ranking.h"
#include "analysis/report/run_ends.h"

#define RANKED_SHOWN 8
#define PROFILE_SHOWN   8

static bool in_colour(void)
{
	const char *no = getenv("NO_COLOR");
	return isatty(STDOUT_FILENO) && !(no && *no);
}

static void heading(const char *text)
{
	printf(in_colour() ? "\n\033[1m%s\033[0m\n" : "\n%s\n", text);
}

static size_t count_ranks(const struct trace *trace)
{
	size_t ranks = 0;
	for (size_t p = 0; p < trace->nprocesses; p++)
		ranks += trace->processes[p].rank >= 0;
	return ranks;
}

static size_t count_unfinished(const struct trace *trace)
{
	size_t unfinished = 0;
	for (size_t p = 0; p < trace->nprocesses; p++)
		unfinished += !trace->processes[p].finished;
	return unfinished;
}

static const char *program_name(const struct trace *trace)
{
	const char *path = trace->nprocesses ? trace->processes[0].program : NULL;
	if (!path)
		return "unknown program";
	return strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

/* ---- What faster code would buy -------------------------------------------------------------- */

struct region_time { uint32_t region; double ticks; };

static int by_ticks(const void *x, const void *y)
{
	const struct region_time *a = x, *b = y;
	if (a->ticks != b->ticks)
		return a->ticks < b->ticks ? 1 : -1;
	return (a->region > b->region) - (a->region < b->region);
}

/* Regions that enclose all that was done are as big as the run, and say nothing where there are others. */
static bool any_within(const struct totals *totals, const struct region_time *times)
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
	struct region_time *times = mem_resize(NULL, totals->nregions + 1, sizeof *times);
	bool *big = mem_resize(NULL, totals->nregions + 1, sizeof *big);
	bool *wanted = mem_resize(NULL, f->trace->nsites + 1, sizeof *wanted);
	for (uint32_t r = 0; r < totals->nregions; r++) {
		times[r] = (struct region_time){ r, 0 };
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

static void find_profile(const struct findings *f, struct profile *p)
{
	bool *wanted = biggest_regions(f);
	struct profile_aside aside = next_step_asks(f);
	profile_open(p, f->trace, &f->times,
		     &(struct profile_request){ .wanted = wanted, .who = COZ_ALL, .aside = &aside,
						.unsure = f->unrecorded.count > 0 });
	free(wanted);
}

/* ---- As text --------------------------------------------------------------------------------- */

static const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

static void print_lost(const struct findings *f)
{
	if (f->lost == 0)
		return;
	char *why = trace_why(f->why);
	char *text = mem_format("Records are missing, at least %" PRIu64 "%s. What they touch is wider for it.",
				f->lost, why);
	print_wrapped("", text);
	free(text);
	free(why);
}

static void print_job(const struct findings *f)
{
	const struct trace *trace = f->trace;
	size_t ranks = count_ranks(trace), unfinished = count_unfinished(trace);
	char *job = mem_format(
		"%s: %zu process%s (%zu rank%s), %zu thread%s, %zu host%s; %" PRIu64
		" events in %s s",
		program_name(trace), trace->nprocesses, trace->nprocesses == 1 ? "" : "es", ranks,
		plural(ranks), trace->nthreads, plural(trace->nthreads), trace->nclocks,
		plural(trace->nclocks), f->events, interval_compact(findings_run_s(f), 9).text);
	print_wrapped("", job);
	free(job);
	print_lost(f);
	if (unfinished > 0) {
		char *text = mem_format("%zu process%s did not end in good order: killed, left by _exit "
					"or exec, or still running.",
					unfinished, unfinished == 1 ? "" : "es");
		print_wrapped("", text);
		free(text);
	}
}

/* How far the cores of a host differ is in every bound, if that was measured: MPI's adapter does. */
static void print_uncompared(const struct trace *t)
{
	const struct tr_clock *first = NULL;
	size_t n = 0;
	for (size_t c = t->nclocks; c-- > 0;)
		if (!t->clocks[c].compared) {
			first = &t->clocks[c];
			n++;
		}
	if (!n)
		return;
	char *more = n > 1 ? mem_format(" and %zu other host%s", n - 1, plural(n - 1)) : mem_copy("");
	char *text = mem_format("Assumed, and not measured here: the counters of all cores of %s%s agree (programs that use "
				"MPI measure that).", first->host, more);
	print_wrapped("", text);
	free(text);
	free(more);
}

static void print_assumptions(const struct findings *f)
{
	const struct times *t = &f->times;
	const struct tr_clock *base = &f->trace->clocks[t->base];
	char *clocks;
	if (f->trace->nclocks > 1) {
		heading("Clocks");
		clock_facts_print(t);
		bool affine = t->assumption.model == FRZ_AFFINE;
		clocks = mem_format("Assumed, and checked against %zu packets and %" PRIu64
				    " links from the program: each clock's rate %s (%s). Seconds are ticks of "
				    "%s at nominally %g GHz.",
				    f->trace->nlinks, t->program.found,
				    affine ? "is always the same" : "stays this near to its mean",
				    clock_model_name(t->assumption).text, base->host, base->ghz);
	} else {
		clocks = mem_format("One host, one clock: no clock error. Seconds are its ticks at "
				    "nominally %g GHz.",
				    base->ghz);
	}
	print_wrapped("", clocks);
	clock_bounds_print(t);
	print_uncompared(f->trace);
	print_wrapped("", "Assumed: a stamp is taken where its instruction stands (a processor may "
			  "move it by tens of ns).");
	free(clocks);
}

/* What to look at, what that would buy, and a line to paste. */
static void print_advice(const struct findings *f, const struct profile *p)
{
	char *advice = ranking_advice(f);
	struct next_step step = next_step(f, p);
	bool colour = in_colour();
	printf(colour ? "\n\033[1;32m" : "\n");
	print_wrapped("", advice);
	if (step.advice)
		print_wrapped("", step.advice);
	if (colour)
		fputs("\033[0m", stdout);
	if (step.command)
		printf("More: %s\n", step.command);
	next_step_close(&step);
	free(advice);
}

/* What coz reports as diagnostics only makes bounds wide here. */
static void print_diagnostics(const struct profile *p)
{
	if (p->ndiagnostics == 0)
		return;
	char *why = mem_format("not known exactly: %s%s", p->diagnostics[0],
			       p->ndiagnostics > 1 ? "; dprof-analyze coz says more" : "");
	print_wrapped("  ", why);
	free(why);
}

static void print_text(const struct findings *f, const struct profile *p, bool every)
{
	notes_damage(f->trace->ndiagnostics - f->doubted);
	print_job(f);
	print_assumptions(f);
	if (f->events > 0) {
		heading("Time in regions");
		region_table_print(f);
	}
	machine_print(f, heading);
	if (f->threads.count > 1 && !f->doubted) {
		heading("Stragglers: who works while everybody else waits");
		ranking_print(f, RANKED_SHOWN, every);
	}
	if (p->nrows > 0 && p->possible) {
		heading("What less time in a region would buy if nothing else changes: % of the run");
		profile_table_print(f->trace, p, false, PROFILE_SHOWN);
		print_diagnostics(p);
	}
	print_advice(f, p);
	notes_print(f->trace);
}

/* ---- As JSON --------------------------------------------------------------------------------- */

static void print_json(const struct findings *f, const struct profile *p)
{
	const struct trace *trace = f->trace;
	struct json j = jw_on(stdout);
	jw_object(&j, NULL);
	jw_string(&j, "program", program_name(trace));
	jw_integer(&j, "processes", (int64_t)trace->nprocesses);
	jw_integer(&j, "unfinished", (int64_t)count_unfinished(trace));
	jw_integer(&j, "hosts", (int64_t)trace->nclocks);
	jw_integer(&j, "events", (int64_t)f->events);
	jw_integer(&j, "lost", (int64_t)f->lost);
	jw_interval(&j, "span_s", findings_run_s(f));
	run_ends_json(&j, "outside_span", &f->times, f->spans);
	jw_string(&j, "base", trace->clocks[f->times.base].host);
	jw_string(&j, "model", clock_model_name(f->times.assumption).text);
	jw_string(&j, "bounds", clock_bounds_word(&f->times));
	clock_facts_json(&j, "clocks", &f->times);
	region_table_json(&j, "regions", f);
	jw_string(&j, "verdict", ranking_verdict(&f->ranks));
	ranking_json(&j, f);
	machine_json(&j, "machine", f);
	profile_table_json(&j, "profile", trace, p, "speedup_percent");
	char *advice = ranking_advice(f);
	jw_string(&j, "advice", advice);
	free(advice);
	struct next_step step = next_step(f, p);
	if (step.advice) {
		jw_string(&j, "gain", step.advice);
		jw_string(&j, "command", step.command);
	}
	next_step_close(&step);
	notes_json(&j, trace);
	jw_end(&j);
}

int cmd_report(struct trace *trace, const struct options *options)
{
	struct findings f;
	int status = findings_open(&f, trace, options);
	if (status != EXIT_FINE)
		return status;
	findings_regions(&f);
	struct profile profile;
	find_profile(&f, &profile);
	if (options->json)
		print_json(&f, &profile);
	else
		print_text(&f, &profile, options->verbose);
	profile_close(&profile);
	findings_close(&f);
	return trace->ndiagnostics > 0 ? EXIT_DAMAGED : EXIT_FINE;
}
