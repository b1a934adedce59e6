/* SPDX-License-Identifier: MIT
 *
 * block.h - many stamps of one segment at once.
 *
 * Law: what comes out is bit by bit what frz_segment_line and frz_segment_parabola give for each
 * stamp alone. A product of 64 and 32 bits is two products of 32 bits and their carry, so vectors
 * of 64-bit words compute exactly what 128 bits do, as long as stamps lie less than 2^32 ticks
 * (shifted as the segment says) behind the place that is counted from: the segment's begin or, of a
 * line, any stamp of it. */
#ifndef FREEZER_BLOCK_H
#define FREEZER_BLOCK_H

#include "freezer/segment.h"

/* Converts stamps until one is not within the segment, is too far behind the first, or a vector is
 * not full any more; how many were converted. Of a segment without bends. */
size_t block_line(const struct frz_segment *, const uint64_t *stamps, size_t n, frz_time *out);

/* Likewise, of any segment. */
size_t block_parabola(const struct frz_segment *, const uint64_t *stamps, size_t n, frz_time *out);

#endif
