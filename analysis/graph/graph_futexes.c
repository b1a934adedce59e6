/* SPDX-License-Identifier: MIT
 *
 * graph_futexes.c - who waits until another thread has stored something: C++'s atomics, latches, barriers, semaphores
 * and futures, and whatever else is made of futexes.
 *
 * Only who blocked is recorded, and who woke somebody, perhaps. Neither who stored what was waited for (which need not be
 * who woke), nor who came later and found it stored: in another run that one may have to wait. So
 * nothing is proved of the threads of a process in which anybody waits so. Expected is that the last one who woke
 * somebody at the same address before the end of a wait did end it. Where that one and all whom he woke are all who ever
 * wait so, that was a barrier; and where nobody woke more than one, whoever comes first is woken first.
 *
 * Of C++'s atomics all who wait and all who notify are recorded, with the address of what is stored: who finds it stored has been
 * told by whoever notified last before that, and would wait for him if he came earlier. So it is of waits in memory (spin wait) and
 * of who stores there, of which some stores are left out where nobody waits (runtime/spins.c).
 *
 *   come, wait                              who waits at a barrier
 *   come, [what is to be done once], wake   whoever comes last, in this run (std::barrier's completion function)
 *
 * Of that there is no record. But if whoever woke has been in one marked region more, each time, than all whom he woke, then the
 * last of them is what he did when all had come: in another run that begins when the last of all does, whoever that is. So two
 * threads that meet like that are at a barrier, too, where always the same one came last. */
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/graph/graph_locks.h"

/* The last that woke somebody, and the last of another thread than that one. */
struct wakes { const struct sync_event *last, *other; };

static void add_wake(struct wakes *w, const struct sync_event *wake)
{
	if (w->last && w->last->ref.thread != wake->ref.thread)
		w->other = w->last;
	w->last = wake;
}

/* The last of another thread before the end of t[0]'s wait; or, as stamps of different cores show it, just behind. */
static const struct sync_event *find_wake(const struct wakes *before, const struct sync_event *t, size_t n, uint64_t slack)
{
	bool own = before->last && before->last->ref.thread == t->ref.thread;
	const struct sync_event *wake = own ? before->other : before->last;
	for (size_t i = 1; !wake && i < n && t[i].ref.stamp <= t->ref.stamp + slack; i++)
		if (t[i].kind == SYNC_SIGNALLED && t[i].ref.thread != t->ref.thread)
			wake = &t[i];
	return wake;
}

/* Whether whoever woke and those whom he woke are all threads of the process that have to do with futexes, as at a
 * barrier: of several whom he woke, or at an address where others woke as well. For what one thread stores several may wait,
 * too. */
static bool is_barrier(const struct builder *b, const struct sync_event *wake, size_t nwoken, bool by_several)
{
	const struct tr_thread *threads = b->graph->trace->threads;
	bool stored = b->graph->trace->sites[wake->site].op.stored;
	size_t n = 0;
	uint32_t t = wake->ref.thread;
	while (t > 0 && threads[t - 1].process == wake->process)
		t--;
	for (; t < b->graph->trace->nthreads && threads[t].process == wake->process; t++)
		n += b->threads[t].uses_futexes;
	return n == nwoken + 1 && ((nwoken > 1 && !stored) || by_several);
}

/* All of them have waited for each other, the one who woke too, if only for the others in another run. Here it came last, with the
 * wake: before that it may have worked, without any record. */
static void add_barrier(struct builder *b, const struct sync_event *wake, const struct sync_event *const *woken, size_t n)
{
	struct node_input *inputs = mem_resize(NULL, n + 1, sizeof *inputs);
	for (size_t i = 0; i < n; i++)
		inputs[i] = (struct node_input){ .ref = woken[i]->begin.enter, .sure = true };
	inputs[n] = (struct node_input){ .ref = wake->ref, .sure = true, .arrives = true };
	uint32_t number = graph_add_chance(b, GRAPH_SYNC, inputs, n + 1);
	for (size_t i = 0; i < n; i++)
		graph_wait(b, woken[i]->ref, number);
	graph_wait(b, wake->ref, number);
	b->graph->nodes[number].posted = true;
	free(inputs);
}

/* ---- What whoever comes last to a barrier does -------------------------------------------------- */

/* How many marked regions, outside of all others, a thread had begun before an event; and where the last did. */
struct futex_begun { uint64_t n; struct event_ref last; };

/* Of those t[0 .. n) that are the thread's, which are in its order: when it came. */
static void find_begun(const struct builder *b, uint32_t thread, const struct sync_event *t, size_t n, struct futex_begun *begun)
{
	const struct trace *trace = b->graph->trace;
	struct tr_cursor events = trace_events(trace, thread);
	struct futex_begun now = { .n = 0 };
	struct replay replay;
	struct tr_event e;
	size_t next = 0;
	replay_open(&replay, trace->nsites);
	for (uint64_t at = 0; next < n && trace_next_bare(&events, &e); at++) {
		for (; next < n && (t[next].ref.thread != thread || t[next].enter.at <= at); next++)
			if (t[next].ref.thread == thread)
				begun[next] = now;
		if (e.op == DPROF_LOST)
			continue;
		bool marked = tr_is_marked(trace, e.site);
		if (marked && e.op == DPROF_ENTER && replay.depth == 0)
			now = (struct futex_begun){ now.n + 1, { thread, at, e.stamp } };
		if (marked && e.op == DPROF_ENTER)
			replay_enter(&replay, tr_entry(trace, &e));
		else if (marked && e.op == DPROF_EXIT)
			replay_exit(&replay, e.site);
	}
	trace_end(&events);
	replay_close(&replay);
}

/* Since its thread came before: of t[i]. */
static uint64_t begun_since(const struct sync_event *t, const struct futex_begun *begun, size_t i)
{
	for (size_t k = i; k-- > 0;)
		if (t[k].ref.thread == t[i].ref.thread)
			return begun[i].n - begun[k].n;
	return begun[i].n;
}

#define MOST_LOOKED_AT (UINT64_C(1) << 20) /* events times threads, of an address */

static struct futex_begun *find_all_begun(const struct builder *b, const struct sync_event *t, size_t n)
{
	size_t nthreads = b->graph->trace->nthreads;
	if (n * nthreads > MOST_LOOKED_AT)
		return NULL;
	struct futex_begun *begun = spill_zeros(b->spill, n, sizeof *begun);
	bool *seen = mem_zeroed(nthreads + 1, sizeof *seen);
	for (size_t i = 0; i < n; i++) {
		if (!seen[t[i].ref.thread])
			find_begun(b, t[i].ref.thread, t, n, begun);
		seen[t[i].ref.thread] = true;
	}
	free(seen);
	return begun;
}

/* Whether t[i] has done something once for those whom it woke, n of them, and who were there before; and all of them anything
 * else. */
static bool does_once(const struct sync_event *t, const struct futex_begun *begun, size_t i, const struct sync_event *const *woken,
		      size_t n)
{
	uint64_t most = begun_since(t, begun, i);
	for (size_t k = 0; k < n; k++)
		if (begun_since(t, begun, (size_t)(woken[k] - t)) + 1 != most || woken[k]->enter.stamp > begun[i].last.stamp)
			return false;
	return begun[i].last.at > 0 && most > 1;
}

/* Whoever woke would have waited for all of them before that. */
static void add_barrier_done_once(struct builder *b, const struct futex_begun *once, const struct sync_event *const *woken,
				  size_t n)
{
	struct node_input *inputs = mem_resize(NULL, n + 1, sizeof *inputs);
	for (size_t i = 0; i < n; i++)
		inputs[i] = (struct node_input){ .ref = woken[i]->begin.enter, .sure = true };
	inputs[n] = (struct node_input){ .ref = once->last, .sure = true, .arrives = true };
	uint32_t number = graph_add_chance(b, GRAPH_SYNC, inputs, n + 1);
	graph_wait(b, once->last, number);
	b->graph->nodes[number].posted = true;
	free(inputs);
}

#define NO_QUEUE UINT32_MAX

/* At an address where nobody woke more than one, it may be another one in another run: who came first. `alone`: nobody else was
 * waited for. */
static void add_woken(struct sync_pass *p, const struct sync_event *w, const struct sync_event *wake, uint32_t queue, bool alone)
{
	struct builder *b = p->b;
	struct node_input begin[BEGIN_INPUTS], *inputs = NULL;
	size_t begins = graph_begin_inputs(&w->begin, begin), n = 0;
	if (!wake && w->found)
		return; /* it was there from the beginning */
	if (!wake) {
		graph_diagnose(&b->diagnosed.alone, w->ref, w->site);
		graph_unknown(b, w->begin, w->ref);
		return;
	}
	for (size_t i = 0; i < begins; i++)
		*MEM_GROW(inputs, n) = begin[i];
	*MEM_GROW(inputs, n) = (struct node_input){ .ref = wake->ref, .sure = true };
	if (wake->ref.stamp > w->enter.stamp && !alone)
		graph_add_counted(p, wake, w->enter, w->site, &inputs, &n);
	struct graph_node *node = graph_arrival(b, w->ref, GRAPH_WOKEN_UP, inputs, n);
	free(inputs);
	node->loose = node->hidden = node->delayed = node->posted = true;
	if (queue != NO_QUEUE)
		graph_turn(b, (struct graph_turn){ .first = (uint32_t)begins, .n = 1, .queue = queue });
}

/* From `first` on: how many were woken by the same one. Who waited twice was not. */
static size_t count_woken(const struct sync_event *const *v, const struct sync_event *const *by, size_t n, size_t first)
{
	size_t i = first + 1;
	while (i < n && by[i] && by[i] == by[first] && v[i]->ref.thread != v[i - 1]->ref.thread)
		i++;
	return i - first;
}

static bool wakes_one(const struct sync_event *const *by, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (by[i] && by[i] == by[i - 1])
			return false;
	return true;
}

static bool of_several(const struct sync_event *t, size_t n)
{
	const struct sync_event *one = NULL;
	for (size_t i = 0; i < n; i++) {
		if (t[i].kind != SYNC_SIGNALLED)
			continue;
		if (one && one->ref.thread != t[i].ref.thread)
			return true;
		one = &t[i];
	}
	return false;
}

/* Whoever comes to a barrier of atomics notifies only when it is the last, and then wakes all others: who says that one more has
 * come, whom one thread waits for, wakes nobody most times. */
static bool all_woke(const struct builder *b, const struct sync_event *t, size_t n, const struct sync_event *const *by,
		     size_t nwaits)
{
	size_t wakes = 0, woke = 0;
	for (size_t i = 0; i < n; i++)
		wakes += t[i].kind == SYNC_SIGNALLED && b->graph->trace->sites[t[i].site].op.stored;
	for (size_t i = 0; i < nwaits; i++)
		woke += by[i] && (i == 0 || by[i] != by[i - 1]);
	return woke >= wakes;
}

/* What all threads have begun, of events as below, if whoever came last did something once each time they came to a barrier; or
 * NULL. */
static struct futex_begun *find_once(struct builder *b, const struct sync_event *t, size_t n, const struct sync_event *const *v,
			       const struct sync_event *const *by, size_t nwaits)
{
	struct futex_begun *begun = NULL;
	bool once = true;
	size_t barriers = 0;
	for (size_t i = 0, together; i < nwaits && once; i += together) {
		together = count_woken(v, by, nwaits, i);
		if (!by[i] || !is_barrier(b, by[i], together, true))
			continue;
		if (barriers++ == 0)
			begun = find_all_begun(b, t, n);
		once = begun && does_once(t, begun, (size_t)(by[i] - t), &v[i], together);
	}
	if (once && barriers > 1)
		return begun;
	spill_free(b->spill, begun);
	return NULL;
}

/* t[0 .. n): all wakes and waits there; v[0 .. nwaits) those who waited, and by whom each was woken. */
static void add_waits(struct sync_pass *p, const struct sync_event *t, size_t n, const struct sync_event *const *v,
		      const struct sync_event *const *by, size_t nwaits)
{
	struct builder *b = p->b;
	bool by_several = of_several(t, n) && all_woke(b, t, n, by, nwaits);
	uint32_t queue = nwaits && wakes_one(by, nwaits) ? graph_queue(b, GRAPH_INBOX, 0) : NO_QUEUE;
	struct futex_begun *begun = find_once(b, t, n, v, by, nwaits);
	for (size_t i = 0, together; i < nwaits; i += together) {
		together = count_woken(v, by, nwaits, i);
		bool barrier = by[i] && is_barrier(b, by[i], together, by_several || begun);
		if (barrier && !begun) {
			add_barrier(b, by[i], &v[i], together);
			continue;
		}
		if (barrier)
			add_barrier_done_once(b, &begun[by[i] - t], &v[i], together);
		for (size_t k = i; k < i + together; k++)
			add_woken(p, v[k], by[k], queue, barrier);
	}
	spill_free(b->spill, begun);
}

void graph_futexes(struct sync_pass *p, const struct sync_event *t, size_t n)
{
	struct builder *b = p->b;
	const struct trace *trace = b->graph->trace;
	struct wakes before = { NULL, NULL };
	const struct sync_event **v = NULL, **by = NULL;
	size_t nwaits = 0, nby = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t slack = graph_skew_of(b, &t[i]);
		if (t[i].kind == SYNC_SIGNALLED)
			add_wake(&before, &t[i]);
		if (t[i].kind == SYNC_SIGNALLED || !tr_is(trace, t[i].site, OP_FUTEX))
			continue;
		*SPILL_GROW(b->spill, v, nwaits) = &t[i];
		*SPILL_GROW(b->spill, by, nby) = find_wake(&before, &t[i], n - i, slack);
	}
	add_waits(p, t, n, v, by, nwaits);
	spill_free(b->spill, v);
	spill_free(b->spill, by);
}
