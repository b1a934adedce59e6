/* SPDX-License-Identifier: MIT
 *
 * unit.h - what every Check program of this folder begins and ends with:
 *
 *	int main(void)
 *	{
 *		TCase *laws = unit_begin(300, UNIT_ANEW);
 *
 *		tcase_add_test(laws, whatever_must_hold);
 *		return unit_end();
 *	}
 *
 * Law: a random case is made from its number alone. A program tries the cases from unit_seed on and
 * names a case that fails by its number: SEED=NUMBER begins with just that one. TIMES=N tries N
 * times as many.
 *
 * `make check` tries the same cases every time, so that it fails only for what was changed; each round of `make repeat`
 * tries others: it sets ANEW. */
#ifndef TESTSUITE_UNIT_H
#define TESTSUITE_UNIT_H

#include <check.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Check writes down each place that passes, so that a crash can be said to come behind the last one: a system call for each
 * check, which was half of what all programs took. Here a place is written down when its test comes by for the first time. */
#define _mark_point(file, line)                                              \
	({                                                                   \
		static bool unit_was_here;                                   \
		if (!__atomic_load_n(&unit_was_here, __ATOMIC_RELAXED)) {    \
			__atomic_store_n(&unit_was_here, true, __ATOMIC_RELAXED); \
			(_mark_point)(file, line);                           \
		}                                                            \
	})

#define UNIT_ANEW UINT64_MAX /* in place of a first case: that of ANEW, or 1 */

static uint64_t unit_seed;
static Suite *unit_suite;

static inline uint64_t unit_number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

/* How many cases to try, where `cases` are tried in every run. */
static inline uint64_t unit_times(uint64_t cases)
{
	return cases * unit_number("TIMES", 1);
}

/* A test that takes longer than `timeout_s` has failed (0: may take as long as it likes). The first
 * case is number `first`; 0 where nothing is random. */
static inline TCase *unit_begin(unsigned timeout_s, uint64_t first)
{
	const char *file = strrchr(__BASE_FILE__, '/') + 1;
	TCase *tests = tcase_create(file);

	unit_seed = unit_number("SEED", first == UNIT_ANEW ? unit_number("ANEW", 1) : first);
	if (first)
		printf("again: SEED=%" PRIu64 " make check CHECK=%.*s\n", unit_seed,
		       (int)strlen(file) - 2, file);
	unit_suite = suite_create(file);
	suite_add_tcase(unit_suite, tests);
	tcase_set_timeout(tests, timeout_s);
	return tests;
}

/* Runs what was added; the exit status of the program. */
static inline int unit_end(void)
{
	SRunner *runner = srunner_create(unit_suite);

	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
