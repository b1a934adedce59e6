/* SPDX-License-Identifier: MIT
 *
 * runtime_packed.c - words are folded as runtime/packed.h says, and come back whatever they are. */
#include <stdbool.h>

#include "runtime/packed.h"
#include "testsuite/unit/unit.h"

#define MOST 2000

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* Events of a thread with escapes in between, or anything. */
static size_t make_words(uint64_t *state, uint64_t *words)
{
	size_t n = next_random(state) % MOST + 1;
	unsigned wild = next_random(state) % 4; /* quarters of the words that are */
	uint64_t stamp = next_random(state);

	for (size_t i = 0; i < n; i++) {
		uint64_t any = next_random(state);

		stamp += any % 1000 - (any % 7 == 0 ? 500 : 0);
		words[i] = any % 4 < wild ? next_random(state)
			   : any % 9 == 0 ? dprof_epoch_word(stamp)
			   : any % 3 == 0 ? dprof_escape_word(DPROF_ESCAPE_ARG, any % 5, stamp)
					  : dprof_event_word(stamp, 16 * (any % 5), DPROF_EXIT);
	}
	return n;
}

/* The same, a byte at a time; `values`: differences of arguments, too. */
static void fold_slowly(const uint64_t *words, size_t n, uint8_t *planes, bool values)
{
	size_t padded = (n + 15) / 16 * 16;
	uint64_t before = 0, value[16] = { 0 };

	memset(planes, 0, padded * 8);
	for (size_t i = 0; i < n; i++) {
		uint64_t word = words[i], stamp = word >> 24;

		if (word % 2 == 0) {
			word = (stamp - before) << 24 | word % (1 << 24);
			before = stamp;
		} else if (values && word % 16 == 3) {
			unsigned key = word / 16 % 16;

			word = ((word >> 8) - value[key]) << 8 | word % 256;
			value[key] = words[i] >> 8;
		}
		for (unsigned byte = 0; byte < 8; byte++)
			planes[byte * padded + i] = (uint8_t)(word >> 8 * byte);
	}
}

START_TEST(what_is_folded_comes_back)
{
	static uint64_t words[MOST], back[MOST + 16], space[MOST + 16];
	static uint8_t planes[8 * (MOST + 16)], slow[8 * (MOST + 16)];

	for (uint64_t i = 0; i < unit_times(3000); i++) {
		uint64_t state = unit_seed + i;
		size_t n = make_words(&state, words);

		dprof_fold(words, planes, n, space);
		fold_slowly(words, n, slow, true);
		ck_assert_msg(!memcmp(planes, slow, dprof_folded_words(n) * 8),
			      "SEED=%" PRIu64 ": not folded as it is said to be", unit_seed + i);
		dprof_unfold(planes, back, n, DPROF_PART_MAGIC);
		ck_assert_msg(!memcmp(words, back, n * 8), "SEED=%" PRIu64 ": %zu words", unit_seed + i,
			      n);
		fold_slowly(words, n, slow, false);
		dprof_unfold(slow, back, n, DPROF_PART_MAGIC_1);
		ck_assert_msg(!memcmp(words, back, n * 8), "SEED=%" PRIu64 ": %zu words, as of old", unit_seed + i, n);
	}
}
END_TEST

/* A bit of a part's header, whichever is wrong, is noticed. */
START_TEST(the_header_of_a_part_is_checked)
{
	uint64_t state = unit_seed;

	for (int i = 0; i < 1000; i++) {
		struct dprof_part p = { .chunk = next_random(&state), .first = (uint32_t)next_random(&state),
					.words = (uint32_t)next_random(&state) };
		unsigned bit = next_random(&state) % (8 * (sizeof(p) - 4));

		p.check = dprof_part_check(&p);
		((uint8_t *)&p.check)[bit / 8] ^= (uint8_t)(1u << bit % 8);
		ck_assert_msg(p.check != dprof_part_check(&p), "bit %u", bit);
	}
}
END_TEST

int main(void)
{
	TCase *t = unit_begin(300, UNIT_ANEW);

	tcase_add_test(t, what_is_folded_comes_back);
	tcase_add_test(t, the_header_of_a_part_is_checked);
	return unit_end();
}
