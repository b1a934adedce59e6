/* SPDX-License-Identifier: MIT
 *
 * drift.c - rounds of cones and mean rate, each narrowing the other.
 *
 * Rates are kept as multiples of one power of two, rounded outward, so that everything that follows
 * from them is exact and does not grow from round to round. */
#include "freezer/drift.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "freezer/cone.h"

#define MAX_ROUNDS 12
#define RATE_BITS  62 /* of a rate, integer part and fraction */
#define BILLION    1000000000

struct rounds {
	struct drift *result;
	struct cones under, over;
	wide first, last;       /* the mean is that between these stamps */
	uint32_t ppb;
	wide unit;              /* rates are multiples of 1 / unit */
	wide mean_lo, mean_hi;
};

static struct slope rate(const struct rounds *r, wide multiple)
{
	return (struct slope){ multiple, r->unit };
}

static void say_fault(struct rounds *r, const struct point *a, const struct point *b)
{
	r->result->kind = POLYGON_EMPTY;
	r->result->fault[0] = a->link;
	r->result->fault[1] = b->link;
}

/* floor or ceil of unit * (rise * up) / (run * down), for factors near 10^9 */
static wide ratio(const struct rounds *r, wide rise, wide up, wide run, wide down, bool ceil)
{
	mpz_t numerator, denominator, factor;

	mpz_inits(numerator, denominator, factor, NULL);
	wide_to_mpz(numerator, rise);
	wide_to_mpz(factor, up);
	mpz_mul(numerator, numerator, factor);
	wide_to_mpz(factor, r->unit);
	mpz_mul(numerator, numerator, factor);
	wide_to_mpz(denominator, run);
	wide_to_mpz(factor, down);
	mpz_mul(denominator, denominator, factor);
	(ceil ? mpz_cdiv_q : mpz_fdiv_q)(numerator, numerator, denominator);
	wide result = wide_from_mpz(numerator);
	mpz_clears(numerator, denominator, factor, NULL);
	return result;
}

/* ---- The mean's first interval ----------------------------------------------------------------*/

/* The greatest power of two under which a rate that is not above rise / run has RATE_BITS bits. */
static wide unit_for(wide rise, wide run)
{
	wide unit = (wide)1 << RATE_BITS;

	for (wide most = run; most < rise && unit > 1; most *= 2)
		unit /= 2;
	return unit;
}

/* Whatever lies between the outermost points went at a rate within ppb of the mean. */
static bool begin_mean(struct rounds *r)
{
	const struct point *under_left = &r->under.at[0],
			   *under_right = &r->under.at[r->under.n - 1];
	const struct point *over_left = &r->over.at[0], *over_right = &r->over.at[r->over.n - 1];
	wide rise = over_right->y - under_left->y, run = over_right->x - under_left->x;

	if (run <= 0) {
		r->result->kind = POLYGON_OPEN;
		return false;
	}
	if (rise < 0) {
		say_fault(r, under_left, over_right);
		return false;
	}
	r->unit = unit_for(2 * rise, run);
	r->mean_hi = ratio(r, rise, BILLION, run, BILLION - (wide)r->ppb, true);
	rise = under_right->y - over_left->y;
	run = under_right->x - over_left->x;
	r->mean_lo = 0;
	if (run > 0 && rise > 0)
		r->mean_lo = ratio(r, rise, BILLION, run, BILLION + (wide)r->ppb, false);
	return true;
}

/* ---- One round --------------------------------------------------------------------------------*/

static int make_bounds(struct rounds *r)
{
	struct drift *d = r->result;
	int error;

	d->rate_lo = rate(r, ratio(r, r->mean_lo, BILLION - (wide)r->ppb, r->unit, BILLION, false));
	d->rate_hi = rate(r, ratio(r, r->mean_hi, BILLION + (wide)r->ppb, r->unit, BILLION, true));
	r->over.left = r->under.right = d->rate_lo;
	r->over.right = r->under.left = d->rate_hi;
	cones_reduce(&r->under);
	cones_reduce(&r->over);
	bound_free(&d->lo);
	bound_free(&d->hi);
	error = cones_bound(&d->lo, &r->under);
	return error ? error : cones_bound(&d->hi, &r->over);
}

/* How far point a lies on the wrong side of the bound, roughly; 0 if it does not (exactly). */
static double violation(const struct bound *b, const struct point *a, bool above, size_t *piece)
{
	*piece = bound_piece(b, a->x);
	const struct line *l = &b->pieces[*piece].line;
	int sign = wide_compare_products(a->y - l->y, l->slope.dx, l->slope.dy, a->x - l->x);

	if (above ? sign <= 0 : sign >= 0)
		return 0;
	double height = (double)(a->y - l->y) -
			(double)l->slope.dy / (double)l->slope.dx * (double)(a->x - l->x);

	return 1 + (height < 0 ? -height : height);
}

/* The points of each side must not lie beyond the other side's bound. */
static void find_contradiction(struct rounds *r)
{
	const struct cones *sides[] = { &r->under, &r->over };
	const struct bound *bounds[] = { &r->result->hi, &r->result->lo };
	double worst = 0;

	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < sides[side]->n; i++) {
			const struct point *a = &sides[side]->at[i];
			size_t piece;
			double v = violation(bounds[side], a, side == 0, &piece);

			if (v > worst) {
				worst = v;
				say_fault(r, a, &sides[!side]->at[cones_owner(piece)]);
			}
		}
}

/* unit * height at x; the heights' denominators divide the unit, so this is exact. */
static void height_at(mpz_t z, const struct bound *b, wide x)
{
	const struct line *l = &b->pieces[bound_piece(b, x)].line;
	mpz_t p, q;

	mpz_inits(p, q, NULL);
	wide_to_mpz(p, l->slope.dy);
	wide_to_mpz(q, x - l->x);
	mpz_mul(z, p, q);
	wide_to_mpz(p, l->y);
	wide_to_mpz(q, l->slope.dx);
	mpz_addmul(z, p, q);
	mpz_clears(p, q, NULL);
}

typedef void division(mpz_t, const mpz_t, const mpz_t);

/* unit * the mean rate from one bound at the first stamp to the other at the last one. */
static wide mean_between(const struct rounds *r, const struct bound *first,
			 const struct bound *last, division *divide)
{
	mpz_t rise, from, run;

	mpz_inits(rise, from, run, NULL);
	height_at(rise, last, r->last);
	height_at(from, first, r->first);
	mpz_sub(rise, rise, from);
	wide_to_mpz(run, r->last - r->first);
	divide(rise, rise, run);
	wide mean = wide_from_mpz(rise);
	mpz_clears(rise, from, run, NULL);
	return mean;
}

/* What the bounds at the two ends leave of the mean. True if that is less than before. */
static bool narrow_mean(struct rounds *r)
{
	const struct drift *d = r->result;
	wide hi = mean_between(r, &d->lo, &d->hi, mpz_cdiv_q),
	     lo = mean_between(r, &d->hi, &d->lo, mpz_fdiv_q);
	wide gain = r->mean_hi - r->mean_lo;

	if (hi < r->mean_hi)
		r->mean_hi = hi;
	if (lo > r->mean_lo)
		r->mean_lo = lo;
	return gain - (r->mean_hi - r->mean_lo) > 0;
}

static int run_rounds(struct rounds *r)
{
	struct drift *d = r->result;
	bool narrower = true;
	int error = 0;

	for (int i = 0; !error && narrower && i < MAX_ROUNDS; i++) {
		error = make_bounds(r);
		if (error)
			break;
		find_contradiction(r);
		if (d->kind == POLYGON_EMPTY)
			break;
		narrower = narrow_mean(r);
		if (r->mean_lo > r->mean_hi) { /* the ends contradict what lies between */
			say_fault(r, &r->under.at[r->under.n - 1], &r->over.at[r->over.n - 1]);
			break;
		}
	}
	d->mean_lo = rate(r, r->mean_lo);
	d->mean_hi = rate(r, r->mean_hi);
	return error;
}

int drift_solve(struct drift *d, struct point *under, size_t nunder, struct point *over,
		size_t nover, uint32_t ppb)
{
	struct rounds r = {
		.result = d, .ppb = ppb,
		.under = { .side = HULL_UPPER, .at = under, .n = nunder },
		.over = { .side = HULL_LOWER, .at = over, .n = nover },
	};
	int error = 0;

	*d = (struct drift){ .kind = POLYGON_OPEN };
	if (!nunder || !nover)
		return 0;
	points_sort(under, nunder);
	points_sort(over, nover);
	r.first = under[0].x < over[0].x ? under[0].x : over[0].x;
	r.last = under[nunder - 1].x > over[nover - 1].x ? under[nunder - 1].x : over[nover - 1].x;
	d->kind = POLYGON_BOUNDED;
	if (begin_mean(&r))
		error = run_rounds(&r);
	if (error || d->kind != POLYGON_BOUNDED) {
		bound_free(&d->lo);
		bound_free(&d->hi);
	}
	return error;
}
