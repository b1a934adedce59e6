/* SPDX-License-Identifier: MIT
 *
 * cmd_query.c - dprof-analyze query: for how long does a condition hold, and when? Or what a SELECT asks. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/shown.h"
#include "analysis/commands/command.h"
#include "analysis/commands/sql_results.h"
#include "analysis/model/arguments.h"
#include "analysis/report/clock_facts.h"
#include "analysis/report/frame_list.h"
#include "analysis/report/notes.h"
#include "analysis/report/presence.h"
#include "analysis/report/relations.h"
#include "analysis/report/unrecorded.h"
#include "analysis/report/unseen.h"
#include "analysis/states/totals.h"

struct query_answer {
	struct trace *trace;
	const char *text;        /* of the query */
	struct times times;
	struct roles roles;
	struct query query;
	struct totals totals;
	struct span span;
	uint32_t time_base;
	struct frames frames;
};

static struct interval seconds(const struct query_answer *a, frz_time ticks)
{
	return times_seconds(&a->times, a->time_base, ticks);
}

static void fill(struct reply *r, const struct query_answer *a)
{
	const struct frames *f = &a->frames;
	struct interval run = seconds(a, a->span.length), holds = seconds(a, f->holds),
			percent = interval_percent(f->holds, a->span.length);
	reply_value(r, "query", tab_text(a->text));
	reply_value(r, "bounds", tab_text(clock_bounds_word(&a->times)));
	reply_value(r, "span_s", tab_interval(run));
	reply_value(r, "holds_s", tab_interval(holds));
	reply_value(r, "share_percent", tab_interval(percent));
	reply_value(r, "frames.certain", tab_count(f->certain));
	reply_value(r, "frames.possible", tab_count(f->possible));
	notes_damage(r, a->trace->ndiagnostics);
	reply_say(r, SAY_LINE, "%s", a->text);
	reply_say(r, SAY_INDENTED, "holds for %s s of the run's %s s, that is %s %%", reply_interval(r, holds, 9).text,
		  reply_interval(r, run, 9).text, reply_interval(r, percent, 3).text);
	reply_say(r, SAY_LINE, "  certain in %" PRIu64 " stretch%s, possible in %" PRIu64 " more", f->certain,
		  f->certain == 1 ? "" : "es", f->possible);
	frame_list_fill(r, "longest", &a->times, a->time_base, f);
	clock_bounds_say(r, &a->times);
	for (size_t i = 0; i < a->query.nnotes; i++)
		reply_say(r, SAY_NOTE, "%s", a->query.notes[i]);
	reply_texts(r, "remarks", a->query.notes, a->query.nnotes);
	notes_fill(r, a->trace);
}

/* ---- The answer ------------------------------------------------------------------------------ */

static void say_error(const char *text, struct query_error *error)
{
	char *before = mem_format("%.*s", (int)error->at, text);
	char *what = shown_copy(error->what), *shown = shown_copy(text), *indent = shown_copy(before);
	fprintf(stderr, "dprof-analyze: query: %s\n  %s\n  %*s^\n", what, shown, (int)shown_width(indent, strlen(indent)), "");
	free(before);
	free(indent);
	free(shown);
	free(what);
	free(error->what);
}

/* The base clock's time base; the first one that has events when that has none. */
static void find_span(struct query_answer *a)
{
	a->span = times_span(&a->times, a->time_base, a->totals.ends);
	for (uint32_t time_base = 1; time_base < a->times.ntime_bases && !a->span.events;
	     time_base++) {
		a->time_base = time_base;
		a->span = times_span(&a->times, time_base, a->totals.ends);
	}
}

/* ---- What was not recorded ------------------------------------------------------------------- */

/* -> ticks for which threads may have waited or worked that seem to do the other, at most; and which, in `also`. Of threads that
 * surely were blocked for a time worth mentioning. */
static int64_t find_doubts(const struct query_answer *a, const struct unrecorded *u, uint8_t *also)
{
	int64_t sum = 0;
	double run_s = seconds(a, a->span.length).lo;
	for (size_t t = 0; t < a->trace->nthreads; t++) {
		double blocked_s = u->worth[t] ? unrecorded_most(u, a->trace, t) : 0, hidden_s = u->threads[t].hidden_s.hi;
		also[t] = (uint8_t)((blocked_s > 0 ? MAY_WAIT : 0) | (hidden_s > 0 ? MAY_WORK : 0));
		sum = ticks_plus(sum, blocked_ticks(blocked_s, &a->span, run_s));
		sum = ticks_plus(sum, blocked_ticks(hidden_s, &a->span, run_s));
	}
	return sum;
}

/* Whatever was not recorded changed the condition for no longer than it lasted. */
static frz_time within(frz_time wide, frz_time recorded, int64_t doubt)
{
	int64_t lo = ticks_minus(recorded.lo, doubt), hi = ticks_plus(recorded.hi, doubt);
	return (frz_time){ lo > wide.lo ? lo : wide.lo, hi < wide.hi ? hi : wide.hi };
}

/* Which frames are certain, and for how long the condition holds, whatever was not recorded. */
static void doubt_frames(struct query_answer *a, size_t most)
{
	struct unrecorded u;
	unrecorded_open(&u, a->trace, &a->roles);
	uint8_t *also = mem_resize(NULL, a->trace->nthreads + 1, sizeof *also);
	int64_t doubt = find_doubts(a, &u, also);
	if (doubt > 0) {
		frz_time recorded = a->frames.holds;
		frames_close(&a->frames);
		a->query.also = also;
		frames_open(&a->frames, &a->times, &a->query, a->time_base, &a->span, most);
		a->frames.holds = within(a->frames.holds, recorded, doubt);
	}
	a->query.also = NULL;
	free(also);
	unrecorded_close(&u);
}

/* ---- Instances ------------------------------------------------------------------------------- */

static bool has_instance(const struct trace *trace, const struct query_atom *atom)
{
	bool found = false;
	for (size_t t = 0; t < trace->nthreads && !found; t++) {
		struct tr_cursor cursor = trace_events(trace, t);
		for (struct tr_event e; !found && trace_next(&cursor, &e);)
			found = e.op == DPROF_ENTER && e.site < trace->nsites && atom->sites[e.site] && arg_has_instance(&e) &&
				arg_instance(&e) == atom->instance;
		trace_end(&cursor);
	}
	return found;
}

/* Where there is none, csp --instances may nevertheless have one of that number: it counts visits that say none. */
static void note_instances(struct query *q)
{
	for (size_t i = 0; i < q->natoms; i++) {
		const struct query_atom *atom = &q->atoms[i];
		if (atom->what == ATOM_SITES && atom->one_instance && !has_instance(q->trace, atom))
			*MEM_GROW(q->notes, q->nnotes) =
				mem_format("[%" PRIu64 "]: no visit says that it is this instance. Where the region is marked without instance(EXPR), "
					   "visits have no numbers here; csp --instances counts them", atom->instance);
	}
}

static void compute(struct query_answer *a, const struct options *options, struct reply *reply)
{
	totals_open(&a->totals, a->trace, &a->roles);
	say_open_ends(a->trace, &a->totals);
	say_unrecorded(a->trace);
	unseen_say(a->trace, false);
	say_absent(a->trace, &a->totals, options);
	find_span(a);
	note_instances(&a->query);
	size_t most = options->json ? FRAMES_IN_JSON : FRAMES_IN_TEXT;
	frames_open(&a->frames, &a->times, &a->query, a->time_base, &a->span, most);
	if (query_asks_roles(&a->query))
		doubt_frames(a, most);
	fill(reply, a);
	frames_close(&a->frames);
	totals_close(&a->totals);
}

static void answer(struct query_answer *a, const struct options *options, struct reply *reply)
{
	if (trace_records(a->trace) > 0) {
		compute(a, options, reply);
		return;
	}
	relations_unknown(reply, a->trace, relations_unanswered(&a->times), "nothing is known of the condition");
	notes_fill(reply, a->trace);
}

/* By SQL: the rows are all of the page. */
static int ask_sql(struct trace *trace, const struct options *options, struct reply *reply)
{
	struct times times;
	int status = times_open(&times, trace, options);
	if (status != EXIT_FINE)
		return status;
	struct sql_source source = sql_source_of(trace, &times, options);
	status = sql_ask(&source, options->sql, reply);
	if (status == EXIT_FINE)
		reply_texts(reply, "problems", trace->diagnostics, trace->ndiagnostics);
	times_close(&times);
	return status == EXIT_FINE && trace->ndiagnostics > 0 ? EXIT_DAMAGED : status;
}

int cmd_query(struct trace *trace, const struct options *options, struct reply *reply)
{
	if (options->sql)
		return ask_sql(trace, options, reply);
	struct query_answer a = { .trace = trace, .text = options->query };
	struct query_error error;
	int status = times_open(&a.times, trace, options);
	if (status != EXIT_FINE)
		return status;
	status = EXIT_USAGE;
	if (roles_open(&a.roles, trace, options->work, options->wait)) {
		if (query_open(&a.query, trace, &a.roles, options->query, &error)) {
			answer(&a, options, reply);
			query_close(&a.query);
			status = trace->ndiagnostics > 0 ? EXIT_DAMAGED : EXIT_FINE;
		} else {
			say_error(options->query, &error);
		}
	}
	roles_close(&a.roles);
	times_close(&a.times);
	return status;
}
