/* SPDX-License-Identifier: MIT
 *
 * graph_pools.c - work that the program gives out itself: whoever takes a lock or a semaphore, or asks somebody who
 * listens to anyone (graph_masters.c), gets the next piece of work; which that is depends on who came before.
 *
 *   lock, i = next++, unlock, work    several threads take it, and one takes it again and again
 *   semaphore                         likewise; so with a queue of messages, each of which says what to do
 *   bytes of one pipe                 several threads take them
 *   messages to one rank              several of its threads receive those with one tag
 *   MPI_Fetch_and_op, ...         several ranks count at one place of a window
 *   i = next++ of an atomic       several threads count at one address
 *   wait                              several threads wait for any child
 *   lock, first = !done++, unlock     several threads take it at one place, or any of these, and do
 *                                     something else before the next barrier: with what, who was first may decide;
 *                                     or one does whatever it does there for longer than another, with the lock or behind it
 *   lock of one's own, i = own++, ... several threads take locks at one place, again and again, each but its own: who is done
 *                                     may take what others have left; or count at numbers of their own
 *   if (!trylock of the i-th) work    several threads try locks at one place, again and again, and each job's is taken once
 *   if (!exchange(&own[i], 1)) work   several threads claim by flags or bits at one place (graph_claims.c)
 *
 * What a thread does between such *takes*, and up to the barrier behind the last one, another thread may do in another
 * run. A barrier is one of all who take there: in others (of a team that one of them has opened, of a communicator for
 * what it has taken) it goes on with that. That is certain of no lock: it may as well protect a number that nobody acts
 * on. So it is taken to be given out wherever it may be. Expected is that threads share their work out, so that nobody
 * is idle while there is some left, where this run looks so: not all take about as often, or some wait for it, or all come
 * once more for nothing, or they take messages, and they take their last at about the same time; but not where all take as
 * often and each has regions of its own, nor by a lock that some take only to read. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/runs.h"
#include "analysis/base/search.h"
#include "analysis/graph/graph_private.h"

/* ---- Orders ---------------------------------------------------------------------------------- */

static int by_thread(const void *x, const void *y)
{
	const struct take *a = x, *b = y;
	return ORDER_2(a, b, ref.thread, ref.at);
}

/* Within an epoch; of those of a thread together. */
static int by_epoch(const void *x, const void *y)
{
	const struct take *a = x, *b = y;
	if (a->epoch != b->epoch)
		return a->epoch < b->epoch ? -1 : 1;
	return by_thread(a, b);
}

/* ---- Whether that is a pool --------------------------------------------------------------------- */

static bool same_stretch(const struct take *a, const struct take *b)
{
	return a->ref.thread == b->ref.thread && a->epoch == b->epoch;
}

/* Several threads take, and one takes again before a barrier. Sorted by thread. */
static bool takes_again(const struct builder *b, const struct take *t, size_t n)
{
	(void)b;
	bool several = false, again = false;
	for (size_t i = 1; i < n; i++) {
		several |= t[i].ref.thread != t[i - 1].ref.thread;
		again |= same_stretch(&t[i], &t[i - 1]);
	}
	return several && again;
}

/* Whether its thread does anything behind it, before the barrier. */
static bool does_more(const struct builder *b, const struct take *t)
{
	const struct things_done *done = &b->threads[t->ref.thread].done;
	const struct passed_barriers *barriers = &b->threads[t->ref.thread].barriers;
	uint64_t behind = t->behind > t->ref.at ? t->behind : t->ref.at;
	size_t next = SEARCH(done->n, mid, done->v[mid] <= behind);
	return next < done->n && (t->barrier == barriers->n || done->v[next] < barriers->v[t->barrier].at);
}

/* Several threads take at this site, and one does something else before a barrier: `at_once`, or whenever. */
static bool goes_on(const struct builder *b, const struct take *t, size_t n, uint32_t site, bool at_once)
{
	const struct take *first = NULL;
	bool several = false, on = false;
	for (size_t i = 0; i < n; i++) {
		if (t[i].place.site != site)
			continue;
		first = first ? first : &t[i];
		several |= t[i].ref.thread != first->ref.thread;
		on |= at_once ? t[i].goes_on : does_more(b, &t[i]);
	}
	return several && on;
}

/* ---- Who does longer what it has taken --------------------------------------------------------------- */

#define SMALL_PART 100 /* of the run, by which what is proved may be false */

struct event_ref graph_end_of_take(const struct builder *b, const struct take *t)
{
	const struct passed_barriers *barriers = &b->threads[t->ref.thread].barriers;
	const struct graph_thread *of = &b->graph->threads[t->ref.thread];
	if (t->barrier < barriers->n)
		return (struct event_ref){ t->ref.thread, barriers->v[t->barrier].at, barriers->v[t->barrier].stamp };
	return (struct event_ref){ t->ref.thread, of->nevents - 1, of->last };
}

/* Until an event; ticks. */
static uint64_t in_operations(const struct builder *b, struct event_ref until)
{
	const struct passed_operations *passed = &b->threads[until.thread].operations;
	size_t next = SEARCH(passed->n, mid, passed->v[mid].at <= until.at);
	return next ? passed->v[next - 1].ticks : 0;
}

/* For how long its thread waited for what it took, in the call that is over then; ticks. */
static uint64_t waited_to_take(const struct builder *b, const struct take *t)
{
	struct event_ref before = { t->ref.thread, t->ref.at - 1, t->ref.stamp };
	return t->ref.at ? in_operations(b, t->ref) - in_operations(b, before) : 0;
}

/* For how long its thread does something of its own until the barrier. */
static int64_t does_for(const struct builder *b, const struct take *t)
{
	struct event_ref end = graph_end_of_take(b, t);
	uint64_t passed = end.stamp - t->ref.stamp, waited = in_operations(b, end) - in_operations(b, t->ref);
	return times_duration(b->graph->times, b->graph->clocks[t->ref.thread], passed > waited ? passed - waited : 0).lo;
}

/* By how much several threads that take at a site differ in that, in one epoch. */
static int64_t differ_by(const struct builder *b, const struct take *t, size_t n, uint32_t site)
{
	const struct take *first = NULL;
	int64_t least = INT64_MAX, most = 0;
	bool several = false;
	for (size_t i = 0; i < n; i++) {
		if (t[i].place.site != site)
			continue;
		int64_t own = does_for(b, &t[i]);
		first = first ? first : &t[i];
		several |= t[i].ref.thread != first->ref.thread;
		least = own < least ? own : least;
		most = own > most ? own : most;
	}
	return several ? most - least : 0;
}

static size_t end_of_epoch(const struct take *t, size_t n, size_t i)
{
	size_t next = i + 1;
	while (next < n && t[next].epoch == t[i].epoch)
		next++;
	return next;
}

/* Sorted by epoch, in which each of several takes once. */
static bool do_unevenly(const struct builder *b, const struct take *t, size_t n, uint32_t site)
{
	int64_t sum = 0;
	for (size_t i = 0, next; i < n; i = next) {
		next = end_of_epoch(t, n, i);
		sum += differ_by(b, t + i, next - i, site);
	}
	return sum > b->run / SMALL_PART;
}

/* The takes of each thread between two barriers are one stretch of work that was given to it. */
static void give_stretches(struct builder *b, const struct take *t, size_t n)
{
	for (size_t i = 0, next; i < n; i = next) {
		const struct passed_barriers *barriers = &b->threads[t[i].ref.thread].barriers;
		for (next = i + 1; next < n && same_stretch(&t[next], &t[i]); next++)
			;
		graph_set_schedule(b, t[i].ref, GRAPH_POOL_ENTERED);
		if (t[i].barrier < barriers->n) {
			const struct passed_barrier *barrier = &barriers->v[t[i].barrier];
			graph_set_schedule(b, (struct event_ref){ t[i].ref.thread, barrier->at, barrier->stamp }, GRAPH_POOL_LEFT);
		}
	}
}

/* ---- Whether threads share their work out ------------------------------------------------------ */

#define NO_THREAD UINT32_MAX

/* How many threads take at a site, how often, and the last of them. */
struct take_site { struct take_place place; uint32_t last; size_t threads, takes; };

static bool same_place(struct take_place a, struct take_place b)
{
	return a.site == b.site && a.role == b.role;
}

typedef struct take_place where_taken(const struct take *);

static struct take_place at_site(const struct take *t)
{
	return t->place;
}

static struct take_place by_caller(const struct take *t)
{
	return (struct take_place){ t->place.site, t->caller ? t->caller : t->place.role };
}

static bool is_busier(const struct take_site *a, const struct take_site *b)
{
	return a->threads != b->threads ? a->threads > b->threads : a->takes > b->takes;
}

static bool waits(const struct take *t)
{
	return t->has.at != t->ref.at;
}

/* Where the first of all found something that nobody had left, and several threads wait elsewhere for what is left there: that was
 * room, and no work. Or NULL. */
static const struct take *find_room(const struct take *t, size_t n)
{
	const struct take *first = t, *waiter = NULL;
	bool several = false;
	for (size_t i = 1; i < n; i++)
		first = t[i].has.stamp < first->has.stamp ? &t[i] : first;
	for (size_t i = 0; i < n && !waits(first); i++) {
		if (!waits(&t[i]) || same_place(by_caller(&t[i]), by_caller(first)))
			continue;
		several |= waiter && waiter->ref.thread != t[i].ref.thread;
		waiter = &t[i];
	}
	return several ? first : NULL;
}

/* The place at which most threads take, and most often, the first of several, but for that of one take or NULL; of t[0 .. n),
 * sorted by thread. */
static struct take_place busiest_place(const struct take *t, size_t n, where_taken *where, const struct take *but)
{
	struct take_site *sites = NULL, *best;
	size_t nsites = 0, k = 0;
	for (size_t i = 0; i < n; i++) {
		struct take_place place = where(&t[i]);
		if (but && same_place(place, where(but)))
			continue;
		if (k == nsites || !same_place(sites[k].place, place))
			for (k = 0; k < nsites && !same_place(sites[k].place, place); k++)
				;
		if (k == nsites)
			*MEM_GROW(sites, nsites) = (struct take_site){ .place = place, .last = NO_THREAD };
		sites[k].threads += sites[k].last != t[i].ref.thread;
		sites[k].last = t[i].ref.thread;
		sites[k].takes++;
	}
	best = sites;
	for (k = 1; k < nsites; k++)
		best = is_busier(&sites[k], best) ? &sites[k] : best;
	struct take_place place = best->place;
	free(sites);
	return place;
}

/* longest: from what it took until it came for more. pieces: it begins with a take, and there is a piece of work behind each but
 * the last. goes_on: behind the last; ever_on: behind any. */
struct taker { uint32_t thread; size_t takes; uint64_t last, longest; bool waited, pieces, goes_on, ever_on; };

static struct taker *find_takers(const struct builder *b, const struct take *t, size_t n, struct take_place place, size_t *count)
{
	struct taker *takers = NULL;
	*count = 0;
	for (size_t i = 0; i < n; i++) {
		if (!same_place(by_caller(&t[i]), place))
			continue;
		struct taker *self = *count ? &takers[*count - 1] : NULL;
		if (!self || self->thread != t[i].ref.thread) {
			self = MEM_GROW(takers, *count);
			*self = (struct taker){ .thread = t[i].ref.thread, .last = t[i].has.stamp, .pieces = t[i].at_once, .goes_on = true };
		}
		self->pieces &= self->goes_on;
		self->goes_on = t[i].goes_on;
		self->ever_on |= t[i].goes_on;
		uint64_t done = t[i].ref.stamp - waited_to_take(b, &t[i]), since = done > self->last ? done - self->last : 0;
		self->longest = since > self->longest ? since : self->longest;
		self->last = t[i].has.stamp;
		self->waited |= waits(&t[i]);
		self->takes++;
	}
	return takers;
}

#define OFTEN 3 /* by chance few take other things than others do */

#define MORE  2 /* takes: what the program itself divides by threads may be one more for some */

/* As all do who come again until there is nothing left; so often, or not all as often. */
static bool come_in_vain(const struct taker *t, size_t n)
{
	bool often = true, unequal = false;
	for (size_t i = 0; i < n; i++) {
		if (!t[i].pieces || t[i].goes_on)
			return false;
		often &= t[i].takes >= OFTEN;
		unequal |= t[i].takes != t[0].takes;
	}
	return n > 0 && (often || unequal);
}

/* Not all take about as often, or some wait until there is something, or each takes what no other has, as `told`, or comes once
 * more in vain; and none has nothing to do for longer than a piece of work. */
static bool look_even(const struct taker *t, size_t n, bool told)
{
	uint64_t first = UINT64_MAX, last = 0, longest = 0;
	size_t fewest = SIZE_MAX, most = 0;
	bool unequal = told || come_in_vain(t, n);
	for (size_t i = 0; i < n; i++) {
		first = t[i].last < first ? t[i].last : first;
		last = t[i].last > last ? t[i].last : last;
		longest = t[i].longest > longest ? t[i].longest : longest;
		fewest = t[i].takes < fewest ? t[i].takes : fewest;
		most = t[i].takes > most ? t[i].takes : most;
		unequal |= t[i].waited;
	}
	return n > 1 && (unequal || most - fewest >= MORE) && last - first <= longest;
}

typedef bool are_so(struct builder *, const uint32_t *threads, size_t n);

/* All take as often; and their threads are so. */
static bool are_even_and(are_so *so, struct builder *b, const struct taker *t, size_t n)
{
	uint32_t *threads = mem_resize(NULL, n + 1, sizeof *threads);
	bool even = true;
	for (size_t i = 0; i < n; i++) {
		threads[i] = t[i].thread;
		even &= t[i].takes == t[0].takes && t[i].takes >= OFTEN;
	}
	even = even && so(b, threads, n);
	free(threads);
	return even;
}

/* Each does what no other does: it is told when to, but nothing is given out. */
static bool do_their_own(struct builder *b, const struct taker *t, size_t n)
{
	return are_even_and(graph_own_regions, b, t, n);
}

/* What each is told in an answer is not always the same, as it would be if they did only their own. */
static bool are_told_what(struct builder *b, const struct take *take, const struct taker *t, size_t n)
{
	return take->counts || take->carries || (take->answered && are_even_and(graph_differ_in_regions, b, t, n));
}

/* Who only reads takes nothing away. */
static bool some_read(const struct take *t, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (t[i].shared)
			return true;
	return false;
}

/* A lock that nobody takes to do something behind it before he comes to another one, nor waits for something there. */
static bool only_guards(const struct builder *b, const struct take *take, const struct taker *t, size_t n)
{
	bool only = b->graph->trace->sites[take->place.site].kind == DPROF_KIND_LOCK;
	for (size_t i = 0; i < n; i++)
		only &= !t[i].waited && !t[i].ever_on;
	return only;
}

static bool look_shared_out(struct builder *b, const struct take *t, size_t n, const struct taker *takers, size_t ntakers)
{
	if (t->in_vain || some_read(t, n) || only_guards(b, t, takers, ntakers) ||
	    !look_even(takers, ntakers, are_told_what(b, t, takers, ntakers)))
		return false;
	return t->counts || !do_their_own(b, takers, ntakers);
}

/* The last is for nothing, unless a lock is taken with each piece: then its thread goes on by itself behind that. */
static void request(struct builder *b, const struct take *t, bool last, uint32_t group)
{
	graph_request(b, t->ref, t->has, group);
	if (last && t->goes_on && b->graph->trace->sites[t->place.site].kind == DPROF_KIND_LOCK)
		graph_point(b, graph_end_of_take(b, t), GRAPH_FINISHES, group);
}

/* t[0 .. n): of one epoch, sorted by thread. */
static void share_out(struct builder *b, const struct take *t, size_t n)
{
	struct take_place place = busiest_place(t, n, by_caller, find_room(t, n));
	size_t ntakers;
	struct taker *takers = find_takers(b, t, n, place, &ntakers);
	if (look_shared_out(b, t, n, takers, ntakers)) {
		uint32_t group = graph_group(b, false);
		for (size_t i = 0; i < n; i++)
			if (same_place(by_caller(&t[i]), place))
				request(b, &t[i], i + 1 == n || t[i + 1].ref.thread != t[i].ref.thread, group);
	}
	free(takers);
}

/* ---- Barriers ---------------------------------------------------------------------------------- */

#define NO_EPOCH UINT32_MAX

/* Who takes at one site; and for whom of them that was asked, which barriers they all come to. */
struct takers {
	const struct builder *b;
	uint32_t *v; size_t n;    /* threads, in order */
	struct ids groups; bool *all_in; size_t ngroups;
	struct ids keys;          /* of such barriers: their places are epochs */
};

/* Of t[0 .. n), sorted by thread. */
static struct takers find_all_takers(const struct builder *b, const struct take *t, size_t n, uint32_t site)
{
	struct takers all = { .b = b };
	for (size_t i = 0; i < n; i++)
		if (t[i].place.site == site && (all.n == 0 || all.v[all.n - 1] != t[i].ref.thread))
			*MEM_GROW(all.v, all.n) = t[i].ref.thread;
	return all;
}

static void takers_close(struct takers *all)
{
	free(all->v);
	free(all->all_in);
	ids_free(&all->groups);
	ids_free(&all->keys);
}

static bool are_in_group(const struct takers *all, uint32_t number)
{
	const struct trace *trace = all->b->graph->trace;
	const struct tr_group *group = number < trace->ngroups ? &trace->groups[number] : NULL;
	for (size_t i = 0, k = 0; i < all->n; i++) {
		if (graph_is_address_barrier(number) && !graph_comes_to(all->b, number, all->v[i]))
			return false;
		if (number == BARRIER_OF_PROCESS && trace->threads[all->v[i]].process != trace->threads[all->v[0]].process)
			return false;
		while (group && k < group->nthreads && group->threads[k] < all->v[i])
			k++;
		if (group && (k == group->nthreads || group->threads[k] != all->v[i]))
			return false;
	}
	return number != BARRIER_OF_UNKNOWN;
}

static bool are_all_in(struct takers *all, uint32_t number)
{
	if (ids_add(&all->groups, number))
		*MEM_GROW(all->all_in, all->ngroups) = are_in_group(all, number);
	return all->all_in[ids_find(&all->groups, number)];
}

/* Of one of which not all come for a barrier of theirs, what it does behind is still what it has taken. */
static void find_epochs(const struct builder *b, struct take *t, size_t n)
{
	struct takers all = find_all_takers(b, t, n, n ? busiest_place(t, n, at_site, NULL).site : TR_NO_SITE);
	size_t next = 0;
	for (size_t i = 0; i < n; i++, spill_relax(b->spill)) {
		const struct passed_barriers *barriers = &b->threads[t[i].ref.thread].barriers;
		size_t behind = SEARCH(barriers->n, mid, barriers->v[mid].at < t[i].ref.at);
		next = i && t[i].ref.thread == t[i - 1].ref.thread && next > behind ? next : behind;
		while (next < barriers->n && !are_all_in(&all, barriers->v[next].group))
			next++;
		t[i].barrier = (uint32_t)next;
		t[i].epoch = NO_EPOCH;
		if (next == barriers->n)
			continue;
		ids_add(&all.keys, barriers->v[next].key);
		t[i].epoch = (uint32_t)ids_find(&all.keys, barriers->v[next].key);
	}
	takers_close(&all);
}

/* ---- All of it -------------------------------------------------------------------------------- */

static void note(uint32_t **sites, size_t *n, uint32_t site)
{
	for (size_t i = 0; i < *n; i++)
		if ((*sites)[i] == site)
			return;
	*MEM_GROW(*sites, *n) = site;
}

void graph_note_pool(struct graph *g, uint32_t site)
{
	note(&g->pools, &g->npools, site);
}

void graph_note_unsaid(struct graph *g, uint32_t site)
{
	note(&g->unsaid, &g->nunsaid, site);
}

/* t[0 .. n): of one epoch, and `given` in any case; or if they may be, since one does more behind it. */
static bool give_epoch(struct builder *b, const struct take *t, size_t n, uint32_t site, bool given)
{
	bool gives = given || goes_on(b, t, n, site, false);
	if (gives)
		give_stretches(b, t, n);
	return gives;
}

/* Sorted by epoch. */
static bool give_epochs(struct builder *b, const struct take *t, size_t n, uint32_t site, bool given)
{
	bool any = false;
	for (size_t i = 0, next; i < n; i = next) {
		next = end_of_epoch(t, n, i);
		any |= give_epoch(b, t + i, next - i, site, given);
	}
	if (any)
		graph_note_pool(b->graph, site);
	return any;
}

static void share_out_epochs(struct builder *b, const struct take *t, size_t n)
{
	for (size_t i = 0, next; i < n; i = next) {
		next = end_of_epoch(t, n, i);
		share_out(b, t + i, next - i);
	}
}

bool graph_find_pool(struct builder *b, struct take *t, size_t n)
{
	runs_sort(b->spill, t, n, sizeof *t, by_thread);
	find_epochs(b, t, n);
	uint32_t site = n ? busiest_place(t, n, at_site, NULL).site : TR_NO_SITE;
	bool given = takes_again(b, t, n) || goes_on(b, t, n, site, true);
	runs_sort(b->spill, t, n, sizeof *t, by_epoch);
	if (given)
		share_out_epochs(b, t, n);
	return give_epochs(b, t, n, site, given || do_unevenly(b, t, n, site));
}

/* It does something before an event, which is the next one that takes. */
static bool does_something(const struct builder *b, const struct take *t, uint64_t until)
{
	const struct things_done *done = &b->threads[t->ref.thread].done;
	size_t next = SEARCH(done->n, mid, done->v[mid] <= t->ref.at);
	return next < done->n && done->v[next] < until;
}

typedef bool decides(const struct builder *, const struct take *, size_t n);

/* What claims decide, each up to where that is over, is something: several threads claim, and there is an event, or it takes long.
 * Where that is not known it may be anything behind it. */
static bool claims_decide(const struct builder *b, const struct take *t, size_t n)
{
	bool several = false, something = false, open = false;
	int64_t sum = 0;
	for (size_t i = 0; i < n; i++) {
		several |= t[i].ref.thread != t->ref.thread;
		open |= t[i].left.at == NO_EVENT;
		if (t[i].left.at == NO_EVENT)
			something |= does_more(b, &t[i]);
		else if (t[i].left.at > t[i].ref.at + 1)
			something = true;
		else
			sum += times_duration(b->graph->times, b->graph->clocks[t[i].ref.thread], t[i].left.stamp - t[i].ref.stamp).hi;
	}
	something |= sum > b->run / SMALL_PART || (open && (takes_again(b, t, n) || do_unevenly(b, t, n, t->place.site)));
	return several && something;
}

/* A lock or a flag for each piece of work, which whoever tries it first has: no other has it then, and it may have it while it
 * works. t[0 .. n): of one epoch after the other, and in each of one thread after the other. */
static bool find_claims(const struct builder *b, struct take *t, size_t n)
{
	bool claims = true;
	for (size_t i = 0; i < n; i++)
		claims &= t[i].tries;
	for (size_t i = 0; i < n && claims; i++) {
		bool last = i + 1 == n || !same_stretch(&t[i], &t[i + 1]);
		t[i].goes_on = does_something(b, &t[i], last ? UINT64_MAX : t[i + 1].ref.at);
		t[i].counts = true;
	}
	return claims;
}

/* All that was taken at one place, and each of something else, by several; in any order. */
static void find_alike_pool(struct builder *b, struct take *t, size_t n, decides *given_by)
{
	runs_sort(b->spill, t, n, sizeof *t, by_thread);
	find_epochs(b, t, n);
	bool given = given_by(b, t, n);
	runs_sort(b->spill, t, n, sizeof *t, by_epoch);
	if (given && find_claims(b, t, n))
		share_out_epochs(b, t, n);
	if (given)
		give_epochs(b, t, n, t->place.site, true);
}

void graph_find_claimed_pool(struct builder *b, struct take *t, size_t n)
{
	find_alike_pool(b, t, n, claims_decide);
}

static int by_own_place(const void *x, const void *y)
{
	const struct own_take *a = x, *b = y;
	return ORDER_3(a, b, process, take.place.site, take.ref.stamp);
}

void graph_find_own_pools(struct builder *b, struct own_takes *all)
{
	struct own_take *own = all->v;
	struct take *takes = NULL;
	size_t ntakes = 0;
	runs_sort(b->spill, own, all->n, sizeof *own, by_own_place);
	for (size_t i = 0; i < all->n; i++, spill_relax(b->spill)) {
		*SPILL_GROW(b->spill, takes, ntakes) = own[i].take;
		if (i + 1 < all->n && own[i + 1].process == own[i].process &&
		    own[i + 1].take.place.site == own[i].take.place.site)
			continue;
		find_alike_pool(b, takes, ntakes, takes_again);
		ntakes = 0;
	}
	spill_free(b->spill, takes);
	spill_free(b->spill, own);
	*all = (struct own_takes){ NULL, 0 };
}
