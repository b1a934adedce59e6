/* SPDX-License-Identifier: MIT
 *
 * graph_wakes.c - waits for a condition variable that was signalled for somebody else:
 *
 *   lock, while (it is not my turn) wait, unlock
 *
 * Where several wait there for different things, a signal for one wakes all (pthread_cond_broadcast). Whoever waits again at once
 * has waited for nothing; so all his waits are one, which begins with the first and is over with the last. In another run there may
 * be more or fewer of them.
 *
 * Unless he counts: then each signal is one of those for which he waits (while (done < 3) wait). Nobody says so. But when he has
 * counted all of them, whoever gave them gives no more until he is let. So of a thread that was mostly at work when he had what he
 * waited for, up to its next signal, he does not count the signals: what it does goes on without him. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/graph/graph_locks.h"

/* A wait that was over, the lock taken and given back, and the next wait, which is over as well. */
struct rewait { struct sync_event *first, *again; bool joined; };

#define MOST_LOOKED_AT (UINT64_C(1) << 26) /* events of one lock, for all who wait there */

struct rewaits {
	struct builder *b;
	const struct sync_records *events;
	struct sync_event *t; size_t n; /* all events of the lock, by time */
	struct rewait *v; size_t nv;
	bool *again;                    /* of each event: the first of a rewait */
	struct last_of { struct sync_event *taken, *released; } *last; /* of each thread */
	int *goes_on;                   /* each thread: how much more often it went on without whoever waits than not; */
	const struct sync_event **next; /* and what it signalled next */
	uint64_t looked_at;
};

#define AT_ONCE 8 /* it waits again within such a part of the time that it has waited */

static bool waits_at_once(const struct sync_records *r, const struct last_of *l, const struct sync_event *e)
{
	const struct sync_event *first = l->taken, *back = l->released;
	if (!first || !back || !e->relocks || !first->relocks || first->condition != e->condition)
		return false;
	const struct retaken *before = graph_retaken(r, first), *again = graph_retaken(r, e);
	bool follows = back->ref.at == first->ref.at + 1 && again->waiting.at == back->ref.at + 1;
	return follows && again->waiting.stamp - first->ref.stamp <= (first->enter.stamp - before->begin.enter.stamp) / AT_ONCE;
}

/* In the order of time, so that the first of a chain is before the second. */
static void find_rewaits(struct rewaits *w)
{
	for (size_t i = 0; i < w->n; i++) {
		struct sync_event *e = &w->t[i];
		struct last_of *l = &w->last[e->ref.thread];
		if (e->kind == SYNC_TAKEN && waits_at_once(w->events, l, e)) {
			*SPILL_GROW(w->b->spill, w->v, w->nv) = (struct rewait){ l->taken, e, false };
			w->again[l->taken - w->t] = true;
		}
		*(e->kind == SYNC_TAKEN ? &l->taken : &l->released) = e;
	}
}

/* ---- Who goes on without the one who waits ------------------------------------------------------ */

static bool waits_alike(const struct sync_event *e, const struct sync_event *waiter)
{
	return e->kind == SYNC_TAKEN && e->relocks && e->ref.thread == waiter->ref.thread && e->condition == waiter->condition;
}

static size_t signals_until(const struct rewaits *w, const struct sync_event *waiter, uint64_t stamp)
{
	return graph_sync_events(w->events, waiter->process, waiter->condition, false, stamp);
}

static void count_going_on(struct rewaits *w, const struct sync_event *has)
{
	for (size_t t = 0; t < w->b->graph->trace->nthreads; t++)
		if (w->next[t])
			w->goes_on[t] += w->next[t]->waited < has->ref.stamp ? 1 : -1;
}

/* From the last to the first end of waiting: who signals next behind it, and whether that thread was at work then. */
static void find_going_on(struct rewaits *w, const struct sync_event *waiter)
{
	size_t nthreads = w->b->graph->trace->nthreads, first = signals_until(w, waiter, 0), s = signals_until(w, waiter, UINT64_MAX);
	memset(w->goes_on, 0, nthreads * sizeof *w->goes_on);
	for (size_t t = 0; t < nthreads; t++)
		w->next[t] = NULL;
	for (size_t i = w->n; i-- > 0; spill_relax(w->b->spill)) {
		const struct sync_event *has = &w->t[i];
		if (!waits_alike(has, waiter) || w->again[i])
			continue;
		for (; s > first && w->events->v[s - 1].ref.stamp >= has->ref.stamp; s--)
			if (w->events->v[s - 1].kind == SYNC_SIGNALLED)
				w->next[w->events->v[s - 1].ref.thread] = &w->events->v[s - 1];
		count_going_on(w, has);
	}
}

/* ---- Waits for nothing -------------------------------------------------------------------------- */

/* It was woken, and only by those whose signals it does not count. */
static bool was_for_nothing(const struct rewaits *w, const struct sync_event *e)
{
	size_t end = signals_until(w, e, e->enter.stamp);
	bool woken = false;
	for (size_t i = signals_until(w, e, graph_retaken(w->events, e)->waiting.stamp); i < end; i++) {
		const struct sync_event *s = &w->events->v[i];
		if (s->kind != SYNC_SIGNALLED || s->ref.thread == e->ref.thread)
			continue;
		if (w->goes_on[s->ref.thread] <= 0)
			return false;
		woken = true;
	}
	return woken;
}

/* The waits of one thread for one thing: what was for nothing begins what comes behind. */
static void join_waits(struct rewaits *w, size_t first)
{
	const struct sync_event *waiter = w->v[first].again;
	if (w->v[first].joined || w->looked_at > MOST_LOOKED_AT)
		return;
	w->looked_at += w->n;
	find_going_on(w, waiter);
	for (size_t i = first; i < w->nv; i++) {
		struct rewait *r = &w->v[i];
		if (!waits_alike(r->again, waiter))
			continue;
		r->joined = true;
		if (!was_for_nothing(w, r->first))
			continue;
		const struct retaken *before = graph_retaken(w->events, r->first);
		graph_retaken(w->events, r->again)->resumes = before->resumes.stamp ? before->resumes : before->begin.enter;
	}
}

static bool somebody_waits(const struct sync_event *t, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (t[i].relocks)
			return true;
	return false;
}

void graph_find_resumed(struct builder *b, const struct sync_records *events, struct sync_event *t, size_t n)
{
	if (!somebody_waits(t, n))
		return;
	size_t nthreads = b->graph->trace->nthreads;
	struct rewaits w = { .b = b, .events = events, .t = t, .n = n, .again = spill_zeros(b->spill, n + 1, sizeof *w.again),
			   .last = mem_zeroed(nthreads + 1, sizeof *w.last), .goes_on = mem_resize(NULL, nthreads + 1, sizeof *w.goes_on),
			   .next = mem_resize(NULL, nthreads + 1, sizeof *w.next) };
	find_rewaits(&w);
	for (size_t i = 0; i < w.nv; i++)
		join_waits(&w, i);
	spill_free(b->spill, w.again);
	spill_free(b->spill, w.v);
	free(w.last);
	free(w.goes_on);
	free(w.next);
}
