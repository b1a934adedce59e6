/* SPDX-License-Identifier: MIT
 *
 * causes_table.c - see causes_table.h. */
#include "analysis/report/causes_table.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/graph/graph_causes.h"
#include "analysis/report/locations.h"
#include "analysis/report/marks.h"
#include "analysis/report/relations.h"
#include "analysis/trace/names.h"

#define MOST_ROWS 12

static const struct { const char *key, *words; } lacks[CAUSES_LACKS] = {
	[CAUSES_BEGIN] = { "minimum_in_degree", "begun by none" },
	[CAUSES_WAIT] = { "wait_state_termination", "ended by none" },
	[CAUSES_CIRCLE] = { "wait_state_termination", "cause is later" },
	[CAUSES_STANDSTILL] = { "communication_existence", "all waited" },
};

static struct interval seconds(const struct causes_table *p, frz_time ticks)
{
	return times_seconds(p->times, p->time_base, ticks);
}

/* ---- The data -------------------------------------------------------------------------------- */

static void fill_rows(struct reply *r, const struct causes_table *p)
{
	static const struct tab_column columns[] = {
		TAB_KEY("property"), TAB_KEY("name"), TAB_KEY("site"), TAB_KEY("count"), TAB_KEY("rank"), TAB_KEY("pid"),
		TAB_KEY("thread"), TAB_KEY("first_s"), TAB_KEY("seconds"), { 0 } };
	const struct trace *t = p->trace;
	reply_table(r, "causes.violations", columns, 0);
	for (size_t i = 0; i < p->causes.n; i++) {
		const struct causes_row *row = &p->causes.rows[i];
		const struct tr_thread *thread = &t->threads[row->thread];
		const struct tr_site *site = row->site < t->nsites ? &t->sites[row->site] : NULL;
		char *at = site && site->line ? mem_format("%s:%" PRIu32, site->file, site->line) : NULL;
		reply_row(r, tab_text(lacks[row->lack].key), site ? tab_text(site->name) : TAB_NONE, tab_text(at),
			  tab_number(row->count), tab_count(thread->rank), tab_count((int64_t)t->processes[thread->process].pid),
			  tab_count(thread->number), tab_interval(seconds(p, row->first)), tab_interval(seconds(p, row->ticks)));
		free(at);
	}
	reply_end(r);
}

void causes_table_fill(struct reply *r, const struct causes_table *p)
{
	reply_value(r, "causes.known", tab_flag(!p->why));
	if (p->why) {
		reply_value(r, "causes.why", tab_text(p->why));
		return;
	}
	reply_value(r, "causes.begins", tab_number(p->causes.begins));
	reply_value(r, "causes.waits", tab_number(p->causes.waits));
	reply_value(r, "causes.missing", tab_number(p->causes.missing));
	reply_value(r, "causes.all_waited_s", tab_interval(seconds(p, p->causes.standstill)));
	fill_rows(r, p);
}

/* ---- The page -------------------------------------------------------------------------------- */

/* Sleeps that follow each other are looked at as one wait. */
static bool is_sleep(const struct causes_table *p, const struct causes_row *row)
{
	return row->lack == CAUSES_WAIT && row->site < p->trace->nsites && tr_is(p->trace, row->site, OP_SLEEP);
}

static void say_rows(struct reply *r, const struct causes_table *p)
{
	static const struct tab_column columns[] = { TAB_SHOWN(NULL, "times", -7), TAB_SHOWN(NULL, "", 14),
						     TAB_SHOWN(NULL, "in"), { 0 } };
	reply_table(r, NULL, columns, SIZE_MAX);
	for (size_t i = 0; i < p->causes.n && i < MOST_ROWS; i++) {
		const struct causes_row *row = &p->causes.rows[i];
		reply_row(r, tab_number(row->count), tab_text(is_sleep(p, row) ? "slept again" : lacks[row->lack].words),
			  tab_text(row->site == TR_BEFORE ? "a thread" : site_name_within(p->trace, row->site, 52).text));
		reply_say(r, SAY_DETAIL, "first %s, over at %s s", location_name(p->trace, row->thread).text,
			  reply_interval(r, seconds(p, row->first), 6).text);
	}
	reply_end(r);
	if (p->causes.n > MOST_ROWS)
		reply_say(r, SAY_INDENTED, "... and %zu more: --json", p->causes.n - MOST_ROWS);
}

static void say_sleeps(struct reply *r, const struct causes_table *p)
{
	bool any = false;
	for (size_t i = 0; i < p->causes.n; i++)
		any |= is_sleep(p, &p->causes.rows[i]);
	if (any)
		reply_say(r, SAY_TEXT, "What slept again and again, and did nothing in between, counts as one wait "
			  "here: for something that nobody records, or for nothing. %s.", marks_poll(p->trace));
}

void causes_table_say(struct reply *r, const struct causes_table *p)
{
	const struct causes *c = &p->causes;
	if (p->why)
		reply_say(r, SAY_TEXT, "%s: whether all that happened has a cause is not known.", p->why);
	if (c->missing == 0) {
		if (c->waits + c->begins > 0 && trace_has_all(p->trace))
			reply_say(r, SAY_TEXT, "All %" PRIu64 " waits and begins of threads have a cause in the trace.",
				  c->waits + c->begins);
		return;
	}
	reply_say(r, SAY_TEXT, "%" PRIu64 " of %" PRIu64 " waits and begins of threads %s no cause in the trace: what led to %s is "
		  "not known. %s", c->missing, c->waits + c->begins, c->missing == 1 ? "has" : "have", c->missing == 1 ? "it" : "them",
		  p->trace->ndiagnostics ? "It may be among what is damaged." : "That is no damage, but limits what can be proved.");
	say_rows(r, p);
	say_sleeps(r, p);
	if (c->standstill.hi > 0 && trace_has_all(p->trace))
		reply_say(r, SAY_TEXT, "For %s s all threads waited, and nothing that would end one of their waits was under way.",
			  reply_interval(r, seconds(p, c->standstill), 6).text);
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* In a trace that lacks something any wait may have had its cause, or have been none; and others may have been in its place. */
static void doubt(struct causes *c)
{
	const frz_time any = { 0, c->span.length.hi };
	c->standstill = any;
	for (size_t i = 0; i < c->n; i++)
		c->rows[i].ticks = any;
}

void causes_table_open(struct causes_table *p, struct trace *trace, const struct times *times)
{
	struct graph g;
	struct graph_order order;
	const char *why = relations_unanswered(times);
	*p = (struct causes_table){ .trace = trace, .times = times, .why = why };
	if (p->why)
		return;
	p->time_base = times->time_base[trace->threads[0].clock];
	graph_open(&g, trace, times);
	graph_order_open(&order, &g);
	causes_open(&p->causes, &g, &order);
	if (!trace_has_all(trace))
		doubt(&p->causes);
	graph_order_close(&order);
	for (size_t i = 0; i < g.said.ndiagnostics; i++)
		trace_diagnose(trace, "%s", g.said.diagnostics[i]);
	for (size_t i = g.said.nwaits; i < g.said.nnotes; i++) /* the table says which waits have no cause */
		trace_note(trace, g.said.notes[i]);
	graph_close(&g);
}

void causes_table_close(struct causes_table *p)
{
	causes_close(&p->causes);
}
