/* SPDX-License-Identifier: MIT
 *
 * packed.h - how full chunks are stored when their place is needed again: HOST-RANK-THREAD.packed.
 *
 *   | part header | packed words | part header | packed words | ... |
 *
 * The words of a chunk (format.h), from its CHUNK word to the last one that was written, stand in parts
 * of at most DPROF_PART_WORDS, one behind the other. A chunk is there when all its parts are; the file
 * may end within one, if the process was killed just then.
 *
 * A part is made in three steps, each of which can be undone:
 * - Of two events' stamps, their difference. The id stays what it is. Of two arguments with the same key, their
 *   difference, too (not in parts of DPROF_PART_MAGIC_1). Other escapes stay as they are.
 * - Filled up with zeros to 16 words, then all their lowest bytes, all their second bytes, and so on.
 * - One zstd frame, with its checksum.
 *
 * Law: dprof_unfold() after dprof_fold() gives back every word, whatever it is. */
#ifndef DPROF_PACKED_H
#define DPROF_PACKED_H

#include <emmintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "runtime/words.h"

#define DPROF_PART_MAGIC   0x32525044u /* "DPR2" */
#define DPROF_PART_MAGIC_1 0x54525044u /* "DPRT" */
#define DPROF_PART_WORDS 16384       /* a multiple of DPROF_FOLD_WORDS */
#define DPROF_FOLD_WORDS 16

struct dprof_part {
	uint32_t magic; /* DPROF_PART_MAGIC, or of old the other one */
	uint32_t check; /* dprof_part_check() */
	uint64_t chunk; /* its number */
	uint32_t first; /* of the chunk's words, which is the first one here */
	uint32_t words; /* here */
	uint32_t of;    /* all words of the chunk */
	uint32_t bytes; /* that follow */
};

/* Over all but the first two fields. */
static inline uint32_t dprof_part_check(const struct dprof_part *p)
{
	const uint8_t *byte = (const uint8_t *)&p->chunk, *end = (const uint8_t *)(p + 1);
	uint32_t hash = 0x811c9dc5u; /* FNV-1a */

	while (byte < end)
		hash = (hash ^ *byte++) * 0x01000193u;
	return hash;
}

/* Words that a part of so many is stored as. */
static inline size_t dprof_folded_words(size_t words)
{
	return (words + DPROF_FOLD_WORDS - 1) / DPROF_FOLD_WORDS * DPROF_FOLD_WORDS;
}

#define DPROF_STAMP_PART (~(DPROF_IDS - 1))

#define DPROF_VALUE_PART (~UINT64_C(0xff))

/* What stands before a word: the stamp of an event, and each key's value. */
struct dprof_before { uint64_t stamp, value[16]; };

/* From words to differences, and back. `to` may be `from`. */
static inline uint64_t dprof_difference(struct dprof_before *b, uint64_t word)
{
	uint64_t *value = &b->value[dprof_small(word)], before;

	if (!dprof_is_escape(word)) {
		before = b->stamp;
		b->stamp = word & DPROF_STAMP_PART;
		return word - before;
	}
	if (!dprof_is(word, DPROF_ESCAPE_ARG))
		return word;
	before = *value;
	*value = word & DPROF_VALUE_PART;
	return word - before;
}

static inline uint64_t dprof_sum(struct dprof_before *b, uint64_t difference)
{
	uint64_t *value = &b->value[dprof_small(difference)], word;

	if (!dprof_is_escape(difference)) {
		word = difference + b->stamp;
		b->stamp = word & DPROF_STAMP_PART;
		return word;
	}
	if (!dprof_is(difference, DPROF_ESCAPE_ARG))
		return difference;
	word = difference + *value;
	*value = word & DPROF_VALUE_PART;
	return word;
}

static inline void dprof_differences(const uint64_t *from, uint64_t *to, size_t words)
{
	struct dprof_before before = { 0 };

	for (size_t i = 0; i < words; i++)
		to[i] = dprof_difference(&before, from[i]);
}

/* `magic`: of the part, which says whether values are differences. */
static inline void dprof_sums(const uint64_t *from, uint64_t *to, size_t words, uint32_t magic)
{
	struct dprof_before before = { 0 };

	for (size_t i = 0; i < words; i++)
		to[i] = magic == DPROF_PART_MAGIC_1 && dprof_is_escape(from[i]) ? from[i] : dprof_sum(&before, from[i]);
}

/* The first half of 128 bytes and the second one take turns: of a byte's place, in 7 bits, the highest
 * becomes the lowest. Place in 16 words: wwwwbbb. After four turns it is bbbwwww; after three more it
 * is wwwwbbb again. */
static inline void dprof_take_turns(__m128i x[8])
{
	__m128i y[8];

	for (int i = 0; i < 4; i++) {
		y[2 * i] = _mm_unpacklo_epi8(x[i], x[i + 4]);
		y[2 * i + 1] = _mm_unpackhi_epi8(x[i], x[i + 4]);
	}
	memcpy(x, y, sizeof(y));
}

/* `words` is a multiple of DPROF_FOLD_WORDS. */
static inline void dprof_to_planes(const uint64_t *from, uint8_t *to, size_t words)
{
	for (size_t at = 0; at < words; at += DPROF_FOLD_WORDS) {
		__m128i x[8];

		memcpy(x, from + at, sizeof(x));
		for (int turn = 0; turn < 4; turn++)
			dprof_take_turns(x);
		for (size_t plane = 0; plane < 8; plane++)
			_mm_storeu_si128((__m128i *)(void *)(to + plane * words + at), x[plane]);
	}
}

static inline void dprof_from_planes(const uint8_t *from, uint64_t *to, size_t words)
{
	for (size_t at = 0; at < words; at += DPROF_FOLD_WORDS) {
		__m128i x[8];

		for (size_t plane = 0; plane < 8; plane++)
			x[plane] = _mm_loadu_si128(
				(const __m128i *)(const void *)(from + plane * words + at));
		for (int turn = 0; turn < 3; turn++)
			dprof_take_turns(x);
		memcpy(to + at, x, sizeof(x));
	}
}

/* `words` of `from` become dprof_folded_words() times 8 bytes; `space` has room for those, too. */
static inline void dprof_fold(const uint64_t *from, uint8_t *to, size_t words, uint64_t *space)
{
	size_t all = dprof_folded_words(words);

	dprof_differences(from, space, words);
	for (size_t i = words; i < all; i++)
		space[i] = 0;
	dprof_to_planes(space, to, all);
}

/* `to` has room for dprof_folded_words(), of which `words` are meant. */
static inline void dprof_unfold(const uint8_t *from, uint64_t *to, size_t words, uint32_t magic)
{
	dprof_from_planes(from, to, dprof_folded_words(words));
	dprof_sums(to, to, words, magic);
}

#endif
