/* SPDX-License-Identifier: MIT
 *
 * graph_conditions.c - condition variables that count, as semaphores do: queues with a lock, buffers with room for a few.
 *
 *   lock, while (empty) wait, take, unlock       those who take
 *   lock, put, signal, unlock                    those who put, once for each that is taken
 *
 * Who finds something does not wait, and leaves no record of for whom it would have: so in another run in which who
 * takes is faster, or who puts is slower, nobody would know that it has to. Where what was seen is what a semaphore
 * does, it is taken for one: the n-th who has been in the lock to take is served by the n-th signal, but for as many as
 * there were to begin with. That must hold of all who waited: the signal that serves each of them came while it waited;
 * and nobody does both, unless each gives back what it has taken before it takes again, as of a lock that the program
 * has made, and waits only where others have all of them. Nothing of it is proved.
 *
 * Whoever puts may signal once more when it has put all, elsewhere: nothing is put then, and who comes once more has waited for all
 * of them. And who takes what says that there is no more may put that back for the next, and does not take again.
 *
 * Where nobody has waited, or all for one signal, there is no sign of who else would have. But whoever has come behind
 * a signal to a place at which one waits elsewhere, for something else of the kind, would have waited for it; so would,
 * for the only one, who comes to a lock that serves for nothing else: a result that is given once.
 *
 * Or whoever takes takes all that is there. That is seen where one thread takes, less often than others put: all that
 * they have put since it came last, also if they do not always signal; it has waited where that was nothing, and only
 * there. Then the work on each thing waits for that one (graph_batches.c); or if nobody knows where it begins, all of
 * it for the first of them, and the last of all for the last. */
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/search.h"
#include "analysis/graph/graph_locks.h"

/* Who has been in the lock to take, or to put: since when, when it had what it came for, and what it did last there. */
struct condition_visitor { struct event_ref came, has, left; bool waited; };

struct visitors {
	bool *who;                             /* each thread, */
	size_t *last;                          /* and of the visitors its last one, and 1; or 0 */
	uint32_t *sites; size_t nsites;        /* where they come to the lock */
	struct condition_visitor *v; size_t n;           /* by `has` */
};

struct counting {
	struct builder *b;
	struct sync_pass *pass;
	const struct sync_event *all; size_t nall; /* all that concerns what was ever at its address, by time; */
	const struct sync_event *t; size_t n;  /* of that, what concerns the condition variable; ... */
	uint64_t from, until;                  /* ... and of the lock, what is in between, but for the last stamp */
	const struct section *lock;
	struct visitors takers, putters;
	const struct sync_event **puts; size_t nputs;
	size_t first;                          /* as many were there to begin with */
	bool closed;                           /* the last of them is no thing: who puts says that there will be no more */
	bool returned;                         /* somebody takes and puts */
};

static bool has_site(const struct visitors *of, uint32_t site)
{
	for (size_t i = 0; i < of->nsites; i++)
		if (of->sites[i] == site)
			return true;
	return false;
}

static void add_site(struct visitors *of, uint32_t site)
{
	if (!has_site(of, site))
		*MEM_GROW(of->sites, of->nsites) = site;
}

/* Whether it is signalled where one takes, and elsewhere than the first; and not by who only puts, and takes the lock with the same
 * function. */
static bool is_by_taker(const struct counting *c, const struct sync_event *put)
{
	const struct sync_event *came = graph_find_section(c->pass->events, &put->section);
	uint32_t thread = put->ref.thread;
	if (c->putters.who[thread])
		return false;
	return put->site != c->puts[0]->site && came && has_site(&c->takers, came->site);
}

/* It is signalled by who takes, while those who signal first only put. */
static bool is_put_back(const struct counting *c, const struct sync_event *put)
{
	return c->takers.who[put->ref.thread] && !c->takers.who[c->puts[0]->ref.thread];
}

/* Who takes the last says that there will be no more, and so may all who come then: that is put for the next, and once. Returns how
 * many were put before. */
static size_t find_closing(struct counting *c)
{
	size_t before = c->nputs;
	for (size_t i = 0; i < before; i++) {
		uint32_t thread = c->puts[i]->ref.thread;
		c->putters.who[thread] |= c->puts[i]->site == c->puts[0]->site && !c->takers.who[thread];
	}
	while (before > 0 && (is_by_taker(c, c->puts[before - 1]) || is_put_back(c, c->puts[before - 1])))
		before--;
	c->nputs = before < c->nputs ? before + 1 : before;
	return before;
}

/* Whether all that is signalled where the last of them is comes behind all that its thread puts elsewhere, and once. */
static bool is_goodbye(const struct counting *c, size_t n)
{
	uint32_t site = c->puts[n - 1]->site;
	size_t nthreads = c->b->graph->trace->nthreads;
	bool *later = mem_zeroed(nthreads + 1, sizeof *later), goodbye = site != c->puts[0]->site;
	for (size_t i = n; i-- > 0 && goodbye;) {
		bool *is = &later[c->puts[i]->ref.thread];
		goodbye = c->puts[i]->site != site || !*is;
		*is = true;
	}
	free(later);
	return goodbye;
}

/* Of puts[0 .. n), which are all but those of takers, those with which whoever has put all that it puts says so, or the last of
 * them does: only the last one is left. Returns how many things are. */
static size_t pass_goodbyes(struct counting *c, size_t n)
{
	size_t left = 0;
	if (n < c->nputs || !is_goodbye(c, n))
		return n;
	for (size_t i = 0; i < n; i++)
		if (i == n - 1 || c->puts[i]->site != c->puts[n - 1]->site)
			c->puts[left++] = c->puts[i];
	c->closed = true;
	c->nputs = left;
	return left - 1;
}

/* Who waits and who signals; and with which lock. False where somebody does both, unless he signals elsewhere; or there are several
 * locks. */
static bool find_parts(struct counting *c)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct sync_event *e = &c->t[i], *came = e->kind == SYNC_WOKEN ? graph_find_section(c->pass->events, &e->section) : NULL;
		if (e->kind == SYNC_SIGNALLED) {
			*MEM_GROW(c->puts, c->nputs) = e;
			continue;
		}
		c->lock = c->lock ? c->lock : &e->section;
		if (!came || !e->relocks || e->section.id != c->lock->id || e->section.process != c->lock->process)
			return false;
		c->takers.who[e->ref.thread] = true;
		add_site(&c->takers, came->site);
	}
	for (size_t i = 0, before = c->nputs ? pass_goodbyes(c, find_closing(c)) : 0; i < before; i++) {
		const struct sync_event *came = graph_find_section(c->pass->events, &c->puts[i]->section);
		uint32_t thread = c->puts[i]->ref.thread;
		c->returned |= c->takers.who[thread];
		if (c->takers.who[thread] && (!came || has_site(&c->takers, came->site)))
			return false;
		c->putters.who[thread] = true;
		if (came)
			add_site(&c->putters, came->site);
	}
	return c->lock && c->nputs > 0;
}

static bool is_of_lock(const struct counting *c, const struct sync_event *e)
{
	return e->process == c->lock->process && e->id == c->lock->id && (e->kind == SYNC_TAKEN || e->kind == SYNC_RELEASED) &&
	       e->ref.stamp < c->until;
}

/* Who comes where others wait takes as well, though it never had to wait. */
static void find_other_takers(struct counting *c)
{
	const struct sync_records *r = c->pass->events;
	size_t i = graph_sync_events(r, c->lock->process, c->lock->id, true, c->from);
	for (; i < r->n; i++) {
		const struct sync_event *e = &r->v[i];
		if (!is_of_lock(c, e) || ++c->pass->looked_at >= GRAPH_MOST_LOOKED_AT)
			break;
		if (e->kind != SYNC_TAKEN || e->relocks || !has_site(&c->takers, e->site) || has_site(&c->putters, e->site))
			continue;
		c->takers.who[e->ref.thread] = true;
		c->returned |= c->putters.who[e->ref.thread];
	}
}

static int by_has(const void *x, const void *y)
{
	const struct condition_visitor *a = x, *b = y;
	return ORDER(a->has.stamp, b->has.stamp);
}

static bool visit(const struct counting *c, struct visitors *of, const struct sync_event *e)
{
	size_t *last_of = &of->last[e->ref.thread];
	struct condition_visitor *last = *last_of ? &of->v[*last_of - 1] : NULL;
	bool open = last && last->left.at == NO_EVENT;
	if (e->kind == SYNC_TAKEN && !e->relocks && has_site(of, e->site)) {
		*MEM_GROW(of->v, of->n) = (struct condition_visitor){ e->ref, e->ref, { .at = NO_EVENT }, false };
		*last_of = of->n;
	} else if (e->kind == SYNC_TAKEN && e->relocks && last) {
		if (of == &c->takers && e->condition != c->t->id)
			return false;
		last->has = e->ref;
		last->waited = true;
		last->left.at = NO_EVENT;
	} else if (e->kind == SYNC_RELEASED && open) {
		last->left = e->ref;
	}
	return true;
}

static void sort_visitors(struct visitors *of)
{
	if (of->n)
		qsort(of->v, of->n, sizeof *of->v, by_has);
}

/* All events of the lock. False: somebody waited there to take something else as well, or there are too many. */
static bool find_visitors(struct counting *c)
{
	const struct sync_records *r = c->pass->events;
	size_t i = graph_sync_events(r, c->lock->process, c->lock->id, true, c->from);
	find_other_takers(c);
	for (; i < r->n; i++) {
		const struct sync_event *e = &r->v[i];
		if (++c->pass->looked_at >= GRAPH_MOST_LOOKED_AT)
			return false;
		if (!is_of_lock(c, e))
			break;
		if (c->takers.who[e->ref.thread] && !e->in_wait && !visit(c, &c->takers, e))
			return false;
		bool takes = e->relocks && e->condition == c->t->id;
		if (c->putters.who[e->ref.thread] && !e->in_wait && !takes)
			visit(c, &c->putters, e);
	}
	sort_visitors(&c->takers);
	sort_visitors(&c->putters);
	return c->takers.n > 0;
}

/* How many were there to begin with: the fewest with which nobody has anything before it was put. */
static void find_first(struct counting *c)
{
	size_t put = 0;
	for (size_t i = 0; i < c->takers.n; i++) {
		while (put < c->nputs && c->puts[put]->ref.stamp <= c->takers.v[i].has.stamp)
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
	for (size_t i = 0; i < c->takers.n; i++) {
		const struct condition_visitor *v = &c->takers.v[i];
		const struct sync_event *put = put_for(c, i);
		if (v->waited && (!put || put->ref.stamp < v->came.stamp || put->ref.stamp > v->has.stamp))
			return false;
		waited |= v->waited;
	}
	return waited;
}

/* It goes on only behind what it found there, which are inputs[1 .. n); where it has waited for that, or gives it back, only
 * what-ifs ask. */
static bool serve_behind(const struct counting *c, const struct condition_visitor *v, struct node_input *inputs, size_t n,
			 bool waited)
{
	struct event_ref next = { v->left.thread, v->left.at + 1, v->left.stamp };
	inputs[0] = (struct node_input){ .ref = v->left, .sure = true };
	if (v->left.at == NO_EVENT || next.at >= c->b->graph->threads[next.thread].nevents || inputs[1].ref.stamp > v->left.stamp)
		return false;
	uint32_t number = graph_add_chance(c->b, GRAPH_SYNC, inputs, n);
	(waited ? graph_end_by : graph_wait)(c->b, next, number);
	return true;
}

static bool serve(const struct counting *c, const struct condition_visitor *v, struct event_ref put, bool waited)
{
	struct node_input inputs[] = { { .sure = true }, { .ref = put, .sure = true } };
	return serve_behind(c, v, inputs, 2, waited);
}

/* How many things are put. */
static size_t things(const struct counting *c)
{
	return c->nputs - c->closed;
}

/* There is no more when all have put the last that they put. */
static void serve_end(const struct counting *c, const struct condition_visitor *v)
{
	size_t nthreads = c->b->graph->trace->nthreads, n = 2;
	bool *has = mem_zeroed(nthreads + 1, sizeof *has);
	struct node_input *inputs = mem_resize(NULL, nthreads + 2, sizeof *inputs);
	inputs[1] = (struct node_input){ .ref = c->puts[c->nputs - 1]->ref, .sure = true };
	has[inputs[1].ref.thread] = true;
	for (size_t i = things(c); i-- > 0;) {
		struct event_ref put = c->puts[i]->ref;
		if (!has[put.thread])
			inputs[n++] = (struct node_input){ .ref = put, .sure = true };
		has[put.thread] = true;
	}
	serve_behind(c, v, inputs, n, v->waited);
	free(inputs);
	free(has);
}

static bool by_several(const struct counting *c)
{
	for (size_t i = 1; i < things(c); i++)
		if (c->puts[i]->ref.thread != c->puts[0]->ref.thread)
			return true;
	return false;
}

/* Several put: in another run the n-th thing may be another one's. So each visitor takes one of those that are there,
 * as of a semaphore. */
static void serve_any(const struct counting *c)
{
	uint32_t queue = graph_queue(c->b, GRAPH_PERMITS, c->first);
	for (size_t i = 0; i < things(c); i++)
		graph_release(c->b, c->puts[i]->ref, queue);
	for (size_t i = 0; i < c->takers.n; i++) {
		const struct condition_visitor *v = &c->takers.v[i];
		if (c->closed && i >= things(c)) {
			serve_end(c, v);
			continue;
		}
		const struct sync_event *put = put_for(c, i);
		if (serve(c, v, put ? put->ref : v->came, v->waited || c->returned))
			graph_turn(c->b, (struct graph_turn){ .queue = queue, .first = 1, .n = put != NULL });
	}
}

/* Whether all who waited came when there was nothing left for them: with what there was to begin with, less had been put than
 * others had come for before. Who waits otherwise waits for something of his own. */
static bool find_nothing(const struct counting *c)
{
	uint64_t *came = mem_resize(NULL, c->takers.n + 1, sizeof *came);
	bool all = true;
	for (size_t i = 0; i < c->takers.n; i++)
		came[i] = c->takers.v[i].came.stamp;
	qsort(came, c->takers.n, sizeof *came, order_uint64);
	for (size_t i = 0; i < c->takers.n && all; i++) {
		const struct condition_visitor *v = &c->takers.v[i];
		size_t before = SEARCH(c->takers.n, mid, came[mid] < v->came.stamp);
		size_t puts = SEARCH(c->nputs, mid, c->puts[mid]->ref.stamp < v->came.stamp);
		all = !v->waited || c->first + puts <= before;
	}
	free(came);
	return all;
}

/* Whether each gives back what it has taken before it takes again: a lock that the program has made, or several. */
static bool give_back(const struct counting *c)
{
	size_t nthreads = c->b->graph->trace->nthreads, put = 0;
	bool *has = mem_zeroed(nthreads + 1, sizeof *has), all = true;
	for (size_t i = 0; i <= c->takers.n && all; i++) {
		const struct condition_visitor *v = i < c->takers.n ? &c->takers.v[i] : NULL;
		for (; all && put < c->nputs && (!v || c->puts[put]->ref.stamp <= v->has.stamp); put++) {
			bool *of = &has[c->puts[put]->ref.thread];
			all = *of;
			*of = false;
		}
		all &= !v || !has[v->has.thread];
		if (v)
			has[v->has.thread] = true;
	}
	free(has);
	return all;
}

/* Whether one who waited has waited for others, too, who count down to the signal. */
static bool is_counted_down(const struct counting *c)
{
	size_t n = 0;
	for (size_t i = 0; i < c->takers.n && n == 0; i++) {
		const struct sync_event *put = c->takers.v[i].waited ? put_for(c, i) : NULL;
		if (put)
			free(graph_counted(c->pass, put, c->takers.v[i].came, &n));
	}
	return n > 0;
}

/* Who came when all had counted down would have waited for all of them. */
static void serve_counted(const struct counting *c, const struct condition_visitor *v, const struct sync_event *put)
{
	size_t n, others;
	struct node_input *counted = graph_counted(c->pass, put, (struct event_ref){ .thread = v->came.thread }, &others);
	struct node_input *inputs = mem_resize(NULL, others + 2, sizeof *inputs);
	inputs[1] = (struct node_input){ .ref = put->ref, .sure = true };
	for (n = 2; n < others + 2; n++)
		inputs[n] = counted[n - 2];
	serve_behind(c, v, inputs, n, false);
	free(inputs);
	free(counted);
}

static void serve_each(const struct counting *c)
{
	bool counted = is_counted_down(c);
	if (!counted && by_several(c) && c->first == 0 && (c->closed || c->takers.n <= c->nputs)) {
		serve_any(c);
		return;
	}
	for (size_t i = 0; i < c->takers.n; i++) {
		const struct sync_event *put = c->takers.v[i].waited ? NULL : put_for(c, i);
		if (put && counted)
			serve_counted(c, &c->takers.v[i], put);
		else if (put)
			serve(c, &c->takers.v[i], put->ref, false);
	}
}

/* ---- All that is there --------------------------------------------------------------------------- */

/* All that was put, in the order in which it was taken, and how much of it each visitor found: some[i] things. Empty:
 * they do not take all that is there, or not only that; or nobody has found anything without a wait, as those who wait
 * for all of several. */
struct batches { struct taken *v; size_t n, *some; };

static struct batches find_batches(const struct counting *c)
{
	const struct visitors *takers = &c->takers, *putters = &c->putters;
	struct batches found = { NULL, 0, mem_resize(NULL, takers->n + 1, sizeof *found.some) };
	bool all = true, waited = false, at_once = false;
	for (size_t i = 0; i < takers->n && all; i++) {
		const struct condition_visitor *v = &takers->v[i];
		size_t first = found.n;
		for (; found.n < putters->n && putters->v[found.n].has.stamp < v->has.stamp;) {
			struct event_ref put = putters->v[found.n].left;
			*MEM_GROW(found.v, found.n) = (struct taken){ .has = v->left, .put = put };
			all &= put.at != NO_EVENT;
		}
		found.some[i] = found.n - first;
		bool came_before = v->waited && found.n > first && putters->v[first].has.stamp < v->came.stamp;
		all &= v->left.at != NO_EVENT && v->left.thread == takers->v->left.thread && found.n > first && !came_before;
		waited |= v->waited;
		at_once |= !v->waited;
	}
	if (!all || !waited || !at_once || found.n == takers->n || putters->n > found.n + 1)
		found.n = 0;
	return found;
}

/* The work on each thing waits for it; the first of those for which somebody waited came then. */
static void serve_works(struct counting *c, const struct batches *found)
{
	for (size_t i = 0, first = 0; i < c->takers.n; first += found->some[i++])
		for (size_t k = first + c->takers.v[i].waited; k < first + found->some[i]; k++)
			graph_work_behind(c->b, &found->v[k]);
}

/* From when it had a batch until it came for the next. */
static double worked(const struct counting *c, size_t i)
{
	return (double)(c->takers.v[i + 1].came.stamp - c->takers.v[i].left.stamp);
}

/* Whether the work on a batch takes as long however large it is: on the smallest ones nearly as long as on the others. */
static bool is_work_on_batch(const struct counting *c, const struct batches *found)
{
	size_t least = SIZE_MAX;
	double work[2] = { 0, 0 }, things[2] = { 0, 0 }, n[2] = { 0, 0 };
	for (size_t i = 0; i + 1 < c->takers.n; i++)
		least = found->some[i] < least ? found->some[i] : least;
	for (size_t i = 0; i + 1 < c->takers.n; i++) {
		bool more = found->some[i] > least;
		work[more] += worked(c, i);
		things[more] += (double)found->some[i];
		n[more]++;
	}
	if (n[0] == 0 || n[1] == 0)
		return false;
	double longer = work[1] / n[1] / (work[0] / n[0]), larger = things[1] / n[1] / (things[0] / n[0]);
	return longer < (1 + larger) / 2;
}

/* A faster thread would have come for less at a time, and more often. */
static void take_batches(struct counting *c, const struct batches *found)
{
	struct builder *b = c->b;
	uint32_t queue = graph_queue(b, GRAPH_BATCHES, 0), group = graph_group(b, false);
	b->graph->groups[group].batches = true;
	b->graph->groups[group].queue = queue;
	for (size_t k = 0; k < found->n; k++)
		graph_release(b, found->v[k].put, queue);
	for (size_t i = 0, first = 0; i < c->takers.n; first += found->some[i++]) {
		if (!serve(c, &c->takers.v[i], found->v[first].put, false))
			continue;
		graph_turn(b, (struct graph_turn){ .queue = queue, .first = 1, .n = 1 });
		graph_point(b, c->takers.v[i].came, GRAPH_REQUESTS, group);
	}
}

static void serve_batches(struct counting *c, const struct batches *found)
{
	if (is_work_on_batch(c, found)) {
		take_batches(c, found);
		return;
	}
	for (size_t i = 0, first = 0; i < c->takers.n; first += found->some[i++]) {
		size_t end = first + found->some[i];
		if (!c->takers.v[i].waited || end == found->n)
			serve(c, &c->takers.v[i], found->v[end == found->n ? end - 1 : first].put, false);
	}
}

/* ---- Where somebody need not wait ------------------------------------------------------------------ */

/* Who signals here, or ever did at that address: where nobody waits for it any more, it looks as if it were another one. */
static void find_signallers(struct counting *c)
{
	for (size_t i = 0; i < c->nall; i++)
		if (c->all[i].kind == SYNC_SIGNALLED)
			c->putters.who[c->all[i].ref.thread] = true;
}

/* Nobody else has ever signalled there, or waited, and of those who come to the lock each does once: who signals, and then all
 * others. So that is what these came for. */
static bool is_given_once(const struct counting *c)
{
	const struct sync_records *r = c->pass->events;
	struct event_ref put = c->puts[0]->ref;
	bool *came = mem_zeroed(c->b->graph->trace->nthreads + 1, sizeof *came), once = c->nall == 1;
	size_t i = graph_sync_events(r, c->lock->process, c->lock->id, true, c->from);
	for (; once && i < r->n && is_of_lock(c, &r->v[i]) && ++c->pass->looked_at < GRAPH_MOST_LOOKED_AT; i++) {
		struct event_ref taken = r->v[i].ref;
		if (r->v[i].kind != SYNC_TAKEN)
			continue;
		once = !came[taken.thread] && (taken.thread == put.thread ? taken.at < put.at : taken.stamp >= put.stamp);
		came[taken.thread] = true;
	}
	free(came);
	return once;
}

/* Who came to the lock of the first signal at a place where one waits elsewhere, but those who signal here. */
static void find_told(struct counting *c)
{
	const struct sync_records *r = c->pass->events;
	bool once = is_given_once(c);
	size_t i = graph_sync_events(r, c->lock->process, c->lock->id, true, c->from);
	for (; i < r->n && is_of_lock(c, &r->v[i]) && ++c->pass->looked_at < GRAPH_MOST_LOOKED_AT; i++) {
		const struct sync_event *e = &r->v[i];
		if (c->putters.who[e->ref.thread] || e->in_wait)
			continue;
		if (e->kind == SYNC_TAKEN && (once || c->pass->waits_at[e->site]))
			add_site(&c->takers, e->site);
		visit(c, &c->takers, e);
	}
	sort_visitors(&c->takers);
}

/* It would have waited in another run: for the first signal, and who comes later for one more, if there is one. */
static void serve_told(struct counting *c)
{
	c->lock = &c->puts[0]->section;
	find_signallers(c);
	if (!graph_find_section(c->pass->events, c->lock))
		return;
	find_told(c);
	bool behind = true;
	for (size_t i = 0; i < c->takers.n; i++)
		behind &= put_for(c, i)->ref.stamp <= c->takers.v[i].has.stamp;
	for (size_t i = 0; i < c->takers.n && behind; i++)
		if (!c->takers.v[i].waited)
			serve(c, &c->takers.v[i], put_for(c, i)->ref, false);
}

/* ---- All of it ----------------------------------------------------------------------------------- */

static void visitors_open(struct visitors *of, size_t nthreads)
{
	*of = (struct visitors){ .who = mem_zeroed(nthreads + 1, sizeof *of->who),
				 .last = mem_zeroed(nthreads + 1, sizeof *of->last) };
}

static void visitors_close(struct visitors *of)
{
	free(of->who);
	free(of->last);
	free(of->sites);
	free(of->v);
}

static void serve_all(struct counting *c)
{
	struct batches found = find_batches(c);
	find_first(c);
	if (c->returned) {
		if (counts(c) && give_back(c) && find_nothing(c))
			serve_any(c);
	} else if (graph_find_works(c->b, found.v, found.n)) {
		serve_works(c, &found);
	} else if (found.n <= c->takers.n + 1 && counts(c)) { /* or else things would be left in the end */
		serve_each(c);
	} else if (found.n) {
		serve_batches(c, &found);
	}
	free(found.some);
	free(found.v);
}

/* How many of t[0 .. n) are of one condition variable: another one may be made at its address when all who have waited for it are
 * over, at that stamp. */
static size_t find_life(const struct builder *b, const struct sync_event *t, size_t n, uint64_t *over)
{
	size_t i = 0;
	for (*over = UINT64_MAX; i < n && t[i].ref.stamp <= *over; i++) {
		uint64_t last = b->graph->threads[t[i].ref.thread].last;
		if (t[i].kind == SYNC_WOKEN && (*over == UINT64_MAX || last > *over))
			*over = last;
	}
	return i;
}

static void count_condition(struct counting *c)
{
	size_t nthreads = c->b->graph->trace->nthreads;
	visitors_open(&c->takers, nthreads);
	visitors_open(&c->putters, nthreads);
	bool leads = graph_find_leaders(c->pass, c->t, c->n, c->from, c->until), parts = !leads && find_parts(c);
	if (c->nputs > 0 && (c->nputs == 1 || c->nputs == c->n))
		serve_told(c);
	if (c->takers.n == 0 && parts && find_visitors(c))
		serve_all(c);
	visitors_close(&c->takers);
	visitors_close(&c->putters);
	free(c->puts);
}

void graph_counting_condition(struct sync_pass *p, const struct sync_event *t, size_t n)
{
	uint64_t from = 0, over;
	for (size_t i = 0, life; i < n; i += life) {
		life = find_life(p->b, &t[i], n - i, &over);
		struct counting c = { .b = p->b, .pass = p, .all = t, .nall = n, .t = &t[i], .n = life, .from = from,
				      .until = i + life < n ? over + 1 : UINT64_MAX };
		count_condition(&c);
		from = over + 1;
	}
}
