/* SPDX-License-Identifier: MIT
 *
 * freezer_solve.c - the solver against a slow twin and against the truth.
 *
 * The twin (freezer_twin.h) enumerates the corners of the polygon in rationals. The truth is a clock
 * of which everything is known, of one rate or of many; that bounds of wandering clocks are the
 * tightest is freezer_wander.c's claim. */
#include <errno.h>
#include <gmp.h>
#include <stdbool.h>

#include "freezer/solve.h"
#include "testsuite/truth/clockmap.h"
#include "testsuite/unit/freezer_random.h"
#include "testsuite/unit/freezer_twin.h"
#include "testsuite/unit/unit.h"

static const struct frz_assumption affine = { .model = FRZ_AFFINE };

/* ---- A clock of which everything is known -----------------------------------------------------*/

#define FINE 65536 /* parts of a base tick in which true instants are given */

/* Of clock 1: counter = (instant / FINE) * num / den + offset. */
struct solve_truth { wide num, den, offset; };

static wide floor_div(wide a, wide b)
{
	return a / b - (a % b < 0);
}

static uint64_t stamp_at(const struct solve_truth *t, wide instant)
{
	return (uint64_t)(floor_div(instant * t->num, t->den * FINE) + t->offset);
}

static struct solve_truth draw_truth(void)
{
	struct solve_truth t = { .den = 1 + (wide)any_size(20) };

	t.num = 1 + (t.den * (wide)(100 + below(9900)) / 1000);
	if (t.num > 10 * t.den)
		t.num = 10 * t.den;
	t.offset = (wide)any_size(60);
	return t;
}

/* A link that is true: from base to clock 1 or back, `flight` later. */
static struct frz_link true_link(const struct solve_truth *t, bool there, wide sent, wide flight)
{
	return there ? (struct frz_link){ 0, 1, (uint64_t)(sent / FINE),
					  stamp_at(t, sent + flight) }
		     : (struct frz_link){ 1, 0, stamp_at(t, sent),
					  (uint64_t)((sent + flight) / FINE) };
}

static size_t draw_true_links(const struct solve_truth *t, struct frz_link *links, size_t n,
			      unsigned run_bits, unsigned flight_bits)
{
	wide run = (wide)1 << run_bits, begin = (wide)any_size(59) * FINE;

	for (size_t i = 0; i < n; i++)
		links[i] = true_link(t, below(2),
				     begin + (wide)draw() % run * FINE + (wide)below(FINE),
				     (wide)any_size(flight_bits + 16));
	return n;
}

/* Links of any kind: mostly contradictory, often with equal stamps. */
static size_t draw_any_links(struct frz_link *links, size_t n)
{
	uint64_t span = 1 + any_size(63);

	for (size_t i = 0; i < n; i++) {
		bool there = below(2);

		links[i] = (struct frz_link){ !there, there, below(span), below(span) };
	}
	return n;
}

/* Around a rising line, so that about half of the sets have a solution with few lines. */
static size_t draw_close_links(struct frz_link *links, size_t n)
{
	uint64_t span = 2 + any_size(10), slack = any_size(4);

	for (size_t i = 0; i < n; i++) {
		bool there = below(2);
		uint64_t x = below(span) + 40, y = x + below(3);

		links[i] = there ? (struct frz_link){ 0, 1, y - slack, x }
				 : (struct frz_link){ 1, 0, x, y + slack };
	}
	return n;
}

/* ---- Claims -----------------------------------------------------------------------------------*/

/* Of no lines; whether a drift reconciles the links is not asked here. */
static bool refused(enum frz_status status)
{
	return status == FRZ_CONTRADICTION || status == FRZ_CONSISTENT;
}

static bool twin_agrees(const struct solver_twin *t, enum frz_status status)
{
	return !t->ncorners ? refused(status)
			    : status == (t->open ? FRZ_UNLINKED : FRZ_PROVEN);
}

static uint64_t interesting_stamp(const struct frz_link *links, size_t n)
{
	const struct frz_link *l = &links[below(n)], *m = &links[below(n)];
	uint64_t x = l->from ? l->sent : l->received, y = m->from ? m->sent : m->received;

	switch (below(4)) {
	case 0: return x + below(5) - 2;
	case 1: return x < y ? x + below(y - x) : y + (x > y ? below(x - y) : 0);
	case 2: return x + any_size(55) - any_size(55);
	default: return draw() >> below(64);
	}
}

static void assert_rate_is_tight(const struct solver_twin *t, struct frz_rate rate)
{
	mpq_t q, least, greatest;

	mpq_inits(q, least, greatest, NULL);
	for (size_t i = 0; i < t->ncorners; i++) {
		if (!i || mpq_cmp(t->corners[i][0], least) < 0)
			mpq_set(least, t->corners[i][0]);
		if (!i || mpq_cmp(t->corners[i][0], greatest) > 0)
			mpq_set(greatest, t->corners[i][0]);
	}
	mpq_set_d(q, rate.lo);
	ck_assert_msg(mpq_cmp(q, least) <= 0, "rate.lo");
	mpq_set_d(q, rate.hi);
	ck_assert_msg(mpq_cmp(q, greatest) >= 0, "rate.hi");
	ck_assert(rate.lo >= mpq_get_d(least) * (1 - 1e-15));
	ck_assert(rate.hi <= mpq_get_d(greatest) * (1 + 1e-15));
	mpq_clears(q, least, greatest, NULL);
}

static uint64_t whole, compared; /* bounds that are the optimum rounded, of how many */

static void assert_time_is_optimal(const struct solver_twin *t, struct frz_cursor *cursor, uint64_t stamp)
{
	frz_time optimum = twin_time(t, stamp), time = frz_time_of(cursor, stamp);

	ck_assert_msg(time.lo <= optimum.lo && time.hi >= optimum.hi,
		      "SEED=%llu: stamp %llu: [%lld,%lld] should enclose [%lld,%lld]",
		      (unsigned long long)seed, (unsigned long long)stamp, (long long)time.lo,
		      (long long)time.hi, (long long)optimum.lo, (long long)optimum.hi);
	ck_assert_msg((wide)optimum.lo - time.lo <= 1 && (wide)time.hi - optimum.hi <= 1,
		      "SEED=%llu: stamp %llu: [%lld,%lld] is wider than [%lld,%lld]",
		      (unsigned long long)seed, (unsigned long long)stamp, (long long)time.lo,
		      (long long)time.hi, (long long)optimum.lo, (long long)optimum.hi);
	whole += (time.lo == optimum.lo) + (time.hi == optimum.hi);
	compared += 2;
}

static void compare_with_twin(const struct frz_link *links, size_t n)
{
	struct solver_twin t = twin_of(links, NULL, n);
	struct frz_solution *solution;

	ck_assert_int_eq(frz_solve(&solution, 2, 0, links, n, affine), 0);
	const struct frz_clock *clock = frz_clock(solution, 1);

	ck_assert_msg(twin_agrees(&t, clock->status), "SEED=%llu: status %d",
		      (unsigned long long)seed, (int)clock->status);
	ck_assert_uint_eq(clock->links, n);
	if (clock->status == FRZ_PROVEN) {
		struct frz_cursor cursor = frz_cursor(solution, 1);

		assert_rate_is_tight(&t, clock->rate);
		for (int i = 0; i < 40; i++)
			assert_time_is_optimal(&t, &cursor, interesting_stamp(links, n));
	} else if (refused(clock->status)) {
		struct solver_twin few = twin_of(links, clock->conflict, clock->nconflicts);

		ck_assert(2 <= clock->nconflicts && clock->nconflicts <= FRZ_MAX_CONFLICTS);
		ck_assert_msg(!few.ncorners,
			      "SEED=%llu: the %u conflicts agree", (unsigned long long)seed,
			      clock->nconflicts);
		twin_free(&few);
	}
	frz_solution_free(solution);
	twin_free(&t);
}

START_TEST(bounds_are_the_optimum)
{
	uint64_t sets = unit_times(1500);
	struct frz_link links[MAX_LINKS];

	for (uint64_t i = 0; i < sets; i++) {
		struct solve_truth truth = draw_truth();
		size_t n = 1 + below(below(4) ? 8 : MAX_LINKS);

		switch (below(4)) {
		case 0: draw_any_links(links, n); break;
		case 1: draw_close_links(links, n); break;
		default:
			draw_true_links(&truth, links, n, (unsigned)below(56), (unsigned)below(30));
			break;
		}
		compare_with_twin(links, n);
	}
	/* The exception is a bound that is a whole tick, or nearly. */
	ck_assert_msg(compared > 10000 && whole > compared / 10 * 9, "SEED=%llu: %llu of %llu",
		      (unsigned long long)seed, (unsigned long long)whole,
		      (unsigned long long)compared);
}
END_TEST

/* Durations by a speed are the same, whatever they are. */
static void check_speed(const struct frz_solution *solution, uint64_t ticks)
{
	struct frz_speed speed = frz_speed(solution, 1);
	const uint64_t some[] = { 0, 1, ticks, speed.most, speed.most + 1, UINT64_MAX };

	for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
		frz_time by_speed = frz_speed_duration(&speed, some[i]), took = frz_duration(solution, 1, some[i]);

		ck_assert_msg(by_speed.lo == took.lo && by_speed.hi == took.hi, "SEED=%llu: %llu ticks: speed",
			      (unsigned long long)seed, (unsigned long long)some[i]);
	}
}

/* Instants as they pass while the run lasts and somewhat before and after. */
START_TEST(the_truth_is_inside)
{
	uint64_t conversions = unit_times(2000000), clocks = 200;
	struct frz_link links[300];

	for (uint64_t i = 0; i < clocks; i++) {
		struct solve_truth t = draw_truth();
		unsigned run = 10 + (unsigned)below(46);
		size_t n = draw_true_links(&t, links, 2 + below(298), run, (unsigned)below(run));
		struct frz_solution *solution;

		ck_assert_int_eq(frz_solve(&solution, 2, 0, links, n, affine), 0);
		ck_assert_msg(!refused(frz_clock(solution, 1)->status), "SEED=%llu",
			      (unsigned long long)seed);
		struct frz_cursor cursor = frz_cursor(solution, 1);
		wide begin = (wide)links[0].sent;

		if (links[0].from == 1)
			begin = (wide)links[0].received;
		for (uint64_t k = 0;
		     frz_clock(solution, 1)->status == FRZ_PROVEN && k < conversions / clocks;
		     k++) {
			wide instant = (begin + (wide)any_size(run + 1) - (wide)any_size(run + 1)) *
					       FINE +
				       (wide)below(FINE);
			wide later = instant + (wide)any_size(run + 16);

			if (instant < 0)
				continue;
			uint64_t s = stamp_at(&t, instant), s2 = stamp_at(&t, later);
			frz_time time = frz_time_of(&cursor, s),
				 took = frz_duration(solution, 1, s2 - s);

			check_speed(solution, s2 - s);
			ck_assert_msg((wide)time.lo * FINE <= instant &&
					      instant <= (wide)time.hi * FINE,
				      "SEED=%llu: stamp %llu: time", (unsigned long long)seed,
				      (unsigned long long)s);
			ck_assert_msg((wide)took.lo * FINE <= later - instant &&
					      later - instant <= (wide)took.hi * FINE,
				      "SEED=%llu: %llu ticks: duration", (unsigned long long)seed,
				      (unsigned long long)(s2 - s));
		}
		frz_solution_free(solution);
	}
}
END_TEST

START_TEST(any_order_gives_the_same)
{
	enum { STAMPS = 2000 };
	struct frz_link links[2000];
	uint64_t stamps[STAMPS];
	frz_time swept[STAMPS];

	for (int round = 0; round < 20; round++) {
		struct solve_truth t = draw_truth();
		size_t n = draw_true_links(&t, links, 2000, 40, 12);
		struct frz_solution *solution;

		ck_assert_int_eq(frz_solve(&solution, 2, 0, links, n, affine), 0);
		ck_assert_int_eq(frz_clock(solution, 1)->status, FRZ_PROVEN);
		uint64_t first = stamp_at(&t, (wide)links[0].sent * FINE), step = 1 + any_size(30);
		struct frz_cursor sweep = frz_cursor(solution, 1), jump = sweep;

		if (links[0].from)
			first = links[0].sent;
		for (int i = 0; i < STAMPS; i++) {
			stamps[i] = first + (uint64_t)i * step - STAMPS / 2 * step;
			swept[i] = frz_time_of(&sweep, stamps[i]);
		}
		for (int k = 0; k < STAMPS; k++) {
			size_t i = below(STAMPS);
			struct frz_cursor fresh = frz_cursor(solution, 1);
			frz_time a = frz_time_of(&jump, stamps[i]),
				 b = frz_time_of(&fresh, stamps[i]);

			ck_assert(a.lo == swept[i].lo && a.hi == swept[i].hi);
			ck_assert(b.lo == swept[i].lo && b.hi == swept[i].hi);
		}
		frz_solution_free(solution);
	}
}
END_TEST

START_TEST(many_clocks_are_solved_each_by_itself)
{
	enum { CLOCKS = 7, EACH = 40 };
	struct frz_link links[CLOCKS * EACH], mine[EACH];
	struct frz_solution *all, *one;
	uint32_t base = (uint32_t)below(CLOCKS);

	for (uint32_t c = 0; c < CLOCKS; c++) {
		struct solve_truth t = draw_truth();

		draw_true_links(&t, mine, EACH, 40, 12);
		for (size_t i = 0; i < EACH; i++) {
			struct frz_link l = mine[i];

			l.from = l.from ? c : base;
			l.to = l.to ? c : base;
			links[i * CLOCKS + c] = l;
		}
	}
	ck_assert_int_eq(frz_solve(&all, CLOCKS, base, links, CLOCKS * EACH, affine), 0);
	for (uint32_t c = 0; c < CLOCKS; c++) {
		struct frz_cursor a = frz_cursor(all, c), b;

		ck_assert_int_eq(frz_clock(all, c)->status, FRZ_PROVEN);
		if (c == base) {
			ck_assert_uint_eq(frz_clock(all, c)->links, 0);
			for (uint64_t s = 0; s < UINT64_C(1) << 62; s = 3 * s + 1) {
				frz_time time = frz_time_of(&a, s), took = frz_duration(all, c, s);

				ck_assert(time.lo == (int64_t)s && time.hi == (int64_t)s + 1);
				ck_assert(took.lo == (int64_t)(s ? s - 1 : 0) &&
					  took.hi == (int64_t)s + 1);
			}
			continue;
		}
		for (size_t i = 0; i < EACH; i++) {
			mine[i] = links[i * CLOCKS + c];
			mine[i].from = mine[i].from == base ? 0 : 1;
			mine[i].to = mine[i].to == base ? 0 : 1;
		}
		ck_assert_int_eq(frz_solve(&one, 2, 0, mine, EACH, affine), 0);
		b = frz_cursor(one, 1);
		for (int k = 0; k < 100; k++) {
			uint64_t s = interesting_stamp(mine, EACH);
			frz_time x = frz_time_of(&a, s), y = frz_time_of(&b, s);

			ck_assert(x.lo == y.lo && x.hi == y.hi);
		}
		frz_solution_free(one);
	}
	frz_solution_free(all);
}
END_TEST

START_TEST(stamps_beyond_reason_are_exact_too)
{
	/* The whole range of stamps, so that products need more than 128 bits. */
	static const uint64_t ends[] = { 0, 1, UINT64_MAX / 2, UINT64_MAX - 1, UINT64_MAX };
	struct frz_link links[MAX_LINKS];

	for (int round = 0; round < 200; round++) {
		size_t n = 2 + below(5);

		for (size_t i = 0; i < n; i++) {
			uint64_t x = below(2) ? ends[below(5)] : draw(), y = x;
			bool there = below(2);

			y = there ? y - (draw() % (y / 2 + 1) >> below(64))
				  : y + (draw() % ((UINT64_MAX - y) / 2 + 1) >> below(64));
			links[i] = there ? (struct frz_link){ 0, 1, y, x }
					 : (struct frz_link){ 1, 0, x, y };
		}
		compare_with_twin(links, n);
	}
}
END_TEST

START_TEST(too_little_is_said_not_guessed)
{
	static const struct frz_link one_way[] = { { 0, 1, 10, 500 }, { 0, 1, 20, 510 } };
	static const struct frz_link others[] = { { 1, 2, 10, 500 },
						  { 2, 1, 510, 20 },
						  { 1, 1, 9, 3 } };
	struct frz_solution *solution;

	ck_assert_int_eq(frz_solve(&solution, 3, 0, NULL, 0, affine), 0);
	ck_assert_int_eq(frz_clock(solution, 0)->status, FRZ_PROVEN);
	ck_assert_int_eq(frz_clock(solution, 1)->status, FRZ_UNLINKED);
	frz_solution_free(solution);
	ck_assert_int_eq(frz_solve(&solution, 3, 0, one_way, 2, affine), 0);
	ck_assert_int_eq(frz_clock(solution, 1)->status, FRZ_UNLINKED);
	ck_assert_uint_eq(frz_clock(solution, 1)->links, 2);
	frz_solution_free(solution);
	ck_assert_int_eq(frz_solve(&solution, 3, 0, others, 3, affine), 0);
	ck_assert_int_eq(frz_clock(solution, 2)->status, FRZ_UNLINKED);
	ck_assert_uint_eq(frz_clock(solution, 2)->links, 0);
	frz_solution_free(solution);

	ck_assert_int_eq(frz_solve(&solution, 1, 0, one_way, 2, affine), -EINVAL);
	ck_assert_ptr_null(solution);
	ck_assert_int_eq(frz_solve(&solution, 1, 1, NULL, 0, affine), -EINVAL);
}
END_TEST

START_TEST(the_most_telling_links_are_named)
{
	/* Two pairs a million ticks apart give one line; the link in the middle says 5,000
	 * otherwise. */
	static const struct frz_link links[] = {
		{ 0, 1, 1000, 1010 }, { 1, 0, 1020, 1030 },
		{ 0, 1, 500000, 500010 }, { 1, 0, 500020, 495000 },
		{ 0, 1, 1001000, 1001010 }, { 1, 0, 1001020, 1001030 },
	};
	struct frz_solution *solution;

	ck_assert_int_eq(frz_solve(&solution, 2, 0, links, 6, affine), 0);
	const struct frz_clock *clock = frz_clock(solution, 1);

	ck_assert_int_eq(clock->status, FRZ_CONTRADICTION);
	ck_assert(clock->conflict[0] == 3 || clock->conflict[1] == 3);
	frz_solution_free(solution);
}
END_TEST

/* ---- Clocks that wander -----------------------------------------------------------------------*/

#define KNOTS 16

/* A clock whose rate is always within `wander` ppb of a nominal one. */
static void draw_wandering(struct clockmap *m, uint32_t wander)
{
	wide permille = 100 + (wide)below(9900);

	m->count = KNOTS;
	m->knots[0] = (struct clockmap_knot){ (int64_t)any_size(56), (int64_t)any_size(50) };
	for (int k = 1; k < KNOTS; k++) {
		wide truth = ((wide)1 << 50) + (wide)(draw() >> 12);
		wide own = truth / FINE * permille / 1000, off = (wide)below(2 * wander + 1);

		own += own * (off - wander) / 1000000000;
		m->knots[k].truth = m->knots[k - 1].truth + (int64_t)truth;
		m->knots[k].own = m->knots[k - 1].own + (int64_t)own;
	}
}

/* Two rates within `wander` of a third, and what is rounded to whole ticks at the knots. */
static uint32_t drift_of(uint32_t wander)
{
	return 2 * wander + wander / 1000 + 4;
}

static int64_t draw_instant(const struct clockmap *m)
{
	uint64_t run = (uint64_t)(m->knots[KNOTS - 1].truth - m->knots[0].truth);

	return m->knots[0].truth + (int64_t)below(run);
}

static void draw_wandering_links(const struct clockmap *m, struct frz_link *links, size_t n,
				 unsigned flight_bits)
{
	for (size_t i = 0; i < n; i++) {
		int64_t sent = draw_instant(m), received = sent + (int64_t)any_size(flight_bits);

		links[i] = below(2) ? (struct frz_link){ 0, 1, (uint64_t)sent / FINE,
							 clockmap_stamp(m, received) }
				    : (struct frz_link){ 1, 0, clockmap_stamp(m, sent),
							 (uint64_t)received / FINE };
	}
}

static struct frz_solution *solve_drift(const struct frz_link *links, size_t n, uint32_t ppb)
{
	struct frz_solution *solution;

	ck_assert_int_eq(frz_solve(&solution, 2, 0, links, n,
				   (struct frz_assumption){ .model = FRZ_DRIFT, .ppb = ppb }), 0);
	return solution;
}

static void check_wandering_truth(const struct clockmap *m, const struct frz_solution *solution,
				  uint64_t conversions)
{
	struct frz_cursor cursor = frz_cursor(solution, 1), base = frz_cursor(solution, 0);

	for (uint64_t k = 0; k < conversions; k++) {
		int64_t a = draw_instant(m), b = draw_instant(m);
		int64_t instant = a < b ? a : b, later = a < b ? b : a;
		uint64_t s = clockmap_stamp(m, instant), s2 = clockmap_stamp(m, later);
		frz_time time = frz_time_of(&cursor, s), same = frz_time_of(&base, s);
		frz_time took = frz_duration(solution, 1, s2 - s);

		check_speed(solution, s2 - s);
		ck_assert_msg((wide)time.lo * FINE <= instant && instant <= (wide)time.hi * FINE,
			      "SEED=%llu: stamp %llu: time", (unsigned long long)seed,
			      (unsigned long long)s);
		ck_assert_msg((wide)took.lo * FINE <= later - instant &&
				      later - instant <= (wide)took.hi * FINE,
			      "SEED=%llu: %llu ticks: duration", (unsigned long long)seed,
			      (unsigned long long)(s2 - s));
		ck_assert(same.lo == (int64_t)s && same.hi == (int64_t)s + 1);
	}
}

START_TEST(the_truth_of_wandering_clocks_is_inside)
{
	uint64_t conversions = unit_times(400000), clocks = 200;
	struct clockmap m = { .knots = (struct clockmap_knot[KNOTS]){ { 0 } } };
	struct frz_link links[300];
	uint64_t proven = 0;

	for (uint64_t i = 0; i < clocks; i++) {
		uint32_t wander = (uint32_t)any_size(20);
		size_t n = 2 + below(298);

		draw_wandering(&m, wander);
		draw_wandering_links(&m, links, n, 16 + (unsigned)below(30));
		struct frz_solution *solution = solve_drift(links, n, drift_of(wander));
		const struct frz_clock *clock = frz_clock(solution, 1);

		ck_assert_msg(!refused(clock->status), "SEED=%llu",
			      (unsigned long long)seed);
		ck_assert_uint_eq(clock->links, n);
		if (clock->status == FRZ_PROVEN) {
			proven++;
			check_wandering_truth(&m, solution, conversions / clocks);
		}
		frz_solution_free(solution);
	}
	ck_assert_uint_gt(proven, clocks * 9 / 10);
}
END_TEST

/* Every line that obeys all links is also a clock that wanders by at most any ppb. */
START_TEST(drift_allows_what_affine_allows)
{
	for (int round = 0; round < 200; round++) {
		struct frz_link links[200];
		struct solve_truth t = draw_truth();
		size_t n = draw_true_links(&t, links, 200, 40, 12);
		struct frz_solution *drift = solve_drift(links, n, (uint32_t)any_size(15)), *line;

		ck_assert_int_eq(frz_solve(&line, 2, 0, links, n, affine), 0);
		ck_assert_int_eq(frz_clock(line, 1)->status, FRZ_PROVEN);
		ck_assert_int_eq(frz_clock(drift, 1)->status, FRZ_PROVEN);
		struct frz_rate inner = frz_clock(line, 1)->rate, outer = frz_clock(drift, 1)->rate;
		struct frz_cursor a = frz_cursor(line, 1), d = frz_cursor(drift, 1);

		ck_assert(outer.lo <= inner.lo && inner.hi <= outer.hi);
		for (int k = 0; k < 200; k++) {
			uint64_t s = interesting_stamp(links, n);
			frz_time in = frz_time_of(&a, s), out = frz_time_of(&d, s);

			/* either may be a tick wider than the optimum */
			ck_assert_msg((wide)out.lo <= (wide)in.lo + 1 &&
				      (wide)in.hi <= (wide)out.hi + 1, "SEED=%llu stamp %llu",
				      (unsigned long long)seed, (unsigned long long)s);
		}
		frz_solution_free(drift);
		frz_solution_free(line);
	}
}
END_TEST

static uint64_t own_stamp(const struct frz_link *l) /* of the point that it gives */
{
	return l->from ? l->sent : l->received + 1;
}

/* The links in conflict, together with those between which the run lies, contradict each other. */
static void check_conflicts(const struct frz_clock *clock, const struct frz_link *links, size_t n,
			    uint32_t ppb)
{
	struct frz_link few[FRZ_MAX_CONFLICTS + 2];
	size_t first = 0, last = 0;

	ck_assert(2 <= clock->nconflicts && clock->nconflicts <= FRZ_MAX_CONFLICTS);
	for (unsigned i = 0; i < clock->nconflicts; i++) {
		few[i] = links[clock->conflict[i]];
		for (unsigned j = 0; j < i; j++)
			ck_assert_uint_ne(clock->conflict[i], clock->conflict[j]);
	}
	for (size_t i = 0; i < n; i++) {
		first = own_stamp(&links[i]) < own_stamp(&links[first]) ? i : first;
		last = own_stamp(&links[i]) > own_stamp(&links[last]) ? i : last;
	}
	few[clock->nconflicts] = links[first];
	few[clock->nconflicts + 1] = links[last];
	struct frz_solution *solution = solve_drift(few, clock->nconflicts + 2, ppb);
	ck_assert(refused(frz_clock(solution, 1)->status));
	frz_solution_free(solution);
}

/* What is consistent with the links is what that drift would prove. */
static void check_same_bounds(const struct frz_solution *proven,
			      const struct frz_solution *consistent, const struct frz_link *links,
			      size_t n)
{
	struct frz_cursor p = frz_cursor(proven, 1), c = frz_cursor(consistent, 1);

	ck_assert_uint_eq(frz_clock(proven, 1)->ppb, frz_clock(consistent, 1)->ppb);
	for (int k = 0; k < 10; k++) {
		uint64_t s = interesting_stamp(links, n);
		frz_time x = frz_time_of(&p, s), y = frz_time_of(&c, s),
			 xd = frz_duration(proven, 1, s), yd = frz_duration(consistent, 1, s);

		ck_assert(x.lo == y.lo && x.hi == y.hi && xd.lo == yd.lo && xd.hi == yd.hi);
	}
}

static void check_least(const struct frz_link *links, size_t n, uint32_t least)
{
	struct frz_solution *enough = solve_drift(links, n, least),
			    *less = solve_drift(links, n, least - 1);
	const struct frz_clock *clock = frz_clock(less, 1);

	ck_assert_msg(frz_clock(enough, 1)->status == FRZ_PROVEN, "SEED=%llu: %u ppb",
		      (unsigned long long)seed, least);
	ck_assert_msg(clock->status == FRZ_CONSISTENT, "SEED=%llu: %u ppb",
		      (unsigned long long)seed, least - 1);
	ck_assert_uint_eq(clock->least_ppb, least);
	check_same_bounds(enough, less, links, n);
	check_conflicts(clock, links, n, least - 1);
	frz_solution_free(enough);
	frz_solution_free(less);
}

/* Of either model; and it does not exceed what the clock did. */
START_TEST(the_least_ppb_reconciles_and_no_less)
{
	struct clockmap m = { .knots = (struct clockmap_knot[KNOTS]){ { 0 } } };
	struct frz_link links[64];
	int count = 0;

	for (int round = 0; round < 2000; round++) {
		uint32_t wander = 10 + (uint32_t)any_size(20);
		size_t n = 4 + below(60);
		struct frz_solution *solution;

		draw_wandering(&m, wander);
		draw_wandering_links(&m, links, n, 16 + (unsigned)below(10));
		ck_assert_int_eq(frz_solve(&solution, 2, 0, links, n, affine), 0);
		const struct frz_clock *clock = frz_clock(solution, 1);

		if (clock->status == FRZ_CONSISTENT) {
			count++;
			ck_assert_uint_gt(clock->least_ppb, 0);
			ck_assert_uint_le(clock->least_ppb, drift_of(wander));
			check_least(links, n, clock->least_ppb);
		}
		frz_solution_free(solution);
	}
	ck_assert_int_gt(count, 1000);
}
END_TEST

START_TEST(what_no_ppb_reconciles)
{
	static const struct frz_link cases[][4] = {
		/* two packets that cross: one arrives before the other was sent that it follows */
		{ { 0, 1, 100, 100 }, { 1, 0, 200, 200 }, { 0, 1, 300, 300 }, { 1, 0, 301, 250 } },
		/* time would run back */
		{ { 0, 1, 500, 100 }, { 1, 0, 200, 300 }, { 0, 1, 510, 110 }, { 1, 0, 210, 310 } },
		/* no run is that long */
		{ { 1, 0, 100, 101 }, { 0, 1, 90, 95 }, { 0, 1, 1000, 1001 },
		  { 0, 1, 2000, UINT64_C(1) << 61 } },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct frz_solution *solution = solve_drift(cases[i], 4, 999999999);
		const struct frz_clock *clock = frz_clock(solution, 1);

		ck_assert_int_eq(clock->status, FRZ_CONTRADICTION);
		ck_assert_uint_eq(clock->least_ppb, FRZ_NO_PPB);
		ck_assert_uint_eq(clock->nconflicts, 2);
		frz_solution_free(solution);
	}
}
END_TEST

START_TEST(absurd_drift_is_refused)
{
	struct frz_assumption absurd = { .model = FRZ_DRIFT, .ppb = 1000000000 };
	struct frz_solution *solution;

	ck_assert_int_eq(frz_solve(&solution, 1, 0, NULL, 0, absurd), -EINVAL);
	ck_assert_ptr_null(solution);
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
	tcase_add_test(tests, bounds_are_the_optimum);
	tcase_add_test(tests, the_truth_is_inside);
	tcase_add_test(tests, any_order_gives_the_same);
	tcase_add_test(tests, many_clocks_are_solved_each_by_itself);
	tcase_add_test(tests, stamps_beyond_reason_are_exact_too);
	tcase_add_test(tests, too_little_is_said_not_guessed);
	tcase_add_test(tests, the_most_telling_links_are_named);
	tcase_add_test(tests, the_truth_of_wandering_clocks_is_inside);
	tcase_add_test(tests, drift_allows_what_affine_allows);
	tcase_add_test(tests, the_least_ppb_reconciles_and_no_less);
	tcase_add_test(tests, what_no_ppb_reconciles);
	tcase_add_test(tests, absurd_drift_is_refused);
	return unit_end();
}
