/* SPDX-License-Identifier: MIT
 *
 * unclassified.c - see unclassified.h. */
#include "analysis/report/unclassified.h"

#include <stdlib.h>

#include "analysis/base/enumeration.h"
#include "analysis/base/memory.h"
#include "analysis/report/locations.h"
#include "analysis/report/marks.h"
#include "analysis/states/states.h"

#define NAMED 8

/* Ticks of the period from the run's begin to the thread's last event. */
static uint64_t ticks_of(const struct period *p, uint64_t first, uint64_t last)
{
	uint64_t from = p->from > first ? p->from : first, to = p->to < last ? p->to : last;
	return p->may & MAY_BE_UNCLASSIFIED && to > from ? to - from : 0;
}

/* Ticks in which the thread surely was in unclassified time, or may have been. */
struct unclassified_ticks { uint64_t sure, possible; };

static struct unclassified_ticks add_up(const struct trace *trace, size_t thread, const struct roles *roles,
					uint64_t first, uint64_t last)
{
	struct unclassified_ticks all = { 0, 0 };
	struct period_begin begin[PERIODS_AT_ONCE];
	struct states s;
	uint64_t to;
	states_open(&s, trace, thread, roles);
	for (size_t n; (n = states_periods(&s, begin, PERIODS_AT_ONCE, &to));)
		for (size_t i = 0; i < n; i++) {
			struct period p = states_period(begin, n, i, to);
			uint64_t ticks = ticks_of(&p, first, last);
			all.possible += ticks;
			all.sure += p.may == MAY_BE_UNCLASSIFIED ? ticks : 0;
		}
	all.possible += s.between;
	states_close(&s);
	return all;
}

static struct interval percent_of(const struct trace *trace, const struct times *times, size_t thread, const struct roles *roles,
				  const struct span *span)
{
	const struct tr_thread *t = &trace->threads[thread];
	struct unclassified_ticks u = add_up(trace, thread, roles, roles->ends[t->clock].first, times_ends(t).last);
	frz_time least = times_duration(times, t->clock, u.sure), most = times_duration(times, t->clock, u.possible);
	return interval_percent((frz_time){ least.lo, most.hi }, span->length);
}

/* Of each time base; to be freed. */
static struct span *find_spans(const struct trace *trace, const struct times *times)
{
	struct ends *ends = mem_resize(NULL, trace->nthreads + 1, sizeof *ends);
	struct span *spans = mem_resize(NULL, times->ntime_bases + 1, sizeof *spans);
	for (size_t i = 0; i < trace->nthreads; i++)
		ends[i] = times_ends(&trace->threads[i]);
	for (uint32_t base = 0; base < times->ntime_bases; base++)
		spans[base] = times_span(times, base, ends);
	free(ends);
	return spans;
}

struct interval *unclassified_find(const struct trace *trace, const struct times *times)
{
	struct interval *percent = mem_resize(NULL, trace->nthreads + 1, sizeof *percent);
	struct span *spans = find_spans(trace, times);
	struct roles roles;
	roles_open(&roles, trace, NULL, NULL); /* which asks for no names */
	for (size_t i = 0; i < trace->nthreads; i++) {
		const struct tr_thread *t = &trace->threads[i];
		bool any = t->nrecords > 0 && roles.outside[t->process] & MAY_BE_UNCLASSIFIED;
		percent[i] = any ? percent_of(trace, times, i, &roles, &spans[times->time_base[t->clock]]) : (struct interval){ 0, 0 };
	}
	roles_close(&roles);
	free(spans);
	return percent;
}

bool unclassified_matters(const struct trace *trace, const struct interval *percent)
{
	size_t open = 0, nthreads = 0;
	for (size_t i = 0; i < trace->nthreads; i++) {
		open += percent[i].hi >= UNCLASSIFIED_PERCENT;
		nthreads += trace->threads[i].nrecords > 0;
	}
	return open > 0 && nthreads > 1;
}

void unclassified_say(struct trace *trace, const struct interval *percent)
{
	struct enumeration list = { .most = NAMED };
	for (size_t t = 0; t < trace->nthreads; t++)
		if (percent[t].hi >= UNCLASSIFIED_PERCENT)
			enumeration_add(&list, "%s for %s %%", location_name(trace, t).text, interval_range(percent[t], 1).text);
	char *text = enumeration_take(&list);
	if (*text)
		*MEM_GROW(trace->notes, trace->nnotes) = mem_format(
			"outside of regions and operations, where work cannot be told from waiting (unclassified): "
			"%s of the run. Mark what they do there with %s", text, marks_region(trace));
	free(text);
}
