/* SPDX-License-Identifier: MIT
 *
 * analysis_enumeration.c - as many are named as may be, all are counted, and what was taken is gone. */
#include "analysis/base/enumeration.h"
#include "testsuite/unit/unit.h"

/* 0, 1, ... of n. */
static void takes(size_t most, size_t n, const char *expected)
{
	struct enumeration e = { .most = most };
	for (int again = 0; again < 2; again++) {
		for (size_t i = 0; i < n; i++)
			enumeration_add(&e, "%zu", i);
		ck_assert_uint_eq(e.count, n);
		char *text = enumeration_take(&e);
		ck_assert_str_eq(text, expected);
		free(text);
		ck_assert_uint_eq(e.count, 0);
	}
}

START_TEST(what_is_not_named_is_counted)
{
	takes(3, 0, "");
	takes(3, 1, "0");
	takes(3, 3, "0, 1, 2");
	takes(3, 5, "0, 1, 2, and 2 more");
}
END_TEST

int main(void)
{
	TCase *tests = unit_begin(60, 0);

	tcase_add_test(tests, what_is_not_named_is_counted);
	return unit_end();
}
