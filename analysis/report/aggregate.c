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
#include "analysis/report/notes.h"

struct source {              /* one thread */
	struct tr_cursor events;
	struct frz_cursor times;
	frz_time now;        /* of its event that comes next; hi is later when what follows is lost */
	frz_time then;       /* of the one behind that */
	bool has_now, has_then, lost_then;
	uint64_t lost;
};

struct view {
	struct aggregate *result;
	const struct times *times;
	const struct span *span;
	size_t most;
	struct source *sources;
	struct heap heap;    /* sources by the begin of what comes next */
	int64_t end;         /* of the aggregated event that is being put together */
	bool open;           /* there is one */
	uint64_t size;
};

/* Reads on to the next enter or exit. */
static void read_then(struct source *s)
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

static void advance(const struct view *v, struct source *s)
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

static void add_source(struct view *v, size_t thread)
{
	struct source *s = &v->sources[thread];
	*s = (struct source){ .events = trace_events(v->times->trace, thread),
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

static void end_aggregated(struct view *v)
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
static void add_frame(struct view *v, int64_t from, int64_t to)
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

static void take(struct view *v, const struct source *s)
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
	struct view v = { .result = a, .times = times, .span = span, .most = most };
	v.sources = mem_resize(NULL, trace->nthreads, sizeof *v.sources);
	v.heap.items = mem_resize(NULL, trace->nthreads, sizeof *v.heap.items);
	for (size_t i = 0; i < trace->nthreads; i++)
		if (times->time_base[trace->threads[i].clock] == time_base)
			add_source(&v, i);
	while (v.heap.count > 0) {
		struct source *s = &v.sources[v.heap.items[0].source];
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

/* ---- Output ---------------------------------------------------------------------------------- */

void aggregate_print(const struct aggregate *a, const struct times *times, uint32_t time_base,
		     const struct span *span)
{
	frz_time frames = { a->frame_ticks, a->frame_ticks };
	char *text = mem_format("Aggregated events: %" PRIu64 " events in %" PRIu64 " groups of "
				"unknown order. In the %" PRIu64 " frames between them, %s s or %s %% of "
				"the run, no thread changes its state.",
				a->events, a->aggregated, a->frames,
				interval_compact(times_seconds(times, time_base, frames), 9).text,
				interval_range(interval_percent(frames, span->length), 2).text);
	putchar('\n');
	print_wrapped("", text);
	free(text);
	printf("\n  %-22s %12s %12s\n", "events in one group", "groups", "events");
	for (unsigned b = 0; b < AGGREGATE_BINS; b++) {
		char sizes[48];
		uint64_t least = aggregate_least(b), most = aggregate_least(b + 1) - 1;
		if (a->bins[b].count == 0)
			continue;
		snprintf(sizes, sizeof sizes,
			 least == most ? "%" PRIu64 : "%" PRIu64 " to %" PRIu64, least, most);
		printf("  %-22s %12" PRIu64 " %12" PRIu64 "\n", sizes, a->bins[b].count,
		       a->bins[b].events);
	}
	frame_list_print(times, time_base, &a->longest);
}

void aggregate_json(struct json *j, const char *key, const struct aggregate *a,
		    const struct times *times, uint32_t time_base, const struct span *span)
{
	frz_time frames = { a->frame_ticks, a->frame_ticks };
	jw_object(j, key);
	jw_integer(j, "events", (int64_t)a->events);
	jw_integer(j, "groups", (int64_t)a->aggregated);
	jw_integer(j, "largest", (int64_t)a->largest);
	jw_integer(j, "frames", (int64_t)a->frames);
	jw_interval(j, "frames_s", times_seconds(times, time_base, frames));
	jw_interval(j, "frames_percent", interval_percent(frames, span->length));
	jw_array(j, "histogram");
	for (unsigned b = 0; b < AGGREGATE_BINS; b++) {
		if (a->bins[b].count == 0)
			continue;
		jw_object(j, NULL);
		jw_integer(j, "size_from", (int64_t)aggregate_least(b));
		jw_integer(j, "size_to", (int64_t)aggregate_least(b + 1) - 1);
		jw_integer(j, "groups", (int64_t)a->bins[b].count);
		jw_integer(j, "events", (int64_t)a->bins[b].events);
		jw_end(j);
	}
	jw_end(j);
	frame_list_json(j, "longest", times, time_base, &a->longest);
	jw_end(j);
}
