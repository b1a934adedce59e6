/* SPDX-License-Identifier: MIT
 *
 * analysis_merge.c - which of many streams comes next, against a look at all of them. */
#include "analysis/base/merge.h"
#include "testsuite/unit/draw.h"
#include "testsuite/unit/unit.h"

#define SOURCES 70

static void check(uint64_t seed, const struct merge *m, const uint64_t *key, size_t n)
{
	uint32_t first = 0;
	for (uint32_t i = 1; i < n; i++)
		first = key[i] < key[first] ? i : first;
	struct heap_item found = merge_first(m);
	ck_assert_msg(found.source == first && found.key == key[first],
		      "SEED=%" PRIu64 ": found source %u, expected %u of %zu", seed, found.source, first, n);
	uint32_t but = (uint32_t)draw_below(n);
	uint64_t least = UINT64_MAX;
	for (uint32_t i = 0; i < n; i++)
		least = i != but && key[i] < least ? key[i] : least;
	ck_assert_msg(merge_least_but(m, but) == least, "SEED=%" PRIu64 ": without source %u of %zu", seed, but, n);
}

START_TEST(first_is_the_least)
{
	for (uint64_t seed = unit_seed; seed < unit_seed + unit_times(500); seed++) {
		struct merge m;
		uint64_t key[SOURCES];
		draw_state = seed;
		size_t n = 1 + draw_below(SOURCES);
		merge_open(&m, n);
		for (size_t i = 0; i < n; i++)
			key[i] = UINT64_MAX;
		for (int step = 0; step < 200; step++) {
			size_t i = draw_below(2) ? draw_below(n) : merge_first(&m).source;
			key[i] = draw_below(10) ? draw_below(100) : UINT64_MAX;
			merge_set(&m, (uint32_t)i, key[i]);
			for (uint64_t many = draw_below(4) ? 0 : draw_below(n); many > 0; many--) {
				i = draw_below(n);
				key[i] = draw_below(100);
				merge_put(&m, (uint32_t)i, key[i]);
				if (many == 1)
					merge_settle(&m);
			}
			check(seed, &m, key, n);
		}
		merge_close(&m);
	}
}
END_TEST

int main(void)
{
	TCase *tc = unit_begin(0, 1);

	tcase_add_test(tc, first_is_the_least);
	return unit_end();
}
