/* SPDX-License-Identifier: MIT
 *
 * cmd_efficiency.c - dprof-analyze efficiency: how much of what the threads could have done was useful; of several traces, how
 * that changes with their number. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/shown.h"
#include "analysis/commands/command.h"
#include "analysis/commands/several.h"
#include "analysis/efficiency/efficiency.h"
#include "analysis/report/clock_facts.h"
#include "analysis/report/decide.h"
#include "analysis/report/locations.h"
#include "analysis/report/notes.h"
#include "analysis/report/relations.h"
#include "analysis/trace/names.h"

#define REGIONS_SHOWN 8

#define UNKNOWN "no efficiencies are known"

struct efficiency_answer {
	const struct trace *trace;
	const struct times *times;
	uint32_t time_base;
	struct efficiency e;
};

static struct interval seconds(const struct efficiency_answer *a, frz_time ticks)
{
	return times_seconds(a->times, a->time_base, ticks);
}

static bool is_low(struct interval factor)
{
	return factor.lo < EFFICIENCY_LOW;
}

/* ---- The data -------------------------------------------------------------------------------- */

#define NOT_THERE "before its first event or behind its last"

static struct tab_cell name_of(const struct trace *trace, uint32_t site)
{
	return site < trace->nsites ? tab_site(trace, site) : tab_text(site == TR_BEFORE ? NOT_THERE : OUTSIDE_REGIONS);
}

#define FACTOR_KEYS                                                                                \
	TAB_KEY("parallel"), TAB_KEY("load_balance"), TAB_KEY("communication"), TAB_KEY("serialisation"), TAB_KEY("transfer")
#define FACTOR_CELLS(f)                                                                            \
	tab_interval((f).of[FACTOR_PARALLEL]), tab_interval((f).of[FACTOR_LOAD_BALANCE]),                                \
		tab_interval((f).of[FACTOR_COMMUNICATION]), tab_interval((f).of[FACTOR_SERIALISATION]),                  \
		tab_interval((f).of[FACTOR_TRANSFER])

static void fill_factors(struct reply *r, const struct efficiency *e)
{
	for (int f = 0; f < FACTORS; f++)
		reply_value(r, factor_key(f), tab_interval(e->factors.of[f]));
	if (!e->hybrid)
		return;
	reply_value(r, "mpi.parallel", tab_interval(e->mpi[FACTOR_PARALLEL]));
	reply_value(r, "mpi.load_balance", tab_interval(e->mpi[FACTOR_LOAD_BALANCE]));
	reply_value(r, "mpi.communication", tab_interval(e->mpi[FACTOR_COMMUNICATION]));
	reply_value(r, "openmp.parallel", tab_interval(e->threads));
}

/* `low`: the factor that is, and what it is. */
static void fill_cause(struct reply *r, const struct efficiency_answer *a, const char *factor, const char *low, struct interval of,
		       const struct efficiency_cause *c)
{
	const struct trace *trace = a->trace;
	const struct tr_thread *t = &trace->threads[c->thread];
	bool caused = c->for_thread != UINT32_MAX;
	const struct tr_thread *by = &trace->threads[caused ? c->for_thread : c->thread];
	if (!c->named)
		return;
	reply_row(r, tab_text(factor), tab_text(low), tab_verdict(of.hi < EFFICIENCY_LOW),
		  tab_count(t->rank), tab_count(trace_pid(trace, c->thread)), tab_count(t->number),
		  name_of(trace, c->site), tab_interval(c->percent),
		  caused ? tab_count(by->rank) : TAB_NONE, caused ? tab_count(trace_pid(trace, c->for_thread)) : TAB_NONE,
		  caused ? tab_count(by->number) : TAB_NONE, caused ? name_of(trace, c->did) : TAB_NONE);
}

static void fill_causes(struct reply *r, const struct efficiency_answer *a)
{
	static const struct tab_column columns[] = {
		TAB_KEY("factor"), TAB_KEY("low"), TAB_KEY("verdict"), TAB_KEY("rank"), TAB_KEY("pid"), TAB_KEY("thread"), TAB_KEY("name"),
		TAB_KEY("percent"), TAB_KEY("caused_by.rank"), TAB_KEY("caused_by.pid"), TAB_KEY("caused_by.thread"),
		TAB_KEY("caused_by.region"), { 0 } };
	reply_table(r, "causes", columns, 0);
	for (int f = 0; f < FACTORS; f++)
		if (a->e.cause[f].named) {
			enum factor low = a->e.cause[f].low;
			fill_cause(r, a, factor_key(f), factor_key(low), a->e.factors.of[low], &a->e.cause[f]);
		}
	fill_cause(r, a, "openmp", "openmp", a->e.threads, &a->e.threads_cause);
	reply_end(r);
}

static void fill_regions(struct reply *r, const struct efficiency_answer *a)
{
	static const struct tab_column columns[] = { TAB_KEY("region"), TAB_KEY("threads"), TAB_KEY("time_s"), TAB_KEY("useful_s"),
						     FACTOR_KEYS, TAB_KEY("longest.rank"), TAB_KEY("longest.pid"),
						     TAB_KEY("longest.thread"), { 0 } };
	reply_table(r, "regions", columns, 0);
	for (size_t i = 0; i < a->e.nregions; i++) {
		const struct efficiency_region *x = &a->e.regions[i];
		reply_row(r, tab_site(a->trace, x->site), tab_number(x->nthreads), tab_interval(seconds(a, x->time)),
			  tab_interval(seconds(a, x->useful)), FACTOR_CELLS(x->factors),
			  tab_count(a->trace->threads[x->longest].rank), tab_count(trace_pid(a->trace, x->longest)),
			  tab_count(a->trace->threads[x->longest].number));
	}
	reply_end(r);
}

/* ---- The page -------------------------------------------------------------------------------- */

static void say_row(struct reply *r, int depth, const char *words, struct interval x)
{
	char *indented = mem_format("%*s%s", 2 * depth, "", words);
	reply_row(r, tab_text(indented), tab_range(x));
	free(indented);
}

static void say_tree(struct reply *r, const struct efficiency *e)
{
	static const struct tab_column columns[] = { TAB_SHOWN(NULL, "", 32), TAB_SHOWN(NULL, "percent", 0, 2), { 0 } };
	static const int depth[FACTORS] = { [FACTOR_LOAD_BALANCE] = 1, [FACTOR_COMMUNICATION] = 1,
					    [FACTOR_SERIALISATION] = 2, [FACTOR_TRANSFER] = 2 };
	reply_gap(r);
	reply_table(r, NULL, columns, SIZE_MAX);
	for (int f = 0; f < FACTORS; f++)
		say_row(r, depth[f], factor_words(f), e->factors.of[f]);
	if (e->hybrid) {
		say_row(r, 0, "of which MPI's", e->mpi[FACTOR_PARALLEL]);
		say_row(r, 1, "load balance of processes", e->mpi[FACTOR_LOAD_BALANCE]);
		say_row(r, 1, "communication", e->mpi[FACTOR_COMMUNICATION]);
		say_row(r, 0, "and of the processes' threads", e->threads);
	}
	reply_end(r);
}

/* "at most 67.15 %", or where that is not sure "perhaps only". */
static void say_low(struct reply *r, const char *words, struct interval x, const char *why)
{
	if (x.hi < EFFICIENCY_LOW)
		reply_say(r, SAY_TEXT, "Low: %s, at most %s %%. %s", words, interval_upper(x.hi, 2).text, why);
	else
		reply_say(r, SAY_TEXT, "Perhaps low, undecided: %s. %s", words, why);
}

static void say_cause(struct reply *r, const struct efficiency_answer *a, enum factor f)
{
	const struct efficiency_cause *c = &a->e.cause[f];
	if (!c->named)
		return;
	struct location_name who = location_name(a->trace, c->thread);
	struct site_name where = site_name_said(a->trace, c->site, 40);
	char *share = mem_format("%s %%", reply_interval(r, c->percent, 2).text), *why;
	if (f == FACTOR_LOAD_BALANCE)
		why = mem_format("%s is useful in %s longer than all are on average, by %s of the run.", who.text,
				 where.text, share);
	else if (f == FACTOR_TRANSFER)
		why = mem_format("Transfer takes longest in %s: %s of all threads' time; most of it on %s.", where.text,
				 share, who.text);
	else
		why = mem_format("The longest waiting is %s's in %s, for %s, that was in %s: %s of all threads' time.",
				 who.text, where.text, location_name(a->trace, c->for_thread).text,
				 site_name_said(a->trace, c->did, 40).text, share);
	why[0] = why[0] >= 'a' && why[0] <= 'z' ? (char)(why[0] - 'a' + 'A') : why[0];
	say_low(r, factor_words(c->low), a->e.factors.of[c->low], why);
	free(share);
	free(why);
}

static bool has_cause(const struct efficiency *e)
{
	bool any = e->threads_cause.named;
	for (int f = 0; f < FACTORS; f++)
		any |= e->cause[f].named;
	return any;
}

static void say_causes(struct reply *r, const struct efficiency_answer *a)
{
	const struct efficiency_cause *c = &a->e.threads_cause;
	if (has_cause(&a->e) || !a->e.nregions)
		reply_gap(r);
	for (int f = 0; f < FACTORS; f++)
		say_cause(r, a, f);
	if (!c->named)
		return;
	char *share = mem_format("%s %% of all threads' time; most of it %s.", reply_interval(r, c->percent, 2).text,
				 location_name(a->trace, c->thread).text);
	char *why = c->site == TR_BEFORE ? mem_format("They are not there yet, or are over, for %s", share)
					 : mem_format("Outside of MPI they wait longest in %s: %s",
						      site_name_said(a->trace, c->site, 40).text, share);
	say_low(r, "the processes' threads", a->e.threads, why);
	free(share);
	free(why);
}

static void say_regions(struct reply *r, const struct efficiency_answer *a, bool every)
{
	static const struct tab_column columns[] = {
		TAB_SHOWN(NULL, "region", 20, .alone = true), TAB_SHOWN(NULL, "threads", -7), TAB_SHOWN(NULL, "parallel, %", 14, 1),
		TAB_SHOWN(NULL, "load balance", 14, 1), TAB_SHOWN(NULL, "communication", 0, 1), { 0 } };
	size_t shown = every || a->e.nregions < REGIONS_SHOWN ? a->e.nregions : REGIONS_SHOWN;
	if (!a->e.nregions)
		return;
	reply_gap(r);
	reply_table(r, NULL, columns, SIZE_MAX);
	for (size_t i = 0; i < shown; i++) {
		const struct efficiency_region *x = &a->e.regions[i];
		reply_row(r, tab_site(a->trace, x->site), tab_number(x->nthreads), tab_range(x->factors.of[FACTOR_PARALLEL]),
			  tab_range(x->factors.of[FACTOR_LOAD_BALANCE]), tab_range(x->factors.of[FACTOR_COMMUNICATION]));
		if (is_low(x->factors.of[FACTOR_LOAD_BALANCE]))
			reply_say(r, SAY_DETAIL, "longest on %s", location_name(a->trace, x->longest).text);
	}
	reply_end(r);
	if (a->e.nregions > shown)
		reply_say(r, SAY_INDENTED, "... and %zu more: -v", a->e.nregions - shown);
}

static const char assumptions[] =
	"Assumed: a wait was ended by an operation that the trace connects with it. Useful is what threads do outside "
	"of operations. On an ideal network an operation takes, once all that it waits for have come, between nothing "
	"and the least that one of its name was seen to take.";

/* "at most 1.2 s"; of a run that has no end nothing bounds it. */
static struct interval_text at_most(const struct efficiency_answer *a, int64_t ticks)
{
	struct interval_text t = { "an unknown time" }, most = interval_upper(seconds(a, (frz_time){ 0, ticks }).hi, 3);
	if (isfinite(seconds(a, a->e.span.length).hi))
		snprintf(t.text, sizeof t.text, "at most %.40s s", most.text);
	return t;
}

/* Of those without events. */
static uint32_t first_silent(const struct efficiency_answer *a)
{
	uint32_t t = 0;
	while (t < a->e.nthreads && a->e.each[t].thread == t)
		t++;
	return t;
}

static void fill_page(struct reply *r, const struct efficiency_answer *a, bool every)
{
	const struct efficiency *e = &a->e;
	size_t silent = a->trace->nthreads - e->nthreads + a->trace->uncounted;
	reply_say(r, SAY_TEXT, "Efficiency of %zu thread%s in %zu process%s, in the run of %s s", e->nthreads,
		  e->nthreads == 1 ? "" : "s", e->nprocesses, e->nprocesses == 1 ? "" : "es",
		  reply_interval(r, seconds(a, e->span.length), 9).text);
	if (silent)
		reply_say(r, SAY_TEXT, "Left out: %s%zu thread%s without any event, first %s. What %s did is not known.",
			  a->trace->uncounted ? "at least " : "", silent, silent == 1 ? "" : "s",
			  location_name(a->trace, first_silent(a)).text, silent == 1 ? "it" : "they");
	say_tree(r, e);
	say_causes(r, a);
	say_regions(r, a, every);
	if (e->open)
		reply_say(r, SAY_TEXT, "What threads did outside of marked regions, or before and after their own "
			  "events, may be useful or not: intervals hold both.");
	if (e->blocked)
		reply_say(r, SAY_TEXT, "By the kernel's counts threads were, or may have been, blocked where nothing "
			  "was recorded that blocks, for %s in all: that may be useful or not, and intervals hold "
			  "both.",
			  at_most(a, e->blocked).text);
	if (e->hidden)
		reply_say(r, SAY_TEXT, "Threads worked, or may have, while they were in operations that wait, such as "
			  "in a signal's handler, for %s in all: intervals hold both.",
			  at_most(a, e->hidden).text);
	reply_gap(r);
	reply_say(r, SAY_TEXT, "%s", assumptions);
}

/* ---- What would decide ----------------------------------------------------------------------- */

/* Whether a factor is low. */
static size_t undecided(const struct efficiency *e)
{
	size_t n = 0;
	for (int f = 0; f < FACTORS; f++)
		n += e->factors.of[f].lo < EFFICIENCY_LOW && e->factors.of[f].hi >= EFFICIENCY_LOW;
	return n;
}

static size_t count_undecided(struct trace *trace, const struct times *times, const struct options *options)
{
	struct efficiency e;
	(void)options;
	if (relations_missing(times))
		return SIZE_MAX;
	bool any = efficiency_open(&e, trace, times);
	size_t n = any ? undecided(&e) : SIZE_MAX;
	efficiency_close(&e);
	return n;
}

/* ---- One run --------------------------------------------------------------------------------- */

static void fill(struct reply *r, struct efficiency_answer *a, const struct options *o)
{
	const struct efficiency *e = &a->e;
	notes_damage(r, a->trace->ndiagnostics);
	reply_value(r, "span_s", tab_interval(seconds(a, e->span.length)));
	reply_value(r, "threads", tab_number(e->nthreads));
	reply_value(r, "processes", tab_number(e->nprocesses));
	reply_value(r, "threads_without_events", tab_number(a->trace->nthreads - e->nthreads));
	reply_value(r, "useful_s", tab_interval(seconds(a, e->useful)));
	reply_value(r, "ideal_s", tab_interval(seconds(a, e->ideal)));
	reply_value(r, "bounds", tab_text(clock_bounds_word(a->times)));
	fill_factors(r, e);
	fill_causes(r, a);
	fill_regions(r, a);
	reply_value(r, "assumptions", tab_text(assumptions));
	fill_page(r, a, o->verbose);
}

/* And closes it. */
static void fill_all(struct reply *r, struct efficiency_answer *a, const struct options *o)
{
	fill(r, a, o);
	struct decide decide = decide_find(a->times, o, undecided(&a->e), count_undecided);
	decide_fill(r, &decide);
	efficiency_close(&a->e);
}

void reply_efficiency(struct reply *reply, struct trace *trace, const struct graph *graph,
		      const struct waits *waits, const struct options *options)
{
	struct efficiency_answer a = { .trace = trace, .times = graph->times };
	a.time_base = a.times->time_base[trace->threads[0].clock];
	if (efficiency_of_graph(&a.e, trace, graph, waits))
		fill_all(reply, &a, options);
	else
		efficiency_close(&a.e);
}

/* What is missing, or NULL; then there is nothing to close but the times. */
static const char *find(struct efficiency_answer *a, struct trace *trace)
{
	const char *why = relations_missing(a->times);
	if (why)
		return why;
	a->time_base = a->times->time_base[trace->threads[0].clock];
	bool any = efficiency_open(&a->e, trace, a->times);
	graph_said_tell(&a->e.said, trace);
	if (any)
		return NULL;
	efficiency_close(&a->e);
	return "Nothing was recorded";
}

static int answer_one(struct trace *trace, const struct times *times, const struct options *options, struct reply *reply)
{
	struct efficiency_answer a = { .trace = trace, .times = times };
	const char *why = find(&a, trace);
	if (why)
		relations_unknown(reply, trace, why, UNKNOWN);
	else
		fill_all(reply, &a, options);
	return EXIT_FINE;
}

/* ---- Several runs ---------------------------------------------------------------------------- */

struct efficiency_run {
	const char *directory;
	char *program;               /* its own */
	size_t nthreads, nprocesses;
	struct interval span_s, useful_s;
	struct factors factors;
};

static struct interval unbounded(void)
{
	return (struct interval){ 0, INFINITY };
}

static const struct factors unknown_factors = { { { 0, 100 }, { 0, 100 }, { 0, 100 }, { 0, 100 }, { 0, 100 } } };

/* Without its folder. */
static const char *program_of(const struct trace *trace)
{
	const char *path = trace->nprocesses ? trace->processes[0].program : "", *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static int take_run(void *to, const char *directory, struct trace *trace, const struct options *options)
{
	struct efficiency_run *run = to;
	struct times times;
	struct efficiency_answer a = { .trace = trace, .times = &times };
	int status = times_open(&times, trace, options);
	*run = (struct efficiency_run){ .directory = directory, .program = mem_copy(program_of(trace)),
					.span_s = unbounded(), .useful_s = unbounded(), .factors = unknown_factors };
	if (status != EXIT_FINE)
		return status;
	const char *why = find(&a, trace);
	if (why) {
		trace_diagnose(trace, "%s: " UNKNOWN, why);
	} else {
		run->nthreads = a.e.nthreads;
		run->nprocesses = a.e.nprocesses;
		run->span_s = seconds(&a, a.e.span.length);
		run->useful_s = seconds(&a, a.e.useful);
		run->factors = a.e.factors;
		efficiency_close(&a.e);
	}
	times_close(&times);
	return EXIT_FINE;
}

/* What has none is no run to compare others with. */
static int by_threads(const void *a, const void *b)
{
	const struct efficiency_run *x = a, *y = b;
	if (x->nthreads != y->nthreads)
		return x->nthreads - 1 < y->nthreads - 1 ? -1 : 1;
	return strcmp(x->directory, y->directory);
}

/* 100 * x / y */
static struct interval percent_of(struct interval x, struct interval y)
{
	struct interval p = unbounded();
	if (x.lo > 0 && isfinite(y.hi) && y.hi > 0)
		p.lo = nextafter(nextafter(100 * x.lo, -INFINITY) / y.hi, -INFINITY);
	if (y.lo > 0 && isfinite(x.hi))
		p.hi = nextafter(nextafter(100 * x.hi, INFINITY) / y.lo, INFINITY);
	return p;
}

/* Of percentages. */
static struct interval product(struct interval x, struct interval y)
{
	struct interval p = unbounded();
	if (x.lo > 0 && y.lo > 0)
		p.lo = nextafter(nextafter(x.lo * y.lo, -INFINITY) / 100, -INFINITY);
	if (isfinite(x.hi) && isfinite(y.hi))
		p.hi = nextafter(nextafter(x.hi * y.hi, INFINITY) / 100, INFINITY);
	return p;
}

/* Against the first one, which has the fewest threads. */
static void fill_runs(struct reply *r, const struct efficiency_run *runs, size_t n)
{
	static const struct tab_column columns[] = {
		TAB_SHOWN("directory", "", 18, .alone = true), TAB_SHOWN("threads", "threads", -7), TAB_KEY("processes"),
		TAB_KEY("span_s"), TAB_KEY("useful_s"), TAB_SHOWN(NULL, "parallel, %", 16, 2), FACTOR_KEYS,
		TAB_SHOWN("computation_scaling", "computation", 16, 2), TAB_SHOWN("global", "global, %", 0, 2), TAB_KEY("speedup_percent"),
		{ 0 } };
	reply_say(r, SAY_TEXT, "Efficiency of %zu runs of the same problem, against that with the fewest threads:", n);
	reply_gap(r);
	reply_table(r, "runs", columns, SIZE_MAX);
	for (size_t i = 0; i < n; i++) {
		static const struct interval same = { 100, 100 };
		struct interval parallel = runs[i].factors.of[FACTOR_PARALLEL];
		struct interval scaling = i ? percent_of(runs[0].useful_s, runs[i].useful_s) : same;
		reply_row(r, tab_text(runs[i].directory), tab_number(runs[i].nthreads), tab_number(runs[i].nprocesses),
			  tab_interval(runs[i].span_s), tab_interval(runs[i].useful_s), tab_range(parallel),
			  FACTOR_CELLS(runs[i].factors), tab_range(scaling), tab_range(i ? product(parallel, scaling) : parallel),
			  tab_interval(i ? percent_of(runs[0].span_s, runs[i].span_s) : same));
	}
	reply_end(r);
	reply_gap(r);
	reply_say(r, SAY_TEXT, "Computation is the useful time of all threads there, divided by that here: less than "
		  "100 %% where more is computed, or slower. Global is parallel times computation.");
}

static void note_programs(struct trace *trace, const struct efficiency_run *runs, size_t n)
{
	size_t other = 1;
	while (other < n && strcmp(runs[0].program, runs[other].program) == 0)
		other++;
	if (other == n)
		return;
	char *note = mem_format("these are runs of different programs, of %s and %s: they may not solve the same problem",
				name_within(runs[0].program, 30).text, name_within(runs[other].program, 30).text);
	trace_note(trace, note);
	free(note);
}

static int answer_several(struct trace *trace, const struct options *options, struct reply *reply)
{
	size_t n = options->ndirectories;
	struct efficiency_run *runs = mem_zeroed(n, sizeof *runs);
	int status = several_open(runs, sizeof *runs, trace, options, take_run);
	if (status == EXIT_FINE) {
		notes_damage(reply, trace->ndiagnostics);
		qsort(runs, n, sizeof *runs, by_threads);
		note_programs(trace, runs, n);
		fill_runs(reply, runs, n);
		reply_value(reply, "assumptions", tab_text(assumptions));
		notes_fill(reply, trace);
		status = trace->ndiagnostics > 0 ? EXIT_DAMAGED : EXIT_FINE;
	}
	for (size_t i = 0; i < n; i++)
		free(runs[i].program);
	free(runs);
	return status;
}

int cmd_efficiency(struct trace *trace, const struct options *options, struct reply *reply)
{
	return options->ndirectories > 1 ? answer_several(trace, options, reply)
					  : relations_run(trace, options, reply, UNKNOWN, answer_one);
}
