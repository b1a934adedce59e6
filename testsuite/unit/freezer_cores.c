/* SPDX-License-Identifier: MIT
 *
 * freezer_cores.c - cores whose counters are set wrong on purpose, so that the truth is known: it must
 * lie within what cores.c says, and be noticed where it can be. */
#define _GNU_SOURCE
#include <sched.h>

#include "freezer/clock.h"
#include "testsuite/unit/unit.h"

static int64_t skew[CPU_SETSIZE]; /* by core */

static uint64_t skewed_stamp(void)
{
	uint64_t now = frz_stamp_fenced();

	return now + (uint64_t)skew[sched_getcpu()];
}

#define frz_stamp_fenced skewed_stamp
#include "freezer/cores.c"
#undef frz_stamp_fenced

/* Where others run on both cores, an exchange takes as long as their turns do: so there is much time, and what is narrow
 * at all is so in one of many tries. */
#define ENOUGH_NS UINT64_C(300000000000)
#define TRIES     100

static cpu_set_t allowed;

static void setup(void)
{
	for (size_t i = 0; i < CPU_SETSIZE; i++)
		skew[i] = 0;
	ck_assert_int_eq(sched_getaffinity(0, sizeof allowed, &allowed), 0);
}

/* sched_getcpu() and the stamp are not one instruction, so only pinned threads may stamp. */
static bool holds_truth_within(uint64_t width, unsigned now)
{
	struct frz_cores c;
	bool narrow = true;

	ck_assert_int_eq(frz_cores_compare(&c, &allowed, ENOUGH_NS), 0);
	ck_assert_uint_eq(c.compared, c.n - 1);
	for (size_t i = 1; i < c.n; i++) {
		int64_t truth = skew[c.core[i].number] - skew[c.core[0].number];

		ck_assert_msg(c.core[i].lo <= truth && truth <= c.core[i].hi,
			      "SEED=%u: core %d is %lld ahead, found [%lld, %lld]", now,
			      c.core[i].number, (long long)truth, (long long)c.core[i].lo,
			      (long long)c.core[i].hi);
		ck_assert_msg((uint64_t)llabs(truth) <= 2 * c.uncertainty, "SEED=%u", now);
		narrow &= c.core[i].hi - c.core[i].lo < (int64_t)width;
	}
	frz_cores_free(&c);
	return narrow;
}

START_TEST(a_difference_lies_within_what_is_found)
{
	for (unsigned now = (unsigned)unit_seed; now - (unsigned)unit_seed < 30; now++) {
		unsigned state = now, tries = 1;

		for (size_t i = 0; i < CPU_SETSIZE; i++)
			skew[i] = rand_r(&state) % 3 ? rand_r(&state) % 4001 - 2000 : 0;
		while (!holds_truth_within(100000, now))
			ck_assert_msg(tries++ < TRIES, "SEED=%u: never narrow", now);
	}
}
END_TEST

START_TEST(cores_that_disagree_are_noticed_and_covered)
{
	struct frz_cores c;

	if (CPU_COUNT(&allowed) < 2)
		return;
	for (int i = 0; i < CPU_SETSIZE; i++)
		skew[i] = (i % 2) == _i ? 1000000 : -1000000;
	bool narrow = false;
	for (unsigned tries = 0; tries < TRIES && !narrow; tries++) {
		ck_assert_int_eq(frz_cores_compare(&c, &allowed, ENOUGH_NS), 0);
		size_t different = 0;
		for (size_t i = 1; i < c.n; i++)
			different += skew[c.core[i].number] != skew[c.core[0].number];
		narrow = c.uncertainty < 1200000 && c.disagree == different;
		ck_assert(!different || c.uncertainty >= 1000000);
		frz_cores_free(&c);
	}
	ck_assert(narrow);
}
END_TEST

START_TEST(one_core_agrees_with_itself_and_none_is_no_error)
{
	struct frz_cores c;
	cpu_set_t one;
	int first = 0;

	while (!CPU_ISSET(first, &allowed))
		first++;
	CPU_ZERO(&one);
	ck_assert_int_eq(frz_cores_compare(&c, &one, ENOUGH_NS), 0);
	ck_assert(c.n == 0 && c.uncertainty == 0);
	frz_cores_free(&c);
	CPU_SET(first, &one);
	ck_assert_int_eq(frz_cores_compare(&c, &one, ENOUGH_NS), 0);
	ck_assert(c.n == 1 && c.compared == 0 && c.uncertainty == 0);
	frz_cores_free(&c);
}
END_TEST

START_TEST(a_core_that_is_not_ours_is_said_to_be_missing)
{
	struct frz_cores c;
	cpu_set_t more = allowed;
	int absent = CPU_SETSIZE - 1;

	if (CPU_ISSET(absent, &allowed))
		return;
	CPU_SET(absent, &more);
	ck_assert_int_eq(frz_cores_compare(&c, &more, ENOUGH_NS), 0);
	ck_assert_uint_eq(c.compared, c.n - 2);
	ck_assert_uint_eq(c.core[c.n - 1].rounds, 0);
	frz_cores_free(&c);
	CPU_ZERO(&more);
	CPU_SET(absent - 1, &more);
	CPU_SET(absent, &more);
	ck_assert_int_lt(frz_cores_compare(&c, &more, ENOUGH_NS), 0);
	ck_assert_ptr_null(c.core);
}
END_TEST

START_TEST(the_deadline_holds)
{
	struct frz_cores c;

	ck_assert_int_eq(frz_cores_compare(&c, &allowed, 0), 0);
	ck_assert_uint_eq(c.compared, 0);
	frz_cores_free(&c);
}
END_TEST

/* Whatever each core's true difference is within its interval, one clock is within uncertainty of
 * all. */
START_TEST(the_uncertainty_covers_whatever_is_possible)
{
	for (unsigned now = (unsigned)unit_seed; now - (unsigned)unit_seed < 10000; now++) {
		struct frz_core core[9] = { 0 };
		struct frz_cores c = { .core = core };
		unsigned state = now;
		int64_t least = 0, most = 0;

		c.n = 1 + (size_t)(rand_r(&state) % 9);
		for (size_t i = 1; i < c.n; i++) {
			int64_t a = rand_r(&state) % 2001 - 1000, b = a + rand_r(&state) % 300;
			int64_t truth = a + rand_r(&state) % (b - a + 1);

			core[i] = (struct frz_core){ (int)i, a, b, rand_r(&state) % 4 };
			if (!core[i].rounds)
				continue;
			least = truth < least ? truth : least;
			most = truth > most ? truth : most;
		}
		sum_up(&c);
		ck_assert_msg(most - least <= 2 * (int64_t)c.uncertainty, "SEED=%u", now);
	}
}
END_TEST

int main(void)
{
	TCase *tests = unit_begin(900, UNIT_ANEW);

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, a_difference_lies_within_what_is_found);
	tcase_add_loop_test(tests, cores_that_disagree_are_noticed_and_covered, 0, 2);
	tcase_add_test(tests, one_core_agrees_with_itself_and_none_is_no_error);
	tcase_add_test(tests, a_core_that_is_not_ours_is_said_to_be_missing);
	tcase_add_test(tests, the_deadline_holds);
	tcase_add_test(tests, the_uncertainty_covers_whatever_is_possible);
	return unit_end();
}
