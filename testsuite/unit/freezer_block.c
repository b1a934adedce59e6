/* SPDX-License-Identifier: MIT
 *
 * freezer_block.c - many stamps at once give what each gives alone. */
#include "freezer/block.c" /* the loops for every kind of vector, whatever this processor prefers */
#include "freezer/solve.h"
#include "testsuite/unit/freezer_random.h"
#include "testsuite/unit/unit.h"

#define MOST 300

typedef size_t convert(const struct frz_segment *, uint64_t limit, const uint64_t *stamps, size_t n,
		       frz_time *out);

/* Full words as well as short ones. */
static uint64_t draw_word(unsigned bits)
{
	return draw() >> (64 - bits) >> below(bits);
}

static struct frz_segment draw_segment(bool bent)
{
	struct frz_segment s = { .shift = (uint8_t)below(below(2) ? 2 : 30) };

	s.span = 1 + draw_word(61 - s.shift);
	s.from = draw_word(64);
	s.lo_at = (__int128)(int64_t)draw_word(62) * ((int64_t)draw() | 1);
	s.hi_at = s.lo_at + draw_word(64);
	s.lo_rate = draw_word(64);
	s.hi_rate = draw_word(64);
	if (bent) {
		s.bend_shift = (uint8_t)below(64);
		s.lo_bend = draw_word(32);
		s.hi_bend = draw_word(32);
	}
	return s;
}

/* From the segment's begin on in steps of one order, now and then astray. */
static size_t draw_stamps(uint64_t *stamps, const struct frz_segment *s)
{
	uint64_t at = s->from + (below(2) ? draw_word(64) % s->span : 0), step = 1 + draw_word(40);
	size_t n = below(MOST);

	for (size_t i = 0; i < n; i++) {
		stamps[i] = below(200) ? at : draw();
		at += below(step);
	}
	return n;
}

static void check_segment(const struct frz_segment *s, const frz_time *times,
			  const uint64_t *stamps, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t ticks = stamps[i] - s->from;

		ck_assert_msg(ticks < s->span, "SEED=%llu: not of this segment",
			      (unsigned long long)seed);
		frz_time t = frz_segment_parabola(s, ticks);
		ck_assert_msg(times[i].lo == t.lo && times[i].hi == t.hi,
			      "SEED=%llu: ticks %llu", (unsigned long long)seed,
			      (unsigned long long)ticks);
	}
}

static uint64_t check_loop(convert *loop, bool bent)
{
	uint64_t stamps[MOST], converted = 0;
	frz_time times[MOST];

	for (int round = 0; round < 8000; round++) {
		struct frz_segment s = draw_segment(bent);
		size_t n = draw_stamps(stamps, &s), done = loop(&s, limit_of(&s), stamps, n, times);

		ck_assert_uint_le(done, n);
		check_segment(&s, times, stamps, done);
		converted += done;
	}
	return converted;
}

START_TEST(each_kind_of_vector_is_exact)
{
	if (__builtin_cpu_supports("avx2")) {
		ck_assert_uint_gt(check_loop(line_by_4, false), 40000);
		ck_assert_uint_gt(check_loop(parabola_by_4, true), 40000);
	}
	if (__builtin_cpu_supports("avx512f")) {
		ck_assert_uint_gt(check_loop(line_by_8, false), 40000);
		ck_assert_uint_gt(check_loop(parabola_by_8, true), 40000);
	}
}
END_TEST

START_TEST(lines_may_be_counted_from_any_stamp)
{
	uint64_t stamps[MOST];
	frz_time times[MOST];

	for (int round = 0; round < 8000; round++) {
		struct frz_segment s = draw_segment(false);
		size_t n = draw_stamps(stamps, &s);

		check_segment(&s, times, stamps, block_line(&s, stamps, n, times));
	}
}
END_TEST

/* Exchanges over a second at 1 GHz, of a clock with a rate of its own. */
static struct frz_solution *solve_clock(struct frz_assumption assumption)
{
	struct frz_link links[200];
	struct frz_solution *solution;

	for (uint64_t i = 0; i < 200; i++) {
		uint64_t at = 1000000 + i / 2 * 10000000, later = at + 6000 + below(1000);

		links[i] = i % 2 ? (struct frz_link){ 1, 0, at * 3, later }
				 : (struct frz_link){ 0, 1, at, later * 3 };
	}
	ck_assert_int_eq(frz_solve(&solution, 2, 0, links, 200, assumption), 0);
	ck_assert_int_eq(frz_clock(solution, 1)->status, FRZ_PROVEN);
	return solution;
}

START_TEST(batches_are_what_stamps_are_one_by_one)
{
	static const struct frz_assumption models[] = { { FRZ_AFFINE, 0 }, { FRZ_DRIFT, 10000 } };
	enum { STAMPS = 5000 };
	static uint64_t stamps[STAMPS];
	static frz_time times[STAMPS];

	for (int round = 0; round < 400; round++) {
		struct frz_solution *solution = solve_clock(models[round % 2]);
		struct frz_cursor one = frz_cursor(solution, (uint32_t)below(4) > 0), many = one;
		uint64_t step = 1 + any_size(31), at = any_size(33);
		size_t n = below(STAMPS + 1);

		for (size_t i = 0; i < n; i++, at += below(step))
			stamps[i] = below(500) ? at : draw() >> below(64);
		frz_times_of(&many, stamps, n, times);
		for (size_t i = 0; i < n; i++) {
			frz_time t = frz_time_of(&one, stamps[i]);

			ck_assert_msg(t.lo == times[i].lo && t.hi == times[i].hi,
				      "SEED=%llu: stamp %llu", (unsigned long long)seed,
				      (unsigned long long)stamps[i]);
		}
		frz_solution_free(solution);
	}
}
END_TEST

static void setup(void)
{
	random_begin(unit_seed);
}

int main(void)
{
	TCase *tests = unit_begin(0, UNIT_ANEW);

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, each_kind_of_vector_is_exact);
	tcase_add_test(tests, lines_may_be_counted_from_any_stamp);
	tcase_add_test(tests, batches_are_what_stamps_are_one_by_one);
	return unit_end();
}
