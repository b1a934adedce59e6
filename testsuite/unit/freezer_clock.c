/* SPDX-License-Identifier: MIT
 *
 * freezer_clock.c - a clock never goes back, and its nominal rate is the kernel's. */
#include <errno.h>

#include "freezer/clock.h"
#include "testsuite/unit/unit.h"

START_TEST(stamps_never_go_back)
{
	uint64_t last = frz_stamp_fenced();

	for (int i = 0; i < 1000000; i++) {
		uint64_t now = frz_stamp_fenced();

		ck_assert_uint_ge(now, last);
		last = now;
	}
}
END_TEST

START_TEST(the_nominal_rate_is_the_kernels)
{
	uint64_t first = frz_stamp_fenced(), first_ns = frz_monotonic_raw_ns();
	struct timespec pause = { .tv_nsec = 50000000 };
	double ghz, seen;

	errno = ENOTTY;
	ghz = frz_ghz();
	ck_assert_int_eq(errno, ENOTTY);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	seen = (double)(frz_stamp_fenced() - first) / (double)(frz_monotonic_raw_ns() - first_ns);
	ck_assert_double_gt(ghz, seen * 0.99);
	ck_assert_double_lt(ghz, seen * 1.01);
	ck_assert_double_eq(ghz, frz_ghz());
	ck_assert_str_eq(frz_source_word(frz_source()),
			 frz_source() == FRZ_TSC ? "tsc" : "monotonic_raw");
}
END_TEST

int main(void)
{
	TCase *tests = unit_begin(900, 0);

	tcase_add_test(tests, stamps_never_go_back);
	tcase_add_test(tests, the_nominal_rate_is_the_kernels);
	return unit_end();
}
