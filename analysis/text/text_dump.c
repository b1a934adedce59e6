/* SPDX-License-Identifier: MIT
 *
 * text_dump.c - prints a trace in the text form: thread after thread, each in the order of
 * recording.
 *
 * A key is left out where reading it back would give the same. An exit that says nothing itself
 * repeats what its enter said, so that each line of a collective operation can be understood
 * alone. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/text/text.h"
#include "analysis/trace/sched.h"
#include "analysis/trace/trace_private.h"

static void put_string(FILE *out, const char *key, const char *value)
{
	fprintf(out, " %s=", key);
	ln_escaped(out, value);
}

static void put_clocks(FILE *out, const struct trace *t)
{
	for (size_t i = 0; i < t->nclocks; i++) {
		fprintf(out, "clock %zu", i);
		put_string(out, "host", trace_raw(t, t->clocks[i].host));
		fputs(" ghz=", out);
		ln_put_real(out, t->clocks[i].ghz);
		if (strcmp(t->clocks[i].source, "tsc") != 0)
			put_string(out, "source", trace_raw(t, t->clocks[i].source));
		if (t->clocks[i].uncertainty)
			fprintf(out, " halfwidth=%" PRIu64, t->clocks[i].uncertainty);
		putc('\n', out);
	}
}

static bool has_threads(const struct trace *t, size_t process)
{
	for (size_t i = 0; i < t->nthreads; i++)
		if (t->threads[i].process == process)
			return true;
	return false;
}

/* What all processes left out, a line of its own says. */
static uint32_t left_out_by_all(const struct trace *t)
{
	uint32_t all = t->left_out;
	for (size_t i = 0; i < t->nprocesses; i++)
		all &= t->processes[i].absent ? all : t->processes[i].left_out;
	return all;
}

static void put_left_out(FILE *out, const char *before, uint32_t left_out)
{
	char *kinds = tr_kinds_words(left_out);
	if (left_out)
		fprintf(out, "%s%s", before, kinds);
	free(kinds);
}

/* The stamp of a thread's last event; 0 without one. */
static uint64_t last_event(const struct tr_thread *t)
{
	return t->blocks && t->blocks->any ? t->blocks->last : 0;
}

/* When it ended, if that is known and not what the text says without it; or 0. */
static uint64_t end_of_thread(const struct tr_thread *t)
{
	uint64_t last = last_event(t), implied = t->lost ? UINT64_MAX : last ? last : 1;
	uint64_t end = !t->complete ? 0 : t->lost ? t->latest : t->ended;
	return end >= last && end < UINT64_MAX && end != implied ? end : 0;
}

/* Likewise of a process, which ends with the last thing that its threads did. */
static uint64_t end_of_process(const struct trace *t, size_t process)
{
	const struct tr_process *p = &t->processes[process];
	uint64_t implied = 1;
	for (size_t i = 0; i < t->nthreads; i++)
		if (t->threads[i].process == process && !t->threads[i].unrecorded) {
			uint64_t end = end_of_thread(&t->threads[i]), last = last_event(&t->threads[i]);
			implied = end > implied ? end : last > implied ? last : implied;
		}
	return p->finished && p->ended != implied ? p->ended : 0;
}

/* When it was there, and whether it was forked. */
static void put_presence(FILE *out, const struct trace *t, size_t process)
{
	const struct tr_process *p = &t->processes[process];
	uint64_t ended = end_of_process(t, process);
	if (p->started || p->forked)
		fprintf(out, " started=%" PRIu64, p->started);
	if (p->forked)
		fputs(" forked=1", out);
	if (p->parent != TR_NO_PARENT)
		fprintf(out, " parent=%" PRIu32, p->parent);
	if (p->executed)
		fprintf(out, " unborn=%" PRIu64, p->unborn);
	if (p->init_from || p->init_to)
		fprintf(out, " init_from=%" PRIu64 " init_to=%" PRIu64, p->init_from, p->init_to);
	if (ended)
		fprintf(out, " ended=%" PRIu64, ended);
}

static bool has_marks(const struct trace *t)
{
	for (size_t i = 0; i < t->nsites; i++)
		if (t->sites[i].kind == DPROF_KIND_REGION && !t->sites[i].automatic)
			return true;
	return false;
}

static void put_processes(FILE *out, const struct trace *t)
{
	bool marks = has_marks(t);
	for (size_t i = 0; i < t->nprocesses; i++) {
		const struct tr_process *p = &t->processes[i];
		fprintf(out, "process %zu", i);
		if (!has_threads(t, i))
			fprintf(out, " clock=%" PRIu32, p->modules->clock);
		if (p->rank >= 0)
			fprintf(out, " rank=%" PRId64 " size=%" PRId64, p->rank, p->size);
		fprintf(out, " pid=%" PRIu64, p->pid);
		put_string(out, "program", trace_raw(t, p->program));
		put_string(out, "job", trace_raw(t, p->job));
		if (p->unseen_ns)
			fprintf(out, " unseen_ns=%" PRIu64 " unseen_ended=%" PRIu64, p->unseen_ns, p->unseen_ended);
		if (p->ran)
			fputs(" ran=1", out);
		if (trace_was_replaced(p))
			fputs(" execs=1", out);
		put_left_out(out, " without=", p->left_out & ~left_out_by_all(t));
		put_presence(out, t, i);
		if (p->marks_unknown || (marks && !p->marked))
			fputs(p->marks_unknown ? " marks=unknown" : " marks=none", out);
		fputs(p->finished ? "\n" : " finished=0\n", out);
	}
}

/* It still ran when its process ended, or was killed. Where what it said of its end is damaged, it is not known whether it did. */
static bool did_not_end(const struct trace *trace, const struct tr_thread *t)
{
	return !t->complete && !(trace->processes[t->process].finished && t->latest == UINT64_MAX && t->lost);
}

static void put_end(FILE *out, const struct trace *trace, const struct tr_thread *t)
{
	if (t->ran_on)
		fprintf(out, " ran_on=%d", t->ended_it ? DPROF_ENDED_IT : DPROF_RAN_ON);
	else if (did_not_end(trace, t))
		fputs(" complete=0", out);
	if (end_of_thread(t))
		fprintf(out, " ended=%" PRIu64, end_of_thread(t));
	putc('\n', out);
}

static bool is_forked(const struct trace *trace, const struct tr_thread *t)
{
	const struct tr_process *p = &trace->processes[t->process];
	return t->number == 0 && p->forked && !p->executed;
}

static void put_threads(FILE *out, const struct trace *t)
{
	for (size_t i = 0; i < t->nthreads; i++) {
		const struct tr_thread *thread = &t->threads[i];
		if (thread->unrecorded) /* its join says that it was there */
			continue;
		fprintf(out, "thread %zu clock=%" PRIu32, i, thread->clock);
		if (thread->rank >= 0)
			fprintf(out, " rank=%" PRId64, thread->rank);
		fprintf(out, " process=%" PRIu32 " number=%" PRIu32, thread->process,
			thread->number);
		if (*thread->name)
			put_string(out, "name", trace_raw(t, thread->name));
		if (thread->lost)
			fprintf(out, " lost=%" PRIu64, thread->lost);
		if (thread->may_jump) /* 1: its records alone tell (trace_events.c) */
			fprintf(out, " jumps=%" PRIu64,
				thread->may_jump == 1 || thread->may_jump == UINT64_MAX ? 0 : thread->may_jump);
		if (is_forked(t, thread))
			fprintf(out, " entered=%zu", thread->entered);
		put_end(out, t, thread);
	}
}

static void put_groups(FILE *out, const struct trace *t)
{
	for (size_t i = 0; i < t->ngroups; i++) {
		const struct tr_group *g = &t->groups[i];
		fprintf(out, "group %" PRIu64 " threads=", g->id);
		for (size_t j = 0; j < g->nthreads; j++)
			fprintf(out, "%s%" PRIu32, j ? "," : "", g->threads[j]);
		if (g->size != g->nthreads)
			fprintf(out, " size=%zu", g->size);
		if (!g->by_rank)
			fputs(" by_rank=0", out);
		putc('\n', out);
	}
}

static void put_sites(FILE *out, const struct trace *t)
{
	for (size_t i = 0; i < t->nsites; i++) {
		const struct tr_site *s = &t->sites[i];
		fprintf(out, "site %zu kind=%s", i, tr_kind_word(s->kind));
		put_string(out, "name", trace_raw(t, s->name));
		put_string(out, "file", trace_raw(t, s->file));
		fprintf(out, " line=%" PRIu32, s->line);
		if (s->column)
			fprintf(out, " column=%" PRIu32, s->column);
		if (*s->function)
			put_string(out, "function", trace_raw(t, s->function));
		if (s->automatic)
			fputs(" auto=1", out);
		if (s->role != DPROF_IN_NO_ROLE)
			fprintf(out, " role=%s", tr_role_word(s).text);
		putc('\n', out);
	}
}

/* Whether more is wrong with the trace than that processes and threads did not end, which their lines say. */
static bool is_damaged(const struct trace *t)
{
	size_t unended = 0;
	bool unfinished = false;
	for (size_t i = 0; i < t->nprocesses; i++)
		unfinished |= trace_was_cut(&t->processes[i]);
	for (size_t i = 0; i < t->nthreads; i++)
		unended += did_not_end(t, &t->threads[i]) && t->processes[t->threads[i].process].finished;
	return t->ndiagnostics > unended + unfinished;
}

static void put_links_and_notes(FILE *out, const struct trace *t)
{
	for (size_t i = 0; i < t->nlinks; i++)
		fprintf(out, "link %" PRIu32 " %" PRIu64 " %" PRIu32 " %" PRIu64 "\n",
			t->links[i].from, t->links[i].sent, t->links[i].to, t->links[i].received);
	uint32_t by_all = left_out_by_all(t);
	put_left_out(out, "without ", by_all);
	fputs(by_all ? "\n" : "", out);
	for (size_t i = 0; i < t->nnotes; i++) {
		fputs("note ", out);
		ln_escaped(out, trace_raw(t, t->notes[i]));
		putc('\n', out);
	}
}

static void put_sched(FILE *out, const struct trace *t)
{
	for (size_t i = 0; i < t->nthreads; i++)
		for (size_t j = 0; j < t->threads[i].nsched; j++) {
			fprintf(out, "sched %zu", i);
			sched_put(out, &t->threads[i].sched[j]);
		}
}

/* ---- Events: there may be millions, so their lines are put together without printf ----------- */

struct text_line { char text[1024], *end; };

static void add_word(struct text_line *l, const char *word)
{
	l->end = stpcpy(l->end, word);
}

static void add_number(struct text_line *l, uint64_t number)
{
	char digits[20], *first = digits + sizeof digits;
	do
		*--first = (char)('0' + number % 10);
	while (number /= 10);
	memcpy(l->end, first, (size_t)(digits + sizeof digits - first));
	l->end += digits + sizeof digits - first;
}

static void add_signed(struct text_line *l, int64_t number)
{
	if (number < 0)
		add_word(l, "-");
	add_number(l, number < 0 ? -(uint64_t)number : (uint64_t)number);
}

static void add_arguments(struct text_line *l, const struct tr_event *e)
{
	for (unsigned i = 0; i < e->nargs; i++) {
		add_word(l, " ");
		add_word(l, tr_key_word(e->args[i].key));
		add_word(l, "=");
		add_number(l, e->args[i].value);
	}
}

/* A clock that has no place on the base's line is nowhere. */
static void add_bounds(struct text_line *l, bool placed, struct frz_cursor *clock, uint64_t stamp)
{
	if (!placed) {
		add_word(l, " [-inf,inf]");
		return;
	}
	frz_time at = frz_time_of(clock, stamp);
	add_word(l, " [");
	add_signed(l, at.lo);
	add_word(l, ",");
	add_signed(l, at.hi);
	add_word(l, "]");
}

static void add_event(struct text_line *l, const struct tr_event *e)
{
	static const char *const ops[] = {
		[DPROF_ENTER] = " enter", [DPROF_EXIT] = " exit", [DPROF_POINT] = " point"
	};
	add_word(l, " ");
	add_number(l, e->stamp);
	add_word(l, " ");
	if (e->site == TR_NO_SITE)
		add_word(l, "-");
	else
		add_number(l, e->site);
	add_word(l, ops[e->op]);
	add_arguments(l, e);
}

/* Those that an exit is given, too; of its own it has a task when it is interrupted. */
static void copy_arguments(struct tr_event *e, const struct tr_event *enter)
{
	for (unsigned i = 0; i < enter->nargs; i++) {
		if (enter->args[i].key == DPROF_KEY_TASK)
			continue;
		e->keys |= 1u << enter->args[i].key;
		e->args[e->nargs++] = enter->args[i];
	}
}

/* Replays the thread, and gives an exit without arguments those of its enter. `back`: reads what was before. */
static void follow(struct replay *r, size_t number, struct tr_cursor *back, struct tr_event *e)
{
	struct replay_entry entry = tr_entry(back->trace, e);
	entry.record = number;
	if (e->op == DPROF_ENTER)
		replay_enter(r, entry);
	if (e->op != DPROF_EXIT || replay_exit(r, e->site) == 0)
		return;
	back->next = r->entry[r->depth].record;
	struct tr_event enter;
	if (!e->nargs && trace_next(back, &enter))
		copy_arguments(e, &enter);
}

static void put_events(FILE *out, const struct trace *t, size_t thread, const struct times *times)
{
	struct replay replay;
	struct tr_cursor cursor = trace_events(t, thread), back = trace_events(t, thread);
	uint32_t clock = t->threads[thread].clock;
	bool placed = times && times->time_base[clock] == 0;
	struct frz_cursor time = { 0 };
	if (placed)
		time = times_cursor(times, clock);
	replay_open(&replay, t->nsites);
	for (struct tr_event e; trace_next(&cursor, &e) && !e.implied;) {
		struct text_line l;
		l.end = l.text;
		add_word(&l, e.op == DPROF_LOST ? "lost " : "e ");
		add_number(&l, thread);
		if (e.op == DPROF_LOST) {
			add_word(&l, " ");
			add_number(&l, e.lost);
		} else {
			follow(&replay, cursor.next - 1, &back, &e);
			add_event(&l, &e);
			if (times)
				add_bounds(&l, placed, &time, e.stamp);
		}
		*l.end++ = '\n';
		fwrite_unlocked(l.text, 1, (size_t)(l.end - l.text), out);
	}
	trace_end(&cursor);
	trace_end(&back);
	replay_close(&replay);
}

void text_dump(FILE *out, const struct trace *t, const struct times *times)
{
	fputs(TEXT_FIRST_LINE "\n", out);
	put_clocks(out, t);
	put_processes(out, t);
	put_threads(out, t);
	put_groups(out, t);
	put_sites(out, t);
	put_links_and_notes(out, t);
	if (!times && is_damaged(t)) /* with bounds, it may be that clocks contradict each other */
		fputs("damaged\n", out);
	put_sched(out, t);
	for (size_t i = 0; i < t->nthreads; i++)
		put_events(out, t, i, times);
}
