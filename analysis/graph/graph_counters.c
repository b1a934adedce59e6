/* SPDX-License-Identifier: MIT
 *
 * graph_counters.c - work that threads take by a counter that they share:
 *
 *   while ((i = atomic_fetch_add(&next, 1)) < n) work(i)
 *
 * What such a thread does another may do in another run. The plugin records it where it sees it; elsewhere there is no
 * sign of it but that it is shared out: of threads that were created in one place, or processes that one forked there,
 * not all are as often in a region, and they leave it, or all regions, for the last time no further apart than the longest
 * such piece takes, since nobody is idle while there is one left. Those that come behind the end of all others from there
 * are looked at by themselves. Chance may look so, too; then what is proved is only wider than need be. Where a lock or
 * something else that is recorded gives out the work, that is known better (graph_pools.c); so it is of ranks that count
 * in a window.
 *
 * Of a team of OpenMP that is looked for up to each barrier; but a static loop, of which there is no record either, gives some
 * threads one iteration more.
 *
 * Expected is that whoever comes next does the next marked region, up to the threads' next barrier, where that is hardly chance:
 * there are several for each thread, no thread waits for others in between, all have begun their last before the first has ended
 * his, and end with it but for a small part of the time.
 *
 * So it is where threads look for work at several locks (a queue of each thread, from which others steal, or a lock of each piece,
 * which whoever tries first has): between two pieces they take some at one place, or some that others take as well, hardly
 * wait for them, and not always as many. They may sleep or yield before they look again. Each lock by itself may look as if it gave
 * out work, but all of them do together. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/runs.h"
#include "analysis/graph/graph_counters.h"

/* Of a region, in the threads that are looked at. */
struct shared_out {
	uint64_t fewest, most;       /* how often a thread has been in it */
	uint64_t longest, first_end, last_end; /* a piece; last ends, of whoever is through first and last */
};

/* Of a thread. */
struct counter_pieces { uint64_t n, since, last; uint32_t depth; };

static void count_pieces(const struct builder *b, uint32_t thread, struct counter_pieces *pieces, struct shared_out *all)
{
	const struct trace *trace = b->graph->trace;
	struct tr_cursor events = trace_events(trace, thread);
	struct tr_event e;
	memset(pieces, 0, trace->nsites * sizeof *pieces);
	while (trace_next_bare(&events, &e)) {
		if (e.op == DPROF_LOST || e.site >= trace->nsites || !tr_is(trace, e.site, OP_REGION))
			continue;
		struct counter_pieces *p = &pieces[e.site];
		if (e.op == DPROF_ENTER && p->depth++ == 0) {
			p->since = e.stamp;
			p->n++;
		} else if (e.op == DPROF_EXIT && p->depth > 0 && --p->depth == 0) {
			p->last = e.stamp;
			all[e.site].longest = e.stamp - p->since > all[e.site].longest ? e.stamp - p->since : all[e.site].longest;
		}
	}
	trace_end(&events);
}

static void add_pieces(const struct counter_pieces *p, struct shared_out *all)
{
	all->fewest = p->n < all->fewest ? p->n : all->fewest;
	all->most = p->n > all->most ? p->n : all->most;
	all->first_end = p->last < all->first_end ? p->last : all->first_end;
	all->last_end = p->last > all->last_end ? p->last : all->last_end;
}

static bool is_unequal(const struct shared_out *s)
{
	return s->fewest > 0 && s->fewest < s->most;
}

static bool ends_together(const struct shared_out *s)
{
	return s->last_end - s->first_end <= s->longest;
}

/* Of all regions in which a thread has been twice: what is given out may be pieces of several kinds. The pieces are of one
 * thread. */
static void add_all_pieces(const struct trace *trace, const struct counter_pieces *p, const struct shared_out *regions,
			   struct shared_out *all)
{
	struct counter_pieces of_all = { .last = 0 };
	for (uint32_t s = 0; s < trace->nsites; s++) {
		if (regions[s].most < 2 || trace->sites[s].automatic)
			continue;
		of_all.last = p[s].last > of_all.last ? p[s].last : of_all.last;
		all->longest = regions[s].longest > all->longest ? regions[s].longest : all->longest;
	}
	add_pieces(&of_all, all);
}

/* ---- Pieces, up to a barrier ------------------------------------------------------------------ */

#define MOST_COUNTED  4096 /* regions of a thread that are looked at */
#define MOST_LOCKS    64   /* likewise locks */
#define ENOUGH_EACH   3    /* for each thread */
#define SMALL_PART    4    /* of the time */
#define HARDLY        16   /* likewise, much smaller */

/* A marked region that is in no other: its ENTER and its EXIT, and how many barriers came before; and whether its thread may have
 * waited for others in it, or between the one before and it. How many locks it took since the one before, which took so many ticks,
 * and at which site, or `several`; and where it came for the first of those behind it. And all locks of a thread,
 * by their ids. */
struct counter_counted {
	struct event_ref enter, exit, next;
	uint32_t site, epoch;
	bool waits, waited, several;
	uint64_t locks, waited_for_locks;
	uint32_t lock_site;
};
struct counted_thread {
	struct counter_counted *v; size_t n;
	uint64_t locks[MOST_LOCKS]; size_t nlocks;
	size_t next, end; /* of the epoch that is looked at */
};

/* Along a thread: the piece that it is in, or comes to. */
struct counter_walk { struct counter_counted piece; uint64_t since; uint32_t depth; bool waits; };

static bool has_lock(const struct counted_thread *c, uint64_t id)
{
	for (size_t i = 0; i < c->nlocks; i++)
		if (c->locks[i] == id)
			return true;
	return false;
}

/* Comes to a lock, outside of pieces, or has it. Behind a piece the first of them is where the thread asks for the next one. */
static void count_lock(struct counter_walk *k, struct counted_thread *c, struct event_ref self, const struct tr_event *e)
{
	if (e->op == DPROF_ENTER) {
		k->since = self.stamp;
		if (k->piece.locks == 0 && c->n)
			c->v[c->n - 1].next = self;
		k->piece.several |= k->piece.locks > 0 && k->piece.lock_site != e->site;
		k->piece.lock_site = e->site;
		k->piece.locks++;
		uint64_t id = trace_arg(e, DPROF_KEY_ID, 0);
		if (c->nlocks < MOST_LOCKS && !has_lock(c, id))
			c->locks[c->nlocks++] = id;
	} else if (e->op == DPROF_EXIT) {
		k->piece.waited_for_locks += self.stamp - k->since;
	}
}

static void count_region(struct counter_walk *k, struct counted_thread *c, struct event_ref self, const struct tr_event *e,
			 uint32_t epoch)
{
	if (e->op == DPROF_ENTER && k->depth++ == 0) {
		k->piece.enter = self;
		k->piece.waited = k->waits;
		k->waits = false;
	} else if (e->op == DPROF_EXIT && k->depth > 0 && --k->depth == 0) {
		k->piece.exit = k->piece.next = self;
		k->piece.site = e->site;
		k->piece.epoch = epoch;
		k->piece.waits = k->waits;
		*MEM_GROW(c->v, c->n) = k->piece;
		*k = (struct counter_walk){ .waits = false };
	}
}

/* An attempt, or a yield. */
static bool is_in_vain(const struct trace *trace, const struct tr_event *e)
{
	const struct operation *o = &trace->sites[e->site].op;
	bool yields = trace->sites[e->site].kind == DPROF_KIND_WAIT && arg_expired(o, e) && arg_for_unknown(o, e);
	return o->is & OP_ATTEMPT || (trace->sites[e->site].kind == DPROF_KIND_WAIT && e->op == DPROF_EXIT) || yields;
}

/* Of a thread; what it takes of locks outside of them, or tries to, is no waiting if it `searches`. */
static struct counted_thread count_regions(const struct builder *b, uint32_t thread, bool searches)
{
	const struct trace *trace = b->graph->trace;
	const struct passed_barriers *barriers = &b->threads[thread].barriers;
	struct counted_thread c = { .n = 0 };
	struct tr_cursor events = trace_events(trace, thread);
	struct counter_walk k = { .depth = 0 };
	struct tr_event e;
	uint32_t epoch = 0;
	for (uint64_t at = 0; c.n <= MOST_COUNTED && (searches ? trace_next : trace_next_bare)(&events, &e); at++) {
		struct event_ref self = { thread, at, e.stamp };
		while (epoch < barriers->n && barriers->v[epoch].at <= at)
			epoch++;
		if (e.op == DPROF_LOST || e.site >= trace->nsites)
			continue;
		bool searching = searches && k.depth == 0;
		if (searching && trace->sites[e.site].kind == DPROF_KIND_LOCK)
			count_lock(&k, &c, self, &e);
		else if (!searching || !is_in_vain(trace, &e))
			k.waits |= tr_is(trace, e.site, OP_OTHERS) && trace->sites[e.site].kind != DPROF_KIND_IO;
		if (tr_is(trace, e.site, OP_REGION) && !trace->sites[e.site].automatic)
			count_region(&k, &c, self, &e, epoch);
	}
	trace_end(&events);
	return c;
}

/* Whether all have done some of one region, but one has done so much more of it. */
static bool differ(const struct counted_thread *c, size_t n, uint32_t site, size_t more)
{
	size_t fewest = SIZE_MAX, most = 0;
	for (size_t t = 0; t < n; t++) {
		size_t count = 0;
		for (size_t i = c[t].next; i < c[t].end; i++)
			count += c[t].v[i].site == site;
		fewest = count < fewest ? count : fewest;
		most = count > most ? count : most;
	}
	return fewest > 0 && most - fewest >= more;
}

/* In the epoch. */
static bool is_alone(const struct counted_thread *c)
{
	bool alone = true;
	for (size_t i = c->next; i < c->end; i++)
		alone &= !c->v[i].waits && (i == c->next || !c->v[i].waited);
	return alone;
}

/* The regions of an epoch, of which there is one of each thread. */
struct counted_epoch {
	uint64_t begin, first_end, last_end, last_begin, waited_for_locks;
	size_t pieces;
	uint64_t fewest_locks, most_locks; /* between two pieces; */
	uint32_t lock_site;                /* there, or TR_NO_SITE: at several */
	bool alone, unequal;
};

static void add_locks(const struct counted_thread *c, struct counted_epoch *e)
{
	for (size_t i = c->next + 1; i < c->end; i++) {
		bool same = !c->v[i].several && c->v[i].lock_site == c->v[c->next].lock_site;
		e->waited_for_locks += c->v[i].waited_for_locks;
		e->fewest_locks = c->v[i].locks < e->fewest_locks ? c->v[i].locks : e->fewest_locks;
		e->most_locks = c->v[i].locks > e->most_locks ? c->v[i].locks : e->most_locks;
		e->lock_site = same ? e->lock_site : TR_NO_SITE;
	}
}

static struct counted_epoch look_at_epoch(const struct counted_thread *c, size_t n, size_t more)
{
	struct counted_epoch e = { .begin = UINT64_MAX, .first_end = UINT64_MAX, .fewest_locks = UINT64_MAX, .alone = true,
				   .lock_site = c[0].v[c[0].next].lock_site };
	for (size_t t = 0; t < n; t++) {
		const struct counter_counted *first = &c[t].v[c[t].next], *last = &c[t].v[c[t].end - 1];
		e.alone &= is_alone(&c[t]);
		add_locks(&c[t], &e);
		e.lock_site = c[t].v[c[t].next].lock_site == e.lock_site ? e.lock_site : TR_NO_SITE;
		e.pieces += c[t].end - c[t].next;
		e.begin = first->enter.stamp < e.begin ? first->enter.stamp : e.begin;
		e.first_end = last->exit.stamp < e.first_end ? last->exit.stamp : e.first_end;
		e.last_end = last->exit.stamp > e.last_end ? last->exit.stamp : e.last_end;
		e.last_begin = last->enter.stamp > e.last_begin ? last->enter.stamp : e.last_begin;
	}
	for (size_t i = c[0].next; i < c[0].end && !e.unequal; i++)
		e.unequal = differ(c, n, c[0].v[i].site, more);
	return e;
}

static bool may_be_given(const struct counted_epoch *e)
{
	return e->alone && e->unequal && e->last_begin <= e->first_end;
}

static bool is_given_likely(const struct counted_epoch *e, size_t nthreads)
{
	return may_be_given(e) && e->pieces >= ENOUGH_EACH * nthreads &&
	       e->last_end - e->first_end <= (e->last_end - e->begin) / SMALL_PART;
}

static bool others_have(const struct counted_thread *c, size_t n, size_t but, uint64_t lock)
{
	for (size_t t = 0; t < n; t++)
		if (t != but && has_lock(&c[t], lock))
			return true;
	return false;
}

/* Each takes a lock that others take as well, and one several. */
static bool take_others(const struct counted_thread *c, size_t n)
{
	size_t most = 0;
	for (size_t t = 0; t < n; t++) {
		size_t shared = 0;
		for (size_t i = 0; i < c[t].nlocks; i++)
			shared += others_have(c, n, t, c[t].locks[i]);
		if (shared == 0)
			return false;
		most = shared > most ? shared : most;
	}
	return most > 1;
}

/* Behind each piece they looked for the next one, at as many locks as it took, and hardly waited. */
static bool is_searched(const struct counted_thread *c, size_t n, const struct counted_epoch *e)
{
	return (e->lock_site != TR_NO_SITE || take_others(c, n)) && e->fewest_locks > 0 && e->fewest_locks < e->most_locks &&
	       e->waited_for_locks <= (e->last_end - e->begin) / HARDLY;
}

/* Each of the locks has seemed to give out some of it. */
static void forget_groups(struct builder *b, const uint32_t *threads, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		const struct graph_thread *t = &b->graph->threads[threads[k]];
		for (size_t i = 0; i < t->nsyncs; i++, spill_relax(b->spill))
			if (t->syncs[i].what == GRAPH_REQUESTS)
				b->graph->groups[t->syncs[i].number].many = true;
	}
}

static void give_epoch(struct builder *b, const struct counted_thread *c, size_t n)
{
	uint32_t group = graph_group(b, false);
	for (size_t t = 0; t < n; t++) {
		graph_request(b, c[t].v[c[t].next].enter, c[t].v[c[t].next].enter, group);
		for (size_t i = c[t].next; i < c[t].end; i++)
			graph_request(b, c[t].v[i].next, c[t].v[i].next, group);
	}
}

/* False: a thread does nothing there. */
static bool find_epoch(struct counted_thread *c, size_t n, uint32_t epoch)
{
	bool all = true;
	for (size_t t = 0; t < n; t++) {
		while (c[t].next < c[t].n && c[t].v[c[t].next].epoch < epoch)
			c[t].next++;
		for (c[t].end = c[t].next; c[t].end < c[t].n && c[t].v[c[t].end].epoch == epoch;)
			c[t].end++;
		all &= c[t].end > c[t].next;
	}
	return all;
}

struct counted_threads { struct counted_thread *v; size_t n; uint32_t epochs; bool too_many; };

static struct counted_threads count_all(const struct builder *b, const uint32_t *threads, size_t n, bool searches)
{
	struct counted_threads c = { mem_resize(NULL, n, sizeof *c.v), n, 0, false };
	for (size_t t = 0; t < n; t++) {
		struct counted_thread *self = &c.v[t];
		*self = count_regions(b, threads[t], searches);
		c.too_many |= self->n > MOST_COUNTED;
		c.epochs = self->n && self->v[self->n - 1].epoch >= c.epochs ? self->v[self->n - 1].epoch + 1 : c.epochs;
	}
	return c;
}

static void counted_close(struct counted_threads *c)
{
	for (size_t t = 0; t < c->n; t++)
		free(c->v[t].v);
	free(c->v);
}

static void share_out(struct builder *b, const uint32_t *threads, size_t n, bool searches)
{
	struct counted_threads c = count_all(b, threads, n, searches);
	size_t before = b->graph->ngroups;
	for (uint32_t epoch = 0; epoch < c.epochs && !c.too_many; epoch++) {
		if (!find_epoch(c.v, n, epoch))
			continue;
		struct counted_epoch e = look_at_epoch(c.v, n, 1);
		if (!is_given_likely(&e, n) || (searches && !is_searched(c.v, n, &e)))
			continue;
		if (searches && b->graph->ngroups == before)
			forget_groups(b, threads, n);
		give_epoch(b, c.v, n);
	}
	counted_close(&c);
}

/* ---- Teams ------------------------------------------------------------------------------------- */

#define MORE_THAN_STATIC 2 /* a static loop gives some threads one iteration more than others */

/* What the first one did before the others had begun is not the team's. */
static void pass_serial(struct counted_thread *c, size_t n)
{
	uint64_t begin = UINT64_MAX;
	for (size_t t = 1; t < n; t++)
		begin = c[t].v[c[t].next].enter.stamp < begin ? c[t].v[c[t].next].enter.stamp : begin;
	while (c[0].next + 1 < c[0].end && c[0].v[c[0].next].exit.stamp <= begin)
		c[0].next++;
}

/* The opener first. They come to the same barriers. */
static void look_at_team(struct builder *b, const uint32_t *threads, size_t n)
{
	struct counted_threads c = count_all(b, threads, n, false);
	for (uint32_t epoch = 0; epoch < c.epochs && !c.too_many; epoch++) {
		if (!find_epoch(c.v, n, epoch))
			continue;
		pass_serial(c.v, n);
		struct counted_epoch e = look_at_epoch(c.v, n, MORE_THAN_STATIC);
		if (!may_be_given(&e))
			continue;
		graph_note_pool(b->graph, c.v[0].v[c.v[0].next].site);
		if (is_given_likely(&e, n))
			give_epoch(b, c.v, n);
		for (size_t t = 0; t < n; t++) {
			const struct passed_barriers *barriers = &b->threads[threads[t]].barriers;
			graph_set_schedule(b, c.v[t].v[c.v[t].next].enter, GRAPH_POOL_ENTERED);
			if (epoch < barriers->n)
				graph_set_schedule(b, (struct event_ref){ threads[t], barriers->v[epoch].at, barriers->v[epoch].stamp }, GRAPH_POOL_LEFT);
		}
	}
	counted_close(&c);
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* Threads that were created in one place, or the first ones of processes that one process forked there. */
struct alike { uint32_t *v; size_t n; };

struct created { uint32_t process, site, thread; };

static int by_creation(const void *x, const void *y)
{
	const struct created *a = x, *b = y;
	return ORDER_3(a, b, process, site, thread);
}

struct begun { uint64_t at; uint32_t thread; };

static int by_begin(const void *x, const void *y)
{
	const struct begun *a = x, *b = y;
	return a->at != b->at ? ORDER(a->at, b->at) : ORDER(a->thread, b->thread);
}

static void sort_alike(const struct builder *b, struct alike a)
{
	struct begun *sorted = mem_resize(NULL, a.n + 1, sizeof *sorted);
	for (size_t i = 0; i < a.n; i++)
		sorted[i] = (struct begun){ b->graph->threads[a.v[i]].first, a.v[i] };
	qsort(sorted, a.n, sizeof *sorted, by_begin);
	for (size_t i = 0; i < a.n; i++)
		a.v[i] = sorted[i].thread;
	free(sorted);
}

/* Whoever begins behind the end of all before is of another round, which has a counter of its own: the first of that. */
static size_t end_of_round(const struct builder *b, struct alike a, size_t from)
{
	const struct graph_thread *threads = b->graph->threads;
	uint64_t last = threads[a.v[from]].last;
	size_t i = from + 1;
	for (; i < a.n && threads[a.v[i]].first <= last; i++)
		last = threads[a.v[i]].last > last ? threads[a.v[i]].last : last;
	return i;
}

/* All threads of which it is recorded where they were created, those next to each other that were in one place. */
static struct created *find_created(const struct builder *b, size_t *n)
{
	const struct tr_thread *threads = b->graph->trace->threads;
	struct created *c = mem_resize(NULL, b->graph->trace->nthreads + 1, sizeof *c);
	*n = 0;
	for (uint32_t t = 0; t < b->graph->trace->nthreads; t++) {
		const struct thread_facts *f = &b->threads[t];
		uint32_t process = f->forked_by != TR_NO_PARENT ? f->forked_by : threads[t].process;
		if (f->fork_site != TR_NO_SITE && b->graph->threads[t].nevents > 0)
			c[(*n)++] = (struct created){ process, f->fork_site, t };
	}
	qsort(c, *n, sizeof *c, by_creation);
	return c;
}

/* Of all regions; but not because they wait for each other. */
static bool end_all_together(const struct builder *b, struct alike a, struct shared_out *regions, struct counter_pieces *pieces)
{
	struct shared_out together = { .fewest = UINT64_MAX, .first_end = UINT64_MAX };
	for (size_t i = 0; i < a.n; i++) {
		if (b->threads[a.v[i]].barriers.n > 0)
			return false;
		count_pieces(b, a.v[i], pieces, regions);
		add_all_pieces(b->graph->trace, pieces, regions, &together);
	}
	return ends_together(&together);
}

/* A region that they look to have shared out; or TR_NO_SITE. */
static uint32_t find_shared_out(const struct builder *b, struct alike a)
{
	const struct trace *trace = b->graph->trace;
	struct counter_pieces *pieces = mem_resize(NULL, trace->nsites + 1, sizeof *pieces);
	struct shared_out *all = mem_resize(NULL, trace->nsites + 1, sizeof *all);
	for (uint32_t s = 0; s < trace->nsites; s++)
		all[s] = (struct shared_out){ .fewest = UINT64_MAX, .first_end = UINT64_MAX };
	for (size_t i = 0; i < a.n; i++) {
		count_pieces(b, a.v[i], pieces, all);
		for (uint32_t s = 0; s < trace->nsites; s++)
			add_pieces(&pieces[s], &all[s]);
	}
	uint32_t site = TR_NO_SITE, unequal = TR_NO_SITE;
	for (uint32_t s = trace->nsites; s-- > 0;) {
		unequal = is_unequal(&all[s]) ? s : unequal;
		site = is_unequal(&all[s]) && ends_together(&all[s]) ? s : site;
	}
	if (site == TR_NO_SITE && unequal != TR_NO_SITE && end_all_together(b, a, all, pieces))
		site = unequal;
	free(all);
	free(pieces);
	return site;
}

/* Only by pools; and of these none is known to share anything out, or several. */
static bool may_search(const struct graph *g, struct alike a)
{
	uint32_t group = UINT32_MAX;
	bool only = true, several = false;
	for (size_t k = 0; k < a.n && only; k++) {
		const struct graph_thread *t = &g->threads[a.v[k]];
		for (size_t i = 0; i < t->nsyncs && only; i++, spill_relax(g->spill)) {
			const struct graph_sync_point *s = &t->syncs[i];
			only = s->what != GRAPH_SCHEDULES || s->number >= GRAPH_POOL_ENTERED;
			several |= s->what == GRAPH_REQUESTS && group != UINT32_MAX && s->number != group;
			group = s->what == GRAPH_REQUESTS ? s->number : group;
		}
	}
	return only && (several || group == UINT32_MAX);
}

static bool is_scheduled(const struct graph *g, uint32_t thread)
{
	const struct graph_thread *t = &g->threads[thread];
	bool scheduled = false;
	for (size_t i = 0; i < t->nsyncs && !scheduled; i++, spill_relax(g->spill))
		scheduled = t->syncs[i].what == GRAPH_SCHEDULES;
	return scheduled;
}

static void look_at(struct builder *b, struct alike a)
{
	bool scheduled = false;
	for (size_t i = 0; i < a.n; i++)
		scheduled |= is_scheduled(b->graph, a.v[i]);
	if (scheduled && a.n > 1 && may_search(b->graph, a))
		share_out(b, a.v, a.n, true);
	uint32_t site = scheduled || a.n < 2 ? TR_NO_SITE : find_shared_out(b, a);
	if (site == TR_NO_SITE)
		return;
	graph_note_pool(b->graph, site);
	share_out(b, a.v, a.n, false);
	for (size_t i = 0; i < a.n; i++)
		graph_set_schedule(b, (struct event_ref){ a.v[i], 0, b->graph->threads[a.v[i]].first }, GRAPH_POOL_ENTERED);
}

static void look_at_rounds(struct builder *b, struct alike a)
{
	sort_alike(b, a);
	for (size_t from = 0, end; from < a.n; from = end) {
		end = end_of_round(b, a, from);
		look_at(b, (struct alike){ a.v + from, end - from });
	}
}

/* Whether they have always been in the teams of whoever created them. */
static bool are_of_team(const struct builder *b, struct alike a)
{
	uint32_t opener = b->threads[a.v[0]].fork.thread;
	bool same = b->threads[a.v[0]].forked_by == TR_NO_PARENT && b->threads[opener].in_teams && !is_scheduled(b->graph, opener);
	for (size_t i = 0; i < a.n; i++) {
		const struct thread_facts *member = &b->threads[a.v[i]];
		same &= member->fork.thread == opener && member->in_teams && member->barriers.n == b->threads[opener].barriers.n &&
			!is_scheduled(b->graph, a.v[i]);
	}
	return same;
}

static void look_at_members(struct builder *b, struct alike a)
{
	uint32_t *threads = mem_resize(NULL, a.n + 1, sizeof *threads);
	threads[0] = b->threads[a.v[0]].fork.thread;
	memcpy(threads + 1, a.v, a.n * sizeof *threads);
	look_at_team(b, threads, a.n + 1);
	free(threads);
}

/* ---- Counters that are recorded ---------------------------------------------------------------- */

static int by_id(const void *x, const void *y)
{
	const struct counter_take *a = x, *b = y;
	return ORDER_2(a, b, id, take.ref.stamp);
}

/* Whether the i-th begins another round, in which it is counted from the start again. Who was kept from saying for a while that it
 * was the first is followed by those who go on, or perhaps by nobody. */
static bool begins_again(const struct counter_records *r, size_t i, int64_t first, int64_t last)
{
	const struct counter_take *next = i + 1 < r->n && r->v[i + 1].id == r->v[i].id ? &r->v[i + 1] : NULL;
	return r->v[i].value != ARG_NONE && (int64_t)r->v[i].value <= first && next && (int64_t)next->value <= last;
}

static void note_own(struct builder *b, struct own_takes *own, const struct take *takes, size_t n)
{
	const struct trace *trace = b->graph->trace;
	bool of_ranks = tr_is(trace, takes->place.site, OP_MPI);
	for (size_t i = 0; i < n; i++)
		if (takes[i].ref.thread != takes->ref.thread)
			return;
	for (size_t i = 0; i < n; i++, spill_relax(b->spill))
		*SPILL_GROW(b->spill, own->v, own->n) = (struct own_take){
			of_ranks ? UINT32_MAX : trace->threads[takes->ref.thread].process, takes[i] };
}

/* Of one counter, wherever they are taken. */
static void give_counted(struct builder *b, struct own_takes *own, struct take *takes, size_t n)
{
	for (size_t i = 1; i < n; i++)
		takes[i].place = takes[0].place;
	note_own(b, own, takes, n);
	graph_find_pool(b, takes, n);
}

void graph_recorded_counters(struct builder *b, struct counter_records *r)
{
	struct own_takes own = { NULL, 0 };
	struct take *takes = NULL;
	size_t ntakes = 0;
	int64_t first = 0, last = 0;
	runs_sort(b->spill, r->v, r->n, sizeof *r->v, by_id);
	for (size_t i = 0; i < r->n; i++) {
		bool same = i > 0 && r->v[i].id == r->v[i - 1].id;
		int64_t value = (int64_t)r->v[i].value;
		if (ntakes && (!same || begins_again(r, i, first, last))) {
			give_counted(b, &own, takes, ntakes);
			ntakes = 0;
		}
		first = ntakes == 0 || value < first ? value : first;
		last = ntakes == 0 || value > last ? value : last;
		*SPILL_GROW(b->spill, takes, ntakes) = r->v[i].take;
	}
	if (ntakes)
		give_counted(b, &own, takes, ntakes);
	graph_find_own_pools(b, &own);
	spill_free(b->spill, takes);
}

/* Then that ends them at about the same time, and each does as many pieces as it can until then. */
static bool are_stopped(const struct builder *b, struct alike a)
{
	size_t i = 0;
	while (i < a.n && b->threads[a.v[i]].is_stopped)
		i++;
	return i == a.n;
}

void graph_counters(struct builder *b)
{
	size_t n;
	struct created *c = find_created(b, &n);
	uint32_t *threads = mem_resize(NULL, n + 1, sizeof *threads);
	for (size_t i = 0, next; i < n; i = next) {
		for (next = i; next < n && c[next].process == c[i].process && c[next].site == c[i].site; next++)
			threads[next] = c[next].thread;
		struct alike a = { threads + i, next - i };
		if (are_stopped(b, a))
			continue;
		if (are_of_team(b, a))
			look_at_members(b, a);
		else
			look_at_rounds(b, a);
	}
	free(threads);
	free(c);
}
