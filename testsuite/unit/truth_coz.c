/* SPDX-License-Identifier: MIT
 *
 * truth_coz.c - what coz promises is what happens: random programs are run again with a region that
 * really takes less time, and what that saved lies within the bounds.
 *
 * TRUTH_SEED repeats a run, TRUTH_PROGRAMS is how many are tried. */
#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/coz.h"
#include "testsuite/truth/program.h"

static const uint32_t permille[] = { 0, 50, 333, 500, 1000 };
#define NPERMILLE (sizeof permille / sizeof *permille)

static uint64_t seed, programs;

static uint64_t number_from(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

static void setup(void)
{
	seed = number_from("TRUTH_SEED", 1);
	programs = number_from("TRUTH_PROGRAMS", 400);
}

static uint64_t narrow, all;

static void check_cut(struct program *p, const struct coz *c, uint32_t region, size_t i, int64_t rank)
{
	struct program_cut cut = { (enum program_site)region, rank, permille[i] };
	int64_t before = p->end - p->begin;

	program_run(p, &cut);
	int64_t saved = before - (p->end - p->begin);

	program_run(p, NULL);
	struct savings_bounds found = coz_saving(c, region, i);

	ck_assert_msg(program_compare(saved, (int64_t)floor(found.lo)) >= 0 &&
			      program_compare(saved, (int64_t)ceil(found.hi)) <= 0,
		      "TRUTH_SEED=%" PRIu64 ": region %u less by %u permille on rank %" PRId64
		      ": saved %.3f ticks, found %.3f .. %.3f",
		      p->seed, region, permille[i], rank, (double)saved / PROGRAM_FINE, found.lo, found.hi);
	ck_assert(permille[i] || (found.lo == 0 && found.hi == 0));
	all++;
	narrow += found.hi - found.lo <= 0.01 * (double)before / PROGRAM_FINE;
}

static void check_program(uint64_t number, const struct program_wish *wish, bool worst)
{
	struct program *p = program_draw(number, wish);
	struct trace *trace = program_trace(p, PROGRAM_RECORDED);
	struct options options = { .assumption = p->assumption };
	struct times times;
	uint32_t row_of_site[PROGRAM_SITES], reductions[NPERMILLE];
	int64_t rank = number % 3 ? COZ_ALL_RANKS : (int64_t)(number % p->nranks);

	ck_assert_int_eq(times_open(&times, trace, &options), EXIT_FINE);
	for (uint32_t s = 0; s < PROGRAM_SITES; s++)
		row_of_site[s] = s < PROGRAM_REGIONS ? s : TR_NO_SITE;
	for (size_t i = 0; i < NPERMILLE; i++)
		reductions[i] = permille[i] * 100000;
	struct coz_setting setting = { row_of_site, PROGRAM_REGIONS, reductions, NPERMILLE, rank, worst };
	struct coz c;

	coz_open(&c, trace, &times, &setting);
	ck_assert_msg(trace->nproblems == 0, "TRUTH_SEED=%" PRIu64 ": %s", number,
		      trace->nproblems ? trace->problems[0] : "");
	for (uint32_t region = 0; region < PROGRAM_REGIONS; region++)
		for (size_t i = 0; i < NPERMILLE; i++)
			check_cut(p, &c, region, i, rank == COZ_ALL_RANKS ? -1 : rank);
	coz_close(&c);
	times_close(&times);
	trace_close(trace);
	program_free(p);
}

/* Costs and transfers are what they are: nothing is assumed of them. */
START_TEST(savings_hold_the_truth_whatever_transfers_take)
{
	for (uint64_t i = 0; i < programs; i++)
		check_program(seed + i, &(struct program_wish){ .affine = i % 3 == 0, .varying = i % 2 }, true);
}
END_TEST

/* Costs and transfers are alike: they are measured. */
START_TEST(savings_hold_the_truth_when_transfers_are_measured)
{
	for (uint64_t i = 0; i < programs; i++)
		check_program(seed + i, &(struct program_wish){ .affine = i % 3 == 0 }, false);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("coz against programs that are really faster");
	TCase *c = tcase_create("savings");

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_set_timeout(c, 100000);
	tcase_add_test(c, savings_hold_the_truth_whatever_transfers_take);
	tcase_add_test(c, savings_hold_the_truth_when_transfers_are_measured);
	suite_add_tcase(suite, c);
	SRunner *runner = srunner_create(suite);

	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
