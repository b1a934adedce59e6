/* SPDX-License-Identifier: MIT
 *
 * analysis_frame_length.c - what is known of the length of a frame, against all pairs of its begins and ends; kept
 * by a tournament while clocks change, in any order. */
#include "analysis/base/tournament.h"
#include "analysis/states/frame_length.h"
#include "testsuite/unit/draw.h"
#include "testsuite/unit/unit.h"

#define CLOCKS 40

static int64_t below(uint64_t n)
{
	return (int64_t)draw_below(n);
}

struct length_stretch { frz_time begin, end, passed; bool has_passed; };

static struct length_stretch random_stretch(void)
{
	struct length_stretch x;
	int64_t scale = below(3) ? 100 : 5000;
	x.begin.lo = below(scale) - 50;
	x.begin.hi = below(20) ? x.begin.lo + below(30) : INT64_MAX;
	x.end.lo = below(20) ? x.begin.lo + below(scale) : INT64_MIN;
	x.end.hi = below(20) ? larger(x.begin.lo, x.end.lo) + below(30) : INT64_MAX;
	x.passed.lo = below(scale);
	x.passed.hi = x.passed.lo + below(5);
	x.has_passed = below(3);
	return x;
}

static struct frame_part part_of(const struct length_stretch *x)
{
	return frame_part(x->begin, x->end, x->has_passed ? &x->passed : NULL);
}

/* By the words of the header. */
static frz_time twin(const struct length_stretch *x, size_t n)
{
	frz_time length = { INT64_MAX, INT64_MAX };
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++) {
			bool passed = i == j && x[i].has_passed;
			int64_t lo = ticks_minus(x[i].end.lo, x[j].begin.hi);
			int64_t hi = ticks_minus(x[i].end.hi, x[j].begin.lo);
			length.lo = smaller(length.lo, passed ? larger(lo, x[i].passed.lo) : lo);
			length.hi = smaller(length.hi, passed ? smaller(hi, x[i].passed.hi) : hi);
		}
	return (frz_time){ larger(length.lo, 0), larger(length.hi, 0) };
}

struct kept { size_t n; struct length_stretch x[CLOCKS]; struct frame_part node[2 * CLOCKS]; size_t joins; };

static void leaf(void *of, size_t i)
{
	struct kept *k = of;
	k->node[k->n + i] = part_of(&k->x[i]);
}

static void join(void *of, size_t node)
{
	struct kept *k = of;
	k->node[node] = frame_join(&k->node[2 * node], &k->node[2 * node + 1]);
	k->joins++;
}

START_TEST(tournament_says_what_all_pairs_say)
{
	for (uint64_t seed = unit_seed; seed < unit_seed + unit_times(300); seed++) {
		struct kept k = { 0 };
		struct tournament t;
		draw_state = seed;
		k.n = 1 + (size_t)below(CLOCKS);
		tournament_open(&t, k.n);
		for (size_t i = 0; i < k.n; i++)
			k.x[i] = random_stretch();
		for (int step = 0; step < 50; step++) {
			size_t changed = 0;
			for (int64_t some = step ? below(k.n < 4 ? k.n + 1 : 4) : 0; some > 0; some--, changed++) {
				size_t i = (size_t)below(k.n);
				k.x[i] = random_stretch();
				tournament_change(&t, i);
			}
			k.joins = 0;
			tournament_settle(&t, leaf, join, &k);
			frz_time expected = twin(k.x, k.n), found = frame_length(&k.node[1]);
			ck_assert_msg(found.lo == expected.lo && found.hi == expected.hi,
				      "SEED=%" PRIu64 ": step %d: [%" PRId64 ", %" PRId64 "], expected [%" PRId64
				      ", %" PRId64 "]", seed, step, found.lo, found.hi, expected.lo, expected.hi);
			ck_assert_uint_le(k.joins, k.n);
			if (step > 0 && k.n >= 32)
				ck_assert_uint_le(k.joins, 6 * changed);
		}
		tournament_close(&t);
	}
}
END_TEST

int main(void)
{
	TCase *tc = unit_begin(0, 1);

	tcase_add_test(tc, tournament_says_what_all_pairs_say);
	return unit_end();
}
