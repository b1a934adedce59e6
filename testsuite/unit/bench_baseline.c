/* SPDX-License-Identifier: MIT
 *
 * bench_baseline.c - the methods of others: right where they can be, true where they claim to be,
 * and one of them, a linear program for each stamp, as a public witness for the solver. */
#include <errno.h>
#include <glpk.h>
#include <math.h>

#include "bench/baseline/lp.h"
#include "bench/baseline/points.h"
#include "freezer/solve.h"
#include "testsuite/unit/freezer_random.h"
#include "testsuite/unit/unit.h"

#define MAX_LINKS 60
#define FINE      1024 /* parts of a base tick in which true instants are given */

static const struct frz_assumption affine = { .model = FRZ_AFFINE };

/* ---- Clocks of which everything is known ------------------------------------------------------*/

/* Clock 1 shows (instant / FINE) * num / den + offset, instants being counted from `begin` ticks of
 * the base. */
struct baseline_truth { wide num, den; uint64_t offset, begin; };

static struct baseline_truth draw_truth(void)
{
	struct baseline_truth t = { .den = 1000 + (wide)below(100000) };

	t.num = t.den * (wide)(100 + below(9900)) / 1000;
	t.offset = UINT64_C(1) + (UINT64_C(1) << 60) + any_size(58);
	t.begin = (UINT64_C(1) << 60) + any_size(58);
	return t;
}

static wide floor_div(wide a, wide b)
{
	return a / b - (a % b < 0);
}

static uint64_t clock_shows(const struct baseline_truth *t, wide instant)
{
	return t->offset + (uint64_t)floor_div(instant * t->num, t->den * FINE);
}

static uint64_t base_shows(const struct baseline_truth *t, wide instant)
{
	return t->begin + (uint64_t)floor_div(instant, FINE);
}

static struct frz_link there(const struct baseline_truth *t, wide sent, wide flight)
{
	return (struct frz_link){ 0, 1, base_shows(t, sent), clock_shows(t, sent + flight) };
}

static struct frz_link back(const struct baseline_truth *t, wide sent, wide flight)
{
	return (struct frz_link){ 1, 0, clock_shows(t, sent), base_shows(t, sent + flight) };
}

/* Two links: whoever asks, the other answers after `stay`. */
static void exchange(const struct baseline_truth *t, struct frz_link *links, bool base_asks, wide asked,
		     wide flight, wide stay, wide flight_back)
{
	links[0] = base_asks ? there(t, asked, flight) : back(t, asked, flight);
	asked += flight + stay;
	links[1] = base_asks ? back(t, asked, flight_back) : there(t, asked, flight_back);
}

static double rate_of(const struct baseline_truth *t)
{
	return (double)t->den / (double)t->num;
}

/* How far beyond the origin the base was when the clock showed the middle of a tick. */
static double true_time(const struct baseline_truth *t, const struct baseline *b, uint64_t stamp)
{
	return (double)(int64_t)(t->begin - b->origin.time) +
	       ((double)(int64_t)(stamp - t->offset) + 0.5) * rate_of(t);
}

static struct baseline_evidence evidence(const struct frz_link *links, size_t n)
{
	return (struct baseline_evidence){ 1, 0, links, n, NULL };
}

static struct baseline_time convert(const struct baseline *b, uint64_t stamp)
{
	struct baseline_time time;

	baseline_convert(b, &stamp, &time, 1);
	return time;
}

/* ---- Right where they can be ------------------------------------------------------------------*/

/* Every packet takes the same time, very little of the run, so that it matters to no method where
 * in the run there is a packet forth but none back. In between are packets of other hosts. */
static size_t draw_equal_exchanges(const struct baseline_truth *t, struct frz_link *links, wide run)
{
	wide flight = (wide)(100 + below(1000)) * FINE;
	size_t n = 0;

	for (wide i = 0; i < 20; i++) {
		exchange(t, links + n, below(2), i * run / 19 + (wide)below(FINE), flight,
			 (wide)below(1000 * FINE), flight);
		links[n + 2] = (struct frz_link){ 0, 2, draw(), draw() };
		links[n + 3] = (struct frz_link){ 2, 1, draw(), draw() };
		n += 4;
	}
	return n;
}

START_TEST(equal_delays_leave_only_rounding)
{
	struct frz_link links[4 * 20];

	for (int round = 0; round < 50; round++) {
		struct baseline_truth t = draw_truth();
		wide run = ((wide)1 << (36 + below(5))) * FINE;
		struct baseline_evidence e = evidence(links, draw_equal_exchanges(&t, links, run));
		struct baseline_moment barriers[] = { { clock_shows(&t, 0), base_shows(&t, 0) },
						      { clock_shows(&t, run), base_shows(&t, run) } };
		double tolerance = 2 + 2 * rate_of(&t);

		e.barriers = barriers;
		for (const struct baseline_method *const *m = baseline_methods; *m; m++) {
			struct baseline b;

			ck_assert_int_eq(baseline_fit(&b, *m, &e), 0);
			for (int i = 0; i < 50; i++) {
				uint64_t s = clock_shows(&t, (wide)draw() % run);
				double is = convert(&b, s).estimate, should = true_time(&t, &b, s);

				ck_assert_msg(fabs(is - should) <= tolerance,
					      "SEED=%llu: %s: %f instead of %f",
					      (unsigned long long)seed, (*m)->name, is, should);
			}
			double error = fabs(b.rate - rate_of(&t)) * (double)(run / FINE);

			ck_assert_msg(error <= 3 * tolerance * rate_of(&t),
				      "SEED=%llu: %s: rate", (unsigned long long)seed, (*m)->name);
			baseline_release(&b);
		}
	}
}
END_TEST

START_TEST(barriers_are_taken_at_their_word)
{
	static const struct baseline_moment barriers[] = { { 5000, 100 }, { 25000, 5100 } };
	struct baseline_evidence e = { .clock = 1, .barriers = barriers };
	struct baseline b;

	ck_assert_int_eq(baseline_fit(&b, &baseline_barriers, &e), 0);
	ck_assert_double_eq(b.rate, 0.25);
	ck_assert_double_eq((double)b.origin.time + convert(&b, 5000).estimate, 100.5);
	ck_assert_double_eq((double)b.origin.time + convert(&b, 25000).estimate, 5100.5);
	ck_assert_double_eq((double)b.origin.time + convert(&b, 45000).estimate, 10100.5);
	ck_assert(isinf(convert(&b, 5000).lo) && isinf(convert(&b, 5000).hi));
}
END_TEST

/* ---- A witness for the solver -----------------------------------------------------------------*/

static size_t draw_links(struct frz_link *links)
{
	struct baseline_truth t = draw_truth();
	size_t n = 2 + below(below(4) ? 10 : MAX_LINKS - 2);
	wide run = (wide)(1 + any_size(44)) * FINE;
	unsigned kind = (unsigned)below(4), flight = (unsigned)below(34);
	uint64_t span = 2 + any_size(10), slack = any_size(4);

	for (size_t i = 0; i < n; i++) {
		bool goes = below(2);
		uint64_t x = below(span) + 40, y = x + below(3);

		if (kind == 0) /* mostly contradictory */
			links[i] = (struct frz_link){ !goes, goes, below(span), below(span) };
		else if (kind == 1) /* about as often as not */
			links[i] = goes ? (struct frz_link){ 0, 1, y - slack, x }
					: (struct frz_link){ 1, 0, x, y + slack };
		else
			links[i] = (goes ? there : back)(&t, (wide)draw() % run,
							 (wide)any_size(flight + 10));
	}
	return n;
}

static size_t draw_exchanges(const struct baseline_truth *t, struct frz_link *links, wide run)
{
	size_t n = 0;

	for (int end = 0; end < 2; end++)
		for (size_t i = 0; i < MAX_LINKS / 4; i++, n += 2)
			exchange(t, links + n, below(2), end * run + (wide)draw() % (run / 20),
				 (wide)(1 + any_size(28)), (wide)any_size(24),
				 (wide)(1 + any_size(28)));
	return n;
}

/* Within the run of the clock's links, or as far outside. */
static uint64_t near_stamp(const struct frz_link *links, size_t n)
{
	const struct frz_link *l = &links[below(n)], *m = &links[below(n)];
	uint64_t x = l->from ? l->sent : l->received, y = m->from ? m->sent : m->received;

	return below(2) ? x + below(3) : x + (y > x ? below(y - x) : 0);
}

static struct { uint64_t sets, proven, open, empty, stamps; double worst; } seen;

/* By how much b is less than a whole tick's rounding of a allows; how far beyond in *worst. */
static void assert_rounded_outward(double a, double b, double tolerance)
{
	double beyond = fmax(b - a, a - b - 2);

	seen.worst = fmax(seen.worst, beyond / tolerance);
	ck_assert_msg(beyond <= tolerance, "SEED=%llu: %.9f should be %.9f, rounded outward",
		      (unsigned long long)seed, b, a);
}

struct height { double at, error; };

/* What GLPK finds is at last a double, and a sum of some. */
static struct height height(const struct baseline_program *lp, double x, enum lp_end end,
			    bool exactly)
{
	double at = lp_height(lp, x, end, exactly), b = glp_get_col_prim(lp->problem, 2);

	ck_assert_msg(!isnan(at), "SEED=%llu: GLPK gives up", (unsigned long long)seed);
	return (struct height){ at, 1e-15 * (fabs(at) + fabs(lp->slope * x) + ldexp(fabs(b), -16)) };
}

static void compare_bounds(struct frz_solution *solution, const struct baseline *b,
			   uint64_t stamp, double tolerance, bool exactly)
{
	struct frz_cursor cursor = frz_cursor(solution, 1);
	frz_time time = frz_time_of(&cursor, stamp);
	double x = baseline_ticks(b, stamp);
	struct height lo = height(&b->program, x, LP_LEAST, exactly);
	struct height hi = height(&b->program, x + 1, LP_GREATEST, exactly);

	assert_rounded_outward(lo.at, (double)(time.lo - (int64_t)b->origin.time),
			       tolerance + lo.error);
	assert_rounded_outward(-hi.at, -(double)(time.hi - (int64_t)b->origin.time),
			       tolerance + hi.error);
	seen.stamps++;
}

static void compare_with_program(const struct frz_link *links, size_t n)
{
	static const int expected[] = { [FRZ_PROVEN] = 0, [FRZ_UNLINKED] = -ENODATA,
					[FRZ_CONTRADICTION] = -EDOM, [FRZ_CONSISTENT] = -EDOM };
	struct baseline_evidence e = evidence(links, n);
	struct frz_solution *solution;
	struct baseline_points p;
	struct baseline b;

	ck_assert_int_eq(frz_solve(&solution, 2, 0, links, n, affine), 0);
	ck_assert_int_eq(baseline_points(&p, &b.origin, &e), 0);
	/* All links are rows, not the hulls' corners only: no code is common to both sides. */
	int error = lp_open(&b.program, p.under, p.nunder, p.over, p.nover);
	enum frz_status status = frz_clock(solution, 1)->status;

	ck_assert_msg(error == expected[status], "SEED=%llu: set %llu: status %d, program %d",
		      (unsigned long long)seed, (unsigned long long)seen.sets, (int)status, error);
	for (int i = 0; !error && i < 20; i++)
		compare_bounds(solution, &b, near_stamp(links, n), 0, true);
	if (!error)
		lp_close(&b.program);
	*(status == FRZ_PROVEN ? &seen.proven : error == -EDOM ? &seen.empty : &seen.open) += 1;
	seen.sets++;
	baseline_points_free(&p);
	frz_solution_free(solution);
}

START_TEST(a_linear_program_finds_the_same_bounds)
{
	uint64_t sets = unit_times(1000);
	struct frz_link links[MAX_LINKS];

	for (uint64_t i = 0; i < sets; i++)
		compare_with_program(links, draw_links(links));
	printf("SEED=%llu: %llu sets: %llu proven, %llu open, %llu empty; %llu stamps; "
	       "worst %.3g of what is tolerated\n",
	       (unsigned long long)seed, (unsigned long long)seen.sets,
	       (unsigned long long)seen.proven, (unsigned long long)seen.open,
	       (unsigned long long)seen.empty, (unsigned long long)seen.stamps, seen.worst);
	ck_assert(seen.proven >= sets / 5 && seen.empty >= sets / 20);
}
END_TEST

/* The program as it is used, in doubles, on packets as they are. */
START_TEST(the_method_is_as_good_as_its_tolerance)
{
	struct frz_link links[MAX_LINKS];

	for (int round = 0; round < 100; round++) {
		struct baseline_truth t = draw_truth();
		size_t n = draw_exchanges(&t, links, ((wide)1 << (30 + below(10))) * FINE);
		struct baseline_evidence e = evidence(links, n);
		struct frz_solution *solution;
		struct baseline b;

		ck_assert_int_eq(frz_solve(&solution, 2, 0, links, n, affine), 0);
		ck_assert_int_eq(baseline_fit(&b, &baseline_lp, &e), 0);
		for (int i = 0; i < 20; i++)
			compare_bounds(solution, &b, near_stamp(links, n), 0.5, false);
		baseline_release(&b);
		frz_solution_free(solution);
	}
}
END_TEST

/* ---- True where they claim to be --------------------------------------------------------------*/

START_TEST(the_hulls_line_passes_between_all_links)
{
	struct frz_link links[MAX_LINKS];

	for (int round = 0; round < 300; round++) {
		struct baseline_truth t = draw_truth();
		size_t n = draw_exchanges(&t, links, (wide)(100000 + any_size(44)) * FINE);
		struct baseline_evidence e = evidence(links, n);
		struct baseline b;

		ck_assert_int_eq(baseline_fit(&b, &baseline_convex_hull, &e), 0);
		for (const struct frz_link *l = links; l < links + n; l++) {
			bool goes = l->from == 0;
			double x = baseline_ticks(&b, goes ? l->received + 1 : l->sent);
			double y = (double)(int64_t)((goes ? l->sent : l->received + 1) -
						     b.origin.time);
			double above = b.line.at + b.line.slope * x - y;

			ck_assert_msg((goes ? above : -above) >= -0.01,
				      "SEED=%llu: the line is %f above", (unsigned long long)seed,
				      above);
		}
	}
}
END_TEST

/* Ticks of the base that travel must take for FreeZer's formula: one of the base, and one of the
 * clock. */
static wide least_flight(const struct baseline_truth *t)
{
	return (1 + t->den / t->num + 1) * FINE;
}

/* Two exchanges of one start and end of the run; whoever asks. */
static void draw_ends(const struct baseline_truth *t, struct frz_link links[4], wide run)
{
	wide least = least_flight(t);

	for (int end = 0; end < 2; end++)
		exchange(t, links + 2 * end, below(2), end * run, least + (wide)any_size(28),
			 (wide)any_size(24), least + (wide)any_size(28));
}

/* Base ticks beyond the origin. */
static double instant_of(const struct baseline_truth *t, const struct baseline *b, wide instant)
{
	return (double)(int64_t)(t->begin - b->origin.time) + (double)instant / FINE;
}

/* The solver knows that a stamp is a whole tick, and rounds to whole ticks; the formula does neither.
 * Up to the run's length behind the run this matters four times. */
static void compare_formula(const struct baseline_truth *t, const struct baseline *b,
			    struct frz_cursor *optimum, wide instant)
{
	uint64_t stamp = clock_shows(t, instant);
	frz_time best = frz_time_of(optimum, stamp);
	struct baseline_time time = convert(b, stamp);
	double is = instant_of(t, b, instant), ticks = 2 + 4 * (1 + rate_of(t));

	ck_assert_msg(time.lo <= is && is <= time.hi, "SEED=%llu: %f is not in [%f,%f]",
		      (unsigned long long)seed, is, time.lo, time.hi);
	ck_assert_msg(time.lo <= (double)(best.lo - (int64_t)b->origin.time) + ticks &&
			      time.hi >= (double)(best.hi - (int64_t)b->origin.time) - ticks,
		      "SEED=%llu: [%f,%f] is tighter than the optimum", (unsigned long long)seed,
		      time.lo, time.hi);
}

START_TEST(freezers_formula_is_true_from_its_zero_on)
{
	struct frz_link links[4];

	for (int round = 0; round < 1000; round++) {
		struct baseline_truth t = draw_truth();
		wide run = ((wide)1 << (24 + below(20))) * FINE;
		struct frz_solution *solution;
		struct baseline b;

		draw_ends(&t, links, run);
		struct baseline_evidence e = evidence(links, 4);

		ck_assert_int_eq(frz_solve(&solution, 2, 0, links, 4, affine), 0);
		ck_assert_int_eq(baseline_fit(&b, &baseline_freezer, &e), 0);
		struct frz_cursor cursor = frz_cursor(solution, 1);
		wide zero = (wide)1 << 31; /* behind the first exchange */

		for (int i = 0; i < 100; i++)
			compare_formula(&t, &b, &cursor, zero + (wide)draw() % (2 * run));
		baseline_release(&b);
		frz_solution_free(solution);
	}
}
END_TEST

/* Packets of no time there and 100 ticks back, at the start and at the end of 1000 ticks. Equal
 * clocks, but the rate may be 0.9 (900 / 1000) to 1.1. */
START_TEST(freezers_formula_is_as_printed)
{
	static const struct frz_link base_asks[] = {
		{ 0, 1, 1000, 51000 }, { 1, 0, 51000, 1100 },
		{ 0, 1, 2000, 52000 }, { 1, 0, 52000, 2100 },
	};
	static const struct frz_link clock_asks[] = {
		{ 1, 0, 51000, 1100 }, { 0, 1, 1100, 51100 },
		{ 1, 0, 52000, 2100 }, { 0, 1, 2100, 52100 },
	};
	struct baseline_evidence e = evidence(base_asks, 4), f = evidence(clock_asks, 4);
	struct baseline b;

	ck_assert_int_eq(baseline_fit(&b, &baseline_freezer, &e), 0);
	ck_assert_double_eq((double)b.origin.time + convert(&b, 51000).lo, 1000);
	ck_assert_double_eq((double)b.origin.time + convert(&b, 51000).hi, 1100);
	ck_assert_double_eq((double)b.origin.time + convert(&b, 52000).lo, 1900);
	ck_assert_double_eq((double)b.origin.time + convert(&b, 52000).hi, 2200);
	ck_assert_double_eq((double)b.origin.time + convert(&b, 51015).lo, 1013); /* 1013.5 */
	ck_assert_double_eq((double)b.origin.time + convert(&b, 51015).hi, 1117); /* 1116.5 */

	/* Two stamps of the clock around one of the base: 1000 for 1100 to 900 of the clock's. */
	ck_assert_int_eq(baseline_fit(&b, &baseline_freezer, &f), 0);
	ck_assert_double_eq((double)b.origin.time + convert(&b, 51100).lo, 1100);
	ck_assert_double_eq((double)b.origin.time + convert(&b, 51000).hi, 1100);
	ck_assert_double_eq((double)b.origin.time + convert(&b, 52200).lo, 2100);
	ck_assert_double_eq((double)b.origin.time + convert(&b, 51900).hi, 2100);
}
END_TEST

/* As printed, the formula takes the lower rate for the lower bound also where that makes it later. */
START_TEST(freezers_formula_need_not_hold_before_its_zero)
{
	static const struct frz_link links[] = {
		{ 0, 1, 10000, 60001 }, { 1, 0, 60001, 10100 },
		{ 0, 1, 11000, 61001 }, { 1, 0, 61001, 11100 },
	}; /* the clock is 50000 ahead */
	struct baseline_evidence e = evidence(links, 4);
	struct baseline b;

	ck_assert_int_eq(baseline_fit(&b, &baseline_freezer, &e), 0);
	struct baseline_time near = convert(&b, 59800), far = convert(&b, 58000);

	ck_assert_double_gt((double)b.origin.time + near.lo, 9800 + 1);
	ck_assert_double_lt(near.lo, near.hi);
	ck_assert_double_gt((double)b.origin.time + far.lo, 8000 + 1);
	ck_assert_double_gt(far.lo, far.hi);
}
END_TEST

/* ---- Too little, and too much -----------------------------------------------------------------*/

static int result_of(const struct baseline_method *m, const struct frz_link *links, size_t n)
{
	struct baseline_evidence e = evidence(links, n);
	struct baseline b;
	int error = baseline_fit(&b, m, &e);

	if (!error)
		baseline_release(&b);
	return error;
}

START_TEST(what_cannot_be_fitted_is_said)
{
	static const struct frz_link one_way[] = { { 0, 1, 10, 500 }, { 0, 1, 20, 510 } };
	static const struct frz_link once[] = { { 1, 0, 500, 10 }, { 0, 1, 30, 510 } };
	static const struct frz_link others[] = { { 0, 2, 10, 500 }, { 2, 0, 510, 30 } };
	static const struct frz_link contradiction[] = {
		{ 0, 1, 100, 500 }, { 1, 0, 510, 60 }, { 0, 1, 1000, 1500 }, { 1, 0, 1510, 960 },
	};

	for (const struct baseline_method *const *m = baseline_methods; *m; m++) {
		ck_assert_int_eq(result_of(*m, NULL, 0), -ENODATA);
		ck_assert_int_eq(result_of(*m, one_way, 2), -ENODATA);
		ck_assert_int_eq(result_of(*m, once, 2), -ENODATA);
		ck_assert_int_eq(result_of(*m, others, 2), -ENODATA);
		int error = result_of(*m, contradiction, 4);

		/* Only what reasons with bounds can see it; and barriers are no packets. */
		ck_assert_int_eq(error, *m == &baseline_barriers ? -ENODATA :
					*m == &baseline_regression || *m == &baseline_middles ? 0 : -EDOM);
	}
}
END_TEST

static void setup(void)
{
	random_begin(unit_seed);
}

int main(void)
{
	TCase *tests = unit_begin(0, UNIT_ANEW);

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, equal_delays_leave_only_rounding);
	tcase_add_test(tests, barriers_are_taken_at_their_word);
	tcase_add_test(tests, a_linear_program_finds_the_same_bounds);
	tcase_add_test(tests, the_method_is_as_good_as_its_tolerance);
	tcase_add_test(tests, the_hulls_line_passes_between_all_links);
	tcase_add_test(tests, freezers_formula_is_true_from_its_zero_on);
	tcase_add_test(tests, freezers_formula_is_as_printed);
	tcase_add_test(tests, freezers_formula_need_not_hold_before_its_zero);
	tcase_add_test(tests, what_cannot_be_fitted_is_said);
	return unit_end();
}
