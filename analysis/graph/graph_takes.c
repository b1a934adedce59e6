/* SPDX-License-Identifier: MIT
 *
 * graph_takes.c - whoever takes a lock or passes a semaphore perhaps has a piece of work then: all takes of one, with what tells
 * apart why, for whoever looks for work that the program gives out (graph_pools.c, graph_elections.c). */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/graph/graph_locks.h"

/* Of each thread what it waits for where it has the lock, or else signals there; asks: what caller_of() made of that, or 0; and
 * what the first who waits waits for. */
struct lock_roles { uint64_t *of, *asks, usual; bool *waits; };

/* Who never waits, and signals at most once, or behind less than half of its takes, is given what those are who were created with
 * it and wait: it had always something to do, and told them when there was more for them, or nothing any more. */
static void join_the_busy(const struct builder *b, struct lock_roles *r, const struct sync_event *t, size_t n, uint32_t created)
{
	size_t nthreads = b->graph->trace->nthreads;
	struct { size_t takes, signals; } *of = mem_zeroed(nthreads + 1, sizeof *of);
	for (size_t i = 0; i < n; i++) {
		of[t[i].ref.thread].takes += t[i].kind == SYNC_TAKEN;
		of[t[i].ref.thread].signals += t[i].kind == SYNC_TAKEN && t[i].condition;
	}
	for (size_t i = 0; i < nthreads; i++)
		if (!r->waits[i] && b->threads[i].fork_site == created && (of[i].signals <= 1 || of[i].signals < of[i].takes / 2))
			r->of[i] = r->usual;
	free(of);
}

static struct lock_roles find_roles(const struct builder *b, const struct sync_event *t, size_t n)
{
	size_t nthreads = b->graph->trace->nthreads;
	struct lock_roles r = { .of = mem_zeroed(nthreads + 1, sizeof *r.of),
				.asks = mem_zeroed(nthreads + 1, sizeof *r.asks),
				.waits = mem_zeroed(nthreads + 1, sizeof *r.waits) };
	uint32_t created = TR_NO_SITE;
	for (size_t i = 0; i < n; i++) {
		uint32_t thread = t[i].ref.thread;
		if (t[i].kind != SYNC_TAKEN || r.waits[thread])
			continue;
		r.waits[thread] = t[i].relocks;
		r.of[thread] = t[i].relocks ? t[i].condition : r.of[thread] == 0 && t[i].condition ? ~t[i].condition : r.of[thread];
		if (t[i].relocks && !r.usual) {
			r.usual = t[i].condition;
			created = b->threads[thread].fork_site;
		}
	}
	if (created != TR_NO_SITE)
		join_the_busy(b, &r, t, n, created);
	return r;
}

/* It was taken in a function that leaves it taken, as those do that only lock: who calls them stands at no place of its own. */
static bool is_left_taken(const struct trace *trace, uint32_t taken, uint32_t released)
{
	const char *in = trace->sites[taken].function, *out = trace->sites[released].function;
	return *in && *out && strcmp(in, out) != 0;
}

/* What it is taken for then: whether something is done behind it; and what the thread waits for where it has it, or those that were
 * created with it do, or it signals. */
static uint64_t caller_of(const struct builder *b, const struct lock_roles *r, const struct take *t)
{
	uint32_t thread = t->ref.thread, created = b->threads[thread].fork_site;
	uint64_t *asks = &r->asks[thread];
	bool usual = false;
	for (size_t i = 0; i < b->graph->trace->nthreads && !*asks && created != TR_NO_SITE && !r->waits[thread]; i++)
		usual |= r->waits[i] && b->threads[i].fork_site == created;
	if (!*asks)
		*asks = (usual ? r->usual : r->of[thread]) << 2 | 1;
	return *asks | (uint64_t)t->goes_on << 1;
}

/* Of several who stand at one place in the code, those who wait for different things do. */
static struct take_place place_of(const struct builder *b, const struct sync_event *t, const struct lock_roles *r)
{
	uint32_t thread = t->ref.thread;
	bool unplaced = b->graph->trace->sites[t->site].line == 0;
	return (struct take_place){ t->site, unplaced || r->waits[thread] ? r->of[thread] : r->usual };
}

#define SHORTLY 8 /* of what passes, at most such a part is passed with the lock */

/* Who has a file's lock for long works there, and does not only look what there is to do: that is not shared out. */
static void pass_work_inside(struct take *takes, size_t n)
{
	uint64_t inside = 0, first = UINT64_MAX, last = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t end = takes[i].left.at == NO_EVENT ? takes[i].has.stamp : takes[i].left.stamp;
		inside += end - takes[i].has.stamp;
		first = takes[i].has.stamp < first ? takes[i].has.stamp : first;
		last = end > last ? end : last;
	}
	for (size_t i = 0; i < n && inside > (last - first) / SHORTLY; i++)
		takes[i].in_vain = true;
}

/* Those of a kind; to be freed. Who waited for a condition variable in between has what it came for when it has taken the lock
 * again. */
static struct take *find_takes(const struct builder *b, const struct sync_event *t, size_t n, enum sync_event_kind kind,
			       size_t *count)
{
	uint32_t *last = mem_zeroed(b->graph->trace->nthreads + 1, sizeof *last);
	struct lock_roles roles = find_roles(b, t, n);
	struct take *takes = NULL;
	size_t ntakes = 0;
	for (size_t i = 0; i < n; i++, spill_relax(b->spill)) {
		uint32_t *own = &last[t[i].ref.thread];
		if (t[i].kind == SYNC_RELEASED && *own) {
			takes[*own - 1].left = t[i].ref;
			takes[*own - 1].behind = t[i].ref.at;
			if (is_left_taken(b->graph->trace, takes[*own - 1].place.site, t[i].site))
				takes[*own - 1].caller = caller_of(b, &roles, &takes[*own - 1]);
		}
		if (t[i].kind != kind || t[i].in_wait)
			continue;
		if (t[i].relocks && *own) {
			takes[*own - 1].has = t[i].ref;
			takes[*own - 1].goes_on |= t[i].goes_on;
		} else if (!t[i].relocks) {
			*SPILL_GROW(b->spill, takes, ntakes) = (struct take){ .ref = t[i].ref, .has = t[i].ref, .left.at = NO_EVENT,
								  .place = place_of(b, &t[i], &roles), .goes_on = t[i].goes_on,
								  .shared = t[i].shared, .at_once = t[i].at_once,
								  .carries = b->graph->trace->sites[t[i].site].op.carries,
								  .tries = tr_is(b->graph->trace, t[i].site, OP_ATTEMPT) };
			*own = (uint32_t)ntakes;
		}
	}
	if (kind == SYNC_TAKEN && b->graph->trace->sites[t->site].op.locks)
		pass_work_inside(takes, ntakes);
	free(roles.of);
	free(roles.asks);
	free(roles.waits);
	free(last);
	*count = ntakes;
	return takes;
}

void graph_takes(struct sync_pass *p, const struct sync_event *t, size_t n, enum sync_event_kind kind, bool shared)
{
	struct builder *b = p->b;
	size_t ntakes;
	struct take *takes = find_takes(b, t, n, kind, &ntakes);
	bool pool = graph_find_pool(b, takes, ntakes);
	if (kind == SYNC_TAKEN && !graph_is_of_processes(b, t))
		graph_note_voters(b, p->voters, (uint64_t)(t - p->events->v), takes, ntakes, pool);
	for (size_t i = 0; i < ntakes && !shared; i++, spill_relax(b->spill))
		*SPILL_GROW(b->spill, p->own.v, p->own.n) = (struct own_take){ t->process, takes[i] };
	spill_free(b->spill, takes);
}
