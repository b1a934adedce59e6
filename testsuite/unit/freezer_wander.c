/* SPDX-License-Identifier: MIT
 *
 * freezer_wander.c - bounds of wandering clocks hold the truth, and none could be tighter.
 *
 * The twin takes each pair of points as it stands, in rational numbers. What two points say is a
 * bound, so the least over all pairs is one. That no bound can be less is shown at every stamp
 * asked: with the rate r that this pair demands, the cones of all points allow that very value. */
#include <errno.h>
#include <gmp.h>
#include <stdbool.h>

#include "freezer/wander.h"
#include "testsuite/truth/clockmap.h"
#include "testsuite/unit/unit.h"

#define PPB_ONE 1000000000

static uint64_t seed, state;

/* xorshift64*: small, seedable, the same everywhere. */
static uint64_t draw(void)
{
	state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
	return state * UINT64_C(2685821657736338717);
}

static int64_t draw_in(int64_t lo, int64_t hi)
{
	return lo + (int64_t)(draw() % (uint64_t)(hi - lo + 1));
}

/* As likely to have few digits as many. */
static int64_t draw_size(int64_t hi)
{
	return draw_in(1, hi >> draw_in(0, 63 - __builtin_clzll((uint64_t)hi)));
}

static void setup(void)
{
	seed = unit_seed;
	state = seed * 2 + 1;
}

/* ---- Points -----------------------------------------------------------------------------------*/

#define MOST 4000

struct wander_points { struct point upper[MOST], lower[MOST]; size_t nupper, nlower; };

static void add_point(struct wander_points *p, bool upper, wide x, wide y)
{
	struct point point = { x, y, upper ? p->nupper : p->nlower };

	if (upper)
		p->upper[p->nupper++] = point;
	else
		p->lower[p->nlower++] = point;
}

/* The points' own first and last stamp. */
static struct frz_wander_run run_of(const struct wander_points *p)
{
	struct frz_wander_run run = { 0, 0 };

	for (size_t i = 0; i < p->nupper + p->nlower; i++) {
		wide x = i < p->nupper ? p->upper[i].x : p->lower[i - p->nupper].x;

		run.first = i && run.first < x ? run.first : x;
		run.last = i && run.last > x ? run.last : x;
	}
	return run;
}

static wide span_of(const struct wander_points *p)
{
	return run_of(p).last - run_of(p).first;
}

/* The solver reorders what it gets. */
static int solve(struct frz_wander *w, const struct wander_points *p, uint32_t ppb)
{
	static struct wander_points copy;

	memcpy(copy.upper, p->upper, p->nupper * sizeof p->upper[0]);
	memcpy(copy.lower, p->lower, p->nlower * sizeof p->lower[0]);
	return frz_wander_solve(w, copy.upper, p->nupper, copy.lower, p->nlower, run_of(p), ppb);
}

/* ---- The twin ---------------------------------------------------------------------------------*/

struct wander_twin {
	mpq_t K, least, most; /* r is in [least, most] */
	bool limited;         /* some lower point lies before an upper one */
};

static void set_ratio(mpq_t q, wide num, wide den)
{
	wide_to_mpz(mpq_numref(q), num);
	wide_to_mpz(mpq_denref(q), den);
	mpq_canonicalize(q);
}

/* What two points prove of m: if the first is an upper one that it is not less, otherwise that it
 * is not greater. */
static void set_mean(mpq_t m, const struct point *first, const struct point *second,
		     bool upper_first, wide span, uint32_t ppb)
{
	wide run = second->x - first->x, less = run < span - run ? run : span - run;

	set_ratio(m, (second->y - first->y) * PPB_ONE,
		  run * PPB_ONE + (upper_first ? less : -less) * ppb);
}

/* Sets what m leaves to r; false if there is none. */
static bool twin_allows(struct wander_twin *t, const struct wander_points *p, uint32_t ppb)
{
	wide span = span_of(p);
	bool crossed = false;
	mpq_t m;

	mpq_init(m);
	mpq_set_ui(t->least, 0, 1);
	t->limited = false;
	for (size_t i = 0; i < p->nupper; i++)
		for (size_t j = 0; j < p->nlower; j++) {
			const struct point *u = &p->upper[i], *l = &p->lower[j];

			if (u->x == l->x)
				crossed |= l->y > u->y;
			if (u->x < l->x) {
				set_mean(m, u, l, true, span, ppb);
				if (mpq_cmp(m, t->least) > 0)
					mpq_set(t->least, m);
			}
			if (l->x < u->x) {
				set_mean(m, l, u, false, span, ppb);
				if (!t->limited || mpq_cmp(m, t->most) < 0)
					mpq_set(t->most, m);
				t->limited = true;
			}
		}
	bool allows = !crossed && t->limited && mpq_sgn(t->most) > 0 &&
		      mpq_cmp(t->least, t->most) <= 0;
	set_ratio(t->K, PPB_ONE + (wide)ppb, PPB_ONE - (wide)ppb);
	set_ratio(m, PPB_ONE - (wide)ppb, PPB_ONE);
	mpq_mul(t->least, t->least, m);
	mpq_mul(t->most, t->most, m);
	mpq_clear(m);
	return allows || (!crossed && !t->limited);
}

static void twin_init(struct wander_twin *t) { mpq_inits(t->K, t->least, t->most, NULL); }
static void twin_clear(struct wander_twin *t) { mpq_clears(t->K, t->least, t->most, NULL); }

/* What the cone of p allows at x with rate r. */
static void cone(mpq_t result, const struct wander_twin *t, const struct point *p, wide x, const mpq_t r)
{
	mpq_t y;

	mpq_init(y);
	set_ratio(result, x - p->x, 1);
	mpq_mul(result, result, r);
	if (x > p->x)
		mpq_mul(result, result, t->K);
	set_ratio(y, p->y, 1);
	mpq_add(result, result, y);
	mpq_clear(y);
}

/* The r with which the cones of l (left of x) and j (right) allow the same. */
static void intersection(mpq_t r, const struct wander_twin *t, const struct point *l,
			 const struct point *j, wide x)
{
	mpq_t part;

	mpq_init(part);
	set_ratio(part, x - l->x, 1);
	mpq_mul(r, part, t->K);
	set_ratio(part, j->x - x, 1);
	mpq_add(r, r, part);
	set_ratio(part, j->y - l->y, 1);
	mpq_div(r, part, r);
	mpq_clear(part);
}

/* With rate r, phi may be y at x. */
static bool attains(const struct wander_twin *t, const struct point *at, size_t n, wide x, const mpq_t y,
		    const mpq_t r)
{
	bool all = mpq_cmp(t->least, r) <= 0 && mpq_cmp(r, t->most) <= 0;
	mpq_t other;

	mpq_init(other);
	for (size_t i = 0; i < n && all; i++) {
		cone(other, t, &at[i], x, r);
		all = mpq_cmp(other, y) >= 0;
	}
	mpq_clear(other);
	return all;
}

/* U(x) for upper points, or for mirrored lower points -L(-x). */
static void twin_bound(mpq_t best, const struct wander_twin *t, const struct point *at, size_t n, wide x)
{
	bool attained = false;
	mpq_t y, r;

	mpq_inits(y, r, NULL);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++) {
			if (i == j) /* the point alone, at the end of the interval */
				mpq_set(r, at[i].x <= x ? t->most : t->least);
			else if (at[i].x <= x && x <= at[j].x && at[i].x < at[j].x)
				intersection(r, t, &at[i], &at[j], x);
			else
				continue;
			cone(y, t, &at[i], x, r);
			int sign = i + j ? mpq_cmp(y, best) : -1;
			if (sign < 0)
				mpq_set(best, y), attained = false;
			if (sign <= 0 && !attained)
				attained = attains(t, at, n, x, y, r);
		}
	ck_assert_msg(attained, "the twin is wrong, seed %" PRIu64, seed);
	mpq_clears(y, r, NULL);
}

/* ceil(q) if that fits */
static bool ceiling(const mpq_t q, int64_t *result)
{
	mpz_t z;

	mpz_init(z);
	mpz_cdiv_q(z, mpq_numref(q), mpq_denref(q));
	bool fits = mpz_sizeinbase(z, 2) < 62;
	*result = fits ? mpz_get_si(z) : 0;
	mpz_clear(z);
	return fits;
}

struct wander_loss { uint64_t bounds, wider; double most; }; /* most: ticks of an interval's width */

/* What a bound may be wider than the exact one rounded outward: a tick, and the part that wander.h
 * states of what drift adds, which is at most p / 2 of the height that the points span, or all of
 * it. */
static int64_t allowance(const struct wander_points *p, uint32_t ppb)
{
	wide top = p->upper[0].y, bottom = top;

	for (size_t i = 0; i < p->nupper + p->nlower; i++) {
		wide y = i < p->nupper ? p->upper[i].y : p->lower[i - p->nupper].y;

		top = y > top ? y : top, bottom = y < bottom ? y : bottom;
	}
	long double drift = 1e-9L * ppb, height = (long double)(top - bottom);

	return 1 + (int64_t)(ppb > 1000000 ? height * 2e-4L : height * drift / 2 * drift * 1e-7L);
}

/* How much more than the exact bound the answer is; 0 if the bound is too far to be known. */
static double compare(const mpq_t exact, int64_t got, bool known, int64_t allowed,
		      struct wander_loss *loss)
{
	mpq_t excess;
	int64_t up;

	if (!known || !ceiling(exact, &up))
		return 0;
	ck_assert_msg(up <= got && got <= up + allowed,
		      "expected %" PRId64 ", found %" PRId64 ", seed %" PRIu64, up, got, seed);
	mpq_init(excess);
	set_ratio(excess, got, 1);
	mpq_sub(excess, excess, exact);
	double result = mpq_get_d(excess);
	mpq_clear(excess);
	loss->wider += got > up;
	loss->bounds++;
	return result;
}

static void compare_at(const struct frz_wander *w, const struct wander_twin *t, const struct wander_points *p,
		       uint64_t stamp, int64_t allowed, struct wander_loss *loss)
{
	static struct point mirrored[MOST];
	const struct frz_segment *near = w->segments;
	frz_time time = frz_wander_time_of(w, &near, stamp);
	mpq_t bound;

	mpq_init(bound);
	twin_bound(bound, t, p->upper, p->nupper, (wide)stamp + 1);
	double excess = compare(bound, time.hi, time.hi != INT64_MAX, allowed, loss);
	for (size_t i = 0; i < p->nlower; i++)
		mirrored[i] = (struct point){ -p->lower[i].x, -p->lower[i].y, i };
	twin_bound(bound, t, mirrored, p->nlower, -(wide)stamp);
	bool known = time.lo != INT64_MIN;
	excess += compare(bound, known ? -time.lo : 0, known, allowed, loss);
	mpq_clear(bound);
	if (allowed == 1 && excess > loss->most)
		loss->most = excess;
}

/* ---- Clocks with known truth ------------------------------------------------------------------*/

#define FINE  16 /* the truth is in sixteenths of base ticks */
#define KNOTS 60

struct clock {
	struct clockmap map;
	struct clockmap_knot knots[KNOTS];
	int64_t begin, end; /* in truth */
};

/* When the clock's counter reached x. */
static long double truth_at(const struct clock *c, wide x)
{
	const struct clockmap_knot *k = c->knots, *last = k + c->map.count - 2;

	while (k < last && k[1].own < x)
		k++;
	return k->truth + (long double)(k[1].truth - k->truth) * (x - k->own) / (k[1].own - k->own);
}

/* Of the mean rate between the first and the last point the clock's is always within that. */
static uint32_t ppb_of(const struct clock *c, const struct wander_points *p)
{
	wide first = p->nupper ? p->upper[0].x : p->lower[0].x;
	long double ppb = 0;

	for (size_t i = 0; i < p->nlower; i++)
		first = p->lower[i].x < first ? p->lower[i].x : first;
	for (size_t i = 0; i < p->nupper; i++)
		first = p->upper[i].x < first ? p->upper[i].x : first;
	wide span = span_of(p);
	long double mean = (truth_at(c, first + span) - truth_at(c, first)) / span;

	for (size_t i = 0; span && i + 1 < c->map.count; i++) {
		const struct clockmap_knot *k = &c->knots[i];
		long double rate = (long double)(k[1].truth - k->truth) / (k[1].own - k->own);
		long double off = PPB_ONE * (rate > mean ? rate - mean : mean - rate) / mean;

		ppb = off > ppb ? off : ppb;
	}
	return (uint32_t)ppb + 2;
}

/* A clock that wanders by about `wander` ppb: at random, slowly up and down, or between extremes.
 * */
static void make_clock(struct clock *c, int64_t wander, int64_t longest)
{
	int64_t kind = draw_in(0, 2), permille = draw_in(100, 10000), off = 0;

	c->map = (struct clockmap){ c->knots, (size_t)draw_in(2, KNOTS) };
	c->knots[0].truth = draw_in(0, INT64_C(1) << 40);
	c->knots[0].own = draw_in(1, INT64_C(1) << 44);
	for (size_t i = 1; i < c->map.count; i++) {
		int64_t own = draw_in(longest / 10, longest), step = draw_in(-wander, wander);

		if (kind == 0)
			off = step;
		else if (kind == 1)
			off += off + step / 8 > wander || off + step / 8 < -wander ? 0 : step / 8;
		else
			off = step > 0 ? wander : -wander;
		wide truth = (wide)own * permille * FINE / 1000;

		truth += truth * off / PPB_ONE;
		c->knots[i].own = c->knots[i - 1].own + own;
		c->knots[i].truth = c->knots[i - 1].truth + (int64_t)truth;
	}
	c->begin = c->knots[0].truth;
	c->end = c->knots[c->map.count - 1].truth;
}

/* Messages both ways, spread out or in bursts; half of them arrive at once. */
static void make_points(struct wander_points *p, const struct clock *c, size_t n)
{
	int64_t slowest = draw_size(1000000), bursts = draw_in(0, 1), at = c->begin;

	p->nupper = p->nlower = 0;
	for (size_t i = 0; i < n; i++) {
		if (i % 8 == 0 || !bursts)
			at = draw_in(c->begin, c->end);
		int64_t later = at + draw_in(0, 1) * draw_in(0, slowest);

		if (draw() & 1)
			add_point(p, true, (wide)clockmap_stamp(&c->map, at), later / FINE + 1);
		else
			add_point(p, false, (wide)clockmap_stamp(&c->map, later) + 1, at / FINE);
		at = later + draw_in(0, slowest);
	}
}

/* ---- The law ----------------------------------------------------------------------------------*/

static bool holds(frz_time time, int64_t truth)
{
	return (wide)time.lo * FINE <= truth && truth <= (wide)time.hi * FINE;
}

/* Converts stamps of c from a while before its links to a while after; returns how many. */
static uint64_t check_truth(const struct clock *c, const struct frz_wander *w, int round)
{
	const struct frz_segment *near = w->segments;
	int64_t run = c->end - c->begin, at = c->begin - run / 4, last;
	uint64_t n = 0;

	if (at < 0 || c->knots[0].own < c->knots[1].own - c->knots[0].own)
		at = c->begin;
	for (last = at; at < c->end + run / 4; at += draw_in(1, run / 2000), n++) {
		uint64_t stamp = clockmap_stamp(&c->map, at);
		uint64_t ticks = stamp - clockmap_stamp(&c->map, last);

		ck_assert_msg(holds(frz_wander_time_of(w, &near, stamp), at),
			      "SEED=%" PRIu64 " round %d stamp %" PRIu64, seed, round, stamp);
		ck_assert_msg(holds(frz_wander_duration(w, ticks), at - last),
			      "SEED=%" PRIu64 " round %d ticks %" PRIu64, seed, round, ticks);
		last = draw_in(0, 9) ? at : last;
	}
	return n;
}

START_TEST(truth_is_inside)
{
	static struct wander_points p;
	struct frz_wander w;
	struct clock c;
	uint64_t conversions = 0, proven = 0;

	for (int round = 0; round < 200; round++) {
		make_clock(&c, draw_size(200000), draw_size(INT64_C(1) << 34) + 100000);
		make_points(&p, &c, (size_t)draw_in(2, MOST));
		ck_assert_int_eq(solve(&w, &p, ppb_of(&c, &p)), 0);
		if (w.status == FRZ_UNLINKED)
			continue;
		ck_assert_int_eq(w.status, FRZ_PROVEN);
		proven++;
		conversions += check_truth(&c, &w, round);
		frz_wander_free(&w);
	}
	ck_assert_uint_ge(proven, 190);
	ck_assert_uint_ge(conversions, 1000000);
	printf("wander: %" PRIu64 " conversions on %" PRIu64 " clocks hold the truth (seed %" PRIu64
	       ")\n", conversions, proven, seed);
}
END_TEST

/* Points of a clock, of a clock over a year, anywhere, or all over a few ticks. */
static void make_any_points(struct wander_points *p, int kind)
{
	struct clock c;
	int64_t x = draw_size(INT64_C(1) << 50), y = draw_size(INT64_C(1) << 50) * draw_in(-1, 1);
	int64_t size = kind == 2 ? draw_size(INT64_C(1) << 50) : 12;

	if (kind < 2) {
		make_clock(&c, draw_size(100000000),
			   kind ? INT64_C(32000000000000000) / KNOTS : draw_size(1 << 30) + 100);
		make_points(p, &c, (size_t)draw_in(2, 16));
		return;
	}
	p->nupper = p->nlower = 0;
	for (int64_t n = draw_in(1, 14); n > 0; n--) {
		bool upper = draw() & 1;
		int64_t at = draw_in(0, size), noise = draw_in(0, kind == 2 ? draw_size(size) : 6);

		add_point(p, upper, x + at, y + at + (upper ? noise : -noise) + draw_in(0, 1));
	}
}

static uint32_t some_ppb_from(uint32_t least)
{
	static const uint32_t usual[] = { 0, 1, 100, 10000, 1000000, 300000000, PPB_ONE - 1 };
	uint32_t ppb = usual[draw_in(0, 6)];

	return draw_in(0, 2) && ppb > least ? ppb : least;
}

/* At a point, between two points, or beyond. */
static uint64_t stamp_near(const struct wander_points *p)
{
	const struct point *a = draw() & 1 ? p->upper : p->lower;
	int64_t last = (int64_t)(a == p->upper ? p->nupper : p->nlower) - 1;
	wide x = a[draw_in(0, last)].x, z = a[draw_in(0, last)].x;

	switch (draw_in(0, 3)) {
	case 0: x += draw_in(-2, 2); break;
	case 1: x += (z - x) * draw_in(0, 1000) / 1000; break;
	case 2: x += (z - x) * draw_in(-1000, 1000) / 1000; break;
	}
	return x < 0 ? 0 : (uint64_t)x;
}

/* The least ppb with which these points agree, or FRZ_NO_PPB; *unlinked if anything is possible. */
static uint32_t least_of(const struct wander_points *p, bool *unlinked)
{
	struct frz_wander w;

	ck_assert_int_eq(solve(&w, p, 0), 0);
	uint32_t least = w.status == FRZ_CONTRADICTION || w.status == FRZ_CONSISTENT ?
			 w.least_ppb : 0;
	*unlinked = w.status == FRZ_UNLINKED;
	frz_wander_free(&w);
	return least;
}

START_TEST(nothing_is_tighter)
{
	static struct wander_points p;
	struct frz_wander w;
	struct wander_twin t;
	struct wander_loss loss = { 0 };
	uint64_t sets[4] = { 0 };
	bool unlinked;

	twin_init(&t);
	for (int round = 0; round < 6000; round++) {
		make_any_points(&p, round % 4);
		uint32_t least = least_of(&p, &unlinked);
		if (unlinked || least == FRZ_NO_PPB)
			continue;
		uint32_t ppb = some_ppb_from(least);
		ck_assert_int_eq(solve(&w, &p, ppb), 0);
		ck_assert(twin_allows(&t, &p, ppb));
		if (w.status == FRZ_UNLINKED) /* steeper than any clock */
			continue;
		ck_assert_int_eq(w.status, FRZ_PROVEN);
		sets[round % 4]++;
		for (int i = 0; i < 5; i++)
			compare_at(&w, &t, &p, stamp_near(&p), allowance(&p, ppb), &loss);
		frz_wander_free(&w);
	}
	twin_clear(&t);
	for (int kind = 0; kind < 4; kind++)
		ck_assert_uint_ge(sets[kind], 600);
	printf("wander: %" PRIu64 " bounds, %" PRIu64 " more than the optimum rounded; no interval "
	       "is more than %.3f ticks wider than it (seed %" PRIu64 ")\n",
	       loss.bounds, loss.wider, loss.most, seed);
}
END_TEST

START_TEST(many_points_match_the_twin_too)
{
	static struct wander_points p;
	struct frz_wander w;
	struct clock c;
	struct wander_twin t;
	struct wander_loss loss = { 0 };

	twin_init(&t);
	for (int round = 0; round < 8; round++) {
		make_clock(&c, draw_size(100000), INT64_C(1) << 28);
		make_points(&p, &c, 200);
		uint32_t ppb = ppb_of(&c, &p);
		ck_assert_int_eq(solve(&w, &p, ppb), 0);
		ck_assert_int_eq(w.status, FRZ_PROVEN);
		ck_assert(twin_allows(&t, &p, ppb));
		for (int i = 0; i < 3; i++)
			compare_at(&w, &t, &p, stamp_near(&p), allowance(&p, ppb), &loss);
		frz_wander_free(&w);
	}
	twin_clear(&t);
}
END_TEST

START_TEST(any_order_gives_the_same)
{
	enum { STAMPS = 4000 };
	static struct wander_points p;
	static uint64_t stamps[STAMPS];
	static frz_time times[STAMPS];
	struct frz_wander w;
	struct clock c;

	for (int round = 0; round < 20; round++) {
		make_clock(&c, 10000, INT64_C(1) << 32);
		make_points(&p, &c, MOST);
		ck_assert_int_eq(solve(&w, &p, ppb_of(&c, &p)), 0);
		ck_assert_int_eq(w.status, FRZ_PROVEN);
		const struct frz_segment *sweep = w.segments, *jump = sweep;
		for (int i = 0; i < STAMPS; i++) {
			stamps[i] = clockmap_stamp(&c.map,
						    c.begin + (c.end - c.begin) / STAMPS * i);
			times[i] = frz_wander_time_of(&w, &sweep, stamps[i]);
		}
		for (int i = 0; i < STAMPS; i++) {
			size_t at = (size_t)draw_in(0, STAMPS - 1);
			frz_time time = frz_wander_time_of(&w, &jump, stamps[at]);

			ck_assert(time.lo == times[at].lo && time.hi == times[at].hi);
		}
		frz_wander_free(&w);
	}
}
END_TEST

/* ---- Contradictions ---------------------------------------------------------------------------*/

/* The named pairs alone leave no m. */
static void check_conflict(const struct wander_points *p, const struct frz_wander *w, uint32_t ppb)
{
	mpq_t least, most;

	mpq_inits(least, most, NULL);
	set_mean(least, &p->upper[w->quick.first], &p->lower[w->quick.second], true,
		 span_of(p), ppb);
	set_mean(most, &p->lower[w->slow.first], &p->upper[w->slow.second], false,
		 span_of(p), ppb);
	ck_assert_int_gt(mpq_cmp(least, most), 0);
	mpq_clears(least, most, NULL);
}

START_TEST(least_ppb_is_least)
{
	static struct wander_points p;
	struct frz_wander w;
	struct wander_twin t;
	unsigned contradictions = 0, hopeless = 0;
	bool unlinked;

	twin_init(&t);
	for (int round = 0; round < 4000; round++) {
		make_any_points(&p, round % 4);
		uint32_t least = least_of(&p, &unlinked);
		bool allows = twin_allows(&t, &p, least == FRZ_NO_PPB ? PPB_ONE - 1 : least);
		ck_assert_int_eq(allows, least != FRZ_NO_PPB);
		ck_assert_int_eq(unlinked, !t.limited && allows);
		if (!least || !allows) {
			hopeless += !allows;
			continue;
		}
		contradictions++;
		ck_assert(!twin_allows(&t, &p, least - 1));
		ck_assert_int_eq(solve(&w, &p, least - 1), 0);
		ck_assert_uint_eq(w.least_ppb, least);
		ck_assert_int_eq(w.status, FRZ_CONSISTENT);
		check_conflict(&p, &w, least - 1);
		frz_wander_free(&w);
	}
	twin_clear(&t);
	ck_assert_uint_ge(contradictions, 400);
	ck_assert_uint_ge(hopeless, 20);
}
END_TEST

START_TEST(a_step_is_found_and_named)
{
	static struct wander_points p;
	struct frz_wander w;

	/* An exchange each 250,000 ticks, 20 wide; at 5,000,000 the clock jumps 1,000 ahead. */
	for (int64_t at = 1000; at < 10000000; at += 250000) {
		int64_t own = at + (at > 5000000 ? 1000 : 0);

		add_point(&p, true, own - 10, at + 1);
		add_point(&p, false, own + 11, at);
	}
	ck_assert_int_eq(solve(&w, &p, 10000), 0);
	ck_assert_int_eq(w.status, FRZ_CONSISTENT);
	ck_assert(p.lower[w.slow.first].x < 5000000 && p.upper[w.slow.second].x > 5000000);
	ck_assert_uint_ge(w.least_ppb, 3700000); /* 1,000 in 250,000, less 20, off the mean */
	ck_assert_uint_le(w.least_ppb, 4000000);
	uint32_t enough = w.least_ppb;
	frz_wander_free(&w);
	ck_assert_int_eq(solve(&w, &p, enough), 0);
	ck_assert_int_eq(w.status, FRZ_PROVEN);
	frz_wander_free(&w);
}
END_TEST

START_TEST(wander_beyond_the_assumption_is_found)
{
	static struct wander_points p;
	struct frz_wander w;
	int64_t own = 5000000;

	/* 100 ppm fast, then 100 ppm slow, for 1,000 exchanges each. */
	for (int64_t i = 0; i < 2000; i++, own += i <= 1000 ? 100010 : 99990) {
		add_point(&p, true, own - 1, i * 100000 + 1);
		add_point(&p, false, own + 1, i * 100000);
	}
	ck_assert_int_eq(solve(&w, &p, 90000), 0);
	ck_assert_int_eq(w.status, FRZ_CONSISTENT);
	ck_assert_uint_ge(w.least_ppb, 99900);
	ck_assert_uint_le(w.least_ppb, 100100);
	frz_wander_free(&w);
	ck_assert_int_eq(solve(&w, &p, 100100), 0);
	ck_assert_int_eq(w.status, FRZ_PROVEN);
	frz_wander_free(&w);
}
END_TEST

/* ---- Numbers ----------------------------------------------------------------------------------*/

START_TEST(fractions_are_rounded_up)
{
	int fitting = 0;

	for (int round = 0; round < 20000; round++) {
		wide num = (wide)draw_size(INT64_MAX) * draw_size(INT64_MAX), found;
		wide den = (wide)draw_size(INT64_MAX) * draw_size(1 << 30);
		mpz_t z, d;

		num = round % 2 ? -num : num;
		if (!wide_fraction(&found, num, den))
			continue;
		fitting++;
		mpz_inits(z, d, NULL);
		wide_to_mpz(z, num);
		wide_to_mpz(d, den);
		mpz_mul_2exp(z, z, 64);
		mpz_cdiv_q(z, z, d);
		ck_assert_msg(wide_from_mpz(z) == found, "SEED=%" PRIu64 " round %d", seed, round);
		mpz_clears(z, d, NULL);
	}
	ck_assert_int_gt(fitting, 10000);
	ck_assert(!wide_fraction(&(wide){ 0 }, 1, -1));
	ck_assert(!wide_fraction(&(wide){ 0 }, -((wide)1 << 62), 1));
	ck_assert(!wide_fraction(&(wide){ 0 }, (wide)1 << 62, 1));
	ck_assert(!wide_fraction(&(wide){ 0 }, 1, (wide)1 << 95));
}
END_TEST

/* Of any size: most take more than 128 bits, or just not. */
static wide draw_wide(void)
{
	wide w = draw_size(INT64_MAX) >> draw_size(62);

	return draw_size(2) ? w : -w;
}

static void multiply(mpz_t z, const wide *factors, size_t n)
{
	mpz_t factor;

	mpz_init(factor);
	mpz_set_ui(z, 1);
	for (size_t i = 0; i < n; i++) {
		wide_to_mpz(factor, factors[i]);
		mpz_mul(z, z, factor);
	}
	mpz_clear(factor);
}

START_TEST(quotients_of_products_are_rounded_down)
{
	mpz_t num, part;

	mpz_inits(num, part, NULL);
	for (int round = 0; round < 20000; round++) {
		wide a[] = { draw_wide(), draw_wide(), draw_wide() }, b[] = { draw_wide(), draw_wide(), draw_wide() };
		wide c[] = { draw_size(1 << 20) + 1, draw_size(1 << 30) + 1 };

		multiply(num, a, 3);
		multiply(part, b, 3);
		mpz_sub(num, num, part);
		multiply(part, c, 2);
		mpz_fdiv_q(num, num, part);
		ck_assert_msg(wide_from_mpz(num) == wide_quotient(a, b, c), "SEED=%" PRIu64 " round %d", seed, round);
	}
	mpz_clears(num, part, NULL);
}
END_TEST

/* ---- Odd input --------------------------------------------------------------------------------*/

static enum frz_status status_of(const struct wander_points *p, uint32_t ppb)
{
	struct frz_wander w;

	ck_assert_int_eq(solve(&w, p, ppb), 0);
	enum frz_status status = w.status;
	frz_wander_free(&w);
	return status;
}

START_TEST(too_few_points)
{
	static struct wander_points p;
	struct frz_wander w;

	ck_assert_int_eq(frz_wander_solve(&w, NULL, 0, NULL, 0, (struct frz_wander_run){ 0, 0 }, 10000), 0);
	ck_assert_int_eq(w.status, FRZ_UNLINKED);
	add_point(&p, true, 100, 100);
	add_point(&p, true, 200, 200);
	ck_assert_int_eq(status_of(&p, 10000), FRZ_UNLINKED);
	add_point(&p, false, 300, 295); /* no lower point before an upper one */
	ck_assert_int_eq(status_of(&p, 10000), FRZ_UNLINKED);
	p.nlower = 0;
	add_point(&p, false, 50, 40);
	ck_assert_int_eq(solve(&w, &p, 10000), 0);
	ck_assert_int_eq(w.status, FRZ_PROVEN);
	ck_assert(w.mean.lo == 0 && w.mean.hi > 1.066 && w.mean.hi < 1.067); /* 160 / 150 */
	const struct frz_segment *near = w.segments;
	frz_time time = frz_wander_time_of(&w, &near, 60);
	ck_assert(time.lo == 40 && time.hi == 100);
	frz_wander_free(&w);
	p.nupper = 0;
	ck_assert_int_eq(status_of(&p, 10000), FRZ_UNLINKED);
}
END_TEST

START_TEST(points_of_one_stamp)
{
	static struct wander_points p;
	struct frz_wander w;

	for (int i = 0; i < 20; i++) {
		add_point(&p, true, 1000, 1000 + i * 7 % 20);
		add_point(&p, false, 1000, 1000 - i * 7 % 20);
		add_point(&p, true, 2000, 2000 + i * 7 % 20);
		add_point(&p, false, 2000, 2000 - i * 7 % 20);
	}
	ck_assert_int_eq(solve(&w, &p, 0), 0);
	ck_assert_int_eq(w.status, FRZ_PROVEN);
	ck_assert(w.mean.lo <= 1 && w.mean.hi >= 1 && w.mean.hi - w.mean.lo < 1e-14);
	const struct frz_segment *near = w.segments;
	frz_time time = frz_wander_time_of(&w, &near, 1500);
	ck_assert(time.lo == 1500 && time.hi == 1501);
	frz_wander_free(&w);

	add_point(&p, false, 2000, 2001); /* above the upper ones */
	ck_assert_int_eq(solve(&w, &p, PPB_ONE - 1), 0);
	ck_assert_int_eq(w.status, FRZ_CONTRADICTION);
	ck_assert_uint_eq(w.least_ppb, FRZ_NO_PPB);
	ck_assert_int_eq(p.upper[w.quick.first].y, 2000);
	ck_assert_int_eq(p.lower[w.quick.second].y, 2001);

	p.nupper = p.nlower = 0;
	add_point(&p, false, 10, 50); /* time would run back */
	add_point(&p, true, 20, 40);
	ck_assert_int_eq(solve(&w, &p, 10000), 0);
	ck_assert_int_eq(w.status, FRZ_CONTRADICTION);
	ck_assert_uint_eq(w.least_ppb, FRZ_NO_PPB);
}
END_TEST

START_TEST(what_cannot_be_asked)
{
	static struct wander_points p;
	struct frz_wander w;

	add_point(&p, true, 1000, 1001);
	add_point(&p, false, 10, 9);
	ck_assert_int_eq(solve(&w, &p, PPB_ONE), -EINVAL);
	add_point(&p, false, UINT64_MAX, 2000);
	ck_assert_int_eq(solve(&w, &p, 10000), 0);
	ck_assert_int_eq(w.status, FRZ_CONTRADICTION);
	ck_assert_uint_eq(w.least_ppb, FRZ_NO_PPB);
	ck_assert(w.quick.first == 0 && w.quick.second == 1);
	p.nlower = 1;
	ck_assert_int_eq(solve(&w, &p, PPB_ONE - 1), 0);
	frz_wander_free(&w);
	ck_assert_int_eq(solve(&w, &p, 10000), 0);
	const struct frz_segment *near = w.segments;
	frz_time time = frz_wander_time_of(&w, &near, UINT64_MAX);
	ck_assert(time.lo == INT64_MIN && time.hi == INT64_MAX);
	time = frz_wander_time_of(&w, &near, 0);
	ck_assert(time.lo < 0 && time.hi > 0 && time.hi <= 1001);
	frz_wander_free(&w);
}
END_TEST

/* From wherever one looks, the last that begins early enough; several may begin at one stamp. */
START_TEST(a_segment_is_found_from_any_other)
{
	struct frz_segment segments[200] = { 0 };

	for (int i = 0; i < 3000; i++) {
		size_t n = (size_t)draw_in(1, 200), from = (size_t)draw_in(0, (int64_t)n - 1), found = 0;
		uint64_t stamp = (uint64_t)draw_in(0, 400);

		for (size_t k = 0, at = 10; k < n; k++, at += (size_t)draw_in(0, 3)) segments[k].from = at;
		for (size_t k = 0; k < n; k++)
			if (segments[k].from <= stamp) found = k;
		ck_assert_msg(frz_segment_find(segments, n, segments + from, stamp) == segments + found, "seed %" PRIu64
			      ", case %d: of %zu, from %zu, stamp %" PRIu64 ": expected segment %zu", seed, i, n, from, stamp, found);
	}
}
END_TEST

int main(void)
{
	TCase *tests = unit_begin(900, 20240607);

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, truth_is_inside);
	tcase_add_test(tests, nothing_is_tighter);
	tcase_add_test(tests, many_points_match_the_twin_too);
	tcase_add_test(tests, any_order_gives_the_same);
	tcase_add_test(tests, least_ppb_is_least);
	tcase_add_test(tests, a_step_is_found_and_named);
	tcase_add_test(tests, wander_beyond_the_assumption_is_found);
	tcase_add_test(tests, fractions_are_rounded_up);
	tcase_add_test(tests, quotients_of_products_are_rounded_down);
	tcase_add_test(tests, too_few_points);
	tcase_add_test(tests, points_of_one_stamp);
	tcase_add_test(tests, what_cannot_be_asked);
	tcase_add_test(tests, a_segment_is_found_from_any_other);
	return unit_end();
}
