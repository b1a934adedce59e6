/* SPDX-License-Identifier: MIT
 *
 * match_walk.c - all threads of a trace side by side: those of one clock exactly in the order of
 * its stamps, the clocks about so. */
#include <stdlib.h>

#include "analysis/base/heap.h"
#include "analysis/base/ids.h"
#include "analysis/base/memory.h"
#include "analysis/base/merge.h"
#include "analysis/match/match_log.h"

#define EVENTS_AT_ONCE 1024 /* of a clock: what its threads read next is still in the cache */

struct match_walker {                  /* a thread */
	struct tr_cursor events;
	struct tr_columns at;    /* what is at hand, */
	size_t i;                /* and which of that is the next event; */
	struct tr_event next;    /* or else this is: of a thread that jumps, and behind all records */
	struct tr_passed passed; /* before the next, unless it is the first */
	bool begun, ended;
	uint64_t stamp;          /* of the next; LOST has that of the event before it */
	uint64_t group;          /* that was looked up last, */
	bool is_local;           /* and whether it is local */
	uint32_t inside;         /* site of a local operation that it is in; or TR_NO_SITE */
};

struct clock_walk {              /* a clock */
	struct merge threads;    /* those of `thread`, by stamp */
	uint32_t *thread; size_t nthreads;
	uint64_t first, last;
};

struct match_walk {
	const struct trace *trace;
	struct match_log *log;   /* or NULL */
	struct matcher *matcher; /* NULL: the log has it all */
	struct match_walker *walkers;
	struct clock_walk *clock_walks;
	struct heap clocks;      /* by the share of their run that is behind them */
	const bool *concerned;   /* of each site: the matcher's; and ... */
	bool *passes;            /* ... of each of the trace's whats: none of these matters, unless it is a thread's first event */
	struct ids local;        /* groups whose operations are skipped: all of their threads are on one clock */
	bool whole_calls;
	bool finished;
};

/* ---- Operations of one clock ----------------------------------------------------------------- */

static bool is_of_group(enum dprof_kind kind)
{
	return kind == DPROF_KIND_BARRIER || kind == DPROF_KIND_COLL || kind == DPROF_KIND_FORK || kind == DPROF_KIND_JOIN;
}

static bool is_local(const struct match_walk *w, struct match_walker *walker, uint64_t group)
{
	if (group != walker->group || !walker->is_local) {
		walker->group = group;
		walker->is_local = ids_find(&w->local, group) != SIZE_MAX;
	}
	return walker->is_local;
}

/* The enter of an operation of a local group, or its exit; `group`: what the event says, or UINT64_MAX. */
static inline bool is_skipped(const struct match_walk *w, struct match_walker *walker, enum dprof_op op, uint32_t site,
			      uint64_t group)
{
	if (op == DPROF_EXIT && site == walker->inside) {
		walker->inside = TR_NO_SITE;
		return true;
	}
	if (op != DPROF_ENTER || group == UINT64_MAX || walker->inside != TR_NO_SITE ||
	    !is_of_group(w->trace->sites[site].kind) || !is_local(w, walker, group))
		return false;
	walker->inside = site;
	return true;
}

/* ---- The next event -------------------------------------------------------------------------- */

/* A thread's first event does, whatever it is. */
static inline bool matters(const struct match_walk *w, struct match_walker *walker, const struct tr_columns *k, size_t i)
{
	const struct tr_what *what = trace_what(w->trace, k, i);
	bool first = !walker->begun;
	walker->begun = true;
	if (what->site == TR_NO_SITE) {
		walker->inside = TR_NO_SITE;
		return true;
	}
	if (!w->concerned[what->site] || w->local.n == 0)
		return w->concerned[what->site] || first;
	return !is_skipped(w, walker, what->op, what->site, trace_value(w->trace, k, i, DPROF_KEY_GROUP, UINT64_MAX));
}

static inline size_t pass_over(const bool *passes, const uint32_t *what, size_t i, size_t n)
{
	while (i < n && passes[what[i]])
		i++;
	return i;
}

/* From i on, the first event at hand that matters; or how many there are. */
static size_t find_mattering(const struct match_walk *w, struct match_walker *walker, size_t i)
{
	const struct tr_columns *k = &walker->at;
	for (;; i++) {
		if (walker->begun)
			i = pass_over(w->passes, k->what, i, k->n);
		if (i == k->n || matters(w, walker, k, i))
			return i;
	}
}

/* Comes to the next event at hand that matters; false if none does. */
static bool pass(const struct match_walk *w, struct match_walker *walker)
{
	const struct tr_columns *k = &walker->at;
	size_t from = walker->i, i = find_mattering(w, walker, from);
	if (i > from)
		walker->passed = (struct tr_passed){ walker->passed.n + i - from, k->stamp[i - 1],
						     trace_what(w->trace, k, i - 1)->site };
	walker->i = i;
	return i < k->n;
}

static bool next_columns(struct match_walker *walker)
{
	walker->i = walker->at.n = 0;
	return !walker->events.thread->jumps && trace_columns(&walker->events, &walker->at);
}

/* The next event that matters, and behind those that do not the end of the thread. */
static bool fetch(const struct match_walk *w, uint32_t thread)
{
	struct match_walker *walker = &w->walkers[thread];
	walker->passed.n = 0;
	do {
		if (pass(w, walker)) {
			walker->stamp = w->whole_calls ? match_call_stamp(w->matcher, thread, &walker->at, walker->i)
						       : walker->at.stamp[walker->i];
			return true;
		}
	} while (next_columns(walker));
	walker->ended = !trace_next(&walker->events, &walker->next);
	if (walker->passed.n)
		walker->stamp = walker->passed.stamp;
	if (!walker->ended && walker->next.op != DPROF_LOST)
		walker->stamp = walker->next.stamp;
	return !walker->ended || walker->passed.n > 0;
}

/* ---- Side by side ---------------------------------------------------------------------------- */

static bool is_over(const struct clock_walk *s)
{
	return merge_first(&s->threads).key == MERGE_OVER;
}

static uint64_t share(const struct clock_walk *s)
{
	uint64_t run = s->last > s->first ? s->last - s->first : 1;
	uint64_t behind = merge_first(&s->threads).key - s->first;
	return behind < run ? (uint64_t)((double)behind / (double)run * 0x1p62) : UINT64_C(1) << 62;
}

static void begin(struct match_walk *w, struct clock_walk *s, uint32_t i)
{
	uint32_t thread = s->thread[i];
	const struct tr_thread *self = &w->trace->threads[thread];
	w->walkers[thread] = (struct match_walker){ .events = trace_events(w->trace, thread), .inside = TR_NO_SITE };
	if (!fetch(w, thread))
		return;
	merge_set(&s->threads, i, merge_key(w->walkers[thread].stamp));
	uint64_t first, last;
	if (trace_ends(self, &first, &last) && last > s->last)
		s->last = last;
}

static void open_clock(struct match_walk *w, uint32_t clock)
{
	struct clock_walk *s = &w->clock_walks[clock];
	merge_open(&s->threads, s->nthreads);
	for (uint32_t i = 0; i < s->nthreads; i++)
		begin(w, s, i);
	if (is_over(s))
		return;
	s->first = merge_first(&s->threads).key;
	heap_add(&w->clocks, share(s), clock);
}

static void open_clocks(struct match_walk *w)
{
	const struct trace *t = w->trace;
	w->walkers = mem_resize(NULL, t->nthreads, sizeof *w->walkers);
	w->clock_walks = mem_resize(NULL, t->nclocks, sizeof *w->clock_walks);
	w->clocks.items = mem_resize(NULL, t->nclocks, sizeof *w->clocks.items);
	for (size_t c = 0; c < t->nclocks; c++)
		w->clock_walks[c] = (struct clock_walk){ .thread = NULL };
	for (uint32_t i = 0; i < t->nthreads; i++) {
		struct clock_walk *s = &w->clock_walks[t->threads[i].clock];
		*MEM_GROW(s->thread, s->nthreads) = i;
	}
	for (uint32_t c = 0; c < t->nclocks; c++)
		open_clock(w, c);
}

static void add_if_local(struct match_walk *w, const struct tr_group *g)
{
	const struct tr_thread *threads = w->trace->threads;
	for (size_t i = 1; i < g->nthreads; i++)
		if (threads[g->threads[i]].clock != threads[g->threads[0]].clock)
			return;
	ids_add(&w->local, g->id);
}

static void set_passes(struct match_walk *w)
{
	size_t n = trace_kinds(w->trace);
	w->passes = mem_resize(NULL, n + 1, sizeof *w->passes);
	for (size_t i = 0; i < n; i++) {
		uint32_t site = w->trace->whats[i].site;
		w->passes[i] = site != TR_NO_SITE && !w->concerned[site];
	}
}

/* `between`: clocks; `whole_calls`: those that can be are taken at once. */
static struct match_walk *open_walk(const struct trace *t, uint64_t slack, struct match_log *log, bool between,
				    bool whole_calls)
{
	struct match_walk *w = mem_resize(NULL, 1, sizeof *w);
	*w = (struct match_walk){ .trace = t, .log = log, .whole_calls = whole_calls };
	if (log)
		match_log_begin(log);
	if (match_log_is_full(log))
		return w;
	for (size_t g = 0; g < t->ngroups && between; g++)
		add_if_local(w, &t->groups[g]);
	w->matcher = match_open(t, slack);
	w->concerned = match_concerned(w->matcher);
	set_passes(w);
	open_clocks(w);
	return w;
}

uint64_t match_slack(const struct trace *t)
{
	uint64_t most = 0;
	for (size_t c = 0; c < t->nclocks; c++)
		most = t->clocks[c].uncertainty > most ? t->clocks[c].uncertainty : most;
	return 2 * most;
}

struct match_walk *match_walk_open(const struct trace *t, uint64_t slack, struct match_log *log)
{
	return open_walk(t, slack, log, false, true);
}

struct match_walk *match_walk_again(const struct trace *t, struct match_log *log)
{
	return match_walk_open(t, match_slack(t), match_log_is_full(log) ? log : NULL);
}

struct match_walk *match_walk_open_between(const struct trace *t, uint64_t slack)
{
	return open_walk(t, slack, NULL, true, true);
}

struct match_walk *match_walk_open_by_events(const struct trace *t, uint64_t slack)
{
	return open_walk(t, slack, NULL, false, false);
}

/* ---- All of them ----------------------------------------------------------------------------- */

static void take_one(struct match_walk *w, uint32_t thread)
{
	struct match_walker *walker = &w->walkers[thread];
	struct tr_event e;
	trace_event_of(w->trace, &walker->at, walker->i++, &e);
	match_take(w->matcher, thread, &e);
}

/* Of what is not in columns. */
static bool skips_next(const struct match_walk *w, struct match_walker *walker)
{
	const struct tr_event *e = &walker->next;
	if (e->op != DPROF_LOST && e->site != TR_NO_SITE)
		return w->local.n && is_skipped(w, walker, e->op, e->site, trace_arg(e, DPROF_KEY_GROUP, UINT64_MAX));
	walker->inside = TR_NO_SITE;
	return false;
}

static void take(struct match_walk *w, uint32_t thread)
{
	struct match_walker *walker = &w->walkers[thread];
	if (walker->i == walker->at.n && skips_next(w, walker))
		match_skip(w->matcher, thread, &walker->next);
	else if (walker->i == walker->at.n)
		match_take(w->matcher, thread, &walker->next);
	else if (w->whole_calls && match_take_call(w->matcher, thread, &walker->at, walker->i))
		walker->i += 2;
	else
		take_one(w, thread);
}

static void step(struct match_walk *w, struct clock_walk *s)
{
	uint32_t i = merge_first(&s->threads).source, thread = s->thread[i];
	struct match_walker *walker = &w->walkers[thread];
	match_pass(w->matcher, thread, walker->passed);
	if (!walker->ended)
		take(w, thread);
	bool goes_on = !walker->ended && fetch(w, thread);
	merge_set(&s->threads, i, goes_on ? merge_key(walker->stamp) : MERGE_OVER);
}

/* Some events of the clock that is behind the others. */
static void advance(struct match_walk *w)
{
	struct clock_walk *s = &w->clock_walks[w->clocks.items[0].source];
	for (int i = 0; i < EVENTS_AT_ONCE && !is_over(s); i++)
		step(w, s);
	if (!is_over(s))
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
	for (size_t c = 0; c < w->trace->nclocks; c++) {
		merge_close(&w->clock_walks[c].threads);
		free(w->clock_walks[c].thread);
	}
	for (size_t i = 0; i < w->trace->nthreads; i++)
		trace_end(&w->walkers[i].events);
	match_close(w->matcher);
	ids_free(&w->local);
	free(w->passes);
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
