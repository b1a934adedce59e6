/* SPDX-License-Identifier: MIT
 *
 * fixed.h - sums of real numbers that do not depend on the order of their terms.
 *
 * Law: the terms are cut to multiples of a power of two, chosen so that no sum of so many terms of
 * such size overflows 64 bits. Integers add up exactly, so that any number of threads and ranks,
 * adding in any order, gets the same bits. Each term is wrong by less than 2^-60 of the greatest
 * possible sum. */
#ifndef EXAMPLES_FIXED_H
#define EXAMPLES_FIXED_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

struct fixed {
	double up, down; /* powers of two; up * down = 1 */
};

/* For up to `terms` terms of absolute value up to `greatest`, which is finite. */
static inline struct fixed fixed_for(double greatest, size_t terms)
{
	int size, many;
	frexp(greatest, &size);
	frexp((double)terms, &many);
	int bits = 62 - size - many;
	if (bits > 1000) /* all terms are tiny or zero */
		bits = 1000;
	return (struct fixed){ ldexp(1, bits), ldexp(1, -bits) };
}

static inline int64_t fixed_from(struct fixed f, double term)
{
	return (int64_t)(term * f.up);
}

static inline double fixed_value(struct fixed f, int64_t sum)
{
	return (double)sum * f.down;
}

#endif
