/* SPDX-License-Identifier: MIT
 *
 * graph_locks.c - within a process: wait dependencies at locks and condition variables. All of it has one clock, so stamps tell the
 * order.
 *
 * Likewise what processes of a host share. As others may use that which are not in the trace, nothing is certain of it. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/runs.h"
#include "analysis/base/search.h"
#include "analysis/graph/graph_stops.h"

static bool is_lock(const struct sync_event *t)
{
	return t->kind == SYNC_RELEASED || t->kind == SYNC_TAKEN;
}

/* Where it stands among all: of one object, and of a lock or else what is signalled, by time. */
struct sync_place { uint32_t process; bool lock; uint64_t id; struct event_ref ref; size_t event; };

static struct sync_place place_in_time(const struct sync_event *t, size_t event)
{
	return (struct sync_place){ t->process, is_lock(t), t->id, t->ref, event };
}

static int by_time(const void *x, const void *y)
{
	const struct sync_place *a = x, *b = y;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	if (a->lock != b->lock)
		return a->lock ? -1 : 1;
	return ORDER_3(a, b, ref.stamp, ref.thread, ref.at);
}

uint64_t graph_skew_of(const struct builder *b, const struct sync_event *t)
{
	return tr_slack(b->graph->trace, b->graph->trace->threads[t->ref.thread].clock);
}

void graph_wait_for_none(struct builder *b, const struct sync_event *w)
{
	struct node_input inputs[BEGIN_INPUTS];
	size_t n = graph_begin_inputs(&w->begin, inputs);
	struct graph_node *node = graph_arrival(b, w->ref, GRAPH_POSTED, inputs, n);
	node->loose = node->hidden = node->delayed = true;
}

/* ---- Locks ----------------------------------------------------------------------------------- */

struct lock {
	uint32_t holder, depth;   /* of an exclusive one, which may be recursive */
	size_t readers;
	struct node_input *released; /* the last writer's release, if there was one, readers' since */
	size_t nreleased;
	bool by_writer;           /* the first of them */
	struct event_ref *handed; size_t nhanded; /* releases by another than the holder */
	bool was_handed;          /* so was the last one */
	bool shared;              /* several threads take it */
	bool looked;              /* its last holder took it behind an attempt in vain, to look */
	uint32_t queue;           /* then: in which they stand */
};

static void release(struct builder *b, struct lock *l, const struct sync_event *t)
{
	if (l->depth > 1 && l->holder == t->ref.thread) {
		l->depth--;
		return;
	}
	if (l->shared)
		graph_release(b, t->ref, l->queue);
	l->was_handed = l->depth > 0 && l->holder != t->ref.thread;
	if (l->was_handed)
		*MEM_GROW(l->handed, l->nhanded) = t->ref;
	if (l->depth == 0 && l->readers > 0) {
		l->readers--;
	} else {
		l->depth = 0;
		l->nreleased = 0;
		l->by_writer = true;
	}
	*MEM_GROW(l->released, l->nreleased) = (struct node_input){ .ref = t->ref, .sure = true };
}

/* The first event of a lock, or else of what is signalled, that is no sooner: they are sorted. */
size_t graph_sync_events(const struct sync_records *r, uint32_t process, uint64_t id, bool lock, uint64_t stamp)
{
	const struct sync_place key = { .process = process, .id = id, .ref.stamp = stamp, .lock = lock };
	struct sync_place place;
	return SEARCH(r->n, mid, (place = place_in_time(&r->v[mid], mid), by_time(&place, &key) < 0));
}

/* Those up to this one, by time; *n > 0. To be freed. */
static struct event_ref *posts_until(const struct sync_records *r, const struct sync_event *signal, size_t *n)
{
	const struct sync_event *first = signal;
	struct event_ref *posts = NULL;
	while (first > r->v && signal - first < GRAPH_POSTS_SEEN && first[-1].process == signal->process &&
	       first[-1].id == signal->id && !is_lock(first - 1) && first->kind != SYNC_MADE)
		first--;
	*n = 0;
	for (; first <= signal; first++)
		if (first->kind == SYNC_SIGNALLED)
			*MEM_GROW(posts, *n) = first->ref;
	return posts;
}

/* Threads that do as the one that gave the signal. */
static struct node_input *find_alike(const struct sync_pass *p, const struct sync_event *signal, struct event_ref since,
				     uint32_t site, size_t *n)
{
	size_t nposts;
	struct event_ref *posts = posts_until(p->events, signal, &nposts);
	struct node_input *alike = graph_alike(p->b, posts, nposts - 1, since, site, n);
	free(posts);
	return alike;
}

/* For whom a wait since then, at a site, has waited besides the signal. Returns how many. */
size_t graph_add_counted(const struct sync_pass *p, const struct sync_event *signal, struct event_ref since, uint32_t site,
			 struct node_input **inputs, size_t *n)
{
	size_t ncounted;
	struct node_input *counted = graph_counted(p, signal, since, &ncounted);
	if (ncounted == 0 && !graph_is_of_processes(p->b, signal))
		counted = find_alike(p, signal, since, site, &ncounted);
	for (size_t i = 0; i < ncounted; i++)
		*MEM_GROW(*inputs, *n) = counted[i];
	free(counted);
	return ncounted;
}

/* Adds to inputs for whom else a thread has waited at a barrier that the program has made. False: it is none. */
static bool add_barrier(const struct sync_pass *p, const struct sync_event *signal, uint32_t self, struct node_input **inputs,
			size_t *n)
{
	size_t nothers;
	struct node_input *others = graph_barrier_of(p->b, p->events, signal, self, &nothers);
	for (size_t i = 0; i < nothers; i++)
		*MEM_GROW(*inputs, *n) = others[i];
	free(others);
	return nothers > 0;
}

/* How many have waited there for longer than t, and were not woken when t began to wait, but then before it. */
static size_t count_longer(const struct sync_records *r, const struct sync_event *t)
{
	uint64_t begin = graph_retaken(r, t)->waiting.stamp;
	size_t n = 0;
	for (size_t i = graph_sync_events(r, t->process, t->condition, false, begin); i < r->n; i++) {
		const struct sync_event *s = &r->v[i];
		if (s->process != t->process || s->id != t->condition || is_lock(s) || s->ref.stamp > t->enter.stamp)
			break;
		n += s->kind == SYNC_WOKEN && s->ref.thread != t->ref.thread && s->enter.stamp < begin;
	}
	return n;
}

#define SOON 16 /* they came within such a part of the wait */

/* Any of these signals may have woken it. If they came soon one behind the other, most likely each woke whoever had waited longest:
 * that is expected, and not sure. */
static void choose_signal(const struct sync_records *r, const struct sync_event *t, struct node_input *signals, size_t n)
{
	uint64_t first = n ? signals[0].ref.stamp : 0, last = n ? signals[n - 1].ref.stamp : 0, begin = graph_retaken(r, t)->waiting.stamp;
	if (first <= begin || last - first > (first - begin) / SOON)
		return;
	size_t longer = count_longer(r, t), most_likely = longer < n ? longer : n - 1;
	for (size_t i = 0; i < n; i++)
		signals[i].candidate = i != most_likely;
	signals[most_likely].likely = true;
}

/* What others signalled while t waited: if it was one signal, or others were woken by those before, the last has ended the
 * wait; and who counted down to it: unless it was woken before for nothing, as then it most likely counts nobody. */
static struct node_input *signals_for(const struct sync_pass *p, const struct sync_event *t,
				      size_t *n)
{
	const struct sync_records *r = p->events;
	const struct retaken *wait = graph_retaken(r, t);
	const struct sync_event *last = NULL;
	uint64_t slack = graph_skew_of(p->b, t), since = wait->waiting.stamp > slack ? wait->waiting.stamp - slack : 0;
	struct node_input *inputs = NULL;
	size_t left = 0; /* signals that woke nobody else */
	*n = 0;
	for (size_t i = graph_sync_events(r, t->process, t->condition, false, since); i < r->n; i++) {
		const struct sync_event *s = &r->v[i];
		if (s->process != t->process || s->id != t->condition || is_lock(s) ||
		    s->ref.stamp > t->enter.stamp + slack)
			break;
		if (s->ref.thread == t->ref.thread || s->kind == SYNC_MADE)
			continue;
		left = s->kind == SYNC_SIGNALLED ? left + 1 : left - (left > 0);
		if (s->kind == SYNC_SIGNALLED) {
			*MEM_GROW(inputs, *n) = (struct node_input){ .ref = s->ref };
			last = s;
		}
	}
	if (left != 1 && *n != 1) {
		choose_signal(r, t, inputs, *n);
		return inputs;
	}
	for (size_t i = 0; i < *n; i++)
		inputs[i].candidate = i + 1 < *n;
	inputs[*n - 1].sure = true;
	size_t signals = *n;
	if (!add_barrier(p, last, t->ref.thread, &inputs, n))
		graph_add_counted(p, last, wait->waiting, wait->site, &inputs, n);
	for (size_t i = signals; i < *n && wait->resumes.stamp; i++)
		inputs[i].candidate = !inputs[i].sure;
	return inputs;
}

/* Who gives a lock back that another took, while t waits for it, lets t go on: perhaps as the last of several. */
static struct node_input *handed_for(const struct builder *b, const struct lock *l, const struct sync_event *t, size_t *n)
{
	*n = 0;
	if (!l->was_handed || l->handed[l->nhanded - 1].stamp <= t->enter.stamp)
		return NULL;
	return graph_alike(b, l->handed, l->nhanded - 1, t->enter, t->site, n);
}

/* It waits until those who hold the lock have given it back, in any run: for no signal, also where none was waited for here, in no
 * loop of attempts, and not for processes that are not in the trace. */
static bool is_plain(const struct sync_pass *p, const struct sync_event *t, size_t nsignals)
{
	return !t->relocks && nsignals == 0 && !t->begin.tried && !graph_is_of_processes(p->b, t) && !p->tells[t->process];
}

/* An attempt, or a wait behind others: a signal, or who had the lock last. */
static void say_what_ended(struct tried_records *tried, const struct sync_event *t, const struct lock *l,
			   const struct node_input *signals, size_t nsignals)
{
	const struct event_ref *last = NULL;
	for (size_t i = 0; i < nsignals && t->relocks; i++)
		last = signals[i].sure && !signals[i].candidate ? &signals[i].ref : last;
	for (size_t i = 0; i < l->nreleased && !t->relocks; i++)
		if (l->released[i].ref.thread != t->ref.thread && (!last || l->released[i].ref.stamp > last->stamp))
			last = &l->released[i].ref;
	if (last)
		graph_tried_by(tried, t, *last);
}

/* A writer waits for whoever held the lock since the last writer, and for that one; a reader only
 * for that one. Who has waited for a condition variable has been waiting for the mutex, too. */
static void wait_for_lock(struct sync_pass *p, const struct lock *l, const struct sync_event *t)
{
	struct builder *b = p->b;
	size_t n = !t->shared ? l->nreleased : l->by_writer, nsignals = 0;
	const struct retaken *wait = t->relocks ? graph_retaken(p->events, t) : NULL;
	struct node_input *signals = wait ? signals_for(p, t, &nsignals) : NULL;
	if (!wait)
		signals = handed_for(b, l, t, &nsignals);
	struct node_input *inputs = mem_resize(NULL, n + nsignals + BEGIN_INPUTS + 2, sizeof *inputs);
	const struct wait_begin *begin = nsignals && wait ? &wait->begin : &t->begin;
	size_t begins = graph_begin_inputs(begin, inputs);
	if (n)
		memcpy(inputs + begins, l->released, n * sizeof *inputs);
	for (size_t i = 0; i < n; i++) /* who did not wait for them may come before them in another run */
		inputs[begins + i].candidate = l->shared && inputs[begins + i].ref.stamp + graph_skew_of(b, t) <
								    t->begin.enter.stamp;
	if (nsignals)
		memcpy(inputs + begins + n, signals, nsignals * sizeof *inputs);
	if (t->tried_row)
		say_what_ended(p->tried, t, l, signals, nsignals);
	if (n + nsignals > 0 || l->shared) {
		size_t ninputs = begins + n + nsignals;
		ninputs += graph_add_target(b, t->target, t->enter, t->ref, inputs + ninputs);
		if (nsignals && wait && wait->resumes.stamp)
			inputs[ninputs++] = (struct node_input){ .ref = wait->resumes, .candidate = true, .never_last = true };
		struct graph_node *node = graph_arrival(b, t->ref, GRAPH_LOCKED, inputs, ninputs);
		node->hidden = l->shared || begin->tried; /* another may come first, or come later */
		node->loose = node->delayed = l->shared || begin->tried;
		node->posted = nsignals > 0;
		node->polled = begin->tried;
		if (l->shared)
			graph_turn(b, (struct graph_turn){ .queue = l->queue, .shared = t->shared, .first = (uint32_t)begins,
							   .n = (uint32_t)n, .plain = is_plain(p, t, nsignals) });
	}
	free(inputs);
	free(signals);
}

/* Behind an attempt it looks with a lock that no other thread takes, or did so when it had that last: for that it has waited for
 * nobody, nor for what it did itself between attempts. */
static bool looks_alone(const struct lock *l, const struct sync_event *t)
{
	return (t->behind_vain || l->looked) && !t->relocks && !l->shared && t->target == ARG_NONE;
}

static void look_alone(struct builder *b, const struct sync_event *t)
{
	struct sync_event look = *t;
	look.begin = (struct wait_begin){ .enter = t->enter };
	graph_wait_for_none(b, &look);
}

static bool is_free(const struct lock *l, const struct sync_event *t)
{
	return l->depth == 0 && (t->shared || l->readers == 0);
}

/* Whoever has it ends, and nobody gives it back: a robust lock is free then, most likely just behind that. */
static bool ends_with_it(const struct builder *b, const struct lock *l, const struct sync_event *t)
{
	struct event_ref end = graph_end_of(b, l->holder, t->ref.stamp);
	return l->depth > 0 && end.stamp >= t->enter.stamp && end.stamp <= t->ref.stamp + graph_skew_of(b, t);
}

static void wait_for_end(struct builder *b, uint32_t holder, const struct sync_event *t)
{
	struct node_input inputs[BEGIN_INPUTS + 1];
	size_t n = graph_begin_inputs(&t->begin, inputs);
	inputs[n++] = (struct node_input){ .ref = graph_end_of(b, holder, t->ref.stamp), .sure = true };
	struct graph_node *node = graph_arrival(b, t->ref, GRAPH_LOCKED, inputs, n);
	node->hidden = node->loose = node->delayed = true;
}

static void take_lock(struct sync_pass *p, struct lock *l, const struct sync_event *t)
{
	struct builder *b = p->b;
	if (l->depth > 0 && l->holder == t->ref.thread) {
		l->depth++;
		return;
	}
	if (looks_alone(l, t)) {
		look_alone(b, t);
	} else if (is_free(l, t)) {
		wait_for_lock(p, l, t);
	} else if (ends_with_it(b, l, t)) {
		wait_for_end(b, l->holder, t);
		l->readers = 0;
	} else {
		if (!graph_is_of_processes(b, t))
			graph_diagnose(&b->diagnosed.unheld, t->ref, t->site);
		graph_unknown(b, t->begin, t->ref);
		l->readers = 0;
	}
	l->depth = t->shared ? 0 : 1;
	l->looked = t->behind_vain;
	l->holder = t->ref.thread;
	l->readers += t->shared;
}

/* Whether its thread gives it back within t[0 .. n). */
static bool returns(const struct sync_event *t, size_t n, size_t i)
{
	for (size_t k = i + 1; k < n; k++)
		if (t[k].ref.thread == t[i].ref.thread)
			return t[k].kind == SYNC_RELEASED;
	return false;
}

/* Which of the first n, whose order stamps do not tell, comes first: one that its thread does first,
 * that the lock allows, and preferably one after which the others can follow. */
static size_t choose(const struct lock *l, const struct sync_event *t, size_t n)
{
	size_t best = 0;
	unsigned best_merit = 0;
	for (size_t i = 0; i < n; i++) {
		bool first = true;
		for (size_t k = 0; k < i && first; k++)
			first = t[k].ref.thread != t[i].ref.thread;
		bool gives = t[i].kind == SYNC_RELEASED;
		bool holds = l->depth > 0 && l->holder == t[i].ref.thread;
		unsigned merit = !first	     ? 0
				 : gives     ? 1 + 2 * (l->depth == 0 || holds)
				 : !holds && !is_free(l, &t[i]) ? 1
				 : 2 + returns(t, n, i);
		if (merit > best_merit) {
			best = i;
			best_merit = merit;
		}
	}
	return best;
}

/* Whoever has it only to wait again, or to look, keeps nobody from it, most likely. */
static void pass_lock(struct builder *b, const struct sync_event *t)
{
	if (t->kind == SYNC_TAKEN && t->ref.stamp > t->begin.enter.stamp)
		graph_wait_for_none(b, t);
}

#define MOST_AT_ONCE 64

static void put_first(struct sync_event *t, size_t chosen)
{
	struct sync_event first = t[chosen];
	memmove(&t[1], t, chosen * sizeof *t);
	t[0] = first;
}

static void hand_over(struct sync_pass *p, struct sync_event *t, size_t n)
{
	struct builder *b = p->b;
	struct lock lock = { .shared = graph_is_of_processes(b, t) };
	if (!graph_is_of_processes(b, t))
		graph_find_resumed(b, p->events, t, n);
	bool has_readers = false;
	for (size_t i = 0; i < n; i++, spill_relax(b->spill)) {
		lock.shared |= t[i].ref.thread != t[0].ref.thread;
		has_readers |= t[i].shared && t[i].target == ARG_NONE;
	}
	if (lock.shared)
		lock.queue = graph_queue(b, GRAPH_LOCK, 0);
	bool stops = lock.shared && !graph_is_of_processes(b, t) && graph_lock_stops(b, t, n);
	if (lock.shared && has_readers)
		b->graph->queues[lock.queue].prefers_readers = true;
	for (size_t i = 0, end = 0; i < n; i++, spill_relax(b->spill)) {
		while (end < n && end - i < MOST_AT_ONCE &&
		       t[end].ref.stamp - t[i].ref.stamp <= graph_skew_of(b, &t[i]))
			end++;
		size_t first = end > i + 1 ? i + choose(&lock, &t[i], end - i) : i;
		if (first > i)
			put_first(&t[i], first - i);
		if (t[i].in_wait || t[i].in_row)
			pass_lock(b, &t[i]);
		else if (t[i].kind == SYNC_RELEASED)
			release(b, &lock, &t[i]);
		else
			take_lock(p, &lock, &t[i]);
		end = i + 1;
	}
	free(lock.released);
	free(lock.handed);
	if (!stops)
		graph_takes(p, t, n, SYNC_TAKEN, lock.shared);
}

/* ---- Signals --------------------------------------------------------------------------------- */

/* Whoever was woken had begun to wait before a signal that came before it went on. */
static void wake(struct builder *b, const struct sync_event *t, size_t n, size_t waiter)
{
	const struct sync_event *w = &t[waiter];
	uint64_t slack = graph_skew_of(b, w);
	size_t count = 0;
	struct node_input *inputs = NULL;
	*MEM_GROW(inputs, count) = (struct node_input){ .ref = w->enter, .sure = true, .needed = true };
	for (size_t i = waiter; i-- > 0 && t[i].ref.stamp + slack >= w->enter.stamp;)
		if (t[i].kind == SYNC_SIGNALLED && t[i].ref.thread != w->ref.thread)
			*MEM_GROW(inputs, count) = (struct node_input){ .ref = t[i].ref };
	for (size_t i = waiter + 1; count == 1 && i < n && t[i].ref.stamp <= w->ref.stamp + slack;
	     i++)
		if (t[i].kind == SYNC_SIGNALLED && t[i].ref.thread != w->ref.thread)
			*MEM_GROW(inputs, count) = (struct node_input){ .ref = t[i].ref };
	if (count == 1) {
		graph_wait_for_none(b, w);
	} else {
		uint32_t node = graph_add_chance(b, GRAPH_WOKEN, inputs, count);
		b->graph->nodes[node].posted = true;
		graph_wait(b, w->ref, node);
	}
	free(inputs);
}

static void serve_signals(struct sync_pass *p, const struct sync_event *t, size_t n)
{
	struct builder *b = p->b;
	const struct sync_event *wait = NULL;
	for (size_t i = 0; i < n && !wait; i++)
		if (t[i].kind == SYNC_WOKEN && tr_is(b->graph->trace, t[i].site, OP_SEMAPHORE))
			wait = &t[i];
	if (wait) {
		graph_semaphore(p, t, n, wait->for_room);
		return;
	}
	if (t->kind == SYNC_MADE)
		return; /* a semaphore for which nobody waits */
	for (size_t i = 0; i < n; i++)
		if (t[i].kind == SYNC_SIGNALLED)
			graph_signal_at_barrier(b, p->events, &t[i]);
		else if (!t[i].relocks && !tr_is(b->graph->trace, t[i].site, OP_FUTEX))
			wake(b, t, n, i);
	if (!tr_is(b->graph->trace, t->site, OP_FUTEX))
		graph_counting_condition(p, t, n);
	if (graph_is_of_processes(b, t) ? tr_is(b->graph->trace, t->site, OP_FUTEX) : b->may_wait[t->process])
		graph_futexes(p, t, n);
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* A run of one process, one id, and locks or signals; of a semaphore that is made at the place of another one. */
static bool together(const struct sync_event *a, const struct sync_event *b)
{
	return b->kind != SYNC_MADE && a->process == b->process && a->id == b->id && is_lock(a) == is_lock(b) &&
	       a->for_good == b->for_good;
}

/* Of one id. Who looks whether something is there for good is always seen. */
static bool are_for_waits_unseen(const struct builder *b, const struct sync_event *t, size_t n)
{
	bool signalled = false, semaphore = false;
	for (size_t i = 0; i < n; i++) {
		signalled |= t[i].kind == SYNC_SIGNALLED && !b->graph->trace->sites[t[i].site].op.once;
		semaphore |= t[i].kind == SYNC_WOKEN && tr_is(b->graph->trace, t[i].site, OP_SEMAPHORE);
	}
	return signalled && !semaphore;
}

static void find_tellers(struct sync_pass *p)
{
	const struct sync_records *r = p->events;
	size_t nprocesses = p->b->graph->trace->nprocesses;
	for (size_t i = 0, next; i < r->n; i = next) {
		const struct sync_event *t = &r->v[i];
		for (next = i + 1; next < r->n && together(t, &r->v[next]); next++)
			;
		if (is_lock(t) || t->for_good || !are_for_waits_unseen(p->b, t, next - i))
			continue;
		for (size_t process = 0; process < nprocesses; process++)
			p->tells[process] |= graph_is_of_processes(p->b, t) || process == t->process;
	}
}

static void find_waiting_sites(struct sync_pass *p)
{
	const struct sync_records *r = p->events;
	const struct trace *trace = p->b->graph->trace;
	p->waits_at = mem_zeroed(trace->nsites + 1, sizeof *p->waits_at);
	for (size_t i = 0; i < r->n; i++) {
		const struct sync_event *came = r->v[i].kind == SYNC_WOKEN && r->v[i].relocks ? graph_find_section(r, &r->v[i].section) : NULL;
		if (came)
			p->waits_at[came->site] = trace->sites[came->site].line != 0;
	}
}

/* Events are long: each is moved once. */
static void sort_by_time(struct spill *spill, struct sync_records *r)
{
	struct sync_place *places = spill_grow(spill, NULL, r->n, sizeof *places);
	for (size_t i = 0; i < r->n; i++, spill_relax(spill))
		places[i] = place_in_time(&r->v[i], i);
	runs_sort_here(spill, places, r->n, sizeof *places, by_time);
	struct sync_event *sorted = spill_grow(spill, NULL, r->n, sizeof *sorted);
	for (size_t i = 0; i < r->n; i++, spill_relax(spill))
		sorted[i] = r->v[places[i].event];
	spill_free(spill, places);
	spill_free(spill, r->v);
	r->v = sorted;
}

void graph_locks(struct builder *b, struct sync_records *r, struct tried_records *tried, struct voter_records *voters)
{
	size_t nprocesses = b->graph->trace->nprocesses;
	struct sync_pass p = { .b = b, .events = r, .tried = tried, .voters = voters };
	sort_by_time(b->spill, r);
	p.tells = mem_zeroed(nprocesses + 1, sizeof *p.tells);
	find_tellers(&p);
	find_waiting_sites(&p);
	for (size_t i = 0, next; i < r->n; i = next) {
		struct sync_event *t = &r->v[i];
		for (next = i + 1; next < r->n && together(t, &r->v[next]);)
			next++;
		if (is_lock(t) && tr_is(b->graph->trace, t->site, OP_IN_ORDER))
			graph_ordered(b, t, next - i);
		else if (is_lock(t))
			hand_over(&p, t, next - i);
		else if (t->for_good)
			graph_latches(b, tried, t, next - i);
		else
			serve_signals(&p, t, next - i);
	}
	graph_find_own_pools(b, &p.own);
	graph_deal_permits(b, &p.exchanges);
	free(p.tells);
	free(p.waits_at);
}
