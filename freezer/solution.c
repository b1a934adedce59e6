/* SPDX-License-Identifier: MIT
 *
 * solution.c - what a solution says of stamps: see solve.h. */
#include "freezer/solution.h"

#include <stdlib.h>

#include "freezer/block.h"

#define SPEED_BITS 61 /* of a duration by a speed, which fits in a word then */
#define MAX_SHIFT  32 /* steeper than 2^32 is no clock */
#define ONE_BY_ONE 8 /* stamps that are converted alone before the next block is tried */

void frz_solution_free(struct frz_solution *solution)
{
	for (uint32_t c = 0; solution && c < solution->nclocks; c++)
		solved_free(&solution->clocks[c]);
	free(solution);
}

const struct frz_clock *frz_clock(const struct frz_solution *solution, uint32_t clock)
{
	return &solution->clocks[clock].clock;
}

struct frz_cursor frz_cursor(const struct frz_solution *solution, uint32_t clock)
{
	const struct solved *s = &solution->clocks[clock];
	bool bent = s->wander.segments;

	return (struct frz_cursor){ solution, clock, bent,
				    bent ? s->wander.segments : s->sweep.segments };
}

frz_time frz_time_elsewhere(struct frz_cursor *c, uint64_t stamp)
{
	const struct solved *s = &c->solution->clocks[c->clock];

	return c->bent ? frz_wander_time_of(&s->wander, &c->at, stamp)
		       : sweep_time_of(&s->sweep, &c->at, stamp);
}

void frz_times_of(struct frz_cursor *c, const uint64_t *stamps, size_t n, frz_time *out)
{
	for (size_t i = 0, until; i < n; i = until) {
		i += (c->bent ? block_parabola : block_line)(c->at, stamps + i, n - i, out + i);
		until = i + ONE_BY_ONE < n ? i + ONE_BY_ONE : n;
		for (; i < until; i++)
			out[i] = frz_time_of(c, stamps[i]);
	}
}

void frz_widen(struct frz_solution *solution, uint32_t clock, uint64_t ticks)
{
	struct solved *s = &solution->clocks[clock];

	if (!ticks || !frz_placed(&s->clock))
		return;
	int64_t most = frz_duration(solution, clock, ticks).hi;
	if (s->wander.segments)
		frz_segments_widen(s->wander.segments, s->wander.nsegments, most);
	else
		sweep_widen(&s->sweep, most);
}

frz_time frz_duration(const struct frz_solution *solution, uint32_t clock, uint64_t ticks)
{
	const struct solved *s = &solution->clocks[clock];

	return s->wander.segments ? frz_wander_duration(&s->wander, ticks)
				  : rates_duration(&s->rates, ticks);
}

struct frz_speed frz_speed(const struct frz_solution *solution, uint32_t clock)
{
	const struct solved *s = &solution->clocks[clock];
	bool bent = s->wander.segments;
	unsigned shift = bent ? s->wander.rate_shift : s->rates.shift;
	struct frz_speed speed = { solution, clock, 64, 0, 0, 0 };

	if (shift > MAX_SHIFT)
		return speed;
	speed.bits = 64 - shift;
	speed.lo = bent ? s->wander.rate_lo : s->rates.lo;
	speed.hi = bent ? s->wander.rate_hi : s->rates.hi;
	speed.most = (UINT64_C(1) << SPEED_BITS) >> shift;
	return speed;
}
