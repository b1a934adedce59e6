/* SPDX-License-Identifier: MIT
 *
 * clocks.c - see clocks.h. Rates are chosen in doubles and become knots with whole coordinates;
 * from then on the map is exact, and is asked what it is. */
#include "testsuite/truth/clocks.h"

#include <math.h>
#include <string.h>

#define STRETCHES 48

static const char *const words[] = {
#define X(NAME, word) [CLOCK_##NAME] = #word,
	CLOCK_KINDS(X)
#undef X
};

const char *clock_word(enum clock_kind kind)
{
	return words[kind];
}

enum clock_kind clock_kind_of(const char *word)
{
	int kind = 0;

	while (kind < CLOCK_KINDS_COUNT && strcmp(words[kind], word) != 0)
		kind++;
	return (enum clock_kind)kind;
}

/* ---- How far the rate is off, from -1 to 1, in each stretch of the run ---------------------- */

struct shape { double off[STRETCHES]; };

static struct shape sine(struct dice *d)
{
	double periods = roll_size(d, 0.1, STRETCHES / 8.0), phase = roll_unit(d);
	struct shape s;

	for (int i = 0; i < STRETCHES; i++)
		s.off[i] = sin(2 * M_PI * (phase + periods * i / STRETCHES));
	return s;
}

static struct shape walk(struct dice *d)
{
	double step = roll_size(d, 0.02, 0.5), at = 2 * roll_unit(d) - 1;
	struct shape s;

	for (int i = 0; i < STRETCHES; i++) {
		at = fmax(-1, fmin(1, at + step * (2 * roll_unit(d) - 1)));
		s.off[i] = at;
	}
	return s;
}

static struct shape alternate(struct dice *d)
{
	double at = 1;
	struct shape s;

	for (int i = 0; i < STRETCHES; i++) {
		at = roll_one_of(d, 4) ? -at : at;
		s.off[i] = at;
	}
	return s;
}

static struct shape ramp(struct dice *d)
{
	double middle = STRETCHES * roll_unit(d), steep = roll_size(d, 0.05, 2);
	struct shape s;

	for (int i = 0; i < STRETCHES; i++)
		s.off[i] = tanh(steep * (i - middle));
	return s;
}

static struct shape shape_of(struct dice *d, enum clock_kind kind)
{
	switch (kind) {
	case CLOCK_SINE: return sine(d);
	case CLOCK_WALK: return walk(d);
	case CLOCK_RAMP: return ramp(d);
	default: return alternate(d);
	}
}

/* ---- Maps ----------------------------------------------------------------------------------- */

static struct clockmap wandering(struct dice *d, const struct clock_spec *w, double ppb)
{
	enum clock_kind kind = w->kind;
	struct clockmap m = clockmap_begin(w->begin, w->own);
	int64_t begin = w->begin;

	if (kind == CLOCK_EXCESS)
		kind = (enum clock_kind)roll_in(d, CLOCK_SINE, CLOCK_RAMP);
	struct shape s = shape_of(d, kind);

	for (int i = 0; i < STRETCHES; i++) {
		int64_t end = w->begin +
			      (int64_t)((__int128)(w->end - w->begin) * (i + 1) / STRETCHES);
		double rate = w->rate * (1 + s.off[i] * ppb / 2 * 1e-9);

		clockmap_extend(&m, end - begin, llrint(rate * (double)(end - begin)));
		begin = end;
	}
	return m;
}

/* One rate before and behind `break_at`, where the clock is set or stands still. */
static struct clockmap broken(const struct clock_spec *w)
{
	struct clockmap m = clockmap_begin(w->begin, w->own);
	int64_t before = w->break_at - w->begin, behind = w->end - w->break_at;
	int64_t jump = llrint(w->rate * (double)w->break_ticks);

	clockmap_extend(&m, before, llrint(w->rate * (double)before));
	if (w->kind == CLOCK_PAUSE)
		clockmap_extend(&m, w->break_ticks, 0);
	else
		clockmap_extend(&m, 0, w->kind == CLOCK_BACK ? -jump : jump);
	clockmap_extend(&m, behind, llrint(w->rate * (double)behind));
	return m;
}

/* A straight line of no particular slope: it does not pass through whole ticks again and again. */
static struct clockmap straight(struct dice *d, const struct clock_spec *w)
{
	int64_t run = (INT64_C(1) << 40) + roll_in(d, 0, 1 << 28);

	return clockmap_affine(w->begin, w->own, llrint(w->rate * (double)run), run);
}

struct clockmap clock_draw(struct dice *d, const struct clock_spec *w)
{
	struct dice mine = { roll(d) };

	switch (w->kind) {
	case CLOCK_AFFINE:
		return straight(&mine, w);
	case CLOCK_FORWARD:
	case CLOCK_BACK:
	case CLOCK_PAUSE:
		return broken(w);
	case CLOCK_EXCESS:
		return wandering(&mine, w, w->wander_ppb * roll_size(&mine, 2, 100));
	default:
		return wandering(&mine, w, w->wander_ppb);
	}
}
