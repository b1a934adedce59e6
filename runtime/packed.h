/* SPDX-License-Identifier: MIT
 *
 * packed.h - how full chunks are stored when their place is needed again: HOST-RANK-THREAD.packed.
 *
 *   | part header | packed words | part header | packed words | ... |
 *
 * The words of a chunk (format.h), from its CHUNK word to the last one that was written, stand in parts
 * of at most DPROF_PART_WORDS, one behind the other. A chunk is there when all its parts are; the file
 * may end within one, if the process was killed just then. What is written over each part's header says
 * whose it is, so that the file of another thread, or a copy of it, has no parts of this one.
 *
 * A part is made in three steps, each of which can be undone:
 *
 * - Each word is of a class: events that have the same id (words.h) are one, and so are escapes whose lowest
 *   bytes are equal. What says which classes stand where in the part, one byte for each word, is apart from
 *   what is left of the words:
 *
 *     events    one stream: their stamps less the one before. Class 0: events whose id has no class of its own,
 *               since there are so many; their id is left, too
 *     escapes   class by class: their values less the one before in the class; the sign in the lowest bit, so
 *               that small numbers have few bytes. A class whose values are all equal has no words here
 *
 * - All lowest bytes of a stream, all its second bytes, and so on: 8 planes of each, and that of the classes.
 * - Of each plane nothing if it is all zeros, or its one byte if all are equal; else one zstd frame; else, if that
 *   is hardly smaller, the plane as it is.
 *
 *   packed words: | struct dprof_split | class u64 ... | count u16 ... to 8 bytes | plane | ... | to 8 bytes |
 *
 * The form before (DPROF_PART_MAGIC_3): the same, and nothing says whose it is. That before it (DPROF_PART_MAGIC_2):
 * one zstd frame, with its checksum, of the 8 planes of all words, filled up with zeros to 16; of two events' stamps,
 * and of two arguments with the same key, their difference. And the first form (DPROF_PART_MAGIC_1): the same with
 * escapes as they are.
 *
 * Law: dprof_merge() after dprof_split() gives back every word, whatever it is. */
#ifndef DPROF_PACKED_H
#define DPROF_PACKED_H

#include <emmintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "runtime/sum.h"
#include "runtime/words.h"

#define DPROF_PART_MAGIC   0x34525044u /* "DPR4" */
#define DPROF_PART_MAGIC_3 0x33525044u /* "DPR3" */
#define DPROF_PART_MAGIC_2 0x32525044u /* "DPR2" */
#define DPROF_PART_MAGIC_1 0x54525044u /* "DPRT" */
#define DPROF_PART_WORDS   16384       /* a multiple of DPROF_FOLD_WORDS */
#define DPROF_FOLD_WORDS   16

struct dprof_part {
	uint32_t magic; /* DPROF_PART_MAGIC, or of a form before */
	uint32_t check; /* dprof_part_check(), by its owner */
	uint64_t chunk; /* its number */
	uint32_t first; /* of the chunk's words, which is the first one here */
	uint32_t words; /* here */
	uint32_t of;    /* all words of the chunk */
	uint32_t bytes; /* that follow */
};

#define DPROF_PART_NOBODY 0x811c9dc5u /* owner of parts in the forms before */

/* FNV-1a, 32 bits. */
static inline uint32_t dprof_part_hash(uint32_t hash, const void *from, size_t bytes)
{
	const uint8_t *byte = from, *end = byte + bytes;

	while (byte < end)
		hash = (hash ^ *byte++) * 0x01000193u;
	return hash;
}

/* A number for the thread with that header: of its process, its own number, and when it began. */
static inline uint32_t dprof_part_owner(const struct dprof_events_header *h)
{
	const uint64_t is[] = { h->pid, h->thread, h->started };

	return dprof_part_hash(DPROF_PART_NOBODY, is, sizeof(is));
}

/* Over all but the first two fields. Each step is a bijection of the hash, so two owners have different checks. */
static inline uint32_t dprof_part_check(const struct dprof_part *p, uint32_t owner)
{
	return dprof_part_hash(owner, &p->chunk, sizeof(*p) - offsetof(struct dprof_part, chunk));
}

/* ---- Words apart ------------------------------------------------------------------------------- */

#define DPROF_STAMP_PART  (~(DPROF_IDS - 1))
#define DPROF_VALUE_PART  (~UINT64_C(255))
#define DPROF_CLASSES     256
#define DPROF_CLASSES_IDS 127 /* of events, besides class 0; the lowest bytes of escapes need the others */
#define DPROF_SLOT_BITS   9
#define DPROF_PLANES      17  /* classes; 8 of events; 8 of escapes */

/* What packed words begin with. */
struct dprof_split {
	uint64_t sum;                 /* of all that follows, up to the next part (sum.h) */
	uint16_t events, escapes;     /* words in the streams */
	uint16_t classes;
	uint16_t plane[DPROF_PLANES]; /* bytes that are stored of each */
};

/* The words of a part, apart. Streams have room for whole blocks of DPROF_FOLD_WORDS; and that of escapes for a
 * part more: for those that are still to be put in order, and so that merging what makes no sense reads nothing
 * else. */
struct dprof_streams {
	size_t events, escapes;
	unsigned classes, ids;
	uint64_t event_bits, escape_bits;    /* that are set in any word of the stream */
	uint64_t first[DPROF_CLASSES];       /* an escape's first word; of events the id, and of 0 the first stamp */
	uint16_t count[DPROF_CLASSES];       /* of words among the escapes */
	uint8_t of_escape[128], of_id[1 << DPROF_SLOT_BITS]; /* the class, or 0 */
	uint8_t class[DPROF_PART_WORDS + DPROF_FOLD_WORDS];
	uint64_t event[DPROF_PART_WORDS + DPROF_FOLD_WORDS];
	uint64_t escape[2 * DPROF_PART_WORDS + DPROF_FOLD_WORDS];
};

static inline uint8_t dprof_new_class(struct dprof_streams *s, uint64_t first)
{
	s->first[s->classes] = first;
	return (uint8_t)s->classes++;
}

/* 0 if there are too many others. */
static inline uint8_t dprof_class_of_id(struct dprof_streams *s, uint64_t id)
{
	uint32_t slot = (uint32_t)id * UINT32_C(0x9e3779b1) >> (32 - DPROF_SLOT_BITS);

	while (s->of_id[slot] && s->first[s->of_id[slot]] != id)
		slot = (slot + 1) % (1 << DPROF_SLOT_BITS);
	if (!s->of_id[slot] && s->ids < DPROF_CLASSES_IDS) {
		s->ids++;
		s->of_id[slot] = dprof_new_class(s, id);
	}
	return s->of_id[slot];
}

static inline uint8_t dprof_class_of_escape(struct dprof_streams *s, uint64_t word)
{
	uint8_t *class = &s->of_escape[word / 2 % 128];

	if (!*class)
		*class = dprof_new_class(s, word);
	return *class;
}

/* A difference of two escapes' values, and back: the sign comes to stand lowest. */
static inline uint64_t dprof_sign_low(uint64_t difference)
{
	return difference << 1 ^ (-(difference >> 63) & DPROF_VALUE_PART);
}

static inline uint64_t dprof_sign_high(uint64_t bits)
{
	return (bits >> 1 ^ -(bits >> 8 & 1)) & DPROF_VALUE_PART;
}

/* Escapes in order become a stream class by class. */
static inline void dprof_split_escapes(struct dprof_streams *s, const uint64_t *word, size_t n)
{
	uint64_t *next[DPROF_CLASSES], *at = s->escape, before[DPROF_CLASSES];

	for (unsigned c = 0; c < s->classes; c++) {
		next[c] = at;
		before[c] = s->first[c];
		at += s->count[c];
	}
	s->escapes = (size_t)(at - s->escape);
	for (size_t i = 0; i < n; i++) {
		uint8_t c = s->of_escape[word[i] / 2 % 128];

		if (!s->count[c])
			continue;
		*next[c] = dprof_sign_low(word[i] - before[c]);
		s->escape_bits |= *next[c]++;
		before[c] = word[i];
	}
}

/* n words, at most DPROF_PART_WORDS. */
static inline void dprof_split(const uint64_t *word, size_t n, struct dprof_streams *s)
{
	uint64_t *event = s->event, *escape = s->escape + DPROF_PART_WORDS;
	uint64_t before = 0, bits = 0, differ[DPROF_CLASSES] = { 0 };

	memset(s, 0, offsetof(struct dprof_streams, class));
	dprof_new_class(s, 0);
	for (size_t i = 0; i < n; i++) {
		uint64_t w = word[i], c;

		if (dprof_is_escape(w)) {
			c = dprof_class_of_escape(s, w);
			differ[c] |= w ^ s->first[c];
			s->count[c]++;
			*escape++ = w;
		} else {
			if (event == s->event)
				before = s->first[0] = w & DPROF_STAMP_PART;
			c = dprof_class_of_id(s, w & (DPROF_IDS - 1));
			*event = (w - before) & (c ? DPROF_STAMP_PART : ~UINT64_C(0));
			bits |= *event++;
			before = w & DPROF_STAMP_PART;
		}
		s->class[i] = (uint8_t)c;
	}
	for (unsigned c = 0; c < s->classes; c++)
		s->count[c] = differ[c] ? s->count[c] : 0;
	s->events = (size_t)(event - s->event);
	s->event_bits = bits;
	dprof_split_escapes(s, s->escape + DPROF_PART_WORDS, n - s->events);
}

/* As `sum` is to be, of packed words that are so many bytes: a multiple of 8, and more than struct dprof_split. */
static inline uint64_t dprof_split_sum(const void *packed, size_t bytes)
{
	const uint64_t *word = packed;

	return dprof_sum_words(DPROF_SUM_BEGIN, word + 1, bytes / sizeof(*word) - 1);
}

/* ---- Words together again ---------------------------------------------------------------------- */

/* Where merging is in a class: the word before, and the differences to come, by steps of 1; or there are none. An
 * event's is just its id. */
struct dprof_merging { uint64_t word; const uint64_t *next, *end; size_t step; };

static inline void dprof_merging_begin(const struct dprof_streams *s, struct dprof_merging m[DPROF_CLASSES])
{
	static const uint64_t none = 0;
	const uint64_t *at = s->escape;

	m[0] = (struct dprof_merging){ .next = at, .end = at };
	for (unsigned c = 1; c < s->classes; c++) {
		uint64_t part = dprof_is_escape(s->first[c]) ? ~UINT64_C(0) : DPROF_IDS - 1;

		m[c] = (struct dprof_merging){ s->first[c] & part, at, at + s->count[c], 1 };
		at += s->count[c];
		if (!s->count[c])
			m[c] = (struct dprof_merging){ m[c].word, &none, &none, 0 };
	}
	for (unsigned c = s->classes; c < DPROF_CLASSES; c++)
		m[c] = (struct dprof_merging){ 1, at, at, 1 };
}

/* All n words; false if that is not what the streams have. Counts add up to s->escapes. */
static inline bool dprof_merge(const struct dprof_streams *s, size_t n, uint64_t *to)
{
	struct dprof_merging m[DPROF_CLASSES];
	const uint64_t *event = s->event;
	uint64_t stamp = s->first[0] & DPROF_STAMP_PART;
	bool all = true;

	dprof_merging_begin(s, m);
	for (size_t i = 0; i < n; i++) {
		struct dprof_merging *c = &m[s->class[i]];

		if (dprof_is_escape(c->word)) {
			to[i] = c->word += dprof_sign_high(*c->next);
			c->next += c->step;
		} else {
			uint64_t left = *event++;

			stamp += left & DPROF_STAMP_PART;
			to[i] = stamp | c->word | (left & (DPROF_IDS - 1));
		}
	}
	for (unsigned c = 0; c < DPROF_CLASSES; c++)
		all &= m[c].next == m[c].end || !dprof_is_escape(m[c].word);
	return all && event == s->event + s->events;
}

/* ---- Planes ------------------------------------------------------------------------------------ */

/* Words that n words have room in, in whole blocks. */
static inline size_t dprof_folded_words(size_t n)
{
	return (n + DPROF_FOLD_WORDS - 1) / DPROF_FOLD_WORDS * DPROF_FOLD_WORDS;
}

/* One byte of each of n words, in whole blocks: 0 the lowest. */
static inline void dprof_to_plane(const uint64_t *word, size_t n, unsigned byte, uint8_t *to)
{
	const __m128i lowest = _mm_set1_epi64x(255), shift = _mm_cvtsi32_si128((int)(8 * byte));

	for (size_t at = 0; at < n; at += DPROF_FOLD_WORDS) {
		__m128i x[8];

		memcpy(x, word + at, sizeof(x));
#pragma GCC unroll 8
		for (int i = 0; i < 8; i++)
			x[i] = _mm_and_si128(_mm_srl_epi64(x[i], shift), lowest);
#pragma GCC unroll 4
		for (int i = 0; i < 4; i++)
			x[i] = _mm_packs_epi32(x[2 * i], x[2 * i + 1]);
#pragma GCC unroll 2
		for (int i = 0; i < 2; i++)
			x[i] = _mm_packs_epi32(x[2 * i], x[2 * i + 1]);
		_mm_storeu_si128((__m128i *)(void *)(to + at), _mm_packus_epi16(x[0], x[1]));
	}
}

/* The first half of 128 bytes and the second one take turns: of a byte's place, in 7 bits, the highest becomes
 * the lowest. Its place in planes of 16 words is bbbwwww; after three turns it is wwwwbbb. */
static inline void dprof_take_turns(__m128i x[8])
{
	__m128i y[8];

#pragma GCC unroll 4
	for (int i = 0; i < 4; i++) {
		y[2 * i] = _mm_unpacklo_epi8(x[i], x[i + 4]);
		y[2 * i + 1] = _mm_unpackhi_epi8(x[i], x[i + 4]);
	}
	memcpy(x, y, sizeof(y));
}

/* From 8 planes, the lowest first, `apart` bytes from each other; `n` words, in whole blocks. */
static inline void dprof_from_planes(const uint8_t *from, size_t apart, size_t n, uint64_t *to)
{
	for (size_t at = 0; at < n; at += DPROF_FOLD_WORDS) {
		__m128i x[8];

#pragma GCC unroll 8
		for (size_t plane = 0; plane < 8; plane++)
			x[plane] = _mm_loadu_si128((const __m128i *)(const void *)(from + plane * apart + at));
#pragma GCC unroll 3
		for (int turn = 0; turn < 3; turn++)
			dprof_take_turns(x);
		memcpy(to + at, x, sizeof(x));
	}
}

/* ---- The forms before -------------------------------------------------------------------------- */

/* What stands before a word: the stamp of an event, and each key's value. */
struct dprof_before { uint64_t stamp, value[16]; };

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

/* `from`: 8 planes of dprof_folded_words(n) bytes. `to` has room for so many words, of which n are meant. `magic`:
 * of the part, which says whether values are differences. */
static inline void dprof_unfold(const uint8_t *from, uint64_t *to, size_t n, uint32_t magic)
{
	struct dprof_before before = { 0 };

	dprof_from_planes(from, dprof_folded_words(n), n, to);
	for (size_t i = 0; i < n; i++)
		if (magic == DPROF_PART_MAGIC_2 || !dprof_is_escape(to[i]))
			to[i] = dprof_sum(&before, to[i]);
}

#endif
