/* SPDX-License-Identifier: MIT
 *
 * result.c - what a log of exchanges proves, for people and for programs.
 *
 * Law: every printed interval encloses the true value: ticks become seconds, and seconds decimals,
 * rounded outward. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "freezer/clock.h"
#include "freezer/command/command.h"

#define WIDTHS 1000 /* looks at the width, evenly over the run */
#define ROUNDING (1 - 0x1p-50) /* of the few operations on doubles on the way to printing */

static double down(double x)
{
	return x < 0 ? x / ROUNDING : x * ROUNDING;
}

static double up(double x)
{
	return -down(-x);
}

static struct seconds seconds_of(__int128 lo, __int128 hi)
{
	double tick = 1e-9 / frz_ghz();

	return (struct seconds){ down((double)lo * tick), up((double)hi * tick) };
}

/* ---- Solving ----------------------------------------------------------------------------------*/

static int solve(struct frz_solution **solution, const struct frz_synclog *log,
		 struct frz_assumption assumption)
{
	struct frz_link *links = malloc((2 * log->nrecords + 1) * sizeof *links);
	size_t n = 0;
	int error = -ENOMEM;

	if (!links)
		return error;
	for (size_t i = 0; i < log->nrecords; i++)
		n += frz_sync_links(&log->records[i], &links[n]);
	error = frz_solve(solution, CLOCKS, CLOCK_HERE, links, n, assumption);
	free(links);
	return error;
}

static int by_value(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static void find_widths(struct result *r, const struct frz_solution *solution, uint64_t first,
			uint64_t last)
{
	struct frz_cursor cursor = frz_cursor(solution, CLOCK_THERE);
	double widths[WIDTHS];

	for (uint64_t i = 0; i < WIDTHS; i++) {
		uint64_t stamp = first +
				 (uint64_t)((unsigned __int128)(last - first) * i / (WIDTHS - 1));
		frz_time t = frz_time_of(&cursor, stamp);

		widths[i] = seconds_of(0, (__int128)t.hi - t.lo).hi;
	}
	qsort(widths, WIDTHS, sizeof *widths, by_value);
	r->width_min = widths[0];
	r->width_median = widths[WIDTHS / 2];
	r->width_max = widths[WIDTHS - 1];
}

/* A packet took from its sender's tick to its receiver's, one of which is known as an interval. The
 * fastest took at most what any took at most, and at least what each took at least. */
static void find_fastest(struct result *r, const struct frz_solution *solution,
			 const struct frz_synclog *log)
{
	struct frz_cursor received = frz_cursor(solution, CLOCK_THERE), answered = received;
	__int128 there_lo = INT64_MAX, there_hi = INT64_MAX, back_lo = INT64_MAX,
		 back_hi = INT64_MAX;

	for (size_t i = 0; i < log->nrecords; i++) {
		const struct frz_sync_record *x = &log->records[i];
		frz_time in = frz_time_of(&received, x->received),
			 out = frz_time_of(&answered, x->answered);
		__int128 at_least_there = (__int128)in.lo - x->asked - 1,
			 at_most_there = (__int128)in.hi - x->asked;
		__int128 at_least_back = (__int128)x->returned - out.hi,
			 at_most_back = (__int128)x->returned + 1 - out.lo;

		there_lo = at_least_there < there_lo ? at_least_there : there_lo;
		there_hi = at_most_there < there_hi ? at_most_there : there_hi;
		back_lo = at_least_back < back_lo ? at_least_back : back_lo;
		back_hi = at_most_back < back_hi ? at_most_back : back_hi;
	}
	r->there = seconds_of(there_lo < 0 ? 0 : there_lo, there_hi);
	r->back = seconds_of(back_lo < 0 ? 0 : back_lo, back_hi);
}

static void find_bounds(struct result *r, const struct frz_solution *solution,
			const struct frz_synclog *log)
{
	const struct frz_sync_record *first = &log->records[0],
				     *last = &log->records[log->nrecords - 1];
	struct frz_cursor cursor = frz_cursor(solution, CLOCK_THERE);
	struct frz_rate rate = frz_clock(solution, CLOCK_THERE)->rate;
	frz_time t = frz_time_of(&cursor, last->answered);

	/* The counter there stood within a tick of its stamp at a time within t. */
	r->offset = seconds_of((__int128)last->answered - t.hi,
			       (__int128)last->answered + 1 - t.lo);
	r->ppm.lo = down((1 / rate.hi - 1) * 1e6 - 1e-9);
	r->ppm.hi = up((1 / rate.lo - 1) * 1e6 + 1e-9);
	find_widths(r, solution, first->received, last->answered);
	find_fastest(r, solution, log);
}

int result_of(struct result *r, const char *host, const struct frz_synclog *log, uint64_t dropped,
	      struct frz_assumption assumption)
{
	struct frz_solution *solution;
	int error = solve(&solution, log, assumption);

	if (error)
		return error;
	const struct frz_clock *clock = frz_clock(solution, CLOCK_THERE);

	*r = (struct result){
		.host = host,
		.status = clock->status,
		.ppb = clock->ppb,
		.solution = solution,
		.exchanges = log->nrecords,
		.dropped = dropped,
		.nconflicts = clock->nconflicts,
	};
	for (unsigned i = 0; i < r->nconflicts; i++)
		r->conflict[i] = log->records[clock->conflict[i] / 2];
	if (frz_placed(clock))
		find_bounds(r, solution, log);
	return 0;
}

bool result_placed(const struct result *r)
{
	return frz_placed(frz_clock(r->solution, CLOCK_THERE));
}

void result_free(struct result *r)
{
	frz_solution_free(r->solution);
	r->solution = NULL;
}

/* ---- Printing ---------------------------------------------------------------------------------*/

/* Multiples of `unit`, so that what is printed with as many decimals lies outside. */
static double floor_to(double x, double unit)
{
	return floor(down(x / unit)) * unit;
}

static double ceil_to(double x, double unit)
{
	return ceil(up(x / unit)) * unit;
}

static const char *status_word(enum frz_status status)
{
	static const char *const words[] = {
		[FRZ_PROVEN] = "proven",
		[FRZ_UNLINKED] = "unlinked",
		[FRZ_CONTRADICTION] = "contradiction",
		[FRZ_CONSISTENT] = "consistent",
	};
	return words[status];
}

static void print_conflicts(const struct result *r)
{
	printf("  the packets contradict each other if the clocks drift no more than was assumed:\n"
	       "  one was set, a host was paused, or they do drift more. In conflict:\n");
	for (unsigned i = 0; i < r->nconflicts; i++)
		printf("  packet %llu: asked %llu received %llu answered %llu returned %llu\n",
		       (unsigned long long)r->conflict[i].sequence,
		       (unsigned long long)r->conflict[i].asked,
		       (unsigned long long)r->conflict[i].received,
		       (unsigned long long)r->conflict[i].answered,
		       (unsigned long long)r->conflict[i].returned);
}

void result_print(const struct result *r)
{
	printf("%s: %zu exchanges, %llu packets dropped\n", r->host, r->exchanges,
	       (unsigned long long)r->dropped);
	if (r->status == FRZ_UNLINKED)
		puts(r->exchanges ? "  too few exchanges to bound the clock"
				  : "  no answer: no `freezer serve` there, or one with another --key");
	if (r->nconflicts)
		print_conflicts(r);
	if (!result_placed(r))
		return;
	if (r->status == FRZ_CONSISTENT)
		printf("  what follows is consistent with a drift of %g ppm, and not proven\n",
		       r->ppb / 1e3);
	printf("  offset   [%.9f, %.9f] s    counter there minus counter here, at the end\n",
	       floor_to(r->offset.lo, 1e-9), ceil_to(r->offset.hi, 1e-9));
	printf("  rate     [%+.4f, %+.4f] ppm   of the counter there against the one here\n",
	       floor_to(r->ppm.lo, 1e-4), ceil_to(r->ppm.hi, 1e-4));
	printf("  width    %.2f us (least %.2f, most %.2f) of the bounds over the run\n",
	       r->width_median * 1e6, r->width_min * 1e6, r->width_max * 1e6);
	printf("  there    [%.2f, %.2f] us   took the fastest packet\n",
	       floor_to(r->there.lo * 1e6, 1e-2), ceil_to(r->there.hi * 1e6, 1e-2));
	printf("  back     [%.2f, %.2f] us\n",
	       floor_to(r->back.lo * 1e6, 1e-2), ceil_to(r->back.hi * 1e6, 1e-2));
}

static void print_json_string(const char *text)
{
	putchar('"');
	for (const unsigned char *c = (const unsigned char *)text; *c; c++)
		if (*c < ' ' || *c == '"' || *c == '\\')
			printf("\\u%04x", *c);
		else
			putchar(*c);
	putchar('"');
}

static void print_json_seconds(const char *name, struct seconds s)
{
	printf(",\"%s\":{\"lo\":%.12f,\"hi\":%.12f}", name, floor_to(s.lo, 1e-12),
	       ceil_to(s.hi, 1e-12));
}

void result_print_json(const struct result *r)
{
	printf("{\"host\":");
	print_json_string(r->host);
	printf(",\"status\":\"%s\",\"exchanges\":%zu,\"dropped\":%llu", status_word(r->status),
	       r->exchanges, (unsigned long long)r->dropped);
	if (result_placed(r)) {
		printf(",\"drift_ppm\":%g", r->ppb / 1e3);
		print_json_seconds("offset_s", r->offset);
		printf(",\"rate_ppm\":{\"lo\":%.6f,\"hi\":%.6f}", floor_to(r->ppm.lo, 1e-6),
		       ceil_to(r->ppm.hi, 1e-6));
		printf(",\"width_s\":{\"min\":%.12f,\"median\":%.12f,\"max\":%.12f}",
		       r->width_min, r->width_median, r->width_max);
		print_json_seconds("fastest_there_s", r->there);
		print_json_seconds("fastest_back_s", r->back);
	}
	putchar('}');
}
