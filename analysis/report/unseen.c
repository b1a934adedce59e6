/* SPDX-License-Identifier: MIT
 *
 * unseen.c - see unseen.h. */
#include "analysis/report/unseen.h"

#include <stdlib.h>

#include "analysis/base/interval.h"
#include "analysis/base/enumeration.h"
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

bool unseen_matters(const struct trace *trace)
{
	double worth = unrecorded_worth(trace);
	for (size_t i = 0; i < trace->nprocesses; i++) {
		double s = unseen_s(&trace->processes[i]);
		if (s > 0 && s >= worth)
			return true;
	}
	return false;
}

/* -> of each process its first thread, or as many as there are; to be freed. */
static size_t *first_threads(const struct trace *trace)
{
	size_t *first = mem_resize(NULL, trace->nprocesses + 1, sizeof *first);
	for (size_t i = 0; i < trace->nprocesses; i++)
		first[i] = trace->nthreads;
	for (size_t i = trace->nthreads; i-- > 0;)
		first[trace->threads[i].process] = i;
	return first;
}

void unseen_say(struct trace *trace, bool all)
{
	struct enumeration list = { .most = NAMED };
	size_t *first = first_threads(trace);
	double worth = all ? 0 : unrecorded_worth(trace);
	for (size_t i = 0; i < trace->nprocesses; i++) {
		double s = unseen_s(&trace->processes[i]);
		if (first[i] < trace->nthreads && s > 0 && s >= worth)
			enumeration_add(&list, "%s up to %s s", rank_name(trace, first[i]).text, interval_upper(s, 3).text);
	}
	char *text = enumeration_take(&list);
	if (*text)
		*MEM_GROW(trace->notes, trace->nnotes) = mem_format(
			"by the kernel's count some time ran in no recorded thread: in %s. If that is more than ends of threads "
			"take, it ran in threads that are not recorded, such as a library's own. Who seems to wait may have waited "
			"for them: compile what makes them with dprof, too", text);
	free(text);
	free(first);
}
