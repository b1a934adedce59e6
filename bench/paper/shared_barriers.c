/* SPDX-License-Identifier: MIT
 *
 * shared_barriers.c - all exits of the two hosts, put together by group and number. */
#include "bench/paper/shared_barriers.h"

#include <stdlib.h>

#include "analysis/base/memory.h"

struct leave {
	uint64_t group, seq, stamp;
	uint32_t process;
	int side;             /* index of the clock */
};

struct leaves { struct leave *v; size_t n; };

static bool begins_barrier(const struct trace *t, const struct tr_event *e)
{
	if (e->op != DPROF_ENTER || e->site == TR_NO_SITE)
		return false;
	enum dprof_kind kind = t->sites[e->site].kind;
	return (kind == DPROF_KIND_BARRIER || kind == DPROF_KIND_COLL) &&
	       trace_arg(e, DPROF_KEY_SEQ, UINT64_MAX) != UINT64_MAX &&
	       trace_arg(e, DPROF_KEY_ROLE, UINT64_MAX) == UINT64_MAX;
}

/* It is entered again, behind a task. */
static bool is_interrupted(const struct tr_event *e)
{
	return trace_arg(e, DPROF_KEY_TASK, UINT64_MAX) != UINT64_MAX;
}

/* The entry says which barrier it is, the next exit from its site when it is over. */
static void collect(struct leaves *all, const struct trace *t, size_t thread, int side)
{
	struct tr_cursor events = trace_events(t, thread);
	struct tr_event e, entry = { .site = TR_NO_SITE };
	while (trace_next(&events, &e)) {
		if (begins_barrier(t, &e)) {
			entry = e;
		} else if (e.op == DPROF_EXIT && e.site == entry.site && is_interrupted(&e)) {
			entry.site = TR_NO_SITE;
		} else if (e.op == DPROF_EXIT && e.site == entry.site && e.site != TR_NO_SITE) {
			*MEM_GROW(all->v, all->n) = (struct leave){
				trace_arg(&entry, DPROF_KEY_GROUP, 0),
				trace_arg(&entry, DPROF_KEY_SEQ, 0),
				e.stamp, t->threads[thread].process, side };
			entry.site = TR_NO_SITE;
		}
	}
	trace_end(&events);
}

static int by_barrier(const void *a, const void *b)
{
	const struct leave *x = a, *y = b;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->seq != y->seq)
		return x->seq < y->seq ? -1 : 1;
	return (x->process > y->process) - (x->process < y->process);
}

static bool same_barrier(const struct leave *x, const struct leave *y)
{
	return x->group == y->group && x->seq == y->seq;
}

/* Processes of the two hosts that have a rank. */
static size_t count_ranks(const struct trace *t, const uint32_t clocks[2])
{
	bool *ranked = mem_resize(NULL, t->nprocesses, sizeof *ranked);
	size_t n = 0;
	for (size_t p = 0; p < t->nprocesses; p++)
		ranked[p] = false;
	for (size_t i = 0; i < t->nthreads; i++) {
		const struct tr_thread *thread = &t->threads[i];
		if (thread->rank < 0 || ranked[thread->process] ||
		    (thread->clock != clocks[0] && thread->clock != clocks[1]))
			continue;
		ranked[thread->process] = true;
		n++;
	}
	free(ranked);
	return n;
}

/* Of the exits from one barrier; false if a rank did not take part. */
static bool passed(struct shared_barrier *m, const struct leave *from, const struct leave *end, size_t ranks)
{
	size_t processes = 0;
	*m = (struct shared_barrier){ { UINT64_MAX, UINT64_MAX } };
	for (const struct leave *l = from; l < end; l++) {
		processes += l == from || l->process != l[-1].process;
		if (l->stamp < m->stamp[l->side])
			m->stamp[l->side] = l->stamp;
	}
	return processes == ranks && m->stamp[0] != UINT64_MAX && m->stamp[1] != UINT64_MAX;
}

bool shared_barriers(struct shared_barrier ends[2], const struct trace *t, const uint32_t clocks[2])
{
	struct leaves all = { NULL, 0 };
	size_t ranks = count_ranks(t, clocks), found = 0;
	for (size_t i = 0; i < t->nthreads; i++)
		for (int side = 0; side < 2; side++)
			if (t->threads[i].rank >= 0 && t->threads[i].clock == clocks[side])
				collect(&all, t, i, side);
	if (all.n)
		qsort(all.v, all.n, sizeof *all.v, by_barrier);
	for (size_t i = 0, next; i < all.n; i = next) {
		struct shared_barrier m;
		for (next = i + 1; next < all.n && same_barrier(&all.v[i], &all.v[next]); next++)
			;
		if (!passed(&m, &all.v[i], &all.v[next], ranks))
			continue;
		if (!found || m.stamp[0] < ends[0].stamp[0])
			ends[0] = m;
		if (!found || m.stamp[0] > ends[1].stamp[0])
			ends[1] = m;
		found++;
	}
	free(all.v);
	return found > 1;
}
