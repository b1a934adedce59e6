/* SPDX-License-Identifier: MIT
 *
 * sync MESSAGES ROUNDS LP_STAMPS - how long does each method take to synchronise a trace?
 *
 * The trace is made: two hosts, messages to and fro 20 us apart, which travel 10 us and now and then
 * much longer; the other clock shows 1.35 ticks for each of the base. To synchronise is to fit the
 * method to its evidence and to convert each message's stamp of that clock. The evidence is FreeZer's
 * packets (a burst at each end, 4 exchanges every 250 ms) or all messages. Methods take turns; one line
 * for each, medians over the rounds, separated by tabs:
 *
 *   METHOD EVIDENCE MESSAGES STAMPS FIT_S NS_PER_STAMP TOTAL_S
 *
 * STAMPS were timed (at most LP_STAMPS where each takes a linear program); TOTAL_S is for all. What is
 * timed is the loop that a program would run: in batches, but for a line, which is cheaper without. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/paper/methods.h"
#include "freezer/clock.h"
#include "testsuite/truth/clockmap.h"

#define TICKS_PER_US  UINT64_C(2600)
#define STEP          (20 * TICKS_PER_US)
#define FLIGHT        (10 * TICKS_PER_US)
#define BURST         200
#define BACKGROUND    4
#define BACKGROUND_US UINT64_C(250000)
#define BEGIN         (UINT64_C(1) << 50)
#define MAX_ROUNDS    99
#define BATCH         1000 /* stamps that are converted at once */

struct sync_trace {
	struct clockmap map;
	struct frz_link *packets, *messages;
	size_t npackets, nmessages;
	uint64_t *stamps; /* of clock 1, in order; one for each message */
	struct baseline_moment barriers[2];
};

static const struct { const char *method; bool messages; } contest[] = {
	{ "dprof-affine", false }, { "dprof-drift", false }, { "freezer-formula", false },
	{ "fastest-middles", false }, { "two-barriers", false }, { "dprof-affine", true },
	{ "regression", true }, { "convex-hull", true }, { "lp-per-stamp", true },
};
#define CONTESTANTS (sizeof contest / sizeof *contest)

static volatile double kept; /* so that no loop is for nothing */

/* ---- The trace --------------------------------------------------------------------------------*/

static uint64_t flight(void)
{
	return FLIGHT + (uint64_t)(-log(1 - drand48()) * (double)TICKS_PER_US *
				   (drand48() < 0.05 ? 200 : 2));
}

static uint64_t shows(const struct sync_trace *t, uint64_t truth)
{
	return clockmap_stamp(&t->map, (int64_t)truth);
}

static struct frz_link transfer(const struct sync_trace *t, bool back, uint64_t sent, uint64_t received)
{
	return back ? (struct frz_link){ 1, 0, shows(t, sent), received } :
		      (struct frz_link){ 0, 1, sent, shows(t, received) };
}

static void add_exchanges(struct sync_trace *t, uint64_t at, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t there = at + flight(), answered = there + TICKS_PER_US;
		uint64_t back = answered + flight();

		t->packets[t->npackets++] = transfer(t, false, at, there);
		t->packets[t->npackets++] = transfer(t, true, answered, back);
		at = back + TICKS_PER_US;
	}
}

static int ascending(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

	return (a > b) - (a < b);
}

static void add_messages(struct sync_trace *t, size_t n)
{
	for (; t->nmessages < n; t->nmessages++) {
		uint64_t sent = BEGIN + t->nmessages * STEP;
		struct frz_link l = transfer(t, t->nmessages % 2, sent, sent + flight());

		t->messages[t->nmessages] = l;
		t->stamps[t->nmessages] = l.from == 1 ? l.sent : l.received;
	}
	qsort(t->stamps, n, sizeof *t->stamps, ascending);
}

static struct sync_trace make_trace(size_t n)
{
	struct sync_trace t = { .map = clockmap_affine((int64_t)BEGIN, (int64_t)(BEGIN / 3), 135, 100) };
	uint64_t run = n * STEP, background = BACKGROUND_US * TICKS_PER_US;

	srand48(1);
	t.packets = malloc((4 * BURST + 2 * BACKGROUND * (run / background + 1)) *
			   sizeof *t.packets);
	t.messages = malloc(n * sizeof *t.messages);
	t.stamps = malloc(n * sizeof *t.stamps);
	if (!t.packets || !t.messages || !t.stamps)
		abort();
	add_exchanges(&t, BEGIN, BURST);
	for (uint64_t at = background; at < run; at += background)
		add_exchanges(&t, BEGIN + at, BACKGROUND);
	add_exchanges(&t, BEGIN + run, BURST);
	add_messages(&t, n);
	for (uint64_t i = 0; i < 2; i++)
		t.barriers[i] = (struct baseline_moment){ shows(&t, BEGIN + i * run + flight()),
							  BEGIN + i * run + flight() };
	return t;
}

/* ---- The time ---------------------------------------------------------------------------------*/

static double convert_by_line(const struct baseline *b, const uint64_t *stamps, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += baseline_on_line(b, stamps[i]);
	return sum;
}

static double convert_by_bounds(const struct baseline *b, const uint64_t *stamps, size_t n)
{
	struct baseline_time times[BATCH];
	double sum = 0;

	for (size_t i = 0; i < n; i += BATCH) {
		size_t some = n - i < BATCH ? n - i : BATCH;

		baseline_convert(b, stamps + i, times, some);
		sum += times[0].lo + times[some - 1].hi;
	}
	return sum;
}

static double convert_by_solution(struct frz_cursor cursor, const uint64_t *stamps, size_t n)
{
	frz_time times[BATCH];
	int64_t sum = 0;

	for (size_t i = 0; i < n; i += BATCH) {
		size_t some = n - i < BATCH ? n - i : BATCH;

		frz_times_of(&cursor, stamps + i, some, times);
		sum += times[0].lo ^ times[some - 1].hi;
	}
	return (double)sum;
}

static double convert(const struct fitted *f, const uint64_t *stamps, size_t n)
{
	if (!f->method->baseline)
		return convert_by_solution(f->cursor, stamps, n);
	return f->method->bounds ? convert_by_bounds(&f->baseline, stamps, n) :
				   convert_by_line(&f->baseline, stamps, n);
}

struct sync_times { double fit_s[MAX_ROUNDS], stamp_ns[MAX_ROUNDS], total_s[MAX_ROUNDS]; size_t stamps; };

static void time_one(struct sync_times *times, int round, const struct sync_trace *t, size_t which,
		     size_t lp_stamps)
{
	const struct method *method = method_named(contest[which].method);
	struct baseline_evidence e = {
		1, 0, contest[which].messages ? t->messages : t->packets,
		contest[which].messages ? t->nmessages : t->npackets, t->barriers };
	bool lp = method->baseline == &baseline_lp;
	size_t n = lp && t->nmessages > lp_stamps ? lp_stamps : t->nmessages;
	uint64_t start = frz_monotonic_raw_ns();
	struct fitted f;
	int error = method_fit(&f, method, &e, BEGIN);

	if (error) {
		fprintf(stderr, "sync: %s: %s\n", method->name, method_why(error));
		exit(1);
	}
	uint64_t fitted = frz_monotonic_raw_ns();

	kept = convert(&f, t->stamps, n);
	times->fit_s[round] = (double)(fitted - start) / 1e9;
	times->stamp_ns[round] = (double)(frz_monotonic_raw_ns() - fitted) / (double)n;
	times->total_s[round] = times->fit_s[round] +
				times->stamp_ns[round] * (double)t->nmessages / 1e9;
	times->stamps = n;
	method_release(&f);
}

static int ascending_double(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

static double median(double *values, int n)
{
	qsort(values, (size_t)n, sizeof *values, ascending_double);
	return values[n / 2];
}

int main(int argc, char **argv)
{
	static struct sync_times times[CONTESTANTS];
	long n = argc == 4 ? atol(argv[1]) : 0, rounds = argc == 4 ? atol(argv[2]) : 0;

	if (n < 10 || rounds < 1 || rounds > MAX_ROUNDS || atol(argv[3]) < 1) {
		fprintf(stderr, "usage: sync MESSAGES ROUNDS LP_STAMPS\n");
		return 2;
	}
	struct sync_trace t = make_trace((size_t)n);

	for (int round = 0; round < rounds; round++)
		for (size_t i = 0; i < CONTESTANTS; i++)
			time_one(&times[i], round, &t, i, (size_t)atol(argv[3]));
	for (size_t i = 0; i < CONTESTANTS; i++)
		printf("%s\t%s\t%ld\t%zu\t%.9f\t%.4f\t%.9f\n", contest[i].method,
		       contest[i].messages ? "messages" :
		       strcmp(contest[i].method, "two-barriers") ? "packets" : "barriers", n,
		       times[i].stamps, median(times[i].fit_s, (int)rounds),
		       median(times[i].stamp_ns, (int)rounds),
		       median(times[i].total_s, (int)rounds));
	clockmap_free(&t.map);
	free(t.packets);
	free(t.messages);
	free(t.stamps);
	return 0;
}
