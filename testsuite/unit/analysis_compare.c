/* SPDX-License-Identifier: MIT
 *
 * analysis_compare.c - one quantity in several runs (compare.h): the distribution of U beside all orders that there
 * are; intervals beside all true values within them; how often runs that are alike are told apart; and whether as many
 * runs find a change as is said. */
#include "unit.h"

#include <math.h>

#include "analysis/diff/compare.h"
#include "freezer_random.h"

#define MOST 12

static double uniform(void)
{
	return (double)below(UINT64_C(1) << 40) / (double)(UINT64_C(1) << 40);
}

/* How many of the orders of n values of A and m of B have U < k: each is a choice of which of the n + m places are A's. */
static void count_orders(size_t n, size_t m, size_t b_so_far, size_t u, size_t k, uint64_t *fewer, uint64_t *all)
{
	if (n == 0 && m == 0) {
		*fewer += u < k;
		++*all;
		return;
	}
	if (n > 0)
		count_orders(n - 1, m, b_so_far, u + b_so_far, k, fewer, all);
	if (m > 0)
		count_orders(n, m - 1, b_so_far + 1, u, k, fewer, all);
}

static double probability(size_t n, size_t m, size_t k)
{
	uint64_t fewer = 0, all = 0;
	count_orders(n, m, 0, 0, k, &fewer, &all);
	return (double)fewer / (double)all;
}

START_TEST(rank_is_the_greatest)
{
	static const double levels[] = { 0.4, 0.1, 0.025, 0.0125, 0.001, 0.0001 };
	for (size_t n = 1; n <= 7; n++)
		for (size_t m = 1; m <= 7; m++)
			for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
				size_t k = compare_rank(n, m, levels[i]);
				ck_assert_msg(probability(n, m, k) <= levels[i] * (1 + 1e-12), "%zu, %zu, %g: %zu", n,
					      m, levels[i], k);
				if (k <= n * m / 2)
					ck_assert_msg(probability(n, m, k + 1) > levels[i] * (1 - 1e-12),
						      "%zu, %zu, %g: %zu", n, m, levels[i], k);
			}
	/* From tables of the Mann-Whitney test, two-sided 0.05: the critical value is k - 1. */
	ck_assert_uint_eq(compare_rank(10, 10, 0.025), 24);
	ck_assert_uint_eq(compare_rank(20, 20, 0.025), 128);
	ck_assert_uint_eq(compare_rank(8, 15, 0.025), 30);
}
END_TEST

/* Whatever the true values within the intervals: the interval of their quotients lies in that of the intervals. */
START_TEST(intervals_hold_the_truth)
{
	for (uint64_t i = 0; i < unit_times(2000); i++) {
		random_begin(unit_seed + i);
		struct interval known[2][MOST], true_values[2][MOST];
		size_t n[2] = { 1 + below(MOST), 1 + below(MOST) };
		for (int s = 0; s < 2; s++)
			for (size_t k = 0; k < n[s]; k++) {
				double v = below(9) ? 1 + uniform() : 0;
				bool unbounded = below(20) == 0;
				true_values[s][k] = (struct interval){ v, v };
				known[s][k] = (struct interval){ v * (below(5) ? 1 - 0.1 * uniform() : 0),
								 unbounded ? INFINITY : v * (1 + 0.1 * uniform()) };
			}
		double alpha = 0.01 + 0.5 * uniform();
		struct interval narrow = compare_factor((struct compare_side){ true_values[0], n[0] },
							(struct compare_side){ true_values[1], n[1] }, alpha);
		struct interval wide = compare_factor((struct compare_side){ known[0], n[0] },
						      (struct compare_side){ known[1], n[1] }, alpha);
		ck_assert_msg(wide.lo <= narrow.lo && narrow.hi <= wide.hi,
			      "SEED=%" PRIu64 ": %g .. %g is not in %g .. %g", unit_seed + i, narrow.lo, narrow.hi,
			      wide.lo, wide.hi);
		if (n[0] == 1 && n[1] == 1 && true_values[0][0].lo > 0) {
			double truth = true_values[1][0].lo / true_values[0][0].lo;
			ck_assert_msg(wide.lo <= truth && truth <= wide.hi, "SEED=%" PRIu64 ": %g", unit_seed + i, truth);
		}
	}
}
END_TEST

/* Runs of a program: most take about 1, a few were disturbed. */
static struct interval run_of(double factor)
{
	double noise = 0;
	for (int i = 0; i < 12; i++)
		noise += uniform() - 0.5;
	double v = factor * (1 + 0.01 * noise + (below(10) ? 0 : 0.3 * uniform()));
	return (struct interval){ v * (1 - 1e-6), v * (1 + 1e-6) };
}

/* Of so many comparisons, how many leave `factor` out, and how many 1. */
struct misses { size_t truth, one; };

static struct misses compare_often(size_t times, size_t n, double factor, double alpha)
{
	struct misses misses = { 0, 0 };
	for (size_t i = 0; i < times; i++) {
		struct interval a[COMPARE_RUNS], b[COMPARE_RUNS];
		for (size_t k = 0; k < n; k++) {
			a[k] = run_of(1);
			b[k] = run_of(factor);
		}
		struct interval found = compare_factor((struct compare_side){ a, n }, (struct compare_side){ b, n }, alpha);
		misses.truth += factor < found.lo || factor > found.hi;
		misses.one += found.lo > 1 || found.hi < 1;
	}
	return misses;
}

/* Four standard deviations beyond what is claimed: that is chance once in 30,000 runs of this test; a fixed seed has none. */
static size_t at_most(size_t times, double p)
{
	return (size_t)((double)times * p + 4 * sqrt((double)times * p * (1 - p)));
}

START_TEST(false_alarms_are_as_rare_as_said)
{
	random_begin(unit_seed);
	static const double alphas[] = { 0.2, 0.05, 0.025 };
	for (size_t i = 0; i < 3; i++)
		for (size_t n = 5; n <= 20; n += 5) {
			struct misses alike = compare_often(1000, n, 1, alphas[i]);
			struct misses other = compare_often(1000, n, 1.05, alphas[i]);
			ck_assert_uint_le(alike.one, at_most(1000, alphas[i]));
			ck_assert_uint_le(other.truth, at_most(1000, alphas[i]));
		}
}
END_TEST

START_TEST(as_many_runs_as_said_find_a_change)
{
	random_begin(unit_seed + 1);
	struct interval a[40], b[40];
	for (size_t k = 0; k < 40; k++) {
		a[k] = run_of(1);
		b[k] = run_of(1);
	}
	size_t n = compare_runs_needed((struct compare_side){ a, 40 }, (struct compare_side){ b, 40 }, 0.025, 0.02);
	ck_assert_uint_ge(n, 5);
	ck_assert_uint_le(n, 40);
	ck_assert_uint_ge(compare_often(500, n, 1.02, 0.025).one, 425); /* an estimate: 0.85 where it says 0.9 */
	ck_assert_uint_le(compare_often(500, n / 2, 1.02, 0.025).one, 425);
	ck_assert_uint_eq(compare_runs_needed((struct compare_side){ a, 3 }, (struct compare_side){ b, 3 }, 0.025, 0.02), 0);
	ck_assert_uint_eq(compare_runs_needed((struct compare_side){ a, 40 }, (struct compare_side){ b, 40 }, 0.025, 1e-5), 0);
}
END_TEST

START_TEST(too_few_runs_say_nothing)
{
	struct interval v[] = { { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 } }, w[] = { { 9, 9 }, { 9, 9 }, { 9, 9 }, { 9, 9 } };
	struct interval found = compare_factor((struct compare_side){ v, 4 }, (struct compare_side){ w, 4 }, 0.025);
	ck_assert(found.lo == 0 && isinf(found.hi));
	ck_assert_uint_eq(compare_fewest(0.025), 5);
	found = compare_factor((struct compare_side){ v, 1 }, (struct compare_side){ w, 4 }, 0.025);
	ck_assert(found.lo == 0 && isinf(found.hi));
	found = compare_factor((struct compare_side){ v, 1 }, (struct compare_side){ w, 1 }, 0.025);
	ck_assert(found.lo <= 9 && found.hi >= 9 && found.hi - found.lo < 1e-9);
}
END_TEST

int main(void)
{
	TCase *laws = unit_begin(60, 1);

	tcase_add_test(laws, rank_is_the_greatest);
	tcase_add_test(laws, intervals_hold_the_truth);
	tcase_add_test(laws, false_alarms_are_as_rare_as_said);
	tcase_add_test(laws, as_many_runs_as_said_find_a_change);
	tcase_add_test(laws, too_few_runs_say_nothing);
	return unit_end();
}
