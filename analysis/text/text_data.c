/* SPDX-License-Identifier: MIT
 *
 * text_data.c - see text_data.h. */
#include "analysis/text/text_data.h"

#include <stdlib.h>

static void fill_clocks(struct reply *r, const struct trace *t)
{
	static const struct tab_column columns[] = { TAB_KEY("host"), TAB_KEY("ghz"), TAB_KEY("source"), TAB_KEY("halfwidth"),
						     { 0 } };
	reply_table(r, "clocks", columns, 0);
	for (size_t i = 0; i < t->nclocks; i++) {
		const struct tr_clock *c = &t->clocks[i];
		reply_row(r, tab_text(c->host), tab_interval((struct interval){ c->ghz, c->ghz }), tab_text(c->source),
			  tab_number(c->uncertainty));
	}
	reply_end(r);
}

static void fill_processes(struct reply *r, const struct trace *t)
{
	static const struct tab_column columns[] = {
		TAB_KEY("host"), TAB_KEY("rank"), TAB_KEY("size"), TAB_KEY("pid"), TAB_KEY("program"), TAB_KEY("job"),
		TAB_KEY("finished"), TAB_KEY("execs"), TAB_KEY("ran"), TAB_KEY("unseen_ns"), TAB_KEY("unseen_ended"),
		TAB_KEY("without"), TAB_KEY("started"), TAB_KEY("forked"), TAB_KEY("parent"), TAB_KEY("unborn"), TAB_KEY("init_from"),
		TAB_KEY("init_to"), TAB_KEY("ended"), { 0 } };
	reply_table(r, "processes", columns, 0);
	for (size_t i = 0; i < t->nprocesses; i++) {
		const struct tr_process *p = &t->processes[i];
		char *kinds = tr_kinds_words(p->left_out);
		reply_row(r, tab_text(p->host), tab_count(p->rank), tab_count(p->size), tab_number(p->pid),
			  tab_text(p->program), tab_text(p->job), tab_flag(p->finished), tab_flag(trace_was_replaced(p)), tab_flag(p->ran),
			  tab_number(p->unseen_ns), tab_number(p->unseen_ended), tab_text(kinds),
			  p->started ? tab_number(p->started) : TAB_NONE, tab_flag(p->forked),
			  p->parent == TR_NO_PARENT ? TAB_NONE : tab_count(p->parent), p->executed ? tab_number(p->unborn) : TAB_NONE,
			  p->init_to ? tab_number(p->init_from) : TAB_NONE, p->init_to ? tab_number(p->init_to) : TAB_NONE,
			  p->ended ? tab_number(p->ended) : TAB_NONE);
		free(kinds);
	}
	reply_end(r);
}

#define KEY(NAME, field, word) TAB_KEY(word),
#define CELL(NAME, field, word) s->known & DPROF_SCHED_##NAME ? tab_number(s->field) : TAB_NONE,

static void fill_sched(struct reply *r, const struct tr_thread *t)
{
	static const struct tab_column columns[] = { TAB_KEY("from"), TAB_KEY("to"), DPROF_SCHED(KEY) TAB_KEY("last"), { 0 } };
	reply_table(r, "sched", columns, 0);
	for (size_t i = 0; i < t->nsched; i++) {
		const struct dprof_sched *s = &t->sched[i];
		reply_row(r, tab_number(s->from), tab_number(s->to), DPROF_SCHED(CELL) tab_flag(s->last));
	}
	reply_end(r);
}

static void fill_threads(struct reply *r, const struct trace *t)
{
	static const struct tab_column columns[] = {
		TAB_KEY("process"), TAB_KEY("clock"), TAB_KEY("rank"), TAB_KEY("thread"), TAB_KEY("name"), TAB_KEY("lost"),
		TAB_KEY("unrecorded"), TAB_KEY("complete"), TAB_KEY("ran_on"), TAB_KEY("ended_process"), TAB_KEY("ended"),
		TAB_KEY("may_jump"), TAB_KEY("jumps_from"), TAB_KEY("entered"),
		{ 0 } };
	reply_table(r, "threads", columns, 0);
	for (size_t i = 0; i < t->nthreads; i++) {
		const struct tr_thread *thread = &t->threads[i];
		reply_row(r, tab_count(thread->process), tab_count(thread->clock), tab_count(thread->rank),
			  tab_count(thread->number), tab_text(thread->name),
			  tab_number(thread->unrecorded ? 0 : thread->lost), tab_flag(thread->unrecorded),
			  tab_flag(thread->complete), tab_flag(thread->ran_on), tab_flag(thread->ended_it),
			  thread->complete && thread->ended < UINT64_MAX ? tab_number(thread->ended) : TAB_NONE,
			  tab_flag(thread->may_jump < UINT64_MAX),
			  thread->may_jump > 1 && thread->may_jump < UINT64_MAX ? tab_number(thread->may_jump) : TAB_NONE,
			  tab_number(thread->entered));
		fill_sched(r, thread);
	}
	reply_end(r);
}

static void fill_groups(struct reply *r, const struct trace *t)
{
	static const struct tab_column columns[] = { TAB_KEY("group"), TAB_KEY("size"), TAB_KEY("by_rank"), { 0 } },
				       bare[] = { TAB_KEY(""), { 0 } };
	reply_table(r, "groups", columns, 0);
	for (size_t i = 0; i < t->ngroups; i++) {
		reply_row(r, tab_number(t->groups[i].id), tab_number(t->groups[i].size), tab_flag(t->groups[i].by_rank));
		reply_table(r, "threads", bare, 0);
		for (size_t k = 0; k < t->groups[i].nthreads; k++)
			reply_row(r, tab_count(t->groups[i].threads[k]));
		reply_end(r);
	}
	reply_end(r);
}

static void fill_sites(struct reply *r, const struct trace *t)
{
	static const struct tab_column columns[] = { TAB_KEY("kind"), TAB_KEY("name"), TAB_KEY("file"), TAB_KEY("line"),
						     TAB_KEY("column"), TAB_KEY("function"), TAB_KEY("automatic"), TAB_KEY("role"), { 0 } };
	reply_table(r, "sites", columns, 0);
	for (size_t i = 0; i < t->nsites; i++) {
		const struct tr_site *s = &t->sites[i];
		reply_row(r, tab_text(tr_kind_word(s->kind)), tab_text(s->name), tab_text(s->file), tab_count(s->line),
			  tab_count(s->column), tab_text(s->function), tab_flag(s->automatic), s->role ? tab_text(tr_role_word(s).text) : TAB_NONE);
	}
	reply_end(r);
}

static void fill_links_and_notes(struct reply *r, const struct trace *t)
{
	static const struct tab_column bare[] = { TAB_KEY(""), TAB_KEY(""), TAB_KEY(""), TAB_KEY(""), { 0 } };
	char *kinds = tr_kinds_words(t->left_out);
	reply_table(r, "links", bare, 0);
	for (size_t i = 0; i < t->nlinks; i++)
		reply_row(r, tab_count(t->links[i].from), tab_number(t->links[i].sent), tab_count(t->links[i].to),
			  tab_number(t->links[i].received));
	reply_end(r);
	reply_value(r, "without", tab_text(kinds));
	reply_texts(r, "notes", t->notes, t->nnotes);
	free(kinds);
}

static void fill_event(struct reply *r, size_t thread, const struct tr_event *e)
{
	static const char *const ops[] = {
		[DPROF_ENTER] = "enter", [DPROF_EXIT] = "exit", [DPROF_POINT] = "point"
	};
	reply_value(r, "thread", tab_count(thread));
	if (e->op == DPROF_LOST) {
		reply_value(r, "lost", tab_number(e->lost));
		return;
	}
	reply_value(r, "stamp", tab_number(e->stamp));
	reply_value(r, "site", e->site == TR_NO_SITE ? tab_text(NULL) : tab_count(e->site));
	reply_value(r, "op", tab_text(ops[e->op]));
	for (unsigned i = 0; i < e->nargs; i++)
		reply_value(r, e->args[i].key == DPROF_KEY_THREAD ? "other_thread" : tr_key_word(e->args[i].key),
			    tab_number(e->args[i].value));
}

static void fill_events(struct reply *r, const struct trace *t, size_t thread, const struct times *times)
{
	uint32_t clock = t->threads[thread].clock;
	bool placed = times && times->time_base[clock] == 0;
	struct tr_cursor cursor = trace_events(t, thread);
	struct frz_cursor time = { 0 };
	if (placed)
		time = times_cursor(times, clock);
	for (struct tr_event e; trace_next(&cursor, &e) && !e.implied;) {
		reply_cells(r, NULL, 0);
		fill_event(r, thread, &e);
		if (placed && e.op != DPROF_LOST) {
			frz_time at = frz_time_of(&time, e.stamp);
			reply_value(r, "lo", tab_count(at.lo));
			reply_value(r, "hi", tab_count(at.hi));
		}
	}
	trace_end(&cursor);
}

void text_fill(struct reply *r, const struct trace *t, const struct times *times)
{
	static const struct tab_column none[] = { { 0 } };
	fill_clocks(r, t);
	fill_processes(r, t);
	fill_threads(r, t);
	fill_groups(r, t);
	fill_sites(r, t);
	fill_links_and_notes(r, t);
	reply_table(r, "events", none, 0);
	for (size_t i = 0; i < t->nthreads; i++)
		fill_events(r, t, i, times);
	reply_end(r);
}
