/* SPDX-License-Identifier: MIT
 *
 * points.c - finds the instances, matches them, and turns sums of savings into gains. */
#define _GNU_SOURCE /* qsort_r */
#include "analysis/coz/points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"

enum { FIRST_ALL, SECOND_ALL, FIRST_MATCHED, SECOND_MATCHED }; /* sums */

struct point_instance {
	uint64_t id;
	bool has_id, second;
	int64_t when;                /* about; only for an order */
	size_t probe;
};

struct point_instances { struct point_instance *v; size_t n; };

/* ---- Finding and matching -------------------------------------------------------------------- */

static void add_instance(struct points *p, struct point_instances *all, const struct tr_event *e,
			 struct graph_probe event, bool second, int64_t when)
{
	*MEM_GROW(all->v, all->n) =
		(struct point_instance){ arg_instance(e), arg_has_instance(e), second, when, p->nprobes };
	p->ends = mem_grow(p->ends, p->nprobes, 1);
	p->ends[p->nprobes] = second;
	*MEM_GROW(p->probes, p->nprobes) =
		(struct coz_probe){ event, (uint8_t)(1u << (second ? SECOND_ALL : FIRST_ALL)),
				    false };
	p->count[second]++;
}

static bool is_point(const struct trace *t, uint32_t site, const char *name)
{
	return name && site != TR_NO_SITE && t->sites[site].kind == DPROF_KIND_PROGRESS &&
	       strcmp(t->sites[site].name, name) == 0;
}

static void find_instances(struct points *p, struct point_instances *all, const struct trace *trace,
			   const struct times *times, const char *from, const char *to)
{
	for (uint32_t t = 0; t < trace->nthreads && from; t++) {
		struct frz_cursor clock = times_cursor(times, trace->threads[t].clock);
		struct tr_cursor events = trace_events(trace, t);
		struct tr_event e;
		for (uint64_t at = 0; trace_next(&events, &e); at++) {
			bool first = e.op == DPROF_POINT && is_point(trace, e.site, from);
			bool second = e.op == DPROF_POINT && is_point(trace, e.site, to);
			struct graph_probe event = { t, at, e.stamp };
			if (first)
				add_instance(p, all, &e, event, false,
					     frz_time_of(&clock, e.stamp).lo);
			if (second)
				add_instance(p, all, &e, event, true,
					     frz_time_of(&clock, e.stamp).lo);
		}
		trace_end(&events);
	}
}

/* Instances that can belong together follow each other: of one id, or of one thread; first those of
 * the first point. */
static int by_match(const void *x, const void *y, void *probes)
{
	const struct point_instance *a = x, *b = y;
	const struct coz_probe *p = probes;
	uint64_t key_a = a->has_id ? a->id : p[a->probe].event.thread;
	uint64_t key_b = b->has_id ? b->id : p[b->probe].event.thread;
	if (a->has_id != b->has_id)
		return a->has_id ? -1 : 1;
	if (key_a != key_b)
		return key_a < key_b ? -1 : 1;
	if (a->second != b->second)
		return a->second ? 1 : -1;
	return ORDER_2(a, b, when, probe);
}

static int by_when(const void *x, const void *y)
{
	const struct point_instance *a = x, *b = y;
	if (a->second != b->second)
		return a->second ? 1 : -1;
	return ORDER_2(a, b, when, probe);
}

static bool belong_together(const struct points *p, const struct point_instance *a,
			    const struct point_instance *b)
{
	if (a->has_id || b->has_id)
		return a->has_id && b->has_id && a->id == b->id;
	return p->probes[a->probe].event.thread == p->probes[b->probe].event.thread;
}

static struct moment moment_of(const struct points *p, const struct trace *t, size_t probe)
{
	const struct graph_probe *e = &p->probes[probe].event;
	return (struct moment){ t->threads[e->thread].clock, e->stamp };
}

static void add_latency(struct points *p, const struct times *times, enum points_what what,
			const struct point_instance *a, const struct point_instance *b)
{
	frz_time passed = times_between(times, moment_of(p, times->trace, a->probe),
					moment_of(p, times->trace, b->probe));
	p->total[what] = time_add(p->total[what], passed);
}

/* k-th with k-th of each run of instances that can belong together. */
static void match(struct points *p, struct point_instances *all, const struct times *times)
{
	for (size_t i = 0, next; i < all->n; i = next) {
		size_t seconds;
		for (next = i + 1; next < all->n && belong_together(p, &all->v[i], &all->v[next]);
		     next++)
			;
		for (seconds = i; seconds < next && !all->v[seconds].second; seconds++)
			;
		for (size_t k = 0; i + k < seconds && seconds + k < next; k++) {
			const struct point_instance *a = &all->v[i + k], *b = &all->v[seconds + k];
			p->probes[a->probe].sums |= 1u << FIRST_MATCHED;
			p->probes[b->probe].sums |= 1u << SECOND_MATCHED;
			add_latency(p, times, POINTS_LATENCY, a, b);
			p->matched++;
		}
	}
}

static void keep_ends(struct points *p)
{
	for (size_t i = 0; i < p->nprobes; i++) {
		uint32_t thread = p->probes[i].event.thread;
		bool first = i == 0 || p->probes[i - 1].event.thread != thread;
		bool last = i + 1 == p->nprobes || p->probes[i + 1].event.thread != thread;
		p->probes[i].sums = 0;
		p->probes[i].keep = first || last;
		if (first) {
			p->first = mem_grow(p->first, p->nthreads, sizeof *p->first);
			p->last = mem_grow(p->last, p->nthreads, sizeof *p->last);
			p->first[p->nthreads++] = i;
		}
		p->last[p->nthreads - 1] = i;
	}
}

void points_open(struct points *p, const struct trace *trace, const struct times *times,
		 const char *from, const char *to)
{
	struct point_instances all = { NULL, 0 };
	*p = (struct points){ .pair = to != NULL };
	find_instances(p, &all, trace, times, from, to);
	if (!p->pair) {
		keep_ends(p);
	} else if (all.n) {
		qsort_r(all.v, all.n, sizeof *all.v, by_match, p->probes);
		match(p, &all, times);
	}
	free(all.v);
}

void points_close(struct points *p)
{
	free(p->probes);
	free(p->ends);
	free(p->first);
	free(p->last);
}

/* ---- Before ---------------------------------------------------------------------------------- */

static int64_t larger(int64_t x, int64_t y)
{
	return x > y ? x : y;
}

static void measure_throughput(struct points *p, const struct times *times)
{
	frz_time *total = &p->total[POINTS_THROUGHPUT];
	for (size_t i = 0; i < p->nthreads; i++)
		for (size_t k = 0; k < p->nthreads; k++) {
			frz_time way = times_between(times, moment_of(p, times->trace, p->first[i]),
						     moment_of(p, times->trace, p->last[k]));
			total->lo = larger(total->lo, way.lo);
			total->hi = larger(total->hi, way.hi);
		}
	p->known[POINTS_THROUGHPUT] = p->count[0] > 1 && total->lo > 0;
}

static struct point_instances instances_of(const struct points *p, const struct times *times)
{
	struct point_instances all = { mem_resize(NULL, p->nprobes + 1, sizeof *all.v),
				       p->nprobes };
	for (size_t i = 0; i < p->nprobes; i++) {
		struct moment m = moment_of(p, times->trace, i);
		struct frz_cursor clock = times_cursor(times, m.clock);
		all.v[i] = (struct point_instance){ .second = p->ends[i], .probe = i,
						    .when = frz_time_of(&clock, m.stamp).lo };
	}
	qsort(all.v, all.n, sizeof *all.v, by_when);
	return all;
}

/* The sum of all latencies does not depend on what belongs together, so the k-th will do. */
static void measure_little(struct points *p, const struct coz *c, const struct times *times)
{
	struct point_instances all = instances_of(p, times);
	size_t n = p->count[0];
	for (size_t k = 0; k < n; k++) {
		if (k < p->count[1]) {
			add_latency(p, times, POINTS_LITTLE, &all.v[k], &all.v[n + k]);
			continue;
		}
		struct moment m = moment_of(p, times->trace, all.v[k].probe);
		struct frz_cursor clock = times_cursor(times, m.clock);
		frz_time begin = frz_time_of(&clock, m.stamp);
		p->total[POINTS_LITTLE] = time_add(p->total[POINTS_LITTLE],
						   (frz_time){ c->span.last.lo - begin.hi,
							       c->span.last.hi - begin.lo });
	}
	p->known[POINTS_LITTLE] = n > 0 && p->count[1] <= n && p->total[POINTS_LITTLE].lo > 0;
	free(all.v);
}

void points_measure(struct points *p, const struct coz *c)
{
	if (!p->pair) {
		measure_throughput(p, c->graph->times);
		return;
	}
	p->known[POINTS_LATENCY] = p->matched > 0 && p->total[POINTS_LATENCY].lo > 0;
	measure_little(p, c, c->graph->times);
}

/* ---- After ----------------------------------------------------------------------------------- */

static double down(double x)
{
	return nextafter(x, -INFINITY);
}

static double up(double x)
{
	return nextafter(x, INFINITY);
}

/* 100 * gain / whole. */
static struct interval share(struct interval gain, frz_time whole)
{
	struct interval part = { gain.lo * 100, gain.hi * 100 };
	double least = down((double)whole.lo), most = up((double)whole.hi);
	return (struct interval){ down(down(part.lo / (part.lo < 0 ? least : most))),
				  up(up(part.hi / (part.hi < 0 ? most : least))) };
}

/* How much more often, if something that takes `whole` takes `gain` less: 100 * gain / (whole -
 * gain), which grows with gain; with whole it falls where gain > 0, and grows elsewhere. */
static struct interval more_often(struct interval gain, frz_time whole)
{
	double least = down((double)whole.lo), most = up((double)whole.hi);
	double left_lo = up((gain.lo < 0 ? least : most) - gain.lo);
	double left_hi = down((gain.hi < 0 ? most : least) - gain.hi);
	struct interval more = { down(down(gain.lo * 100 / left_lo)), INFINITY };
	if (gain.lo < 0) /* a larger divisor is nearer to 0 */
		more.lo = down(down(gain.lo * 100 / down(down(left_lo))));
	if (left_hi > 0)
		more.hi = up(up(gain.hi * 100 / (gain.hi < 0 ? up(up(left_hi)) : left_hi)));
	return more;
}

static struct interval less(struct savings_bounds x, struct savings_bounds y)
{
	if (x.lo == 0 && x.hi == 0 && y.lo == 0 && y.hi == 0)
		return (struct interval){ 0, 0 };
	return (struct interval){ down(x.lo - y.hi), up(x.hi - y.lo) };
}

/* What the later point gains more than the earlier one. */
static struct interval gain_of(const struct points *p, const struct coz *c,
			       enum coz_answer answer, struct saving *const ends[2], enum points_what what,
			       size_t scenario)
{
	struct savings_bounds later = saving_bounds(&c->all, ends[1], answer, scenario);
	struct savings_bounds earlier = saving_bounds(&c->all, ends[0], answer, scenario);
	struct interval gain = less(later, earlier);
	if (what != POINTS_LITTLE || p->count[0] == p->count[1])
		return gain;
	struct savings_bounds run = saving_bounds(&c->all, c->end, answer, scenario);
	double under_way = (double)(p->count[0] - p->count[1]);
	return (struct interval){ down(gain.lo + down(run.lo * under_way)),
				  up(gain.hi + up(run.hi * under_way)) };
}

struct interval *points_gains(const struct points *p, struct coz *c, enum coz_answer answer, enum points_what what)
{
	size_t n = c->all.nscenarios;
	struct interval *gains = mem_resize(NULL, n + 1, sizeof *gains);
	struct saving *const *sum = c->sum;
	struct saving *ends[] = { sum[FIRST_ALL], sum[SECOND_ALL] };
	bool throughput = what == POINTS_THROUGHPUT;
	if (what == POINTS_LATENCY) {
		ends[0] = sum[FIRST_MATCHED];
		ends[1] = sum[SECOND_MATCHED];
	} else if (throughput && p->known[what]) {
		ends[0] = coz_earliest(c, p->first, p->nthreads);
		ends[1] = coz_latest(c, p->last, p->nthreads);
	}
	for (size_t i = 0; i < n; i++) {
		struct interval gain = gain_of(p, c, answer, ends, what, i);
		gains[i] = !p->known[what]		? (struct interval){ -INFINITY, INFINITY }
			   : gain.lo == 0 && gain.hi == 0 ? gain
			   : throughput			? more_often(gain, p->total[what])
							: share(gain, p->total[what]);
	}
	if (throughput && p->known[what]) {
		saving_drop(&c->all, ends[0]);
		saving_drop(&c->all, ends[1]);
	}
	return gains;
}
