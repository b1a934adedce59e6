/* SPDX-License-Identifier: MIT
 *
 * frame_sites.c - one walk over each thread, with the frames' middles in order. */
#define _GNU_SOURCE /* qsort_r */
#include "analysis/report/frame_sites.h"

#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"

/* The last stamp of the clock, from `ends`, that is not known to be after `time`. */
static uint64_t stamp_at(const struct times *times, uint32_t clock, struct ends_on_clock ends,
			 int64_t time)
{
	struct frz_cursor cursor = times_cursor(times, clock);
	uint64_t lo = ends.from, hi = ends.to;
	while (lo < hi) {
		uint64_t middle = lo + (hi - lo) / 2 + 1;
		frz_time t = frz_time_of(&cursor, middle);
		if (time_middle(t) <= time)
			lo = middle;
		else
			hi = middle - 1;
	}
	return lo;
}

/* From just before the first event of a clock to just behind its last; bounds are good there. */
static struct ends_on_clock *events_of_clocks(const struct trace *trace)
{
	struct ends_on_clock *of = mem_resize(NULL, trace->nclocks, sizeof *of);
	for (size_t c = 0; c < trace->nclocks; c++)
		of[c] = (struct ends_on_clock){ PERIOD_AFTER, PERIOD_BEFORE };
	for (size_t i = 0; i < trace->nthreads; i++) {
		struct ends_on_clock *clock = &of[trace->threads[i].clock];
		uint64_t first, last;
		if (!trace_ends(&trace->threads[i], &first, &last))
			continue;
		first -= first > 0;
		last += last < PERIOD_AFTER;
		clock->from = first < clock->from ? first : clock->from;
		clock->to = last > clock->to ? last : clock->to;
	}
	return of;
}

static struct ends_on_clock within(struct ends_on_clock x, struct ends_on_clock y)
{
	return (struct ends_on_clock){ x.from > y.from ? x.from : y.from,
				       x.to < y.to ? x.to : y.to };
}

static int by_stamp(const void *x, const void *y, void *stamps)
{
	uint64_t a = ((uint64_t *)stamps)[*(const size_t *)x];
	uint64_t b = ((uint64_t *)stamps)[*(const size_t *)y];
	return ORDER(a, b);
}

static void follow(struct replay *r, const struct trace *trace, const struct tr_event *e)
{
	if (e->op == DPROF_ENTER)
		replay_enter(r, tr_entry(trace, e));
	else if (e->op == DPROF_EXIT)
		replay_exit(r, e->site);
	else if (e->op == DPROF_LOST)
		replay_lose(r);
}

static uint32_t innermost(const struct replay *r)
{
	const struct replay_entry *top = replay_top(r);
	return top && !top->unsure ? top->site : TR_NO_SITE;
}

static void walk(const struct times *times, const struct frames *f, size_t thread,
		 struct ends_on_clock events_of_clock, uint32_t *sites, uint64_t *stamps,
		 size_t *order)
{
	const struct trace *trace = times->trace;
	uint32_t clock = trace->threads[thread].clock;
	for (size_t i = 0; i < f->nlongest; i++) {
		const struct frame *frame = &f->longest[i];
		struct ends_on_clock ends = within(frame->clocks[clock], events_of_clock);
		stamps[i] = ends.from > ends.to ? PERIOD_AFTER
						: stamp_at(times, clock, ends, frame->middle);
		order[i] = i;
	}
	qsort_r(order, f->nlongest, sizeof *order, by_stamp, stamps);
	struct replay replay;
	struct tr_cursor events = trace_places(trace, thread);
	size_t at = 0;
	replay_open(&replay, trace->nsites);
	for (struct tr_event e; at < f->nlongest && trace_next(&events, &e);) {
		for (; at < f->nlongest && e.op != DPROF_LOST && stamps[order[at]] < e.stamp; at++)
			sites[order[at] * trace->nthreads + thread] = innermost(&replay);
		follow(&replay, trace, &e);
	}
	for (; at < f->nlongest; at++)
		sites[order[at] * trace->nthreads + thread] = TR_NO_SITE;
	trace_end(&events);
	replay_close(&replay);
}

uint32_t *frame_sites(const struct times *times, const struct frames *f)
{
	size_t nthreads = times->trace->nthreads;
	uint32_t *sites = mem_resize(NULL, f->nlongest * nthreads, sizeof *sites);
	uint64_t *stamps = mem_resize(NULL, f->nlongest, sizeof *stamps);
	size_t *order = mem_resize(NULL, f->nlongest, sizeof *order);
	struct ends_on_clock *ends = events_of_clocks(times->trace);
	for (size_t t = 0; t < nthreads; t++)
		walk(times, f, t, ends[times->trace->threads[t].clock], sites, stamps, order);
	free(ends);
	free(stamps);
	free(order);
	return sites;
}
