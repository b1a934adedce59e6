/* SPDX-License-Identifier: MIT
 *
 * graph_moments.c - sleeps until a moment that the program has named: when does that come in another run?
 *
 *   until += period; sleep until then                 at that moment in any run
 *   read the clock, ..., sleep until so long behind    as long behind what the thread did just before it read the clock
 *
 * Of the latter kind is what is not equally far apart, to the nanosecond, as nobody reads a clock so evenly. Where the clock was
 * read is not recorded. But each of the sleeps at one site is then equally long behind an event, the same number of events before
 * each of them, but for what passes from that event to the reading of the clock. So the clock was read behind those that show that
 * best: by the median of how much the differences of moments and of stamps differ. If that is no small part of what others show, it
 * is not known, and moments stay. Who begins to sleep behind a moment does not wait. Nothing of this is proved. */
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/runs.h"
#include "analysis/graph/graph_moments.h"

#define EVENTS_BEFORE 16 /* of a sleep that are looked at, with its ENTER */
#define MUCH_STEADIER 8
#define MOST_SLEEPS   64 /* of one site and thread by which it is decided */

struct seen { struct event_ref before[EVENTS_BEFORE]; size_t n; };

static int by_place(const void *x, const void *y)
{
	const struct moment_sleep *a = x, *b = y;
	if (a->exit.thread != b->exit.thread)
		return a->exit.thread < b->exit.thread ? -1 : 1;
	if (a->site != b->site)
		return a->site < b->site ? -1 : 1;
	return (a->exit.at > b->exit.at) - (a->exit.at < b->exit.at);
}

/* The last events up to the begin of each sleep, the latest first: of one site and thread. */
static void find_before(const struct builder *b, const struct moment_sleep *m, struct seen *seen, size_t n)
{
	struct tr_cursor events = trace_events(b->graph->trace, m->exit.thread);
	struct seen last = { .n = 0 };
	struct tr_event e;
	size_t next = 0;
	for (uint64_t at = 0; next < n && trace_next_bare(&events, &e); at++) {
		if (e.op == DPROF_LOST)
			continue;
		last.before[last.n++ % EVENTS_BEFORE] = (struct event_ref){ m->exit.thread, at, e.stamp };
		for (; next < n && at == m[next].begin.enter.at; next++) {
			seen[next].n = last.n < EVENTS_BEFORE ? last.n : EVENTS_BEFORE;
			for (size_t k = 0; k < seen[next].n; k++)
				seen[next].before[k] = last.before[(last.n - 1 - k) % EVENTS_BEFORE];
		}
	}
	trace_end(&events);
}

/* How much, in nanoseconds, the differences of moments and of the k-th events before differ: the median. */
static double unsteadiness(const struct builder *b, const struct moment_sleep *m, const struct seen *seen, size_t n, size_t k)
{
	double ghz = b->graph->trace->clocks[b->graph->trace->threads[m->exit.thread].clock].ghz, off[MOST_SLEEPS];
	for (size_t i = 1; i < n; i++) {
		double moments = (double)(int64_t)(m[i].until_ns - m[i - 1].until_ns);
		double events = (double)(int64_t)(seen[i].before[k].stamp - seen[i - 1].before[k].stamp) / ghz;
		off[i - 1] = moments < events ? events - moments : moments - events;
	}
	qsort(off, n - 1, sizeof *off, order_doubles);
	return off[(n - 1) / 2];
}

/* Half of them, or more, are as far from the one before as that is from the one before it. */
static bool are_laid_down(const struct moment_sleep *m, size_t n)
{
	size_t even = 0;
	for (size_t i = 2; i < n; i++)
		even += m[i].until_ns - m[i - 1].until_ns == m[i - 1].until_ns - m[i - 2].until_ns;
	return n < 3 || 2 * even >= n - 2;
}

/* How many events before each of these sleeps the clock was read; EVENTS_BEFORE: nobody knows. */
static size_t find_reading(const struct builder *b, const struct moment_sleep *m, const struct seen *seen, size_t n)
{
	size_t best = EVENTS_BEFORE, events = EVENTS_BEFORE;
	double least = 0, most = 0;
	for (size_t i = 0; i < n; i++)
		events = seen[i].n < events ? seen[i].n : events;
	for (size_t k = 0; k < events; k++) {
		double off = unsteadiness(b, m, seen, n, k);
		if (k == 0 || off < least) {
			best = k;
			least = off;
		}
		most = off > most ? off : most;
	}
	return least * MUCH_STEADIER <= most ? best : EVENTS_BEFORE;
}

static void add_sleep(struct builder *b, const struct moment_sleep *m, const struct event_ref *read)
{
	const struct graph *g = b->graph;
	struct event_ref first = { m->exit.thread, 0, g->threads[m->exit.thread].first };
	double late = (double)m->late_ns * g->trace->clocks[g->trace->threads[m->exit.thread].clock].ghz;
	uint64_t ticks = late < (double)GRAPH_MOST ? (uint64_t)late : GRAPH_MOST;
	graph_expired_at(b, m->begin, m->exit, read ? *read : first, ticks);
}

/* Of one site and thread. */
static void add_sleeps(struct builder *b, const struct moment_sleep *m, size_t n)
{
	size_t some = n < MOST_SLEEPS ? n : MOST_SLEEPS;
	struct seen *seen = are_laid_down(m, some) ? NULL : spill_zeros(b->spill, n, sizeof *seen);
	if (seen)
		find_before(b, m, seen, n);
	size_t read = seen ? find_reading(b, m, seen, some) : EVENTS_BEFORE;
	for (size_t i = 0; i < n; i++)
		add_sleep(b, &m[i], seen && read < seen[i].n ? &seen[i].before[read] : NULL);
	spill_free(b->spill, seen);
}

void graph_moments(struct builder *b, struct moment_records *r)
{
	runs_sort(b->spill, r->v, r->n, sizeof *r->v, by_place);
	for (size_t i = 0, next; i < r->n; i = next) {
		const struct moment_sleep *m = &r->v[i];
		for (next = i + 1; next < r->n && r->v[next].exit.thread == m->exit.thread && r->v[next].site == m->site;)
			next++;
		add_sleeps(b, m, next - i);
	}
}
