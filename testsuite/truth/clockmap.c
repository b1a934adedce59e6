/* SPDX-License-Identifier: MIT
 *
 * clockmap.c - see clockmap.h. Products of two 64-bit numbers are taken in 128 bits, longer ones by
 * GMP. */
#include "testsuite/truth/clockmap.h"

#include <assert.h>
#include <gmp.h>
#include <stdlib.h>

/* ---- Making --------------------------------------------------------------------------------- */

struct clockmap clockmap_begin(int64_t truth, int64_t own)
{
	struct clockmap m = { malloc(sizeof *m.knots), 1 };

	if (!m.knots)
		abort();
	m.knots[0] = (struct clockmap_knot){ truth, own };
	return m;
}

void clockmap_extend(struct clockmap *m, int64_t run, int64_t rise)
{
	struct clockmap_knot last = m->knots[m->count - 1];

	assert(run >= 0);
	m->knots = realloc(m->knots, (m->count + 1) * sizeof *m->knots);
	if (!m->knots)
		abort();
	m->knots[m->count++] = (struct clockmap_knot){ last.truth + run, last.own + rise };
}

struct clockmap clockmap_affine(int64_t origin_truth, int64_t origin_own, int64_t num, int64_t den)
{
	struct clockmap m = clockmap_begin(origin_truth, origin_own);

	assert(num > 0 && den > 0);
	clockmap_extend(&m, den, num);
	return m;
}

void clockmap_free(struct clockmap *m)
{
	free(m->knots);
	*m = (struct clockmap){ 0 };
}

/* ---- Reading -------------------------------------------------------------------------------- */

/* The stretch whose line holds at `truth`; it is never one of no length. */
static const struct clockmap_knot *stretch(const struct clockmap *m, int64_t truth)
{
	size_t lo = 0, hi = m->count - 1; /* the answer is in [lo, hi) */

	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (m->knots[mid].truth <= truth)
			lo = mid;
		else
			hi = mid;
	}
	return &m->knots[lo];
}

static __int128 floor_div(__int128 a, __int128 b)
{
	return a / b - (a % b < 0);
}

uint64_t clockmap_stamp(const struct clockmap *m, int64_t truth)
{
	const struct clockmap_knot *k = stretch(m, truth);
	__int128 run = k[1].truth - k[0].truth, rise = k[1].own - k[0].own;
	__int128 own = k[0].own + floor_div(rise * (truth - k[0].truth), run);

	assert(own >= 0 && own <= INT64_MAX);
	return (uint64_t)own;
}

int clockmap_compare(const struct clockmap *m, int64_t truth, int64_t own)
{
	const struct clockmap_knot *k = stretch(m, truth);
	__int128 run = k[1].truth - k[0].truth, rise = k[1].own - k[0].own;
	__int128 left = rise * (truth - k[0].truth), right = run * ((__int128)own - k[0].own);

	return (left > right) - (left < right);
}

static const struct clockmap_knot *stretch_of_own(const struct clockmap *m, int64_t own)
{
	const struct clockmap_knot *k = m->knots, *end = m->knots + m->count - 2;

	while (k < end && k[1].own <= own)
		k++;
	return k;
}

int64_t clockmap_moment(const struct clockmap *m, int64_t own)
{
	const struct clockmap_knot *k = stretch_of_own(m, own);
	__int128 run = k[1].truth - k[0].truth, rise = k[1].own - k[0].own;

	assert(rise > 0);
	return (int64_t)(k[0].truth + floor_div(run * ((__int128)own - k[0].own), rise));
}

/* ---- What must be assumed ------------------------------------------------------------------- */

/* Two clocks over a stretch of true time on which both are straight. */
struct pace { struct clockmap_knot base, clock; }; /* run and rise of each */

static bool is_steady(struct clockmap_knot k)
{
	return k.truth > 0 && k.own > 0;
}

static struct clockmap_knot pace_of(const struct clockmap_knot *k)
{
	return (struct clockmap_knot){ k[1].truth - k[0].truth, k[1].own - k[0].own };
}

/* Base ticks for each tick of the clock. */
static void set_rate(mpq_t rate, struct pace p)
{
	mpz_set_si(mpq_numref(rate), p.base.own);
	mpz_mul_si(mpq_numref(rate), mpq_numref(rate), p.clock.truth);
	mpz_set_si(mpq_denref(rate), p.clock.own);
	mpz_mul_si(mpq_denref(rate), mpq_denref(rate), p.base.truth);
	mpq_canonicalize(rate);
}

/* Widens [least, most] to all rates of the base against the clock; false when there are moments
 * without one. */
static bool collect_rates(const struct clockmap *m, const struct clockmap *base, mpq_t least,
			  mpq_t most)
{
	const struct clockmap_knot *a = base->knots, *b = m->knots;
	const struct clockmap_knot *a_end = a + base->count - 2, *b_end = b + m->count - 2;
	bool steady = true, first = true;
	mpq_t rate;

	mpq_init(rate);
	for (;;) {
		struct pace p = { pace_of(a), pace_of(b) };

		steady = is_steady(p.base) && is_steady(p.clock);
		if (!steady)
			break;
		set_rate(rate, p);
		if (first || mpq_cmp(rate, least) < 0)
			mpq_set(least, rate);
		if (first || mpq_cmp(rate, most) > 0)
			mpq_set(most, rate);
		first = false;
		if (a == a_end && b == b_end)
			break;
		bool a_next = a < a_end && (b == b_end || a[1].truth <= b[1].truth);
		bool b_next = b < b_end && (a == a_end || b[1].truth <= a[1].truth);

		a += a_next;
		b += b_next;
	}
	mpq_clear(rate);
	return steady;
}

/* y0 + (x - x0) * rise / run */
static void interpolate(mpq_t y, const mpq_t x, int64_t x0, int64_t run, int64_t y0, int64_t rise)
{
	mpq_t t;

	mpq_init(t);
	mpq_set_si(t, x0, 1);
	mpq_sub(y, x, t);
	mpq_set_si(t, rise, 1);
	mpq_mul(y, y, t);
	mpq_set_si(t, run, 1);
	mpq_div(y, y, t);
	mpq_set_si(t, y0, 1);
	mpq_add(y, y, t);
	mpq_clear(t);
}

/* What the base shows when the clock shows `own`. */
static void set_phi(mpq_t phi, const struct clockmap *m, const struct clockmap *base, int64_t own)
{
	const struct clockmap_knot *k = stretch_of_own(m, own);
	mpq_t x;

	mpq_init(x);
	mpq_set_si(x, own, 1);
	interpolate(x, x, k[0].own, k[1].own - k[0].own, k[0].truth, k[1].truth - k[0].truth);
	k = stretch(base, clockmap_moment(m, own));
	interpolate(phi, x, k[0].truth, k[1].truth - k[0].truth, k[0].own, k[1].own - k[0].own);
	mpq_clear(x);
}

static void set_mean(mpq_t mean, const struct clockmap *m, const struct clockmap *base,
		     int64_t first, int64_t last)
{
	mpq_t t;

	assert(first < last);
	mpq_init(t);
	set_phi(t, m, base, first);
	set_phi(mean, m, base, last);
	mpq_sub(mean, mean, t);
	mpq_set_si(t, last - first, 1);
	mpq_div(mean, mean, t);
	mpq_clear(t);
}

int clockmap_compare_rate(const struct clockmap *m, const struct clockmap *base, int64_t first,
			  int64_t last, double rate)
{
	mpq_t mean, given;

	mpq_inits(mean, given, NULL);
	set_mean(mean, m, base, first, last);
	mpq_set_d(given, rate);
	int sign = mpq_cmp(mean, given);
	mpq_clears(mean, given, NULL);
	return sign;
}

/* How far rate / mean is from 1, in ppb, rounded up. */
static uint32_t distance_ppb(const mpq_t rate, const mpq_t mean)
{
	mpq_t q;
	mpz_t ppb;

	mpq_init(q);
	mpz_init(ppb);
	mpq_sub(q, rate, mean);
	mpq_abs(q, q);
	mpq_div(q, q, mean);
	mpz_mul_ui(mpq_numref(q), mpq_numref(q), 1000000000);
	mpz_cdiv_q(ppb, mpq_numref(q), mpq_denref(q));
	uint32_t result = mpz_cmp_ui(ppb, 1000000000) < 0 ? (uint32_t)mpz_get_ui(ppb)
							  : CLOCKMAP_NEVER;
	mpz_clear(ppb);
	mpq_clear(q);
	return result;
}

static uint32_t greater(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

uint32_t clockmap_need_ppb(const struct clockmap *m, const struct clockmap *base, int64_t first,
			   int64_t last)
{
	uint32_t need = CLOCKMAP_NEVER;
	mpq_t least, most, mean;

	mpq_inits(least, most, mean, NULL);
	if (collect_rates(m, base, least, most)) {
		set_mean(mean, m, base, first, last);
		need = greater(distance_ppb(least, mean), distance_ppb(most, mean));
	}
	mpq_clears(least, most, mean, NULL);
	return need;
}

uint32_t clockmap_need_any_ppb(const struct clockmap *m, const struct clockmap *base)
{
	uint32_t need = CLOCKMAP_NEVER;
	mpq_t least, most;

	mpq_inits(least, most, NULL);
	if (collect_rates(m, base, least, most))
		need = greater(distance_ppb(most, least), distance_ppb(least, most));
	mpq_clears(least, most, NULL);
	return need;
}
