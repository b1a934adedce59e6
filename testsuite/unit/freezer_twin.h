/* SPDX-License-Identifier: MIT
 *
 * freezer_twin.h - an obviously right twin of the affine solver.
 *
 * It takes every pair of constraints, intersects them in rationals, keeps the intersections that
 * satisfy all constraints, and takes least and greatest of these corners; limits far outside show
 * when there is no bound. */
#ifndef FREEZER_TWIN_H
#define FREEZER_TWIN_H

#include <gmp.h>
#include <stdbool.h>
#include <stdlib.h>

#include "freezer/solve.h"

typedef __int128 wide;

#define MAX_LINKS 24

/* a * x + b >= y, or <= y; for a limit on a or b, without b or with x = 0 */
struct constraint { mpq_t x, one, y; bool above; bool artificial; };

struct solver_twin {
	struct constraint c[MAX_LINKS + 5];
	size_t n;
	mpq_t (*corners)[2];
	size_t ncorners;
	bool open;
};

static inline void constrain(struct solver_twin *t, mpq_t x, int one, mpq_t y, bool above, bool artificial)
{
	struct constraint *c = &t->c[t->n++];

	mpq_inits(c->x, c->one, c->y, NULL);
	mpq_set(c->x, x);
	mpq_set_si(c->one, one, 1);
	mpq_set(c->y, y);
	c->above = above;
	c->artificial = artificial;
}

static inline bool satisfies(const struct constraint *c, mpq_t a, mpq_t b)
{
	mpq_t left, term;

	mpq_inits(left, term, NULL);
	mpq_mul(left, a, c->x);
	mpq_mul(term, b, c->one);
	mpq_add(left, left, term);
	int sign = mpq_cmp(left, c->y);
	mpq_clears(left, term, NULL);
	return c->above ? sign >= 0 : sign <= 0;
}

static inline bool intersect(const struct constraint *c, const struct constraint *d, mpq_t a,
			     mpq_t b)
{
	mpq_t det, term;

	mpq_inits(det, term, NULL);
	mpq_mul(det, c->x, d->one);
	mpq_mul(term, d->x, c->one);
	mpq_sub(det, det, term);
	bool crossing = mpq_sgn(det) != 0;
	if (crossing) { /* Cramer */
		mpq_mul(a, c->y, d->one);
		mpq_mul(term, d->y, c->one);
		mpq_sub(a, a, term);
		mpq_div(a, a, det);
		mpq_mul(b, c->x, d->y);
		mpq_mul(term, d->x, c->y);
		mpq_sub(b, b, term);
		mpq_div(b, b, det);
	}
	mpq_clears(det, term, NULL);
	return crossing;
}

static inline void find_corners(struct solver_twin *t)
{
	mpq_t a, b;

	mpq_inits(a, b, NULL);
	for (size_t i = 0; i < t->n; i++)
		for (size_t j = i + 1; j < t->n; j++) {
			bool fits = intersect(&t->c[i], &t->c[j], a, b);

			for (size_t k = 0; k < t->n && fits; k++)
				fits = satisfies(&t->c[k], a, b);
			if (!fits)
				continue;
			t->open |= t->c[i].artificial || t->c[j].artificial;
			mpq_inits(t->corners[t->ncorners][0], t->corners[t->ncorners][1], NULL);
			mpq_set(t->corners[t->ncorners][0], a);
			mpq_set(t->corners[t->ncorners++][1], b);
		}
	mpq_clears(a, b, NULL);
}

static inline struct solver_twin twin_of(const struct frz_link *links, const size_t *which, size_t n)
{
	struct solver_twin t = { .corners = calloc((MAX_LINKS + 5) * (MAX_LINKS + 5), sizeof *t.corners) };
	mpq_t x, y;

	mpq_inits(x, y, NULL);
	for (size_t i = 0; i < n; i++) {
		const struct frz_link *l = &links[which ? which[i] : i];
		bool there = l->from == 0;

		mpq_set_ui(x, there ? l->received : l->sent, 1);
		mpq_set_ui(y, there ? l->sent : l->received, 1);
		mpz_add_ui(there ? mpq_numref(x) : mpq_numref(y),
			   there ? mpq_numref(x) : mpq_numref(y), 1);
		constrain(&t, x, 1, y, there, false);
	}
	mpq_set_ui(x, 1, 1);
	mpq_set_ui(y, 0, 1);
	constrain(&t, x, 0, y, true, false); /* a >= 0 */
	mpz_ui_pow_ui(mpq_numref(y), 2, 80);
	constrain(&t, x, 0, y, false, true); /* a <= 2^80 */
	mpq_set_ui(x, 0, 1);
	mpz_ui_pow_ui(mpq_numref(y), 2, 200);
	constrain(&t, x, 1, y, false, true); /* b <= 2^200 */
	mpq_neg(y, y);
	constrain(&t, x, 1, y, true, true);
	mpq_clears(x, y, NULL);
	find_corners(&t);
	return t;
}

static inline void twin_free(struct solver_twin *t)
{
	for (size_t i = 0; i < t->n; i++)
		mpq_clears(t->c[i].x, t->c[i].one, t->c[i].y, NULL);
	for (size_t i = 0; i < t->ncorners; i++)
		mpq_clears(t->corners[i][0], t->corners[i][1], NULL);
	free(t->corners);
}

static inline int64_t saturated(const mpz_t z)
{
	return mpz_fits_slong_p(z) ? mpz_get_si(z) : mpz_sgn(z) < 0 ? INT64_MIN : INT64_MAX;
}

/* The least and the greatest height at `stamp` and at the end of its tick. */
static inline void twin_optimum(const struct solver_twin *t, uint64_t stamp, mpq_t least, mpq_t greatest)
{
	mpq_t height, at;

	mpq_inits(height, at, NULL);
	for (int end = 0; end < 2; end++) {
		mpz_set_ui(mpq_numref(at), stamp);
		mpz_add_ui(mpq_numref(at), mpq_numref(at), (unsigned long)end);
		for (size_t i = 0; i < t->ncorners; i++) {
			mpq_ptr best = end ? greatest : least;
			int sign;

			mpq_mul(height, at, t->corners[i][0]);
			mpq_add(height, height, t->corners[i][1]);
			sign = mpq_cmp(height, best);
			if (!i || (end ? sign > 0 : sign < 0))
				mpq_set(best, height);
		}
	}
	mpq_clears(height, at, NULL);
}

/* The same, rounded outward to whole ticks. */
static inline frz_time twin_time(const struct solver_twin *t, uint64_t stamp)
{
	mpq_t least, greatest;
	frz_time time;
	mpz_t z;

	mpq_inits(least, greatest, NULL);
	mpz_init(z);
	twin_optimum(t, stamp, least, greatest);
	mpz_fdiv_q(z, mpq_numref(least), mpq_denref(least));
	time.lo = saturated(z);
	mpz_cdiv_q(z, mpq_numref(greatest), mpq_denref(greatest));
	time.hi = saturated(z);
	mpq_clears(least, greatest, NULL);
	mpz_clear(z);
	return time;
}

#endif
