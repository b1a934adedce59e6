/* SPDX-License-Identifier: MIT
 *
 * graph_serials.c - barriers of which the program asks who is the serial thread (pthread_barrier_wait), which does more behind it:
 *
 *   if (pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD) reduce
 *
 * The C library gives that to whoever comes last. What it does more is the first marked region behind the barrier, again and again,
 * if no thread is in there elsewhere: neither behind one at which it was not the last, nor before its first.
 *
 * Expected is that whoever comes as the last does what the last one does here, where the last one does more at each round. */
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/search.h"
#include "analysis/graph/graph_private.h"

/* A thread comes to such a barrier, and leaves it; and its marked regions from there on, up to the next one, of all: */
struct serial_visit { uint64_t key; struct event_ref enter, exit; size_t first, n; bool last; };
/* each site, and the EXIT of the last of those that follow each other there. */
struct serial_region { uint32_t site; struct event_ref exit; };

struct serial_visits {
	struct serial_visit *v; size_t n;
	struct serial_region *regions; size_t nregions;
	bool *elsewhere;          /* each site */
};

static bool asks_for_serial(const struct trace *trace, uint32_t site)
{
	return site < trace->nsites && trace->sites[site].kind == DPROF_KIND_BARRIER && tr_is(trace, site, OP_ELECTS);
}

/* Of all who were there; 0: not known. */
static uint64_t key_of(const struct builder *b, struct event_ref exit)
{
	const struct passed_barriers *p = &b->threads[exit.thread].barriers;
	size_t i = SEARCH(p->n, mid, p->v[mid].at < exit.at);
	return i < p->n && p->v[i].at == exit.at && p->v[i].group != BARRIER_OF_UNKNOWN ? p->v[i].key : 0;
}

/* Along a thread: its last visit, and how deep in marked regions it is that began behind it. */
struct serial_walk { struct event_ref enter; bool behind; uint64_t depth; };

static void add_region(struct serial_visits *s, uint32_t site, struct event_ref exit)
{
	struct serial_visit *v = &s->v[s->n - 1];
	if (v->n == 0 || s->regions[s->nregions - 1].site != site) {
		*MEM_GROW(s->regions, s->nregions) = (struct serial_region){ .site = site };
		v->n++;
	}
	s->regions[s->nregions - 1].exit = exit;
}

static void note_region(struct serial_visits *s, struct serial_walk *w, const struct tr_event *e, struct event_ref ref)
{
	if (e->op == DPROF_ENTER) {
		w->depth++;
		s->elsewhere[e->site] |= !w->behind;
	} else if (e->op == DPROF_EXIT && w->depth > 0 && --w->depth == 0 && w->behind) {
		add_region(s, e->site, ref);
	}
}

static void note_visits(struct builder *b, struct serial_visits *s, uint32_t thread)
{
	const struct trace *trace = b->graph->trace;
	struct tr_cursor events = trace_events(trace, thread);
	struct serial_walk w = { .behind = false };
	struct tr_event e;
	for (uint64_t at = 0; trace_next_bare(&events, &e); at++) {
		struct event_ref ref = { thread, at, e.stamp };
		if (e.op == DPROF_LOST || e.site >= trace->nsites)
			continue;
		if (tr_is_marked(trace, e.site)) {
			note_region(s, &w, &e, ref);
		} else if (asks_for_serial(trace, e.site) && e.op == DPROF_ENTER) {
			w.enter = ref;
		} else if (asks_for_serial(trace, e.site) && e.op == DPROF_EXIT) {
			*MEM_GROW(s->v, s->n) = (struct serial_visit){ key_of(b, ref), w.enter, ref, s->nregions, 0, false };
			w = (struct serial_walk){ .behind = true };
		}
	}
	trace_end(&events);
}

static int by_round(const void *x, const void *y)
{
	const struct serial_visit *a = x, *b = y;
	return ORDER_3(a, b, key, enter.stamp, enter.thread);
}

static size_t end_of_round(const struct serial_visits *s, size_t i)
{
	size_t next = i + 1;
	while (next < s->n && s->v[next].key == s->v[i].key)
		next++;
	return next;
}

/* Of each round who is the last. The regions behind all other visits are elsewhere. */
static void find_last(struct serial_visits *s)
{
	if (s->n)
		qsort(s->v, s->n, sizeof *s->v, by_round);
	for (size_t i = 0; i < s->n; i++) {
		struct serial_visit *v = &s->v[i];
		v->last = v->key && i + 1 == end_of_round(s, i);
		for (size_t k = v->first; k < v->first + v->n && !v->last; k++)
			s->elsewhere[s->regions[k].site] = true;
	}
}

/* Where what the last one does more is over; or where it leaves the barrier. */
static struct event_ref more_until(const struct serial_visits *s, const struct serial_visit *v)
{
	bool more = v->n > 0 && !s->elsewhere[s->regions[v->first].site];
	return more ? s->regions[v->first].exit : v->exit;
}

/* The last of each round does more. */
static bool do_more(const struct serial_visits *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].key == 0 || (s->v[i].last && more_until(s, &s->v[i]).at == s->v[i].exit.at))
			return false;
	return s->n > 0;
}

static void elect(struct builder *b, const struct serial_visits *s)
{
	for (size_t i = 0, next; i < s->n; i = next) {
		uint32_t group = graph_group(b, false);
		b->graph->groups[group].each = true;
		next = end_of_round(s, i);
		for (size_t k = i; k < next; k++) {
			graph_request(b, s->v[k].enter, s->v[k].enter, group);
			graph_point(b, s->v[k].last ? more_until(s, &s->v[k]) : s->v[k].exit, GRAPH_FINISHES, group);
		}
	}
}

void graph_serials(struct builder *b)
{
	const struct trace *trace = b->graph->trace;
	struct serial_visits s = { .n = 0 };
	bool any = false;
	for (uint32_t site = 0; site < trace->nsites && !any; site++)
		any = asks_for_serial(trace, site);
	if (!any)
		return;
	s.elsewhere = mem_zeroed(trace->nsites + 1, sizeof *s.elsewhere);
	for (uint32_t t = 0; t < trace->nthreads; t++)
		note_visits(b, &s, t);
	find_last(&s);
	if (do_more(&s))
		elect(b, &s);
	free(s.v);
	free(s.regions);
	free(s.elsewhere);
}
