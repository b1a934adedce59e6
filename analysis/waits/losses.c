/* SPDX-License-Identifier: MIT
 *
 * losses.c - waits of a trace of which records are lost. Who was in an operation may have waited there for anybody, for
 * all of it: behind a loss, too, events are taken for those of others where the n-th of one thread belongs to the n-th
 * of another. In what is lost of a thread it may have waited anywhere. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/search.h"
#include "analysis/graph/graph_activities.h"
#include "analysis/graph/graph_losses.h"
#include "analysis/waits/waits_private.h"

/* Of one thread: ticks, at most. */
struct lost_waits {
	const struct graph *g;
	struct graph_last *last;
	uint32_t thread;
	int64_t *ticks;              /* in operations of each site, and ... */
	int64_t idle, unknown;       /* ... between teams, and anywhere, which is not known */
};

static void follow(struct lost_waits *l)
{
	struct graph_activities a;
	l->idle = l->unknown = 0;
	memset(l->ticks, 0, (l->g->trace->nsites + 1) * sizeof *l->ticks);
	graph_activities_open(&a, l->g, l->thread, l->last);
	while (graph_activities_next(&a)) {
		const struct graph_operation *o = &a.step.operation;
		int64_t took = times_of_thread(l->g->times, l->thread, a.step.from, a.step.to).hi;
		if (a.step.did == GRAPH_IDLED)
			l->idle = ticks_plus(l->idle, took);
		if (a.step.did == GRAPH_DID_UNKNOWN)
			l->unknown = ticks_plus(l->unknown, took);
		if (a.step.ended && o->site < l->g->trace->nsites)
			l->ticks[o->site] = ticks_plus(l->ticks[o->site], o->took.hi);
		spill_relax(l->g->spill);
	}
	graph_activities_close(&a);
}

/* Sums stand in the order of their threads; `ticks` becomes what may have been waited in all at each site. */
static void widen_places(struct lost_waits *l, struct waits *waits)
{
	size_t first = SEARCH(waits->nplaces, mid, waits->places[mid].thread < l->thread);
	for (size_t i = first; i < waits->nplaces && waits->places[i].thread == l->thread; i++) {
		struct wait_sum *s = &waits->places[i];
		bool of_team = s->kind == WAIT_TASK_STARVATION || s->kind == WAIT_IMBALANCE;
		int64_t more = ticks_plus(l->ticks[s->site], ticks_plus(l->g->lost[l->thread], l->unknown));
		s->ticks.hi = ticks_plus(s->ticks.hi, ticks_plus(more, of_team ? l->idle : 0));
	}
	for (size_t i = first; i < waits->nplaces && waits->places[i].thread == l->thread; i++) {
		int64_t *all = &l->ticks[waits->places[i].site];
		*all = ticks_plus(*all, waits->places[i].ticks.hi);
	}
}

/* Whoever is known to have been waited for may have been so, and for what it did, for all that was waited there, or never. */
static void widen_causes(const struct lost_waits *l, struct waits *waits)
{
	size_t first = SEARCH(waits->ncauses, mid, waits->causes[mid].thread < l->thread);
	for (size_t i = first; i < waits->ncauses && waits->causes[i].thread == l->thread; i++) {
		struct wait_sum *s = &waits->causes[i];
		s->ticks.hi = l->ticks[s->site] > s->ticks.hi ? l->ticks[s->site] : s->ticks.hi;
		s->ticks.lo = 0;
		s->sure = false;
	}
}

void waits_widen(struct waits *waits, const struct graph *g, struct graph_last *last)
{
	struct lost_waits l = { .g = g, .last = last };
	l.ticks = mem_resize(NULL, g->trace->nsites + 1, sizeof *l.ticks);
	for (l.thread = 0; l.thread < g->trace->nthreads && g->nlosses > 0; l.thread++) {
		if (g->threads[l.thread].nevents == 0)
			continue;
		follow(&l);
		widen_places(&l, waits);
		widen_causes(&l, waits);
	}
	free(l.ticks);
}
