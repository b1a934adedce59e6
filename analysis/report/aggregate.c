/* SPDX-License-Identifier: MIT
 *
 * aggregate.c - merges the events of all threads by the begin of their times. */
#include "analysis/report/aggregate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/heap.h"
#include "analysis/base/memory.h"
#include "analysis/report/frame_list.h"

struct aggregate_source {              /* one thread */
	struct tr_cursor events;
	struct frz_cursor times;
	frz_time now;        /* of its event that comes next; hi is later when what follows is lost */
	frz_time then;       /* of the one behind that */
	bool has_now, has_then, lost_then;
	uint64_t lost;
};

struct aggregate_view {
	struct aggregate *result;
	const struct times *times;
	const struct span *span;
	size_t most;
	struct aggregate_source *sources;
	struct heap heap;    /* sources by the begin of what comes next */
	int64_t end;         /* of the aggregated event that is being put together */
	bool open;           /* there is one */
	uint64_t size;
};

/* Reads on to the next enter or exit. */
static void read_then(struct aggregate_source *s)
{
	struct tr_event e;
	s->has_then = s->lost_then = false;
	while (!s->has_then && trace_next(&s->events, &e)) {
		s->lost_then |= e.op == DPROF_LOST;
		s->lost += e.op == DPROF_LOST ? e.lost : 0;
		if (e.op != DPROF_ENTER && e.op != DPROF_EXIT)
			continue;
		s->then = frz_time_of(&s->times, e.stamp);
		s->has_then = true;
	}
}

static void advance(const struct aggregate_view *v, struct aggregate_source *s)
{
	s->now = s->then;
	s->has_now = s->has_then;
	if (!s->has_now)
		return;
	read_then(s);
	bool unknown = s->lost_then || (!s->has_then && (!s->events.thread->complete ||
							 s->events.thread->lost > s->lost));
	if (unknown)
		s->now.hi = s->has_then ? s->then.hi : v->span->last.hi;
}

static void add_source(struct aggregate_view *v, size_t thread)
{
	struct aggregate_source *s = &v->sources[thread];
	*s = (struct aggregate_source){ .events = trace_events(v->times->trace, thread),
			      .times = times_cursor(v->times,
						    v->times->trace->threads[thread].clock) };
	read_then(s);
	bool lost_first = s->lost_then;
	advance(v, s);
	if (lost_first)
		s->now.lo = v->span->first.lo;
	if (!s->has_now && s->events.thread->lost > 0) { /* all of it, at any time */
		v->open = true;
		v->end = v->span->last.hi;
	}
	if (s->has_now)
		heap_add(&v->heap, heap_key(s->now.lo), (uint32_t)thread);
}

static void end_aggregated(struct aggregate_view *v)
{
	struct aggregate *a = v->result;
	if (v->size == 0)
		return;
	unsigned bin = v->size == 1 ? 0 : 64 - (unsigned)__builtin_clzll(v->size - 1);
	a->bins[bin].count++;
	a->bins[bin].events += v->size;
	a->aggregated++;
	a->largest = v->size > a->largest ? v->size : a->largest;
	v->size = 0;
}

/* From the end of an aggregated event to the begin of the next. */
static void add_frame(struct aggregate_view *v, int64_t from, int64_t to)
{
	struct aggregate *a = v->result;
	if (to <= from)
		return;
	a->frames++;
	a->frame_ticks = ticks_plus(a->frame_ticks, to - from);
	struct frame frame = { .certain = true, .length = { to - from, to - from },
			       .middle = from + (to - from) / 2 };
	frame.begin.lo = ticks_minus(from, v->span->first.hi);
	frame.begin.lo = frame.begin.lo > 0 ? frame.begin.lo : 0;
	frame.begin.hi = ticks_minus(from, v->span->first.lo);
	struct frame *kept = frames_place(&a->longest, v->most, v->times->trace->nclocks, frame);
	for (size_t c = 0; kept && c < v->times->trace->nclocks; c++)
		kept->clocks[c] = (struct ends_on_clock){ PERIOD_BEFORE, PERIOD_AFTER };
}

static void take(struct aggregate_view *v, const struct aggregate_source *s)
{
	if (v->open && s->now.lo > v->end) {
		end_aggregated(v);
		add_frame(v, v->end, s->now.lo);
	}
	v->end = !v->open || s->now.hi > v->end ? s->now.hi : v->end;
	v->open = true;
	v->size++;
	v->result->events++;
}

void aggregate_open(struct aggregate *a, const struct times *times, uint32_t time_base,
		    const struct span *span, size_t most)
{
	const struct trace *trace = times->trace;
	*a = (struct aggregate){ .longest.longest = mem_resize(NULL, most, sizeof(struct frame)) };
	struct aggregate_view v = { .result = a, .times = times, .span = span, .most = most };
	v.sources = mem_resize(NULL, trace->nthreads, sizeof *v.sources);
	v.heap.items = mem_resize(NULL, trace->nthreads, sizeof *v.heap.items);
	for (size_t i = 0; i < trace->nthreads; i++)
		if (times->time_base[trace->threads[i].clock] == time_base)
			add_source(&v, i);
	while (v.heap.count > 0) {
		struct aggregate_source *s = &v.sources[v.heap.items[0].source];
		take(&v, s);
		advance(&v, s);
		if (s->has_now)
			heap_change_first(&v.heap, heap_key(s->now.lo));
		else
			heap_remove_first(&v.heap);
	}
	end_aggregated(&v);
	for (size_t i = 0; i < trace->nthreads; i++)
		if (times->time_base[trace->threads[i].clock] == time_base)
			trace_end(&v.sources[i].events);
	free(v.sources);
	free(v.heap.items);
}

void aggregate_close(struct aggregate *a)
{
	frames_close(&a->longest);
}

/* ---- The reply ------------------------------------------------------------------------------- */

static void fill_bins(struct reply *r, const struct aggregate *a)
{
	static const struct tab_column columns[] = {
		TAB_SHOWN(NULL, "events in one group", 22), TAB_KEY("size_from"), TAB_KEY("size_to"),
		TAB_SHOWN("groups", "groups", -12), TAB_SHOWN("events", "events", -12), { 0 } };
	reply_table(r, "aggregated.histogram", columns, SIZE_MAX);
	for (unsigned b = 0; b < AGGREGATE_BINS; b++) {
		char sizes[48];
		uint64_t least = aggregate_least(b), most = aggregate_least(b + 1) - 1;
		if (a->bins[b].count == 0)
			continue;
		snprintf(sizes, sizeof sizes, least == most ? "%" PRIu64 : "%" PRIu64 " to %" PRIu64, least, most);
		reply_row(r, tab_text(sizes), tab_count(least), tab_count(most), tab_count(a->bins[b].count),
			  tab_count(a->bins[b].events));
	}
	reply_end(r);
}

void aggregate_fill(struct reply *r, const struct aggregate *a, const struct times *times, uint32_t time_base,
		    const struct span *span)
{
	frz_time ticks = { a->frame_ticks, a->frame_ticks };
	struct interval seconds = times_seconds(times, time_base, ticks), share = interval_percent(ticks, span->length);
	reply_value(r, "aggregated.events", tab_count(a->events));
	reply_value(r, "aggregated.groups", tab_count(a->aggregated));
	reply_value(r, "aggregated.largest", tab_count(a->largest));
	reply_value(r, "aggregated.frames", tab_count(a->frames));
	reply_value(r, "aggregated.frames_s", tab_interval(seconds));
	reply_value(r, "aggregated.frames_percent", tab_interval(share));
	reply_gap(r);
	reply_say(r, SAY_TEXT,
		  "Aggregated events: %" PRIu64 " events in %" PRIu64 " groups of unknown order. In the %" PRIu64
		  " frames between them, %s s or %s %% of the run, no thread changes its state.",
		  a->events, a->aggregated, a->frames, reply_interval(r, seconds, 9).text, reply_interval(r, share, 2).text);
	reply_gap(r);
	fill_bins(r, a);
	frame_list_fill(r, "aggregated.longest", times, time_base, &a->longest);
}
