/* SPDX-License-Identifier: MIT
 *
 * times.c - which clocks share a time base, and the arithmetic of stamps on it. */
#define _GNU_SOURCE /* qsort_r */
#include "analysis/clocks/times.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/order.h"
#include "analysis/base/shown.h"
#include "analysis/base/memory.h"
#include "analysis/base/nearest.h"
#include "analysis/clocks/clock_conflicts.h"
#include "analysis/trace/sched.h"

static bool find_base(struct times *t, const char *host)
{
	const struct trace *trace = t->trace;
	t->base = 0;
	if (!host)
		return true;
	const char **hosts = mem_resize(NULL, trace->nclocks, sizeof *hosts);
	for (size_t c = 0; c < trace->nclocks; c++)
		hosts[c] = trace->clocks[c].host;
	while (t->base < trace->nclocks && strcmp(hosts[t->base], host) != 0)
		t->base++;
	bool found = t->base < trace->nclocks;
	if (!found) {
		const char *meant = nearest(host, hosts, trace->nclocks);
		shown_complain("--base: expected a host of the trace, such as %s; found \"%s\"",
			       meant ? meant : hosts[0], host);
	}
	free(hosts);
	return found;
}

/* ---- Links ----------------------------------------------------------------------------------- */

/* A stamp of a host may have been taken on a core whose counter differs from the host's clock by up
 * to its uncertainty. A link holds for that clock when its ends are moved apart by as much. */
static struct frz_link on_clocks(const struct trace *trace, struct frz_link l)
{
	uint64_t before = trace->clocks[l.from].uncertainty;
	uint64_t behind = trace->clocks[l.to].uncertainty;
	l.sent -= before < l.sent ? before : l.sent;
	l.received += behind < UINT64_MAX - l.received ? behind : UINT64_MAX - l.received;
	return l;
}

struct frz_link *times_links(const struct times *t, bool program)
{
	size_t npackets = t->trace->nlinks, n = npackets + (program ? t->program.nlinks : 0);
	struct frz_link *links = mem_resize(NULL, n, sizeof *links);
	for (size_t i = 0; i < n; i++)
		links[i] = on_clocks(t->trace, i < npackets ? t->trace->links[i]
							    : t->program.links[i - npackets]);
	return links;
}

/* The better, the greater. */
static int status_order(enum frz_status status)
{
	return status == FRZ_PROVEN ? 2 : status == FRZ_CONSISTENT ? 1 : 0;
}

/* Packets place the clock better than all links do. */
static bool worse(const struct times *t, uint32_t clock)
{
	return status_order(frz_clock(t->all, clock)->status) <
	       status_order(frz_clock(t->packets, clock)->status);
}

static bool has_threads(const struct trace *trace, uint32_t clock)
{
	for (size_t i = 0; i < trace->nthreads; i++)
		if (trace->threads[i].clock == clock)
			return true;
	return false;
}

/* A clock that cannot be placed gets a time base of its own. */
static void place(struct times *t, uint32_t clock)
{
	const struct frz_clock *found = frz_clock(t->together, clock);
	t->doubted[clock] = false;
	t->time_base[clock] = frz_placed(found) ? 0 : t->ntime_bases++;
	if (found->status == FRZ_CONTRADICTION || found->status == FRZ_CONSISTENT) {
		clock_conflicts_say(t, clock, t->together);
	} else if (t->all && !t->program_used && worse(t, clock)) {
		t->doubted[clock] = true;
		clock_conflicts_say(t, clock, t->all);
	}
}

#define UNLINKED_NAMED 3

/* All of them in one sentence: where one host lacks links, most do. */
static void say_unlinked(const struct times *t)
{
	size_t n = 0, links = 0;
	char *names = mem_copy("");
	for (uint32_t c = 0; c < t->trace->nclocks; c++) {
		const struct frz_clock *found = frz_clock(t->together, c);
		if (found->status != FRZ_UNLINKED || t->doubted[c] || !has_threads(t->trace, c))
			continue;
		char *longer = n < UNLINKED_NAMED ? mem_format("%s%s%s", names, n ? ", " : "", t->trace->clocks[c].host) : mem_copy(names);
		free(names);
		names = longer;
		links = found->links > links ? found->links : links;
		n++;
	}
	const char *base = t->trace->clocks[t->base].host;
	if (n == 1)
		trace_diagnose(t->trace, "clock %s: too few links with clock %s (%zu found) to place it on its time "
					 "line; its threads are analysed on their own clock only", names, base, links);
	else if (n > 1)
		trace_diagnose(t->trace, "%zu clocks (%s%s): too few links with clock %s (%s%zu found) to place them "
					 "on its time line; their threads are analysed on their own clocks only",
			       n, names, n > UNLINKED_NAMED ? ", ..." : "", base, links ? "at most " : "", links);
	free(names);
}

static int solve(struct times *t, struct frz_solution **solution, uint32_t nclocks, uint32_t base,
		 const struct frz_link *links, size_t nlinks)
{
	int error = frz_solve(solution, nclocks, base, links, nlinks, t->assumption);
	if (!error)
		return EXIT_FINE;
	bool drift = error == -EINVAL && t->assumption.model == FRZ_DRIFT;
	fprintf(stderr, "dprof-analyze: %s\n",
		drift ? "--clock-model: expected a drift below 1000000 PPM" : strerror(-error));
	return drift ? EXIT_USAGE : EXIT_DAMAGED;
}

/* Whether what the program proves can be used: no clock that packets place loses by it. */
static void choose(struct times *t)
{
	t->program_used = t->all;
	for (uint32_t c = 0; c < t->trace->nclocks && t->program_used; c++)
		t->program_used = !worse(t, c);
	t->together = t->program_used ? t->all : t->packets;
}

static int solve_packets(struct times *t)
{
	struct frz_link *links = times_links(t, false);
	int status = solve(t, &t->packets, (uint32_t)t->trace->nclocks, t->base, links,
			   t->trace->nlinks);
	if (status == EXIT_FINE)
		status = solve(t, &t->alone, 1, 0, NULL, 0);
	free(links);
	return status;
}

/* `rates`: those of packets, to leave out what other links imply; or NULL, and nothing is. */
static int solve_with_program(struct times *t, const struct frz_solution *rates)
{
	struct match_log *matches = t->program.matches;
	frz_solution_free(t->all);
	t->all = NULL;
	t->program.matches = NULL;
	program_links_free(&t->program);
	t->program = t->of_run ? program_links_copy(t->of_run, t->trace->nclocks, matches) :
				 program_links(t->trace, t->base, rates, matches);
	if (!t->program.nlinks)
		return EXIT_FINE;
	struct frz_link *links = times_links(t, true);
	int status = solve(t, &t->all, (uint32_t)t->trace->nclocks, t->base, links,
			   t->trace->nlinks + t->program.nlinks);
	free(links);
	return status;
}

/* A link that is implied under the assumption need not be when that does not hold. */
static bool all_agree(const struct times *t)
{
	for (uint32_t c = 0; t->all && c < t->trace->nclocks; c++)
		if (frz_clock(t->all, c)->status == FRZ_CONTRADICTION ||
		    frz_clock(t->all, c)->status == FRZ_CONSISTENT)
			return false;
	return true;
}

static int solve_all(struct times *t, bool packets_only)
{
	int status = solve_packets(t);
	if (status == EXIT_FINE && !packets_only)
		status = solve_with_program(t, t->packets);
	if (status == EXIT_FINE && !all_agree(t))
		status = solve_with_program(t, NULL);
	return status;
}

/* Stamps, unlike the links that were solved, are those of any core. */
static void widen(struct times *t)
{
	uint64_t most = 0;
	for (uint32_t c = 0; c < t->trace->nclocks; c++) {
		uint64_t half = t->trace->clocks[c].uncertainty;
		frz_widen(t->packets, c, half);
		if (t->all)
			frz_widen(t->all, c, half);
		if (t->time_base[c] > 0 && half > most)
			most = half;
	}
	frz_widen(t->alone, 0, most);
}

/* Either stamp may be off by the uncertainty: they may be of two cores. */
static void set_speeds(struct times *t)
{
	t->speed = mem_resize(NULL, t->trace->nclocks, sizeof *t->speed);
	for (uint32_t c = 0; c < t->trace->nclocks; c++)
		t->speed[c] = (struct times_speed){ t->time_base[c] == 0 ? frz_speed(t->together, c) : frz_speed(t->alone, 0),
						  tr_slack(t->trace, c) };
}

int times_open(struct times *t, struct trace *trace, const struct options *options)
{
	*t = (struct times){ .trace = trace, .assumption = options->assumption, .of_run = options->of_run,
			     .ntime_bases = 1 };
	if (!find_base(t, options->base))
		return EXIT_USAGE;
	if (options->matches_again)
		t->program.matches = match_log_open();
	int status = solve_all(t, options->packets_only);
	if (status != EXIT_FINE) {
		times_close(t);
		return status;
	}
	choose(t);
	t->time_base = mem_resize(NULL, trace->nclocks, sizeof *t->time_base);
	t->doubted = mem_resize(NULL, trace->nclocks, sizeof *t->doubted);
	for (uint32_t c = 0; c < trace->nclocks; c++)
		place(t, c);
	say_unlinked(t);
	set_speeds(t);
	widen(t);
	return EXIT_FINE;
}

void times_close(struct times *t)
{
	program_links_free(&t->program);
	frz_solution_free(t->packets);
	frz_solution_free(t->all);
	frz_solution_free(t->alone);
	free(t->time_base);
	free(t->speed);
	free(t->doubted);
}

bool times_proven(const struct times *t, uint32_t clock)
{
	return frz_clock(t->together, clock)->status == FRZ_PROVEN && !t->doubted[clock];
}

bool times_all_proven(const struct times *t)
{
	for (uint32_t c = 0; c < t->trace->nclocks; c++)
		if (t->time_base[c] == 0 && !times_proven(t, c))
			return false;
	return true;
}

static int by_host(const void *x, const void *y, void *clocks)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	int order = strcmp(((struct tr_clock *)clocks)[a].host, ((struct tr_clock *)clocks)[b].host);
	return order ? order : ORDER(a, b);
}

uint32_t *times_order(const struct times *t)
{
	uint32_t *order = mem_resize(NULL, t->trace->nclocks, sizeof *order);
	for (uint32_t c = 0; c < t->trace->nclocks; c++)
		order[c] = c;
	qsort_r(order, t->trace->nclocks, sizeof *order, by_host, t->trace->clocks);
	return order;
}

uint32_t times_unit(const struct times *t, uint32_t time_base)
{
	uint32_t clock = t->base;
	for (uint32_t c = 0; time_base > 0 && c < t->trace->nclocks; c++)
		if (t->time_base[c] == time_base)
			clock = c;
	return clock;
}

struct interval times_seconds(const struct times *t, uint32_t time_base, frz_time ticks)
{
	return interval_seconds(ticks, t->trace->clocks[times_unit(t, time_base)].ghz);
}

struct frz_cursor times_cursor(const struct times *t, uint32_t clock)
{
	return t->time_base[clock] == 0 ? frz_cursor(t->together, clock) : frz_cursor(t->alone, 0);
}

static uint64_t plus(uint64_t x, uint64_t y)
{
	return x < UINT64_MAX - y ? x + y : UINT64_MAX;
}

frz_time times_off_by(const struct times *t, uint32_t clock, uint64_t ticks, uint64_t off)
{
	const struct frz_speed *speed = &t->speed[clock].speed;
	return (frz_time){ ticks > off ? frz_speed_duration(speed, ticks - off).lo : 0,
			   frz_speed_duration(speed, plus(ticks, off)).hi };
}

/* What stretches of a thread may be off by in all, since it moved from core to core between their stamps. */
static uint64_t off_by_moves(const struct times *t, size_t thread, const struct stretches *s)
{
	uint64_t apart = tr_slack(t->trace, t->trace->threads[thread].clock), off;
	if (!apart || !s->pieces)
		return 0;
	uint64_t moves = sched_moves(t->trace, thread, s->from, s->to);
	moves = moves < s->pieces ? moves : s->pieces;
	return __builtin_mul_overflow(moves, apart, &off) ? UINT64_MAX : off;
}

frz_time times_of_thread(const struct times *t, size_t thread, uint64_t from, uint64_t to)
{
	return times_sum(t, thread, (struct stretches){ to - from, 1, from, to });
}

frz_time times_sum(const struct times *t, size_t thread, struct stretches s)
{
	if (s.pieces == 0)
		return (frz_time){ 0, 0 };
	/* That one piece is rounded is in the duration already. */
	return times_off_by(t, t->trace->threads[thread].clock, s.ticks,
			    plus(s.pieces - 1, off_by_moves(t, thread, &s)));
}

struct frz_cursor *times_cursors(const struct times *t)
{
	struct frz_cursor *cursors = mem_resize(NULL, t->trace->nclocks + 1, sizeof *cursors);
	for (uint32_t c = 0; c < t->trace->nclocks; c++)
		cursors[c] = times_cursor(t, c);
	return cursors;
}

static inline __attribute__((always_inline)) frz_time
between(const struct times *t, struct frz_cursor *f, struct frz_cursor *g, struct moment from, struct moment to)
{
	struct timed_moment x = { from, frz_time_of(f, from.stamp) }, y = { to, frz_time_of(g, to.stamp) };
	return times_between_timed(t, &x, &y);
}

frz_time times_between(const struct times *t, struct moment from, struct moment to)
{
	struct frz_cursor f = times_cursor(t, from.clock), g = times_cursor(t, to.clock);
	return between(t, &f, &g, from, to);
}

frz_time times_between_near(const struct times *t, struct frz_cursor *cursors, struct moment from, struct moment to)
{
	return between(t, &cursors[from.clock], &cursors[to.clock], from, to);
}

bool times_surely_before(const struct times *t, struct frz_cursor *cursors, struct moment first, struct moment then)
{
	bool in_order = first.clock == then.clock && first.stamp <= then.stamp;
	if (in_order && times_duration(t, then.clock, then.stamp - first.stamp).lo > 0)
		return true;
	return frz_time_of(&cursors[first.clock], first.stamp).hi < frz_time_of(&cursors[then.clock], then.stamp).lo;
}

/* ---- Span ------------------------------------------------------------------------------------ */

struct ends times_ends(const struct tr_thread *t)
{
	struct ends e = { UINT64_MAX, 0, 0, 0 };
	trace_ends(t, &e.first, &e.last);
	e.earliest = e.first;
	e.latest = e.last;
	if (trace_lost_before(t) && t->earliest < e.earliest)
		e.earliest = t->earliest;
	if (trace_goes_on(t))
		e.latest = t->latest;
	return e;
}

/* First and last stamp of each clock. */
static struct ends *ends_of_clocks(const struct times *t, const struct ends *threads)
{
	struct ends *of = mem_resize(NULL, t->trace->nclocks, sizeof *of);
	for (size_t c = 0; c < t->trace->nclocks; c++)
		of[c] = (struct ends){ UINT64_MAX, 0, UINT64_MAX, 0 };
	for (size_t i = 0; i < t->trace->nthreads; i++) {
		struct ends *clock = &of[t->trace->threads[i].clock];
		if (threads[i].first < clock->first)
			clock->first = threads[i].first;
		if (threads[i].first <= threads[i].last && threads[i].last > clock->last)
			clock->last = threads[i].last;
		if (threads[i].earliest < clock->earliest)
			clock->earliest = threads[i].earliest;
		if (threads[i].latest > clock->latest)
			clock->latest = threads[i].latest;
	}
	return of;
}

static int64_t smaller(int64_t x, int64_t y)
{
	return x < y ? x : y;
}

static int64_t larger(int64_t x, int64_t y)
{
	return x > y ? x : y;
}

static bool begins_anytime(const struct ends *e)
{
	return e->earliest == 0 && e->first > 0;
}

static bool ends_anytime(const struct ends *e)
{
	return e->latest == UINT64_MAX;
}

int64_t times_beyond(const struct times *t, size_t thread)
{
	struct ends e = times_ends(&t->trace->threads[thread]);
	return ends_anytime(&e) ? INT64_MAX : e.latest > e.last ? times_of_thread(t, thread, e.last, e.latest).hi : 0;
}

/* A clock's part in the span: its first event was at some time of `first`, or before it if it lost some. */
static void add_ends(const struct times *t, uint32_t clock, const struct ends *e, struct span *span)
{
	struct frz_cursor c = times_cursor(t, clock), d = c;
	struct frz_cursor before = c, behind = c;
	if (e->first <= e->last) {
		frz_time first = frz_time_of(&c, e->first), last = frz_time_of(&d, e->last);
		if (!span->events)
			span->first.hi = first.hi, span->last.lo = last.lo;
		span->events = true;
		span->first.hi = smaller(span->first.hi, first.hi);
		span->last.lo = larger(span->last.lo, last.lo);
	}
	if (e->earliest != UINT64_MAX)
		span->first.lo = smaller(span->first.lo, begins_anytime(e) ? INT64_MIN
							  : frz_time_of(&before, e->earliest).lo);
	if (e->latest || e->first <= e->last)
		span->last.hi = larger(span->last.hi, ends_anytime(e) ? INT64_MAX
							  : frz_time_of(&behind, e->latest).hi);
}

/* The span is the longest way from a first event to a last one, so every such way that is certainly
 * that long bounds it from below, and the longest that is possible bounds it from above. */
static void add_way(const struct times *t, uint32_t a, const struct ends *from, uint32_t b,
		    const struct ends *to, frz_time *length)
{
	if (from->first <= from->last && to->first <= to->last)
		length->lo = larger(length->lo, times_between(t, (struct moment){ a, from->first },
							      (struct moment){ b, to->last }).lo);
	if (from->earliest == UINT64_MAX || (!to->latest && to->first > to->last))
		return;
	if (begins_anytime(from) || ends_anytime(to))
		length->hi = INT64_MAX;
	else
		length->hi = larger(length->hi, times_between(t, (struct moment){ a, from->earliest },
							      (struct moment){ b, to->latest }).hi);
}

/* Two clocks with the greatest of some values. */
struct greatest { uint32_t clock[2]; int64_t value[2]; size_t n; };

static void keep_greatest(struct greatest *two, uint32_t clock, int64_t value)
{
	if (two->n == 2 && value <= two->value[1])
		return;
	two->n += two->n < 2;
	size_t at = two->n - 1;
	if (at > 0 && value > two->value[0]) {
		two->clock[1] = two->clock[0];
		two->value[1] = two->value[0];
		at = 0;
	}
	two->clock[at] = clock;
	two->value[at] = value;
}

/* From where, and to where, the longest way between two clocks may go: that is surely, and possibly, the longest. */
struct way_ends { struct greatest from_surely, from, to_surely, to; };

static void keep_way_ends(const struct times *t, uint32_t clock, const struct ends *e, struct way_ends *w)
{
	struct frz_cursor c = times_cursor(t, clock);
	bool events = e->first <= e->last;
	if (events) {
		keep_greatest(&w->from_surely, clock, ticks_minus(0, frz_time_of(&c, e->first).hi));
		keep_greatest(&w->to_surely, clock, frz_time_of(&c, e->last).lo);
	}
	if (e->earliest != UINT64_MAX)
		keep_greatest(&w->from, clock,
			      begins_anytime(e) ? INT64_MAX : ticks_minus(0, frz_time_of(&c, e->earliest).lo));
	if (e->latest || events)
		keep_greatest(&w->to, clock, ends_anytime(e) ? INT64_MAX : frz_time_of(&c, e->latest).hi);
}

static void add_ways(const struct times *t, const struct ends *of, const struct greatest *from,
		     const struct greatest *to, frz_time *length)
{
	for (size_t i = 0; i < from->n; i++)
		for (size_t j = 0; j < to->n; j++)
			add_way(t, from->clock[i], &of[from->clock[i]], to->clock[j], &of[to->clock[j]], length);
}

/* Ways on one clock are known by its rate, so all of these are looked at; of those between two clocks only which the
 * longest may be. */
struct span times_span(const struct times *t, uint32_t time_base, const struct ends *threads)
{
	struct span span = { .first.lo = INT64_MAX, .last.hi = INT64_MIN };
	struct ends *of = ends_of_clocks(t, threads);
	struct way_ends w = { .from.n = 0 };
	for (uint32_t c = 0; c < t->trace->nclocks; c++) {
		if (t->time_base[c] != time_base)
			continue;
		add_ends(t, c, &of[c], &span);
		add_way(t, c, &of[c], c, &of[c], &span.length);
		keep_way_ends(t, c, &of[c], &w);
	}
	add_ways(t, of, &w.from_surely, &w.to_surely, &span.length);
	add_ways(t, of, &w.from, &w.to, &span.length);
	free(of);
	return span.events ? span : (struct span){ .events = false };
}
