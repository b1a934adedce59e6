/* SPDX-License-Identifier: MIT
 *
 * graph_sleeps.c - rows of sleeps: a thread that sleeps again and again, with nothing in between but looks, may wait for what
 * another has in memory (graph_presumed.c says who has most likely ended that). Who sleeps until moments is paced by these, unless
 * he has read the clock anew before such a row: then it is no whole number of steps behind the one before. */
#include <stdlib.h>

#include "analysis/base/order.h"
#include "analysis/base/search.h"
#include "analysis/base/runs.h"
#include "analysis/graph/graph_locks.h"
#include "analysis/graph/graph_moments.h"
#include "analysis/graph/graph_presumed.h"

static int by_thread(const void *x, const void *y)
{
	const struct sleeps *a = x, *b = y;
	return ORDER_2(a, b, first.thread, first.at);
}

/* ---- Until moments ------------------------------------------------------------------------------ */

static int by_exit(const void *x, const void *y)
{
	const struct moment_sleep *a = x, *b = y;
	return ORDER_2(a, b, exit.thread, exit.at);
}

static bool is_at(const struct moment_sleep *m, const struct sleeps *s)
{
	return m->exit.thread == s->first.thread && m->site == s->site && m->until_ns > 0;
}

/* The moments of the row are equally far apart, but not as far, or several times, from the one before them. */
static bool begins_anew(const struct moment_records *r, const struct sleeps *s)
{
	size_t first = SEARCH(r->n, mid, r->v[mid].exit.thread < s->first.thread ||
			      (r->v[mid].exit.thread == s->first.thread && r->v[mid].exit.at <= s->first.at));
	const struct moment_sleep *m = &r->v[first];
	if (first == 0 || first + 2 >= r->n || !is_at(&m[-1], s) || !is_at(&m[0], s) || !is_at(&m[1], s) || !is_at(&m[2], s))
		return false;
	uint64_t step = m[1].until_ns - m[0].until_ns;
	return step > 0 && m[2].until_ns - m[1].until_ns == step && (m[0].until_ns - m[-1].until_ns) % step != 0;
}

/* Of one thread: what it only sleeps until moments for is no wait. Else it is not known when those come that are no part of one. */
static size_t keep_waits(struct moment_records *r, struct sleeps *s, size_t n)
{
	bool anew = false;
	size_t kept = 0;
	for (size_t i = 0; i < n; i++)
		anew |= s[i].until && begins_anew(r, &s[i]);
	size_t first = SEARCH(r->n, mid, r->v[mid].exit.thread < s->first.thread);
	for (size_t i = first; anew && i < r->n && r->v[i].exit.thread == s->first.thread; i++)
		r->v[i].open = true;
	for (size_t i = 0; i < n; i++)
		if (!s[i].until || (anew && !s[i].between_looks))
			s[kept++] = s[i];
	return kept;
}

static void keep_all_waits(struct builder *b, struct sleep_records *sleeps, struct moment_records *r)
{
	size_t kept = 0;
	runs_sort(b->spill, r->v, r->n, sizeof *r->v, by_exit);
	for (size_t i = 0, next; i < sleeps->n; i = next) {
		for (next = i + 1; next < sleeps->n && sleeps->v[next].first.thread == sleeps->v[i].first.thread;)
			next++;
		size_t n = keep_waits(r, &sleeps->v[i], next - i);
		for (size_t k = 0; k < n; k++)
			sleeps->v[kept++] = sleeps->v[i + k];
	}
	sleeps->n = kept;
}

/* ---- Rows --------------------------------------------------------------------------------------- */

/* A wait; or, where that is known better, a part of one. */
static void add_row(struct builder *b, struct sleeps *s)
{
	s->waits = !s->between_looks;
	if (s->between_looks) {
		b->graph->slept_for_others_s += graph_seconds(b, s->first.thread, s->exit.stamp - s->first.stamp);
		return;
	}
	struct unknown_wait *w = graph_add_unknown(b, (struct wait_begin){ .enter = s->first }, s->exit);
	w->otherwise = OTHERWISE_OWN;
	w->looked = s->before; /* or just behind it, before the last sleep */
	s->unknown = b->nunknown;
}

/* Sleeps outside of marked regions, again and again: so the thread may wait for what another has in memory, which it looks at in
 * between. What is in a region is work that takes as long as it does. Of one thread. */
static void add_sleeps(struct builder *b, struct sleeps *s, size_t n)
{
	const struct trace *trace = b->graph->trace;
	struct tr_cursor events = trace_events(trace, s->first.thread);
	struct replay replay;
	struct tr_event e;
	size_t next = 0;
	replay_open(&replay, trace->nsites);
	for (uint64_t at = 0; next < n && trace_next_bare(&events, &e); at++) {
		if (e.op == DPROF_LOST)
			continue;
		bool marked = tr_is_marked(trace, e.site);
		if (at == s[next].first.at) {
			if (replay.depth == 0)
				add_row(b, &s[next]);
			next++;
		}
		if (marked && e.op == DPROF_ENTER)
			replay_enter(&replay, tr_entry(trace, &e));
		else if (marked && e.op == DPROF_EXIT)
			replay_exit(&replay, e.site);
	}
	trace_end(&events);
	replay_close(&replay);
}

/* In which of the rows an event is, or NULL. */
static struct sleeps *row_of(const struct sleep_records *r, const struct event_ref *ref)
{
	const struct sleeps *s = r->v;
	size_t lo = SEARCH(r->n, mid, s[mid].first.thread < ref->thread ||
			   (s[mid].first.thread == ref->thread && s[mid].exit.at < ref->at));
	bool within = lo < r->n && s[lo].waits && s[lo].first.thread == ref->thread && s[lo].first.at < ref->at;
	return within ? &r->v[lo] : NULL;
}

/* It takes one lock and gives it back, and so on: or else it holds one while it sleeps. Those of one thread are in its order. */
static void note_look(struct sleeps *row, const struct sync_event *e)
{
	bool takes = e->kind == SYNC_TAKEN && !e->relocks, gives = e->kind == SYNC_RELEASED;
	row->waits &= row->holds ? gives && e->id == row->lock.id : takes;
	row->holds = takes;
	row->lock = (struct looked_lock){ e->process, e->id, takes ? e->ref.stamp : row->lock.stamp };
}

/* It is taken right behind a row of sleeps in which it was taken for each look. */
static bool is_last_look(const struct sleep_records *r, const struct sync_event *e)
{
	struct event_ref slept = { e->enter.thread, e->enter.at ? e->enter.at - 1 : 0, 0 };
	const struct sleeps *row = e->kind == SYNC_TAKEN && !e->relocks ? row_of(r, &slept) : NULL;
	return row && !row->holds && row->exit.at == slept.at && row->lock.stamp && row->lock.id == e->id;
}

/* Who looks while it waits keeps nobody from the lock, nor looks in another run in which it need not. */
static void pass_looks(struct builder *b, const struct sleep_records *sleeps, struct sync_records *sync)
{
	struct sleeps *row;
	for (size_t i = 0; i < sync->n; i++, spill_relax(b->spill))
		if ((row = row_of(sleeps, &sync->v[i].ref)))
			note_look(row, &sync->v[i]);
	for (size_t i = 0; i < sync->n; i++, spill_relax(b->spill))
		if ((row = row_of(sleeps, &sync->v[i].ref)) && !row->holds)
			sync->v[i].in_wait = true;
	for (size_t i = 0; i < sync->n; i++, spill_relax(b->spill))
		if (sync->v[i].in_wait || is_last_look(sleeps, &sync->v[i]))
			sync->v[i].begin = (struct wait_begin){ .enter = sync->v[i].enter };
	for (size_t i = 0; i < sleeps->n; i++)
		if (sleeps->v[i].waits && !sleeps->v[i].holds)
			b->unknown[sleeps->v[i].unknown - 1].lock = sleeps->v[i].lock;
}

/* Moments in such a wait end nothing. */
static void pass_moments(const struct sleep_records *sleeps, struct moment_records *r)
{
	size_t kept = 0;
	for (size_t i = 0; i < r->n; i++) {
		const struct sleeps *row = row_of(sleeps, &r->v[i].exit);
		if (!row || !row->until || row->holds)
			r->v[kept++] = r->v[i];
	}
	r->n = kept;
}

void graph_sleeps(struct builder *b, struct sleep_records *sleeps, struct sync_records *sync, struct moment_records *moments)
{
	if (sleeps->n == 0)
		return;
	qsort(sleeps->v, sleeps->n, sizeof *sleeps->v, by_thread);
	keep_all_waits(b, sleeps, moments);
	for (size_t i = 0, next; i < sleeps->n; i = next) {
		for (next = i + 1; next < sleeps->n && sleeps->v[next].first.thread == sleeps->v[i].first.thread;)
			next++;
		add_sleeps(b, &sleeps->v[i], next - i);
	}
	pass_looks(b, sleeps, sync);
	pass_moments(sleeps, moments);
}
