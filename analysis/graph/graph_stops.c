/* SPDX-License-Identifier: MIT
 *
 * graph_stops.c - threads that work in pieces, and look between them whether another one has said that they shall stop.
 *
 *   looks    look [piece] look [piece] look [piece] look          while (!stop) piece();
 *   stops                                stop                     stop = true;
 *
 * With a lock: what they find there is not recorded. So a thread is expected to stop because of another if that one alone, of
 * all who do not look, ever took the lock, once; if whoever looks does so at one place, with nothing in between for which it
 * waits, some times before that, and never behind its first look after it; and if nobody ever waits for the lock.
 *
 * At an atomic number in memory: only the look is recorded that has found another one than before, and what has set that
 * (runtime/flags.c). So a thread is expected to stop because of another that has set the number last, while the last piece of
 * several went on.
 *
 * Then it stops as long behind that as here. Nothing of it is proved. */
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/runs.h"
#include "analysis/base/search.h"
#include "analysis/graph/graph_stops.h"

/* What its thread did since the first piece ends so. */
static void stop(struct builder *b, struct event_ref first, struct event_ref end, struct event_ref cause)
{
	struct node_input inputs[] = { { .ref = first, .sure = true }, { .ref = cause, .sure = true } };
	graph_end_by(b, end, graph_add_chance(b, GRAPH_SYNC, inputs, 2));
	b->threads[end.thread].is_stopped = true;
}

/* ---- With a lock ------------------------------------------------------------------------------ */

#define SOME_LOOKS 5 /* before: one in that many ends just then by chance */

/* Of one thread that takes a lock: the first and the last time, and how often. */
struct lock_looker { const struct sync_event *first, *last; size_t n; bool at_places; };

/* Who take it, in the order in which they came; and who does so once. */
struct lock_lookers { struct lock_looker *v; size_t n; const struct sync_event *stops; bool others; };

static void add_look(struct lock_lookers *l, const struct sync_event *e)
{
	size_t i = 0;
	while (i < l->n && l->v[i].first->ref.thread != e->ref.thread)
		i++;
	if (i == l->n)
		*MEM_GROW(l->v, l->n) = (struct lock_looker){ .first = e };
	struct lock_looker *v = &l->v[i];
	v->at_places |= v->n > 0 && v->first->site != e->site;
	v->last = e;
	v->n++;
}

#define MOST_LOOKERS 256

/* Whether those who took the lock last, each once, did so at several places: else nobody stopped them. That is seen soon. */
static bool ends_at_places(const struct sync_event *t, size_t n)
{
	const struct sync_event *last = NULL;
	for (size_t i = n, lasts = 0; i-- > 0 && lasts <= MOST_LOOKERS;) {
		if (t[i].kind != SYNC_TAKEN)
			continue;
		for (size_t k = i + 1; k < n; k++)
			if (t[k].kind == SYNC_TAKEN && t[k].ref.thread == t[i].ref.thread)
				return false;
		if (last && last->site != t[i].site)
			return true;
		last = &t[i];
		lasts++;
	}
	return false;
}

/* Whether nothing is done with the lock but looks, and one signal, in t[0 .. n), for none of which a thread waits: who is kept from
 * looking waits for whoever has the lock, however often others look. */
static bool find_lookers(const struct sync_event *t, size_t n, struct lock_lookers *l)
{
	for (size_t i = 0; i < n; i++) {
		bool waits = t[i].kind == SYNC_TAKEN && t[i].ref.stamp > t[i].begin.enter.stamp;
		if (t[i].in_wait || t[i].relocks || t[i].condition || waits)
			return false;
		if (t[i].kind == SYNC_TAKEN)
			add_look(l, &t[i]);
		if (l->n > MOST_LOOKERS)
			return false;
	}
	for (size_t i = 0; i < l->n; i++) {
		l->others |= l->v[i].n == 1 ? l->stops != NULL : l->v[i].n <= SOME_LOOKS || l->v[i].at_places;
		l->stops = l->v[i].n == 1 ? l->v[i].first : l->stops;
	}
	return l->stops && !l->others && l->n > 1;
}

static size_t operations_before(const struct builder *b, struct event_ref event)
{
	const struct passed_operations *passed = &b->threads[event.thread].operations;
	return SEARCH(passed->n, mid, passed->v[mid].at < event.at);
}

/* All its looks but the last came before, and it did not wait for anything else in between. */
static bool is_stopped(const struct builder *b, const struct lock_looker *l, const struct sync_event *stops,
		       const struct sync_event *t)
{
	const struct sync_event *before = l->last;
	while (before > t && (before == l->last || before->kind != SYNC_TAKEN || before->ref.thread != l->last->ref.thread))
		before--;
	return before < stops && stops < l->last &&
	       operations_before(b, l->last->enter) - operations_before(b, l->first->enter) == l->n - 1;
}

static const struct sync_event *release_of(const struct sync_event *stops, const struct sync_event *end)
{
	for (const struct sync_event *e = stops; e < end; e++)
		if (e->kind == SYNC_RELEASED && e->ref.thread == stops->ref.thread)
			return e;
	return NULL;
}

static bool are_stopped(const struct builder *b, const struct lock_lookers *l, const struct sync_event *t)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].n > 1 && !is_stopped(b, &l->v[i], l->stops, t))
			return false;
	return true;
}

static const struct lock_looker *looker_of(const struct lock_lookers *l, uint32_t thread)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].first->ref.thread == thread)
			return &l->v[i];
	return NULL;
}

/* How many there are of them depends on when it is said. */
static void pass_over(const struct lock_lookers *l, struct sync_event *t, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct lock_looker *of = looker_of(l, t[i].ref.thread);
		t[i].in_row = of && t[i].ref.at >= of->first->ref.at && t[i].ref.at < of->last->enter.at;
	}
}

bool graph_lock_stops(struct builder *b, struct sync_event *t, size_t n)
{
	struct lock_lookers l = { .n = 0 };
	bool stops = ends_at_places(t, n) && find_lookers(t, n, &l) && are_stopped(b, &l, t);
	const struct sync_event *given = stops ? release_of(l.stops, t + n) : NULL;
	for (size_t i = 0; i < l.n && given; i++) {
		if (l.v[i].n == 1)
			continue;
		stop(b, l.v[i].first->ref, l.v[i].last->enter, given->ref);
		b->graph->filled = b->graph->filled == TR_NO_SITE ? l.v[i].first->site : b->graph->filled;
	}
	if (given)
		pass_over(&l, t, n);
	free(l.v);
	return given != NULL;
}

/* ---- At a number in memory ---------------------------------------------------------------------- */

static int by_object(const void *x, const void *y)
{
	const struct flag_change *a = x, *b = y;
	return ORDER_4(a, b, process, object, ref.stamp, ref.thread);
}

/* Visits to one region, with nothing in between for which the thread waits. */
struct pieces_before { uint32_t site; size_t n; struct event_ref first, before, last; };

static void add_piece(struct pieces_before *p, uint32_t site, struct event_ref exit)
{
	if (p->n == 0 || p->site != site)
		*p = (struct pieces_before){ .site = site, .first = exit, .last = exit };
	p->before = p->last;
	p->last = exit;
	p->n++;
}

/* What has been found, and all changes of that number, of which those before it may have been the one. */
struct flag_stop { const struct flag_change *found, *changes; };

static int by_finder(const void *x, const void *y)
{
	const struct flag_stop *a = x, *b = y;
	return ORDER_2(a, b, found->ref.thread, found->ref.at);
}

/* By the first change since it has looked before: who finds it, too, leaves a record as whoever sets it does. */
static void stop_by_flag(struct builder *b, const struct pieces_before *p, const struct flag_stop *f)
{
	const struct flag_change *found = f->found, *set = f->changes;
	while (set < found && (set->ref.thread == found->ref.thread || set->ref.stamp <= p->before.stamp))
		set++;
	if (p->n >= SOME_LOOKS && set < found)
		stop(b, p->first, set->ref.stamp <= p->last.stamp ? p->last : found->ref, set->ref);
}

/* Those of one thread. */
static void follow(struct builder *b, const struct flag_stop *f, size_t n)
{
	const struct trace *trace = b->graph->trace;
	uint32_t thread = f->found->ref.thread;
	struct tr_cursor events = trace_events(trace, thread);
	struct pieces_before p = { .n = 0 };
	struct tr_event e;
	for (uint64_t at = 0, next = 0; next < n && trace_next_bare(&events, &e); at++) {
		if (f[next].found->ref.at == at)
			stop_by_flag(b, &p, &f[next++]);
		if (e.op == DPROF_EXIT && tr_is_marked(trace, e.site))
			add_piece(&p, e.site, (struct event_ref){ thread, at, e.stamp });
		else if (e.op == DPROF_LOST || (e.op == DPROF_ENTER && tr_is(trace, e.site, OP_OTHERS)))
			p.n = 0;
	}
	trace_end(&events);
}

void graph_flag_stops(struct builder *b, struct flag_records *r)
{
	struct flag_stop *f = NULL;
	size_t n = 0;
	runs_sort(b->spill, r->v, r->n, sizeof *r->v, by_object);
	for (size_t i = 0, first = 0; i < r->n; i++) {
		const struct flag_change *found = &r->v[i];
		if (found->process != r->v[first].process || found->object != r->v[first].object)
			first = i;
		if (i > first)
			*SPILL_GROW(b->spill, f, n) = (struct flag_stop){ found, &r->v[first] };
	}
	runs_sort(b->spill, f, n, sizeof *f, by_finder);
	for (size_t i = 0, next; i < n; i = next) {
		for (next = i + 1; next < n && f[next].found->ref.thread == f[i].found->ref.thread;)
			next++;
		follow(b, f + i, next - i);
	}
	spill_free(b->spill, f);
}
