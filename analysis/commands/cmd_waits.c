/* SPDX-License-Identifier: MIT
 *
 * cmd_waits.c - dprof-analyze waits: who waited, where, for how long, and for whom. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/commands/command.h"
#include "analysis/report/clock_facts.h"
#include "analysis/report/decide.h"
#include "analysis/report/doubt.h"
#include "analysis/report/locations.h"
#include "analysis/report/notes.h"
#include "analysis/report/relations.h"
#include "analysis/trace/names.h"
#include "analysis/waits/waits.h"

#define MOST_ROWS        12
#define MOST_DELAYS      8
#define SENTENCE_ROOM    48   /* of a place, in a sentence that goes on in the next line */
#define SHARE_OF_LITTLE  0.1  /* percent of all waiting; likewise */
#define SHARE_OF_NOTHING 0.01 /* percent of the run; less is shown with -v */

struct waits_answer {
	const struct trace *trace;
	const struct times *times;
	uint32_t time_base;
	const struct waits *waits;   /* with delays */
	frz_time waiting;        /* of all threads */
	size_t open;             /* of these, those that may have waited for all of their time */
	struct idle { uint32_t thread; frz_time ticks; } *idle; size_t nidle; /* behind its last team, to its end */
	frz_time idling;         /* all of them */
};

static struct interval seconds(const struct waits_answer *a, frz_time ticks)
{
	return times_seconds(a->times, a->time_base, ticks);
}

/* In a trace with problems nothing is. */
static bool proved(const struct waits_answer *a, frz_time ticks)
{
	return a->trace->ndiagnostics == 0 && relations_decided(ticks);
}

/* ---- The data -------------------------------------------------------------------------------- */

static struct tab_cell name_of(const struct trace *trace, uint32_t site)
{
	return tab_text(site < trace->nsites ? trace->sites[site].name : site == TR_NO_SITE ? PLACE_NOT_KNOWN : OUTSIDE_REGIONS);
}

#define WAITED_KEYS                                                                                \
	TAB_KEY("kind"), TAB_KEY("rank"), TAB_KEY("pid"), TAB_KEY("thread"), TAB_KEY("name"), TAB_KEY("site"),         \
		TAB_KEY("seconds"), TAB_KEY("share_percent"), TAB_KEY("count"), TAB_KEY("verdict")
#define WAITED_CELLS(a, s, at)                                                                     \
	tab_text(wait_kind_key((s)->kind)), tab_count((a)->trace->threads[(s)->thread].rank),                          \
		tab_count(trace_pid((a)->trace, (s)->thread)), tab_count((a)->trace->threads[(s)->thread].number),        \
		name_of((a)->trace, (s)->site), tab_text(at), tab_interval(seconds((a), (s)->ticks)),                  \
		tab_interval(interval_percent((s)->ticks, (a)->waits->span.length)), tab_count((int64_t)(s)->count),     \
		tab_verdict(proved((a), (s)->ticks))

static void fill_causes(struct reply *r, const struct waits_answer *a)
{
	static const struct tab_column columns[] = { WAITED_KEYS, TAB_KEY("caused_by.rank"), TAB_KEY("caused_by.pid"),
						     TAB_KEY("caused_by.thread"), TAB_KEY("caused_by.region"),
						     TAB_KEY("caused_by.site"), { 0 } };
	reply_table(r, "waits", columns, 0);
	for (size_t i = 0; i < a->waits->ncauses; i++) {
		const struct wait_sum *s = &a->waits->causes[i];
		char *at = site_place(a->trace, s->site), *did = site_place(a->trace, s->did);
		reply_row(r, WAITED_CELLS(a, s, at), tab_count(a->trace->threads[s->for_thread].rank),
			  tab_count(trace_pid(a->trace, s->for_thread)), tab_count(a->trace->threads[s->for_thread].number),
			  name_of(a->trace, s->did), tab_text(did));
		free(at);
		free(did);
	}
	reply_end(r);
}

static void fill_places(struct reply *r, const struct waits_answer *a)
{
	static const struct tab_column columns[] = { WAITED_KEYS, { 0 } };
	reply_table(r, "places", columns, 0);
	for (size_t i = 0; i < a->waits->nplaces; i++) {
		const struct wait_sum *s = &a->waits->places[i];
		char *at = site_place(a->trace, s->site);
		reply_row(r, WAITED_CELLS(a, s, at));
		free(at);
	}
	reply_end(r);
}

/* What the waiting goes back to. */
static void fill_delays(struct reply *r, const struct waits_answer *a)
{
	static const struct tab_column columns[] = { TAB_KEY("rank"), TAB_KEY("pid"), TAB_KEY("thread"), TAB_KEY("region"),
						     TAB_KEY("site"), TAB_KEY("seconds"), TAB_KEY("share_percent"),
						     TAB_KEY("short_term_s"), TAB_KEY("long_term_s"), TAB_KEY("verdict"), { 0 } };
	reply_table(r, "delays", columns, 0);
	for (size_t i = 0; i < a->waits->ndelays; i++) {
		const struct wait_delay *d = &a->waits->delays[i];
		char *at = site_place(a->trace, d->site);
		reply_row(r, tab_count(a->trace->threads[d->thread].rank), tab_count(trace_pid(a->trace, d->thread)),
			  tab_count(a->trace->threads[d->thread].number), name_of(a->trace, d->site), tab_text(at),
			  tab_interval(seconds(a, d->ticks)), tab_interval(interval_percent(d->ticks, a->waiting)),
			  tab_interval(seconds(a, d->short_term)), tab_interval(seconds(a, d->long_term)),
			  tab_verdict(proved(a, d->ticks)));
		free(at);
	}
	reply_end(r);
	reply_value(r, "waiting_s", tab_interval(seconds(a, a->waiting)));
	reply_value(r, "uncaused_s", tab_interval(seconds(a, a->waits->uncaused)));
}

/* In no row: nobody ended that. */
static void fill_idle(struct reply *r, const struct waits_answer *a)
{
	static const struct tab_column columns[] = { TAB_KEY("rank"), TAB_KEY("pid"), TAB_KEY("thread"), TAB_KEY("seconds"),
						     TAB_KEY("share_percent"), { 0 } };
	reply_table(r, "idle", columns, 0);
	for (size_t i = 0; i < a->nidle; i++) {
		const struct idle *x = &a->idle[i];
		reply_row(r, tab_count(a->trace->threads[x->thread].rank), tab_count(trace_pid(a->trace, x->thread)),
			  tab_count(a->trace->threads[x->thread].number), tab_interval(seconds(a, x->ticks)),
			  tab_interval(interval_percent(x->ticks, a->waits->span.length)));
	}
	reply_end(r);
}

/* ---- The page -------------------------------------------------------------------------------- */

static bool matters(const struct waits_answer *a, const struct wait_sum *s, bool every)
{
	return every || interval_percent(s->ticks, a->waits->span.length).hi > SHARE_OF_NOTHING;
}

static void say_causes(struct reply *r, const struct waits_answer *a, bool every)
{
	int width = locations_width(a->trace);
	const struct tab_column columns[] = { TAB_SHOWN(NULL, "% of run", 17, 3, .bar = true), TAB_SHOWN(NULL, "waits", width),
					      TAB_SHOWN(NULL, "for", width), TAB_SHOWN(NULL, "kind"), { 0 } };
	size_t shown = 0, left = 0;
	reply_gap(r);
	reply_table(r, NULL, columns, SIZE_MAX);
	for (size_t i = 0; i < a->waits->ncauses; i++) {
		const struct wait_sum *s = &a->waits->causes[i];
		if (!matters(a, s, every) || (shown == MOST_ROWS && !every)) {
			left++;
			continue;
		}
		shown++;
		reply_row(r, tab_range(interval_percent(s->ticks, a->waits->span.length)),
			  tab_text(location_name(a->trace, s->thread).text), tab_text(location_name(a->trace, s->for_thread).text),
			  tab_text(wait_kind_words(s->kind)));
		reply_say(r, SAY_DETAIL, "in %s; that one was in %s%s", site_name_within(a->trace, s->site, SENTENCE_ROOM).text,
			  site_name_said(a->trace, s->did, SENTENCE_ROOM).text, proved(a, s->ticks) ? "" : "; undecided");
	}
	reply_end(r);
	if (left)
		reply_say(r, SAY_INDENTED, "... and %zu more: -v", left);
}

/* Who was longer than those who then waited. What it would buy to make that shorter is another question. */
static void say_delays(struct reply *r, const struct waits_answer *a, bool every)
{
	int width = locations_width(a->trace);
	const struct tab_column columns[] = { TAB_SHOWN(NULL, "% of waiting", 17, 3, .bar = true),
					      TAB_SHOWN(NULL, "longer on", width), TAB_SHOWN(NULL, "in", 48 - width),
					      TAB_SHOWN(NULL, ""), { 0 } };
	size_t shown = 0, left = 0;
	reply_gap(r);
	reply_say(r, SAY_TEXT, "What all waiting (%s s, of all threads) goes back to, from wait to wait:",
		  reply_interval(r, seconds(a, a->waiting), 9).text);
	reply_table(r, NULL, columns, SIZE_MAX);
	for (size_t i = 0; i < a->waits->ndelays; i++) {
		const struct wait_delay *d = &a->waits->delays[i];
		if (!every && (shown == MOST_DELAYS || interval_percent(d->ticks, a->waiting).hi <= SHARE_OF_LITTLE)) {
			left++;
			continue;
		}
		shown++;
		reply_row(r, tab_range(interval_percent(d->ticks, a->waiting)), tab_text(location_name(a->trace, d->thread).text),
			  tab_text(d->site == TR_NO_SITE ? PLACE_NOT_KNOWN
							 : site_name_within(a->trace, d->site, (size_t)(48 - width)).text),
			  proved(a, d->ticks) ? TAB_NONE : tab_text("undecided"));
	}
	reply_end(r);
	if (left)
		reply_say(r, SAY_INDENTED, "... and %zu more: -v", left);
	if (interval_percent(a->waits->uncaused, a->waiting).hi > SHARE_OF_LITTLE)
		reply_say(r, SAY_INDENTED, "%s %% of waiting goes back to nothing that took longer in the trace.",
			  reply_interval(r, interval_percent(a->waits->uncaused, a->waiting), 3).text);
	reply_say(r, SAY_TEXT, "That is what was longer there than elsewhere; what making it shorter would buy says "
			       "dprof-analyze coz --region NAME.");
}

static const char assumptions[] =
	"Assumed: a wait was ended by an operation that the trace connects with it. A wait lasts until the last that was "
	"waited for has come; what an operation takes behind that is transfer, which report and csp count as waiting.";

static void fill_page(struct reply *r, const struct waits_answer *a, bool every)
{
	reply_say(r, SAY_TEXT, "Who waited for whom in the run of %s s. A wait is caused by whoever came last.",
		  reply_interval(r, seconds(a, a->waits->span.length), 9).text);
	bool all_known = !a->waits->unknown && !a->waits->expired && !a->open;
	if (a->waits->ncauses == 0)
		reply_say(r, SAY_TEXT, "%s", all_known ? "No thread waited for another."
						       : "It is not known that a thread waited for another.");
	else
		say_causes(r, a, every);
	if (a->waits->ndelays)
		say_delays(r, a, every);
	if (a->waits->unknown)
		reply_say(r, SAY_TEXT, "Of %llu wait%s it is not known what ended %s, and %s in no table; dprof-analyze check says where.",
			  (unsigned long long)a->waits->unknown, a->waits->unknown > 1 ? "s" : "", a->waits->unknown > 1 ? "them" : "it",
			  a->waits->unknown > 1 ? "they are" : "it is");
	if (a->waits->expired)
		reply_say(r, SAY_TEXT, "%llu wait%s that a time limit or a signal ended %s in no table, whether for others or for nobody.",
			  (unsigned long long)a->waits->expired, a->waits->expired > 1 ? "s" : "", a->waits->expired > 1 ? "are" : "is");
	if (a->open)
		reply_say(r, SAY_TEXT,
			  "%zu thread%s records, or what ended a wait: %s may have waited for all of %s time.", a->open,
			  a->open > 1 ? "s lack" : " lacks", a->open > 1 ? "each" : "it", a->open > 1 ? "its" : "that");
	if (a->nidle)
		reply_say(r, SAY_TEXT, "Besides, %zu thread%s left %s last team and had no other: idle for %s s%s up to the end, which is "
			  "in no table here, but counts as waiting in report and csp.", a->nidle, a->nidle > 1 ? "s" : "",
			  a->nidle > 1 ? "their" : "its", reply_interval(r, seconds(a, a->idling), 6).text,
			  a->nidle > 1 ? ", all together," : "");
	reply_gap(r);
	reply_say(r, SAY_TEXT, "%s", assumptions);
}

/* ---- What would decide ----------------------------------------------------------------------- */

static size_t undecided(const struct waits_answer *a)
{
	size_t n = 0;
	for (size_t i = 0; i < a->waits->ncauses; i++)
		n += interval_percent(a->waits->causes[i].ticks, a->waits->span.length).hi >= RELATIONS_WORTH &&
		     !relations_decided(a->waits->causes[i].ticks);
	return n;
}

static size_t count_undecided(struct trace *trace, const struct times *times, const struct options *options)
{
	struct waits waits;
	struct waits_answer a = { .trace = trace, .times = times, .waits = &waits };
	(void)options;
	if (relations_missing(times))
		return SIZE_MAX;
	waits_open(&waits, trace, times);
	size_t n = undecided(&a);
	waits_close(&waits);
	return n;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static void fill(struct reply *r, struct waits_answer *a, const struct options *o)
{
	notes_damage(r, a->trace->ndiagnostics);
	reply_value(r, "span_s", tab_interval(seconds(a, a->waits->span.length)));
	reply_value(r, "bounds", tab_text(clock_bounds_word(a->times)));
	fill_causes(r, a);
	fill_places(r, a);
	fill_delays(r, a);
	fill_idle(r, a);
	reply_value(r, "unknown", tab_number(a->waits->unknown));
	reply_value(r, "expired", tab_number(a->waits->expired));
	reply_value(r, "assumptions", tab_text(assumptions));
	fill_page(r, a, o->verbose);
}

/* Who has left a team, and begins nothing more, is idle from when the last one has left it. */
static void find_idle(struct waits_answer *a, const struct graph *g)
{
	struct frz_cursor *cursors = times_cursors(a->times);
	for (uint32_t t = 0; t < a->trace->nthreads; t++) {
		const struct tr_thread *thread = &a->trace->threads[t];
		uint64_t until;
		if (!graph_left_team(g, t, &until))
			continue;
		until = until > g->threads[t].last ? until : g->threads[t].last;
		frz_time from = frz_time_of(&cursors[thread->clock], until), to = a->waits->span.last;
		if (thread->ended > until)
			to = time_least(to, frz_time_of(&cursors[thread->clock], thread->ended));
		frz_time ticks = { ticks_minus(to.lo, from.hi), ticks_minus(to.hi, from.lo) };
		ticks.lo = ticks.lo > 0 ? ticks.lo : 0;
		if (ticks.hi <= 0)
			continue;
		*MEM_GROW(a->idle, a->nidle) = (struct idle){ t, ticks };
		a->idling = time_add(a->idling, ticks);
	}
	free(cursors);
}

void reply_waits(struct reply *reply, const struct graph *graph, const struct waits *waits, const struct unrecorded *unrecorded,
		 const struct options *options)
{
	const struct times *times = graph->times;
	struct waits shown = *waits;
	struct waits_answer a = { .trace = graph->trace, .times = times,
				  .time_base = times->time_base[graph->trace->threads[0].clock], .waits = &shown };
	shown.delays = mem_resize(NULL, waits->ndelays + 1, sizeof *shown.delays);
	if (waits->ndelays)
		memcpy(shown.delays, waits->delays, waits->ndelays * sizeof *shown.delays);
	doubt_delays(&shown, graph, unrecorded);
	for (size_t i = 0; i < waits->nplaces; i++)
		a.waiting = time_add(a.waiting, waits->places[i].ticks);
	a.waiting = doubt_waiting(&shown, graph, a.waiting, &a.open);
	find_idle(&a, graph);
	fill(reply, &a, options);
	free(a.idle);
	struct decide decide = decide_find(times, options, undecided(&a), count_undecided);
	decide_fill(reply, &decide);
	free(shown.delays);
}

static int answer(struct trace *trace, const struct times *times, const struct options *options, struct reply *reply)
{
	struct graph graph;
	struct waits waits;
	struct unrecorded unrecorded;
	graph_open(&graph, trace, times);
	graph_said_tell(&graph.said, trace);
	unrecorded_open(&unrecorded, trace, NULL);
	waits_and_delays_of_graph(&waits, &graph);
	reply_waits(reply, &graph, &waits, &unrecorded, options);
	unrecorded_close(&unrecorded);
	waits_close(&waits);
	graph_close(&graph);
	return EXIT_FINE;
}

int cmd_waits(struct trace *trace, const struct options *options, struct reply *reply)
{
	return relations_run(trace, options, reply, "no waits are known", answer);
}
