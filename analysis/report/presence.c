/* SPDX-License-Identifier: MIT
 *
 * presence.c - see presence.h. */
#include "analysis/report/presence.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/base/enumeration.h"
#include "analysis/base/memory.h"
#include "analysis/report/marks.h"
#include "analysis/states/query.h"
#include "analysis/trace/names.h"

#define NAMED 4
#define WORTH_SAYING 90 /* percent of the span that a thread is there, at most */

static void add_thread(struct enumeration *list, const struct trace *trace, size_t thread, const char *more)
{
	enumeration_add(list, "%s%s", thread_name(trace, thread).text, more);
}

/* "2 threads WHAT: rank 0 thread 0, rank 1 thread 0; WHY". Empties the list. */
static void say(struct trace *trace, struct enumeration *list, const char *what, const char *why)
{
	size_t n = list->count;
	char *text = enumeration_take(list);
	if (n)
		*MEM_GROW(trace->notes, trace->nnotes) = mem_format("%zu thread%s %s: %s; %s", n, n > 1 ? "s" : "", what, text, why);
	free(text);
}

/* A thread beside the first that waited when its process ended in good order. */
static bool is_parked(const struct trace *trace, const struct thread_totals *t, size_t thread)
{
	const struct tr_thread *self = &trace->threads[thread];
	return self->complete && self->number > 0 && tr_is(trace, t->open_site, OP_PARKS);
}

void say_open_ends(struct trace *trace, const struct totals *totals)
{
	struct enumeration ends = { .most = NAMED };
	for (size_t i = 0; i < trace->nthreads; i++) {
		const struct thread_totals *t = &totals->threads[i];
		if (!t->ends_open || is_parked(trace, t, i))
			continue;
		char *where = mem_format(" in %s", t->open_site == TR_NO_SITE ?
							   "an unknown site" :
							   site_name(trace, t->open_site).text);
		add_thread(&ends, trace, i, where);
		free(where);
	}
	say(trace, &ends, "ended inside of something", marks_elsewhere(trace) ?
	    "each may have stayed there until the end of the run, or not (dprof-analyze pack makes a trace of it, and then check "
	    "says who is missing where)" :
	    "each may have stayed there until the end of the run, or not (dprof-analyze check says "
	    "who is missing where)");
}

void say_absent(struct trace *trace, const struct totals *totals, const struct options *options)
{
	struct enumeration work = { .most = NAMED }, wait = { .most = NAMED };
	for (size_t i = 0; i < trace->nthreads; i++) {
		if (!query_knows(trace, i))
			continue;
		if (options->work && !totals->threads[i].works)
			add_thread(&work, trace, i, "");
		if (options->wait && !totals->threads[i].waits)
			add_thread(&wait, trace, i, "");
	}
	char *never_in = mem_format("never work%s in \"%s\"", work.count == 1 ? "s" : "",
				    options->work ? options->work : "");
	char *never_at = mem_format("never wait%s in \"%s\"", wait.count == 1 ? "s" : "",
				    options->wait ? options->wait : "");
	say(trace, &work, never_in, "no other waits for them there");
	say(trace, &wait, never_at, "no other is alone as long as they take part in the scores");
	free(never_in);
	free(never_at);
}

/* Beside others; what is wrong with a rank that is missing is said elsewhere. */
static void say_silent(struct trace *trace)
{
	struct enumeration silent = { .most = NAMED };
	for (size_t i = 0; i < trace->nthreads && trace_records(trace) > 0; i++)
		if (!query_knows(trace, i) && !trace->processes[trace->threads[i].process].absent)
			add_thread(&silent, trace, i, "");
	say(trace, &silent, "recorded nothing", "what was done there is not known, and has no part in scores or conditions");
}

void say_unrecorded(struct trace *trace)
{
	say_silent(trace);
	struct enumeration joins = { .most = NAMED }, unseen = { .most = NAMED };
	for (size_t i = 0; i < trace->nthreads; i++) {
		const struct tr_thread *t = &trace->threads[i];
		if (t->unknown_joins)
			add_thread(&joins, trace, i, "");
		char *what = t->unseen ? mem_format(" (%s)", t->unseen_by) : NULL;
		if (what)
			add_thread(&unseen, trace, i, what);
		free(what);
	}
	say(trace, &joins, "waited for the end of a thread that was not recorded",
	    "that may have done anything meanwhile: compile what makes it with dprof, too");
	say(trace, &unseen, "had something done where nothing is recorded",
	    "a function that the C library calls in a thread of its own, or a child before it is killed, may have done "
	    "anything meanwhile");
}

void say_unmarked(struct trace *trace, const struct totals *totals, const struct options *options)
{
	struct enumeration idle = { .most = NAMED };
	bool any_work = false;
	for (size_t i = 0; i < trace->nthreads; i++)
		any_work |= totals->threads[i].works;
	for (size_t i = 0; i < trace->nthreads && any_work && !options->work; i++) {
		const struct thread_totals *t = &totals->threads[i];
		if (t->waits && !t->works && trace->threads[i].number > 0)
			add_thread(&idle, trace, i, "");
	}
	say(trace, &idle, idle.count == 1 ? "is never in a region" : "are never in a region",
	    "mark the work, or it is not seen");
}

/* Of the span, at most, from a thread's begin on: who is gone is not waited for. */
static double percent_since_begin(const struct totals *totals, const struct times *times, const struct span *spans, size_t thread)
{
	const struct tr_thread *self = &times->trace->threads[thread];
	const struct ends *run = &totals->roles->ends[self->clock];
	uint64_t first = totals->threads[thread].comes ? run->first : totals->threads[thread].ends.first;
	return interval_percent(times_of_thread(times, thread, first, run->last), spans[times->time_base[self->clock]].length).hi;
}

/* And up to its last record. */
static double percent_recorded(const struct totals *totals, const struct times *times, const struct span *spans, size_t thread)
{
	struct ends ends = totals->threads[thread].ends;
	const struct span *span = &spans[times->time_base[times->trace->threads[thread].clock]];
	return interval_percent(times_of_thread(times, thread, ends.first, ends.last), span->length).hi;
}

static void add_part(struct enumeration *list, const struct trace *trace, size_t thread, const char *what, double percent)
{
	if (percent >= WORTH_SAYING)
		return;
	char *most = mem_format(" (%sat most %s %% of the run)", what, interval_upper(percent, 1).text);
	add_thread(list, trace, thread, most);
	free(most);
}

/* Of who ended inside of something say_open_ends() tells. */
void say_partly_there(struct trace *trace, const struct totals *totals, const struct times *times,
		      const struct span *spans)
{
	struct enumeration late = { .most = NAMED }, cut = { .most = NAMED };
	for (size_t i = 0; i < trace->nthreads; i++) {
		const struct thread_totals *t = &totals->threads[i];
		if (!t->waits || t->ends.first > t->ends.last)
			continue;
		add_part(&late, trace, i, "there for ", percent_since_begin(totals, times, spans, i));
		if (!trace->threads[i].complete && !t->ends_open)
			add_part(&cut, trace, i, "", percent_recorded(totals, times, spans, i));
	}
	say(trace, &late, "began late", "before that they do not wait, so none is counted as alone");
	say(trace, &cut, "did not end in good order and recorded only a part",
	    "what they did behind that is not known, so nobody surely is alone then");
}
