/* SPDX-License-Identifier: MIT
 *
 * truth_program.c - random programs keep the laws of their header, seen through a trace of them;
 * and the bounds of their events hold the truth. */
#include "analysis/clocks/times.h"
#include "testsuite/truth/program.h"
#include "testsuite/unit/unit.h"

static uint64_t seed, programs;

static void setup(void)
{
	seed = unit_seed;
	programs = unit_times(300);
}

static struct program *some_program(uint64_t i)
{
	uint64_t n = seed + i;
	struct program_spec spec = { .affine = n % 3 == 0, .varying = n % 2, .twins = n % 16 == 5 };

	return program_draw(n, &spec);
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
	trace_end(&cursor);
}

START_TEST(the_trace_is_the_program)
{
	for (uint64_t i = 0; i < programs; i++) {
		struct program *p = some_program(i);
		struct trace *trace = program_trace(p, PROGRAM_RECORDED);

		ck_assert_msg(trace->ndiagnostics == 0, "SEED=%" PRIu64 ": %s", seed + i,
			      trace->ndiagnostics ? trace->diagnostics[0] : "");
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

			if (times.time_base[thread->host] != 0) {
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
					      "SEED=%" PRIu64 " thread %zu event %zu", seed + i, t,
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
		struct program_cut cut = { .site = (enum program_site)((seed + i) % PROGRAM_REGIONS),
					   .rank = (int64_t)((seed + i) % 3) - 1 };

		for (cut.permille = 0; cut.permille <= 1000; cut.permille += 250) {
			program_run(p, &cut);
			int64_t *after = truths(p, &n_cut);

			ck_assert_uint_eq(n, n_cut);
			for (size_t k = 0; k < n; k++) {
				ck_assert_msg(after[k] <= before[k], "SEED=%" PRIu64, seed + i);
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
	TCase *c = unit_begin(600, 1);

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_add_test(c, the_trace_is_the_program);
	tcase_add_test(c, times_hold_the_truth);
	tcase_add_test(c, a_greater_cut_saves_more);
	return unit_end();
}
