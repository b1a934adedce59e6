/* SPDX-License-Identifier: MIT
 *
 * machine.c - shares of the run from what the kernel counted. */
#include "analysis/report/machine.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/report/notes.h"
#include "analysis/trace/names.h"
#include "analysis/trace/sched.h"

#define SHOWN 4

struct delayed { size_t thread; struct sched_use use; struct interval percent; };

static double at_most_100(double percent)
{
	return percent < 100 ? percent : 100;
}

/* Between the thread's first event and its last; where records were lost, these may be further apart than is known. */
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

/* False when the kernel did not tell. */
static bool find(const struct findings *f, size_t thread, struct delayed *d)
{
	struct ends ends = f->totals.threads[thread].ends;
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
	return (a->thread > b->thread) - (a->thread < b->thread);
}

static void print_one(const struct findings *f, const struct delayed *d)
{
	struct location_name name = f->several_threads ? thread_name(f->trace, d->thread)
						    : rank_name(f->trace, d->thread);
	char *taken = d->use.involuntary ? mem_format("; its core was taken from it %" PRIu64
						      " times", d->use.involuntary)
					 : mem_copy("");
	char *note = mem_format("%s shared its core: for %s %% of the run it could have run, and "
				"something else did%s.",
				name.text, interval_range(d->percent, 1).text, taken);
	print_wrapped("  ", note);
	free(taken);
	free(note);
}

void machine_print(const struct findings *f, void (*begin)(const char *heading))
{
	struct delayed *list = mem_resize(NULL, f->trace->nthreads + 1, sizeof *list);
	size_t n = 0;
	for (size_t i = 0; i < f->trace->nthreads; i++)
		n += find(f, i, &list[n]) && list[n].percent.lo >= MACHINE_PERCENT;
	qsort(list, n, sizeof *list, by_delay);
	if (n)
		begin("Machine");
	for (size_t i = 0; i < n && i < SHOWN; i++)
		print_one(f, &list[i]);
	if (n > SHOWN)
		printf("  and so did %zu more, see --json\n", n - SHOWN);
	free(list);
}

void machine_json(struct json *j, const char *key, const struct findings *f)
{
	jw_array(j, key);
	for (size_t i = 0; i < f->trace->nthreads; i++) {
		struct delayed d;
		if (!find(f, i, &d))
			continue;
		jw_object(j, NULL);
		jw_integer(j, "rank", f->trace->threads[i].rank);
		jw_integer(j, "thread", f->trace->threads[i].number);
		jw_interval(j, "cpu_s", d.use.cpu_s);
		jw_interval(j, "delay_s", d.use.delay_s);
		jw_interval(j, "delay_percent", d.percent);
		jw_integer(j, "involuntary", (int64_t)d.use.involuntary);
		jw_end(j);
	}
	jw_end(j);
}
