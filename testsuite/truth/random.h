/* SPDX-License-Identifier: MIT
 *
 * random.h - random numbers for the truth harness: small, seedable, the same everywhere. */
#ifndef TRUTH_RANDOM_H
#define TRUTH_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct dice { uint64_t state; }; /* any state will do: it is the seed */

static inline uint64_t roll(struct dice *d) /* splitmix64 */
{
	uint64_t z = d->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* From lo to hi, both inclusive. */
static inline int64_t roll_in(struct dice *d, int64_t lo, int64_t hi)
{
	return lo + (int64_t)(roll(d) % ((uint64_t)hi - (uint64_t)lo + 1));
}

static inline bool roll_one_of(struct dice *d, uint64_t n)
{
	return roll(d) % n == 0;
}

/* In [0, 1). */
static inline double roll_unit(struct dice *d)
{
	return (double)(roll(d) >> 11) * 0x1p-53;
}

/* All orders of magnitude alike; 0 < lo <= hi. */
double roll_size(struct dice *d, double lo, double hi);

/* A waiting time without memory, of this mean. */
double roll_exponential(struct dice *d, double mean);

#endif
