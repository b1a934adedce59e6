/* SPDX-License-Identifier: MIT
 *
 * trace_sched.c - what the kernel said of each thread: from the lines of the process files and the headers of
 * the files of events, in order. */
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/trace/sched.h"
#include "analysis/trace/trace_private.h"

void sched_keep(struct process_file *p, uint32_t thread, const struct dprof_sched *says)
{
	*MEM_GROW(p->sched, p->nsched) = (struct sched_line){ thread, *says };
}

/* The last one of a thread is that of its header, which may have been asked at the same time. */
static int by_thread(const void *a, const void *b)
{
	const struct sched_line *x = a, *y = b;
	return ORDER_3(x, y, thread, says.from, says.to);
}

/* The first line of a thread, or behind all lines of those before. */
static size_t first_of(const struct process_file *p, uint32_t thread)
{
	size_t least = 0, most = p->nsched;
	while (least < most) {
		size_t middle = (least + most) / 2;
		if (p->sched[middle].thread < thread)
			least = middle + 1;
		else
			most = middle;
	}
	return least;
}

static void give(struct opened_trace *o, struct tr_thread *t, const struct process_file *p)
{
	size_t first = first_of(p, t->number), n = first;
	while (n < p->nsched && p->sched[n].thread == t->number)
		n++;
	n -= first;
	t->sched = mem_resize(NULL, n + 1, sizeof *t->sched);
	for (size_t i = 0; i < n; i++)
		t->sched[i] = p->sched[first + i].says;
	t->nsched = n;
	if (sched_possible(t->sched, n))
		return;
	trace_diagnose(&o->t,
		       "%s: thread %" PRIu32 ": expected counts of the kernel that only grow, found others: "
		       "they are left out", p->name, t->number);
	t->nsched = 0;
}

void open_sched(struct opened_trace *o)
{
	for (size_t i = 0; i < o->nfiles; i++)
		if (o->files[i].nsched)
			qsort(o->files[i].sched, o->files[i].nsched, sizeof *o->files[i].sched,
			      by_thread);
	for (size_t i = 0; i < o->t.nthreads; i++)
		give(o, &o->t.threads[i], &o->files[o->t.threads[i].process]);
}
