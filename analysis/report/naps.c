/* SPDX-License-Identifier: MIT
 *
 * naps.c - see naps.h. */
#include "analysis/report/naps.h"

#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/report/marks.h"
#include "analysis/report/unrecorded.h"
#include "analysis/trace/names.h"

#define NAMED 4

struct napped { double s; uint32_t site; };

static bool any_sleep(const struct trace *trace)
{
	bool any = false;
	for (uint32_t i = 0; i < trace->nsites && !any; i++)
		any = tr_is(trace, i, OP_SLEEP);
	return any;
}

static struct napped find(const struct trace *trace, size_t thread, const struct roles *roles)
{
	struct states s;
	struct tr_event e;
	struct napped found = { 0, TR_NO_SITE };
	uint64_t before = 0;
	states_open(&s, trace, thread, roles);
	while (states_step(&s, &e) != STATES_END)
		if (s.napped > before) {
			before = s.napped;
			found.site = s.nap_site;
		}
	found.s = (double)s.napped / trace->clocks[trace->threads[thread].clock].ghz / 1e9;
	states_close(&s);
	return found;
}

static void say(struct trace *trace, const char *list, size_t more)
{
	char *others = more ? mem_format(", and %zu more", more) : mem_copy("");
	*MEM_GROW(trace->notes, trace->nnotes) = mem_format(
		"these slept again and again, and did nothing in between: %s%s. Whether they waited there for what others do, or "
		"slept for themselves, is not known. %s", list, others, marks_poll(trace));
	free(others);
}

static double find_all(struct trace *trace, const struct roles *roles)
{
	double worth = unrecorded_worth(trace);
	char *list = mem_copy("");
	double sum = 0;
	size_t n = 0;
	for (size_t i = 0; i < trace->nthreads; i++) {
		struct napped napped = find(trace, i, roles);
		bool matters = napped.s > 0 && napped.s >= worth;
		sum += matters ? napped.s : 0;
		if (!matters || n++ >= NAMED)
			continue;
		char *longer = mem_format("%s%s%s at %s", list, n > 1 ? ", " : "", thread_name(trace, i).text,
					  site_name(trace, napped.site).text);
		free(list);
		list = longer;
	}
	if (n)
		say(trace, list, n > NAMED ? n - NAMED : 0);
	free(list);
	return sum;
}

double naps_say(struct trace *trace, const struct roles *roles)
{
	struct roles usual;
	if (!any_sleep(trace))
		return 0;
	if (roles)
		return find_all(trace, roles);
	if (!roles_open(&usual, trace, NULL, NULL))
		return 0;
	double s = find_all(trace, &usual);
	roles_close(&usual);
	return s;
}
