/* SPDX-License-Identifier: MIT
 *
 * block_lanes.h - the loops of block.c, included once for each kind of vector.
 *
 * LANES: 64-bit words in a vector; NAME(x): the function's name; TARGET: what the processor must
 * know; MUL(a, b): the products of the lower halves of words; ALL_BELOW(t, limit): whether all words
 * are. */
typedef uint64_t NAME(vector) __attribute__((vector_size(8 * LANES)));
#define VECTOR NAME(vector)

/* Lanes in the order of memory: lo, hi, lo, hi. */
static inline TARGET void NAME(store)(frz_time *out, VECTOR lo, VECTOR hi)
{
#if LANES == 8
	VECTOR first = __builtin_shuffle(lo, hi, (VECTOR){ 0, 8, 1, 9, 2, 10, 3, 11 });
	VECTOR second = __builtin_shuffle(lo, hi, (VECTOR){ 4, 12, 5, 13, 6, 14, 7, 15 });
#else
	VECTOR first = __builtin_shuffle(lo, hi, (VECTOR){ 0, 4, 1, 5 });
	VECTOR second = __builtin_shuffle(lo, hi, (VECTOR){ 2, 6, 3, 7 });
#endif
	memcpy(out, &first, sizeof first);
	memcpy(out + LANES / 2, &second, sizeof second);
}

/* frz_segment_height: at + rate * ticks, whole ticks of it. */
static inline TARGET VECTOR NAME(height)(__int128 at, VECTOR rate, VECTOR ticks)
{
	uint64_t fraction = (uint64_t)at, whole = (uint64_t)(at >> 64);
	VECTOR low = MUL(ticks, rate) + (fraction & UINT32_MAX);
	VECTOR high = MUL(ticks, rate >> 32) + (fraction >> 32) + (low >> 32);

	return (high >> 32) + whole;
}

static TARGET size_t NAME(line)(const struct frz_segment *segment, uint64_t limit,
				const uint64_t *stamps, size_t n, frz_time *out)
{
	const struct frz_segment s = *segment; /* `out` cannot be part of it */
	VECTOR lo_rate = (VECTOR){ 0 } + s.lo_rate, hi_rate = (VECTOR){ 0 } + s.hi_rate;
	size_t i = 0;

	for (; i + LANES <= n; i += LANES) {
		VECTOR ticks;

		memcpy(&ticks, stamps + i, sizeof ticks);
		ticks -= s.from;
		if (!ALL_BELOW(ticks, limit))
			break;
		ticks <<= s.shift;
		NAME(store)(out + i, NAME(height)(s.lo_at, lo_rate, ticks),
			    NAME(height)(s.hi_at, hi_rate, ticks));
	}
	return i;
}

static TARGET size_t NAME(parabola)(const struct frz_segment *segment, uint64_t limit,
				    const uint64_t *stamps, size_t n, frz_time *out)
{
	const struct frz_segment s = *segment;
	VECTOR lo_bend = (VECTOR){ 0 } + s.lo_bend, hi_bend = (VECTOR){ 0 } + s.hi_bend;
	size_t i = 0;

	for (; i + LANES <= n; i += LANES) {
		VECTOR ticks;

		memcpy(&ticks, stamps + i, sizeof ticks);
		ticks -= s.from;
		if (!ALL_BELOW(ticks, limit))
			break;
		VECTOR lo_rate = s.lo_rate + (MUL(lo_bend, ticks) >> s.bend_shift);
		VECTOR hi_rate = s.hi_rate - (MUL(hi_bend, ticks) >> s.bend_shift);

		ticks <<= s.shift;
		NAME(store)(out + i, NAME(height)(s.lo_at, lo_rate, ticks),
			    NAME(height)(s.hi_at, hi_rate, ticks));
	}
	return i;
}

#undef VECTOR
