/* SPDX-License-Identifier: MIT
 *
 * graph_moments.c - sleeps until a moment that the program has named: when does that come in another run?
 *
 *   until += period; sleep until then                  at that moment in any run
 *   read the clock, ..., sleep until so long behind    as long behind what the thread did just before it read the clock
 *
 * Of the latter kind is what is not equally far apart, or several times as far, to the nanosecond, as nobody reads a clock so
 * evenly. Where the clock was read is not recorded. But each of the sleeps at one site is then equally long behind an event, the
 * same number of events before each of them, but for what passes from that event to the reading of the clock. So the clock was read
 * behind those that show that best: by the median of how much the differences of moments and of stamps differ. If that is no small
 * part of what others show, it is not known: moments stay, or where all others come as evenly, it may be so or so. Who begins to
 * sleep behind a moment does not wait. Nothing of this is proved.
 *
 * Of what was left of a time (rests) the plugin has seen that the clock was read, but the moment is not exact: it is of the latter
 * kind if it is steadily behind an event before what the thread did last; or of the former, if they are evenly apart. Else it was a
 * time of its own, which is as long in any run, unless it was laid down before (paced): then it stays. In a region that the program
 * marks a sleep is work, for which it may stand.
 *
 * One that goes on and on stays, unless its thread looks for others, too: then another run may read it more or less often
 * in between.
 *
 * Of a timer that was set for some time, once, the record says when. Of one that goes on and on it says when it was ready first
 * since it was read; who is late for that has perhaps several of its moments at once, and would have one each time if he were
 * not late. */
#include <math.h>
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/runs.h"
#include "analysis/base/search.h"
#include "analysis/graph/graph_moments.h"

#define EVENTS_BEFORE 16 /* of a sleep that are looked at, with its ENTER */
#define MUCH_STEADIER 8
#define STEADY        50 /* such a part of the time from one moment to the next */
#define NOT_READ      EVENTS_BEFORE /* behind none of them */
#define PERHAPS_READ  (EVENTS_BEFORE + 1) /* behind any of them, perhaps: they all come as evenly */
#define LAID_DOWN     (EVENTS_BEFORE + 2)
#define MOST_SLEEPS   64 /* of one site and thread by which it is decided */

struct seen { struct event_ref before[EVENTS_BEFORE]; size_t n; bool marked; }; /* marked: in a region that the program marks */

/* That was set for some time. */
static bool is_of_timer(const struct moment_sleep *m)
{
	return m->until_ns == 0;
}

static int by_place(const void *x, const void *y)
{
	const struct moment_sleep *a = x, *b = y;
	if (a->exit.thread != b->exit.thread)
		return a->exit.thread < b->exit.thread ? -1 : 1;
	if (a->site != b->site)
		return a->site < b->site ? -1 : 1;
	if (is_of_timer(a) != is_of_timer(b))
		return is_of_timer(a) ? 1 : -1;
	if (is_of_timer(a) && a->set != b->set)
		return a->set < b->set ? -1 : 1;
	return ORDER(a->exit.at, b->exit.at);
}

/* The last events up to the begin of each sleep, the latest first: of one site and thread. */
static void find_before(const struct builder *b, const struct moment_sleep *m, struct seen *seen, size_t n)
{
	struct tr_cursor events = trace_events(b->graph->trace, m->exit.thread);
	struct seen last = { .n = 0 };
	struct tr_event e;
	size_t next = 0, depth = 0;
	for (uint64_t at = 0; next < n && trace_next_bare(&events, &e); at++) {
		if (e.op == DPROF_LOST)
			continue;
		if (tr_is_marked(b->graph->trace, e.site) && e.op != DPROF_POINT)
			depth = e.op == DPROF_ENTER ? depth + 1 : depth - (depth > 0);
		last.before[last.n++ % EVENTS_BEFORE] = (struct event_ref){ m->exit.thread, at, e.stamp };
		for (; next < n && at == m[next].begin.enter.at; next++) {
			seen[next].marked = depth > 0;
			seen[next].n = last.n < EVENTS_BEFORE ? last.n : EVENTS_BEFORE;
			for (size_t k = 0; k < seen[next].n; k++)
				seen[next].before[k] = last.before[(last.n - 1 - k) % EVENTS_BEFORE];
		}
	}
	trace_end(&events);
}

/* How much, in nanoseconds, the differences of moments and of the k-th events before differ: the median, of those before which
 * there are so many; negative: these are less than half. */
static double unsteadiness(const struct builder *b, const struct moment_sleep *m, const struct seen *seen, size_t n, size_t k)
{
	double ghz = tr_ghz(b->graph->trace, m->exit.thread), off[MOST_SLEEPS];
	size_t noff = 0;
	for (size_t i = 1; i < n; i++) {
		if (seen[i].n <= k || seen[i - 1].n <= k)
			continue;
		double moments = (double)(int64_t)(m[i].until_ns - m[i - 1].until_ns);
		double events = (double)(int64_t)(seen[i].before[k].stamp - seen[i - 1].before[k].stamp) / ghz;
		off[noff++] = moments < events ? events - moments : moments - events;
	}
	if (2 * noff < n - 1)
		return -1;
	qsort(off, noff, sizeof *off, order_doubles);
	return off[noff / 2];
}

/* From one to the next: the least, but 0. */
static uint64_t least_step(const struct moment_sleep *m, size_t n)
{
	uint64_t least = UINT64_MAX;
	for (size_t i = 1; i < n; i++) {
		uint64_t step = m[i].until_ns - m[i - 1].until_ns;
		least = step > 0 && step < least ? step : least;
	}
	return least;
}

/* Half of them, or more, are such a step from the one before, or several, but for the first that is. */
static bool are_laid_down(const struct moment_sleep *m, size_t n)
{
	uint64_t step = least_step(m, n);
	size_t even = 0;
	for (size_t i = 1; i < n; i++)
		even += (m[i].until_ns - m[i - 1].until_ns) % step == 0;
	return n < 3 || 2 * even >= n;
}

/* How many events before each of these sleeps the clock was read, NOT_READ or PERHAPS_READ. */
static size_t find_reading(const struct builder *b, const struct moment_sleep *m, const struct seen *seen, size_t n)
{
	size_t best = EVENTS_BEFORE;
	double least = 0, most = 0;
	for (size_t k = 0; k < EVENTS_BEFORE; k++) {
		double off = unsteadiness(b, m, seen, n, k);
		if (off >= 0 && (best == EVENTS_BEFORE || off < least)) {
			best = k;
			least = off;
		}
		most = off > most ? off : most;
	}
	double step = (double)(int64_t)(m[n - 1].until_ns - m[0].until_ns) / (double)(n - 1);
	return least * MUCH_STEADIER <= most ? best : least * STEADY < step ? PERHAPS_READ : NOT_READ;
}

/* How much the steps from one moment to the next differ from most of them: the median. */
static double unevenness(const struct moment_sleep *m, size_t n)
{
	double step[MOST_SLEEPS], off[MOST_SLEEPS];
	for (size_t i = 1; i < n; i++)
		step[i - 1] = (double)(int64_t)(m[i].until_ns - m[i - 1].until_ns);
	qsort(step, n - 1, sizeof *step, order_doubles);
	for (size_t i = 1; i < n; i++)
		off[i - 1] = fabs(step[i - 1] - step[n / 2]);
	qsort(off, n - 1, sizeof *off, order_doubles);
	return off[n / 2];
}

/* Likewise, of what was left of a time: NOT_READ, if it was read as the sleep began, or just behind the event before; LAID_DOWN, if
 * it was not, but moments are as far apart as each other. */
static size_t find_rest(const struct builder *b, const struct moment_sleep *m, const struct seen *seen, size_t n)
{
	size_t best = NOT_READ;
	double least = 0, step = (double)(int64_t)(m[n - 1].until_ns - m[0].until_ns) / (double)(n > 1 ? n - 1 : 1);
	bool even = n > 2 && unevenness(m, n) * STEADY < step;
	for (size_t k = 0; k < EVENTS_BEFORE; k++) {
		double off = unsteadiness(b, m, seen, n, k);
		if (off >= 0 && (best == NOT_READ || off < least)) {
			best = k;
			least = off;
		}
	}
	if (best != NOT_READ && least * STEADY < step)
		return best > 1 ? best : NOT_READ;
	return even ? LAID_DOWN : NOT_READ;
}

/* How often that comes before something else is done, or which part of it passes before, nobody knows. */
static void add_open(struct builder *b, const struct moment_sleep *m)
{
	graph_unknown_since(b, m->begin, m->exit, m->begin.enter, GRAPH_TIMED);
}

static void add_sleep(struct builder *b, const struct moment_sleep *m, const struct event_ref *read)
{
	const struct graph *g = b->graph;
	struct event_ref first = { m->exit.thread, 0, g->threads[m->exit.thread].first };
	double late = (double)m->late_ns * tr_ghz(g->trace, m->exit.thread);
	uint64_t ticks = late < (double)GRAPH_MOST ? (uint64_t)late : GRAPH_MOST;
	graph_expired_at(b, m->begin, m->exit, read ? *read : first, ticks);
}

/* The thread's last event before each of these timers was set, or its first. They are in the order in which they were set. */
static void add_timers(struct builder *b, struct moment_sleep *m, size_t n)
{
	uint32_t thread = m->exit.thread;
	struct event_ref last = { thread, 0, b->graph->threads[thread].first };
	struct tr_cursor events = trace_events(b->graph->trace, thread);
	struct tr_event e;
	uint64_t next = 0; /* event; e, if there are more */
	bool more = trace_next_bare(&events, &e);
	for (size_t i = 0; i < n; i++) {
		for (; more && e.stamp <= m[i].set; more = trace_next_bare(&events, &e))
			last = (struct event_ref){ thread, next++, e.stamp };
		add_sleep(b, &m[i], &last);
	}
	trace_end(&events);
}

/* Of one that goes on and on. */
static void keep_pace(struct moment_sleep *m, size_t n)
{
	uint64_t step = least_step(m, n);
	for (size_t i = 1; i < n; i++) {
		uint64_t next = m[i - 1].until_ns + step;
		if (m[i].late_ns == 0 || next >= m[i].until_ns)
			continue;
		m[i].late_ns += m[i].until_ns - next;
		m[i].until_ns = next;
	}
}

/* Until moments. */
static void add_moments(struct builder *b, struct moment_sleep *m, size_t n)
{
	size_t some = n < MOST_SLEEPS ? n : MOST_SLEEPS;
	struct seen *seen = are_laid_down(m, some) ? NULL : spill_zeros(b->spill, n, sizeof *seen);
	if (seen)
		find_before(b, m, seen, n);
	else
		keep_pace(m, n);
	size_t read = seen ? find_reading(b, m, seen, some) : NOT_READ;
	for (size_t i = 0; i < n; i++)
		if (read == PERHAPS_READ)
			add_open(b, &m[i]);
		else
			add_sleep(b, &m[i], seen && read < seen[i].n ? &seen[i].before[read] : NULL);
	spill_free(b->spill, seen);
}

/* For what was left of a time. */
static void add_rests(struct builder *b, struct moment_sleep *m, size_t n)
{
	struct seen *seen = spill_zeros(b->spill, n, sizeof *seen);
	find_before(b, m, seen, n);
	size_t read = find_rest(b, m, seen, n < MOST_SLEEPS ? n : MOST_SLEEPS);
	for (size_t i = 0; i < n; i++)
		if (m[i].rests && seen[i].marked)
			continue;
		else if (read < EVENTS_BEFORE)
			add_sleep(b, &m[i], &seen[i].before[read < seen[i].n ? read : seen[i].n - 1]);
		else if (m->paced || read == LAID_DOWN)
			add_sleep(b, &m[i], NULL);
	spill_free(b->spill, seen);
}

/* Sorted by place. Whether one of a site is looked for where its thread looks for others, too, which come now and then. */
static bool is_one_of_several(const struct moment_records *r, const struct moment_sleep *m)
{
	uint32_t thread = m->exit.thread, polled = m->polled, site = m->site;
	bool timer = is_of_timer(m), others = false;
	if (m->open || m->polled == TR_NO_SITE)
		return m->open;
	for (size_t i = SEARCH(r->nothers, mid, r->others[mid].thread < thread); i < r->nothers && r->others[i].thread == thread; i++)
		others |= r->others[i].site == m->polled;
	while (m > r->v && m[-1].exit.thread == thread)
		m--;
	for (const struct moment_sleep *o = m; o < r->v + r->n && o->exit.thread == thread; o++)
		others |= o->polled == polled && (o->site != site || is_of_timer(o) != timer);
	return others;
}

static void add_sleeps(struct builder *b, const struct moment_records *r, struct moment_sleep *m, size_t n)
{
	if (is_of_timer(m)) {
		add_timers(b, m, n);
	} else if (is_one_of_several(r, m)) {
		for (size_t i = 0; i < n; i++)
			add_open(b, &m[i]);
	} else if (m->rests || m->paced) {
		add_rests(b, m, n);
	} else {
		add_moments(b, m, n);
	}
}

void graph_moments(struct builder *b, struct moment_records *r)
{
	runs_sort(b->spill, r->v, r->n, sizeof *r->v, by_place);
	for (size_t i = 0, next; i < r->n; i = next) {
		struct moment_sleep *m = &r->v[i];
		for (next = i + 1; next < r->n && r->v[next].exit.thread == m->exit.thread && r->v[next].site == m->site &&
				   is_of_timer(&r->v[next]) == is_of_timer(m);)
			next++;
		add_sleeps(b, r, m, next - i);
	}
}
