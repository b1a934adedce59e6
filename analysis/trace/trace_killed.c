/* SPDX-License-Identifier: MIT
 *
 * trace_killed.c - until when a process without an end in good order may have run, at the latest.
 *
 * Law: whoever was told of a process's end was told behind all that its threads did. So none of them is said to have gone on
 * behind that, if one process alone has this pid on this clock, and none of its records comes later. */
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/trace/trace_private.h"

struct known_pid { uint64_t pid; size_t first; uint32_t clock; bool alone; }; /* first: thread */

struct known_pids { struct known_pid *v; size_t n; };

static int by_pid(const void *a, const void *b)
{
	const struct known_pid *x = a, *y = b;
	return ORDER_2(x, y, pid, clock);
}

/* All processes, by pid and clock, if any of them was killed; else none. */
static struct known_pids find_pids(const struct trace *t)
{
	struct known_pids all = { NULL, 0 };
	bool any = false;
	for (size_t i = 0; i < t->nthreads; i++) {
		const struct tr_thread *self = &t->threads[i];
		const struct tr_process *p = &t->processes[self->process];
		if (i > 0 && self[-1].process == self->process)
			continue;
		any |= !p->finished;
		*MEM_GROW(all.v, all.n) = (struct known_pid){ p->pid, i, self->clock, true };
	}
	if (!any)
		all.n = 0;
	if (all.n)
		qsort(all.v, all.n, sizeof *all.v, by_pid);
	for (size_t i = 1; i < all.n; i++)
		if (by_pid(&all.v[i - 1], &all.v[i]) == 0)
			all.v[i - 1].alone = all.v[i].alone = false;
	return all;
}

static uint64_t last_of(const struct tr_thread *thread)
{
	uint64_t first, last = 0;
	trace_ends(thread, &first, &last);
	return last;
}

/* Threads of a process stand together. */
static void end_process(struct trace *t, size_t first, uint64_t stamp)
{
	size_t end;
	for (end = first; end < t->nthreads && t->threads[end].process == t->threads[first].process; end++)
		if (last_of(&t->threads[end]) > stamp)
			return;
	for (size_t i = first; i < end; i++)
		if (t->threads[i].latest > stamp)
			t->threads[i].latest = stamp;
}

static void take_end(struct trace *t, const struct known_pids *all, uint32_t clock, uint64_t pid, uint64_t stamp)
{
	struct known_pid key = { .pid = pid, .clock = clock };
	const struct known_pid *found = bsearch(&key, all->v, all->n, sizeof *all->v, by_pid);
	uint64_t slack = 2 * t->clocks[clock].uncertainty;
	if (found && found->alone && !t->processes[t->threads[found->first].process].finished)
		end_process(t, found->first, stamp < UINT64_MAX - slack ? stamp + slack : UINT64_MAX);
}

/* Whose ends a thread was told of: by the exit of the operation that says so. */
static void follow(struct trace *t, const struct known_pids *all, size_t thread)
{
	struct tr_cursor events = trace_events(t, thread);
	struct tr_columns k;
	uint64_t pid = ARG_NONE;
	uint32_t site = TR_NO_SITE;
	while (trace_columns(&events, &k))
		for (size_t i = 0; i < k.n; i++) {
			const struct tr_what *what = trace_what(t, &k, i);
			if (what->op == DPROF_ENTER && what->keys >> DPROF_KEY_PROCESS & 1) {
				struct tr_event e;
				trace_event_of(t, &k, i, &e);
				pid = arg_ended_process(tr_operation(t, &e), &e);
				site = e.site;
			} else if (what->op == DPROF_EXIT && pid != ARG_NONE && what->site == site) {
				take_end(t, all, t->threads[thread].clock, pid, k.stamp[i]);
				pid = ARG_NONE;
			}
		}
	trace_end(&events);
}

/* ---- The run's end --------------------------------------------------------------------------- */

bool trace_end_open(const struct trace *t)
{
	uint64_t *last = mem_zeroed(t->nclocks + 1, sizeof *last);
	bool open = false;
	for (size_t i = 0; i < t->nthreads; i++) {
		uint64_t own = last_of(&t->threads[i]), *of = &last[t->threads[i].clock];
		*of = own > *of ? own : *of;
	}
	for (size_t i = 0; i < t->nthreads; i++)
		open |= trace_goes_on(&t->threads[i]) && t->threads[i].latest > last[t->threads[i].clock];
	free(last);
	return open;
}

/* ---- All of it ------------------------------------------------------------------------------- */

void bound_killed(struct opened_trace *o)
{
	struct known_pids all = find_pids(&o->t);
	for (size_t i = 0; i < o->t.nthreads && all.n > 1; i++)
		if (o->t.threads[i].nrecords)
			follow(&o->t, &all, i);
	free(all.v);
}
