/* SPDX-License-Identifier: MIT
 *
 * graph_walk.c - along one thread: what does each operation complete, and who explains it?
 *
 * Only the outermost operation counts: what happens inside of another is a part of it, and so is
 * every message that is completed inside. Regions are passed over. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/graph/graph_private.h"

/* Something begun with an id, whose completion comes later. */
struct begun { uint64_t id; uint32_t message; bool as_sender; };

/* A task that runs: of the builder's runs, and the site of its region. */
struct running { size_t run; uint32_t site; };

struct walk {
	struct builder *b;
	uint32_t thread, process;
	const struct marks *marks;
	size_t mark;              /* the next one */
	uint32_t *stack; size_t depth, room;
	struct begun *begun; size_t nbegun;

	/* of the outermost operation */
	struct tr_event entered;
	struct spot enter;
	bool explained, completed, doubtful;
	uint32_t sent;            /* the message that it sends */
	size_t attached;          /* the first one */
	bool bad;                 /* records were lost: what has no match has been said */

	struct running *running; size_t nrunning; /* the innermost last */
	struct meeting_of { uint64_t group, seq; } *left; size_t nleft; /* for tasks, likewise */
	bool resumed;             /* the outermost operation was one of those */

	/* The last wait for a condition variable. */
	size_t woken;             /* its touch, and 1; or 0 */
};

static enum dprof_kind kind_of(const struct walk *w, uint32_t site)
{
	return site == TR_NO_SITE ? DPROF_KIND_REGION : w->b->graph->trace->sites[site].kind;
}

/* A sleep may be until a moment. */
static bool is_operation(enum dprof_kind kind)
{
	return tr_is_operation(kind) || kind == DPROF_KIND_SLEEP;
}

/* ---- Ids ------------------------------------------------------------------------------------- */

static void begin_id(struct walk *w, uint64_t id, uint32_t message, bool as_sender)
{
	*MEM_GROW(w->begun, w->nbegun) = (struct begun){ id, message, as_sender };
}

/* What was begun with the id, which may now be used again; the latest one counts. */
static bool end_id(struct walk *w, uint64_t id, struct begun *out)
{
	for (size_t i = w->nbegun; i-- > 0;) {
		if (w->begun[i].id != id)
			continue;
		*out = w->begun[i];
		w->begun[i] = w->begun[--w->nbegun];
		return true;
	}
	return false;
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

static uint64_t task_in(const struct tr_event *e)
{
	return trace_arg(e, DPROF_KEY_TASK, UINT64_MAX);
}

static void make_task(struct walk *w, const struct tr_event *e, struct spot spot)
{
	struct builder *b = w->b;
	*MEM_GROW(b->made, b->nmade) = (struct made){
		.process = w->process, .task = task_in(e), .order = ++b->order, .spot = spot,
		.parent = trace_arg(e, DPROF_KEY_ID, 0), .group = trace_arg(e, DPROF_KEY_TAG, 0),
		.empty = trace_arg(e, DPROF_KEY_ROLE, 1) == 0 };
}

/* Of the task that was made last, by the same thread. */
static void depend(struct walk *w, const struct tr_event *e)
{
	struct builder *b = w->b;
	const struct made *last = b->nmade ? &b->made[b->nmade - 1] : NULL;
	if (last && last->spot.thread == w->thread)
		*MEM_GROW(b->depends, b->ndepends) = (struct depends){
			w->process, last->parent, trace_arg(e, DPROF_KEY_ID, 0), last->order,
			last->task, (unsigned)trace_arg(e, DPROF_KEY_ROLE, 1) };
}

static void task_point(struct walk *w, const struct tr_event *e, struct spot spot)
{
	enum dprof_kind kind = w->b->graph->trace->sites[e->site].kind;
	uint64_t id = trace_arg(e, DPROF_KEY_ID, UINT64_MAX);
	if (kind == DPROF_KIND_FORK && task_in(e) != UINT64_MAX)
		make_task(w, e, spot);
	else if (kind == DPROF_KIND_FORK && id != UINT64_MAX)
		depend(w, e);
	else if (kind == DPROF_KIND_JOIN && id != UINT64_MAX)
		*MEM_GROW(w->b->fulfilled, w->b->nfulfilled) =
			(struct fulfilled){ w->process, id, spot };
}

/* Regions do not count here, but for the runs of tasks. */
static void region(struct walk *w, const struct tr_event *e, struct spot spot)
{
	struct builder *b = w->b;
	if (e->op == DPROF_ENTER && e->site != TR_NO_SITE)
		b->graph->entered[e->site] = true;
	if (e->op == DPROF_ENTER && task_in(e) != UINT64_MAX) {
		uint64_t event = trace_arg(e, DPROF_KEY_TAG, UINT64_MAX);
		*MEM_GROW(w->running, w->nrunning) = (struct running){ b->nruns, e->site };
		*MEM_GROW(b->runs, b->nruns) = (struct run){
			.process = w->process, .task = task_in(e), .event = event,
			.detached = event != UINT64_MAX };
	} else if (e->op == DPROF_EXIT && w->nrunning &&
		   w->running[w->nrunning - 1].site == e->site) {
		struct run *run = &b->runs[w->running[--w->nrunning].run];
		run->ended = true;
		run->end = spot;
	}
}

static struct meeting_of meeting_of(const struct tr_event *e)
{
	return (struct meeting_of){ trace_arg(e, DPROF_KEY_GROUP, UINT64_MAX),
				    trace_arg(e, DPROF_KEY_SEQ, UINT64_MAX) };
}

static void wait_for_tasks(struct walk *w, struct spot exit, uint64_t number, bool all)
{
	struct builder *b = w->b;
	*MEM_GROW(b->task_waits, b->ntask_waits) = (struct task_wait){
		w->process, w->entered.site, number, ++b->order, all, w->enter, exit };
}

/* ---- Completions ----------------------------------------------------------------------------- */

static void attach(struct walk *w, uint32_t message, bool as_sender)
{
	*MEM_GROW(w->b->attached, w->b->nattached) = (struct attached){ message, as_sender };
}

/* The marks of the event: does one complete a message here? */
static bool take_marks(struct walk *w, uint64_t at)
{
	bool completes = false;
	for (; w->mark < w->marks->n && w->marks->v[w->mark].at <= at; w->mark++) {
		const struct mark *m = &w->marks->v[w->mark];
		switch (m->what) {
		case MARK_EXPLAINED:
			w->explained |= w->depth <= 1;
			break;
		case MARK_SENDS:
			w->sent = m->message;
			break;
		case MARK_COMPLETES:
			attach(w, m->message, false);
			completes = true;
			break;
		}
	}
	return completes;
}

static void complete_id(struct walk *w, uint64_t id, bool has_match)
{
	struct begun what;
	if (!end_id(w, id, &what))
		return;
	if (what.as_sender && what.message != NO_MESSAGE)
		attach(w, what.message, true);
	else if (!what.as_sender && !has_match)
		w->doubtful = true;
	w->completed = true;
}

static bool names_nobody(const struct tr_event *e)
{
	return trace_arg(e, DPROF_KEY_PEER, 0) == DPROF_NOBODY;
}

static void point(struct walk *w, const struct tr_event *e, struct spot spot, bool has_match)
{
	uint64_t id = trace_arg(e, DPROF_KEY_ID, UINT64_MAX);
	enum dprof_kind kind = kind_of(w, e->site);
	task_point(w, e, spot);
	has_match |= names_nobody(e);
	if ((kind == DPROF_KIND_SEND || kind == DPROF_KIND_RECV || kind == DPROF_KIND_COLL) &&
	    id != UINT64_MAX)
		complete_id(w, id, has_match);
	else if (kind == DPROF_KIND_RECV && !has_match)
		w->doubtful = true;
	w->completed |= kind == DPROF_KIND_RECV;
	if (kind == DPROF_KIND_WAIT || kind == DPROF_KIND_LOCK)
		*MEM_GROW(w->b->touches, w->b->ntouches) = (struct touch){
			.process = w->process, .id = id, .spot = spot, .enter = spot,
			.kind = kind == DPROF_KIND_LOCK ? TOUCH_RELEASED : TOUCH_SIGNALLED,
			.site = e->site };
}

/* ---- Operations ------------------------------------------------------------------------------ */

static void touch(struct walk *w, struct spot exit, enum touch_kind kind)
{
	*MEM_GROW(w->b->touches, w->b->ntouches) = (struct touch){
		.process = w->process, .kind = kind, .spot = exit, .enter = w->enter,
		.id = trace_arg(&w->entered, DPROF_KEY_ID, UINT64_MAX),
		.site = w->entered.site,
		.shared = trace_arg(&w->entered, DPROF_KEY_ROLE, 1) == 0 };
}

/* Whoever waited for a condition variable takes its mutex again before the wait is over: so the wait
 * for a signal and the one for the mutex are one. */
static void relock(struct walk *w)
{
	struct touch *woken = w->woken ? &w->b->touches[w->woken - 1] : NULL;
	struct touch *taken = &w->b->touches[w->b->ntouches - 1];
	w->woken = 0;
	if (!woken || woken->spot.at + 1 != taken->enter.at)
		return;
	woken->relocks = taken->relocks = true;
	taken->waiting = woken->enter;
	taken->condition = woken->id;
}

static void end_exchange(struct walk *w, struct spot exit)
{
	size_t n = w->b->nattached - w->attached;
	*MEM_GROW(w->b->exchanges, w->b->nexchanges) =
		(struct exchange){ w->enter, exit,
				   kind_of(w, w->entered.site) == DPROF_KIND_WAIT ? GRAPH_WAITED_FOR
										   : GRAPH_RECEIVED,
				   w->attached, n };
}

static void unexplained(struct walk *w, struct spot exit, struct fault *fault)
{
	if (!w->bad)
		graph_fault(fault, exit, w->entered.site);
	w->b->nattached = w->attached;
	graph_unknown(w->b, w->enter, exit);
}

static bool has_id(const struct tr_event *e)
{
	return trace_arg(e, DPROF_KEY_ID, UINT64_MAX) != UINT64_MAX;
}

/* A barrier that is entered again, and was over when it was left for a task, does not wait (match.h).
 * One without a group is one of all threads of its process; of MPI, one of all ranks. */
static void barrier(struct walk *w, struct spot exit)
{
	const char *name = w->b->graph->trace->sites[w->entered.site].name;
	bool of_mpi = strncmp(name, "MPI_", 4) == 0;
	if (w->explained || w->resumed)
		return;
	if (trace_arg(&w->entered, DPROF_KEY_GROUP, UINT64_MAX) == UINT64_MAX)
		*MEM_GROW(w->b->bare, w->b->nbare) = (struct bare){
			of_mpi ? ALL_RANKS : w->process, w->enter, exit, w->entered.site };
	else
		unexplained(w, exit, &w->b->missing);
}

static void send(struct walk *w, struct spot exit)
{
	if (w->sent == NO_MESSAGE || has_id(&w->entered))
		return;
	w->b->messages[w->sent].sent_until = exit.stamp;
	attach(w, w->sent, true);
	end_exchange(w, exit);
}

/* The thread of this process with a number; or of none. */
static uint32_t find_thread(const struct walk *w, uint64_t number)
{
	const struct trace *t = w->b->graph->trace;
	uint32_t i = 0;
	while (i < t->nthreads &&
	       (t->threads[i].process != w->process || t->threads[i].number != number))
		i++;
	return i;
}

static void join(struct walk *w, struct spot exit)
{
	uint64_t id = trace_arg(&w->entered, DPROF_KEY_ID, UINT64_MAX);
	if (trace_arg(&w->entered, DPROF_KEY_ROLE, 1) == 0)
		return; /* a team, once more: only its opener waits */
	if (task_in(&w->entered) != UINT64_MAX) {
		wait_for_tasks(w, exit, task_in(&w->entered), false);
		return;
	}
	if (id != UINT64_MAX) {
		wait_for_tasks(w, exit, id, true);
		return;
	}
	uint32_t thread = find_thread(w, trace_arg(&w->entered, DPROF_KEY_THREAD, UINT64_MAX));
	if (thread < w->b->graph->trace->nthreads)
		*MEM_GROW(w->b->joins, w->b->njoins) =
			(struct joins){ w->enter, exit, thread, w->entered.site };
	else
		unexplained(w, exit, &w->b->alone);
}

/* A wait, or a lock, that does not say for whom: a probe, what several processes share, ... */
static bool names_somebody(enum dprof_kind kind, const struct tr_event *e)
{
	return (kind == DPROF_KIND_WAIT || kind == DPROF_KIND_LOCK) &&
	       trace_arg(e, DPROF_KEY_PEER, 0) == DPROF_SOMEBODY;
}

static void outermost(struct walk *w, struct spot exit)
{
	enum dprof_kind kind = kind_of(w, w->entered.site);
	bool received = w->b->nattached > w->attached;
	if (kind == DPROF_KIND_RECV && !has_id(&w->entered) && !received && !w->completed &&
	    !names_nobody(&w->entered))
		w->doubtful = true;
	if (kind == DPROF_KIND_SLEEP) {
		if (trace_has(&w->entered, DPROF_KEY_UNTIL))
			graph_unknown(w->b, w->enter, exit);
	} else if (w->doubtful)
		unexplained(w, exit, &w->b->unsent);
	else if (names_somebody(kind, &w->entered))
		unexplained(w, exit, &w->b->alone);
	else if (received)
		end_exchange(w, exit);
	else if (kind == DPROF_KIND_BARRIER)
		barrier(w, exit);
	else if (kind == DPROF_KIND_JOIN && !w->explained)
		join(w, exit);
	else if (kind == DPROF_KIND_COLL && !w->explained)
		unexplained(w, exit, &w->b->missing);
	else if (kind == DPROF_KIND_SEND)
		send(w, exit);
	else if (kind == DPROF_KIND_LOCK) {
		touch(w, exit, TOUCH_TAKEN);
		relock(w);
	} else if (kind == DPROF_KIND_WAIT && !w->completed && has_id(&w->entered)) {
		touch(w, exit, TOUCH_WOKEN);
		w->woken = w->b->ntouches;
	}
}

static void fork_thread(struct walk *w, const struct tr_event *e, struct spot spot)
{
	uint32_t thread = find_thread(w, trace_arg(e, DPROF_KEY_THREAD, UINT64_MAX));
	if (thread < w->b->graph->trace->nthreads && thread != w->thread)
		w->b->fork[thread] = spot;
}

static bool resumes(struct walk *w, const struct tr_event *e)
{
	struct meeting_of m = meeting_of(e);
	for (size_t i = w->nleft; i-- > 0;) {
		if (w->left[i].group != m.group || w->left[i].seq != m.seq)
			continue;
		w->nleft = i;
		return true;
	}
	return false;
}

static void enter(struct walk *w, const struct tr_event *e, struct spot spot)
{
	if (w->depth == w->room)
		w->stack = mem_resize(w->stack, w->room = w->room ? 2 * w->room : 8,
				      sizeof *w->stack);
	w->stack[w->depth++] = e->site;
	if (w->depth == 1) {
		w->entered = *e;
		w->enter = spot;
		w->explained = w->completed = w->doubtful = false;
		w->resumed = resumes(w, e);
		w->sent = NO_MESSAGE;
		w->attached = w->b->nattached;
	} else if (kind_of(w, e->site) == DPROF_KIND_SEND) {
		w->sent = NO_MESSAGE; /* not the one begun before it in here */
	}
	take_marks(w, spot.at);
	if (kind_of(w, e->site) == DPROF_KIND_FORK)
		fork_thread(w, e, spot);
	uint64_t id = trace_arg(e, DPROF_KEY_ID, UINT64_MAX);
	enum dprof_kind kind = kind_of(w, e->site);
	if (id != UINT64_MAX &&
	    (kind == DPROF_KIND_SEND || kind == DPROF_KIND_RECV || kind == DPROF_KIND_COLL))
		begin_id(w, id, kind == DPROF_KIND_SEND ? w->sent : NO_MESSAGE,
			 kind != DPROF_KIND_RECV);
}

/* The exit of the site's innermost open operation; what is open inside of it was left by a jump. */
static void leave(struct walk *w, const struct tr_event *e, struct spot spot)
{
	size_t d = w->depth;
	while (d > 0 && w->stack[d - 1] != e->site)
		d--;
	if (d == 0)
		return;
	bool has_match = take_marks(w, spot.at);
	uint64_t id = trace_arg(&w->entered, DPROF_KEY_ID, UINT64_MAX);
	w->depth = d - 1;
	if (w->depth > 0)
		return;
	if (task_in(e) != UINT64_MAX) {
		if (meeting_of(&w->entered).group != UINT64_MAX)
			*MEM_GROW(w->left, w->nleft) = meeting_of(&w->entered);
		wait_for_tasks(w, spot, task_in(e), false);
		return;
	}
	if (kind_of(w, e->site) == DPROF_KIND_WAIT && id != UINT64_MAX)
		complete_id(w, id, has_match || w->completed);
	outermost(w, spot);
}

static void take(struct walk *w, const struct tr_event *e, uint64_t at)
{
	struct spot spot = { w->thread, at, e->stamp };
	if (!is_operation(kind_of(w, e->site))) {
		region(w, e, spot);
		return;
	}
	if (e->op == DPROF_ENTER)
		enter(w, e, spot);
	else if (e->op == DPROF_EXIT)
		leave(w, e, spot);
	else if (e->op == DPROF_POINT)
		point(w, e, spot, take_marks(w, at));
}

static int by_event(const void *x, const void *y)
{
	const struct mark *a = x, *b = y;
	return (a->at > b->at) - (a->at < b->at);
}

void graph_walk(struct builder *b, uint32_t thread)
{
	const struct trace *trace = b->graph->trace;
	const struct tr_thread *self = &trace->threads[thread];
	struct graph_thread *sums = &b->graph->threads[thread];
	struct walk w = { .b = b, .thread = thread, .process = self->process,
			  .marks = &b->marks[thread], .bad = self->lost > 0 };
	struct tr_cursor events = trace_events(trace, thread);
	struct tr_event e;
	if (w.marks->n)
		qsort(w.marks->v, w.marks->n, sizeof *w.marks->v, by_event);
	for (uint64_t at = 0; trace_next(&events, &e); at++) {
		sums->nevents = at + 1;
		if (e.op == DPROF_LOST) {
			w.nrunning = 0;
			continue;
		}
		sums->last = e.stamp > sums->last ? e.stamp : sums->last;
		take(&w, &e, at);
	}
	free(w.stack);
	free(w.begun);
	free(w.running);
	free(w.left);
}

/* ---- Begins of threads ----------------------------------------------------------------------- */

static void begin_after(struct builder *b, uint32_t thread, struct spot cause)
{
	struct saw saw = { .spot = cause, .sure = true };
	struct spot begin = { thread, 0, b->graph->threads[thread].first };
	graph_wait(b, begin, graph_junction(b, GRAPH_MEET, &saw, 1));
}

/* The threads of the process from `first` on that nobody is known to have created, and that begin
 * between an event of the first thread and its next one. */
static void begin_others(struct builder *b, uint32_t first, struct spot event, uint64_t next)
{
	const struct graph *g = b->graph;
	const struct tr_thread *threads = g->trace->threads;
	for (uint32_t t = first + 1;
	     t < g->trace->nthreads && threads[t].process == threads[first].process; t++)
		if (b->fork[t].at == NO_FORK && g->threads[t].nevents > 0 &&
		    g->threads[t].first > event.stamp && g->threads[t].first <= next)
			begin_after(b, t, event);
}

static void begin_unknown(struct builder *b, uint32_t first)
{
	struct tr_cursor events = trace_events(b->graph->trace, first);
	struct tr_event e;
	struct spot before = { first, NO_FORK, 0 };
	for (uint64_t at = 0; trace_next(&events, &e); at++) {
		if (e.op == DPROF_LOST)
			continue;
		if (before.at != NO_FORK)
			begin_others(b, first, before, e.stamp);
		before = (struct spot){ first, at, e.stamp };
	}
	if (before.at != NO_FORK)
		begin_others(b, first, before, UINT64_MAX);
}

void graph_begins(struct builder *b)
{
	const struct graph *g = b->graph;
	const struct tr_thread *threads = g->trace->threads;
	for (uint32_t first = 0, next; first < g->trace->nthreads; first = next) {
		bool unknown = false;
		for (next = first; next < g->trace->nthreads &&
				   threads[next].process == threads[first].process; next++) {
			uint64_t slack = 2 * g->trace->clocks[threads[next].clock].half_width;
			bool late = b->fork[next].at != NO_FORK &&
				    b->fork[next].stamp > g->threads[next].first + slack;
			if (late || g->threads[next].nevents == 0)
				b->fork[next].at = NO_FORK;
			if (b->fork[next].at != NO_FORK)
				begin_after(b, next, b->fork[next]);
			else
				unknown |= next > first;
		}
		if (unknown)
			begin_unknown(b, first);
	}
}
