/* SPDX-License-Identifier: MIT
 *
 * useful.c - see useful.h. */
#include "analysis/efficiency/useful.h"

#include <stdlib.h>

#include "analysis/base/memory.h"

/* What is unclassified may be useful or not; and so may what a handler did in an operation. */
static frz_time useful_of(struct useful *u, const struct times *times, const struct totals *totals, size_t thread)
{
	const struct thread_totals *t = &totals->threads[thread];
	frz_time work = totals_time(times, &u->span, totals, thread, &t->work);
	frz_time open = totals_time(times, &u->span, totals, thread, &t->unclassified);
	int64_t most = ticks_plus(ticks_plus(work.hi, open.hi), u->hidden[thread]), length = u->span.length.hi;
	int64_t least = ticks_minus(work.lo < length ? work.lo : length, u->blocked[thread]);
	u->open |= open.hi > length / 100;
	return (frz_time){ least > 0 ? least : 0, most < length ? most : length };
}

static void find_blocked(struct useful *u, const struct times *times, const struct totals *totals, const struct blocked *blocked)
{
	const struct trace *trace = times->trace;
	double run_s = times_seconds(times, times->time_base[trace->threads[0].clock], u->span.length).lo;
	bool *counts = blocked_counts(trace);
	u->blocked = mem_resize(NULL, trace->nthreads + 1, sizeof *u->blocked);
	u->hidden = mem_resize(NULL, trace->nthreads + 1, sizeof *u->hidden);
	for (size_t t = 0; t < trace->nthreads; t++) {
		struct blocked b = blocked ? blocked[t] : blocked_unrecorded(trace, t, totals->roles, run_s / 100);
		double most = blocked_most(&b, trace, t, counts);
		u->blocked[t] = most < run_s / 100 ? 0 : blocked_ticks(most, &u->span, run_s);
		u->hidden[t] = blocked_ticks(b.hidden_s.hi, &u->span, run_s);
		u->blocked_sum = ticks_plus(u->blocked_sum, u->blocked[t]);
		u->hidden_sum = ticks_plus(u->hidden_sum, u->hidden[t]);
	}
	free(counts);
}

static void find(struct useful *u, const struct times *times, const struct totals *totals, const struct blocked *blocked)
{
	const struct trace *trace = times->trace;
	bool *seen = mem_zeroed(trace->nprocesses + 1, sizeof *seen);
	size_t nparts = 0;
	u->span = times_span(times, times->time_base[trace->threads[0].clock], totals->ends);
	find_blocked(u, times, totals, blocked);
	for (uint32_t t = 0; t < trace->nthreads; t++) {
		const struct tr_thread *recorded = &trace->threads[t];
		if (totals->threads[t].ends.first > totals->threads[t].ends.last) {
			u->unseen |= !recorded->unrecorded && (recorded->lost || recorded->gaps);
			continue;
		}
		*MEM_GROW(u->parts, nparts) = (struct factor_part){ useful_of(u, times, totals, t), 1 };
		*MEM_GROW(u->threads, u->nthreads) = t;
		u->nprocesses += !seen[trace->threads[t].process];
		seen[trace->threads[t].process] = true;
	}
	free(seen);
}

void useful_open(struct useful *u, struct trace *trace, const struct times *times, const struct totals *totals,
		 const struct blocked *blocked)
{
	struct roles roles;
	struct totals own;
	*u = (struct useful){ 0 };
	if (totals) {
		find(u, times, totals, blocked);
		return;
	}
	roles_open_useful(&roles, trace);
	totals_open(&own, trace, &roles);
	find(u, times, &own, blocked);
	totals_close(&own);
	roles_close(&roles);
}

void useful_close(struct useful *u)
{
	free(u->threads);
	free(u->blocked);
	free(u->hidden);
	free(u->parts);
}

struct factors useful_factors(const struct useful *u)
{
	struct factors factors = factors_of(u->parts, u->nthreads, u->span.length, u->span.length);
	for (int i = 0; i < FACTORS && u->unseen; i++)
		factors.of[i] = (struct interval){ 0, 100 };
	return factors;
}
