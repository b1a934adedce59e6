/* SPDX-License-Identifier: MIT
 *
 * graph_presumed.c - what has most likely ended a wait of which no record says what did: signals, FIFOs, datagrams, locks of
 * files, routines that are run once, a thread that is cancelled, ...
 *
 * Whoever ended it did so just before it was over, and hardly anything else then: so it is the thread on the same clock whose last
 * stretch of own time ended just before. Threads that have nothing to do with it would have ended one by chance as near to
 * that as to any other moment:
 *
 *     thread 1   ...wait--------------------------)[end
 *     thread 0   --exit [-------- stretch -------)<-->       a part of the stretch that is the less likely the smaller it is
 *
 * That part must be small, and that of any other thread much larger; and the wait was much longer than what passed behind the
 * stretch. Ends of waits end no stretch: whatever ended them is the cause. Nothing of this is proved.
 *
 * Who yields until something is there looks once more behind the last yield that is recorded. So the wait is over somewhere up to
 * the thread's next event, which most likely comes as soon behind the cause in another run. */
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/runs.h"
#include "analysis/graph/graph_locks.h"
#include "analysis/graph/graph_presumed.h"

#define SMALL_PART   16                /* of a stretch, and of the wait */
#define MUCH_SMALLER 8                 /* than that of another thread */
#define PART_AGAIN   4                 /* where the same thread has ended others of the thread's rows of sleeps, or yields */
#define MOST_STEPS   (UINT64_C(1) << 26) /* threads times waits, of a clock: with more nothing is presumed */
#define MOST_ENDS    8

/* The likeliest cause so far, and how likely the next one of another thread is: parts of their stretches. And the likeliest of a
 * row of sleeps that is less so, which may be one if its thread has ended others. */
struct presumed { struct event_ref cause, again; double part, next, part_again; };

/* What has ended it came before that. */
static uint64_t end_of(const struct unknown_wait *w)
{
	bool soon = w->next.stamp && w->next.stamp - w->exit.stamp <= (w->exit.stamp - w->begin.enter.stamp) / SMALL_PART;
	return soon ? w->next.stamp : w->exit.stamp;
}

static int by_end(const void *x, const void *y)
{
	const struct unknown_wait *a = x, *b = y;
	return a->clock != b->clock ? ORDER(a->clock, b->clock)
	       : end_of(a) != end_of(b) ? ORDER(end_of(a), end_of(b)) : ORDER(a->exit.thread, b->exit.thread);
}

/* Its thread may wait like that again and again for the same one: sleeps or yields, and looks. */
static bool is_of_row(const struct unknown_wait *w)
{
	return w->otherwise == OTHERWISE_OWN || w->next.stamp;
}

/* Ends of a thread's stretches, each longer than all behind it. */
struct stretch_end { struct event_ref end; uint64_t length; };
struct stretch_ends { struct stretch_end v[MOST_ENDS]; size_t n; };

static void add_end(struct stretch_ends *s, struct event_ref end, uint64_t length)
{
	while (s->n > 0 && s->v[s->n - 1].length <= length)
		s->n--;
	s->n -= s->n == MOST_ENDS;
	s->v[s->n++] = (struct stretch_end){ end, length };
}

/* One thread's ends are what a wait may have waited for that is over at that moment: most likely the one since which the least part
 * of a stretch has passed, less than one in so many. */
static const struct stretch_end *likeliest(const struct stretch_ends *s, const struct unknown_wait *w, unsigned one_in,
					   double *least)
{
	const struct stretch_end *best = NULL;
	*least = 1.0 / one_in;
	for (size_t i = 0; i < s->n; i++) {
		const struct stretch_end *e = &s->v[i];
		uint64_t behind = (e->end.stamp > w->exit.stamp ? end_of(w) : w->exit.stamp) - e->end.stamp;
		double part = e->length ? (double)behind / (double)e->length : 1;
		bool soon = w->looked ? e->end.stamp >= w->looked
				      : behind <= (w->exit.stamp - w->begin.enter.stamp) / one_in;
		if (soon && e->end.stamp > w->begin.enter.stamp && part < *least) {
			best = e;
			*least = part;
		}
	}
	return best;
}

static void look(const struct stretch_ends *s, const struct unknown_wait *w, struct presumed *p)
{
	double part;
	unsigned again = w->looked || w->next.stamp ? PART_AGAIN : SMALL_PART;
	const struct stretch_end *best = is_of_row(w) ? likeliest(s, w, again, &part) : NULL;
	if (best && part < p->part_again) {
		p->part_again = part;
		p->again = best->end;
	}
	best = likeliest(s, w, SMALL_PART, &part);
	if (!best)
		return;
	p->next = part < p->part ? p->part : part < p->next ? part : p->next;
	if (part < p->part) {
		p->part = part;
		p->cause = best->end;
	}
}

/* The next of a thread's own rows of sleeps from w[i] on that is not over at a stamp; or n. They are in order. */
static size_t next_row(const struct unknown_wait *w, size_t n, size_t i, uint32_t thread, uint64_t stamp)
{
	while (i < n && (w[i].exit.thread != thread || w[i].otherwise != OTHERWISE_OWN || w[i].exit.stamp < stamp))
		i++;
	return i;
}

/* A thread from event to event: a stretch is what lies between two of them outside of waits, and of rows of sleeps, which may be
 * some. */
static void look_along(const struct builder *b, uint32_t thread, const struct unknown_wait *w, size_t n, struct presumed *p)
{
	const struct trace *trace = b->graph->trace;
	struct tr_cursor events = trace_events(trace, thread);
	struct stretch_ends ends = { .n = 0 };
	struct replay replay;
	struct tr_event e;
	uint64_t before = b->graph->threads[thread].first;
	size_t next = 0, row = 0;
	replay_open(&replay, trace->nsites);
	for (uint64_t at = 0; next < n && trace_next_bare(&events, &e); at++) {
		if (e.op == DPROF_LOST)
			continue;
		row = next_row(w, n, row, thread, e.stamp);
		bool sleeps = row < n && e.stamp > w[row].begin.enter.stamp;
		for (; next < n && end_of(&w[next]) < e.stamp; next++)
			if (w[next].exit.thread != thread)
				look(&ends, &w[next], &p[next]);
		bool others = tr_is(trace, e.site, OP_OTHERS);
		if (replay.depth == 0 && !sleeps && e.stamp > before)
			add_end(&ends, (struct event_ref){ thread, at, e.stamp }, e.stamp - before);
		if (others && e.op == DPROF_ENTER)
			replay_enter(&replay, tr_entry(trace, &e));
		else if (others && e.op == DPROF_EXIT)
			replay_exit(&replay, e.site);
		before = e.stamp > before ? e.stamp : before;
	}
	for (; next < n; next++)
		if (w[next].exit.thread != thread)
			look(&ends, &w[next], &p[next]);
	trace_end(&events);
	replay_close(&replay);
}

/* Of one clock. */
static void presume(const struct builder *b, const struct unknown_wait *w, size_t n, struct presumed *p)
{
	const struct trace *trace = b->graph->trace;
	uint64_t nthreads = 0;
	for (uint32_t t = 0; t < trace->nthreads; t++)
		nthreads += trace->threads[t].clock == w->clock;
	if (nthreads * n > MOST_STEPS)
		return;
	for (uint32_t t = 0; t < trace->nthreads; t++)
		if (trace->threads[t].clock == w->clock && b->graph->threads[t].nevents > 0)
			look_along(b, t, w, n, p);
}

/* Who was there for so short a time, compared with what it did since its last operation, has hardly waited for anybody who came
 * just then. */
static bool is_own_cost(const struct unknown_wait *w)
{
	uint64_t since = w->begin.certain.stamp, begin = w->begin.enter.stamp;
	return since > 0 && since < begin && w->exit.stamp - begin <= (begin - since) / SMALL_PART;
}

#define HARDLY 100 /* such a part of what its thread did */

/* All waits of a thread that take no longer than this one would take hardly any time: so it has most likely not waited, and does
 * not. */
static bool hardly_waited(const struct builder *b, const struct unknown_wait *w, uint64_t nwaits)
{
	const struct graph_thread *t = &b->graph->threads[w->exit.thread];
	return w->exit.stamp - w->begin.enter.stamp <= (t->last - t->first) / HARDLY / nwaits;
}

/* What is to be complete at another rank may go on only when that one calls MPI. */
static void wait_for_target(struct builder *b, const struct unknown_wait *w)
{
	struct node_input inputs[BEGIN_INPUTS + 1];
	size_t n = graph_begin_inputs(&w->begin, inputs);
	for (size_t i = 0; i < n; i++) /* it may have looked before in vain, or not at all in another run */
		inputs[i].needed = false;
	n += graph_add_target(b, w->target, w->begin.enter, w->exit, inputs + n);
	struct graph_node *node = graph_arrival(b, w->exit, GRAPH_WAITED_FOR, inputs, n);
	node->hidden = node->delayed = true;
}

/* Who looked with a lock, and goes on behind the first look at which others had given that back since the one before, has seen
 * what one of them did there; the last ones, if they are many. They are sorted. */
static size_t find_releases(const struct sync_records *r, const struct unknown_wait *w, struct event_ref *seen)
{
	size_t n = 0;
	size_t i = w->lock.stamp ? graph_sync_events(r, w->lock.process, w->lock.id, true, w->lock.stamp) : r->n;
	for (; i < r->n; i++) {
		const struct sync_event *e = &r->v[i];
		if (e->process != w->lock.process || e->id != w->lock.id || e->ref.stamp > w->exit.stamp)
			break;
		if (e->kind != SYNC_RELEASED || e->in_wait || e->ref.thread == w->exit.thread)
			continue;
		seen[n++ % GRAPH_MOST_SEEN] = e->ref;
	}
	return n;
}

static bool is_presumed(const struct presumed *p)
{
	return p->part * MUCH_SMALLER <= p->next;
}

#define NO_THREAD UINT32_MAX

/* Who has ended rows of sleeps of each thread, if that is one. */
static uint32_t *find_enders(const struct builder *b, const struct presumed *p)
{
	size_t n = b->graph->trace->nthreads;
	uint32_t *enders = mem_resize(NULL, n + 1, sizeof *enders);
	bool *several = mem_resize(NULL, n + 1, sizeof *several);
	for (size_t t = 0; t < n; t++) {
		enders[t] = NO_THREAD;
		several[t] = false;
	}
	for (size_t i = 0; i < b->nunknown; i++, spill_relax(b->spill)) {
		uint32_t *ender = &enders[b->unknown[i].exit.thread];
		if (!is_of_row(&b->unknown[i]) || !is_presumed(&p[i]))
			continue;
		several[b->unknown[i].exit.thread] |= *ender != NO_THREAD && *ender != p[i].cause.thread;
		*ender = p[i].cause.thread;
	}
	for (size_t t = 0; t < n; t++)
		enders[t] = several[t] ? NO_THREAD : enders[t];
	free(several);
	return enders;
}

/* Most likely the thread comes as soon behind that in another run: to its handler, behind whoever sent the signal; or to its next
 * event. */
static void come_behind(struct builder *b, const struct unknown_wait *w, struct event_ref comes, const struct event_ref *cause)
{
	struct node_input inputs[] = { { .ref = w->begin.enter, .sure = true }, { .ref = *cause, .candidate = true } };
	uint32_t number = graph_add_chance(b, GRAPH_UNKNOWN, inputs, 2);
	struct graph_node *node = &b->graph->nodes[number];
	node->what = GRAPH_PRESUMED;
	graph_end_by(b, comes, number);
}

/* What has most likely ended it, as far as moments tell; or NULL. */
static const struct event_ref *likely_cause(const struct unknown_wait *w, const struct presumed *p, uint32_t ender)
{
	bool others = is_presumed(p), again = is_of_row(w) && p->part_again < 1 && p->again.thread == ender;
	if (again && (!others || p->cause.thread != ender))
		return &p->again;
	return others ? &p->cause : NULL;
}

/* Of several it has seen that they may have; of one not even that, if `n` is 0. */
static void end_by(struct builder *b, const struct unknown_wait *w, const struct event_ref *causes, size_t n)
{
	if (w->looked && w->otherwise == OTHERWISE_OWN)
		b->graph->slept_for_others_s += graph_seconds(b, w->exit.thread, w->exit.stamp - w->begin.enter.stamp);
	if (n > 0 && n <= GRAPH_MOST_SEEN)
		graph_unknown_seen(b, w, causes, n);
	else
		graph_unknown_by(b, w, causes);
}

/* Behind it there may be a cause, or NULL. */
static void end_otherwise(struct builder *b, const struct unknown_wait *w, const struct event_ref *behind, uint64_t nwaits)
{
	if (behind)
		come_behind(b, w, w->next, behind);
	if (w->otherwise == OTHERWISE_TIMED_OUT)
		graph_timed_out(b, w->begin, w->exit, GRAPH_EXPIRED);
	else if (w->target != ARG_NONE && !w->looked)
		wait_for_target(b, w);
	else if (w->otherwise == OTHERWISE_OWN || is_own_cost(w) || hardly_waited(b, w, nwaits))
		graph_unknown_since(b, w->begin, w->exit, w->begin.enter, 0);
	else
		graph_unknown_by(b, w, NULL);
}

static void add(struct builder *b, const struct sync_records *sync, const struct unknown_wait *w, const struct presumed *p,
		uint64_t nwaits, uint32_t ender)
{
	struct event_ref seen[GRAPH_MOST_SEEN];
	size_t n = find_releases(sync, w, seen);
	const struct event_ref *cause = n			     ? &seen[(n - 1) % GRAPH_MOST_SEEN]
					: w->ended.at != NO_EVENT ? &w->ended
								  : likely_cause(w, p, ender);
	if (w->put.at != NO_EVENT) /* graph_loose.c */
		return;
	if (w->otherwise == OTHERWISE_ANSWERED)
		graph_unknown_since(b, w->begin, w->exit, w->begin.enter, GRAPH_ANSWERED);
	else if (w->otherwise == OTHERWISE_FETCHED)
		graph_fetch(b, w, cause);
	else if (w->otherwise == OTHERWISE_HANDLED && cause)
		come_behind(b, w, w->exit, cause);
	else if (w->otherwise != OTHERWISE_HANDLED && cause && cause->stamp <= w->exit.stamp)
		end_by(b, w, n <= GRAPH_MOST_SEEN && n > 0 ? seen : cause, n);
	else if (w->otherwise != OTHERWISE_HANDLED)
		end_otherwise(b, w, cause, nwaits);
}

void graph_presumed(struct builder *b, const struct sync_records *sync)
{
	struct presumed *p = spill_zeros(b->spill, b->nunknown, sizeof *p);
	uint64_t *nwaits = spill_zeros(b->spill, b->graph->trace->nthreads, sizeof *nwaits);
	for (size_t i = 0; i < b->nunknown; i++, spill_relax(b->spill)) {
		p[i].part = p[i].next = p[i].part_again = 1;
		nwaits[b->unknown[i].exit.thread] += b->unknown[i].otherwise != OTHERWISE_HANDLED;
	}
	runs_sort(b->spill, b->unknown, b->nunknown, sizeof *b->unknown, by_end);
	for (size_t i = 0, next; i < b->nunknown; i = next) {
		for (next = i + 1; next < b->nunknown && b->unknown[next].clock == b->unknown[i].clock;)
			next++;
		presume(b, &b->unknown[i], next - i, &p[i]);
	}
	uint32_t *enders = find_enders(b, p);
	for (size_t i = 0; i < b->nunknown; i++, spill_relax(b->spill))
		add(b, sync, &b->unknown[i], &p[i], nwaits[b->unknown[i].exit.thread], enders[b->unknown[i].exit.thread]);
	free(enders);
	spill_free(b->spill, p);
	spill_free(b->spill, nwaits);
}
