/* SPDX-License-Identifier: MIT
 *
 * useful.c - see useful.h. */
#include "analysis/efficiency/useful.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"

/* What is unclassified may be useful or not. */
static frz_time useful_of(struct useful *u, const struct times *times, const struct totals *totals, size_t thread)
{
	const struct thread_totals *t = &totals->threads[thread];
	frz_time work = totals_time(times, &u->span, totals, thread, &t->work);
	frz_time open = totals_time(times, &u->span, totals, thread, &t->unclassified);
	int64_t most = ticks_plus(work.hi, open.hi), length = u->span.length.hi;
	u->open |= open.hi > length / 100;
	return (frz_time){ work.lo < length ? work.lo : length, most < length ? most : length };
}

static void find(struct useful *u, const struct times *times, const struct totals *totals)
{
	const struct trace *trace = times->trace;
	bool *seen = mem_resize(NULL, trace->nprocesses + 1, sizeof *seen);
	size_t nparts = 0;
	memset(seen, 0, trace->nprocesses * sizeof *seen);
	u->span = times_span(times, times->time_base[trace->threads[0].clock], totals->ends);
	for (uint32_t t = 0; t < trace->nthreads; t++) {
		if (totals->threads[t].ends.first > totals->threads[t].ends.last)
			continue;
		*MEM_GROW(u->parts, nparts) = (struct factor_part){ useful_of(u, times, totals, t), 1 };
		*MEM_GROW(u->threads, u->nthreads) = t;
		u->nprocesses += !seen[trace->threads[t].process];
		seen[trace->threads[t].process] = true;
	}
	free(seen);
}

void useful_open(struct useful *u, struct trace *trace, const struct times *times, const struct totals *totals)
{
	struct roles roles;
	struct totals own;
	*u = (struct useful){ 0 };
	if (totals) {
		find(u, times, totals);
		return;
	}
	roles_open_useful(&roles, trace);
	totals_open(&own, trace, &roles);
	find(u, times, &own);
	totals_close(&own);
	roles_close(&roles);
}

void useful_close(struct useful *u)
{
	free(u->threads);
	free(u->parts);
}

struct factors useful_factors(const struct useful *u)
{
	return factors_of(u->parts, u->nthreads, u->span.length, u->span.length);
}
