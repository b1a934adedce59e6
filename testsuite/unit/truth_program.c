/* SPDX-License-Identifier: MIT
 *
 * truth_program.c - random programs keep the laws of their header, seen through a trace of them;
 * and the bounds of their events hold the truth.
 *
 * TRUTH_SEED repeats a run, TRUTH_PROGRAMS is how many are tried. */
#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/times.h"
#include "testsuite/truth/program.h"

static uint64_t seed, programs;

static uint64_t number_from(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

static void setup(void)
{
	seed = number_from("TRUTH_SEED", 1);
	programs = number_from("TRUTH_PROGRAMS", 300);
}

static struct program *some_program(uint64_t i)
{
	struct program_wish wish = { .affine = i % 3 == 0, .varying = i % 2, .twins = i % 16 == 5 };

	return program_draw(seed + i, &wish);
}

/* ---- The trace says what the program does --------------------------------------------------- */

static void check_arguments(const struct tr_event *seen, const struct program_event *e)
{
	ck_assert_uint_eq(seen->nargs, e->nargs);
	for (unsigned k = 0; k < e->nargs; k++)
		ck_assert_uint_eq(trace_arg(seen, e->args[k].key, UINT64_MAX), e->args[k].value);
}

static void check_thread(const struct trace *trace, const struct program *p, size_t t)
{
	const struct program_thread *thread = &p->threads[t];
	struct tr_cursor cursor = trace_events(trace, t);
	struct tr_event e;
	size_t i = 0;

	ck_assert_int_eq(trace->threads[t].rank, thread->rank);
	ck_assert_uint_eq(trace->threads[t].number, thread->number);
	ck_assert_uint_eq(trace->threads[t].clock, thread->host);
	for (; trace_next(&cursor, &e); i++) {
		const struct program_event *want = &thread->events[i];

		ck_assert_uint_lt(i, thread->nevents);
		ck_assert_uint_eq(e.site, want->site);
		ck_assert_int_eq(e.op, want->op);
		ck_assert_uint_eq(e.stamp, clockmap_stamp(&p->maps[thread->host], want->truth));
		ck_assert(!i || want->truth >= want[-1].truth);
		check_arguments(&e, want);
	}
	ck_assert_uint_eq(i, thread->nevents);
}

START_TEST(the_trace_is_the_program)
{
	for (uint64_t i = 0; i < programs; i++) {
		struct program *p = some_program(i);
		struct trace *trace = program_trace(p, PROGRAM_RECORDED);

		ck_assert_msg(trace->nproblems == 0, "seed %" PRIu64 ": %s", seed + i,
			      trace->nproblems ? trace->problems[0] : "");
		ck_assert_uint_eq(trace->nthreads, p->nthreads);
		ck_assert_uint_eq(trace->nlinks, p->nlinks);
		for (size_t t = 0; t < p->nthreads; t++)
			check_thread(trace, p, t);
		trace_close(trace);
		program_free(p);
	}
}
END_TEST

/* ---- Its truth is inside -------------------------------------------------------------------- */

START_TEST(times_hold_the_truth)
{
	uint64_t events = 0, unproven = 0;

	for (uint64_t i = 0; i < programs; i++) {
		struct program *p = some_program(i);
		struct trace *trace = program_trace(p, PROGRAM_RECORDED);
		struct options options = { .assumption = p->assumption };
		struct times times;

		ck_assert_int_eq(times_open(&times, trace, &options), EXIT_FINE);
		for (size_t t = 0; t < p->nthreads; t++) {
			const struct program_thread *thread = &p->threads[t];

			if (times.line[thread->host] != 0) {
				unproven++;
				continue;
			}
			struct frz_cursor cursor = times_cursor(&times, thread->host);
			for (size_t k = 0; k < thread->nevents; k++, events++) {
				int64_t truth = thread->events[k].truth;
				frz_time time = frz_time_of(
					&cursor, clockmap_stamp(&p->maps[thread->host], truth));

				ck_assert_msg(program_compare(truth, time.lo) >= 0 &&
						      program_compare(truth, time.hi) <= 0,
					      "seed %" PRIu64 " thread %zu event %zu", seed + i, t,
					      k);
			}
		}
		times_close(&times);
		trace_close(trace);
		program_free(p);
	}
	ck_assert_uint_eq(unproven, 0);
	ck_assert_uint_gt(events, programs * 20);
}
END_TEST

/* ---- Cuts ----------------------------------------------------------------------------------- */

static int64_t *truths(const struct program *p, size_t *n)
{
	int64_t *all = NULL;

	*n = 0;
	for (size_t t = 0; t < p->nthreads; t++) {
		all = realloc(all, (*n + p->threads[t].nevents + 1) * sizeof *all);
		for (size_t i = 0; i < p->threads[t].nevents; i++)
			all[(*n)++] = p->threads[t].events[i].truth;
	}
	return all;
}

/* No event comes later than without the cut, none earlier than with a greater one, and a cut of
 * nothing changes nothing. */
START_TEST(a_greater_cut_saves_more)
{
	uint64_t earlier = 0;

	for (uint64_t i = 0; i < programs; i++) {
		struct program *p = some_program(i);
		size_t n, n_cut;
		int64_t *before = truths(p, &n);
		struct program_cut cut = { .site = (enum program_site)(i % PROGRAM_REGIONS),
					   .rank = (int64_t)(i % 3) - 1 };

		for (cut.permille = 0; cut.permille <= 1000; cut.permille += 250) {
			program_run(p, &cut);
			int64_t *after = truths(p, &n_cut);

			ck_assert_uint_eq(n, n_cut);
			for (size_t k = 0; k < n; k++) {
				ck_assert_msg(after[k] <= before[k], "seed %" PRIu64, seed + i);
				ck_assert(cut.permille || after[k] == before[k]);
				earlier += after[k] < before[k];
			}
			free(before);
			before = after;
		}
		free(before);
		program_free(p);
	}
	ck_assert_uint_gt(earlier, programs);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("truth: programs");
	TCase *c = tcase_create("programs");

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_set_timeout(c, 600);
	tcase_add_test(c, the_trace_is_the_program);
	tcase_add_test(c, times_hold_the_truth);
	tcase_add_test(c, a_greater_cut_saves_more);
	suite_add_tcase(s, c);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
