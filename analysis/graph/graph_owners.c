/* SPDX-License-Identifier: MIT
 *
 * graph_owners.c - threads that have marked regions of their own: what one does no other ever does. */
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/graph/graph_private.h"

static struct regions_of find_regions(const struct trace *trace, uint32_t thread)
{
	struct regions_of found = { NULL, 0, true };
	bool *seen = mem_zeroed(trace->nsites + 1, sizeof *seen);
	struct tr_cursor events = trace_events(trace, thread);
	struct tr_event e;
	while (trace_next_bare(&events, &e)) {
		bool region = e.op == DPROF_ENTER && e.site < trace->nsites && tr_is(trace, e.site, OP_REGION);
		if (!region || seen[e.site] || trace->sites[e.site].automatic)
			continue;
		seen[e.site] = true;
		*MEM_GROW(found.v, found.n) = e.site;
	}
	trace_end(&events);
	free(seen);
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
			if (x->v[i] == y->v[k])
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
