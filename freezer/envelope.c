/* SPDX-License-Identifier: MIT
 *
 * envelope.c - which two points decide U, from left to right.
 *
 * For a given r the left point is where a line of slope K r touches the lower hull of all points on
 * the left, the right point where one of slope r touches that of all points on the right. Between
 * two neighbouring points r falls from left to right, so the left point walks back along its hull
 * and the right point walks towards x along its own. The hulls of all prefixes and suffixes are
 * kept as trees:
 *
 *	before[k]   the vertex before k on the lower hull of points 0..k
 *	after[k]    the vertex after k on the lower hull of points k..n-1
 *
 * Between k and k + 1 the right point comes from after[k] at the farthest and passes vertices that
 * are not on the hull of k..n-1: adding k dropped them, and each point is dropped once. Likewise on
 * the left. So all walks together, and the number of arcs, are linear in the number of points. */
#include "freezer/envelope.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define NONE       SIZE_MAX
#define ARCS_EACH  5 /* a point adds at most two rays, one arc, and one for each of two drops */
#define FRACTION_BITS 64
#define WIDE_SMALL    ((wide)1 << 60) /* that and a fraction of a rise stay below WIDE_LARGE */

/* A value of r: a slope, or a slope divided by K. */
struct rate { struct slope slope; bool over; };

struct work {
	struct rates rates;
	const struct point *at;
	size_t n;
	size_t *before, *after, *walk;
	struct arc *arcs;
	size_t narcs;
};

/* K is their ratio. */
static wide k_above(const struct work *w) { return PPB_ONE + (wide)w->rates.ppb; }
static wide k_below(const struct work *w) { return PPB_ONE - (wide)w->rates.ppb; }

static int rate_compare(const struct work *w, struct rate a, struct rate b)
{
	wide by_a = 1, by_b = 1;

	if (a.over != b.over) {
		by_a = a.over ? k_below(w) : k_above(w);
		by_b = b.over ? k_below(w) : k_above(w);
	}
	return wide_compare_products(a.slope.dy * by_a, b.slope.dx, b.slope.dy * by_b, a.slope.dx);
}

/* ---- Which points matter ----------------------------------------------------------------------*/

/* The steepest way into point k from a point before it: r is at least that over K where k matters.
 * */
static struct rate into(const struct work *w, size_t k)
{
	if (w->before[k] == NONE)
		return (struct rate){ { -1, 0 }, true };
	return (struct rate){ slope_between(&w->at[w->before[k]], &w->at[k]), true };
}

/* The flattest way from point k to a point after it: r is at most that where k matters. */
static struct rate out_of(const struct work *w, size_t k)
{
	if (w->after[k] == NONE)
		return (struct rate){ { 1, 0 }, false };
	return (struct rate){ slope_between(&w->at[k], &w->at[w->after[k]]), false };
}

static struct rate least(const struct work *w) { return (struct rate){ w->rates.slow, true }; }
static struct rate greatest(const struct work *w) { return (struct rate){ w->rates.fast, false }; }

static int turn(const struct work *w, size_t a, size_t b, size_t c)
{
	return slope_compare(slope_between(&w->at[b], &w->at[c]),
			     slope_between(&w->at[a], &w->at[b]));
}

static void link_hulls(struct work *w)
{
	for (size_t k = 0; k < w->n; k++) {
		size_t b = k ? k - 1 : NONE;

		while (b != NONE && w->before[b] != NONE && turn(w, w->before[b], b, k) <= 0)
			b = w->before[b];
		w->before[k] = b;
	}
	for (size_t k = w->n; k-- > 0;) {
		size_t a = k + 1 < w->n ? k + 1 : NONE;

		while (a != NONE && w->after[a] != NONE && turn(w, k, a, w->after[a]) <= 0)
			a = w->after[a];
		w->after[k] = a;
	}
}

/* Some r lets phi reach the point. */
static bool matters(const struct work *w, size_t k)
{
	struct rate in = into(w, k), out = out_of(w, k);

	return rate_compare(w, in, out) <= 0 && rate_compare(w, in, greatest(w)) <= 0 &&
	       rate_compare(w, least(w), out) <= 0;
}

static void drop_points(struct work *w, struct point *points)
{
	size_t kept = 0;

	link_hulls(w);
	for (size_t k = 0; k < w->n; k++)
		w->walk[k] = matters(w, k);
	for (size_t k = 0; k < w->n; k++)
		if (w->walk[k])
			points[kept++] = points[k];
	w->n = kept;
	link_hulls(w);
}

/* ---- Arcs -------------------------------------------------------------------------------------*/

static void mpz_mul_wide(mpz_t z, wide w)
{
	mpz_t factor;

	mpz_init(factor);
	wide_to_mpz(factor, w);
	mpz_mul(z, z, factor);
	mpz_clear(factor);
}

/* The last whole x at which the lines through `left` with K r and through `right` with r have not
 * yet crossed. r > 0 and K > 1. With r = N/M: x_l + (Y M - N D) / ((K - 1) N); with r = N/M/K:
 * x_l + (K Y M - N D) / ((K - 1) N). */
static wide crossing(const struct work *w, const struct point *left, const struct point *right,
		     struct rate r)
{
	wide rises[] = { right->y - left->y, r.slope.dx, r.over ? k_above(w) : k_below(w) };
	wide runs[] = { right->x - left->x, r.slope.dy, k_below(w) };
	wide nears[] = { r.slope.dy, k_above(w) - k_below(w) };

	assert(w->rates.ppb && r.slope.dy > 0);
	return left->x + wide_quotient(rises, runs, nears);
}

/* An arc whose successor begins no later serves nowhere. */
static void add(struct work *w, wide from, const struct point *left, const struct point *right)
{
	while (w->narcs && w->arcs[w->narcs - 1].from >= from)
		w->narcs--;
	w->arcs[w->narcs++] = (struct arc){ from, left, right };
}

/* The arcs between points k and k + 1. */
static void add_between(struct work *w, size_t k)
{
	const struct point *at = w->at;
	struct rate first = out_of(w, k), last = into(w, k + 1);
	bool ray_from = rate_compare(w, greatest(w), first) < 0;
	bool ray_to = rate_compare(w, least(w), last) > 0;
	wide from = at[k].x;
	size_t l = k, top = 0;

	if (ray_from) {
		first = greatest(w);
		add(w, from, &at[k], NULL);
	}
	if (ray_to)
		last = least(w);
	w->walk[0] = k + 1; /* the way on which the right point comes back, top first */
	while (rate_compare(w, out_of(w, w->walk[top]), first) < 0) {
		w->walk[top + 1] = w->after[w->walk[top]];
		top++;
	}
	if (ray_from)
		from = crossing(w, &at[l], &at[w->walk[top]], first) + 1;
	for (;;) {
		const struct point *right = &at[w->walk[top]];
		struct rate left_leaves = into(w, l);
		struct rate next = left_leaves;

		if (top && rate_compare(w, out_of(w, w->walk[top - 1]), next) > 0)
			next = out_of(w, w->walk[top - 1]);
		add(w, from, &at[l], right);
		if (rate_compare(w, next, last) <= 0)
			break;
		from = crossing(w, &at[l], right, next) + 1;
		if (rate_compare(w, next, left_leaves) > 0)
			top--;
		else
			l = w->before[l];
	}
	if (ray_to)
		add(w, crossing(w, &at[l], &at[w->walk[top]], last) + 1, NULL, &at[k + 1]);
}

int envelope_below(struct envelope *e, struct point *points, size_t n, struct rates rates)
{
	struct work w = { .rates = rates, .at = points, .n = n };
	int error = -ENOMEM;

	w.before = malloc(n * sizeof *w.before);
	w.after = malloc(n * sizeof *w.after);
	w.walk = malloc(n * sizeof *w.walk);
	if (!w.before || !w.after || !w.walk)
		goto out;
	drop_points(&w, points);
	assert(w.n);
	w.arcs = malloc(ARCS_EACH * (w.n + 1) * sizeof *w.arcs);
	if (!w.arcs)
		goto out;
	add(&w, -WIDE_LARGE, NULL, &points[0]);
	for (size_t k = 0; k + 1 < w.n; k++)
		add_between(&w, k);
	add(&w, points[w.n - 1].x, &points[w.n - 1], NULL);
	error = 0;
out:
	free(w.before);
	free(w.after);
	free(w.walk);
	*e = (struct envelope){ rates, w.arcs, w.narcs };
	return error;
}

void envelope_free(struct envelope *e)
{
	free(e->arcs);
	*e = (struct envelope){ 0 };
}

/* ---- Heights ----------------------------------------------------------------------------------*/

/* num / den is what the arc rises from its left point, or from its right one if it has no left one.
 * */
static void rise(const struct rates *rates, const struct arc *arc, wide x, mpz_t num, mpz_t den)
{
	wide above = PPB_ONE + (wide)rates->ppb, below = PPB_ONE - (wide)rates->ppb;

	if (!arc->right) {
		wide_to_mpz(num, x - arc->left->x);
		mpz_mul_wide(num, rates->fast.dy * above);
		wide_to_mpz(den, rates->fast.dx * below);
	} else if (!arc->left) {
		wide_to_mpz(num, x - arc->right->x);
		mpz_mul_wide(num, rates->slow.dy * below);
		wide_to_mpz(den, rates->slow.dx * above);
	} else {
		wide a = x - arc->left->x;

		wide_to_mpz(num, arc->right->y - arc->left->y);
		mpz_mul_wide(num, a * above);
		wide_to_mpz(den, (arc->right->x - arc->left->x) * below + (above - below) * a);
	}
}

/* The same, and the point that it rises from, in words of 128 bits; false if they overflow. */
static bool rise_fits(const struct rates *rates, const struct arc *arc, wide x, wide *num,
		      wide *den)
{
	wide above = PPB_ONE + (wide)rates->ppb, below = PPB_ONE - (wide)rates->ppb, a;

	if (!arc->right) {
		*den = rates->fast.dx * below;
		return !__builtin_mul_overflow(x - arc->left->x, rates->fast.dy * above, num);
	}
	if (!arc->left) {
		*den = rates->slow.dx * above;
		return !__builtin_mul_overflow(x - arc->right->x, rates->slow.dy * below, num);
	}
	a = (x - arc->left->x) * above;
	*den = (arc->right->x - arc->left->x) * below + (above - below) * (x - arc->left->x);
	return !__builtin_mul_overflow(arc->right->y - arc->left->y, a, num);
}

static wide height_by_gmp(const struct envelope *e, const struct arc *arc, wide x)
{
	mpz_t num, den, whole;

	mpz_inits(num, den, whole, NULL);
	rise(&e->rates, arc, x, num, den);
	mpz_mul_2exp(num, num, FRACTION_BITS);
	mpz_cdiv_q(num, num, den);
	wide_to_mpz(whole, arc->left ? arc->left->y : arc->right->y);
	mpz_mul_2exp(whole, whole, FRACTION_BITS);
	mpz_add(num, num, whole);
	wide height = wide_from_mpz(num);
	mpz_clears(num, den, whole, NULL);
	return height;
}

wide envelope_height(const struct envelope *e, const struct arc *arc, wide x)
{
	wide num, den, rise, y = arc->left ? arc->left->y : arc->right->y;

	if (y > -WIDE_SMALL && y < WIDE_SMALL && rise_fits(&e->rates, arc, x, &num, &den) &&
	    wide_fraction(&rise, num, den))
		return y * ((wide)1 << FRACTION_BITS) + rise;
	return height_by_gmp(e, arc, x);
}
