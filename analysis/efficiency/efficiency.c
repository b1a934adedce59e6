/* SPDX-License-Identifier: MIT
 *
 * efficiency.c - see efficiency.h. */
#include "analysis/efficiency/efficiency.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/efficiency/efficiency_private.h"
#include "analysis/efficiency/useful.h"
#include "analysis/graph/graph_losses.h"

struct efficiency_finder {
	struct efficiency *e;
	struct efficiency_walk walk;
	const struct times *times;
	const struct waits *waits;   /* of the graph, if they are there */
	struct useful useful;
};

static const struct { const char *key, *words; } names[FACTORS] = {
	[FACTOR_PARALLEL] = { "parallel", "parallel efficiency" },
	[FACTOR_LOAD_BALANCE] = { "load_balance", "load balance" },
	[FACTOR_COMMUNICATION] = { "communication", "communication" },
	[FACTOR_SERIALISATION] = { "serialisation", "serialisation" },
	[FACTOR_TRANSFER] = { "transfer", "transfer" },
};

const char *factor_key(enum factor f)
{
	return names[f].key;
}

const char *factor_words(enum factor f)
{
	return names[f].words;
}

static frz_time at_least(frz_time x, int64_t least)
{
	return (frz_time){ x.lo > least ? x.lo : least, x.hi > least ? x.hi : least };
}

static frz_time at_most(frz_time x, int64_t most)
{
	return (frz_time){ x.lo < most ? x.lo : most, x.hi < most ? x.hi : most };
}

static frz_time of_all(const struct efficiency *e)
{
	int64_t lo = 0, hi = 0;
	if (__builtin_mul_overflow(e->span.length.lo, (int64_t)e->nthreads, &lo))
		lo = INT64_MAX;
	if (__builtin_mul_overflow(e->span.length.hi, (int64_t)e->nthreads, &hi))
		hi = INT64_MAX;
	return (frz_time){ lo, hi };
}

/* ---- The run --------------------------------------------------------------------------------- */

static void find_useful(struct efficiency_finder *f)
{
	struct efficiency *e = f->e;
	const struct useful *u = &f->useful;
	size_t n = 0;
	e->span = u->span;
	e->nthreads = u->nthreads;
	e->nprocesses = u->nprocesses;
	e->open = u->open;
	e->blocked = u->blocked_sum;
	e->hidden = u->hidden_sum;
	for (size_t i = 0; i < u->nthreads; i++)
		*MEM_GROW(e->each, n) = (struct efficiency_thread){ u->threads[i], u->parts[i].useful };
	e->useful = factors_sum(u->parts, u->nthreads);
}

/* All that is useful would have had to be done then, too. */
static void find_factors(struct efficiency_finder *f)
{
	struct efficiency *e = f->e;
	frz_time longest = factors_longest(f->useful.parts, e->nthreads);
	frz_time ideal = efficiency_ideal(&f->walk, &e->span);
	if (f->useful.blocked_sum) /* what it waited for there, the graph does not know */
		ideal = (frz_time){ ticks_minus(ideal.lo, f->useful.blocked_sum), e->span.length.hi };
	if (f->useful.hidden_sum) /* nor what it did in there */
		ideal.hi = e->span.length.hi;
	if (f->walk.graph->nlosses)
		ideal = (frz_time){ 0, e->span.length.hi };
	e->ideal = at_least(ideal, longest.lo);
	e->factors = factors_of(f->useful.parts, e->nthreads, e->span.length, e->ideal);
}

/* ---- Losses ---------------------------------------------------------------------------------- */

static const struct interval any_percent = { 0, 100 };

/* Of threads of which all is lost, it is not known how many there were, nor what they did. */
static void doubt_factors(struct efficiency_finder *f)
{
	struct efficiency *e = f->e;
	const struct graph *g = f->walk.graph;
	bool unseen = false, uncounted = false;
	for (uint32_t t = 0; t < g->trace->nthreads; t++) {
		unseen |= graph_lost_all_of(g, t);
		uncounted |= graph_lost_all_of(g, t) && g->trace->processes[g->trace->threads[t].process].absent;
	}
	for (int i = 0; i < FACTORS && unseen; i++)
		e->factors.of[i] = any_percent;
	for (int i = 0; i <= FACTOR_COMMUNICATION && unseen; i++)
		e->mpi[i] = any_percent;
	if (unseen)
		e->threads = (struct interval){ 0, INFINITY };
	if (unseen)
		e->useful.hi = uncounted ? INT64_MAX : ticks_plus(e->useful.hi, graph_sum_of(g, g->around));
	for (int i = 0; i < FACTORS && g->nlosses; i++)
		e->cause[i].percent = any_percent;
	if (g->nlosses)
		e->threads_cause.percent = any_percent;
}

/* Others may have been in there, too. */
static bool others_lost(const struct graph *g, const struct region_sum *sums, size_t n)
{
	bool others = false;
	for (uint32_t t = 0; t < g->trace->nthreads && !others; t++) {
		bool in = false;
		for (size_t i = 0; i < n && !in && g->lost[t] > 0; i++)
			in = sums[i].thread == t;
		others = g->lost[t] > 0 && !in;
	}
	return others;
}

static void doubt_region(struct efficiency_finder *f, struct efficiency_region *r, const struct region_sum *sums, size_t n)
{
	const struct graph *g = f->walk.graph;
	if (!g->nlosses || !others_lost(g, sums, n))
		return;
	r->time.hi = f->e->span.length.hi;
	r->useful.hi = INT64_MAX;
	for (int i = 0; i < FACTORS; i++)
		r->factors.of[i] = any_percent;
}

/* ---- Regions --------------------------------------------------------------------------------- */

static int by_region(const void *a, const void *b)
{
	const struct region_sum *x = a, *y = b;
	return ORDER_2(x, y, region, thread);
}

static int by_useful(const void *a, const void *b)
{
	const struct efficiency_region *x = a, *y = b;
	int64_t p = time_middle(x->useful), q = time_middle(y->useful);
	return p != q ? ORDER(q, p) : ORDER(x->site, y->site);
}

/* In what is lost of a thread it may have been in there. */
static struct region_sum with_lost(const struct efficiency_finder *f, struct region_sum s)
{
	int64_t lost = f->walk.graph->around[s.thread];
	s.useful.hi = ticks_plus(s.useful.hi, lost);
	s.time.hi = ticks_plus(s.time.hi, lost);
	s.transfer.hi = ticks_plus(s.transfer.hi, lost);
	return s;
}

static void add_region(struct efficiency_finder *f, const struct region_sum *all, size_t n)
{
	struct region_sum *sums = mem_resize(NULL, n, sizeof *sums);
	for (size_t i = 0; i < n; i++)
		sums[i] = with_lost(f, all[i]);
	struct efficiency_region r = { .site = sums->region, .nthreads = n, .longest = sums->thread };
	struct factor_part *parts = mem_resize(NULL, n, sizeof *parts);
	frz_time ideal = { 0, 0 };
	const struct region_sum *longest = sums;
	for (size_t i = 0; i < n; i++) {
		frz_time useful = at_most(sums[i].useful, sums[i].time.hi);
		int64_t blocked = f->useful.blocked[sums[i].thread];
		useful.lo = useful.lo > blocked ? useful.lo - blocked : 0;
		useful.hi = ticks_plus(useful.hi, f->useful.hidden[sums[i].thread]);
		useful = at_most(useful, sums[i].time.hi);
		frz_time without = at_most(time_minus(sums[i].time, sums[i].transfer), sums[i].time.hi);
		without.hi = f->useful.hidden[sums[i].thread] ? sums[i].time.hi : without.hi;
		parts[i] = (struct factor_part){ useful, 1 };
		r.time = time_most(r.time, sums[i].time);
		ideal = time_most(ideal, at_least(without, useful.lo));
		longest = time_exceeds(useful, longest->useful) ? &sums[i] : longest;
	}
	r.longest = longest->thread;
	r.useful = factors_sum(parts, n);
	r.factors = factors_of(parts, n, r.time, ideal);
	doubt_region(f, &r, sums, n);
	*MEM_GROW(f->e->regions, f->e->nregions) = r;
	free(parts);
	free(sums);
}

static void find_regions(struct efficiency_finder *f)
{
	struct efficiency *e = f->e;
	struct efficiency_walk *w = &f->walk;
	if (w->nregions)
		qsort(w->regions, w->nregions, sizeof *w->regions, by_region);
	for (size_t i = 0, n; i < w->nregions; i += n) {
		for (n = 1; i + n < w->nregions && w->regions[i + n].region == w->regions[i].region;)
			n++;
		add_region(f, &w->regions[i], n);
	}
	if (e->nregions)
		qsort(e->regions, e->nregions, sizeof *e->regions, by_useful);
}

/* ---- MPI and threads ------------------------------------------------------------------------- */

/* From 0 on: of what began at `from` and ended at `to`. */
static frz_time since_begin(frz_time from, frz_time to)
{
	frz_time f = at_least(from, 0), t = at_least(to, 0);
	return at_least(time_minus(t, f), 0);
}

/* In MPI, or in MPI_Init, of which there are no events, within the run. */
static frz_time in_mpi(struct efficiency_finder *f, uint32_t thread)
{
	const struct trace *trace = f->walk.graph->trace;
	const struct tr_process *p = &trace->processes[trace->threads[thread].process];
	struct frz_cursor c = times_cursor(f->times, trace->threads[thread].clock);
	frz_time in = f->walk.mpi[thread];
	if (trace->threads[thread].number > 0 || !p->init_to || p->init_from > p->init_to)
		return in;
	frz_time from = frz_time_of(&c, p->init_from), to = frz_time_of(&c, p->init_to);
	return time_add(in, since_begin(time_minus(from, f->e->span.first), time_minus(to, f->e->span.first)));
}

/* A process is outside of MPI while its first thread is: as many threads as it has could be useful then. */
static void find_hybrid(struct efficiency_finder *f)
{
	struct efficiency *e = f->e;
	const struct trace *trace = f->walk.graph->trace;
	struct factor_part *outside = NULL;
	size_t n = 0;
	bool mpi = false;
	for (size_t i = 0; i < e->nthreads; i++) {
		uint32_t thread = e->each[i].thread;
		bool first = i == 0 || trace->threads[e->each[i - 1].thread].process != trace->threads[thread].process;
		if (first) {
			frz_time in = in_mpi(f, thread);
			frz_time out = at_least(time_minus(e->span.length, in), 0);
			*MEM_GROW(outside, n) = (struct factor_part){ at_most(out, e->span.length.hi), 0 };
			mpi |= in.hi > 0;
		}
		outside[n - 1].weight++;
	}
	e->hybrid = mpi && e->nprocesses > 1 && e->nthreads > e->nprocesses;
	if (e->hybrid) {
		struct factors factors = factors_of(outside, n, e->span.length, e->span.length);
		memcpy(e->mpi, factors.of, sizeof e->mpi);
		e->threads = factors_ratio(e->useful, factors_sum(outside, n));
	}
	free(outside);
}

/* ---- Causes ---------------------------------------------------------------------------------- */

static bool is_low(struct interval factor)
{
	return factor.lo < EFFICIENCY_LOW;
}

/* Of the thread that is useful the longest: where it is so longer than all are on average. */
static struct efficiency_cause cause_of_imbalance(struct efficiency_finder *f)
{
	const struct efficiency *e = f->e;
	const struct efficiency_walk *w = &f->walk;
	const struct efficiency_thread *longest = &e->each[0];
	struct efficiency_cause cause = { .for_thread = UINT32_MAX, .did = TR_NO_SITE };
	frz_time most = { 0, 0 };
	int64_t n = (int64_t)e->nthreads;
	uint32_t nsites = (uint32_t)w->graph->trace->nsites;
	frz_time *sums = mem_zeroed(nsites + 1, sizeof *sums);
	for (size_t i = 1; i < e->nthreads; i++)
		longest = time_exceeds(e->each[i].useful, longest->useful) ? &e->each[i] : longest;
	for (size_t i = 0; i < w->nsites; i++) {
		frz_time *sum = &sums[w->sites[i].site < nsites ? w->sites[i].site : nsites];
		*sum = time_add(*sum, w->sites[i].useful);
	}
	for (size_t i = 0; i < w->nsites; i++) {
		const struct site_sum *s = &w->sites[i];
		frz_time sum = sums[s->site < nsites ? s->site : nsites];
		frz_time mean = { sum.lo / n, ticks_plus(sum.hi / n, sum.hi % n > 0) };
		frz_time more = time_minus(s->useful, mean);
		if (s->thread != longest->thread || !time_exceeds(more, most))
			continue;
		most = more;
		cause.named = true;
		cause.thread = s->thread;
		cause.site = s->site;
	}
	cause.percent = interval_percent(most, e->span.length);
	free(sums);
	return cause;
}

/* The operations of one name in which all threads together did what is asked for the longest, and the thread that did most. */
static struct efficiency_cause cause_in_operations(struct efficiency_finder *f, frz_time (*asked)(const struct efficiency_walk *,
										       const struct site_sum *))
{
	const struct efficiency_walk *w = &f->walk;
	const struct trace *trace = w->graph->trace;
	struct efficiency_cause cause = { .for_thread = UINT32_MAX, .did = TR_NO_SITE };
	frz_time *sums = mem_zeroed(trace->nsites + 1, sizeof *sums), most = { 0, 0 }, own = { -1, -1 };
	uint32_t kind = TR_NO_SITE;
	for (size_t i = 0; i < w->nsites; i++)
		if (w->sites[i].site < trace->nsites) {
			frz_time *sum = &sums[trace->sites[w->sites[i].site].alike];
			*sum = time_add(*sum, asked(w, &w->sites[i]));
		}
	for (uint32_t i = 0; i < trace->nsites; i++)
		if (time_exceeds(sums[i], most)) {
			most = sums[i];
			kind = i;
		}
	for (size_t i = 0; i < w->nsites && kind != TR_NO_SITE; i++) {
		const struct site_sum *s = &w->sites[i];
		if (s->site >= trace->nsites || trace->sites[s->site].alike != kind || !time_exceeds(asked(w, s), own))
			continue;
		own = asked(w, s);
		cause.named = true;
		cause.thread = s->thread;
		cause.site = s->site;
	}
	cause.percent = interval_percent(most, of_all(f->e));
	free(sums);
	return cause;
}

static frz_time its_transfer(const struct efficiency_walk *w, const struct site_sum *s)
{
	(void)w;
	return s->transfer;
}

static frz_time its_threads(const struct efficiency_walk *w, const struct site_sum *s)
{
	bool mpi = tr_is(w->graph->trace, s->site, OP_MPI);
	return mpi ? (frz_time){ 0, 0 } : time_add(s->waited, s->transfer);
}

/* That threads had not begun yet, or were over, as while a process has no team. */
static struct efficiency_cause cause_of_absence(struct efficiency_finder *f)
{
	const struct efficiency *e = f->e;
	struct efficiency_cause cause = { .named = true, .site = TR_BEFORE, .for_thread = UINT32_MAX, .did = TR_NO_SITE };
	frz_time sum = { 0, 0 }, most = { -1, -1 };
	for (size_t i = 0; i < e->nthreads; i++) {
		uint32_t thread = e->each[i].thread;
		struct ends ends = times_ends(&f->walk.graph->trace->threads[thread]);
		frz_time there = times_of_thread(f->times, thread, ends.first, ends.last), away = time_less(e->span.length, there);
		sum = time_add(sum, away);
		cause.thread = time_exceeds(away, most) ? thread : cause.thread;
		most = time_exceeds(away, most) ? away : most;
	}
	cause.percent = interval_percent(sum, of_all(e));
	return cause;
}

/* Of the processes' threads. */
static struct efficiency_cause cause_in_threads(struct efficiency_finder *f)
{
	struct efficiency_cause waiting = cause_in_operations(f, its_threads), absence = cause_of_absence(f);
	bool less = waiting.percent.lo + waiting.percent.hi < absence.percent.lo + absence.percent.hi;
	return !waiting.named || less ? absence : waiting;
}

/* Whoever others waited for the longest, and where. */
static struct efficiency_cause cause_of_waiting(struct efficiency_finder *f)
{
	struct efficiency_cause cause = { .for_thread = UINT32_MAX, .did = TR_NO_SITE };
	struct waits own = { .ncauses = 0 };
	const struct waits *waits = f->waits ? f->waits : &own;
	if (!f->waits)
		waits_of_graph(&own, f->walk.graph);
	if (waits->ncauses) {
		const struct wait_sum *s = &waits->causes[0]; /* the longest */
		cause = (struct efficiency_cause){ .named = true, .thread = s->thread, .site = s->site, .for_thread = s->for_thread,
						   .did = s->did };
		cause.percent = interval_percent(s->ticks, of_all(f->e));
	}
	waits_close(&own);
	return cause;
}

/* Of a product that is low, and neither of the two, the lesser. `low`: of each factor which low one it stands for, or FACTORS. */
static void blame(const struct efficiency *e, enum factor low[FACTORS], enum factor product, enum factor x, enum factor y)
{
	const struct interval *of = e->factors.of;
	if (low[product] < FACTORS && low[x] == FACTORS && low[y] == FACTORS)
		low[of[x].lo < of[y].lo ? x : y] = low[product];
}

static void find_causes(struct efficiency_finder *f)
{
	struct efficiency *e = f->e;
	enum factor low[FACTORS];
	for (int i = 0; i < FACTORS; i++)
		low[i] = is_low(e->factors.of[i]) ? (enum factor)i : FACTORS;
	blame(e, low, FACTOR_PARALLEL, FACTOR_LOAD_BALANCE, FACTOR_COMMUNICATION);
	blame(e, low, FACTOR_COMMUNICATION, FACTOR_SERIALISATION, FACTOR_TRANSFER);
	if (low[FACTOR_LOAD_BALANCE] < FACTORS)
		e->cause[FACTOR_LOAD_BALANCE] = cause_of_imbalance(f);
	if (low[FACTOR_SERIALISATION] < FACTORS)
		e->cause[FACTOR_SERIALISATION] = cause_of_waiting(f);
	if (low[FACTOR_TRANSFER] < FACTORS)
		e->cause[FACTOR_TRANSFER] = cause_in_operations(f, its_transfer);
	for (int i = 0; i < FACTORS; i++)
		e->cause[i].low = low[i];
	if (e->hybrid && is_low(e->threads))
		e->threads_cause = cause_in_threads(f);
}

/* ---- All of it ------------------------------------------------------------------------------- */

bool efficiency_of_graph(struct efficiency *e, struct trace *trace, const struct graph *g, const struct waits *waits)
{
	struct efficiency_finder f = { .e = e, .times = g->times, .waits = waits };
	*e = (struct efficiency){ 0 };
	useful_open(&f.useful, trace, g->times, NULL, NULL);
	efficiency_walk_open(&f.walk, g);
	find_useful(&f);
	if (e->nthreads > 0) {
		find_factors(&f);
		find_regions(&f);
		find_hybrid(&f);
		find_causes(&f);
		doubt_factors(&f);
	}
	efficiency_walk_close(&f.walk);
	useful_close(&f.useful);
	return e->nthreads > 0;
}

bool efficiency_open(struct efficiency *e, struct trace *trace, const struct times *times)
{
	struct graph g;
	graph_open(&g, trace, times);
	bool any = efficiency_of_graph(e, trace, &g, NULL);
	e->said = graph_take_said(&g);
	graph_close(&g);
	return any;
}

void efficiency_close(struct efficiency *e)
{
	graph_said_close(&e->said);
	free(e->each);
	free(e->regions);
}
