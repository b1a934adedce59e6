/* SPDX-License-Identifier: MIT
 *
 * cmd_coz.c - dprof-analyze coz: what would it buy if a region took less time? */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/shown.h"
#include "analysis/base/memory.h"
#include "analysis/base/nearest.h"
#include "analysis/commands/command.h"
#include "analysis/report/clock_facts.h"
#include "analysis/report/doubt.h"
#include "analysis/report/marks.h"
#include "analysis/report/notes.h"
#include "analysis/report/polling_sleeps.h"
#include "analysis/report/profile_table.h"
#include "analysis/report/relations.h"
#include "analysis/report/unclassified.h"
#include "analysis/report/unrecorded.h"
#include "analysis/report/unseen.h"
#include "analysis/trace/names.h"

#define MILLION 1000000

/* ---- What was asked for ---------------------------------------------------------------------- */

/* "12.5" -> 12500000 */
static bool read_reduction(const char *text, uint32_t *millionths)
{
	uint64_t value = 0;
	unsigned digits = 0, decimals = 0;
	bool point = false;
	for (; *text; text++) {
		if (*text == '.' && !point) {
			point = true;
			continue;
		}
		if (*text < '0' || *text > '9' || (point && decimals == 6) || value > 1000000000)
			return false;
		value = 10 * value + (uint64_t)(*text - '0');
		digits++;
		decimals += point;
	}
	for (; decimals < 6; decimals++)
		value *= 10;
	*millionths = (uint32_t)value;
	return digits > 0 && value <= 100 * MILLION;
}

static int refuse(const char *option, const char *expected, const char *found)
{
	shown_complain("%s: expected %s; found \"%s\"", option, expected, found);
	return EXIT_USAGE;
}

static int find_reduction(const struct options *o, struct profile_request *request,
			  uint32_t *reduction)
{
	if (!o->reduce)
		return EXIT_FINE;
	if (!read_reduction(o->reduce, reduction))
		return refuse("--reduce", "a percentage from 0 to 100 with at most 6 decimals",
			      o->reduce);
	request->reductions = reduction;
	request->nreductions = 1;
	return EXIT_FINE;
}

/* What was given for `option`, as one of the values of the threads that `who` leaves; with a
 * message where it is none of them. */
static int find_number(const struct trace *trace, const char *option, const char *what, const char *given,
		       struct coz_location who,
		       int64_t (*value)(const struct trace *, size_t thread), int64_t *found)
{
	size_t n = 0;
	char **names = mem_resize(NULL, trace->nthreads + 1, sizeof *names);
	for (size_t t = 0; t < trace->nthreads; t++) {
		if (!coz_is_asked(trace, t, who) || value(trace, t) < 0)
			continue;
		names[n] = mem_format("%" PRId64, value(trace, t));
		if (strcmp(names[n++], given) == 0)
			*found = value(trace, t);
	}
	const char *like = nearest(given, (const char *const *)names, n);
	char *expected = mem_format("%s%s%s", what, n ? ", such as " : " (there is none)",
				    like ? like : n ? names[0] : "");
	int status = *found == COZ_ANY ? refuse(option, expected, given) : EXIT_FINE;
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
	free(expected);
	return status;
}

static int64_t rank_of(const struct trace *trace, size_t thread)
{
	return trace->threads[thread].rank;
}

static int64_t number_of(const struct trace *trace, size_t thread)
{
	return trace->threads[thread].number;
}

static int find_who(const struct trace *trace, const struct options *o, struct coz_location *who)
{
	bool ranks = false;
	int status = EXIT_FINE;
	*who = COZ_ALL;
	for (size_t t = 0; t < trace->nthreads; t++)
		ranks |= trace->threads[t].rank >= 0;
	if (o->rank && ranks)
		status = find_number(trace, "--rank", "a rank of this trace", o->rank, *who, rank_of, &who->rank);
	else if (o->rank)
		status = find_number(trace, "--rank", "the pid of a process, as there are no ranks", o->rank, *who, trace_pid,
				     &who->pid);
	if (status == EXIT_FINE && o->thread)
		status = find_number(trace, "--thread", "the number of a thread of this trace", o->thread, *who, number_of,
				     &who->thread);
	return status;
}

/* A name among the sites of a kind; what is near when it is not there. */
static int find_name(const struct trace *trace, enum dprof_kind kind, const char *option,
		     const char *what, const char *name)
{
	const char **names = mem_resize(NULL, trace->nsites + 1, sizeof *names);
	size_t n = 0;
	int status = name ? EXIT_USAGE : EXIT_FINE;
	for (size_t i = 0; i < trace->nsites; i++) {
		if (trace->sites[i].kind != kind)
			continue;
		names[n++] = trace->sites[i].name;
		if (name && strcmp(trace->sites[i].name, name) == 0)
			status = EXIT_FINE;
	}
	if (status != EXIT_FINE) {
		const char *like = nearest(name, names, n);
		char *expected = mem_format("the name of a %s of this trace%s%s", what,
					    n ? ", such as " : " (it has none)",
					    like ? like : n ? names[0] : "");
		refuse(option, expected, name);
		free(expected);
	}
	free(names);
	return status;
}

/* What programs without marks do outside of regions is named like a region. */
static bool is_outside(const struct trace *trace, const char *region)
{
	bool unmarked = false;
	for (size_t p = 0; p < trace->nprocesses; p++)
		unmarked |= !trace->processes[p].marked;
	return region && unmarked && strcmp(region, OUTSIDE_REGIONS) == 0;
}

/* One row was asked for. */
static bool single(const struct options *o)
{
	return o->region || o->all_work;
}

static int find_request(const struct trace *trace, const struct options *o,
			struct profile_request *request, uint32_t *reduction)
{
	*request = (struct profile_request){ .region = o->region, .all_work = o->all_work,
					     .worst = o->transfer != NULL,
					     .from = o->from ? o->from : o->progress, .to = o->to };
	if (o->region && o->all_work)
		return refuse("--region", "either this or --all-work", o->region);
	if (o->from && o->progress)
		return refuse("--progress", "either this or --from and --to", o->progress);
	if (!o->from != !o->to)
		return refuse(o->from ? "--from" : "--to",
			      o->from ? "--to as well" : "--from as well", o->from ? o->from : o->to);
	if (o->transfer && strcmp(o->transfer, "worst") != 0)
		return refuse("--transfer", "worst", o->transfer);
	int status = find_reduction(o, request, reduction);
	if (status == EXIT_FINE)
		status = find_who(trace, o, &request->who);
	if (status == EXIT_FINE)
		status = find_name(trace, DPROF_KIND_REGION, "--region", "region",
				   is_outside(trace, o->region) ? NULL : o->region);
	if (status == EXIT_FINE)
		status = find_name(trace, DPROF_KIND_PROGRESS, o->from ? "--from" : "--progress",
				   "progress point", request->from);
	if (status == EXIT_FINE)
		status = find_name(trace, DPROF_KIND_PROGRESS, "--to", "progress point", o->to);
	return status;
}

/* ---- The page -------------------------------------------------------------------------------- */

/* " on rank 3", or nothing */
static struct location_name where(struct coz_location who)
{
	struct location_name name = { "" };
	if (!coz_is_all(who))
		snprintf(name.text, sizeof name.text, " on %.35s", profile_who(who).text);
	return name;
}

#define UNKNOWN "nothing is known of what a region would buy"

/* What would be gained. */
static char *subject(const struct reply *r, const struct profile *p, const struct options *o)
{
	const struct interval *total = p->total_s;
	if (o->progress)
		return mem_format("How much more often point %s would be reached, in %% of now "
				  "(%" PRIu64 " times, first to last in %s s), if", o->progress,
				  p->points.count[0],
				  reply_interval(r, total[POINTS_THROUGHPUT], 9).text);
	if (o->from)
		return mem_format("How much shorter the way from point %s to %s would be, in %% of now "
				  "(%" PRIu64 " instances, %s s in all), if", o->from, o->to,
				  p->points.matched, reply_interval(r, total[POINTS_LATENCY], 9).text);
	return mem_format("How much shorter the run of %s s would be, in %% of it, if",
			  reply_interval(r, p->span_s, 9).text);
}

static const char *gain_key(const struct options *o)
{
	return o->progress ? "throughput_percent" : o->from ? "latency_percent" : "speedup_percent";
}

static void say_gains(struct reply *r, const struct trace *trace, const struct profile *p, const struct options *o)
{
	char *what = subject(r, p, o);
	reply_say(r, SAY_TEXT, "%s %s%s%s took less time and nothing else changed", what,
		  o->region ? "region " : o->all_work ? "" : "a region",
		  single(o) ? site_name(trace, p->rows[0].site).text : "", where(p->who).text);
	free(what);
	for (int little = 0; little <= (o->from != NULL); little++) {
		if (little)
			reply_say(r, SAY_TEXT,
				  "The same by Little's law, whatever belongs together (%" PRIu64 " set out, %" PRIu64
				  " arrived):", p->points.count[0], p->points.count[1]);
		reply_gap(r);
		if (single(o))
			profile_curve(r, NULL, p, p->rows, little, gain_key(o));
		else
			profile_table_say(r, trace, p, little, SIZE_MAX);
		reply_gap(r);
	}
}

static void say_answer(struct reply *r, const struct trace *trace, const struct profile *p, const struct options *o)
{
	struct interval gain[COZ_ANSWERS];
	for (int answer = 0; answer < COZ_ANSWERS; answer++)
		gain[answer] = p->rows[0].gain[answer].percent[0];
	reply_say(r, SAY_TEXT,
		  "Had %s%s taken %s less time%s and nothing else changed, the run of %s s would have been %s.",
		  o->region ? "region " : "", site_name(trace, p->rows[0].site).text,
		  profile_percentage(p->reductions[0]).text, where(p->who).text,
		  reply_interval(r, p->span_s, 9).text, profile_gains(r, p, gain, 4).text);
}

static void fill_page(struct reply *r, const struct times *times, const struct profile *p, const struct options *o)
{
	const struct trace *trace = times->trace;
	notes_damage(r, trace->ndiagnostics);
	if (!p->possible && p->nrows > 0)
		reply_say(r, SAY_TEXT, "%s: " UNKNOWN ".", relations_missing(times));
	if (p->nrows == 0)
		reply_say(r, SAY_TEXT, "No region was recorded: mark the work with %s.", marks_region(trace));
	else if (single(o) && o->reduce && !o->from && !o->progress)
		say_answer(r, trace, p, o);
	else
		say_gains(r, trace, p, o);
}

/* ---- The data -------------------------------------------------------------------------------- */

static void fill_points(struct reply *r, const struct profile *p, const struct options *o)
{
	if (o->progress) {
		reply_value(r, "points", tab_count(p->points.count[0]));
		reply_value(r, "first_to_last_s", tab_interval(p->total_s[POINTS_THROUGHPUT]));
	} else if (o->from) {
		reply_value(r, "set_out", tab_count(p->points.count[0]));
		reply_value(r, "arrived", tab_count(p->points.count[1]));
		reply_value(r, "matched", tab_count(p->points.matched));
		reply_value(r, "latencies_s", tab_interval(p->total_s[POINTS_LATENCY]));
	}
}

static void fill_data(struct reply *r, const struct trace *trace, const struct profile *p, const struct options *o,
		      const char *bounds)
{
	if (p->nrows > 0 && single(o) && o->reduce) {
		reply_value(r, gain_key(o), tab_interval(p->rows[0].gain[COZ_PROVED].percent[0]));
		reply_value(r, "expected_percent", tab_interval(p->rows[0].gain[COZ_EXPECTED].percent[0]));
	}
	reply_value(r, "bounds", tab_text(bounds));
	reply_value(r, "proved_if", p->if_work ? tab_text(UNCLASSIFIED_IF) : TAB_NONE);
	reply_value(r, "span_s", tab_interval(p->span_s));
	fill_points(r, p, o);
	profile_table_fill(r, "regions", trace, p, gain_key(o));
}

static char *all_assumptions(const struct profile_assumptions *a)
{
	char *all = mem_format("%s %sAssumed:", a->meaning, a->here ? a->here : "");
	for (size_t i = 0; i < a->nalways; i++) {
		char *before = all;
		all = mem_format("%s %s", before, a->always[i]);
		free(before);
	}
	return all;
}

/* All of it among the data; to people what every answer assumes of a program only where they ask. */
static void fill_assumptions(struct reply *r, const struct profile *p, const struct options *o)
{
	struct profile_assumptions a = profile_assumptions(p, o->transfer);
	char *all = all_assumptions(&a);
	reply_value(r, "assumptions", tab_text(all));
	reply_say(r, SAY_TEXT, "%s", a.meaning);
	if (a.here)
		reply_say(r, SAY_TEXT, "%s", a.here);
	reply_say(r, SAY_TEXT, o->verbose ? "Assumed of the program:"
					 : "Both assume that what threads do depends neither on a clock nor on what others change unseen: "
					   "in memory, in files, or in the kernel. What else they assume: -v.");
	for (size_t i = 0; o->verbose && i < a.nalways; i++)
		reply_say(r, SAY_ITEM, "%s", a.always[i]);
	free(a.meaning);
	free(a.here);
	free(all);
}

static void fill(struct reply *r, const struct profile *p, const struct times *times, const struct options *o)
{
	fill_data(r, times->trace, p, o, clock_bounds_word(times));
	fill_page(r, times, p, o);
	fill_assumptions(r, p, o);
	notes_fill(r, times->trace);
	clock_bounds_say(r, times);
}

static int answer(struct trace *trace, const struct times *times, const struct options *options, struct profile_request *request,
		  struct reply *reply)
{
	struct profile profile;
	struct unrecorded unrecorded;
	unrecorded_open(&unrecorded, trace, NULL);
	struct unclassified *unclassified = unclassified_find(trace, times);
	doubt_profile(request, trace, &unrecorded, polling_sleeps_say(trace, NULL), unclassified);
	unclassified_say(trace, unclassified);
	unseen_say(trace, false);
	unrecorded_close(&unrecorded);
	free(unclassified);
	profile_open(&profile, trace, times, request);
	graph_said_tell(&profile.said, trace);
	fill(reply, &profile, times, options);
	profile_close(&profile);
	return trace->ndiagnostics > 0 ? EXIT_DAMAGED : EXIT_FINE;
}

static int answer_nothing(struct trace *trace, const struct times *times, struct reply *reply)
{
	relations_unknown(reply, trace, relations_unanswered(times), UNKNOWN);
	notes_fill(reply, trace);
	return trace->ndiagnostics > 0 ? EXIT_DAMAGED : EXIT_FINE;
}

int cmd_coz(struct trace *trace, const struct options *options, struct reply *reply)
{
	struct profile_request request;
	uint32_t reduction;
	int status = find_request(trace, options, &request, &reduction);
	if (status != EXIT_FINE)
		return status;
	struct times times;
	status = times_open(&times, trace, options);
	if (status != EXIT_FINE)
		return status;
	status = trace_records(trace) ? answer(trace, &times, options, &request, reply) : answer_nothing(trace, &times, reply);
	times_close(&times);
	return status;
}
