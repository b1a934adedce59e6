/* SPDX-License-Identifier: MIT
 *
 * waits.c - operations in which a thread may be given tasks to run.
 *
 *   ENTER omp taskwait id=P  EXIT task=T   ENTER omp task task=T ... EXIT   ENTER omp taskwait id=P ... EXIT
 *
 * Law: of an operation's visits only the last one has an EXIT without a task; and while a task runs, no
 * operation is open that was begun before it. */
#include <stddef.h>

#include "runtime/gomp/gomp.h"

static __thread struct waiting *innermost;

/* Of a thread that is in no team: it has left the last one. */
static __thread struct waiting idle;

void wait_begin(struct waiting *w)
{
	w->around = innermost;
	innermost = w;
}

void wait_enter(struct waiting *w)
{
	dprof_adapter_record(w->site, DPROF_ENTER, 0, &w->arguments);
	w->entered = true;
	wait_begin(w);
}

void wait_from_now(struct waiting *w)
{
	w->since = dprof_adapter_moment();
	wait_begin(w);
}

void wait_end(struct waiting *w)
{
	innermost = w->around;
}

void wait_late(struct waiting *w)
{
	if (w->entered)
		return;
	dprof_adapter_record_enter_at(w->site, w->since, &w->arguments);
	w->entered = true;
}

struct waiting *wait_leave_for(uint64_t task)
{
	struct waiting *w = innermost;
	const struct dprof_argument for_task = { DPROF_KEY_TASK, task };

	innermost = NULL;
	if (!w)
		return NULL;
	wait_late(w);
	dprof_adapter_record_with(w->site, DPROF_EXIT, dprof_adapter_now_fenced(), &for_task, 1);
	w->entered = false;
	return w;
}

/* Of a thread that is idle it is unknown whether it will be given another task: so it has left again already. */
void wait_return(struct waiting *w, uint64_t task)
{
	innermost = w;
	if (!w || w->until == task)
		return;
	dprof_adapter_record(w->site, DPROF_ENTER, 0, &w->arguments);
	w->entered = w != &idle;
	if (w != &idle)
		return;
	dprof_adapter_exit(w->site);
	w->since = dprof_adapter_moment();
}

void wait_idle(const struct waiting *w, uint64_t since)
{
	idle.site = w->site;
	idle.until = w->until;
	idle.arguments.words = w->arguments.words;
	for (unsigned i = 0; i < w->arguments.words; i++)
		idle.arguments.word[i] = w->arguments.word[i];
	idle.entered = false;
	idle.since = (struct dprof_moment){ since, dprof_adapter_place() };
	innermost = &idle;
}

struct dprof_moment wait_idle_end(void)
{
	innermost = NULL;
	return idle.since.stamp ? idle.since : dprof_adapter_moment();
}
