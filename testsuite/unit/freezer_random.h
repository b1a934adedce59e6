/* SPDX-License-Identifier: MIT
 *
 * freezer_random.h - random numbers for this room's tests. */
#ifndef FREEZER_RANDOM_H
#define FREEZER_RANDOM_H

#include <stdint.h>
#include <stdlib.h>

static uint64_t seed, state;

static inline uint64_t draw(void) /* splitmix64 */
{
	uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static inline uint64_t below(uint64_t n)
{
	return draw() % n;
}

/* Below 2^bits and 2^63; all orders of magnitude alike. */
static inline uint64_t any_size(unsigned bits)
{
	return draw() >> 1 >> (63 - below((bits < 63 ? bits : 63) + 1));
}

static inline void random_begin(uint64_t from)
{
	seed = state = from;
}

#endif
