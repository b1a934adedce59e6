/* SPDX-License-Identifier: MIT
 *
 * match_walk.c - all threads of a trace side by side: those of one clock exactly in the order of
 * its stamps, the clocks about so. */
#include <stdlib.h>

#include "analysis/base/heap.h"
#include "analysis/base/memory.h"
#include "analysis/match/match_log.h"

#define EVENTS_AT_ONCE 1024 /* of a clock: what its threads read next is still in the cache */

struct walker {                  /* a thread */
	struct tr_cursor events;
	struct tr_passed passed; /* before the next, unless it is the first */
	struct tr_event next;
	bool begun, ended;
	uint64_t stamp;          /* of next; LOST has that of the event before it */
};

struct clock_walk {              /* a clock */
	struct heap threads;     /* by stamp */
	uint64_t first, last;
};

struct match_walk {
	const struct trace *trace;
	struct match_log *log;   /* or NULL */
	struct matcher *matcher; /* NULL: the log has it all */
	struct walker *walkers;
	struct clock_walk *clock_walks;
	struct heap clocks;      /* by the share of their run that is behind them */
	bool finished;
};

static bool fetch_first(struct matcher *m, struct walker *w)
{
	w->begun = true;
	if (!trace_next_bare(&w->events, &w->next))
		return false;
	if (match_wants_arguments(m, &w->next))
		trace_arguments(&w->events, &w->next);
	return true;
}

/* The next event that matters, and behind those that do not the end of the thread. */
static bool fetch(struct matcher *m, struct walker *w)
{
	if (w->begun)
		w->ended = !trace_pass_next(&w->events, match_passes(m), &w->passed, &w->next);
	else
		w->ended = !fetch_first(m, w);
	if (w->ended) {
		w->stamp = w->passed.stamp;
		return w->passed.n > 0;
	}
	if (w->next.op != DPROF_LOST)
		w->stamp = w->next.stamp;
	else if (w->passed.n)
		w->stamp = w->passed.stamp;
	return true;
}

static uint64_t share(const struct clock_walk *s)
{
	uint64_t run = s->last > s->first ? s->last - s->first : 1;
	uint64_t behind = s->threads.items[0].key - s->first;
	return behind < run ? (uint64_t)((double)behind / (double)run * 0x1p62) : UINT64_C(1) << 62;
}

static void begin(struct match_walk *w, uint32_t thread)
{
	const struct tr_thread *self = &w->trace->threads[thread];
	struct clock_walk *s = &w->clock_walks[self->clock];
	w->walkers[thread] = (struct walker){ .events = trace_events(w->trace, thread) };
	if (!fetch(w->matcher, &w->walkers[thread]))
		return;
	heap_add(&s->threads, w->walkers[thread].stamp, thread);
	uint64_t first, last;
	if (trace_ends(self, &first, &last) && last > s->last)
		s->last = last;
}

static void open_clocks(struct match_walk *w)
{
	const struct trace *t = w->trace;
	w->walkers = mem_resize(NULL, t->nthreads, sizeof *w->walkers);
	w->clock_walks = mem_resize(NULL, t->nclocks, sizeof *w->clock_walks);
	w->clocks.items = mem_resize(NULL, t->nclocks, sizeof *w->clocks.items);
	for (size_t c = 0; c < t->nclocks; c++)
		w->clock_walks[c] = (struct clock_walk){
			.threads.items = mem_resize(NULL, t->nthreads, sizeof(struct heap_item)) };
	for (uint32_t i = 0; i < t->nthreads; i++)
		begin(w, i);
	for (uint32_t c = 0; c < t->nclocks; c++) {
		struct clock_walk *s = &w->clock_walks[c];
		if (s->threads.count == 0)
			continue;
		s->first = s->threads.items[0].key;
		heap_add(&w->clocks, share(s), c);
	}
}

struct match_walk *match_walk_open(const struct trace *t, uint64_t slack, struct match_log *log)
{
	struct match_walk *w = mem_resize(NULL, 1, sizeof *w);
	*w = (struct match_walk){ .trace = t, .log = log };
	if (log)
		match_log_begin(log);
	if (match_log_is_full(log))
		return w;
	w->matcher = match_open(t, slack);
	open_clocks(w);
	return w;
}

static void step(struct match_walk *w, struct clock_walk *s)
{
	uint32_t thread = s->threads.items[0].source;
	struct walker *walker = &w->walkers[thread];
	match_pass(w->matcher, thread, walker->passed);
	if (!walker->ended)
		match_take(w->matcher, thread, &walker->next);
	if (!walker->ended && fetch(w->matcher, walker))
		heap_change_first(&s->threads, walker->stamp);
	else
		heap_remove_first(&s->threads);
}

/* Some events of the clock that is behind the others. */
static void advance(struct match_walk *w)
{
	struct clock_walk *s = &w->clock_walks[w->clocks.items[0].source];
	for (int i = 0; i < EVENTS_AT_ONCE && s->threads.count; i++)
		step(w, s);
	if (s->threads.count)
		heap_change_first(&w->clocks, share(s));
	else
		heap_remove_first(&w->clocks);
}

static bool find_next(struct match_walk *w, struct match *m)
{
	while (!match_found(w->matcher, m)) {
		if (w->finished)
			return false;
		if (w->clocks.count) {
			advance(w);
		} else {
			match_finish(w->matcher);
			w->finished = true;
		}
	}
	return true;
}

bool match_walk_next(struct match_walk *w, struct match *m)
{
	if (!w->matcher)
		return match_log_next(w->log, m);
	bool found = find_next(w, m);
	if (w->log && found)
		match_log_put(w->log, m);
	else if (w->log)
		match_log_fill(w->log, match_tally(w->matcher));
	return found;
}

const struct match_tally *match_walk_tally(const struct match_walk *w)
{
	return w->matcher ? match_tally(w->matcher) : match_log_tally(w->log);
}

static void close_clocks(struct match_walk *w)
{
	for (size_t c = 0; c < w->trace->nclocks; c++)
		free(w->clock_walks[c].threads.items);
	for (size_t i = 0; i < w->trace->nthreads; i++)
		trace_end(&w->walkers[i].events);
	match_close(w->matcher);
	free(w->walkers);
	free(w->clock_walks);
	free(w->clocks.items);
}

void match_walk_close(struct match_walk *w)
{
	if (w->matcher)
		close_clocks(w);
	if (w->log)
		match_log_end(w->log);
	free(w);
}
