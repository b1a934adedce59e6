/* SPDX-License-Identifier: MIT
 *
 * bound.c - bounds as pieces of lines, and exact heights of lines. */
#include "freezer/bound.h"

#include <errno.h>
#include <stdlib.h>

int bound_along(struct bound *b, const struct hull *h, struct slope left, struct slope right)
{
	size_t first = hull_touch(h, left), last = hull_touch(h, right);

	b->n = last - first + 2;
	b->pieces = malloc(b->n * sizeof *b->pieces);
	if (!b->pieces)
		return -ENOMEM;
	for (size_t i = 0; i < b->n; i++) {
		const struct point *p = &h->at[i ? first + i - 1 : first];
		struct slope slope = i == 0 ? left :
				     i == b->n - 1 ? right : hull_edge(h, first + i - 1);

		b->pieces[i] = (struct piece){ i ? p->x : -WIDE_LARGE, { p->x, p->y, slope } };
	}
	return 0;
}

void bound_free(struct bound *b)
{
	free(b->pieces);
	*b = (struct bound){ 0 };
}

size_t bound_piece(const struct bound *b, wide s)
{
	size_t low = 0, high = b->n; /* pieces[low].from <= s < pieces[high].from */

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (b->pieces[middle].from <= s)
			low = middle;
		else
			high = middle;
	}
	return low;
}

typedef void division(mpz_t, const mpz_t, const mpz_t);

/* 2^bits * (y + slope * run) */
static wide height(wide y, struct slope slope, wide run, unsigned bits, division *divide)
{
	mpz_t sum, factor, dx;

	mpz_inits(sum, factor, dx, NULL);
	wide_to_mpz(dx, slope.dx);
	wide_to_mpz(sum, y);
	mpz_mul(sum, sum, dx);
	wide_to_mpz(factor, slope.dy);
	wide_to_mpz(dx, run);
	mpz_addmul(sum, factor, dx);
	mpz_mul_2exp(sum, sum, bits);
	wide_to_mpz(dx, slope.dx);
	divide(sum, sum, dx);
	wide result = wide_from_mpz(sum);
	mpz_clears(sum, factor, dx, NULL);
	return result;
}

wide line_floor(const struct line *l, wide s, unsigned bits)
{
	return height(l->y, l->slope, s - l->x, bits, mpz_fdiv_q);
}

wide line_ceil(const struct line *l, wide s, unsigned bits)
{
	return height(l->y, l->slope, s - l->x, bits, mpz_cdiv_q);
}

wide slope_floor(struct slope slope, unsigned bits)
{
	return height(0, slope, 1, bits, mpz_fdiv_q);
}

wide slope_ceil(struct slope slope, unsigned bits)
{
	return height(0, slope, 1, bits, mpz_cdiv_q);
}
