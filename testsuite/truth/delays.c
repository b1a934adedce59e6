/* SPDX-License-Identifier: MIT
 *
 * delays.c - see delays.h. */
#include "testsuite/truth/delays.h"

#include <math.h>
#include <string.h>

#define LONGEST 1e5 /* times the floor: someone gave up */

static const char *const words[] = {
#define X(NAME, word) [DELAY_##NAME] = #word,
	DELAY_KINDS(X)
#undef X
};

const char *delay_word(enum delay_kind kind)
{
	return words[kind];
}

enum delay_kind delay_kind_of(const char *word)
{
	int kind = 0;

	while (kind < DELAY_KINDS_COUNT && strcmp(words[kind], word) != 0)
		kind++;
	return (enum delay_kind)kind;
}

struct true_delay delay_draw(struct dice *d, enum delay_kind kind, double floor)
{
	struct true_delay p = { .kind = kind, .floor = { floor, floor } };

	if (kind == DELAY_INSTANT)
		p.floor[0] = p.floor[1] = 0;
	if (kind == DELAY_ASYMMETRIC)
		p.floor[roll(d) & 1] *= roll_size(d, 1.5, 100);
	return p;
}

static double noise(struct true_delay *p, struct dice *d, int direction)
{
	double floor = p->floor[direction], *queue = &p->queue[direction];

	switch (p->kind) {
	case DELAY_INSTANT:
		return 0;
	case DELAY_BURSTY:
		if (roll_one_of(d, 20))
			*queue = *queue ? 0 : floor * roll_size(d, 1, 100);
		return *queue + roll_exponential(d, 0.1 * floor);
	case DELAY_EXPONENTIAL:
		return roll_exponential(d, floor);
	case DELAY_HEAVY:
		return floor * (pow(1 - roll_unit(d), -1 / 0.9) - 1);
	case DELAY_CONGESTED:
		*queue = fmax(0, *queue + floor * (2.02 * roll_unit(d) - 1));
		return *queue + roll_exponential(d, 0.1 * floor);
	default:
		return roll_exponential(d, 0.1 * floor);
	}
}

int64_t delay_next(struct true_delay *p, struct dice *d, int direction)
{
	double floor = p->floor[direction];

	return (int64_t)ceil(floor + fmin(noise(p, d, direction), LONGEST * floor));
}
