/* SPDX-License-Identifier: MIT
 *
 * segment.c - finding the segment of a stamp. */
#include "freezer/segment.h"

/* From `near` in steps that double, then by halving. */
const struct frz_segment *frz_segment_find(const struct frz_segment *segments, size_t n,
					   const struct frz_segment *near, uint64_t stamp)
{
	const struct frz_segment *low = segments, *high = segments + n;

	if (near->from > stamp)
		high = near;
	else
		low = near;
	for (ptrdiff_t step = 1; low == near && step < high - near; step *= 2) {
		if (near[step].from > stamp)
			high = near + step;
		else
			near = low = near + step;
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
