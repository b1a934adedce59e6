/* SPDX-License-Identifier: MIT
 *
 * enclosing.c - looks at a process's threads only as long as the answer may be yes: of a region that is left
 * early, or entered late, that is soon known. */
#include "analysis/report/enclosing.h"

#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/search.h"

/* Whether what the thread is in for that long is nearly all of it. */
static bool is_nearly_all(uint64_t ticks, const struct ends *ends)
{
	return (double)ticks >= ENCLOSES / 100. * (double)(ends->last - ends->first);
}

static bool is_of(const struct totals *t, const struct tr_event *e, uint32_t region)
{
	return e->site != TR_NO_SITE && t->region_of_site[e->site] == region;
}

static bool is_long_visit_ahead(const struct totals *t, struct tr_cursor *events, const struct ends *ends,
				uint32_t region)
{
	struct tr_event e;
	uint64_t entered = 0, last = 0;
	size_t depth = 0, inside = 0;
	while (trace_next_bare(events, &e) && e.op != DPROF_LOST) {
		bool own = is_of(t, &e, region);
		last = e.stamp > last ? e.stamp : last;
		if (depth == 0 && !is_nearly_all(ends->last - last, ends))
			return false;
		inside += depth > 0 && !own && e.op == DPROF_ENTER;
		if (own && e.op == DPROF_ENTER && depth++ == 0)
			entered = last;
		if (own && e.op == DPROF_EXIT && depth > 0 && --depth == 0)
			return inside > 0 && is_nearly_all(last - entered, ends);
	}
	return depth > 0 && inside > 0 && is_nearly_all(last - entered, ends);
}

/* One visit of the process's first thread, as above. */
static bool has_long_visit(const struct totals *t, size_t thread, uint32_t region)
{
	struct tr_cursor events = trace_places(t->trace, thread);
	bool found = is_long_visit_ahead(t, &events, &t->threads[thread].ends, region);
	trace_end(&events);
	return found;
}

static bool enters_itself(const struct totals *t, size_t thread, uint32_t region)
{
	struct tr_cursor events = trace_places(t->trace, thread);
	bool found = false;
	for (struct tr_event e; !found && trace_next_bare(&events, &e);)
		found = e.op == DPROF_ENTER && !e.inherited && is_of(t, &e, region);
	trace_end(&events);
	return found;
}

/* The first thread of a process; they stand together, in the order of their numbers. */
static size_t first_of(const struct trace *t, uint32_t process)
{
	return SEARCH(t->nthreads, middle, t->threads[middle].process < process);
}

bool encloses_process(const struct totals *t, uint32_t site, uint32_t process)
{
	const struct trace *trace = t->trace;
	uint32_t region = site < trace->nsites ? t->region_of_site[site] : TR_NO_SITE;
	bool any = false;
	if (region == TR_NO_SITE)
		return false;
	for (size_t i = first_of(trace, process); i < trace->nthreads && trace->threads[i].process == process; i++)
		any = trace->threads[i].number == 0 ? has_long_visit(t, i, region)
						    : any && !enters_itself(t, i, region);
	return any;
}

bool encloses_run(const struct totals *t, uint32_t site)
{
	bool *seen = mem_resize(NULL, t->trace->nprocesses + 1, sizeof *seen);
	bool all = site < t->trace->nsites;
	for (size_t p = 0; p < t->trace->nprocesses; p++)
		seen[p] = false;
	for (size_t i = 0; i < t->trace->nthreads && all; i++) {
		uint32_t process = t->trace->threads[i].process;
		if (seen[process] || t->threads[i].ends.first > t->threads[i].ends.last)
			continue;
		seen[process] = true;
		all = encloses_process(t, site, process);
	}
	free(seen);
	return all;
}
