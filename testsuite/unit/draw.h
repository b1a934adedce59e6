/* SPDX-License-Identifier: MIT
 *
 * draw.h - random numbers for a unit test, from one state: D. Knuth's generator for MMIX, of which the high bits are good. */
#ifndef UNIT_DRAW_H
#define UNIT_DRAW_H

#include <stdint.h>

static uint64_t draw_state; /* any will do: it is the seed */

/* From 0 on, below n; of 31 bits. */
static inline uint64_t draw_below(uint64_t n)
{
	draw_state = draw_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (draw_state >> 33) % n;
}

#endif
