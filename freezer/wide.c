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
	if (den <= 0 || den >= (wide)1 << 95)
		return false;
	uwide magnitude = num < 0 ? -(uwide)num : (uwide)num;
	uwide remains = magnitude % (uwide)den, whole = magnitude / (uwide)den;

	if (whole >= (uwide)1 << 61)
		return false;
	for (int i = 0; i < 2; i++) {
		remains <<= 32;
		whole = whole << 32 | remains / (uwide)den;
		remains %= (uwide)den;
	}
	*result = num < 0 ? -(wide)whole : (wide)(whole + (remains > 0));
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

static void product_by_gmp(mpz_t z, const wide *factors, size_t n)
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

static wide quotient_by_gmp(const wide a[3], const wide b[3], const wide c[2])
{
	mpz_t num, part;

	mpz_inits(num, part, NULL);
	product_by_gmp(num, a, 3);
	product_by_gmp(part, b, 3);
	mpz_sub(num, num, part);
	product_by_gmp(part, c, 2);
	mpz_fdiv_q(num, num, part);
	wide result = wide_from_mpz(num);
	mpz_clears(num, part, NULL);
	return result;
}

static bool product_fits(wide *product, const wide *factors, size_t n)
{
	bool fits = true;

	*product = 1;
	for (size_t i = 0; i < n; i++)
		fits = fits && !__builtin_mul_overflow(*product, factors[i], product);
	return fits;
}

wide wide_quotient(const wide a[3], const wide b[3], const wide c[2])
{
	wide num, part, den;

	if (!product_fits(&num, a, 3) || !product_fits(&part, b, 3) || !product_fits(&den, c, 2) ||
	    __builtin_sub_overflow(num, part, &num))
		return quotient_by_gmp(a, b, c);
	wide result = num / den - (num % den < 0);
	return result > WIDE_LARGE ? WIDE_LARGE : result < -WIDE_LARGE ? -WIDE_LARGE : result;
}
