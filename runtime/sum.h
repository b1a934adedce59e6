/* SPDX-License-Identifier: MIT
 *
 * sum.h - the checksums of a trace: of words, and of bytes, of which hashes are made, too.
 *
 * Law: each step is a bijection of the sum, and of the word. So a change of any one word changes the sum. */
#ifndef DPROF_SUM_H
#define DPROF_SUM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "runtime/format.h"

#define DPROF_SUM_BEGIN UINT64_C(0xcbf29ce484222325)

static inline uint64_t dprof_sum_word(uint64_t sum, uint64_t word)
{
	sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return sum << 29 | sum >> 35;
}

/* Of n more words behind those that `sum` is of; of none it is DPROF_SUM_BEGIN. */
static inline uint64_t dprof_sum_words(uint64_t sum, const uint64_t *word, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sum = dprof_sum_word(sum, word[i]);
	return sum;
}

/* FNV-1a, 64 bits. */
static inline uint64_t dprof_sum_bytes(uint64_t sum, const void *bytes, size_t n)
{
	const uint8_t *byte = bytes;

	for (size_t i = 0; i < n; i++)
		sum = (sum ^ byte[i]) * UINT64_C(0x100000001b3);
	return sum;
}

/* Of a thread that runs on it is only told whether it would say that it jumps. */
static inline struct dprof_jumps dprof_jumps_at_end(const struct dprof_events_header *h)
{
	struct dprof_jumps none = { DPROF_JUMPS_NONE, ~DPROF_JUMPS_NONE }, untold = { 0, 0 };

	return !h->end.ran_on ? h->jumps : h->jumps.first ? none : untold;
}

/* As `end.header_sum` is to be. */
static inline uint64_t dprof_header_sum(const struct dprof_events_header *h)
{
	struct dprof_events_header copy = *h;
	struct dprof_jumps jumps = dprof_jumps_at_end(h);
	uint64_t word[offsetof(struct dprof_events_header, end.header_sum) / sizeof(uint64_t)], sum, all;

	copy.lost = copy.why = 0;
	memcpy(word, &copy, sizeof(word));
	sum = all = dprof_sum_words(DPROF_SUM_BEGIN, word, sizeof(word) / sizeof(*word));
	if (h->last.since | h->last.site)
		all = dprof_sum_word(dprof_sum_word(all, h->last.since), h->last.site);
	return h->version < DPROF_FORMAT_VERSION ? sum : dprof_sum_word(dprof_sum_word(all, jumps.first), jumps.check);
}

#endif
