/* SPDX-License-Identifier: MIT
 *
 * segment.h - both bounds of a clock over a stretch of stamps, cheap to evaluate.
 *
 * With t ticks since `from`, the time lies between
 *	2^-64 * (lo_at + ((lo_rate + (lo_bend * t >> bend_shift)) * t << shift)) and
 *	2^-64 * (hi_at + ((hi_rate - (hi_bend * t >> bend_shift)) * t << shift)):
 * lines, or parabolas over a chord. Who makes segments sees to it that nothing overflows. Many
 * stamps at once: block.h. */
#ifndef FREEZER_SEGMENT_H
#define FREEZER_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

/* A time that is known to lie within two whole base ticks, inclusive. INT64_MIN as lo and INT64_MAX
 * as hi stand for whatever lies beyond. */
typedef struct { int64_t lo, hi; } frz_time;

struct frz_segment {
	uint64_t from, span;    /* for stamps from .. from + span - 1 */
	__int128 lo_at, hi_at;  /* hi_at with all but 1 added, so that cutting off rounds up */
	uint64_t lo_rate, hi_rate;
	uint64_t lo_bend, hi_bend;
	uint8_t shift, bend_shift;
};

static inline int64_t frz_segment_height(__int128 at, uint64_t rate, uint64_t ticks)
{
	return (int64_t)((at + (__int128)((unsigned __int128)rate * ticks)) >> 64);
}

/* `ticks` is less than s->span. Of a segment without bends. */
static inline frz_time frz_segment_line(const struct frz_segment *s, uint64_t ticks)
{
	ticks <<= s->shift;
	return (frz_time){ frz_segment_height(s->lo_at, s->lo_rate, ticks),
			   frz_segment_height(s->hi_at, s->hi_rate, ticks) };
}

/* Likewise, of any segment. */
static inline frz_time frz_segment_parabola(const struct frz_segment *s, uint64_t ticks)
{
	uint64_t more = (uint64_t)((unsigned __int128)s->lo_bend * ticks >> s->bend_shift);
	uint64_t less = (uint64_t)((unsigned __int128)s->hi_bend * ticks >> s->bend_shift);

	ticks <<= s->shift;
	return (frz_time){ frz_segment_height(s->lo_at, s->lo_rate + more, ticks),
			   frz_segment_height(s->hi_at, s->hi_rate - less, ticks) };
}

/* The segment that begins last of those that begin at or before `stamp`, or else the first. From
 * `near`, one of them, to either side at a cost that grows with the logarithm of the segments passed. */
const struct frz_segment *frz_segment_find(const struct frz_segment *segments, size_t n,
					   const struct frz_segment *near, uint64_t stamp);

/* Moves both bounds apart by whole ticks. A segment that might overflow then becomes 0 long. */
void frz_segments_widen(struct frz_segment *segments, size_t n, int64_t ticks);

#endif
