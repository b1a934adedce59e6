/* SPDX-License-Identifier: MIT
 *
 * frequent.c - see frequent.h. */
#include "analysis/report/frequent.h"

#include "analysis/base/memory.h"
#include "analysis/clocks/times.h"
#include "analysis/trace/names.h"

static bool has_functions(const struct trace *trace)
{
	for (size_t i = 0; i < trace->nsites; i++)
		if (site_is_function(&trace->sites[i]))
			return true;
	return false;
}

/* In a second, by its clock's nominal rate. */
static double rate(const struct trace *trace, size_t thread)
{
	const struct tr_thread *t = &trace->threads[thread];
	struct ends ends = times_ends(t);
	bool many = t->nrecords >= FREQUENT_LEAST && ends.last > ends.first;
	return many ? (double)t->nrecords * trace->clocks[t->clock].ghz * 1e9 / (double)(ends.last - ends.first) : 0;
}

void frequent_say(struct trace *trace)
{
	size_t most = 0;
	for (size_t i = 1; i < trace->nthreads; i++)
		if (rate(trace, i) > rate(trace, most))
			most = i;
	if (trace->nthreads == 0 || rate(trace, most) < FREQUENT_RATE || !has_functions(trace))
		return;
	*MEM_GROW(trace->notes, trace->nnotes) = mem_format(
		"%s has %.1f million records a second, and the plugin made functions regions by itself: that costs the program time. "
		"dprof-analyze export --to filter FILE DIR writes a filter for the plugin, without functions that are too short to be "
		"worth it", thread_name(trace, most).text, rate(trace, most) / 1e6);
}
