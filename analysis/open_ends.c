/* SPDX-License-Identifier: MIT
 *
 * open_ends.c - see open_ends.h. One sentence, however many threads there are. */
#include "analysis/open_ends.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/memory.h"
#include "analysis/standings.h"

#define NAMED 4

static char *name_one(const struct trace *trace, const struct totals *totals, size_t thread)
{
	const struct thread_totals *t = &totals->threads[thread];
	return mem_format("%s thread %" PRIu32 " in %s", rank_name(trace, thread).text,
			  trace->threads[thread].number,
			  t->open_site == TR_NO_SITE ? "an unknown site"
						     : site_name(trace, t->open_site).text);
}

void say_open_ends(struct trace *trace, const struct totals *totals)
{
	size_t count = 0;
	char *list = mem_copy("");
	for (size_t i = 0; i < trace->nthreads; i++) {
		if (!totals->threads[i].ends_open || count++ >= NAMED)
			continue;
		char *one = name_one(trace, totals, i);
		char *longer = mem_format("%s%s%s", list, count > 1 ? ", " : "", one);
		free(one);
		free(list);
		list = longer;
	}
	if (count > NAMED) {
		char *longer = mem_format("%s and %zu more", list, count - NAMED);
		free(list);
		list = longer;
	}
	if (count > 0)
		*MEM_GROW(trace->notes, trace->nnotes) =
			mem_format("%zu thread%s ended inside of something: %s; each may have "
				   "stayed there until the end of the run, or not (dprof-analyze "
				   "check says who is missing where)",
				   count, count > 1 ? "s" : "", list);
	free(list);
}
