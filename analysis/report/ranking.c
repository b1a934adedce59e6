/* SPDX-License-Identifier: MIT
 *
 * ranking.c - who straggles, said three ways. */
#include "analysis/report/ranking.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/report/enclosing.h"
#include "analysis/report/marks.h"
#include "analysis/report/routines.h"
#include "analysis/trace/names.h"

#define WORTH_A_LOOK 1.0 /* percent of the run */
#define SCORE_SHOWN  0.001 /* likewise: its last digit */
#define NAME_COLUMN  18  /* at least */
#define BEGAN_COLUMN 49  /* what is left of 80 columns, with the name */
#define MANY_THREADS 16  /* more are shown in groups */

/* ---- The page -------------------------------------------------------------------------------- */

typedef struct location_name namer(const struct trace *, size_t thread);

/* The width that the names of all of them have room in. */
static int width_of(const struct findings *f, const struct ranking *s, namer *name)
{
	size_t width = NAME_COLUMN;
	for (size_t i = 0; i < s->count; i++) {
		size_t length = strlen(name(f->trace, s->list[i].thread).text);
		width = length > width ? length : width;
	}
	return (int)width;
}

#define RANKED_COLUMNS(width)                                                                      \
	{ TAB_SHOWN(NULL, "", width), TAB_SHOWN(NULL, "others wait for it, % of run", 17, 3, .bar = true),      \
	  TAB_SHOWN(NULL, "", 9, .gap = 1), TAB_SHOWN(NULL, "mostly in", .gap = 1), { 0 } }

static void say_ranked(struct reply *r, const struct findings *f, const struct ranked *x, namer *name)
{
	reply_row(r, tab_text(name(f->trace, x->thread).text), tab_interval(x->percent), tab_verdict(x->proved),
		  tab_site(f->trace, x->site));
}

static void say_ranking(struct reply *r, const struct findings *f, const struct ranking *s, namer *name, size_t most)
{
	const struct tab_column columns[] = RANKED_COLUMNS(width_of(f, s, name));
	reply_table(r, NULL, columns, most);
	for (size_t i = 0; i < s->count; i++)
		say_ranked(r, f, &s->list[i], name);
	reply_end(r);
	if (s->count > most)
		reply_say(r, SAY_LINE, "  and %zu more, see -v or --json", s->count - most);
}

/* What is said of a group beside its highest thread. */
static void say_others(struct reply *r, const struct findings *f, const struct routine_group *g,
		       const uint32_t *routines, int width)
{
	char who[40];
	snprintf(who, sizeof who, "  and %zu other%s", g->threads - 1, g->threads == 2 ? "" : "s");
	struct interval_text others = reply_interval(r, g->others, 3);
	int column = 17 + (strstr(others.text, "±") != NULL); /* a character of two bytes */
	reply_say(r, SAY_LINE, "  %-*s %-*s  began in %s", width, who, column, others.text,
		  routine_name(f->trace, routines, g->highest->thread, (size_t)(BEGAN_COLUMN - width)).text);
}

static void say_groups(struct reply *r, const struct findings *f, size_t most)
{
	uint32_t *routines = routines_find(f->trace);
	size_t n;
	struct routine_group *groups = routines_group(f, routines, &n);
	int width = width_of(f, &f->threads, thread_name);
	const struct tab_column columns[] = RANKED_COLUMNS(width);
	reply_table(r, NULL, columns, most);
	for (size_t i = 0; i < n && i < most; i++) {
		say_ranked(r, f, groups[i].highest, thread_name);
		if (groups[i].threads > 1)
			say_others(r, f, &groups[i], routines, width);
	}
	reply_end(r);
	if (n > most)
		reply_say(r, SAY_LINE, "  and %zu more group%s", n - most, n - most == 1 ? "" : "s");
	reply_say(r, SAY_LINE, "  %zu threads in %zu group%s by the routine they began in; -v shows each",
		  f->threads.count, n, n == 1 ? "" : "s");
	free(groups);
	free(routines);
}

void ranking_say_open(struct reply *r, const struct findings *f)
{
	double open = findings_open_work(f);
	if (open >= SCORE_SHOWN && f->threads.count > 1)
		reply_say(r, SAY_TEXT, "Scores (others wait) take for work what may have been a wait that was not recorded: up to %s %% "
				       "of the run in one thread.", interval_upper(open, open < 0.1 ? 3 : 1).text);
}

void ranking_say(struct reply *r, const struct findings *f, size_t most, bool every)
{
	bool several = f->ranks.count > 1;
	most = every ? SIZE_MAX : most;
	if (several)
		say_ranking(r, f, &f->ranks, rank_name, most);
	if (!f->several_threads)
		return;
	if (several)
		reply_gap(r);
	if (f->threads.count > MANY_THREADS && !every)
		say_groups(r, f, most);
	else
		say_ranking(r, f, &f->threads, thread_name, most);
}

/* ---- The data -------------------------------------------------------------------------------- */

static struct tab_cell host_of(const struct findings *f, size_t thread)
{
	return tab_text(f->trace->clocks[f->trace->threads[thread].clock].host);
}

/* Others may be what is missing, or was not recorded. */
static bool is_alone(const struct findings *f, const struct ranking *of)
{
	return of->count == 1 && of->list[0].proved && f->lost == 0 && trace_has_all(f->trace);
}

/* Where there is one alone, no other waits for it; nor, perhaps, where it is not known whether there are others. */
static struct ranked score_of(const struct findings *f, const struct ranking *of, const struct ranked *x)
{
	struct ranked score = *x;
	if (is_alone(f, of)) {
		score.percent = score.alone_s = (struct interval){ 0, 0 };
		score.site = TR_NO_SITE;
	} else if (of->count == 1) {
		score.percent.lo = score.alone_s.lo = 0;
		score.proved = false;
	}
	return score;
}

#define SCORE_KEYS TAB_KEY("straggler_percent"), TAB_KEY("alone_s"), TAB_KEY("verdict"), TAB_KEY("site")
#define SCORE_CELLS(x) tab_interval((x)->percent), tab_interval((x)->alone_s), tab_verdict((x)->proved), \
		       tab_site(f->trace, (x)->site)

static void fill_thread(struct reply *r, const struct findings *f, size_t thread, const struct ranked *x,
			const uint32_t *routines)
{
	static const struct ranked no_part = { .site = TR_NO_SITE };
	const struct ranked score = x ? score_of(f, &f->threads, x) : no_part;
	const struct blocked *blocked = &f->unrecorded.threads[thread];
	reply_row(r, tab_count(f->trace->threads[thread].rank), tab_pid(f->trace, thread),
		  tab_count(f->trace->threads[thread].number), host_of(f, thread),
		  tab_text(routine_name(f->trace, routines, thread, SITE_NAME_ROOM).text), tab_flag(x != NULL),
		  SCORE_CELLS(&score), tab_interval(findings_seconds(f, thread, findings_work(f, thread))),
		  tab_interval(findings_seconds(f, thread, findings_wait(f, thread))),
		  tab_interval(findings_unclassified(f, thread)), blocked->known ? tab_interval(blocked->s) : TAB_NONE);
}

static void fill_threads(struct reply *r, const struct findings *f)
{
	static const struct tab_column columns[] = {
		TAB_KEY("rank"), TAB_KEY("pid"), TAB_KEY("thread"), TAB_KEY("host"), TAB_KEY("routine"),
		TAB_KEY("takes_part"), SCORE_KEYS, TAB_KEY("working_s"), TAB_KEY("waiting_s"),
		TAB_KEY("unclassified_percent"), TAB_KEY("blocked_unrecorded_s"), { 0 } };
	const struct ranked **of = mem_zeroed(f->trace->nthreads + 1, sizeof *of);
	uint32_t *routines = routines_find(f->trace);
	for (size_t i = 0; i < f->threads.count; i++)
		of[f->threads.list[i].thread] = &f->threads.list[i];
	reply_table(r, "threads", columns, 0);
	for (size_t i = 0; i < f->trace->nthreads; i++)
		fill_thread(r, f, i, of[i], routines);
	reply_end(r);
	free(routines);
	free(of);
}

void ranking_fill(struct reply *r, const struct findings *f)
{
	static const struct tab_column columns[] = { TAB_KEY("host"), TAB_KEY("rank"), TAB_KEY("pid"), SCORE_KEYS, { 0 } };
	reply_value(r, "open_work_percent", tab_interval((struct interval){ 0, findings_open_work(f) }));
	fill_threads(r, f);
	reply_table(r, "ranks", columns, 0);
	for (size_t i = 0; i < f->ranks.count; i++) {
		const struct ranked x = score_of(f, &f->ranks, &f->ranks.list[i]);
		reply_row(r, host_of(f, x.thread), tab_count(f->trace->threads[x.thread].rank), tab_pid(f->trace, x.thread),
			  SCORE_CELLS(&x));
	}
	reply_end(r);
}

/* ---- Advice ---------------------------------------------------------------------------------- */

static bool encloses_all(const struct findings *f, const struct ranked *s)
{
	return encloses_process(&f->totals, s->site, f->trace->threads[s->thread].process);
}

/* How to see where a participant works of which only what is true of the whole run is known; or "". */
static char *where_to_mark(const struct findings *f, const struct ranked *s)
{
	static const char automatic[] = ", or compile with -fplugin-arg-dprof-auto=functions";
	const char *marks = marks_region(f->trace), *or = marks_elsewhere(f->trace) ? "" : automatic;
	if (s->site == TR_OUTSIDE)
		return mem_format(" To see where, mark the work with %s%s.", marks, or);
	if (!encloses_all(f, s))
		return mem_copy("");
	return mem_format(" Its work is inside of %s, and most of it in no region there: to see where, mark it "
			  "with %s%s.", site_name(f->trace, s->site).text, marks, f->trace->sites[s->site].automatic ? "" : or);
}

static bool ran_others(const struct trace *trace)
{
	bool any = false;
	for (size_t i = 0; i < trace->nprocesses; i++)
		any |= trace->processes[i].ran;
	return any;
}

/* No other waits for the only thread of the trace. It may itself wait: for programs that are in no trace, or one of their own. */
static char *advice_of_only(const struct reply *r, const struct findings *f)
{
	const struct ranked *only = &f->threads.list[0];
	struct interval waits = interval_percent(findings_wait(f, only->thread), f->spans[findings_time_base(f)].length);
	if (waits.lo > 50 && ran_others(f->trace))
		return mem_format("For %s %% of the run the only thread in this trace waits, most likely for the programs that it "
				  "started, which are not in it (see the notes): what takes the time is to be seen in those.",
				  reply_interval(r, waits, 1).text);
	char *where = where_to_mark(f, only);
	char *text = mem_format("Only one thread works or waits, so no other waits for it.%s", where);
	free(where);
	return text;
}

/* Why there are no scores at all; NULL when there are. */
static char *advice_without_scores(const struct reply *r, const struct findings *f)
{
	if (!f->any_events)
		return mem_format("Nothing was recorded%s: check that the program was compiled "
				  "with %s and has a region or an MPI call, and that "
				  "DPROF_OFF and DPROF_EVENTS were not set.",
				  f->lost ? " (all records were dropped)" : "", marks_linker(f->trace, false));
	if (!f->any_work)
		return mem_format("No thread was ever in a region of work: mark the work with "
				  "%s%s.", marks_region(f->trace),
				  f->any_wait ? "; that shows who keeps others waiting" : "");
	if (f->doubted)
		return mem_format("Who straggles is not known: events of work or of waiting were left out "
				  "(see the notes).");
	if (f->threads.count == 1)
		return advice_of_only(r, f);
	if (!f->any_wait)
		return mem_format("No barrier, collective, receive, lock or join was recorded, so "
				  "nobody can be seen to wait. Link with %s or %s (the notes "
				  "say what is amiss, if that is known), compile the files that call MPI "
				  "with that, too, or name the region in which threads wait "
				  "with --wait.", marks_linker(f->trace, false), marks_linker(f->trace, true));
	return NULL;
}

/* The highest upper bound among all but `but`. */
static const struct ranked *rival(const struct ranking *s, const struct ranked *but)
{
	const struct ranked *highest = NULL;
	for (size_t i = 0; i < s->count; i++)
		if (&s->list[i] != but && (!highest || s->list[i].percent.hi > highest->percent.hi))
			highest = &s->list[i];
	return highest;
}

/* Whether a participant ever waits: the thread, or any thread of its rank. */
static bool ever_waits(const struct findings *f, size_t thread, bool by_thread)
{
	const struct tr_thread *threads = f->trace->threads;
	for (size_t t = 0; t < f->trace->nthreads; t++) {
		bool same = by_thread ? t == thread : threads[t].process == threads[thread].process;
		if (same && f->totals.threads[t].waits)
			return true;
	}
	return false;
}

/* A thread of a participant that never waits; or SIZE_MAX. */
static size_t never_waits(const struct findings *f, const struct ranking *s, bool by_thread)
{
	for (size_t i = 0; i < s->count; i++)
		if (!ever_waits(f, s->list[i].thread, by_thread))
			return s->list[i].thread;
	return SIZE_MAX;
}

static bool is_mixed(const struct trace *trace, uint32_t site)
{
	return site < trace->nsites && trace->sites[site].op.mixed;
}

/* Whoever is mostly in an operation that may be work or waiting; or NULL. */
static const struct ranked *first_mixed(const struct findings *f, const struct ranking *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (is_mixed(f->trace, s->list[i].site))
			return &s->list[i];
	return NULL;
}

/* What makes intervals wide, the worst first. */
static char *why_undecided(const struct findings *f, const struct ranking *s)
{
	if (f->lost > 0) {
		char *why = trace_why(f->why), *text = mem_format("; records are missing%s", why);
		free(why);
		return text;
	}
	for (size_t i = 0; i < f->trace->nthreads; i++)
		if (f->trace->threads[i].unrecorded)
			return mem_copy("; a thread was not recorded (see the notes)");
	const struct ranked *mixed = first_mixed(f, s);
	if (f->unrecorded.count > 0 && mixed != s->list)
		return mem_copy("; threads were blocked and dprof does not know in what, which may have been waiting (see the "
				"notes)");
	for (size_t i = 0; i < f->trace->nthreads; i++) {
		const struct thread_totals *t = &f->totals.threads[i];
		if (t->ends_open && (t->work.since != PERIOD_AFTER || t->wait.since != PERIOD_AFTER))
			return mem_copy("; some threads ended inside of a region or a barrier, and what they "
					"did then is not known");
	}
	return mixed ? mem_format("; what is done in %s is not recorded, and may be work or waiting",
				  site_name(f->trace, mixed->site).text)
		     : mem_copy("");
}

struct where_text { char text[48 + SITE_NAME_ROOM]; };

/* ", mostly in region assign (kmeans.c:88)", when that is known. */
static struct where_text place_of(const struct findings *f, const struct ranked *s)
{
	struct where_text p = { "" };
	const char *how = s->mostly ? "mostly" : "in many places, longest";
	if (s->site == TR_OUTSIDE)
		snprintf(p.text, sizeof p.text, ", %s " OUTSIDE_REGIONS, how);
	else if (s->site != TR_NO_SITE && !encloses_all(f, s))
		snprintf(p.text, sizeof p.text, ", %s in %s%s", how, tr_is(f->trace, s->site, OP_REGION) ? "region " : "",
			 site_name(f->trace, s->site).text);
	return p;
}

static bool rivals_overlap(const struct ranking *s, const struct ranked *top)
{
	return rival(s, top) && !interval_apart(top->percent, rival(s, top)->percent);
}

static double most_unclassified(const struct findings *f)
{
	double most = 0;
	for (size_t t = 0; t < f->trace->nthreads; t++) {
		double own = findings_unclassified(f, t).hi;
		most = own > most ? own : most;
	}
	return most;
}

struct ordinal { char text[24]; };

static struct ordinal ordinal(size_t n)
{
	static const char *const ends[] = { "th", "st", "nd", "rd" };
	struct ordinal o;
	bool teens = n / 10 % 10 == 1;
	snprintf(o.text, sizeof o.text, "%zu%s", n, ends[teens || n % 10 > 3 ? 0 : n % 10]);
	return o;
}

/* A process without a rank has another number in each run, and so it is said which one it is. */
static struct where_text which_process(const struct trace *t, uint32_t process)
{
	const struct tr_process *p = &t->processes[process];
	struct where_text which = { "" };
	size_t forked = 0, before = 0;
	for (size_t i = 0; i < t->nprocesses; i++) {
		forked += t->processes[i].forked;
		before += t->processes[i].forked && t->processes[i].pid < p->pid;
	}
	if (p->rank >= 0 || !forked)
		return which;
	if (!p->forked && forked + 1 == t->nprocesses)
		return (struct where_text){ " (the one that was started)" };
	if (p->forked && forked == 1)
		return (struct where_text){ " (the child that was forked)" };
	if (p->forked)
		snprintf(which.text, sizeof which.text, " (the %s of %zu forked children, by pid)",
			 ordinal(before + 1).text, forked);
	return which;
}

static char *verdict_on(const struct reply *r, const struct findings *f, const struct ranking *s, namer *name)
{
	const struct ranked *top = &s->list[0], *second = rival(s, top);
	struct location_name who = name(f->trace, top->thread);
	struct where_text which = which_process(f->trace, f->trace->threads[top->thread].process), where = place_of(f, top);
	struct interval_text percent = reply_interval(r, top->percent, 2);
	if (top->proved)
		return mem_format("Look at %s%s: it keeps everybody waiting for %s %% of the run (proved)%s.",
				  who.text, which.text, percent.text, where.text);
	if (!f->one_time_base)
		return mem_format("Undecided: the clocks of some hosts could not be related, so "
				  "no other is proved to wait for %s (at most %s %% of the run%s); "
				  "see the problems.",
				  who.text, interval_upper(top->percent.hi, 2).text, where.text);
	if (f->unsure && !rivals_overlap(s, top))
		return mem_format("Undecided: %s keeps everybody waiting for %s %% of the run%s, but time in "
				  "which threads were or may have been blocked and dprof does not know in what (see the "
				  "notes) may have been waiting, and could change who is first.",
				  who.text, percent.text, where.text);
	if (f->unseen && !rivals_overlap(s, top))
		return mem_format("Undecided: %s keeps everybody waiting for %s %% of the run%s, but threads or programs ran "
				  "that are not recorded or seem to wait (see the notes), and what they did could change who is first.",
				  who.text, percent.text, where.text);
	if (f->withheld && !rivals_overlap(s, top))
		return mem_format("Undecided: %s keeps everybody waiting for %s %% of the run%s, but what "
				  "threads did outside of regions and operations could change who is first "
				  "(unclassified, up to %s %% of the run in one thread): mark that work with %s.",
				  who.text, percent.text, where.text,
				  interval_upper(most_unclassified(f), 1).text, marks_region(f->trace));
	char *why = why_undecided(f, s);
	char *advice = mem_format("Undecided: %s%s keeps everybody waiting for %s %% of the run%s, "
				  "but %s for %s %%, and these overlap%s.",
				  who.text, which.text, percent.text, where.text, name(f->trace, second->thread).text,
				  reply_interval(r, second->percent, 2).text, why);
	free(why);
	return advice;
}

static char *advice_on(const struct reply *r, const struct findings *f, const struct ranking *s, namer *name)
{
	char *verdict = verdict_on(r, f, s, name), *where = where_to_mark(f, &s->list[0]);
	char *advice = mem_format("%s%s", verdict, where);
	free(verdict);
	free(where);
	return advice;
}

static const struct ranking *who_counts(const struct findings *f)
{
	return f->ranks.count == 1 ? &f->threads : &f->ranks;
}

const char *ranking_verdict(const struct findings *f)
{
	const struct ranking *s = who_counts(f);
	return s->count > 0 && s->list[0].proved ? "proved" : "undecided";
}

static double highest(const struct ranking *s)
{
	const struct ranked *most = rival(s, NULL);
	return most ? most->percent.hi : 0;
}

const struct ranked *ranking_worth_a_look(const struct findings *f)
{
	const struct ranking *s = who_counts(f);
	return !f->doubted && s->count > 1 && highest(s) >= WORTH_A_LOOK ? &s->list[0] : NULL;
}

size_t ranking_undecided(const struct findings *f)
{
	const struct ranking *s = who_counts(f);
	size_t n = 0;
	if (ranking_worth_a_look(f))
		for (size_t i = 0; i < s->count; i++)
			n += s->list[i].percent.hi >= WORTH_A_LOOK && !s->list[i].proved;
	return n;
}

size_t ranking_count_undecided(struct trace *trace, const struct times *times, const struct options *options)
{
	struct findings f;
	if (findings_open_timed(&f, trace, times, options) != EXIT_FINE)
		return SIZE_MAX;
	size_t n = ranking_undecided(&f);
	findings_close(&f);
	return n;
}

/* Who waits in time that nobody can classify is not seen to; or "". */
static char *advice_unclassified(const struct findings *f)
{
	double most = most_unclassified(f);
	if (most < WORTH_A_LOOK)
		return mem_copy("");
	return mem_format(" But up to %s %% of the run in one thread is unclassified, which may be waiting: mark what "
			  "it does there with %s.", interval_upper(most, 1).text, marks_region(f->trace));
}

/* Of all threads' time more is not known than is: that goes before what is known. NULL: it is not so. */
static char *advice_mostly_unclassified(const struct reply *r, const struct findings *f)
{
	struct interval sum = { 0, 0 };
	double n = (double)f->trace->nthreads;
	for (size_t t = 0; t < f->trace->nthreads; t++) {
		struct interval own = findings_unclassified(f, t);
		sum = (struct interval){ nextafter(sum.lo + own.lo, -INFINITY), nextafter(sum.hi + own.hi, INFINITY) };
	}
	struct interval mean = { fmax(0, nextafter(sum.lo / n, -INFINITY)), fmin(100, nextafter(sum.hi / n, INFINITY)) };
	if (mean.lo <= 50)
		return NULL;
	return mem_format("Most of the threads' time, %s %%, is unclassified: outside of regions and operations, where "
			  "work cannot be told from waiting. Mark what is done there with %s.",
			  reply_interval(r, mean, 1).text, marks_region(f->trace));
}

static char *advice_of_scores(const struct reply *r, const struct findings *f, bool mostly_unclassified)
{
	bool by_thread = f->ranks.count == 1;
	const struct ranking *s = who_counts(f);
	namer *name = by_thread ? thread_name : rank_name;
	if (ranking_worth_a_look(f))
		return advice_on(r, f, s, name);
	size_t never = never_waits(f, s, by_thread);
	if (never != SIZE_MAX)
		return mem_format("Nothing stands out; but %s never waits at a barrier, collective "
				  "or receive that was recorded, so no other can be seen to "
				  "keep everybody waiting.",
				  name(f->trace, never).text);
	char *unclassified = mostly_unclassified ? mem_copy("") : advice_unclassified(f);
	char *advice = mem_format("%s: no %s works for more than %s %% of the run while everybody else waits.%s",
				  mostly_unclassified ? "In the rest nothing stands out" : "Nothing stands out",
				  by_thread ? "thread" : "rank", interval_upper(highest(s), 2).text, unclassified);
	free(unclassified);
	return advice;
}

char *ranking_advice(const struct reply *r, const struct findings *f)
{
	char *none = advice_without_scores(r, f);
	if (none)
		return none;
	char *unknown = advice_mostly_unclassified(r, f), *advice = advice_of_scores(r, f, unknown);
	char *both = unknown ? mem_format("%s %s", unknown, advice) : mem_copy(advice);
	free(unknown);
	free(advice);
	return both;
}
