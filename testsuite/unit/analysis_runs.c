/* SPDX-License-Identifier: MIT
 *
 * analysis_runs.c - runs_sort, and runs_settle before it, against insertion, one by one behind all that are not greater. */
#include "analysis/base/runs.h"
#include "testsuite/unit/unit.h"

#define ARRAYS 2000
#define MOST   300

struct runs_item { uint32_t key, place; };
struct long_item { struct runs_item item; char more[120]; };

static uint64_t dice;

static uint64_t roll(uint64_t sides)
{
	dice ^= dice >> 12, dice ^= dice << 25, dice ^= dice >> 27;
	return dice * UINT64_C(2685821657736338717) % sides;
}

static int by_key(const void *x, const void *y)
{
	const struct runs_item *a = x, *b = y;

	return (a->key > b->key) - (a->key < b->key);
}

/* Stretches in order, of which some have but one item, or equal ones. */
static size_t draw(struct runs_item *items)
{
	size_t n = roll(MOST + 1), longest = 1 + roll(MOST);
	uint32_t key = 0, step = (uint32_t)(1 + roll(3));

	for (size_t i = 0; i < n; i++) {
		key = roll(longest) ? key + (uint32_t)roll(step) : (uint32_t)roll(100);
		items[i] = (struct runs_item){ key, (uint32_t)i };
	}
	return n;
}

static void insert_all(struct runs_item *items, size_t n)
{
	for (size_t i = 1; i < n; i++)
		for (size_t k = i; k > 0 && items[k - 1].key > items[k].key; k--) {
			struct runs_item other = items[k];

			items[k] = items[k - 1];
			items[k - 1] = other;
		}
}

/* What is out of place by no more than that is in its place at once. */
START_TEST(near_elements_settle)
{
	struct runs_item items[MOST];

	for (uint64_t seed = unit_seed; seed < unit_seed + unit_times(ARRAYS); seed++) {
		size_t block = 1 + seed % (RUNS_NEAR + 1), n = MOST / block * block;

		for (size_t i = 0; i < n; i++) {
			size_t from = i / block * block;

			items[i] = (struct runs_item){ (uint32_t)(from + block - 1 - i % block), (uint32_t)i };
			runs_settle(items, i + 1, sizeof *items, by_key);
		}
		for (size_t i = 0; i < n; i++)
			ck_assert_msg(items[i].key == i, "SEED=%" PRIu64 ": %u is at place %zu", seed, items[i].key, i);
	}
}
END_TEST

/* Elements of which addresses are sorted. */
static void sort_long(struct spill *spill, struct runs_item *items, size_t n)
{
	struct long_item elements[MOST + 1];

	for (size_t i = 0; i < n; i++) {
		elements[i].item = items[i];
		memset(elements[i].more, (int)items[i].place, sizeof elements[i].more);
	}
	runs_sort(spill, elements, n, sizeof *elements, by_key);
	for (size_t i = 0; i < n; i++) {
		items[i] = elements[i].item;
		ck_assert_int_eq(elements[i].more[119], (char)items[i].place);
	}
}

START_TEST(runs_are_sorted_and_equals_stay_in_order)
{
	struct runs_item items[MOST + 1], twin[MOST + 1];
	struct spill *spill = spill_open(0, 1);

	for (uint64_t seed = unit_seed; seed < unit_seed + unit_times(ARRAYS); seed++) {
		dice = seed * 2 + 1;
		for (int i = 0; i < 8; i++)
			roll(2);
		size_t n = draw(items);

		memcpy(twin, items, n * sizeof *twin);
		insert_all(twin, n);
		for (size_t i = 1; seed % 2 && i <= n; i++)
			runs_settle(items, i, sizeof *items, by_key);
		if (seed % 4 < 2)
			runs_sort(spill, items, n, sizeof *items, by_key);
		else
			sort_long(spill, items, n);
		for (size_t i = 0; i < n; i++)
			ck_assert_msg(items[i].key == twin[i].key && items[i].place == twin[i].place,
				      "SEED=%" PRIu64 ": item %zu of %zu: %u from %u, expected %u from %u", seed, i, n,
				      items[i].key, items[i].place, twin[i].key, twin[i].place);
	}
	spill_close(spill);
}
END_TEST

int main(void)
{
	TCase *c = unit_begin(60, 1);

	tcase_add_test(c, near_elements_settle);
	tcase_add_test(c, runs_are_sorted_and_equals_stay_in_order);
	return unit_end();
}
