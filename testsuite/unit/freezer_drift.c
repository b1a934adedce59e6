/* SPDX-License-Identifier: MIT
 *
 * freezer_drift.c - clocks that wander: against a slow twin and against the truth.
 *
 * The twin computes rounds of mean rate and cones as drift.h says, in rationals and over all points
 * and all pairs. The truth is a clock whose rate changes at random, as far as the assumption
 * allows.
 *
 * FREEZER_SEED repeats a run; FREEZER_SETS and FREEZER_CONVERSIONS make it longer. */
#include <check.h>
#include <errno.h>
#include <gmp.h>
#include <stdbool.h>
#include <stdlib.h>

#include "freezer/solve.h"
#include "testsuite/unit/freezer_random.h"

typedef __int128 wide;

#define MAX_LINKS 40
#define ROUNDS    12

/* ---- The twin ---------------------------------------------------------------------------------*/

struct twin {
	struct { int64_t x, y; } under[MAX_LINKS], over[MAX_LINKS];
	size_t nunder, nover;
	enum frz_status status;
	mpq_t mean[2], rate[2]; /* lo, hi */
	mpq_t factor[2];        /* 1 - ppb, 1 + ppb */
};

/* best = the lesser (want < 0) or greater (want > 0) of best and q */
static void keep(mpq_t best, mpq_t q, int want, bool first)
{
	if (first || mpq_cmp(q, best) * want > 0)
		mpq_set(best, q);
}

static void set_int(mpq_t q, int64_t n)
{
	mpq_set_si(q, n, 1);
}

/* U (end 1) or L (end 0) at x: the extreme of all cones. */
static void twin_bound(mpq_t best, const struct twin *t, int64_t x, int end)
{
	size_t n = end ? t->nover : t->nunder;
	mpq_t q, term;

	mpq_inits(q, term, NULL);
	for (size_t i = 0; i < n; i++) {
		int64_t px = end ? t->over[i].x : t->under[i].x,
			py = end ? t->over[i].y : t->under[i].y;

		set_int(term, x - px);
		mpq_mul(term, term, t->rate[x >= px ? end : !end]);
		set_int(q, py);
		mpq_add(q, q, term);
		keep(best, q, end ? -1 : 1, i == 0);
	}
	mpq_clears(q, term, NULL);
}

static void twin_rates(struct twin *t)
{
	for (int end = 0; end < 2; end++)
		mpq_mul(t->rate[end], t->mean[end], t->factor[end]);
}

/* No pair of points may be too steep or too flat. */
static bool twin_consistent(const struct twin *t)
{
	bool fits = true;
	mpq_t least, greatest;

	mpq_inits(least, greatest, NULL);
	for (size_t i = 0; i < t->nover; i++) {
		twin_bound(least, t, t->over[i].x, 0);
		set_int(greatest, t->over[i].y);
		fits &= mpq_cmp(least, greatest) <= 0;
	}
	mpq_clears(least, greatest, NULL);
	return fits;
}

static void twin_mean(struct twin *t, int64_t first, int64_t last)
{
	mpq_t a, b;

	mpq_inits(a, b, NULL);
	for (int end = 0; end < 2; end++) {
		twin_bound(a, t, last, end);
		twin_bound(b, t, first, !end);
		mpq_sub(a, a, b);
		set_int(b, last - first);
		mpq_div(a, a, b);
		keep(t->mean[end], a, end ? -1 : 1, false);
	}
	mpq_clears(a, b, NULL);
}

/* The outermost points: leftmost (sign -1) or rightmost, of these the lowest or highest as sorting
 * has it. */
#define OUTERMOST(points, n, i, sign)                                                              \
	for (size_t k = 0; k < (n); k++)                                                           \
		if (((points)[k].x - (points)[i].x) * (sign) > 0 ||                                \
		    ((points)[k].x == (points)[i].x &&                                             \
		     ((points)[k].y - (points)[i].y) * (sign) > 0))                                \
			(i) = k

static void twin_begin(struct twin *t)
{
	size_t ul = 0, ur = 0, ol = 0, or = 0;
	mpq_t run;

	OUTERMOST(t->under, t->nunder, ul, -1);
	OUTERMOST(t->under, t->nunder, ur, 1);
	OUTERMOST(t->over, t->nover, ol, -1);
	OUTERMOST(t->over, t->nover, or, 1);
	t->status = FRZ_PROVEN;
	if (t->over[or].x <= t->under[ul].x)
		t->status = FRZ_UNLINKED;
	else if (t->over[or].y < t->under[ul].y)
		t->status = FRZ_CONTRADICTION;
	if (t->status != FRZ_PROVEN)
		return;
	mpq_init(run);
	set_int(t->mean[1], t->over[or].y - t->under[ul].y);
	set_int(run, t->over[or].x - t->under[ul].x);
	mpq_div(t->mean[1], t->mean[1], run);
	mpq_div(t->mean[1], t->mean[1], t->factor[0]);
	if (t->under[ur].x > t->over[ol].x && t->under[ur].y > t->over[ol].y) {
		set_int(t->mean[0], t->under[ur].y - t->over[ol].y);
		set_int(run, t->under[ur].x - t->over[ol].x);
		mpq_div(t->mean[0], t->mean[0], run);
		mpq_div(t->mean[0], t->mean[0], t->factor[1]);
	}
	mpq_clear(run);
}

static struct twin twin_of(const struct frz_link *links, size_t n, uint32_t ppb)
{
	struct twin t = { .status = FRZ_UNLINKED };
	int64_t first = INT64_MAX, last = INT64_MIN;

	for (int end = 0; end < 2; end++) {
		mpq_inits(t.mean[end], t.rate[end], t.factor[end], NULL);
		mpq_set_ui(t.factor[end],
			   end ? 1000000000 + (unsigned long)ppb : 1000000000 - (unsigned long)ppb,
			   1000000000);
		mpq_canonicalize(t.factor[end]);
	}
	for (size_t i = 0; i < n; i++) {
		bool there = links[i].from == 0;
		int64_t x = (int64_t)(there ? links[i].received + 1 : links[i].sent);
		int64_t y = (int64_t)(there ? links[i].sent : links[i].received + 1);

		if (there)
			t.under[t.nunder].x = x, t.under[t.nunder++].y = y;
		else
			t.over[t.nover].x = x, t.over[t.nover++].y = y;
		first = x < first ? x : first;
		last = x > last ? x : last;
	}
	if (!t.nunder || !t.nover)
		return t;
	twin_begin(&t);
	for (int round = 0; round < ROUNDS && t.status == FRZ_PROVEN; round++) {
		twin_rates(&t);
		if (!twin_consistent(&t))
			t.status = FRZ_CONTRADICTION;
		else
			twin_mean(&t, first, last);
		if (mpq_cmp(t.mean[0], t.mean[1]) > 0)
			t.status = FRZ_CONTRADICTION;
	}
	return t;
}

static void twin_free(struct twin *t)
{
	for (int end = 0; end < 2; end++)
		mpq_clears(t->mean[end], t->rate[end], t->factor[end], NULL);
}

static frz_time twin_time(const struct twin *t, uint64_t stamp)
{
	frz_time time;
	mpq_t q;
	mpz_t z;

	mpq_init(q);
	mpz_init(z);
	twin_bound(q, t, (int64_t)stamp, 0);
	mpz_fdiv_q(z, mpq_numref(q), mpq_denref(q));
	time.lo = mpz_get_si(z);
	twin_bound(q, t, (int64_t)stamp + 1, 1);
	mpz_cdiv_q(z, mpq_numref(q), mpq_denref(q));
	time.hi = mpz_get_si(z);
	mpz_clear(z);
	mpq_clear(q);
	return time;
}

/* ---- A clock that wanders ---------------------------------------------------------------------*/

#define FINE   256 /* parts of a base tick */
#define KNOTS  24

/* In fine parts: at time[k] the counter stood at count[k] exactly, and between knots it runs
 * evenly. */
struct wander { wide time[KNOTS], count[KNOTS]; };

static struct wander draw_wander(unsigned run_bits, uint32_t ppb)
{
	struct wander w = { .time = { 0 }, .count = { (wide)any_size(50) * FINE } };
	wide step = ((wide)1 << run_bits) * FINE / KNOTS + 1;
	wide rate = (wide)(100 + below(9900)); /* in thousandths */

	for (int k = 1; k < KNOTS; k++) {
		wide part = step / 2 + (wide)(draw() % (uint64_t)step);
		wide billionths = 1000000000 + (wide)below(ppb + 1) - ppb / 2;

		w.time[k] = w.time[k - 1] + part;
		w.count[k] = w.count[k - 1] + part * rate / 1000 * billionths / 1000000000 + 1;
	}
	return w;
}

static uint64_t stamp_at(const struct wander *w, wide time)
{
	int k = 0;

	while (k < KNOTS - 2 && time >= w->time[k + 1])
		k++;
	return (uint64_t)((w->count[k] + (time - w->time[k]) * (w->count[k + 1] - w->count[k]) /
					 (w->time[k + 1] - w->time[k])) / FINE);
}

/* Time at which the counter stands at `stamp` exactly, as numerator / denominator in fine parts. */
static void time_of(mpq_t q, const struct wander *w, int64_t stamp)
{
	wide count = (wide)stamp * FINE;
	int k = 0;
	mpq_t slope;

	while (k < KNOTS - 2 && count >= w->count[k + 1])
		k++;
	mpq_init(slope);
	mpq_set_si(slope, (long)(w->time[k + 1] - w->time[k]),
		   (unsigned long)(w->count[k + 1] - w->count[k]));
	mpq_canonicalize(slope);
	set_int(q, (int64_t)(count - w->count[k]));
	mpq_mul(q, q, slope);
	set_int(slope, (int64_t)w->time[k]);
	mpq_add(q, q, slope);
	mpq_clear(slope);
}

/* The least assumption under which this clock is what it is, between the stamps first and last. */
static uint32_t needed_ppb(const struct wander *w, int64_t first, int64_t last)
{
	double worst = 0;
	mpq_t mean, term;

	mpq_inits(mean, term, NULL);
	time_of(mean, w, last);
	time_of(term, w, first);
	mpq_sub(mean, mean, term);
	set_int(term, last - first);
	mpq_div(mean, mean, term);
	for (int k = 0; k + 1 < KNOTS; k++) {
		mpq_set_si(term, (long)(w->time[k + 1] - w->time[k]),
			   (unsigned long)(w->count[k + 1] - w->count[k]));
		/* as the mean: fine parts a tick */
		mpz_mul_ui(mpq_numref(term), mpq_numref(term), FINE);
		mpq_canonicalize(term);
		mpq_div(term, term, mean);
		double off = mpq_get_d(term) - 1;

		worst = off > worst ? off : -off > worst ? -off : worst;
	}
	mpq_clears(mean, term, NULL);
	return (uint32_t)(worst * 1e9) + 2;
}

static size_t draw_links(const struct wander *w, struct frz_link *links, size_t n,
			 unsigned flight_bits)
{
	wide end = w->time[KNOTS - 1];

	for (size_t i = 0; i < n; i++) {
		wide sent = (wide)(draw() % (uint64_t)end),
		     arrived = sent + (wide)any_size(flight_bits + 8);

		links[i] = below(2) ? (struct frz_link){ 0, 1, (uint64_t)(sent / FINE),
							 stamp_at(w, arrived) }
				    : (struct frz_link){ 1, 0, stamp_at(w, sent),
							 (uint64_t)(arrived / FINE) };
	}
	return n;
}

static uint32_t needed_for(const struct wander *w, const struct frz_link *links, size_t n)
{
	int64_t first = INT64_MAX, last = INT64_MIN;

	for (size_t i = 0; i < n; i++) {
		int64_t x = (int64_t)(links[i].from ? links[i].sent : links[i].received + 1);

		first = x < first ? x : first;
		last = x > last ? x : last;
	}
	return first < last ? needed_ppb(w, first, last) : 0;
}

/* ---- Claims -----------------------------------------------------------------------------------*/

static struct frz_solution *solve(const struct frz_link *links, size_t n, uint32_t ppb)
{
	struct frz_solution *solution;

	ck_assert_int_eq(frz_solve(&solution, 2, 0, links, n,
				   (struct frz_assumption){ .model = FRZ_DRIFT, .ppb = ppb }), 0);
	return solution;
}

static void compare_bounds(const struct twin *t, const struct frz_solution *solution,
			   const struct frz_link *links, size_t n)
{
	struct frz_cursor cursor = frz_cursor(solution, 1);
	struct frz_rate rate = frz_clock(solution, 1)->rate;

	ck_assert(rate.lo <= mpq_get_d(t->mean[0]) && rate.hi >= mpq_get_d(t->mean[1]));
	ck_assert_msg(rate.lo >= mpq_get_d(t->mean[0]) * (1 - 1e-13) &&
			      rate.hi <= mpq_get_d(t->mean[1]) * (1 + 1e-13),
		      "seed %llu: rate", (unsigned long long)seed);
	for (int i = 0; i < 60; i++) {
		const struct frz_link *a = &links[below(n)], *b = &links[below(n)];
		uint64_t x = a->from ? a->sent : a->received, y = b->from ? b->sent : b->received;
		uint64_t s = i & 1 ? x + below(5) : x < y ? x + below(y - x) : y + below(x - y + 1);
		frz_time optimum = twin_time(t, s), time = frz_time_of(&cursor, s);

		ck_assert_msg(time.lo <= optimum.lo && time.hi >= optimum.hi &&
			      optimum.lo - time.lo <= 1 && time.hi - optimum.hi <= 1,
			      "seed %llu: stamp %llu: [%lld,%lld] should be [%lld,%lld]",
			      (unsigned long long)seed, (unsigned long long)s, (long long)time.lo,
			      (long long)time.hi, (long long)optimum.lo, (long long)optimum.hi);
	}
}

START_TEST(bounds_are_the_twins)
{
	uint64_t sets = number_from("FREEZER_SETS", 1000), proven = 0, refused = 0;
	struct frz_link links[MAX_LINKS];

	for (uint64_t i = 0; i < sets; i++) {
		uint32_t wandered = (uint32_t)any_size(17);
		struct wander w = draw_wander(8 + (unsigned)below(34), wandered);
		size_t n = draw_links(&w, links, 1 + below(MAX_LINKS), (unsigned)below(16));
		uint32_t ppb = below(2) ? needed_for(&w, links, n) : (uint32_t)any_size(17);
		struct twin t = twin_of(links, n, ppb), lenient = twin_of(links, n, ppb + 2);
		struct frz_solution *solution = solve(links, n, ppb);
		enum frz_status status = frz_clock(solution, 1)->status;

		/* Rates are rounded outward, so that a hair's breadth may decide otherwise. */
		ck_assert_msg(status == t.status || status == lenient.status,
			      "seed %llu: status %d, twin %d, set %llu", (unsigned long long)seed,
			      (int)status, (int)t.status, (unsigned long long)i);
		if (status == FRZ_PROVEN && t.status == FRZ_PROVEN)
			compare_bounds(&t, solution, links, n);
		if (status == FRZ_CONTRADICTION) {
			const size_t *fault = frz_clock(solution, 1)->fault;

			ck_assert_uint_eq(frz_clock(solution, 1)->nfaults, 2);
			ck_assert(fault[0] < n && fault[1] < n &&
				  links[fault[0]].from != links[fault[1]].from);
		}
		proven += status == FRZ_PROVEN;
		refused += status == FRZ_CONTRADICTION;
		frz_solution_free(solution);
		twin_free(&t);
		twin_free(&lenient);
	}
	ck_assert_msg(proven > sets / 3 && refused > sets / 50,
		      "seed %llu: %llu proven, %llu refused of %llu", (unsigned long long)seed,
		      (unsigned long long)proven, (unsigned long long)refused,
		      (unsigned long long)sets);
}
END_TEST

START_TEST(the_truth_is_inside)
{
	uint64_t conversions = number_from("FREEZER_CONVERSIONS", 1000000), clocks = 200;
	struct frz_link links[400];

	for (uint64_t i = 0; i < clocks; i++) {
		struct wander w = draw_wander(10 + (unsigned)below(34), (uint32_t)any_size(17));
		size_t n = draw_links(&w, links, 2 + below(398), (unsigned)below(16));
		struct frz_solution *solution = solve(links, n, needed_for(&w, links, n));
		enum frz_status status = frz_clock(solution, 1)->status;

		ck_assert_msg(status != FRZ_CONTRADICTION, "seed %llu", (unsigned long long)seed);
		if (status != FRZ_PROVEN) {
			frz_solution_free(solution);
			continue;
		}
		struct frz_cursor cursor = frz_cursor(solution, 1);
		uint64_t end = (uint64_t)w.time[KNOTS - 1];

		for (uint64_t k = 0; k < conversions / clocks; k++) {
			wide instant = (wide)(draw() % end),
			     later = instant + (wide)(draw() % (end - (uint64_t)instant));
			uint64_t s = stamp_at(&w, instant), s2 = stamp_at(&w, later);
			frz_time time = frz_time_of(&cursor, s),
				 took = frz_duration(solution, 1, s2 - s);

			ck_assert_msg(
				(wide)time.lo * FINE <= instant && instant <= (wide)time.hi * FINE,
				"seed %llu: clock %llu: stamp %llu: time", (unsigned long long)seed,
				(unsigned long long)i, (unsigned long long)s);
			ck_assert_msg((wide)took.lo * FINE <= later - instant &&
					      later - instant <= (wide)took.hi * FINE,
				      "seed %llu: duration", (unsigned long long)seed);
		}
		frz_solution_free(solution);
	}
}
END_TEST

/* Every line that obeys all links is also a clock that wanders by at most any ppb. */
START_TEST(drift_allows_what_affine_allows)
{
	for (int round = 0; round < 200; round++) {
		struct frz_link links[200];
		struct wander w = draw_wander(30, 0);
		size_t n = draw_links(&w, links, 200, 10);
		struct frz_solution *drift = solve(links, n, (uint32_t)any_size(15)), *affine;

		ck_assert_int_eq(frz_solve(&affine, 2, 0, links, n,
					   (struct frz_assumption){ .model = FRZ_AFFINE }),
				 0);
		if (frz_clock(affine, 1)->status == FRZ_PROVEN) {
			struct frz_cursor a = frz_cursor(affine, 1), d = frz_cursor(drift, 1);

			ck_assert_int_eq(frz_clock(drift, 1)->status, FRZ_PROVEN);
			for (int k = 0; k < 200; k++) {
				uint64_t s = stamp_at(&w,
						      (wide)(draw() % (uint64_t)w.time[KNOTS - 1]));
				frz_time inner = frz_time_of(&a, s), outer = frz_time_of(&d, s);

				ck_assert_msg(outer.lo <= inner.lo && inner.hi <= outer.hi,
					      "seed %llu", (unsigned long long)seed);
			}
		}
		frz_solution_free(drift);
		frz_solution_free(affine);
	}
}
END_TEST

START_TEST(absurd_drift_is_refused)
{
	struct frz_solution *solution;

	ck_assert_int_eq(
		frz_solve(&solution, 1, 0, NULL, 0,
			  (struct frz_assumption){ .model = FRZ_DRIFT, .ppb = 1000000000 }),
		-EINVAL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("freezer/drift");
	TCase *tests = tcase_create("drift");
	SRunner *runner = srunner_create(suite);

	tcase_add_checked_fixture(tests, random_begin, NULL);
	tcase_set_timeout(tests, 0);
	tcase_add_test(tests, bounds_are_the_twins);
	tcase_add_test(tests, the_truth_is_inside);
	tcase_add_test(tests, drift_allows_what_affine_allows);
	tcase_add_test(tests, absurd_drift_is_refused);
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
