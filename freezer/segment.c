/* SPDX-License-Identifier: MIT
 *
 * segment.c - finding the segment of a stamp, and making all of them wider. */
#include "freezer/segment.h"

/* From `near` in steps that double, to either side, then by halving. */
const struct frz_segment *frz_segment_find(const struct frz_segment *segments, size_t n,
					   const struct frz_segment *near, uint64_t stamp)
{
	const struct frz_segment *low = segments, *high = segments + n;

	if (near->from > stamp) {
		high = near;
		for (ptrdiff_t step = 1; step < high - segments; step *= 2) {
			if (high[-step].from <= stamp) {
				low = high - step;
				break;
			}
			high -= step;
		}
	} else {
		low = near;
		for (ptrdiff_t step = 1; step < high - low; step *= 2) {
			if (low[step].from > stamp) {
				high = low + step;
				break;
			}
			low += step;
		}
	}
	while (high - low > 1) {
		const struct frz_segment *middle = low + (high - low) / 2;

		if (middle->from <= stamp)
			low = middle;
		else
			high = middle;
	}
	return low;
}

void frz_segments_widen(struct frz_segment *segments, size_t n, int64_t ticks)
{
	const __int128 most = (__int128)1 << 126, by = (__int128)ticks << 64;

	for (struct frz_segment *s = segments; s < segments + n; s++) {
		if (s->lo_at <= by - most || s->hi_at >= most - by) {
			s->span = 0;
			continue;
		}
		s->lo_at -= by;
		s->hi_at += by;
	}
}
