/* SPDX-License-Identifier: MIT
 *
 * sweep.c - cutting bounds into segments. */
#include "freezer/sweep.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FRACTION_BITS 64
#define MAX_SHIFT     32                /* steeper than 2^32 is no clock */
#define LONGEST       (UINT64_C(1) << 62)
#define BEFORE        ((wide)1 << 56)   /* so far back a segment reaches before the first corner */

static uint64_t longest_span(unsigned shift)
{
	return LONGEST >> shift; /* height and rise stay below 2^62 each */
}

/* The least shift under which both slopes fit 64 bits. */
static unsigned shift_for(struct slope lo, struct slope hi)
{
	unsigned shift = 0;

	while (shift <= MAX_SHIFT && (slope_ceil(hi, FRACTION_BITS - shift) > UINT64_MAX ||
				      slope_floor(lo, FRACTION_BITS - shift) > UINT64_MAX))
		shift++;
	return shift;
}

/* The segment from `from` to before `until`, as far as it can reach. */
static struct frz_segment segment_at(const struct sweep *sweep, uint64_t from, wide until)
{
	const struct line *lo = &sweep->lo.pieces[bound_piece(&sweep->lo, from)].line;
	const struct line *hi = &sweep->hi.pieces[bound_piece(&sweep->hi, (wide)from + 1)].line;
	struct frz_segment s = {
		.from = from,
		.lo_at = line_floor(lo, from, FRACTION_BITS),
		.hi_at = line_ceil(hi, (wide)from + 1, FRACTION_BITS),
		.shift = shift_for(lo->slope, hi->slope),
	};

	if (s.shift > MAX_SHIFT || s.lo_at <= -WIDE_LARGE || s.hi_at >= WIDE_LARGE)
		return (struct frz_segment){ .from = from }; /* of length 0 */
	s.lo_rate = (uint64_t)slope_floor(lo->slope, FRACTION_BITS - s.shift);
	s.hi_rate = (uint64_t)slope_ceil(hi->slope, FRACTION_BITS - s.shift);
	s.hi_at += ((wide)1 << FRACTION_BITS) - 1;
	s.span = longest_span(s.shift);
	if (until - from < s.span)
		s.span = (uint64_t)(until - from);
	return s;
}

static int by_value(const void *left, const void *right)
{
	const wide *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Where segments begin: 0, some way before the first corner, each corner. */
static size_t collect_begins(const struct sweep *sweep, wide *begins)
{
	size_t n = 0;

	begins[n++] = 0;
	for (size_t i = 1; i < sweep->lo.n; i++)
		begins[n++] = sweep->lo.pieces[i].from;
	for (size_t i = 1; i < sweep->hi.n; i++)
		begins[n++] = sweep->hi.pieces[i].from - 1;
	qsort(begins + 1, n - 1, sizeof *begins, by_value);
	if (n > 1 && begins[1] > BEFORE) {
		memmove(begins + 2, begins + 1, (n - 1) * sizeof *begins);
		begins[1] = begins[2] - BEFORE;
		n++;
	}
	return n;
}

int sweep_build(struct sweep *sweep)
{
	size_t room = sweep->lo.n + sweep->hi.n + 2, n;
	wide *begins = malloc(room * sizeof *begins);

	sweep->segments = malloc(room * sizeof *sweep->segments);
	if (!begins || !sweep->segments) {
		free(begins);
		return -ENOMEM;
	}
	n = collect_begins(sweep, begins);
	for (size_t i = 0; i < n; i++) {
		wide until = i + 1 < n ? begins[i + 1] : (wide)UINT64_MAX + 1;

		/* A corner at stamp 0 belongs to "before 0". */
		if (begins[i] >= 0 && begins[i] < until)
			sweep->segments[sweep->n++] = segment_at(sweep, (uint64_t)begins[i], until);
	}
	free(begins);
	return 0;
}

void sweep_widen(struct sweep *sweep, int64_t ticks)
{
	sweep->wider += ticks;
	frz_segments_widen(sweep->segments, sweep->n, ticks);
}

void sweep_free(struct sweep *sweep)
{
	bound_free(&sweep->lo);
	bound_free(&sweep->hi);
	free(sweep->segments);
	*sweep = (struct sweep){ 0 };
}

struct rate_bounds rates_between(struct slope lo, struct slope hi)
{
	struct rate_bounds r = { .exact_lo = lo, .exact_hi = hi, .shift = shift_for(lo, hi) };

	if (r.shift <= MAX_SHIFT) {
		r.lo = (uint64_t)slope_floor(lo, FRACTION_BITS - r.shift);
		r.hi = (uint64_t)slope_ceil(hi, FRACTION_BITS - r.shift);
	}
	return r;
}

static int64_t saturated(wide w)
{
	return w < INT64_MIN ? INT64_MIN : w > INT64_MAX ? INT64_MAX : (int64_t)w;
}

static frz_time time_exactly(const struct sweep *sweep, uint64_t stamp)
{
	const struct line *lo = &sweep->lo.pieces[bound_piece(&sweep->lo, stamp)].line;
	const struct line *hi = &sweep->hi.pieces[bound_piece(&sweep->hi, (wide)stamp + 1)].line;

	return (frz_time){
		saturated(line_floor(lo, stamp, 0) - sweep->wider),
		saturated(line_ceil(hi, (wide)stamp + 1, 0) + sweep->wider),
	};
}

frz_time sweep_time_of(const struct sweep *sweep, const struct frz_segment **near, uint64_t stamp)
{
	*near = frz_segment_find(sweep->segments, sweep->n, *near, stamp);
	if (stamp - (*near)->from < (*near)->span)
		return frz_segment_line(*near, stamp - (*near)->from);
	return time_exactly(sweep, stamp);
}

static frz_time duration_exactly(const struct rate_bounds *r, uint64_t ticks)
{
	struct line lo = { 0, 0, r->exact_lo }, hi = { 0, 0, r->exact_hi };

	return (frz_time){
		ticks ? saturated(line_floor(&lo, (wide)ticks - 1, 0)) : 0,
		saturated(line_ceil(&hi, (wide)ticks + 1, 0)),
	};
}

frz_time rates_duration(const struct rate_bounds *r, uint64_t ticks)
{
	unsigned bits = FRACTION_BITS - r->shift;
	unsigned __int128 lo, hi, up = ((unsigned __int128)1 << bits) - 1;

	if (ticks >= longest_span(r->shift) || r->shift > MAX_SHIFT)
		return duration_exactly(r, ticks);
	lo = (unsigned __int128)r->lo * (ticks ? ticks - 1 : 0);
	hi = (unsigned __int128)r->hi * (ticks + 1);
	return (frz_time){ (int64_t)(lo >> bits), (int64_t)((hi + up) >> bits) };
}
