/* SPDX-License-Identifier: MIT
 *
 * graph_barriers.c - barriers that do not say their group.
 *
 * Nobody counts the visits to a barrier that processes share, nor to one of C++. But all who come have one clock, and no thread
 * comes for the next round before it has left this one, for which all had come before: so a round ends where somebody comes after
 * one of those before has left, or when all are there.
 *
 *   shared by processes   it may be another barrier at the same place, and others may come who are not in the trace: nothing is
 *                         certain of it
 *   std::barrier          says how many come, and when it is made. Where more threads than those ever come, others may be together
 *                         in another run. It may call a function: whoever came last runs that, here, and all others wait until it
 *                         is over; in another run that may be another thread, for which it takes as long. Where that one has
 *                         dropped out it has waited for nobody, but another may be last: nothing is certain of such a round. Who
 *                         only arrives may wait later, for the round in which it was last; if it does not, it may come again in the
 *                         same round in another run */
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/runs.h"
#include "analysis/graph/graph_barriers.h"

static int by_thread(const void *x, const void *y)
{
	const struct bare *a = x, *b = y;
	return ORDER_3(a, b, process, enter.thread, enter.at);
}

static frz_time time_of(const struct builder *b, struct event_ref ref)
{
	const struct times *times = b->graph->times;
	struct frz_cursor c = times_cursor(times, times->trace->threads[ref.thread].clock);
	return frz_time_of(&c, ref.stamp);
}

/* Whether the r-th barriers of these threads, each of which has `rounds`, can be one. */
static bool can_be_one(const struct builder *b, const struct bare *bare, size_t threads,
		       size_t rounds, size_t r)
{
	int64_t left = INT64_MAX, came = INT64_MIN;
	for (size_t t = 0; t < threads; t++) {
		frz_time enter = time_of(b, bare[t * rounds + r].enter);
		frz_time exit = time_of(b, bare[t * rounds + r].exit);
		left = exit.hi < left ? exit.hi : left;
		came = enter.lo > came ? enter.lo : came;
	}
	return came <= left;
}

static void add_bare_barrier(struct builder *b, const struct bare *bare, size_t threads,
			     size_t rounds, size_t r)
{
	struct node_input *inputs = mem_resize(NULL, threads, sizeof *inputs);
	for (size_t t = 0; t < threads; t++)
		inputs[t] = (struct node_input){ .ref = bare[t * rounds + r].enter, .sure = true, .needed = true };
	uint32_t node = graph_add_node(b, GRAPH_SYNC, inputs, threads);
	for (size_t t = 0; t < threads; t++)
		graph_wait(b, bare[t * rounds + r].exit, node);
	free(inputs);
}

static void doubt_bare(struct builder *b, const struct bare *bare)
{
	graph_diagnose(&b->diagnosed.alone, bare->exit, bare->site);
	graph_unknown(b, (struct wait_begin){ .enter = bare->enter }, bare->exit);
}

/* How often each of the threads has one; 0 when not all as often. */
static size_t find_rounds(const struct bare *bare, size_t n, size_t *threads)
{
	size_t rounds = 0, since = 0;
	bool even = true;
	*threads = 0;
	for (size_t i = 1; i <= n; i++) {
		if (i < n && bare[i].enter.thread == bare[i - 1].enter.thread)
			continue;
		rounds = rounds ? rounds : i - since;
		even &= i - since == rounds;
		since = i;
		++*threads;
	}
	return even ? rounds : 0;
}

void graph_bare_barriers(struct builder *b, struct barrier_records *records)
{
	runs_sort(b->spill, records->bare, records->nbare, sizeof *records->bare, by_thread);
	for (size_t i = 0, next; i < records->nbare; i = next) {
		size_t threads, rounds;
		for (next = i + 1; next < records->nbare && records->bare[next].process == records->bare[i].process;
		     next++)
			;
		rounds = find_rounds(&records->bare[i], next - i, &threads);
		if (records->bare[i].process == ALL_RANKS && b->graph->other_jobs)
			rounds = 0; /* they may be with ranks of those */
		for (size_t k = i; k < next && !rounds; k++)
			doubt_bare(b, &records->bare[k]);
		for (size_t r = 0; r < rounds && threads > 1; r++) {
			if (can_be_one(b, &records->bare[i], threads, rounds, r)) {
				add_bare_barrier(b, &records->bare[i], threads, rounds, r);
				continue;
			}
			for (size_t t = 0; t < threads; t++)
				doubt_bare(b, &records->bare[i + t * rounds + r]);
		}
	}
}

/* ---- Where visits are counted ------------------------------------------------------------------ */

static int by_coming(const void *x, const void *y)
{
	const struct barrier_visit *a = x, *b = y;
	if (a->clock != b->clock)
		return a->clock < b->clock ? -1 : 1;
	return ORDER_4(a, b, process, object, enter.stamp, enter.thread);
}

/* The first n of these visits are a round, in which so many threads should be: none of them comes when one has left, which was at
 * that stamp. Behind them that is over which is done once, or there is no such. `certain`: in any run they are together. */
struct barrier_round { size_t n; uint64_t threads, left; bool certain; const struct barrier_visit *completion; };

/* In which round, from 1 on, each thread was last, and which one this is; at which barrier each was last, and whether it has left
 * that for good; which one this is, and whether always the same come to it, but who leaves. */
struct comers { uint32_t *in, now, *at, barrier; bool *gone, certain; const struct barrier_visit *awaits; };

static bool is_same(const struct barrier_visit *a, const struct barrier_visit *b)
{
	return a->clock == b->clock && a->process == b->process && a->object == b->object;
}

static void doubt(struct builder *b, const struct barrier_visit *wait)
{
	graph_diagnose(&b->diagnosed.missing, wait->exit, wait->site);
	graph_unknown(b, (struct wait_begin){ .enter = wait->enter }, wait->exit);
}

static bool comes(const struct barrier_visit *v)
{
	return v->how == VISIT_WAITS || v->how == VISIT_ONLY_COMES || v->how == VISIT_LEAVES;
}

/* Whoever has come may wait for that round before it comes again. */
static void find_awaits(struct builder *b, struct barrier_records *records)
{
	struct barrier_visit **last = spill_zeros(b->spill, b->graph->trace->nthreads + 1, sizeof *last);
	size_t next = 0;
	for (size_t i = 0; i < records->nawaits; i++, spill_relax(b->spill)) {
		const struct barrier_visit *a = &records->awaits[i];
		for (; next < records->nvisits && by_coming(&records->visits[next], a) <= 0; next++)
			if (comes(&records->visits[next]))
				last[records->visits[next].enter.thread] = &records->visits[next];
		struct barrier_visit *came = last[a->enter.thread];
		bool apart = came && is_same(came, a) && came->how == VISIT_ONLY_COMES && !came->await;
		if (apart)
			came->await = i + 1;
		else
			doubt(b, a);
		b->graph->apart |= apart;
	}
	spill_free(b->spill, last);
}

/* Its visit, or its later wait, which has an exit; or NULL. */
static const struct barrier_visit *wait_of(const struct comers *c, const struct barrier_visit *v)
{
	return v->how == VISIT_WAITS ? v : v->await ? &c->awaits[v->await - 1] : NULL;
}

/* Who comes to the barrier of the first of these visits, until it is made anew. */
static void look_at_barrier(struct comers *c, const struct barrier_visit *v, size_t n)
{
	uint64_t most = 0, nthreads = 0;
	bool again = false;
	c->barrier++;
	for (size_t i = 0; i < n && is_same(&v[i], v) && (i == 0 || v[i].how != VISIT_MAKES); i++) {
		uint32_t thread = v[i].enter.thread;
		if (!comes(&v[i]))
			continue;
		bool known = c->at[thread] == c->barrier;
		nthreads += !known;
		again |= known && c->gone[thread];
		c->at[thread] = c->barrier;
		c->gone[thread] = v[i].how == VISIT_LEAVES;
		most = v[i].threads > most ? v[i].threads : most;
	}
	c->certain = v->process != OF_ANY_PROCESS && nthreads <= most && !again;
}

/* Of these visits, of which there is one at least; it may be a completion, which is that of none. */
static struct barrier_round find_round(struct comers *c, const struct barrier_visit *v, size_t n)
{
	struct barrier_round r = { .threads = v->threads, .left = UINT64_MAX, .certain = c->certain };
	c->now++;
	for (; r.n < n && (r.n == 0 || r.n < r.threads) && is_same(&v[r.n], v) && comes(&v[r.n]) && v[r.n].enter.stamp <= r.left; r.n++) {
		const struct barrier_visit *next = &v[r.n];
		if (c->in[next->enter.thread] == c->now ||
		    (next->threads != r.threads && next->threads != ARG_NONE && r.threads != ARG_NONE))
			return r;
		c->in[next->enter.thread] = c->now;
		const struct barrier_visit *wait = wait_of(c, next);
		r.left = wait && wait->exit.stamp < r.left ? wait->exit.stamp : r.left;
		r.certain &= wait || next->how != VISIT_ONLY_COMES;
		r.threads = next->threads != ARG_NONE ? next->threads : r.threads;
	}
	r.completion = r.n < n && is_same(&v[r.n], v) && v[r.n].how == VISIT_COMPLETES ? &v[r.n] : NULL;
	for (size_t i = 0; i < r.n && r.completion; i++)
		r.certain &= v[i].how == VISIT_WAITS || v[i].enter.thread != r.completion->enter.thread;
	return r;
}

/* Who has waited for all of them, and for what was done once; and, where it came before, since when. */
static uint32_t add_arrivals(struct builder *b, const struct barrier_visit *v, const struct barrier_round *r,
			     const struct barrier_visit *completion, const struct barrier_visit *await)
{
	struct node_input *inputs = mem_resize(NULL, r->n + 2, sizeof *inputs);
	size_t n = 0;
	for (; n < r->n; n++)
		inputs[n] = (struct node_input){ .ref = v[n].enter, .sure = true, .needed = r->certain };
	if (completion)
		inputs[n++] = (struct node_input){ .ref = completion->enter, .sure = true, .needed = r->certain };
	if (await)
		inputs[n++] = (struct node_input){ .ref = await->enter, .sure = true, .needed = true };
	uint32_t number = graph_add_node(b, GRAPH_SYNC, inputs, n);
	struct graph_node *node = &b->graph->nodes[number];
	node->loose = node->hidden = node->delayed = !r->certain;
	free(inputs);
	return number;
}

/* What is done once for all, whoever comes last does. Who waits for it goes on when it is over, whoever has done it; who does not
 * is later by that in a run in which it comes last, until it has waited for it. */
static void leave_completion(struct builder *b, const struct comers *c, const struct barrier_visit *v,
			     const struct barrier_round *r)
{
	for (size_t i = 0; i < r->n && r->completion; i++) {
		const struct barrier_visit *wait = wait_of(c, &v[i]);
		struct event_ref from = v[i].enter;
		if (wait == &v[i])
			continue;
		from.at += from.at + 1 < b->graph->threads[from.thread].nevents; /* when it has come */
		graph_note_pool(b->graph, r->completion->site);
		graph_set_schedule(b, from, GRAPH_POOL_ENTERED);
		if (wait)
			graph_set_schedule(b, wait->exit, GRAPH_POOL_LEFT);
	}
}

static void add_round(struct builder *b, const struct comers *c, const struct barrier_visit *v, const struct barrier_round *r)
{
	bool at_once = false;
	for (size_t i = 0; i < r->n; i++)
		at_once |= v[i].how == VISIT_WAITS;
	leave_completion(b, c, v, r);
	uint32_t last = at_once ? add_arrivals(b, v, r, NULL, NULL) : 0;
	uint32_t others = at_once && r->completion ? add_arrivals(b, v, r, r->completion, NULL) : last;
	for (size_t i = 0; i < r->n; i++) {
		const struct barrier_visit *wait = wait_of(c, &v[i]);
		bool completes = r->completion && v[i].enter.thread == r->completion->enter.thread;
		if (wait == &v[i])
			graph_wait(b, wait->exit, completes ? last : others);
		else if (wait)
			graph_wait(b, wait->exit, add_arrivals(b, v, r, completes ? NULL : r->completion, wait));
	}
}

static void doubt_round(struct builder *b, const struct comers *c, const struct barrier_visit *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (wait_of(c, &v[i]))
			doubt(b, wait_of(c, &v[i]));
}

#define FIRST_ADDRESS_BARRIER (UINT32_C(1) << 31)

uint32_t graph_address_barrier(struct builder *b, uint32_t thread, uint64_t address, uint64_t *n)
{
	struct address_barriers *m = &b->address_barriers;
	uint64_t place = ids_mix(address, b->graph->trace->threads[thread].process);
	ids_add(&m->places, place);
	uint32_t number = FIRST_ADDRESS_BARRIER + (uint32_t)ids_find(&m->places, place);
	if (ids_add(&m->comers, (uint64_t)number << 32 | thread))
		*MEM_GROW(m->visits, m->n) = 0;
	*n = m->visits[ids_find(&m->comers, (uint64_t)number << 32 | thread)]++;
	return number;
}

bool graph_is_address_barrier(uint32_t number)
{
	return number >= FIRST_ADDRESS_BARRIER && number < BARRIER_OF_PROCESS;
}

bool graph_comes_to(const struct builder *b, uint32_t number, uint32_t thread)
{
	return ids_find(&b->address_barriers.comers, (uint64_t)number << 32 | thread) != SIZE_MAX;
}

static void add_barriers(struct builder *b, struct comers *c, const struct barrier_visit *v, size_t n)
{
	struct barrier_round r;
	for (size_t i = 0; i < n; i += r.n + (r.completion != NULL), spill_relax(b->spill)) {
		bool makes = v[i].how == VISIT_MAKES;
		if (makes || i == 0 || !is_same(&v[i], &v[i - 1]))
			look_at_barrier(c, &v[i], n - i);
		r = makes ? (struct barrier_round){ .n = 1 } : find_round(c, &v[i], n - i);
		if (makes)
			continue;
		if (r.threads == ARG_NONE ? r.n > 1 : r.n == r.threads)
			add_round(b, c, &v[i], &r);
		else
			doubt_round(b, c, &v[i], r.n);
	}
}

void graph_counted_barriers(struct builder *b, struct barrier_records *records)
{
	size_t nthreads = b->graph->trace->nthreads;
	struct comers c = { .in = spill_zeros(b->spill, nthreads + 1, sizeof *c.in),
			    .at = spill_zeros(b->spill, nthreads + 1, sizeof *c.at),
			    .gone = spill_zeros(b->spill, nthreads + 1, sizeof *c.gone), .awaits = records->awaits };
	runs_sort(b->spill, records->visits, records->nvisits, sizeof *records->visits, by_coming);
	runs_sort(b->spill, records->awaits, records->nawaits, sizeof *records->awaits, by_coming);
	find_awaits(b, records);
	add_barriers(b, &c, records->visits, records->nvisits);
	spill_free(b->spill, c.in);
	spill_free(b->spill, c.at);
	spill_free(b->spill, c.gone);
}
