/* SPDX-License-Identifier: MIT
 *
 * unclassified.c - see unclassified.h. */
#include "analysis/report/unclassified.h"

#include <stdlib.h>

#include "analysis/base/enumeration.h"
#include "analysis/base/memory.h"
#include "analysis/report/locations.h"
#include "analysis/report/marks.h"

#define NAMED 8

/* Ticks of the period from the run's begin to the thread's last event. */
static uint64_t ticks_of(const struct period *p, uint64_t first, uint64_t last)
{
	uint64_t from = p->from > first ? p->from : first, to = p->to < last ? p->to : last;
	return p->may & MAY_BE_UNCLASSIFIED && to > from ? to - from : 0;
}

static struct interval percent_of(const struct span *span, frz_time time)
{
	return span->events ? interval_percent(time, span->length) : (struct interval){ 0, 0 };
}

struct interval unclassified_of_run(const struct times *times, const struct span *span, const struct totals *t, size_t thread)
{
	return percent_of(span, totals_time(times, span, t, thread, &t->threads[thread].unclassified));
}

static struct interval before_end(const struct times *times, const struct span *span, const struct totals *t, size_t thread)
{
	const struct tr_thread *self = &t->trace->threads[thread];
	uint64_t first = t->roles->ends[self->clock].first, last = times_ends(self).last;
	uint64_t sure = 0, possible = t->threads[thread].between;
	struct period_cursor c = periods_cursor(&t->periods, thread);
	for (struct period p; period_next(&c, &p);) {
		uint64_t ticks = ticks_of(&p, first, last);
		possible += ticks;
		sure += p.may == MAY_BE_UNCLASSIFIED ? ticks : 0;
	}
	period_cursor_close(&c);
	return percent_of(span, (frz_time){ times_duration(times, self->clock, sure).lo,
					    times_duration(times, self->clock, possible).hi });
}

static bool has_marks(const struct totals *t, size_t thread)
{
	const struct tr_thread *self = &t->trace->threads[thread];
	return self->nrecords > 0 && t->roles->outside[self->process] & MAY_BE_UNCLASSIFIED;
}

struct unclassified *unclassified_of_totals(const struct totals *t, const struct times *times)
{
	struct unclassified *all = mem_zeroed(t->trace->nthreads + 1, sizeof *all);
	for (uint32_t base = 0; base < times->ntime_bases; base++) {
		struct span span = times_span(times, base, t->ends);
		for (size_t i = 0; i < t->trace->nthreads; i++)
			if (has_marks(t, i) && times->time_base[t->trace->threads[i].clock] == base)
				all[i] = (struct unclassified){ unclassified_of_run(times, &span, t, i), before_end(times, &span, t, i) };
	}
	return all;
}

struct unclassified *unclassified_find(struct trace *trace, const struct times *times)
{
	struct roles roles;
	struct totals totals;
	bool any = false;
	roles_open(&roles, trace, NULL, NULL); /* which asks for no names */
	for (size_t i = 0; i < trace->nprocesses; i++)
		any |= roles.outside[i] & MAY_BE_UNCLASSIFIED;
	if (any)
		totals_open(&totals, trace, &roles);
	struct unclassified *all = any ? unclassified_of_totals(&totals, times) : mem_zeroed(trace->nthreads + 1, sizeof *all);
	if (any)
		totals_close(&totals);
	roles_close(&roles);
	return all;
}

bool unclassified_matters(const struct trace *trace, const struct unclassified *of)
{
	size_t open = 0, nthreads = 0;
	for (size_t i = 0; i < trace->nthreads; i++) {
		open += of[i].before_end.hi >= UNCLASSIFIED_PERCENT;
		nthreads += trace->threads[i].nrecords > 0;
	}
	return open > 0 && nthreads > 1;
}

void unclassified_say(struct trace *trace, const struct unclassified *of)
{
	struct enumeration list = { .most = NAMED };
	for (size_t t = 0; t < trace->nthreads; t++)
		if (of[t].of_run.hi >= UNCLASSIFIED_PERCENT)
			enumeration_add(&list, "%s for %s %%", location_name(trace, t).text, interval_range(of[t].of_run, 1).text);
	char *text = enumeration_take(&list);
	if (*text)
		*MEM_GROW(trace->notes, trace->nnotes) = mem_format(
			"outside of regions and operations, where work cannot be told from waiting (unclassified): "
			"%s of the run. Mark what they do there with %s", text, marks_region(trace));
	free(text);
}
