/* SPDX-License-Identifier: MIT
 *
 * run_ends.c - see run_ends.h. */
#include "analysis/report/run_ends.h"

#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/report/marks.h"
#include "analysis/trace/names.h"

#define NAMED 2

/* In ticks of its time base. */
struct run_ends {
	size_t thread;           /* of the process */
	uint32_t time_base;
	bool begin, end;         /* known */
	frz_time before, behind;
	frz_time init;           /* the part of `before` in MPI_Init */
};

static frz_time at(const struct times *times, uint32_t clock, uint64_t stamp)
{
	struct frz_cursor cursor = times_cursor(times, clock);
	return frz_time_of(&cursor, stamp);
}

static int64_t least(int64_t x, int64_t y)
{
	return x < y ? x : y;
}

/* What of MPI_Init lay before the first event of the run. */
static frz_time init_before(const struct times *times, const struct span *span, uint32_t clock,
			    const struct tr_process *p)
{
	if (!p->init_from || p->init_from < p->started || p->init_to < p->init_from)
		return (frz_time){ 0, 0 };
	frz_time whole = times_duration(times, clock, p->init_to - p->init_from);
	frz_time since = time_positive(time_apart(at(times, clock, p->init_from), span->first));
	return (frz_time){ least(whole.lo, since.lo), least(whole.hi, since.hi) };
}

/* Of the process of a thread. */
static struct run_ends find(const struct times *times, const struct span *spans, size_t thread)
{
	const struct tr_thread *t = &times->trace->threads[thread];
	const struct tr_process *p = &times->trace->processes[t->process];
	struct run_ends r = { .thread = thread, .time_base = times->time_base[t->clock] };
	const struct span *span = &spans[r.time_base];
	r.begin = span->events && p->started;
	r.end = span->events && p->ended;
	if (r.begin) {
		r.before = time_positive(time_apart(at(times, t->clock, p->started), span->first));
		r.init = init_before(times, span, t->clock, p);
	}
	if (r.end)
		r.behind = time_positive(time_apart(span->last, at(times, t->clock, p->ended)));
	return r;
}

/* The first thread of the process behind that of this one. */
static size_t next_process(const struct trace *trace, size_t thread)
{
	size_t next = thread + 1;
	while (next < trace->nthreads && trace->threads[next].process == trace->threads[thread].process)
		next++;
	return next;
}

static bool is_worth(const struct run_ends *r, const struct span *span)
{
	double worth = (double)span->length.lo * RUN_ENDS_PERCENT / 100;
	double own = (double)r->before.lo - (double)r->init.hi, behind = (double)r->behind.lo;
	return (own > 0 && own >= worth) || (behind > 0 && behind >= worth);
}

static char *name_one(const struct times *times, const struct run_ends *r)
{
	char *before = NULL, *init = NULL, *behind = NULL;
	if (r->before.hi > 0)
		before = mem_format(" %s s before", interval_range(times_seconds(times, r->time_base, r->before), 3).text);
	if (r->init.hi > 0)
		init = mem_format(" (of which %s s in MPI_Init)",
				  interval_range(times_seconds(times, r->time_base, r->init), 3).text);
	if (r->behind.hi > 0)
		behind = mem_format("%s %s s behind", before ? " and" : "",
				    interval_range(times_seconds(times, r->time_base, r->behind), 3).text);
	char *text = mem_format("%s was there for%s%s%s", rank_name(times->trace, r->thread).text,
				before ? before : "", init ? init : "", behind ? behind : "");
	free(before);
	free(init);
	free(behind);
	return text;
}

void run_ends_say(struct trace *trace, const struct times *times, const struct span *spans)
{
	char *list = mem_copy("");
	size_t count = 0;
	for (size_t i = 0; i < trace->nthreads; i = next_process(trace, i)) {
		struct run_ends r = find(times, spans, i);
		if (!is_worth(&r, &spans[r.time_base]) || count++ >= NAMED)
			continue;
		char *one = name_one(times, &r), *longer = mem_format("%s%s%s", list, count > 1 ? ", " : "", one);
		free(one);
		free(list);
		list = longer;
	}
	char *more = count > NAMED ? mem_format(", and so %s %zu more (--json)", count == NAMED + 1 ? "was" : "were", count - NAMED)
				   : mem_copy("");
	if (count)
		*MEM_GROW(trace->notes, trace->nnotes) =
			mem_format("what was done before the first recorded event and behind the last one is in no number here: "
				   "%s%s. To have it in the run, mark it with %s",
				   list, more, marks_region(trace));
	free(list);
	free(more);
}

void run_ends_fill(struct reply *reply, const struct times *times, const struct span *spans)
{
	static const struct tab_column columns[] = { TAB_KEY("rank"), TAB_KEY("pid"), TAB_KEY("before_s"),
						     TAB_KEY("mpi_init_s"), TAB_KEY("behind_s"), { 0 } };
	const struct trace *trace = times->trace;
	reply_table(reply, "outside_span", columns, 0);
	for (size_t i = 0; i < trace->nthreads; i = next_process(trace, i)) {
		struct run_ends r = find(times, spans, i);
		const struct tr_thread *t = &trace->threads[i];
		const struct tr_process *p = &trace->processes[t->process];
		if (!r.begin && !r.end)
			continue;
		struct tab_cell before = tab_interval(times_seconds(times, r.time_base, r.before)),
				init = tab_interval(times_seconds(times, r.time_base, r.init)),
				behind = tab_interval(times_seconds(times, r.time_base, r.behind));
		reply_row(reply, tab_count(t->rank), tab_pid(trace, i), r.begin ? before : TAB_NONE,
			  r.begin && p->init_from ? init : TAB_NONE, r.end ? behind : TAB_NONE);
	}
	reply_end(reply);
}
