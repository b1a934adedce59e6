/* SPDX-License-Identifier: MIT
 *
 * block.c - the vectors that this processor has. */
#include "freezer/block.h"

#include <immintrin.h>
#include <stdbool.h>
#include <string.h>

#define LANES  8
#define TARGET __attribute__((target("avx512f")))
#define NAME(x) x##_by_8
#define MUL(a, b) ((vector_by_8)_mm512_mul_epu32((__m512i)(a), (__m512i)(b)))
#define ALL_BELOW(t, limit) \
	(_mm512_cmplt_epu64_mask((__m512i)(t), _mm512_set1_epi64((long long)(limit))) == 0xff)
#include "freezer/block_lanes.h"
#undef LANES
#undef TARGET
#undef NAME
#undef MUL
#undef ALL_BELOW

/* Words are compared with their signs: what is not below 2^63 is negative, and not below either. */
static inline __attribute__((target("avx2"))) bool all_below(__m256i t, uint64_t limit)
{
	__m256i above = _mm256_cmpgt_epi64(t, _mm256_set1_epi64x((long long)limit - 1));

	return _mm256_testz_si256(_mm256_or_si256(above, t), _mm256_set1_epi64x(INT64_MIN));
}

#define LANES  4
#define TARGET __attribute__((target("avx2")))
#define NAME(x) x##_by_4
#define MUL(a, b) ((vector_by_4)_mm256_mul_epu32((__m256i)(a), (__m256i)(b)))
#define ALL_BELOW(t, limit) all_below((__m256i)(t), limit)
#include "freezer/block_lanes.h"

/* Ticks below which products fit: at most 2^32, so that signs do not matter above. */
static uint64_t limit_of(const struct frz_segment *s)
{
	uint64_t most = (UINT64_C(1) << 32) >> s->shift;

	return s->span < most ? s->span : most;
}

/* The same segment as it is from a later stamp on. */
static struct frz_segment from_later(const struct frz_segment *s, uint64_t stamp)
{
	struct frz_segment later = *s;
	unsigned __int128 ticks = (unsigned __int128)(stamp - s->from) << s->shift;

	later.from = stamp;
	later.span -= stamp - s->from;
	later.lo_at += (__int128)(s->lo_rate * ticks);
	later.hi_at += (__int128)(s->hi_rate * ticks);
	return later;
}

size_t block_line(const struct frz_segment *s, const uint64_t *stamps, size_t n, frz_time *out)
{
	if (!n || stamps[0] - s->from >= s->span)
		return 0;
	struct frz_segment later = from_later(s, stamps[0]);
	uint64_t limit = limit_of(&later);

	if (__builtin_cpu_supports("avx512f"))
		return line_by_8(&later, limit, stamps, n, out);
	if (__builtin_cpu_supports("avx2"))
		return line_by_4(&later, limit, stamps, n, out);
	return 0;
}

size_t block_parabola(const struct frz_segment *s, const uint64_t *stamps, size_t n, frz_time *out)
{
	uint64_t limit = limit_of(s);

	if (s->lo_bend > UINT32_MAX || s->hi_bend > UINT32_MAX)
		return 0;
	if (__builtin_cpu_supports("avx512f"))
		return parabola_by_8(s, limit, stamps, n, out);
	if (__builtin_cpu_supports("avx2"))
		return parabola_by_4(s, limit, stamps, n, out);
	return 0;
}
