/* SPDX-License-Identifier: MIT
 *
 * wide.h - integers for exact geometry on 64-bit stamps.
 *
 * Differences of stamps have 65 bits and a sign, products of two of them 131: 128 bits hold all
 * that real runs bring (a year at 8 GHz), GMP takes the rest. */
#ifndef FREEZER_WIDE_H
#define FREEZER_WIDE_H

#include <gmp.h>
#include <stdbool.h>

typedef __int128 wide;

#define WIDE_LARGE ((wide)1 << 126) /* beyond any stamp, and still safe to negate and to add to */

/* Sign of a * b - c * d. Exact. */
int wide_compare_products(wide a, wide b, wide c, wide d);

/* *result = 2^64 * num / den rounded up, without GMP; false if that takes more than 128 bits on the
 * way. */
bool wide_fraction(wide *result, wide num, wide den);

/* (a0 a1 a2 - b0 b1 b2) / (c0 c1), rounded down, for c0 and c1 above 0; the nearest of
 * -WIDE_LARGE..WIDE_LARGE. */
wide wide_quotient(const wide a[3], const wide b[3], const wide c[2]);

void wide_to_mpz(mpz_t, wide);

/* The nearest of -WIDE_LARGE..WIDE_LARGE. */
wide wide_from_mpz(const mpz_t);

#endif
