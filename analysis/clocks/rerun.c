/* SPDX-License-Identifier: MIT
 *
 * rerun.c - see rerun.h. */
#include "analysis/clocks/rerun.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"

#define ALONE_S      0.001 /* packets so far apart are not of a burst, which is faster than those in the course of a run */
#define FEW          8     /* of those; with fewer all count */
#define MOST_PACKETS 20000 /* that are made up for a clock, each way, */
#define MOST_IN_ALL  200000 /* and for all */
#define ROUNDS_PER_WIDTH 100 /* in so many parts of how long the run takes packets come if a width is asked for */

/* ---- Packets of this run --------------------------------------------------------------------- */

/* How long packets took, in ticks of the base, by the middle of what is known: to the clock, and from it. */
struct travels { double *v; size_t n; };
struct both_ways { struct travels to, from; };

static double middle(struct frz_cursor *c, uint64_t stamp)
{
	frz_time t = frz_time_of(c, stamp);
	return (double)t.lo / 2 + (double)t.hi / 2;
}

static double ticks_of(const struct times *t, double seconds)
{
	return seconds * t->trace->clocks[t->base].ghz * 1e9;
}

static bool between_base_and(const struct times *t, const struct frz_link *l, uint32_t clock)
{
	return (l->from == t->base && l->to == clock) || (l->from == clock && l->to == t->base);
}

/* Those of which the one before was sent at least so many ticks earlier. */
static struct both_ways find_travels(const struct times *t, uint32_t clock, double apart)
{
	struct frz_cursor *cursors = times_cursors(t);
	struct both_ways path = { { NULL, 0 }, { NULL, 0 } };
	double before[2] = { -1e300, -1e300 };
	for (size_t i = 0; i < t->trace->nlinks; i++) {
		const struct frz_link *l = &t->trace->links[i];
		if (!between_base_and(t, l, clock))
			continue;
		bool to = l->to == clock;
		double sent = middle(&cursors[l->from], l->sent), took = middle(&cursors[l->to], l->received) - sent;
		struct travels *list = to ? &path.to : &path.from;
		if (sent - before[to] >= apart)
			*MEM_GROW(list->v, list->n) = took > 0 ? took : 0;
		before[to] = sent;
	}
	free(cursors);
	return path;
}

static void free_travels(struct both_ways *path)
{
	free(path->to.v);
	free(path->from.v);
}

static struct both_ways travels_of(const struct times *t, uint32_t clock)
{
	struct both_ways path = find_travels(t, clock, ticks_of(t, ALONE_S));
	if (path.to.n >= FEW && path.from.n >= FEW)
		return path;
	free_travels(&path);
	return find_travels(t, clock, -1e300);
}

static struct ends ends_on(const struct trace *trace, uint32_t clock)
{
	struct ends all = { UINT64_MAX, 0, 0, 0 };
	for (size_t i = 0; i < trace->nthreads; i++) {
		struct ends e = times_ends(&trace->threads[i]);
		if (trace->threads[i].clock != clock || e.first > e.last)
			continue;
		all.first = e.first < all.first ? e.first : all.first;
		all.last = e.last > all.last ? e.last : all.last;
	}
	return all;
}

double rerun_interval_s(const struct times *t)
{
	struct ends all = ends_on(t->trace, t->base);
	size_t most = 0;
	for (uint32_t c = 0; c < t->trace->nclocks; c++) {
		struct both_ways path = find_travels(t, c, ticks_of(t, ALONE_S));
		most = path.to.n > most ? path.to.n : most;
		free_travels(&path);
	}
	if (most < 3 || all.first >= all.last) /* the first one of each burst is none */
		return 0;
	return (double)(all.last - all.first) / ticks_of(t, 1) / (double)(most - 1);
}

/* ---- How many are made up ---------------------------------------------------------------------- */

static double most_packets(const struct trace *trace)
{
	double share = (double)MOST_IN_ALL / (double)trace->nclocks;
	return share < MOST_PACKETS ? share : MOST_PACKETS;
}

double rerun_least_s(const struct times *t)
{
	double least = 0;
	for (uint32_t c = 0; c < t->trace->nclocks; c++) {
		struct ends e = ends_on(t->trace, c);
		double s = e.first < e.last ? (double)(e.last - e.first) / most_packets(t->trace) / t->trace->clocks[c].ghz / 1e9 : 0;
		least = s > least ? s : least;
	}
	return least;
}

/* ---- Packets that are made up ---------------------------------------------------------------- */

struct rerun_maker {
	const struct times *times;
	struct trace *trace;
	struct frz_cursor cursor;
	uint32_t clock;
	uint64_t first, last;    /* stamps of it */
};

static void add_link(struct rerun_maker *m, struct frz_link link)
{
	struct trace *t = m->trace;
	t->links = mem_resize(t->links, t->nlinks + 1, sizeof *t->links);
	t->links[t->nlinks++] = link;
}

/* One each way, at about this stamp, when the base shows `now`; bounds of a tick on each side are rounded away from what is
 * known. */
static void add_exchange(struct rerun_maker *m, uint64_t stamp, double now, double to, double from)
{
	uint32_t base = m->times->base;
	if (now - to - 1 < 0)
		return;
	add_link(m, (struct frz_link){ base, m->clock, (uint64_t)(now - to - 1), stamp + 1 });
	add_link(m, (struct frz_link){ m->clock, base, stamp, (uint64_t)(now + from) + 2 });
}

/* Such as take as long as those of this run. */
static void add_alike(struct rerun_maker *m, const struct both_ways *path, double interval_s)
{
	double run = (double)(m->last - m->first), step = interval_s * m->times->trace->clocks[m->clock].ghz * 1e9;
	double least = run / most_packets(m->trace);
	step = step > least ? step : least;
	size_t i = 0;
	for (double at = 0; at <= run && step > 0; at += step, i++) {
		uint64_t stamp = m->first + (uint64_t)at;
		add_exchange(m, stamp, middle(&m->cursor, stamp), path->to.v[i % path->to.n], path->from.v[i % path->from.n]);
	}
}

/* What is known at a stamp, and whether packets go then. */
struct bounds_at { uint64_t stamp; double lo, hi; bool round; };

/* At each round of packets, and wherever bounds have a corner. */
static struct bounds_at *find_known(struct rerun_maker *m, size_t *n)
{
	struct bounds_at *list = NULL;
	uint64_t step = (m->last - m->first) / ROUNDS_PER_WIDTH + 1, round = m->first, at = m->first;
	*n = 0;
	while (at <= m->last) {
		frz_time t = frz_time_of(&m->cursor, at);
		uint64_t left = m->cursor.at->from + m->cursor.at->span - at;
		*MEM_GROW(list, *n) = (struct bounds_at){ at, (double)t.lo, (double)t.hi, at == round };
		round += at == round ? step : 0;
		at += left && left < round - at ? left : round - at;
	}
	return list;
}

/* The bounds of only those times that have this rate, within `drift` of it: where the rate is not known, the middle of all
 * bounds may have none that a clock can have. False: there are no such times. */
static bool tighten(struct bounds_at *k, size_t n, double rate, double drift)
{
	double least = rate * (1 - drift), most = rate * (1 + drift);
	for (size_t i = 1; i < n; i++) {
		double ticks = (double)(k[i].stamp - k[i - 1].stamp);
		k[i].lo = fmax(k[i].lo, k[i - 1].lo + least * ticks);
		k[i].hi = fmin(k[i].hi, k[i - 1].hi + most * ticks);
	}
	for (size_t i = n; i-- > 1;) {
		double ticks = (double)(k[i].stamp - k[i - 1].stamp);
		k[i - 1].lo = fmax(k[i - 1].lo, k[i].lo - most * ticks);
		k[i - 1].hi = fmin(k[i - 1].hi, k[i].hi - least * ticks);
	}
	for (size_t i = 0; i < n; i++)
		if (k[i].lo > k[i].hi)
			return false;
	return true;
}

/* Such as make all known to a width. */
static void add_rounds(struct rerun_maker *m, double width_s)
{
	const struct frz_clock *found = frz_clock(m->times->together, m->clock);
	double half = ticks_of(m->times, width_s) / 2;
	size_t n;
	struct bounds_at *k = find_known(m, &n);
	bool line = tighten(k, n, found->rate.lo / 2 + found->rate.hi / 2, found->ppb / 1e9);
	for (size_t i = 0; i < n; i++)
		if (k[i].round)
			add_exchange(m, k[i].stamp, line ? k[i].lo / 2 + k[i].hi / 2 : middle(&m->cursor, k[i].stamp), half, half);
	free(k);
}

static void make_packets(struct trace *copy, const struct times *t, uint32_t clock, struct rerun how)
{
	struct ends ends = ends_on(copy, clock);
	struct rerun_maker m = { .times = t, .trace = copy, .clock = clock, .first = ends.first, .last = ends.last };
	if (m.first >= m.last)
		return;
	m.cursor = times_cursor(t, clock);
	if (how.width_s > 0) {
		add_rounds(&m, how.width_s);
		return;
	}
	struct both_ways path = travels_of(t, clock);
	if (path.to.n && path.from.n)
		add_alike(&m, &path, how.interval_s);
	free_travels(&path);
}

/* ---- The copy -------------------------------------------------------------------------------- */

static char **copy_texts(char *const *texts, size_t n)
{
	char **copy = NULL;
	for (size_t i = 0, count = 0; i < n; i++)
		*MEM_GROW(copy, count) = mem_copy(texts[i]);
	return copy;
}

struct trace *rerun_open(const struct times *t, struct rerun how)
{
	const struct trace *trace = t->trace;
	struct trace *copy = mem_resize(NULL, 1, sizeof *copy);
	*copy = *trace;
	copy->links = mem_resize(NULL, trace->nlinks + 1, sizeof *copy->links);
	if (trace->nlinks)
		memcpy(copy->links, trace->links, trace->nlinks * sizeof *copy->links);
	copy->diagnostics = copy_texts(trace->diagnostics, trace->ndiagnostics);
	copy->notes = copy_texts(trace->notes, trace->nnotes);
	for (uint32_t c = 0; c < trace->nclocks; c++)
		if (c != t->base && t->time_base[c] == 0)
			make_packets(copy, t, c, how);
	return copy;
}

static void free_texts(char **texts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(texts[i]);
	free(texts);
}

void rerun_close(struct trace *copy)
{
	free_texts(copy->diagnostics, copy->ndiagnostics);
	free_texts(copy->notes, copy->nnotes);
	free(copy->links);
	free(copy);
}
