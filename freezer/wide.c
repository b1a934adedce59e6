/* SPDX-License-Identifier: MIT
 *
 * wide.c - exact comparison, and the way to GMP and back. */
#include "freezer/wide.h"

#include <stdint.h>

typedef unsigned __int128 uwide;

void wide_to_mpz(mpz_t z, wide w)
{
	uwide magnitude = w < 0 ? -(uwide)w : (uwide)w;
	uint64_t words[2] = { (uint64_t)magnitude, (uint64_t)(magnitude >> 64) };

	mpz_import(z, 2, -1, sizeof words[0], 0, 0, words);
	if (w < 0)
		mpz_neg(z, z);
}

wide wide_from_mpz(const mpz_t z)
{
	uint64_t words[2] = { 0 };
	wide magnitude = WIDE_LARGE;

	if (mpz_sizeinbase(z, 2) <= 126) {
		mpz_export(words, NULL, -1, sizeof words[0], 0, 0, z);
		magnitude = (wide)((uwide)words[1] << 64 | words[0]);
	}
	return mpz_sgn(z) < 0 ? -magnitude : magnitude;
}

/* 32 bits at a time, so that what remains of a division never outgrows a word. */
bool wide_fraction(wide *result, wide num, wide den)
{
	if (num < 0 || den <= 0 || den >= (wide)1 << 95)
		return false;
	uwide remains = (uwide)num % (uwide)den, whole = (uwide)num / (uwide)den;

	if (whole >= (uwide)1 << 61)
		return false;
	for (int i = 0; i < 2; i++) {
		remains <<= 32;
		whole = whole << 32 | remains / (uwide)den;
		remains %= (uwide)den;
	}
	*result = (wide)(whole + (remains > 0));
	return true;
}

static int compare_products_by_gmp(wide a, wide b, wide c, wide d)
{
	mpz_t x, y, factor;

	mpz_inits(x, y, factor, NULL);
	wide_to_mpz(x, a);
	wide_to_mpz(factor, b);
	mpz_mul(x, x, factor);
	wide_to_mpz(y, c);
	wide_to_mpz(factor, d);
	mpz_mul(y, y, factor);
	int sign = mpz_cmp(x, y);
	mpz_clears(x, y, factor, NULL);
	return (sign > 0) - (sign < 0);
}

int wide_compare_products(wide a, wide b, wide c, wide d)
{
	wide left, right;

	if (__builtin_mul_overflow(a, b, &left) || __builtin_mul_overflow(c, d, &right))
		return compare_products_by_gmp(a, b, c, d);
	return (left > right) - (left < right);
}
