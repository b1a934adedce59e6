/* SPDX-License-Identifier: MIT
 *
 * locations.c - see locations.h. */
#include "analysis/report/locations.h"

#include <string.h>

static bool several_threads(const struct trace *trace)
{
	for (size_t t = 0; t < trace->nthreads; t++)
		if (trace->threads[t].number > 0)
			return true;
	return false;
}

struct location_name location_name(const struct trace *trace, size_t thread)
{
	return several_threads(trace) ? thread_name(trace, thread) : rank_name(trace, thread);
}

int locations_width(const struct trace *trace)
{
	bool several = several_threads(trace);
	size_t width = 0;
	for (size_t t = 0; t < trace->nthreads; t++) {
		size_t length = strlen((several ? thread_name(trace, t) : rank_name(trace, t)).text);
		width = length > width ? length : width;
	}
	return (int)width;
}
