/* SPDX-License-Identifier: MIT
 *
 * runtime_packed.c - words are taken apart as runtime/packed.h says, and come back whatever they are. */
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

/* Events of a thread, of few sites or of many, with escapes in between; or anything. */
static size_t make_words(uint64_t *state, uint64_t *words)
{
	size_t n = next_random(state) % MOST + 1;
	unsigned wild = next_random(state) % 4; /* quarters of the words that are */
	uint64_t stamp = next_random(state), sites = next_random(state) % 3 ? 5 : 300;

	for (size_t i = 0; i < n; i++) {
		uint64_t any = next_random(state);

		stamp += any % 1000 - (any % 7 == 0 ? 500 : 0);
		words[i] = any % 4 < wild ? next_random(state)
			   : any % 9 == 0 ? dprof_epoch_word(stamp)
			   : any % 5 == 0 ? dprof_escape_word(DPROF_ESCAPE_ARG, any / 64 % 16,
							      any % 32 ? any / 1024 % 3 : any >> 32)
					  : dprof_event_word(stamp, 16 * (any / 4 % sites), DPROF_EXIT);
	}
	return n;
}

/* The class of each word, and a class's first word; how many classes. Classes are looked for one by one. */
static unsigned find_classes(const uint64_t *word, size_t n, uint8_t *class, uint64_t *first)
{
	unsigned classes = 1, ids = 0, c;

	first[0] = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t part = word[i] % 2 ? 0xff : 0xffffff;

		for (c = 1; c < classes && (first[c] % 2 != word[i] % 2 || ((first[c] ^ word[i]) & part)); c++)
			;
		if (c == classes && word[i] % 2 == 0 && ids++ >= 127)
			c = 0;
		else if (c == classes)
			first[classes++] = word[i] % 2 ? word[i] : word[i] % (1 << 24);
		class[i] = (uint8_t)c;
	}
	return classes;
}

/* The differences of a class's words, unless they are all equal; how many. */
static size_t find_escapes(const uint64_t *word, size_t n, const uint8_t *class, unsigned c, uint64_t *to)
{
	uint64_t before = 0;
	size_t found = 0, differ = 0;

	for (size_t i = 0; i < n; i++) {
		if (class[i] != c || word[i] % 2 == 0)
			continue;
		int64_t more = found ? (int64_t)(word[i] - before) / 256 : 0;

		differ += more != 0;
		to[found++] = (more < 0 ? ~(uint64_t)(2 * more) : (uint64_t)(2 * more)) * 256;
		before = word[i];
	}
	return differ ? found : 0;
}

static size_t find_events(const uint64_t *word, size_t n, const uint8_t *class, uint64_t *first, uint64_t *to)
{
	uint64_t before = 0;
	size_t found = 0;

	for (size_t i = 0; i < n; i++) {
		if (word[i] % 2)
			continue;
		if (!found)
			before = *first = word[i] >> 24 << 24;
		to[found++] = ((word[i] >> 24 << 24) - before) | (class[i] ? 0 : word[i] % (1 << 24));
		before = word[i] >> 24 << 24;
	}
	return found;
}

static void check_split(const uint64_t *word, size_t n, const struct dprof_streams *s, uint64_t seed)
{
	static uint8_t class[MOST];
	static uint64_t event[MOST], escape[MOST];
	uint64_t first[256];
	unsigned classes = find_classes(word, n, class, first);
	size_t events = find_events(word, n, class, first, event), escapes = 0;

	for (unsigned c = 0; c < classes; c++) {
		size_t more = c ? find_escapes(word, n, class, c, escape + escapes) : 0;

		ck_assert_msg(s->count[c] == more, "SEED=%" PRIu64 ": class %u", seed, c);
		escapes += more;
	}
	ck_assert_msg(s->classes == classes && !memcmp(s->first, first, classes * sizeof(*first)) &&
			      !memcmp(s->class, class, n),
		      "SEED=%" PRIu64 ": other classes", seed);
	ck_assert_msg(s->events == events && !memcmp(s->event, event, events * sizeof(*event)),
		      "SEED=%" PRIu64 ": other events", seed);
	ck_assert_msg(s->escapes == escapes && !memcmp(s->escape, escape, escapes * sizeof(*escape)),
		      "SEED=%" PRIu64 ": other escapes", seed);
}

START_TEST(what_is_taken_apart_comes_back)
{
	static uint64_t words[MOST], back[MOST];
	static struct dprof_streams s;

	for (uint64_t i = 0; i < unit_times(600); i++) {
		uint64_t state = unit_seed + i;
		size_t n = make_words(&state, words);

		dprof_split(words, n, &s);
		check_split(words, n, &s, unit_seed + i);
		ck_assert_msg(dprof_merge(&s, n, back) && !memcmp(words, back, n * 8), "SEED=%" PRIu64 ": %zu words",
			      unit_seed + i, n);
	}
}
END_TEST

/* Or a class that there is not. */
static uint8_t class_of_escapes(const struct dprof_streams *s)
{
	unsigned c = 1;

	while (c < s->classes && s->first[c] % 2 == 0)
		c++;
	return (uint8_t)c;
}

/* An escape that is to be an event, or the other way round, does not add up. */
START_TEST(what_makes_no_sense_is_no_words)
{
	static uint64_t words[MOST], back[MOST];
	static struct dprof_streams s;

	for (uint64_t i = 0; i < unit_times(300); i++) {
		uint64_t state = unit_seed + i;
		size_t n = make_words(&state, words), at = next_random(&state) % n;

		dprof_split(words, n, &s);
		s.class[at] = words[at] % 2 ? 0 : class_of_escapes(&s);
		ck_assert_msg(!dprof_merge(&s, n, back), "SEED=%" PRIu64 ": word %zu", unit_seed + i, at);
	}
}
END_TEST

START_TEST(planes_are_the_bytes_of_words)
{
	static uint64_t words[MOST + 16], back[MOST + 16];
	static uint8_t planes[8][MOST + 80];

	for (uint64_t i = 0; i < unit_times(300); i++) {
		uint64_t state = unit_seed + i;
		size_t n = make_words(&state, words);

		for (unsigned byte = 0; byte < 8; byte++) {
			dprof_to_plane(words, n, byte, planes[byte]);
			for (size_t k = 0; k < n; k++)
				ck_assert_msg(planes[byte][k] == (uint8_t)(words[k] >> 8 * byte),
					      "SEED=%" PRIu64 ": byte %u of word %zu", unit_seed + i, byte, k);
		}
		dprof_from_planes(planes[0], sizeof(planes[0]), n, back);
		ck_assert_msg(!memcmp(words, back, n * 8), "SEED=%" PRIu64 ": %zu words", unit_seed + i, n);
	}
}
END_TEST

/* As it was done in the forms before, a byte at a time; `values`: differences of arguments, too. */
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

START_TEST(what_was_folded_comes_back)
{
	static uint64_t words[MOST], back[MOST + 16];
	static uint8_t planes[8 * (MOST + 16)];

	for (uint64_t i = 0; i < unit_times(600); i++) {
		uint64_t state = unit_seed + i;
		size_t n = make_words(&state, words);

		for (unsigned values = 0; values < 2; values++) {
			fold_slowly(words, n, planes, values);
			dprof_unfold(planes, back, n, values ? DPROF_PART_MAGIC_2 : DPROF_PART_MAGIC_1);
			ck_assert_msg(!memcmp(words, back, n * 8), "SEED=%" PRIu64 ": %zu words, values %u",
				      unit_seed + i, n, values);
		}
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

		p.check = dprof_part_check(&p, DPROF_PART_NOBODY);
		((uint8_t *)&p.check)[bit / 8] ^= (uint8_t)(1u << bit % 8);
		ck_assert_msg(p.check != dprof_part_check(&p, DPROF_PART_NOBODY), "bit %u", bit);
	}
}
END_TEST

int main(void)
{
	TCase *t = unit_begin(900, UNIT_ANEW);

	tcase_add_test(t, what_is_taken_apart_comes_back);
	tcase_add_test(t, what_makes_no_sense_is_no_words);
	tcase_add_test(t, planes_are_the_bytes_of_words);
	tcase_add_test(t, what_was_folded_comes_back);
	tcase_add_test(t, the_header_of_a_part_is_checked);
	return unit_end();
}
