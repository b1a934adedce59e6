/* SPDX-License-Identifier: MIT
 *
 * graph_claims.c - work that threads claim by flags or bits, of which the plugin has seen that they decide something
 * (plugin/claims.cc):
 *
 *   if (!atomic_exchange(&own[i], 1)) work(i)
 *
 * In another run another thread may be the first at each of them. What was claimed at one place is of one kind, whichever flag it
 * was; so is what was claimed at several where one flag was looked at. (graph_pools.c says what that means.) */
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/runs.h"
#include "analysis/graph/graph_counters.h"

static int by_object(const void *x, const void *y)
{
	const struct claimed_take *a = x, *b = y;
	return ORDER_4(a, b, process, object, take.ref.stamp, take.ref.thread);
}

static int by_site(const void *x, const void *y)
{
	const struct claimed_take *a = x, *b = y;
	return ORDER_4(a, b, process, take.place.site, take.ref.stamp, take.ref.thread);
}

static uint32_t root(uint32_t *of, uint32_t site)
{
	while (of[site] != site)
		site = of[site] = of[of[site]];
	return site;
}

/* The sites of one object become one of them. */
static void join_sites(struct builder *b, struct claimed_take *c, size_t n)
{
	size_t nsites = b->graph->trace->nsites;
	uint32_t *of = mem_resize(NULL, nsites + 1, sizeof *of);
	for (size_t s = 0; s < nsites; s++)
		of[s] = (uint32_t)s;
	for (size_t i = 1; i < n; i++)
		if (c[i].process == c[i - 1].process && c[i].object == c[i - 1].object)
			of[root(of, c[i].take.place.site)] = root(of, c[i - 1].take.place.site);
	for (size_t i = 0; i < n; i++)
		c[i].take.place.site = root(of, c[i].take.place.site);
	free(of);
}

void graph_claims(struct builder *b, struct counter_records *r)
{
	struct take *takes = NULL;
	size_t ntakes = 0;
	runs_sort(b->spill, r->claims, r->nclaims, sizeof *r->claims, by_object);
	join_sites(b, r->claims, r->nclaims);
	runs_sort(b->spill, r->claims, r->nclaims, sizeof *r->claims, by_site);
	for (size_t i = 0; i < r->nclaims; i++) {
		const struct claimed_take *c = &r->claims[i];
		*SPILL_GROW(b->spill, takes, ntakes) = c->take;
		if (i + 1 < r->nclaims && c[1].process == c->process && c[1].take.place.site == c->take.place.site)
			continue;
		graph_find_claimed_pool(b, takes, ntakes);
		ntakes = 0;
	}
	spill_free(b->spill, takes);
}
