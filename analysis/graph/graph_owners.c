/* SPDX-License-Identifier: MIT
 *
 * graph_owners.c - threads that have marked regions of their own: what one does no other ever does; or do something more often than
 * others. */
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/graph/graph_private.h"

static struct regions_of find_regions(const struct trace *trace, uint32_t thread)
{
	struct regions_of found = { NULL, 0, true };
	uint64_t *times = mem_zeroed(trace->nsites + 1, sizeof *times);
	struct tr_cursor events = trace_events(trace, thread);
	struct tr_event e;
	while (trace_next_bare(&events, &e)) {
		bool region = e.op == DPROF_ENTER && e.site < trace->nsites && tr_is(trace, e.site, OP_REGION);
		if (region && !trace->sites[e.site].automatic && times[e.site]++ == 0)
			MEM_GROW(found.v, found.n)->site = e.site;
	}
	trace_end(&events);
	for (size_t i = 0; i < found.n; i++)
		found.v[i].times = times[found.v[i].site];
	free(times);
	return found;
}

static const struct regions_of *regions_of(struct builder *b, uint32_t thread)
{
	if (!b->threads[thread].regions.found)
		b->threads[thread].regions = find_regions(b->graph->trace, thread);
	return &b->threads[thread].regions;
}

static bool have_one_in_common(const struct regions_of *x, const struct regions_of *y)
{
	for (size_t i = 0; i < x->n; i++)
		for (size_t k = 0; k < y->n; k++)
			if (x->v[i].site == y->v[k].site)
				return true;
	return false;
}

bool graph_own_regions(struct builder *b, const uint32_t *threads, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct regions_of *self = regions_of(b, threads[i]);
		for (size_t k = 0; k < i; k++)
			if (have_one_in_common(self, regions_of(b, threads[k])))
				return false;
		if (self->n == 0)
			return false;
	}
	return true;
}

static uint64_t times_in(const struct regions_of *r, uint32_t site)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].site == site)
			return r->v[i].times;
	return 0;
}

bool graph_differ_in_regions(struct builder *b, const uint32_t *threads, size_t n)
{
	const struct regions_of *first = regions_of(b, threads[0]);
	for (size_t i = 0; i < first->n; i++) {
		bool all = true, differ = false;
		for (size_t k = 1; k < n; k++) {
			uint64_t times = times_in(regions_of(b, threads[k]), first->v[i].site);
			all &= times > 0;
			differ |= times != first->v[i].times;
		}
		if (all && differ)
			return true;
	}
	return false;
}
