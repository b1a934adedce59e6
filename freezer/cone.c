/* SPDX-License-Identifier: MIT
 *
 * cone.c - the lower envelope of cones that all have the same two slopes. */
#include "freezer/cone.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* Whether q, to the right of p, says nothing that p's cone does not say. */
static bool covers_right(const struct cones *c, const struct point *p, const struct point *q)
{
	int above = wide_compare_products(q->y - p->y, c->right.dx, c->right.dy, q->x - p->x);

	return c->side == HULL_LOWER ? above >= 0 : above <= 0;
}

/* Whether p, to the left of q, says nothing that q's cone does not say. */
static bool covers_left(const struct cones *c, const struct point *q, const struct point *p)
{
	int below = wide_compare_products(q->y - p->y, c->left.dx, c->left.dy, q->x - p->x);

	return c->side == HULL_LOWER ? below <= 0 : below >= 0;
}

void cones_reduce(struct cones *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->n; i++) {
		struct point q = c->at[i];

		if (kept && covers_right(c, &c->at[kept - 1], &q))
			continue;
		while (kept && covers_left(c, &q, &c->at[kept - 1]))
			kept--;
		c->at[kept++] = q;
	}
	c->n = kept;
}

/* The first stamp at which the left side of q's cone is as tight as the right side of p's. Both
 * points matter, so that this lies between them and the two slopes differ. */
static wide crossing(const struct cones *c, const struct point *p, const struct point *q)
{
	mpz_t rise, factor, slopes;

	mpz_inits(rise, factor, slopes, NULL);
	wide_to_mpz(rise, q->y - p->y);
	wide_to_mpz(factor, c->left.dx);
	mpz_mul(rise, rise, factor);
	wide_to_mpz(factor, c->left.dy);
	wide_to_mpz(slopes, q->x - p->x);
	mpz_submul(rise, factor, slopes);
	wide_to_mpz(slopes, c->right.dy - c->left.dy);
	mpz_cdiv_q(rise, rise, slopes);
	wide after = wide_from_mpz(rise);
	mpz_clears(rise, factor, slopes, NULL);
	return p->x + after;
}

int cones_bound(struct bound *b, const struct cones *c)
{
	b->n = 0;
	b->pieces = malloc(2 * c->n * sizeof *b->pieces);
	if (!b->pieces)
		return -ENOMEM;
	for (size_t i = 0; i < c->n; i++) {
		const struct point *p = &c->at[i];
		wide from = i ? crossing(c, p - 1, p) : -WIDE_LARGE;

		b->pieces[b->n++] = (struct piece){ from, { p->x, p->y, c->left } };
		b->pieces[b->n++] = (struct piece){ p->x, { p->x, p->y, c->right } };
	}
	return 0;
}
