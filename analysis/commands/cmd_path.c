/* SPDX-License-Identifier: MIT
 *
 * cmd_path.c - dprof-analyze path: what the end of the run waited for, all the way back to its begin; of several traces, how
 * that changes with the number of threads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/shown.h"
#include "analysis/commands/command.h"
#include "analysis/commands/several.h"
#include "analysis/path/path.h"
#include "analysis/report/clock_facts.h"
#include "analysis/report/decide.h"
#include "analysis/report/doubt.h"
#include "analysis/report/locations.h"
#include "analysis/report/moments.h"
#include "analysis/report/notes.h"
#include "analysis/report/path_tables.h"
#include "analysis/report/relations.h"
#include "analysis/trace/names.h"

#define MOST_ROWS   16
#define MOST_SLICES 1000
#define TOP_PARTS   5

struct path_answer {
	const struct times *times;
	struct path *path;
	uint32_t time_base;
	struct path_slice slice;
	bool sliced;             /* --from or --to */
	double every;            /* ticks; 0: not asked for */
	struct path_profile profile;
};

static struct interval seconds(const struct path_answer *a, frz_time ticks)
{
	return times_seconds(a->times, a->time_base, ticks);
}

/* ---- The data -------------------------------------------------------------------------------- */

static void fill_segments(struct reply *r, const struct path_answer *a, const struct path_profile *profile)
{
	static const struct tab_column columns[] = { TAB_KEY("rank"), TAB_KEY("pid"), TAB_KEY("thread"), TAB_KEY("name"),
						     TAB_KEY("share_percent"), TAB_KEY("seconds"), TAB_KEY("verdict"),
						     { 0 } };
	const struct trace *trace = a->path->graph.trace;
	reply_table(r, "segments", columns, 0);
	for (size_t i = 0; i < profile->nshares; i++) {
		const struct path_share *s = &profile->shares[i];
		const struct tr_thread *t = s->thread == PATH_ELSEWHERE ? NULL : &trace->threads[s->thread];
		reply_row(r, t ? tab_count(t->rank) : TAB_NONE, t ? tab_number(trace->processes[t->process].pid) : TAB_NONE,
			  t ? tab_count(t->number) : TAB_NONE, path_site_cell(trace, s->site),
			  tab_interval(interval_percent(s->ticks, profile->length)),
			  tab_interval(seconds(a, s->ticks)), tab_verdict(relations_decided(s->ticks)));
	}
	reply_end(r);
}

/* ---- The page -------------------------------------------------------------------------------- */

/* Shares of at most SHARE_OF_NOTHING percent are shown with -v. */
#define SHARE_OF_NOTHING 0.01
static size_t count_rows(const struct path_profile *profile, bool every)
{
	size_t n = 0;
	for (size_t i = 0; i < profile->nshares && (every || n < MOST_ROWS); i++)
		n += every || interval_percent(profile->shares[i].ticks, profile->length).hi > SHARE_OF_NOTHING;
	return n;
}

static void say_segments(struct reply *r, const struct path_answer *a, const struct path_profile *profile, bool every)
{
	int width = locations_width(a->path->graph.trace), rest = 48 - width; /* in 80 columns */
	const struct tab_column columns[] = { TAB_SHOWN(NULL, "% of it", 17, 3, .bar = true), TAB_SHOWN(NULL, "on", width),
					      TAB_SHOWN(NULL, "in", rest), TAB_SHOWN(NULL, ""), { 0 } };
	const struct trace *trace = a->path->graph.trace;
	size_t most = count_rows(profile, every);
	reply_gap(r);
	reply_table(r, NULL, columns, SIZE_MAX);
	for (size_t i = 0, shown = 0; i < profile->nshares && shown < most; i++) {
		if (!every && interval_percent(profile->shares[i].ticks, profile->length).hi <= SHARE_OF_NOTHING)
			continue;
		shown++;
		const struct path_share *s = &profile->shares[i];
		struct location_name on = path_location(trace, s->thread);
		struct site_name in = path_site_shown(trace, s->site, (size_t)rest);
		reply_row(r, tab_range(interval_percent(s->ticks, profile->length)), tab_text(on.text), tab_text(in.text),
			  relations_decided(s->ticks) ? TAB_NONE : tab_text("undecided"));
	}
	reply_end(r);
	if (profile->nshares > most)
		reply_say(r, SAY_INDENTED, "... and %zu more: -v", profile->nshares - most);
}

/* How much of it is not decided, at most. */
static void say_undecided(struct reply *r, const struct path_answer *a)
{
	frz_time sure = { 0, 0 };
	bool any = false, lacks = a->path->causes.missing > 0;
	for (size_t i = 0; i < a->profile.nshares; i++) {
		sure.lo = ticks_plus(sure.lo, a->profile.shares[i].ticks.lo);
		any |= !a->profile.shares[i].sure;
	}
	frz_time open = { 0, ticks_minus(a->profile.length.hi, sure.lo) };
	if (!any || open.hi <= 0)
		return;
	reply_gap(r);
	if (a->profile.certain)
		reply_say(r, SAY_TEXT, "In up to %s %% of it the path is undecided: more than one thread may have been the last "
			  "that was waited for, as far as clocks and what threads did without a record are known.",
			  interval_upper(interval_percent(open, a->profile.length).hi, 3).text);
	else
		reply_say(r, SAY_TEXT, "In up to %s %% of it the path is undecided: %s, and before that the path may have been "
			  "anywhere%s.", interval_upper(interval_percent(open, a->profile.length).hi, 3).text,
			  lacks ? "what ended a wait is not in the trace"
				: "what came last is not known, of a wait that a time limit or a signal ended, of records that "
				  "are lost, or of a run without an end",
			  lacks ? "; but while all threads waited, in none of what they did" : "");
}

static void say_title(struct reply *r, const struct path_answer *a)
{
	const struct path_profile *p = &a->profile;
	if (a->sliced)
		reply_say(r, SAY_TEXT, "The critical path from %s s after the run's begin on, for %s s:",
			  reply_interval(r, seconds(a, a->slice.from), 6).text, reply_interval(r, seconds(a, p->length), 6).text);
	else
		reply_say(r, SAY_TEXT, "The critical path of the run of %s s: what its end waited for, back to its begin.",
			  reply_interval(r, seconds(a, p->length), 9).text);
}

static const char assumptions[] =
	"Assumed: a wait was ended by an operation that the trace connects with it; a call that asks a daemon, by the answer, which "
	"waits for nobody here; and a wait between looks with a lock, by itself or by one who gave that lock back between the last two. "
	"Of an operation the path has what lies behind the last event that was waited for.";

/* ---- Slices ---------------------------------------------------------------------------------- */

#define ROUNDED 2 /* ticks at most: a part that is no longer is none */

/* So long after the begin of what was asked for, but not behind its end. */
static frz_time part_begins(const struct path_answer *a, unsigned i)
{
	int64_t ticks = (int64_t)(a->every * i);
	return time_least(time_add(a->slice.from, (frz_time){ ticks, ticks }), a->slice.to);
}

/* The i-th part. */
static struct path_slice part_of(const struct path_answer *a, int64_t end, unsigned i)
{
	struct path_slice part = { part_begins(a, i), part_begins(a, i + 1), { 0, INT64_MAX } };
	int64_t before = (int64_t)(a->every * i), length = (int64_t)(a->every * (i + 1)) - before;
	if (time_middle(part.to) + ROUNDED >= end) {
		part.to = a->slice.to;
		part.length = time_less(a->slice.length, (frz_time){ before, before });
	} else if (part.to.hi < a->slice.to.lo) {
		part.length = (frz_time){ length, length };
	}
	return part;
}

/* Each part, and what was longest in it. */
static void fill_slices(struct reply *r, struct path_answer *a)
{
	static const struct tab_column columns[] = { TAB_KEY("from_s"), TAB_SHOWN(NULL, "from, s", 12),
						     TAB_SHOWN(NULL, "% of it", 17, 3), TAB_SHOWN(NULL, "on", 19),
						     TAB_SHOWN(NULL, "in", 0), { 0 } };
	const struct trace *trace = a->path->graph.trace;
	int64_t to = time_middle(a->slice.to), end = a->path->span.length.lo < to ? a->path->span.length.lo : to;
	reply_gap(r);
	reply_table(r, "slices", columns, SIZE_MAX);
	struct path_slice slice = { .to = a->slice.from };
	for (unsigned i = 0; time_middle(slice.to) < end; i++) {
		struct path_profile p;
		slice = part_of(a, end, i);
		path_profile_open(&p, a->path, slice);
		struct interval from_s = seconds(a, slice.from);
		bool exact = slice.from.lo == slice.from.hi;
		char *begin = mem_format("%s%.6f", exact ? "" : "~", exact ? from_s.lo : (from_s.lo + from_s.hi) / 2);
		const struct path_share *s = p.nshares ? &p.shares[0] : NULL;
		struct site_name in = s ? path_site_shown(trace, s->site, 26) : (struct site_name){ "-" };
		struct location_name on = s ? path_location(trace, s->thread) : (struct location_name){ "-" };
		reply_row(r, tab_interval(from_s), tab_text(begin),
			  s ? tab_range(interval_percent(s->ticks, p.length)) : TAB_NONE, tab_text(on.text), tab_text(in.text));
		reply_value(r, "length_s", tab_interval(seconds(a, p.length)));
		fill_segments(r, a, &p);
		free(begin);
		path_profile_close(&p);
	}
	reply_end(r);
}

/* From one moment to another; false after a message. */
static bool find_ends(struct path_answer *a, const struct options *o)
{
	struct named_moment from = { .point = false }, to = { .since = PATH_ALL.to };
	a->sliced = o->from || o->to;
	if (o->from && !moment_find(a->times, &a->path->span, "--from", o->from, &from))
		return false;
	if (o->to && !moment_find(a->times, &a->path->span, "--to", o->to, &to))
		return false;
	frz_time apart = moments_apart(a->times, &from, &to);
	a->slice = (struct path_slice){ from.since, to.since, time_positive(apart) };
	if (a->sliced && (apart.hi <= 0 || from.since.lo >= a->path->span.length.hi)) {
		shown_complain("--from, --to: expected a part of the run, found none of it between them");
		return false;
	}
	return true;
}

/* False after a message. */
static bool find_slice(struct path_answer *a, const struct options *o)
{
	double ns = 0, ghz = a->times->trace->clocks[times_unit(a->times, a->time_base)].ghz;
	if (!find_ends(a, o))
		return false;
	if (o->every && (!moment_duration(o->every, &ns) || ns * ghz < 1)) {
		shown_complain("--every: expected a time, such as 100ms; found \"%s\"", o->every);
		return false;
	}
	a->every = ns * ghz;
	if (o->every && (double)a->path->span.length.hi / a->every >= MOST_SLICES) {
		shown_complain("--every: expected at most %d parts of the run, found more of %s", MOST_SLICES, o->every);
		return false;
	}
	return true;
}

/* ---- What would decide ----------------------------------------------------------------------- */

static void open_path(struct path *path, struct trace *trace, const struct times *times)
{
	struct unrecorded unrecorded;
	path_open(path, trace, times);
	graph_said_tell(&path->graph.said, trace);
	unrecorded_open(&unrecorded, trace, NULL);
	doubt_path(path, &unrecorded);
	unrecorded_close(&unrecorded);
}

static struct path_answer answer_of(struct path *path)
{
	uint32_t clock = path->graph.trace->threads[0].clock;
	return (struct path_answer){ .times = path->times, .path = path, .time_base = path->times->time_base[clock] };
}

static size_t undecided(const struct path_profile *p)
{
	size_t n = 0;
	for (size_t i = 0; i < p->nshares; i++)
		n += interval_percent(p->shares[i].ticks, p->length).hi >= RELATIONS_WORTH && !relations_decided(p->shares[i].ticks);
	return n;
}

static size_t count_undecided(struct trace *trace, const struct times *times, const struct options *options)
{
	struct path path;
	size_t n = SIZE_MAX;
	if (relations_missing(times))
		return n;
	open_path(&path, trace, times);
	struct path_answer a = answer_of(&path);
	if (find_slice(&a, options)) {
		path_profile_open(&a.profile, &path, a.slice);
		n = undecided(&a.profile);
		path_profile_close(&a.profile);
	}
	path_close(&path);
	return n;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static void fill_tables(struct reply *r, struct path_answer *a, bool every)
{
	struct path_slack slack;
	path_slack_open(&slack, a->path);
	path_tables_fill(r, a->path, &a->profile, &slack, every);
	path_slack_close(&slack);
}

static void fill(struct reply *r, struct path_answer *a, const struct options *o)
{
	struct trace *trace = a->times->trace;
	path_profile_open(&a->profile, a->path, a->slice);
	notes_damage(r, trace->ndiagnostics);
	reply_value(r, "span_s", tab_interval(seconds(a, a->path->span.length)));
	reply_value(r, "length_s", tab_interval(seconds(a, a->profile.length)));
	reply_value(r, "bounds", tab_text(clock_bounds_word(a->times)));
	say_title(r, a);
	fill_segments(r, a, &a->profile);
	say_segments(r, a, &a->profile, o->verbose);
	say_undecided(r, a);
	if (a->every > 0)
		fill_slices(r, a);
	if (a->sliced)
		path_tables_messages(r, a->path, &a->profile, o->verbose);
	else
		fill_tables(r, a, o->verbose);
	reply_value(r, "assumptions", tab_text(assumptions));
	reply_gap(r);
	reply_say(r, SAY_TEXT, "%s", assumptions);
	struct decide decide = decide_find(a->times, o, undecided(&a->profile), count_undecided);
	decide_fill(r, &decide);
	path_profile_close(&a->profile);
}

bool reply_path(struct reply *reply, struct path *path, const struct options *options)
{
	struct path_answer a = answer_of(path);
	bool meant = find_slice(&a, options);
	if (meant)
		fill(reply, &a, options);
	return meant;
}

static int answer(struct trace *trace, const struct times *times, const struct options *options, struct reply *reply)
{
	struct path path;
	open_path(&path, trace, times);
	bool meant = reply_path(reply, &path, options);
	path_close(&path);
	return meant ? EXIT_FINE : EXIT_USAGE;
}

/* ---- Several runs ---------------------------------------------------------------------------- */

#define UNKNOWN "no critical path is known"

struct path_part {                /* of a path: a region or operation of all threads */
	char *name, *file;   /* its own; NULL: no place */
	struct site_name shown;
	unsigned line;
	struct interval seconds, share;
};

struct path_run {
	const char *directory;
	size_t nthreads, nprocesses;
	struct interval length_s;
	struct path_part *parts; size_t nparts;
};

static void take_parts(struct path_run *run, const struct path_answer *a)
{
	static const struct path_slack none = { .known = false };
	const struct trace *trace = a->times->trace;
	struct path_regions regions;
	path_regions_open(&regions, a->path, &a->profile, &none);
	for (size_t i = 0; i < regions.n; i++) {
		uint32_t site = regions.v[i].site;
		const struct tr_site *s = site < trace->nsites && trace->sites[site].line ? &trace->sites[site] : NULL;
		*MEM_GROW(run->parts, run->nparts) = (struct path_part){
			mem_copy(path_site_name(trace, site)), s ? mem_copy(s->file) : NULL,
			path_site_shown(trace, site, 60), s ? s->line : 0,
			seconds(a, regions.v[i].on_path), interval_percent(regions.v[i].on_path, a->profile.length) };
	}
	path_regions_close(&regions);
}

/* Of threads and processes with events. */
static void count_threads(struct path_run *run, const struct graph *g)
{
	uint32_t process = UINT32_MAX;
	for (size_t t = 0; t < g->trace->nthreads; t++) {
		if (g->threads[t].nevents == 0)
			continue;
		run->nthreads++;
		run->nprocesses += g->trace->threads[t].process != process;
		process = g->trace->threads[t].process;
	}
}

static int take_run(void *to, const char *directory, struct trace *trace, const struct options *options)
{
	struct path_run *run = to;
	struct times times;
	int status = times_open(&times, trace, options);
	*run = (struct path_run){ .directory = directory, .length_s = { 0, INFINITY } };
	if (status != EXIT_FINE)
		return status;
	const char *why = relations_unanswered(&times);
	if (why) {
		trace_diagnose(trace, "%s: " UNKNOWN, why);
		times_close(&times);
		return EXIT_FINE;
	}
	struct path path;
	open_path(&path, trace, &times);
	struct path_answer a = answer_of(&path);
	status = find_slice(&a, options) ? EXIT_FINE : EXIT_USAGE;
	if (status == EXIT_FINE) {
		path_profile_open(&a.profile, &path, a.slice);
		run->length_s = seconds(&a, a.profile.length);
		count_threads(run, &path.graph);
		take_parts(run, &a);
		path_profile_close(&a.profile);
	}
	path_close(&path);
	times_close(&times);
	return status;
}

/* What has none is no run to compare others with. */
static int by_threads(const void *a, const void *b)
{
	const struct path_run *x = a, *y = b;
	if (x->nthreads != y->nthreads)
		return x->nthreads - 1 < y->nthreads - 1 ? -1 : 1;
	return strcmp(x->directory, y->directory);
}

static void say_runs(struct reply *r, size_t n, const struct options *o)
{
	if (o->from || o->to)
		reply_say(r, SAY_TEXT, "A part of the critical paths of %zu runs, from %s to %s, that with the fewest threads first:", n,
			  o->from ? o->from : "their begin", o->to ? o->to : "their end");
	else
		reply_say(r, SAY_TEXT, "The critical paths of %zu runs, that with the fewest threads first:", n);
}

static void fill_runs(struct reply *r, const struct path_run *runs, size_t n, const struct options *o)
{
	static const struct tab_column columns[] = { TAB_SHOWN("directory", "", 18, .alone = true),
						     TAB_SHOWN("threads", "threads", -7),
						     TAB_SHOWN("processes", "processes", -9),
						     TAB_SHOWN("length_s", "length, s", 0, 6), { 0 } };
	static const struct tab_column parts[] = { TAB_KEY("name"), TAB_KEY("file"), TAB_KEY("line"), TAB_KEY("seconds"),
						   TAB_KEY("share_percent"), { 0 } };
	say_runs(r, n, o);
	reply_gap(r);
	reply_table(r, "runs", columns, SIZE_MAX);
	for (size_t i = 0; i < n; i++) {
		reply_row(r, tab_text(runs[i].directory), tab_number(runs[i].nthreads), tab_number(runs[i].nprocesses),
			  tab_interval(runs[i].length_s));
		reply_table(r, "regions", parts, 0);
		for (size_t k = 0; k < runs[i].nparts; k++) {
			const struct path_part *p = &runs[i].parts[k];
			reply_row(r, tab_text(p->name), p->file ? tab_text(p->file) : TAB_NONE,
				  p->file ? tab_count(p->line) : TAB_NONE, tab_interval(p->seconds),
				  tab_interval(p->share));
		}
		reply_end(r);
	}
	reply_end(r);
}

static bool same_part(const struct path_part *x, const struct path_part *y)
{
	return strcmp(x->name, y->name) == 0 && x->line == y->line && strcmp(x->file ? x->file : "", y->file ? y->file : "") == 0;
}

static const struct path_part *find_part(const struct path_run *run, const struct path_part *like)
{
	for (size_t i = 0; i < run->nparts; i++)
		if (same_part(&run->parts[i], like))
			return &run->parts[i];
	return NULL;
}

/* The next part that is in any run's first few, and was in none of those before it. */
static const struct path_part *next_part(const struct path_run *runs, size_t n, size_t *run, size_t *part)
{
	for (; *run < n; ++*run, *part = 0) {
		while (*part < TOP_PARTS && *part < runs[*run].nparts) {
			const struct path_part *p = &runs[*run].parts[(*part)++];
			bool seen = false;
			for (size_t i = 0; i < *run && !seen; i++) {
				const struct path_part *before = find_part(&runs[i], p);
				seen = before && before < runs[i].parts + TOP_PARTS;
			}
			if (!seen)
				return p;
		}
	}
	return NULL;
}

/* How each of the longest parts of all of them changes. */
static void say_parts(struct reply *r, const struct path_run *runs, size_t n)
{
	static const struct tab_column columns[] = { TAB_SHOWN(NULL, "threads", -7), TAB_SHOWN(NULL, "% of path", 17, 3),
						     TAB_SHOWN(NULL, "seconds", 0, 6), { 0 } };
	const struct path_part *p;
	for (size_t run = 0, part = 0; (p = next_part(runs, n, &run, &part)) != NULL;) {
		reply_gap(r);
		reply_say(r, SAY_TEXT, "%s:", p->shown.text);
		reply_table(r, NULL, columns, SIZE_MAX);
		for (size_t i = 0; i < n; i++) {
			const struct path_part *same = find_part(&runs[i], p);
			reply_row(r, tab_number(runs[i].nthreads), same ? tab_range(same->share) : tab_text("-"),
				  same ? tab_interval(same->seconds) : tab_text("-"));
		}
		reply_end(r);
	}
}

static void close_runs(struct path_run *runs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < runs[i].nparts; k++) {
			free(runs[i].parts[k].name);
			free(runs[i].parts[k].file);
		}
		free(runs[i].parts);
	}
	free(runs);
}

static int answer_several(struct trace *trace, const struct options *options, struct reply *reply)
{
	size_t n = options->ndirectories;
	struct path_run *runs = mem_zeroed(n, sizeof *runs);
	int status = several_open(runs, sizeof *runs, trace, options, take_run);
	if (status == EXIT_FINE) {
		notes_damage(reply, trace->ndiagnostics);
		qsort(runs, n, sizeof *runs, by_threads);
		fill_runs(reply, runs, n, options);
		say_parts(reply, runs, n);
		reply_value(reply, "assumptions", tab_text(assumptions));
		reply_gap(reply);
		reply_say(reply, SAY_TEXT, "%s", assumptions);
		notes_fill(reply, trace);
		status = trace->ndiagnostics > 0 ? EXIT_DAMAGED : EXIT_FINE;
	}
	close_runs(runs, n);
	return status;
}

int cmd_path(struct trace *trace, const struct options *options, struct reply *reply)
{
	if (options->ndirectories < 2)
		return relations_run(trace, options, reply, UNKNOWN, answer);
	if (options->every) {
		shown_complain("--every: expected one trace, found %zu", options->ndirectories);
		return EXIT_USAGE;
	}
	return answer_several(trace, options, reply);
}
