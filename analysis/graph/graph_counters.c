/* SPDX-License-Identifier: MIT
 *
 * graph_counters.c - work that threads take by a counter that they share, of which there is no record:
 *
 *   while ((i = atomic_fetch_add(&next, 1)) < n) work(i)
 *
 * What such a thread does another may do in another run. There is no sign of it but that it is shared out: of threads that were
 * created in one place not all are as often in a region, and they leave it for the last time no further apart than the longest such
 * piece takes, since nobody is idle while there is one left. Chance may look so, too; then what is proved is only wider than need be. Where a
 * lock or something else that is recorded gives out the work, that is known better (graph_dealers.c). */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/graph/graph_private.h"

/* Of a region, in the threads that are looked at. */
struct shared_out {
	uint64_t fewest, most;       /* how often a thread has been in it */
	uint64_t longest, first_end, last_end; /* a piece; last ends, of whoever is through first and last */
};

/* Of a thread. */
struct pieces { uint64_t n, since, last; uint32_t depth; };

static void count_pieces(const struct builder *b, uint32_t thread, struct pieces *pieces, struct shared_out *all)
{
	const struct trace *trace = b->graph->trace;
	struct tr_cursor events = trace_events(trace, thread);
	struct tr_event e;
	memset(pieces, 0, trace->nsites * sizeof *pieces);
	while (trace_next_bare(&events, &e)) {
		if (e.op == DPROF_LOST || e.site >= trace->nsites || !tr_is(trace, e.site, OP_REGION))
			continue;
		struct pieces *p = &pieces[e.site];
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

static void add_pieces(const struct pieces *p, struct shared_out *all)
{
	all->fewest = p->n < all->fewest ? p->n : all->fewest;
	all->most = p->n > all->most ? p->n : all->most;
	all->first_end = p->last < all->first_end ? p->last : all->first_end;
	all->last_end = p->last > all->last_end ? p->last : all->last_end;
}

static bool looks_shared_out(const struct shared_out *s)
{
	return s->fewest > 0 && s->fewest < s->most && s->last_end - s->first_end <= s->longest;
}

/* Threads that were created in one place, from the first on. */
struct alike { uint32_t *v; size_t n; };

static struct alike find_alike(const struct builder *b, uint32_t first)
{
	const struct tr_thread *threads = b->graph->trace->threads;
	struct alike a = { NULL, 0 };
	for (uint32_t t = first; t < b->graph->trace->nthreads && threads[t].process == threads[first].process; t++)
		if (b->forked_at[t] == b->forked_at[first] && b->graph->threads[t].nevents > 0)
			*MEM_GROW(a.v, a.n) = t;
	return a;
}

/* A region that they look to have shared out; or TR_NO_SITE. */
static uint32_t find_shared_out(const struct builder *b, struct alike a)
{
	const struct trace *trace = b->graph->trace;
	struct pieces *pieces = mem_resize(NULL, trace->nsites + 1, sizeof *pieces);
	struct shared_out *all = mem_resize(NULL, trace->nsites + 1, sizeof *all);
	for (uint32_t s = 0; s < trace->nsites; s++)
		all[s] = (struct shared_out){ .fewest = UINT64_MAX, .first_end = UINT64_MAX };
	for (size_t i = 0; i < a.n; i++) {
		count_pieces(b, a.v[i], pieces, all);
		for (uint32_t s = 0; s < trace->nsites; s++)
			add_pieces(&pieces[s], &all[s]);
	}
	uint32_t site = 0;
	while (site < trace->nsites && !looks_shared_out(&all[site]))
		site++;
	free(all);
	free(pieces);
	return site < trace->nsites ? site : TR_NO_SITE;
}

static bool is_dealt(const struct graph *g, uint32_t thread)
{
	const struct graph_thread *t = &g->threads[thread];
	bool dealt = false;
	for (size_t i = 0; i < t->nsyncs && !dealt; i++, spill_relax(g->spill))
		dealt = t->syncs[i].what == GRAPH_GIVES;
	return dealt;
}

static void look_at(struct builder *b, struct alike a)
{
	bool dealt = false;
	for (size_t i = 0; i < a.n; i++)
		dealt |= is_dealt(b->graph, a.v[i]);
	uint32_t site = dealt || a.n < 2 ? TR_NO_SITE : find_shared_out(b, a);
	if (site == TR_NO_SITE)
		return;
	graph_note_dealer(b->graph, site);
	for (size_t i = 0; i < a.n; i++)
		graph_give(b, (struct event_ref){ a.v[i], 0, b->graph->threads[a.v[i]].first }, GRAPH_DEALT);
}

void graph_counters(struct builder *b)
{
	const struct tr_thread *threads = b->graph->trace->threads;
	for (uint32_t t = 0; t < b->graph->trace->nthreads; t++) {
		bool first = b->forked_at[t] != TR_NO_SITE && b->graph->threads[t].nevents > 0;
		for (uint32_t u = t; u-- > 0 && first && threads[u].process == threads[t].process;)
			first = b->forked_at[u] != b->forked_at[t];
		if (!first)
			continue;
		struct alike a = find_alike(b, t);
		look_at(b, a);
		free(a.v);
	}
}
