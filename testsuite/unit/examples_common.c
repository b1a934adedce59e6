/* SPDX-License-Identifier: MIT
 *
 * examples_common.c - what the examples share: blocks, sums in integers, points from text. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "examples/common/block.h"
#include "examples/common/fixed.h"
#include "examples/common/points.h"

static unsigned seed; /* of the whole run; EXAMPLES_SEED repeats one */

static double uniform(double low, double high)
{
	return low + (high - low) * drand48();
}

static size_t below(size_t n)
{
	return (size_t)(drand48() * (double)n);
}

START_TEST(blocks_cover_everything_once)
{
	for (int round = 0; round < 2000; round++) {
		size_t count = below(100), next = 0;
		int parts = 1 + (int)below(20);
		for (int p = 0; p < parts; p++) {
			struct block b = block_of(count, parts, p);
			ck_assert_uint_eq(b.first, next);
			ck_assert(b.count == count / parts || b.count == count / parts + 1);
			next += b.count;
		}
		ck_assert_uint_eq(next, count);
	}
}
END_TEST

START_TEST(a_sum_does_not_depend_on_the_order)
{
	double term[300];
	for (int round = 0; round < 2000; round++) {
		size_t count = 1 + below(300);
		double greatest = ldexp(uniform(0.5, 1), (int)below(1800) - 900);
		struct fixed f = fixed_for(greatest, count);
		int64_t forth = 0, back = 0;
		long double exact = 0; /* as far as this test needs it */
		for (size_t i = 0; i < count; i++) {
			term[i] = below(3) ? uniform(-greatest, greatest) : greatest;
			forth += fixed_from(f, term[i]);
			exact += term[i];
		}
		for (size_t i = count; i-- > 0;)
			back += fixed_from(f, term[i]);
		ck_assert_int_eq(forth, back);
		double most = (double)count * ldexp(greatest * (double)count, -60) +
			      fabs((double)exact) * 1e-15;
		ck_assert_msg(fabs(fixed_value(f, forth) - (double)exact) <= most,
			      "seed %u: %zu terms up to %g: %.17g, not %.17Lg", seed, count,
			      greatest, fixed_value(f, forth), exact);
	}
}
END_TEST

START_TEST(the_greatest_sum_fits)
{
	for (int round = 0; round < 2000; round++) {
		size_t count = 1 + below((size_t)1 << below(40));
		double greatest = ldexp(uniform(0.5, 1), (int)below(1800) - 900);
		struct fixed f = fixed_for(greatest, count);
		ck_assert((__int128)fixed_from(f, greatest) * (__int128)count <= INT64_MAX);
	}
	ck_assert_int_eq(fixed_from(fixed_for(0, 1000), 0), 0);
	ck_assert(isfinite(fixed_for(5e-324, 1).up));
}
END_TEST

/* Writes rows of random numbers with random separators, some of them gzipped. */
static void write_rows(const char *name, const double *x, size_t count, size_t dimensions)
{
	static const char *const separators[] = { ",", " ", "\t", " , ", "  ", ", " };
	gzFile f = gzopen(name, below(2) ? "wb" : "wbT");
	for (size_t i = 0; i < count; i++) {
		if (!below(5))
			gzputs(f, below(2) ? "\n" : " # a remark\n");
		for (size_t j = 0; j < dimensions; j++)
			gzprintf(f, "%s%.17g", j ? separators[below(6)] : below(2) ? "" : " ",
				 x[i * dimensions + j]);
		gzputs(f, i + 1 == count && below(2) ? "" : below(2) ? "\n" : " \r\n");
	}
	gzclose(f);
}

START_TEST(points_come_back_as_they_were_written)
{
	char name[] = "/tmp/examples-points-XXXXXX";
	close(mkstemp(name));
	for (int round = 0; round < 200; round++) {
		size_t count = 1 + below(30), dimensions = 1 + (below(20) ? below(9) : below(3000));
		double *x = calloc(count * dimensions, sizeof *x);
		for (size_t i = 0; i < count * dimensions; i++)
			x[i] = uniform(-1, 1) * ldexp(1, (int)below(200) - 100);
		write_rows(name, x, count, dimensions);
		struct points p;
		ck_assert_msg(points_read(&p, name), "seed %u", seed);
		ck_assert_uint_eq(p.count, count);
		ck_assert_uint_eq(p.dimensions, dimensions);
		for (size_t i = 0; i < count * dimensions; i++)
			ck_assert_msg(p.x[i] == x[i], "seed %u: %.17g became %.17g", seed, x[i],
				      p.x[i]);
		points_free(&p);
		free(x);
	}
	unlink(name);
}
END_TEST

int main(void)
{
	const char *given = getenv("EXAMPLES_SEED");
	seed = given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)time(NULL);
	srand48(seed);
	printf("seed %u (again: EXAMPLES_SEED=%u)\n", seed, seed);

	TCase *laws = tcase_create("laws");
	tcase_add_test(laws, blocks_cover_everything_once);
	tcase_add_test(laws, a_sum_does_not_depend_on_the_order);
	tcase_add_test(laws, the_greatest_sum_fits);
	tcase_add_test(laws, points_come_back_as_they_were_written);
	Suite *suite = suite_create("examples");
	suite_add_tcase(suite, laws);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
