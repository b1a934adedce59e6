/* SPDX-License-Identifier: MIT
 *
 * unseen.c - see unseen.h. */
#include "analysis/report/unseen.h"

#include <stdlib.h>

#include "analysis/base/interval.h"
#include "analysis/base/memory.h"
#include "analysis/report/unrecorded.h"
#include "analysis/trace/names.h"

#define NAMED  4
#define END_NS 100e3 /* what a recorded thread's end takes, at most, on a machine that is not broken */

double unseen_s(const struct tr_process *p)
{
	double ns = (double)p->unseen_ns - END_NS * (double)p->unseen_ended;
	return ns > 0 ? ns / 1e9 : 0;
}

bool unseen_matters(const struct trace *trace, size_t process)
{
	double s = unseen_s(&trace->processes[process]);
	return s > 0 && s >= unrecorded_worth(trace);
}

bool unseen_matters_anywhere(const struct trace *trace)
{
	for (size_t i = 0; i < trace->nprocesses; i++)
		if (unseen_matters(trace, i))
			return true;
	return false;
}

static size_t first_thread(const struct trace *trace, size_t process)
{
	size_t i = 0;
	while (i < trace->nthreads && trace->threads[i].process != process)
		i++;
	return i;
}

void unseen_say(struct trace *trace, bool all)
{
	char *list = mem_copy("");
	size_t named = 0, more = 0;
	for (size_t i = 0; i < trace->nprocesses; i++) {
		size_t thread = first_thread(trace, i);
		double s = unseen_s(&trace->processes[i]);
		if (thread == trace->nthreads || s <= 0 || !(all || unseen_matters(trace, i)))
			continue;
		if (named == NAMED) {
			more++;
			continue;
		}
		char *longer = mem_format("%s%s%s for up to %s s", list, named++ ? ", " : "", rank_name(trace, thread).text,
					  interval_upper(s, 3).text);
		free(list);
		list = longer;
	}
	char *others = more ? mem_format(", and %zu more", more) : mem_copy("");
	if (named)
		*MEM_GROW(trace->notes, trace->nnotes) = mem_format(
			"by the kernel's count threads ran that are not recorded, such as a library's own: in %s%s. Who seems to "
			"wait may have waited for them: compile what makes them with dprof, too", list, others);
	free(list);
	free(others);
}
