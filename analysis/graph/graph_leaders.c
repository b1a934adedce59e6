/* SPDX-License-Identifier: MIT
 *
 * graph_leaders.c - what several threads have put somewhere, one of them does for all, the others wait for that (a group commit):
 *
 *   lock, put, while (under way) wait, unlock, do all that is there, lock, broadcast, unlock        who leads
 *   lock, put, while (not done) wait, unlock                                                       who does not
 *
 * In another run it is another one who leads, and as more or less is put meanwhile, as often as it takes. That is seen where some
 * who have waited go away without having done anything, each behind the first such work that began when it had put something, and
 * no two are at that work at a time; and where the lock is taken for nothing else. What one does, behind giving the lock back,
 * belongs to what it leads up to the lock with which it wakes the others; it is for those who had put something before the lock was
 * given back for the last time. Nothing of it is proved. */
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/search.h"
#include "analysis/graph/graph_locks.h"

#define LEAST_LEADS 2 /* and by so many threads */
#define FEW         4 /* one of so many may be woken late */

/* From when a thread came to put something until it went away. starts, begins: when it gave the lock back first and last, for the
 * work that it led, which had an end; or at = NO_EVENT. */
struct led_visit { struct event_ref came, put, left, starts, begins, ends; bool waited, open; };

struct leaders {
	struct sync_pass *pass;
	const struct sync_event *t; size_t n;  /* all that concerns the condition variable, by time */
	struct section lock;
	uint64_t from, until;                  /* of the lock, what is in between, but for the last stamp */
	uint32_t *sites; size_t nsites;        /* where those who wait come to the lock */
	struct led_visit *v; size_t nv;        /* of one thread after the other, once they are sorted */
	size_t *last;                          /* of each thread its last one, and 1; or 0 */
	const struct led_visit **leads; size_t nleads; /* by their ends */
};

static bool is_site(const struct leaders *l, uint32_t site)
{
	for (size_t i = 0; i < l->nsites; i++)
		if (l->sites[i] == site)
			return true;
	return false;
}

/* False: some wait with another lock. */
static bool find_sites(struct leaders *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct sync_event *e = &l->t[i], *came = NULL;
		if (e->kind != SYNC_WOKEN)
			continue;
		came = e->relocks ? graph_find_section(l->pass->events, &e->section) : NULL;
		if (!came || (l->nsites && (e->section.id != l->lock.id || e->section.process != l->lock.process)))
			return false;
		l->lock = e->section;
		if (!is_site(l, came->site))
			*MEM_GROW(l->sites, l->nsites) = came->site;
	}
	return l->nsites > 0;
}

/* False: it is taken for something else. */
static bool visit(struct leaders *l, const struct sync_event *e)
{
	size_t *last = &l->last[e->ref.thread];
	const struct event_ref none = { .at = NO_EVENT };
	struct led_visit *v = *last ? &l->v[*last - 1] : NULL;
	if (e->kind == SYNC_TAKEN && !e->relocks && is_site(l, e->site)) {
		*MEM_GROW(l->v, l->nv) = (struct led_visit){ e->enter, e->ref, none, none, none, none, false, true };
		*last = l->nv;
		return true;
	}
	if (!v)
		return false;
	if (e->kind == SYNC_RELEASED) {
		v->left = e->ref;
		v->open = false;
		return true;
	}
	v->waited |= e->relocks;
	if (!e->relocks) {
		v->starts = v->begins.at == NO_EVENT ? v->left : v->starts;
		v->begins = v->left;
	}
	v->open = true;
	return !e->relocks || e->condition == l->t->id;
}

static bool find_visits(struct leaders *l)
{
	const struct sync_records *r = l->pass->events;
	size_t i = graph_sync_events(r, l->lock.process, l->lock.id, true, l->from);
	for (; i < r->n && ++l->pass->looked_at < GRAPH_MOST_LOOKED_AT; i++) {
		const struct sync_event *e = &r->v[i];
		if (e->process != l->lock.process || e->id != l->lock.id || (e->kind != SYNC_TAKEN && e->kind != SYNC_RELEASED) ||
		    e->ref.stamp >= l->until)
			return true;
		if (!e->in_wait && !visit(l, e))
			return false;
	}
	return i == r->n;
}

static int by_thread(const void *x, const void *y)
{
	const struct led_visit *a = x, *b = y;
	return ORDER_2(a, b, came.thread, came.at);
}

/* In which the thread signalled, or behind which; or NULL. */
static struct led_visit *visit_of(struct leaders *l, struct event_ref signal)
{
	size_t next = SEARCH(l->nv, mid, l->v[mid].came.thread < signal.thread ||
					     (l->v[mid].came.thread == signal.thread && l->v[mid].came.at <= signal.at));
	return next > 0 && l->v[next - 1].came.thread == signal.thread ? &l->v[next - 1] : NULL;
}

/* False: somebody signals who has not led. */
static bool find_ends(struct leaders *l)
{
	qsort(l->v, l->nv, sizeof *l->v, by_thread);
	for (size_t i = 0; i < l->n; i++) {
		if (l->t[i].kind != SYNC_SIGNALLED)
			continue;
		struct led_visit *v = visit_of(l, l->t[i].ref);
		if (!v || v->begins.at == NO_EVENT || v->begins.at >= l->t[i].ref.at)
			return false;
		if (v->ends.at == NO_EVENT)
			*MEM_GROW(l->leads, l->nleads) = v;
		v->ends = l->t[i].ref;
		if (v->left.at < v->ends.at)
			v->left = v->ends;
	}
	return l->nleads >= LEAST_LEADS;
}

/* No two at a time, and not all by one. */
static bool lead_in_turn(const struct leaders *l)
{
	bool several = false;
	for (size_t i = 1; i < l->nleads; i++) {
		if (l->leads[i]->starts.stamp < l->leads[i - 1]->ends.stamp)
			return false;
		several |= l->leads[i]->came.thread != l->leads[0]->came.thread;
	}
	return several;
}

/* Whoever comes waits if somebody leads then, and else leads. */
static bool waits_for_leader(const struct leaders *l, const struct led_visit *v)
{
	size_t by = SEARCH(l->nleads, mid, l->leads[mid]->starts.stamp < v->put.stamp);
	return by > 0 && l->leads[by - 1]->ends.stamp > v->put.stamp;
}

/* Each who does not lead goes away behind the first who began to lead when it had put something: no sooner, and before the next one
 * is through. */
static bool are_served(const struct leaders *l)
{
	size_t served = 0, late = 0;
	for (size_t i = 0; i < l->nv; i++) {
		const struct led_visit *v = &l->v[i];
		if (v->open || v->left.at == NO_EVENT || v->waited != waits_for_leader(l, v))
			return false;
		if (v->ends.at != NO_EVENT)
			continue;
		size_t by = SEARCH(l->nleads, mid, l->leads[mid]->begins.stamp < v->put.stamp);
		if (!v->waited || v->begins.at != NO_EVENT || by == l->nleads || l->leads[by]->ends.stamp > v->left.stamp)
			return false;
		late += by + 1 < l->nleads && l->leads[by + 1]->ends.stamp < v->left.stamp;
		served++;
	}
	return served > 0 && FEW * late <= served;
}

static void add_points(struct builder *b, const struct leaders *l)
{
	uint32_t group = graph_group(b, false);
	b->graph->groups[group].leads = true;
	for (size_t i = 0; i < l->nv; i++) {
		const struct led_visit *v = &l->v[i];
		graph_point(b, v->came, GRAPH_REQUESTS, group);
		if (v->ends.at != NO_EVENT) {
			graph_point(b, v->begins, GRAPH_OBTAINS, group);
			graph_point(b, v->ends, GRAPH_OBTAINS, group);
		}
		graph_point(b, v->left, GRAPH_FINISHES, group);
	}
}

bool graph_find_leaders(struct sync_pass *p, const struct sync_event *t, size_t n, uint64_t from, uint64_t until)
{
	struct leaders l = { .pass = p, .t = t, .n = n, .from = from, .until = until };
	l.last = mem_zeroed(p->b->graph->trace->nthreads + 1, sizeof *l.last);
	bool found = find_sites(&l) && find_visits(&l) && find_ends(&l) && lead_in_turn(&l) && are_served(&l);
	if (found)
		add_points(p->b, &l);
	free(l.sites);
	free(l.v);
	free(l.last);
	free(l.leads);
	return found;
}
