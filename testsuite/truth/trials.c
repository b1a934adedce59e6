/* SPDX-License-Identifier: MIT
 *
 * trials.c - see trials.h. */
#include "testsuite/truth/trials.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CHUNK 2048

/* ---- A spec --------------------------------------------------------------------------------- */

static unsigned any_count(struct dice *d, double most)
{
	return (unsigned)roll_size(d, 1, most);
}

/* What is found depends on when packets flow: here as the runtime sends them by default, at both
 * ends and every 250 ms, in a machine room. */
static void exchange_as_dprof_does(struct dice *d, struct world_spec *w)
{
	w->run_ns = roll_size(d, 1e9, 60e9);
	w->floor_ns = roll_size(d, 3e3, 50e3);
	w->first = w->last = 100;
	w->between = 8;
	w->pauses = (unsigned)(w->run_ns / 250e6);
}

static struct world_spec draw_spec(struct dice *d, const struct plan *plan)
{
	static const char *const topologies[] = { "star", "tree:1", "tree:2", "mesh" };
	struct world_spec w = {
		.nhosts = 2 + (unsigned)(roll(d) % 3),
		.run_ns = roll_size(d, 1e6, 1e12),
		.floor_ns = roll_size(d, 100, 1e6),
		.first = any_count(d, 400), .between = any_count(d, 16), .last = any_count(d, 400),
		.pauses = any_count(d, 200) - 1,
		.ppb = (uint32_t)roll_size(d, 100, 1e6),
		.break_at = roll_unit(d),
		.break_ns = roll_size(d, 1e3, 1e12),
	};
	int model = (int)(roll(d) % 2), topology = (int)(roll(d) % 4);
	int delay = (int)(roll(d) % DELAY_KINDS_COUNT);
	bool broken = plan->clock >= CLOCK_FIRST_BROKEN && plan->clock != CLOCK_KINDS_COUNT;

	w.model = plan->model < 0 ? model : plan->model;
	if (frz_topology_parse(plan->topology ? plan->topology : topologies[topology], &w.topology))
		abort();
	w.delay = plan->delay == DELAY_KINDS_COUNT ? (enum delay_kind)delay : plan->delay;
	w.clock = w.model == WORLD_AFFINE && !broken ? CLOCK_AFFINE
		  : plan->clock == CLOCK_KINDS_COUNT
			  ? (enum clock_kind)roll_in(d, CLOCK_AFFINE, CLOCK_FIRST_BROKEN - 1)
			  : plan->clock;
	w.broken = (unsigned)(roll(d) % w.nhosts);
	if (broken)
		exchange_as_dprof_does(d, &w);
	return w;
}

/* ---- Conversions ---------------------------------------------------------------------------- */

struct trial {
	const struct world *w;
	struct dice *dice;
	struct verdict *v;
	const struct frz_solution *solution;
	unsigned host;
	int64_t from, to;         /* true times of the stamps */
	bool proven;
	double slack;             /* in base ticks, roughly */
	int64_t truth[CHUNK];
	uint64_t stamp[CHUNK];
	frz_time time[CHUNK];
};

static void complain(struct trial *t, size_t i)
{
	struct verdict *v = t->v;

	if (!v->complaint[0])
		snprintf(v->complaint, sizeof v->complaint,
			 "host %u, stamp %" PRIu64 ": the truth %" PRIu64 " is outside [%" PRId64
			 ", %" PRId64 "]",
			 t->host, t->stamp[i], world_stamp(t->w, 0, t->truth[i]), t->time[i].lo,
			 t->time[i].hi);
}

/* How many base ticks the truth is outside, at least 1. */
static double outside_by(const struct trial *t, size_t i)
{
	double truth = (double)world_stamp(t->w, 0, t->truth[i]);
	double below = (double)t->time[i].lo - truth, above = truth - (double)t->time[i].hi;

	return 1 + (below > above ? below : above);
}

static void judge(struct trial *t, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (world_inside(t->w, t->truth[i], t->time[i]))
			continue;
		t->v->outside++;
		if (!t->proven)
			continue;
		t->v->silent++;
		if (outside_by(t, i) > t->v->excess)
			t->v->excess = outside_by(t, i);
		complain(t, i);
	}
	t->v->conversions += n;
}

/* Half of the chunks in order of time, all at once; half in any order, one by one. */
static void convert_chunk(struct trial *t, struct frz_cursor *cursor, size_t n)
{
	bool ordered = roll(t->dice) & 1;
	int64_t step = (t->to - t->from) / (int64_t)n;

	for (size_t i = 0; i < n; i++) {
		int64_t at = t->from + (ordered ? step * (int64_t)i + roll_in(t->dice, 0, step)
						: roll_in(t->dice, 0, t->to - t->from));

		t->truth[i] = at;
		t->stamp[i] = world_stamp(t->w, t->host, at);
	}
	if (ordered) {
		frz_times_of(cursor, t->stamp, n, t->time);
	} else {
		for (size_t i = 0; i < n; i++)
			t->time[i] = frz_time_of(cursor, t->stamp[i]);
	}
	judge(t, n);
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static double median_width(const frz_time *time, size_t n)
{
	int64_t width[CHUNK];

	for (size_t i = 0; i < n; i++)
		width[i] = time[i].hi - time[i].lo;
	qsort(width, n, sizeof *width, by_size);
	return (double)width[n / 2];
}

/* The time between two stamps of one clock that does not go wrong. */
static void check_durations(struct trial *t, size_t n)
{
	for (size_t i = 1; i < n && t->proven; i++) {
		int64_t a = t->truth[i - 1], b = t->truth[i];
		uint64_t ticks = t->stamp[i] - t->stamp[i - 1];

		if (a > b || t->stamp[i] < t->stamp[i - 1])
			continue;
		frz_time d = frz_duration(t->solution, t->host, ticks);
		int64_t least = (int64_t)(world_stamp(t->w, 0, b) - world_stamp(t->w, 0, a)) - 1;

		if (least + 2 >= d.lo && least <= d.hi) /* it lies between least and least + 2 */
			continue;
		t->v->outside++, t->v->silent++;
		if (!t->v->complaint[0])
			snprintf(t->v->complaint, sizeof t->v->complaint,
				 "host %u, %" PRIu64 " ticks: the true duration, about %" PRId64
				 ", is outside [%" PRId64 ", %" PRId64 "]",
				 t->host, ticks, least + 1, d.lo, d.hi);
	}
}

static void convert(struct trial *t, unsigned conversions)
{
	struct frz_cursor cursor = frz_cursor(t->solution, t->host);

	for (unsigned done = 0; done < conversions; done += CHUNK) {
		size_t n = conversions - done < CHUNK ? conversions - done : CHUNK;

		convert_chunk(t, &cursor, n);
		if (!done) {
			check_durations(t, n);
			if (t->slack)
				t->v->width = median_width(t->time, n) / t->slack;
		}
	}
}

/* ---- A case --------------------------------------------------------------------------------- */

/* Base ticks in so many true ones: near enough for a multiple. */
static double base_ticks(const struct world *w, double truth)
{
	const struct clockmap_knot *k = w->maps[0].knots;

	return truth * (double)(k[1].own - k[0].own) / (double)(k[1].truth - k[0].truth);
}

/* The mean rate is meant between the links; a clock that keeps one rate has it anywhere. */
static void check_rate(struct trial *t, struct frz_rate rate)
{
	const struct clockmap *m = &t->w->maps[t->host], *base = &t->w->maps[0];
	int64_t first = t->w->linked[t->host].first_stamp, last = t->w->linked[t->host].last_stamp;

	if (t->v->spec.clock >= CLOCK_FIRST_BROKEN || first >= last)
		return;
	if (clockmap_compare_rate(m, base, first, last, rate.lo) >= 0 &&
	    clockmap_compare_rate(m, base, first, last, rate.hi) <= 0)
		return;
	t->v->outside++, t->v->silent++;
	if (!t->v->complaint[0])
		snprintf(t->v->complaint, sizeof t->v->complaint,
			 "host %u: the true mean rate is outside [%.17g, %.17g]", t->host, rate.lo,
			 rate.hi);
}

static void try_clock(struct trial *t, unsigned host, unsigned conversions)
{
	const struct frz_clock *clock = frz_clock(t->solution, host);

	t->host = host;
	t->slack = host ? base_ticks(t->w, (double)t->w->slack[host]) : 0;
	t->proven = clock->status == FRZ_PROVEN;
	t->v->clocks += host > 0;
	t->v->unlinked += clock->status == FRZ_UNLINKED;
	t->v->contradicted += clock->status == FRZ_CONTRADICTION;
	t->v->consistent += clock->status == FRZ_CONSISTENT;
	if (!frz_placed(clock))
		return;
	check_rate(t, clock->rate);
	convert(t, conversions);
}

static void try_clocks(struct trial *t, unsigned conversions)
{
	const struct world *w = t->w;
	enum clock_kind clock = t->v->spec.clock;
	int64_t beyond = clock < CLOCK_FIRST_BROKEN ? (w->last - w->first) / 16 : 0;

	t->from = w->first - beyond;
	t->to = w->last + beyond;
	for (unsigned h = 0; h < w->nhosts; h++)
		try_clock(t, h, conversions / w->nhosts);
}

/* ---- Breaks --------------------------------------------------------------------------------- */

/* The host whose bounds suffer when the clock of `broken` breaks. */
static unsigned sufferer(const struct world_spec *spec)
{
	return spec->broken ? spec->broken : 1;
}

/* The median width of the same world's bounds, in base ticks, had no clock been broken. */
static double width_unbroken(const struct dice *dice, const struct world_spec *broken)
{
	static uint64_t stamp[CHUNK];
	static frz_time time[CHUNK];
	struct dice same = *dice;
	struct world_spec spec = *broken;
	struct frz_solution *solution;
	double width = 0;

	spec.clock = CLOCK_AFFINE;
	struct world w = world_draw(&same, &spec);
	unsigned h = sufferer(broken);

	w.assumption.ppb = spec.model == WORLD_DRIFT ? spec.ppb : 0;
	if (frz_solve(&solution, w.nhosts, 0, w.links, w.nlinks, w.assumption))
		abort();
	for (size_t i = 0; i < CHUNK; i++)
		stamp[i] = world_stamp(&w, h, w.begin + (w.end - w.begin) / CHUNK * (int64_t)i);
	if (frz_placed(frz_clock(solution, h))) {
		struct frz_cursor cursor = frz_cursor(solution, h);

		frz_times_of(&cursor, stamp, CHUNK, time);
		width = median_width(time, CHUNK);
	}
	frz_solution_free(solution);
	world_free(&w);
	return width;
}

/* How far a clock that wanders is from the straight line through its ends, in true ticks. */
static double astray(const struct clockmap *m)
{
	const struct clockmap_knot *a = m->knots, *b = a + m->count - 1;
	double rate = (double)(b->own - a->own) / (double)(b->truth - a->truth), most = 0;

	for (const struct clockmap_knot *k = a; k <= b; k++) {
		double off = (double)(k->own - a->own) - rate * (double)(k->truth - a->truth);

		most = fmax(most, fabs(off) / rate);
	}
	return most;
}

/* The part of a wander that the assumption does not allow. */
static double astray_too_far(const struct world *w, const struct world_spec *spec)
{
	uint32_t need = clockmap_need_any_ppb(&w->maps[sufferer(spec)], &w->maps[0]);
	double allowed = spec->model == WORLD_DRIFT ? spec->ppb : 0;

	return need > allowed ? astray(&w->maps[spec->broken]) * (1 - allowed / need) : 0;
}

static void size_break(struct verdict *v, const struct dice *before, const struct world *w)
{
	const struct world_spec *spec = &v->spec;
	double width = width_unbroken(before, spec);
	double truth = spec->clock == CLOCK_EXCESS ? astray_too_far(w, spec)
						   : spec->break_ns * WORLD_FINE;

	int64_t at = w->begin + llrint((double)(w->end - w->begin) * spec->break_at);
	const struct linked *linked = &w->linked[spec->broken];

	v->break_unlinked = spec->clock != CLOCK_EXCESS &&
			    (at <= linked->first || at > linked->last);
	v->break_size = width ? base_ticks(w, truth) / width : 0;
	v->excess = width ? v->excess / width : 0;
}

struct verdict try_case(uint64_t seed, const struct plan *plan)
{
	struct dice dice = { seed };
	struct verdict v = { .spec = draw_spec(&dice, plan) };
	const struct dice before = dice;
	struct world w = world_draw(&dice, &v.spec);
	struct frz_solution *solution;
	static struct trial t;

	v.ppb = w.assumption.ppb;
	int error = frz_solve(&solution, w.nhosts, 0, w.links, w.nlinks, w.assumption);

	if (error) {
		v.outside = v.silent = 1;
		snprintf(v.complaint, sizeof v.complaint, "frz_solve: error %d", error);
		world_free(&w);
		return v;
	}
	t = (struct trial){ .w = &w, .dice = &dice, .v = &v, .solution = solution };
	try_clocks(&t, plan->conversions);
	if (v.spec.clock >= CLOCK_FIRST_BROKEN)
		size_break(&v, &before, &w);
	frz_solution_free(solution);
	world_free(&w);
	return v;
}
