/* SPDX-License-Identifier: MIT
 *
 * graph_conditions.c - condition variables that count, as semaphores do: queues with a lock, buffers with room for a few.
 *
 *   lock, while (empty) wait, take, unlock       those who take
 *   lock, put, signal, unlock                    those who put, once for each that is taken
 *
 * Who finds something does not wait, and leaves no record of for whom it would have: so in another run in which who takes is faster,
 * or who puts is slower, nobody would know that it has to. Where what was seen is what a semaphore does, it is taken for one: the
 * n-th who has been in the lock to take is served by the n-th signal, but for as many as there were to begin with. That must hold
 * of all who waited: the signal that serves each of them came while it waited; and nobody does both. Nothing of it is proved. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/graph/graph_private.h"

#define MOST_LOOKED_AT (UINT64_C(1) << 26) /* events of locks, for all condition variables */

/* Who has been in the lock to take: since when, when it had what it came for, and what it did last there. */
struct visitor { struct event_ref came, has, left; bool waited; };

struct counting {
	struct builder *b;
	const struct sync_event *t; size_t n;  /* all that concerns the condition variable, by time */
	const struct section *lock;
	bool *takes;                           /* of each thread, */
	size_t *last;                          /* and of visitors its last one, and 1; or 0 */
	uint32_t *sites; size_t nsites;        /* where they come to the lock */
	struct visitor *visitors; size_t nvisitors; /* by `has` */
	const struct sync_event **puts; size_t nputs;
	size_t first;                          /* as many were there to begin with */
};

static bool has_site(const struct counting *c, uint32_t site)
{
	for (size_t i = 0; i < c->nsites; i++)
		if (c->sites[i] == site)
			return true;
	return false;
}

/* Who waits and who signals; and with which lock. False where somebody does both, or there are several locks. */
static bool find_parts(struct counting *c)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct sync_event *e = &c->t[i], *came = e->kind == SYNC_WOKEN ? graph_find_section(c->b, &e->section) : NULL;
		if (e->kind == SYNC_SIGNALLED) {
			*MEM_GROW(c->puts, c->nputs) = e;
			continue;
		}
		c->lock = c->lock ? c->lock : &e->section;
		if (!came || !e->relocks || e->section.id != c->lock->id || e->section.process != c->lock->process)
			return false;
		c->takes[e->ref.thread] = true;
		if (!has_site(c, came->site))
			*MEM_GROW(c->sites, c->nsites) = came->site;
	}
	for (size_t i = 0; i < c->nputs; i++)
		if (c->takes[c->puts[i]->ref.thread])
			return false;
	return c->lock && c->nputs > 0;
}

static int by_has(const void *x, const void *y)
{
	const struct visitor *a = x, *b = y;
	return (a->has.stamp > b->has.stamp) - (a->has.stamp < b->has.stamp);
}

/* All events of the lock. False: somebody waited there for something else as well, or there are too many. */
static bool find_visitors(struct counting *c)
{
	struct builder *b = c->b;
	size_t i = graph_sync_events(b, c->lock->process, c->lock->id, true, 0);
	for (; i < b->nsync_events; i++) {
		const struct sync_event *e = &b->sync_events[i];
		struct visitor *last = c->last[e->ref.thread] ? &c->visitors[c->last[e->ref.thread] - 1] : NULL;
		if (++b->looked_at_locks >= MOST_LOOKED_AT)
			return false;
		if (e->process != c->lock->process || e->id != c->lock->id || (e->kind != SYNC_TAKEN && e->kind != SYNC_RELEASED))
			break;
		if (!c->takes[e->ref.thread] || e->in_wait)
			continue;
		bool open = last && last->left.at == NO_EVENT;
		if (e->kind == SYNC_TAKEN && !e->relocks && has_site(c, e->site)) {
			*MEM_GROW(c->visitors, c->nvisitors) = (struct visitor){ e->ref, e->ref, { .at = NO_EVENT }, false };
			c->last[e->ref.thread] = c->nvisitors;
		} else if (e->kind == SYNC_TAKEN && e->relocks && last) {
			if (e->condition != c->t->id)
				return false;
			last->has = e->ref;
			last->waited = true;
			last->left.at = NO_EVENT;
		} else if (e->kind == SYNC_RELEASED && open) {
			last->left = e->ref;
		}
	}
	if (c->nvisitors)
		qsort(c->visitors, c->nvisitors, sizeof *c->visitors, by_has);
	return c->nvisitors > 0;
}

/* How many were there to begin with: the fewest with which nobody has anything before it was put. */
static void find_first(struct counting *c)
{
	size_t put = 0;
	for (size_t i = 0; i < c->nvisitors; i++) {
		while (put < c->nputs && c->puts[put]->ref.stamp <= c->visitors[i].has.stamp)
			put++;
		if (i + 1 > put + c->first && put < c->nputs)
			c->first = i + 1 - put;
	}
}

/* What served the i-th, or NULL; behind the last put somebody has said that there will be no more. */
static const struct sync_event *put_for(const struct counting *c, size_t i)
{
	if (i < c->first)
		return NULL;
	return c->puts[i - c->first < c->nputs ? i - c->first : c->nputs - 1];
}

static bool counts(const struct counting *c)
{
	bool waited = false;
	for (size_t i = 0; i < c->nvisitors; i++) {
		const struct visitor *v = &c->visitors[i];
		const struct sync_event *put = put_for(c, i);
		if (v->waited && (!put || put->ref.stamp < v->came.stamp || put->ref.stamp > v->has.stamp))
			return false;
		waited |= v->waited;
	}
	return waited;
}

/* It goes on only behind what it found there. */
static void serve(const struct counting *c, const struct visitor *v, const struct sync_event *put)
{
	struct node_input inputs[] = { { .ref = v->left, .sure = true }, { .ref = put->ref, .sure = true } };
	struct event_ref next = { v->left.thread, v->left.at + 1, v->left.stamp };
	if (v->left.at == NO_EVENT || next.at >= c->b->graph->threads[next.thread].nevents || put->ref.stamp > v->left.stamp)
		return;
	uint32_t number = graph_add_node(c->b, GRAPH_SYNC, inputs, 2);
	struct graph_node *node = &c->b->graph->nodes[number];
	node->loose = node->hidden = node->delayed = true;
	graph_wait(c->b, next, number);
}

void graph_counting_condition(struct builder *b, const struct sync_event *t, size_t n)
{
	size_t nthreads = b->graph->trace->nthreads;
	struct counting c = { .b = b, .t = t, .n = n, .takes = mem_resize(NULL, nthreads + 1, sizeof *c.takes),
			     .last = mem_resize(NULL, nthreads + 1, sizeof *c.last) };
	memset(c.takes, 0, nthreads * sizeof *c.takes);
	memset(c.last, 0, nthreads * sizeof *c.last);
	if (find_parts(&c) && find_visitors(&c)) {
		find_first(&c);
		bool all = counts(&c);
		for (size_t i = 0; all && i < c.nvisitors; i++)
			if (!c.visitors[i].waited && put_for(&c, i))
				serve(&c, &c.visitors[i], put_for(&c, i));
	}
	free(c.takes);
	free(c.last);
	free(c.sites);
	free(c.visitors);
	free(c.puts);
}
