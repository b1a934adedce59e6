/* SPDX-License-Identifier: MIT
 *
 * analysis_search.c - how many rows stand before, against a count; and how many are looked at. */
#include "analysis/base/search.h"
#include "testsuite/unit/draw.h"
#include "testsuite/unit/unit.h"

#define ROWS 200

static size_t asked; /* rows that were looked at */

static bool is_before(const int *row, size_t i, size_t n, int than)
{
	ck_assert_uint_lt(i, n);
	asked++;
	return row[i] < than;
}

static size_t count(const int *row, size_t n, int than)
{
	size_t before = 0;
	for (size_t i = 0; i < n; i++)
		before += row[i] < than;
	return before;
}

START_TEST(rows_before_are_found)
{
	for (uint64_t seed = unit_seed; seed < unit_seed + unit_times(20000); seed++) {
		int row[ROWS], last = 0;
		draw_state = seed;
		size_t n = draw_below(ROWS);
		for (size_t i = 0; i < n; i++)
			row[i] = last += (int)draw_below(3);
		int than = (int)draw_below(2 * ROWS);
		size_t expected = count(row, n, than), near = draw_below(ROWS + 10);
		size_t halves = SEARCH(n, i, is_before(row, i, n, than));
		size_t steps = SEARCH_NEAR(n, near, i, is_before(row, i, n, than));
		ck_assert_msg(halves == expected && steps == expected,
			      "SEED=%" PRIu64 ": %zu rows are before, not %zu by halves, %zu from row %zu of %zu", seed, expected,
			      halves, steps, near, n);
	}
}
END_TEST

START_TEST(few_rows_are_looked_at)
{
	int row[ROWS];
	for (int i = 0; i < ROWS; i++)
		row[i] = i;
	for (size_t near = 0; near < ROWS; near++)
		for (int than = 0; than <= ROWS; than++) {
			size_t away = near > (size_t)than ? near - (size_t)than : (size_t)than - near, most = 2;
			for (size_t reach = 1; reach <= away; reach *= 2)
				most += 2;
			asked = 0;
			ck_assert_uint_eq(SEARCH_NEAR(ROWS, near, i, is_before(row, i, ROWS, than)), (size_t)than);
			ck_assert_msg(asked <= most, "%zu rows for one that is %zu away", asked, away);
		}
}
END_TEST

int main(void)
{
	TCase *tc = unit_begin(0, 1);

	tcase_add_test(tc, rows_before_are_found);
	tcase_add_test(tc, few_rows_are_looked_at);
	return unit_end();
}
