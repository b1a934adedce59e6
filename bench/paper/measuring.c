/* SPDX-License-Identifier: MIT
 *
 * measuring RECORDING CLOCK - how well does each method know the clock after measuring so long?
 *
 * The packets of a window of the run are the evidence; windows of one length begin evenly spread over
 * the run. Errors are those of the clock's rate over the window, and of the time at which the window
 * began (the zero). One line for each method and length, medians over the windows, by tabs:
 *
 *   METHOD SECONDS WINDOWS RATE_PPB RATE_UNCERTAINTY_PPB ZERO_US ZERO_UNCERTAINTY_US OUTSIDE UNFITTED
 *   CONTRADICTED
 *
 * OUTSIDE: windows in which the true rate or zero is not in its interval. UNFITTED: windows in which
 * the method found too little; CONTRADICTED: a contradiction. "-" where there are no intervals. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/paper/methods.h"
#include "bench/paper/recording.h"

#define WINDOWS 15
#define SHORTEST_S 0.05

struct measuring_window { uint64_t begin, end; };

struct measuring_seen { /* one value for each window that could be fitted */
	double rate[WINDOWS], rate_half[WINDOWS], zero[WINDOWS], zero_half[WINDOWS];
	size_t n, outside, unfitted, contradicted;
};

static int ascending(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

static double median(double *values, size_t n)
{
	qsort(values, n, sizeof *values, ascending);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* Packets come in the order of measuring, so a window's are consecutive. */
static struct baseline_evidence packets_of(const struct recording *r, struct measuring_window w)
{
	const struct transfers *p = &r->packets;
	size_t from = 0, until;

	while (from < p->n && p->truth[from].sent < w.begin)
		from++;
	for (until = from; until < p->n && p->truth[until].received <= w.end; until++)
		;
	return (struct baseline_evidence){ CLOCK, 0, p->seen + from, until - from, NULL };
}

static bool is_in(struct baseline_time t, double is, double rounding)
{
	return t.lo - rounding <= is && is <= t.hi + rounding;
}

static void look(struct measuring_seen *s, const struct method *method, const struct recording *r,
		 struct measuring_window w, struct baseline_evidence evidence)
{
	struct fitted f;
	int error = method_fit(&f, method, &evidence, w.begin);

	if (error) {
		*(error == -EDOM ? &s->contradicted : &s->unfitted) += 1;
		return;
	}
	double is = recording_rate(r, w.begin, w.end);
	struct baseline_time rate = method_rate(&f);
	struct baseline_time zero = method_time(&f, clockmap_stamp(&r->map, (int64_t)w.begin));

	s->rate[s->n] = fabs(rate.estimate - is) / is * 1e9;
	s->rate_half[s->n] = (rate.hi - rate.lo) / 2 / is * 1e9;
	s->zero[s->n] = fabs(zero.estimate) / r->ghz / 1e3;
	s->zero_half[s->n] = (zero.hi - zero.lo) / 2 / r->ghz / 1e3;
	/* A rate in doubles has 2^-52 of itself. */
	s->outside += !is_in(rate, is, is * 1e-15) ||
		      !is_in(zero, 0, method_rounding_ticks(method));
	s->n++;
	method_release(&f);
}

static void print_number(double number)
{
	if (isfinite(number))
		printf("\t%.6g", number);
	else
		printf("\t-");
}

static void print(const struct method *method, double seconds, size_t windows, struct measuring_seen *s)
{
	printf("%s\t%.3f\t%zu", method->name, seconds, windows);
	print_number(s->n ? median(s->rate, s->n) : NAN);
	print_number(s->n ? median(s->rate_half, s->n) : NAN);
	print_number(s->n ? median(s->zero, s->n) : NAN);
	print_number(s->n ? median(s->zero_half, s->n) : NAN);
	if (method->bounds)
		printf("\t%zu\t%zu\t%zu\n", s->outside, s->unfitted, s->contradicted);
	else
		printf("\t-\t%zu\t%zu\n", s->unfitted, s->contradicted);
}

static void run_length(const struct recording *r, uint64_t length)
{
	uint64_t slack = r->last - r->first - length;

	for (const struct method *m = methods; m->name; m++) {
		struct measuring_seen s = { .n = 0 };

		if (m->baseline == &baseline_barriers)
			continue;
		for (uint64_t i = 0; i < WINDOWS; i++) {
			struct measuring_window w = { r->first + slack / (WINDOWS - 1) * i, 0 };

			w.end = w.begin + length;
			look(&s, m, r, w, packets_of(r, w));
		}
		print(m, (double)length / r->ghz / 1e9, WINDOWS, &s);
	}
}

/* The barriers are at the ends of the run, so its length is the only one. */
static void run_barriers(const struct recording *r)
{
	struct measuring_window w = { r->first, r->last };
	struct baseline_evidence e = { .clock = CLOCK, .barriers = r->barriers };
	struct measuring_seen s = { .n = 0 };

	look(&s, method_named("two-barriers"), r, w, e);
	print(method_named("two-barriers"), (double)(w.end - w.begin) / r->ghz / 1e9, 1, &s);
}

int main(int argc, char **argv)
{
	struct recording r;

	if (argc != 3) {
		fprintf(stderr, "usage: measuring RECORDING CLOCK\n");
		return 2;
	}
	recording_read(&r, argv[1]);
	recording_see(&r, made_up_of(argv[2]));
	for (double s = SHORTEST_S; s * r.ghz * 1e9 <= (double)(r.last - r.first); s *= 2)
		run_length(&r, (uint64_t)(s * r.ghz * 1e9));
	run_length(&r, r.last - r.first);
	run_barriers(&r);
	recording_free(&r);
	return 0;
}
