/* SPDX-License-Identifier: MIT
 *
 * cmd_path.c - dprof-analyze path: what the end of the run waited for, all the way back to its begin. */
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/shown.h"
#include "analysis/commands/command.h"
#include "analysis/path/path.h"
#include "analysis/report/clock_facts.h"
#include "analysis/report/locations.h"
#include "analysis/report/moments.h"
#include "analysis/report/notes.h"
#include "analysis/report/relations.h"
#include "analysis/trace/names.h"

#define MOST_ROWS   16
#define MOST_SLICES 1000

struct answer {
	const struct times *times;
	struct path path;
	uint32_t time_base;
	struct path_slice slice;
	bool sliced;             /* --from or --to */
	int64_t every;           /* ticks; 0: not asked for */
	struct path_profile profile;
};

static struct interval seconds(const struct answer *a, frz_time ticks)
{
	return times_seconds(a->times, a->time_base, ticks);
}

static struct interval seconds_at(const struct answer *a, int64_t ticks)
{
	return seconds(a, (frz_time){ ticks, ticks });
}

/* ---- The data -------------------------------------------------------------------------------- */

static struct tab_cell name_cell(const struct trace *trace, uint32_t site)
{
	static const char unknown[] = "not known";
	if (site < trace->nsites)
		return tab_site(trace, site);
	return tab_text(site == TR_OUTSIDE ? OUTSIDE_REGIONS : site == TR_BEFORE ? "before its first event" : unknown);
}

static void fill_segments(struct reply *r, const struct answer *a, const struct path_profile *profile)
{
	static const struct tab_column columns[] = { TAB_KEY("rank"), TAB_KEY("pid"), TAB_KEY("thread"), TAB_KEY("name"),
						     TAB_KEY("share_percent"), TAB_KEY("seconds"), TAB_KEY("verdict"),
						     { 0 } };
	const struct trace *trace = a->path.graph.trace;
	reply_table(r, "segments", columns, 0);
	for (size_t i = 0; i < profile->nshares; i++) {
		const struct path_share *s = &profile->shares[i];
		const struct tr_thread *t = &trace->threads[s->thread];
		reply_row(r, tab_count(t->rank), tab_number(trace->processes[t->process].pid), tab_count(t->number),
			  name_cell(trace, s->site), tab_interval(interval_percent(s->ticks, profile->length)),
			  tab_interval(seconds(a, s->ticks)), tab_verdict(s->sure));
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

static void say_segments(struct reply *r, const struct answer *a, const struct path_profile *profile, bool every)
{
	int width = locations_width(a->path.graph.trace), rest = 48 - width; /* in 80 columns */
	const struct tab_column columns[] = { TAB_SHOWN(NULL, "% of it", 17, 3), TAB_SHOWN(NULL, "on", width),
					      TAB_SHOWN(NULL, "in", rest), TAB_SHOWN(NULL, ""), { 0 } };
	const struct trace *trace = a->path.graph.trace;
	size_t most = count_rows(profile, every);
	reply_gap(r);
	reply_table(r, NULL, columns, SIZE_MAX);
	for (size_t i = 0, shown = 0; i < profile->nshares && shown < most; i++) {
		if (!every && interval_percent(profile->shares[i].ticks, profile->length).hi <= SHARE_OF_NOTHING)
			continue;
		shown++;
		const struct path_share *s = &profile->shares[i];
		struct location_name on = location_name(trace, s->thread);
		struct site_name in = s->site == TR_NO_SITE ? (struct site_name){ "what is not known" }
							      : site_name_within(trace, s->site, (size_t)rest);
		reply_row(r, tab_range(interval_percent(s->ticks, profile->length)), tab_text(on.text), tab_text(in.text),
			  relations_decided(s->ticks) ? TAB_NONE : tab_text("undecided"));
	}
	reply_end(r);
	if (profile->nshares > most)
		reply_say(r, SAY_INDENTED, "... and %zu more: -v", profile->nshares - most);
}

/* How much of it is not decided, at most. */
static void say_undecided(struct reply *r, const struct answer *a)
{
	frz_time sure = { 0, 0 };
	bool any = false;
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
			  "that was waited for, as far as clocks are known.",
			  interval_upper(interval_percent(open, a->profile.length).hi, 3).text);
	else
		reply_say(r, SAY_TEXT, "In up to %s %% of it the path is undecided: what ended a wait is not in the trace, and "
			  "before that the path may have been anywhere.",
			  interval_upper(interval_percent(open, a->profile.length).hi, 3).text);
}

static void say_title(struct reply *r, const struct answer *a)
{
	const struct path_profile *p = &a->profile;
	if (a->sliced)
		reply_say(r, SAY_TEXT, "The critical path from %s s after the run's begin on, for %s s:",
			  interval_shown(seconds_at(a, a->slice.from), 6).text, interval_shown(seconds(a, p->length), 6).text);
	else
		reply_say(r, SAY_TEXT, "The critical path of the run of %s s: what its end waited for, back to its begin.",
			  interval_shown(seconds(a, p->length), 9).text);
}

static const char assumptions[] =
	"Assumed: a wait was ended by an operation that the trace connects with it. Of an operation the path has what lies "
	"behind the last event that was waited for.";

/* ---- Slices ---------------------------------------------------------------------------------- */

/* Each part, and what was longest in it. */
static void fill_slices(struct reply *r, struct answer *a)
{
	static const struct tab_column columns[] = { TAB_KEY("from_s"), TAB_SHOWN(NULL, "from, s", 12),
						     TAB_SHOWN(NULL, "% of it", 17, 3), TAB_SHOWN(NULL, "on", 19),
						     TAB_SHOWN(NULL, "in", 0), { 0 } };
	const struct trace *trace = a->path.graph.trace;
	int64_t end = a->path.span.length.lo < a->slice.to ? a->path.span.length.lo : a->slice.to;
	reply_gap(r);
	reply_table(r, "slices", columns, SIZE_MAX);
	for (int64_t from = a->slice.from; from < end; from += a->every) {
		struct path_slice slice = { from, ticks_plus(from, a->every) };
		struct path_profile p;
		slice.to = slice.to < a->slice.to ? slice.to : a->slice.to;
		path_profile_open(&p, &a->path, slice);
		char *begin = mem_format("%.6f", seconds_at(a, from).lo);
		const struct path_share *s = p.nshares ? &p.shares[0] : NULL;
		struct site_name in = s ? site_name_within(trace, s->site, 26) : (struct site_name){ "-" };
		struct location_name on = s ? location_name(trace, s->thread) : (struct location_name){ "-" };
		reply_row(r, tab_interval(seconds_at(a, from)), tab_text(begin),
			  s ? tab_range(interval_percent(s->ticks, p.length)) : TAB_NONE, tab_text(on.text), tab_text(in.text));
		reply_value(r, "length_s", tab_interval(seconds(a, p.length)));
		fill_segments(r, a, &p);
		free(begin);
		path_profile_close(&p);
	}
	reply_end(r);
}

/* False after a message. */
static bool find_slice(struct answer *a, const struct options *o)
{
	double ns = 0, ghz = a->times->trace->clocks[times_unit(a->times, a->time_base)].ghz;
	a->slice = PATH_ALL;
	a->sliced = o->from || o->to;
	if (o->from && !moment_find(a->times, &a->path.span, "--from", o->from, &a->slice.from))
		return false;
	if (o->to && !moment_find(a->times, &a->path.span, "--to", o->to, &a->slice.to))
		return false;
	if (a->slice.from >= a->slice.to || a->slice.from >= a->path.span.length.hi) {
		shown_complain("--from, --to: expected a part of the run, found none of it between them");
		return false;
	}
	if (o->every && (!moment_duration(o->every, &ns) || ns * ghz < 1)) {
		shown_complain("--every: expected a time, such as 100ms; found \"%s\"", o->every);
		return false;
	}
	a->every = (int64_t)(ns * ghz);
	if (o->every && a->path.span.length.hi / a->every >= MOST_SLICES) {
		shown_complain("--every: expected at most %d parts of the run, found more of %s", MOST_SLICES, o->every);
		return false;
	}
	return true;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static void fill(struct reply *r, struct answer *a, const struct options *o)
{
	struct trace *trace = a->times->trace;
	path_profile_open(&a->profile, &a->path, a->slice);
	notes_damage(r, trace->ndiagnostics);
	reply_value(r, "span_s", tab_interval(seconds(a, a->path.span.length)));
	reply_value(r, "length_s", tab_interval(seconds(a, a->profile.length)));
	reply_value(r, "bounds", tab_text(clock_bounds_word(a->times)));
	say_title(r, a);
	fill_segments(r, a, &a->profile);
	say_segments(r, a, &a->profile, o->verbose);
	say_undecided(r, a);
	if (a->every)
		fill_slices(r, a);
	reply_value(r, "assumptions", tab_text(assumptions));
	reply_gap(r);
	reply_say(r, SAY_TEXT, "%s", assumptions);
	path_profile_close(&a->profile);
}

static int answer(struct trace *trace, const struct times *times, const struct options *options, struct reply *reply)
{
	struct answer a = { .times = times, .time_base = times->time_base[trace->threads[0].clock] };
	path_open(&a.path, trace, times);
	for (size_t i = 0; i < a.path.graph.ndiagnostics; i++)
		trace_diagnose(trace, "%s", a.path.graph.diagnostics[i]);
	bool meant = find_slice(&a, options);
	if (meant)
		fill(reply, &a, options);
	path_close(&a.path);
	return meant ? EXIT_FINE : EXIT_USAGE;
}

int cmd_path(struct trace *trace, const struct options *options, struct reply *reply)
{
	return relations_run(trace, options, reply, "no critical path is known", answer);
}
