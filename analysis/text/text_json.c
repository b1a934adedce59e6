/* SPDX-License-Identifier: MIT
 *
 * text_json.c - see text_json.h. Numbers above 2^63 - 1, which few readers of JSON take, are
 * strings. */
#include "analysis/text/text_json.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/base/json.h"

static void number(struct json *j, const char *key, uint64_t value)
{
	char digits[24];
	snprintf(digits, sizeof digits, "%" PRIu64, value);
	if (value <= INT64_MAX)
		jw_integer(j, key, (int64_t)value);
	else
		jw_string(j, key, digits);
}

static void put_clocks(struct json *j, const struct trace *t)
{
	jw_array(j, "clocks");
	for (size_t i = 0; i < t->nclocks; i++) {
		jw_object(j, NULL);
		jw_string(j, "host", t->clocks[i].host);
		jw_interval(j, "ghz", (struct interval){ t->clocks[i].ghz, t->clocks[i].ghz });
		jw_string(j, "source", t->clocks[i].source);
		jw_integer(j, "halfwidth", (int64_t)t->clocks[i].uncertainty);
		jw_end(j);
	}
	jw_end(j);
}

static void put_processes(struct json *j, const struct trace *t)
{
	jw_array(j, "processes");
	for (size_t i = 0; i < t->nprocesses; i++) {
		const struct tr_process *p = &t->processes[i];
		jw_object(j, NULL);
		jw_string(j, "host", p->host);
		jw_integer(j, "rank", p->rank);
		jw_integer(j, "size", p->size);
		number(j, "pid", p->pid);
		jw_string(j, "program", p->program);
		jw_string(j, "job", p->job);
		jw_bool(j, "finished", p->finished);
		jw_end(j);
	}
	jw_end(j);
}

static void put_sched(struct json *j, const struct tr_thread *t)
{
	jw_array(j, "sched");
	for (size_t i = 0; i < t->nsched; i++) {
		const struct dprof_sched *s = &t->sched[i];
		jw_object(j, NULL);
		number(j, "from", s->from);
		number(j, "to", s->to);
#define X(NAME, field, word)                                                                       \
		if (s->known & DPROF_SCHED_##NAME)                                                 \
			number(j, word, s->field);
		DPROF_SCHED(X)
#undef X
		jw_bool(j, "last", s->last);
		jw_end(j);
	}
	jw_end(j);
}

static void put_threads(struct json *j, const struct trace *t)
{
	jw_array(j, "threads");
	for (size_t i = 0; i < t->nthreads; i++) {
		const struct tr_thread *thread = &t->threads[i];
		jw_object(j, NULL);
		jw_integer(j, "process", thread->process);
		jw_integer(j, "clock", thread->clock);
		jw_integer(j, "rank", thread->rank);
		jw_integer(j, "thread", thread->number);
		jw_string(j, "name", thread->name);
		number(j, "lost", thread->unrecorded ? 0 : thread->lost);
		jw_bool(j, "unrecorded", thread->unrecorded);
		jw_bool(j, "complete", thread->complete);
		jw_bool(j, "ran_on", thread->ran_on);
		jw_bool(j, "may_jump", thread->may_jump < UINT64_MAX);
		put_sched(j, thread);
		jw_end(j);
	}
	jw_end(j);
}

static void put_groups(struct json *j, const struct trace *t)
{
	jw_array(j, "groups");
	for (size_t i = 0; i < t->ngroups; i++) {
		jw_object(j, NULL);
		number(j, "group", t->groups[i].id);
		number(j, "size", t->groups[i].size);
		jw_array(j, "threads");
		for (size_t k = 0; k < t->groups[i].nthreads; k++)
			jw_integer(j, NULL, t->groups[i].threads[k]);
		jw_end(j);
		jw_end(j);
	}
	jw_end(j);
}

static void put_sites(struct json *j, const struct trace *t)
{
	jw_array(j, "sites");
	for (size_t i = 0; i < t->nsites; i++) {
		const struct tr_site *s = &t->sites[i];
		jw_object(j, NULL);
		jw_string(j, "kind", tr_kind_word(s->kind));
		jw_string(j, "name", s->name);
		jw_string(j, "file", s->file);
		jw_integer(j, "line", s->line);
		jw_integer(j, "column", s->column);
		jw_string(j, "function", s->function);
		jw_bool(j, "automatic", s->automatic);
		jw_end(j);
	}
	jw_end(j);
}

static void put_links_and_notes(struct json *j, const struct trace *t)
{
	jw_array(j, "links");
	for (size_t i = 0; i < t->nlinks; i++) {
		jw_array(j, NULL);
		jw_integer(j, NULL, t->links[i].from);
		number(j, NULL, t->links[i].sent);
		jw_integer(j, NULL, t->links[i].to);
		number(j, NULL, t->links[i].received);
		jw_end(j);
	}
	jw_end(j);
	char *kinds = tr_kinds_words(t->left_out);
	jw_string(j, "without", kinds);
	free(kinds);
	jw_array(j, "notes");
	for (size_t i = 0; i < t->nnotes; i++)
		jw_string(j, NULL, t->notes[i]);
	jw_end(j);
}

static void put_event(struct json *j, size_t thread, const struct tr_event *e)
{
	static const char *const ops[] = {
		[DPROF_ENTER] = "enter", [DPROF_EXIT] = "exit", [DPROF_POINT] = "point"
	};
	jw_integer(j, "thread", (int64_t)thread);
	if (e->op == DPROF_LOST) {
		number(j, "lost", e->lost);
		return;
	}
	number(j, "stamp", e->stamp);
	if (e->site == TR_NO_SITE)
		jw_string(j, "site", NULL);
	else
		jw_integer(j, "site", e->site);
	jw_string(j, "op", ops[e->op]);
	for (unsigned i = 0; i < e->nargs; i++)
		number(j,
		       e->args[i].key == DPROF_KEY_THREAD ? "other_thread"
							  : tr_key_word(e->args[i].key),
		       e->args[i].value);
}

static void put_events(struct json *j, const struct trace *t, size_t thread,
		       const struct times *times)
{
	uint32_t clock = t->threads[thread].clock;
	bool placed = times && times->time_base[clock] == 0;
	struct tr_cursor cursor = trace_events(t, thread);
	struct frz_cursor time = { 0 };
	if (placed)
		time = times_cursor(times, clock);
	for (struct tr_event e; trace_next(&cursor, &e) && !e.implied;) {
		jw_object(j, NULL);
		put_event(j, thread, &e);
		if (placed && e.op != DPROF_LOST) {
			frz_time at = frz_time_of(&time, e.stamp);
			jw_integer(j, "lo", at.lo);
			jw_integer(j, "hi", at.hi);
		}
		jw_end(j);
	}
	trace_end(&cursor);
}

void text_dump_json(FILE *out, const struct trace *t, const struct times *times)
{
	struct json j = jw_on(out);
	jw_object(&j, NULL);
	put_clocks(&j, t);
	put_processes(&j, t);
	put_threads(&j, t);
	put_groups(&j, t);
	put_sites(&j, t);
	put_links_and_notes(&j, t);
	jw_array(&j, "events");
	for (size_t i = 0; i < t->nthreads; i++)
		put_events(&j, t, i, times);
	jw_end(&j);
	jw_end(&j);
}
