/* SPDX-License-Identifier: MIT
 *
 * methods.c - see methods.h. */
#include "bench/paper/methods.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct method methods[] = {
	{ "dprof-affine", NULL, { .model = FRZ_AFFINE }, true },
	{ "dprof-drift", NULL, { .model = FRZ_DRIFT, .ppb = 10000 }, true },
	{ "freezer-formula", &baseline_freezer, { 0 }, true },
	{ "lp-per-stamp", &baseline_lp, { 0 }, true },
	{ "convex-hull", &baseline_convex_hull, { 0 }, false },
	{ "regression", &baseline_regression, { 0 }, false },
	{ "fastest-middles", &baseline_middles, { 0 }, false },
	{ "two-barriers", &baseline_barriers, { 0 }, false },
	{ 0 },
};

const struct method *method_named(const char *name)
{
	for (const struct method *m = methods; m->name; m++)
		if (strcmp(m->name, name) == 0)
			return m;
	fprintf(stderr, "there is no method %s\n", name);
	exit(2);
}

/* Bounds that are merely consistent, after a contradiction, are not what the method claims. */
static int error_of(enum frz_status status)
{
	return status == FRZ_PROVEN ? 0 : status == FRZ_UNLINKED ? -ENODATA : -EDOM;
}

static int solve(struct fitted *f, const struct baseline_evidence *e)
{
	uint32_t nclocks = (e->clock > e->base ? e->clock : e->base) + 1;
	int error = frz_solve(&f->solution, nclocks, e->base, e->links, e->nlinks,
			      f->method->assumption);

	if (error)
		return error;
	error = error_of(frz_clock(f->solution, e->clock)->status);
	if (error)
		frz_solution_free(f->solution);
	else
		f->cursor = frz_cursor(f->solution, e->clock);
	return error;
}

int method_fit(struct fitted *f, const struct method *method, const struct baseline_evidence *e,
	       uint64_t origin)
{
	*f = (struct fitted){ .method = method, .origin = origin };
	return method->baseline ? baseline_fit(&f->baseline, method->baseline, e) : solve(f, e);
}

void method_release(struct fitted *f)
{
	if (f->method->baseline)
		baseline_release(&f->baseline);
	else
		frz_solution_free(f->solution);
}

static void convert_by_solution(struct fitted *f, const uint64_t *stamps,
				struct baseline_time *times, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		frz_time t = frz_time_of(&f->cursor, stamps[i]);
		double lo = (double)(t.lo - (int64_t)f->origin);
		double hi = (double)(t.hi - (int64_t)f->origin);

		times[i] = (struct baseline_time){ (lo + hi) / 2, lo, hi };
	}
}

void method_convert(struct fitted *f, const uint64_t *stamps, struct baseline_time *times, size_t n)
{
	if (!f->method->baseline) {
		convert_by_solution(f, stamps, times, n);
		return;
	}
	double shift = (double)(int64_t)(f->baseline.origin.time - f->origin);

	baseline_convert(&f->baseline, stamps, times, n);
	for (struct baseline_time *t = times; t < times + n; t++)
		*t = (struct baseline_time){ t->estimate + shift, t->lo + shift, t->hi + shift };
}

struct baseline_time method_time(struct fitted *f, uint64_t stamp)
{
	struct baseline_time time;

	method_convert(f, &stamp, &time, 1);
	return time;
}

struct baseline_time method_rate(const struct fitted *f)
{
	struct baseline_time r = { f->baseline.rate, -INFINITY, INFINITY };

	if (!f->method->baseline) {
		struct frz_rate rate = frz_clock(f->solution, f->cursor.clock)->rate;

		r = (struct baseline_time){ (rate.lo + rate.hi) / 2, rate.lo, rate.hi };
	} else if (f->method->baseline == &baseline_freezer) {
		r.lo = baseline_ratio(f->baseline.formula.rate_lo);
		r.hi = baseline_ratio(f->baseline.formula.rate_hi);
	}
	return r;
}

double method_rounding_ticks(const struct method *method)
{
	return method->baseline && method->baseline != &baseline_freezer ? 0.5 : 0;
}

const char *method_why(int error)
{
	return error == -ENODATA ? "too-little-evidence" :
	       error == -EDOM ? "contradiction" : strerror(-error);
}
