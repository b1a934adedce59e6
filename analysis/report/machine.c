/* SPDX-License-Identifier: MIT
 *
 * machine.c - shares of the run from what the kernel counted. */
#include "analysis/report/machine.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/trace/names.h"
#include "analysis/trace/sched.h"

#define SHOWN 4

struct delayed { size_t thread; struct sched_use use; struct interval percent; };

static double at_most_100(double percent)
{
	return percent < 100 ? percent : 100;
}

/* Between the thread's first event, or its fork, and its last; where records were lost, these may be further apart than
 * is known. */
static struct sched_use use_of(const struct trace *trace, size_t thread, const struct ends *e)
{
	struct sched_use use = sched_use(trace, thread, e->first, e->last);
	if (e->earliest >= e->first && e->latest <= e->last)
		return use;
	uint64_t latest = e->latest < INT64_MAX ? e->latest : INT64_MAX;
	struct sched_use most = sched_use(trace, thread, e->earliest < e->first ? e->earliest : e->first,
					  latest > e->last ? latest : e->last);
	use.cpu_s.hi = most.cpu_s.hi > use.cpu_s.hi ? most.cpu_s.hi : use.cpu_s.hi;
	use.delay_s.hi = most.delay_s.hi > use.delay_s.hi ? most.delay_s.hi : use.delay_s.hi;
	return use;
}

/* A process's first thread is there before its first event, in the run or before it. */
static struct ends there(const struct trace *trace, size_t thread, struct ends e)
{
	const struct tr_thread *t = &trace->threads[thread];
	const struct tr_process *p = &trace->processes[t->process];
	uint64_t began = !p->forked || t->number > 0 ? 0 : p->executed ? p->unborn : p->started;
	if (began && began < e.first)
		e.first = began;
	if (e.first < e.earliest)
		e.earliest = e.first;
	return e;
}

/* False when the kernel did not tell. */
static bool find(const struct findings *f, size_t thread, struct delayed *d)
{
	struct ends ends = there(f->trace, thread, f->totals.threads[thread].ends);
	struct interval run = findings_seconds(f, thread, findings_span(f, thread)->length);
	if (ends.first > ends.last)
		return false;
	*d = (struct delayed){ thread, use_of(f->trace, thread, &ends), { 0, 100 } };
	if (run.lo > 0)
		d->percent = (struct interval){ at_most_100(100 * d->use.delay_s.lo / run.hi),
						at_most_100(100 * d->use.delay_s.hi / run.lo) };
	return d->use.known;
}

static int by_delay(const void *x, const void *y)
{
	const struct delayed *a = x, *b = y;
	if (a->percent.lo != b->percent.lo)
		return a->percent.lo < b->percent.lo ? 1 : -1;
	return ORDER(a->thread, b->thread);
}

/* "rank 1 could have run for 34.4 ±0.2 %, rank 2 for ...", and how many more. */
static char *names_of(const struct reply *r, const struct findings *f, const struct delayed *list, size_t n)
{
	char *names = mem_copy("");
	for (size_t i = 0; i < n && i < SHOWN; i++) {
		struct location_name name = f->several_threads ? thread_name(f->trace, list[i].thread)
							       : rank_name(f->trace, list[i].thread);
		char *more = mem_format("%s%s%s%s for %s %%", names, i ? ", " : "", name.text, i ? "" : " could have run",
					reply_interval(r, list[i].percent, 1).text);
		free(names);
		names = more;
	}
	if (n > SHOWN) {
		char *more = mem_format("%s and %zu more (--json)", names, n - SHOWN);
		free(names);
		names = more;
	}
	return names;
}

void machine_say(struct reply *r, const struct findings *f)
{
	struct delayed *list = mem_resize(NULL, f->trace->nthreads + 1, sizeof *list);
	size_t n = 0;
	for (size_t i = 0; i < f->trace->nthreads; i++)
		n += find(f, i, &list[n]) && list[n].percent.lo >= MACHINE_PERCENT;
	qsort(list, n, sizeof *list, by_delay);
	char *names = names_of(r, f, list, n);
	if (n)
		reply_say(r, SAY_TEXT, "Cores were shared: by the kernel's count %s of the run, and something else did.", names);
	free(names);
	free(list);
}

void machine_fill(struct reply *r, const struct findings *f)
{
	static const struct tab_column columns[] = { TAB_KEY("rank"), TAB_KEY("pid"), TAB_KEY("thread"), TAB_KEY("cpu_s"),
						     TAB_KEY("delay_s"), TAB_KEY("delay_percent"), TAB_KEY("involuntary"), { 0 } };
	reply_table(r, "machine", columns, 0);
	for (size_t i = 0; i < f->trace->nthreads; i++) {
		const struct tr_thread *t = &f->trace->threads[i];
		struct delayed d;
		if (find(f, i, &d))
			reply_row(r, tab_count(t->rank), tab_pid(f->trace, i), tab_count(t->number), tab_interval(d.use.cpu_s),
				  tab_interval(d.use.delay_s), tab_interval(d.percent), tab_count(d.use.involuntary));
	}
	reply_end(r);
}
