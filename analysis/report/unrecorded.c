/* SPDX-License-Identifier: MIT
 *
 * unrecorded.c - see unrecorded.h. */
#include "analysis/report/unrecorded.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/base/enumeration.h"
#include "analysis/base/memory.h"
#include "analysis/report/marks.h"
#include "analysis/trace/sched.h"
#include "analysis/trace/names.h"

#define NAMED 4

static double longest(const struct trace *trace)
{
	double most = 0;
	for (size_t i = 0; i < trace->nthreads; i++) {
		struct ends ends = times_ends(&trace->threads[i]);
		double s = ends.first > ends.last ? 0 : (double)(ends.last - ends.first) /
							tr_ghz(trace, i) / 1e9;
		most = s > most ? s : most;
	}
	return most;
}

double unrecorded_worth(const struct trace *trace)
{
	return longest(trace) * UNRECORDED_PERCENT / 100;
}

static void say(struct trace *trace, const struct unrecorded *u)
{
	struct enumeration list = { .most = NAMED };
	for (size_t i = 0; i < trace->nthreads; i++)
		if (u->worth[i])
			enumeration_add(&list, "%s for %s s", thread_name(trace, i).text, interval_range(u->threads[i].s, 3).text);
	char *text = enumeration_take(&list);
	*MEM_GROW(trace->notes, trace->nnotes) = mem_format(
		"by the kernel's count these were blocked where nothing was recorded that blocks: %s. That is a call "
		"that dprof does not record, a page fault or a stop, or a virtual machine that did not run; here it "
		"counts as work",
		text);
	free(text);
}

/* Who ran where it seems to have waited. */
static void say_hidden(struct trace *trace, const struct unrecorded *u)
{
	struct enumeration list = { .most = NAMED };
	for (size_t i = 0; i < trace->nthreads; i++)
		if (u->threads[i].hidden_s.hi > 0)
			enumeration_add(&list, "%s for %s s", thread_name(trace, i).text,
					interval_range(u->threads[i].hidden_s, 3).text);
	char *text = enumeration_take(&list);
	*MEM_GROW(trace->notes, trace->nnotes) = mem_format(
		"these worked, or may have, while they were in operations that wait, by the kernel's count or as others began in "
		"there: %s. What did that, such as a signal's handler, counts as waiting here: mark it with %s", text, marks_region(trace));
	free(text);
}

double unrecorded_most(const struct unrecorded *u, const struct trace *trace, size_t thread)
{
	if (!u->checked)
		return 0;
	return blocked_most(&u->threads[thread], trace, thread, u->counts);
}

static bool ended_in_a_mark(const struct trace *trace, size_t thread)
{
	const struct tr_thread *t = &trace->threads[thread];
	bool marked = false;
	for (size_t i = 0; i < t->nopen; i++)
		marked |= tr_is_marked(trace, t->open[i]);
	return t->ran_on && marked;
}

static bool was_stopped(const struct trace *trace, size_t thread)
{
	bool by_another = false;
	for (size_t i = 0; i < trace->nthreads; i++)
		by_another |= trace->threads[i].process == trace->threads[thread].process && trace->threads[i].ran_on &&
			      !ended_in_a_mark(trace, i);
	return by_another && ended_in_a_mark(trace, thread);
}

/* From a thread's first record to its last. */
static double recorded_s(const struct trace *trace, size_t thread)
{
	const struct tr_thread *t = &trace->threads[thread];
	struct tr_cursor events = trace_events(trace, thread);
	uint64_t first = UINT64_MAX, last = 0;
	for (struct tr_event e; trace_next_bare(&events, &e);) {
		first = e.stamp < first ? e.stamp : first;
		last = e.stamp < t->ended && e.stamp > last ? e.stamp : last;
	}
	trace_end(&events);
	return last > first ? (double)(last - first) / trace->clocks[t->clock].ghz / 1e9 : 0;
}

double unrecorded_sum(const struct unrecorded *u, const struct trace *trace, bool likely)
{
	double sum = 0, worth = unrecorded_worth(trace);
	for (size_t i = 0; i < trace->nthreads; i++) {
		double s = u->worth[i] ? likely ? u->threads[i].s.hi : u->threads[i].waits_s : 0;
		if (s > 0 && likely && was_stopped(trace, i))
			s = fmin(s, recorded_s(trace, i) * (1 + SCHED_NOMINAL_ERROR));
		sum += s >= worth ? s : 0;
	}
	return sum;
}

void unrecorded_say_open(struct trace *trace, const double *most)
{
	double worth = unrecorded_worth(trace);
	struct enumeration list = { .most = NAMED };
	for (size_t i = 0; i < trace->nthreads; i++)
		if (most[i] >= worth)
			enumeration_add(&list, "%s for at most %s s", thread_name(trace, i).text, interval_upper(most[i], 3).text);
	char *text = enumeration_take(&list);
	if (*text)
		*MEM_GROW(trace->notes, trace->nnotes) = mem_format(
			"the kernel's counts leave open whether these were blocked where nothing was recorded that "
			"blocks: %s. Here that counts as work", text);
	free(text);
}

static void find(struct unrecorded *u, const struct trace *trace, const struct roles *roles)
{
	double worth = unrecorded_worth(trace);
	for (size_t i = 0; i < trace->nthreads; i++) {
		u->threads[i] = blocked_unrecorded(trace, i, roles, worth);
		u->worth[i] = worth > 0 && u->threads[i].known && u->threads[i].s.lo >= worth;
		u->count += u->worth[i];
		u->hidden += u->threads[i].hidden_s.hi > 0;
		u->interrupted += u->threads[i].interrupted;
	}
}

/* Where the user left out waiting (DPROF_EVENTS) nothing is known, which is said elsewhere. Where only sleeps were, or files, it
 * may have polled for another in those. */
void unrecorded_find(struct unrecorded *u, const struct trace *trace, const struct roles *roles)
{
	struct roles usual;
	size_t n = trace->nthreads;
	*u = (struct unrecorded){ .threads = mem_resize(NULL, n + 1, sizeof *u->threads),
				  .worth = mem_resize(NULL, n + 1, sizeof *u->worth),
				  .counts = blocked_counts(trace) };
	for (size_t i = 0; i < n; i++) {
		u->threads[i] = (struct blocked){ .known = false };
		u->worth[i] = false;
	}
	if (trace->left_out & operation_kinds(OP_OTHERS))
		return;
	u->checked = true;
	if (roles) {
		find(u, trace, roles);
	} else if (roles_open(&usual, trace, NULL, NULL)) {
		find(u, trace, &usual);
		roles_close(&usual);
	}
}

void unrecorded_open(struct unrecorded *u, struct trace *trace, const struct roles *roles)
{
	unrecorded_find(u, trace, roles);
	if (u->count)
		say(trace, u);
	if (u->hidden)
		say_hidden(trace, u);
}

void unrecorded_close(struct unrecorded *u)
{
	free(u->threads);
	free(u->worth);
	free(u->counts);
}
