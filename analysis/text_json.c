/* SPDX-License-Identifier: MIT
 *
 * text_json.c - see text_json.h. Numbers above 2^63 - 1, which few readers of JSON take, are strings. */
#include "analysis/text_json.h"

#include <inttypes.h>

#include "analysis/json.h"

static void number(struct json *j, const char *key, uint64_t value)
{
	char digits[24];
	snprintf(digits, sizeof digits, "%" PRIu64, value);
	if (value <= INT64_MAX)
		json_integer(j, key, (int64_t)value);
	else
		json_string(j, key, digits);
}

static void put_clocks(struct json *j, const struct trace *t)
{
	json_array(j, "clocks");
	for (size_t i = 0; i < t->nclocks; i++) {
		json_object(j, NULL);
		json_string(j, "host", t->clocks[i].host);
		json_interval(j, "ghz", (struct interval){ t->clocks[i].ghz, t->clocks[i].ghz });
		json_string(j, "source", t->clocks[i].source);
		json_end(j);
	}
	json_end(j);
}

static void put_processes(struct json *j, const struct trace *t)
{
	json_array(j, "processes");
	for (size_t i = 0; i < t->nprocesses; i++) {
		const struct tr_process *p = &t->processes[i];
		json_object(j, NULL);
		json_string(j, "host", p->host);
		json_integer(j, "rank", p->rank);
		json_integer(j, "size", p->size);
		number(j, "pid", p->pid);
		json_string(j, "program", p->program);
		json_string(j, "job", p->job);
		json_bool(j, "finished", p->finished);
		json_end(j);
	}
	json_end(j);
}

static void put_threads(struct json *j, const struct trace *t)
{
	json_array(j, "threads");
	for (size_t i = 0; i < t->nthreads; i++) {
		const struct tr_thread *thread = &t->threads[i];
		json_object(j, NULL);
		json_integer(j, "process", thread->process);
		json_integer(j, "clock", thread->clock);
		json_integer(j, "rank", thread->rank);
		json_integer(j, "thread", thread->number);
		json_string(j, "name", thread->name);
		number(j, "lost", thread->lost);
		json_bool(j, "complete", thread->complete);
		json_end(j);
	}
	json_end(j);
}

static void put_groups(struct json *j, const struct trace *t)
{
	json_array(j, "groups");
	for (size_t i = 0; i < t->ngroups; i++) {
		json_object(j, NULL);
		number(j, "group", t->groups[i].id);
		number(j, "size", t->groups[i].size);
		json_array(j, "threads");
		for (size_t k = 0; k < t->groups[i].nthreads; k++)
			json_integer(j, NULL, t->groups[i].threads[k]);
		json_end(j);
		json_end(j);
	}
	json_end(j);
}

static void put_sites(struct json *j, const struct trace *t)
{
	json_array(j, "sites");
	for (size_t i = 0; i < t->nsites; i++) {
		const struct tr_site *s = &t->sites[i];
		json_object(j, NULL);
		json_string(j, "kind", tr_kind_word(s->kind));
		json_string(j, "name", s->name);
		json_string(j, "file", s->file);
		json_integer(j, "line", s->line);
		json_integer(j, "column", s->column);
		json_string(j, "function", s->function);
		json_end(j);
	}
	json_end(j);
}

static void put_links_and_notes(struct json *j, const struct trace *t)
{
	json_array(j, "links");
	for (size_t i = 0; i < t->nlinks; i++) {
		json_array(j, NULL);
		json_integer(j, NULL, t->links[i].from);
		number(j, NULL, t->links[i].sent);
		json_integer(j, NULL, t->links[i].to);
		number(j, NULL, t->links[i].received);
		json_end(j);
	}
	json_end(j);
	json_array(j, "notes");
	for (size_t i = 0; i < t->nnotes; i++)
		json_string(j, NULL, t->notes[i]);
	json_end(j);
}

static void put_event(struct json *j, size_t thread, const struct tr_event *e)
{
	static const char *const ops[] = { [DPROF_ENTER] = "enter", [DPROF_EXIT] = "exit", [DPROF_POINT] = "point" };
	json_integer(j, "thread", (int64_t)thread);
	if (e->op == DPROF_LOST) {
		number(j, "lost", e->lost);
		return;
	}
	number(j, "stamp", e->stamp);
	if (e->site == TR_NO_SITE)
		json_string(j, "site", NULL);
	else
		json_integer(j, "site", e->site);
	json_string(j, "op", ops[e->op]);
	for (unsigned i = 0; i < e->nargs; i++)
		number(j, e->args[i].key == DPROF_KEY_THREAD ? "other_thread" : tr_key_word(e->args[i].key),
		       e->args[i].value);
}

static void put_events(struct json *j, const struct trace *t, size_t thread, const struct times *times)
{
	uint32_t clock = t->threads[thread].clock;
	bool placed = times && times->line[clock] == 0;
	struct tr_cursor cursor = trace_events(t, thread);
	struct frz_cursor time = { 0 };
	if (placed)
		time = times_cursor(times, clock);
	for (struct tr_event e; trace_next(&cursor, &e);) {
		json_object(j, NULL);
		put_event(j, thread, &e);
		if (placed && e.op != DPROF_LOST) {
			frz_time at = frz_time_of(&time, e.stamp);
			json_integer(j, "lo", at.lo);
			json_integer(j, "hi", at.hi);
		}
		json_end(j);
	}
}

void text_dump_json(FILE *out, const struct trace *t, const struct times *times)
{
	struct json j = json_on(out);
	json_object(&j, NULL);
	put_clocks(&j, t);
	put_processes(&j, t);
	put_threads(&j, t);
	put_groups(&j, t);
	put_sites(&j, t);
	put_links_and_notes(&j, t);
	json_array(&j, "events");
	for (size_t i = 0; i < t->nthreads; i++)
		put_events(&j, t, i, times);
	json_end(&j);
	json_end(&j);
}
