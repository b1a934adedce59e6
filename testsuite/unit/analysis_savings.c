/* SPDX-License-Identifier: MIT
 *
 * analysis_savings.c - bounds on savings against exact rationals: some true value of every time and
 * slack is drawn from its interval, and what follows exactly must lie in the bounds of the result. */
#include <gmp.h>

#include "analysis/coz/savings.h"
#include "testsuite/unit/unit.h"

#define HISTORIES 400
#define STEPS     60
#define EVENTS    6
#define REGIONS   3

static const uint32_t reductions[] = { 0, 1, 5000000, 33333333, 99999999, 100000000 };
#define NREDUCTIONS (sizeof reductions / sizeof *reductions)
#define NSCENARIOS  (REGIONS * NREDUCTIONS)
#define ANSWERS     2

static uint64_t dice;

static uint64_t roll(uint64_t sides)
{
	dice ^= dice >> 12, dice ^= dice << 25, dice ^= dice >> 27;
	return dice * UINT64_C(2685821657736338717) % sides;
}

/* A saving and what it truly is, in every scenario of every answer. */
struct both { struct saving *bounds; mpq_t truth[ANSWERS * NSCENARIOS]; };

static struct savings all;
static struct both event[EVENTS];

static void check(const struct both *b, uint64_t seed)
{
	mpq_t end;

	mpq_init(end);
	for (size_t i = 0; i < ANSWERS * NSCENARIOS; i++) {
		struct savings_bounds found = saving_bounds(&all, b->bounds, i / NSCENARIOS, i % NSCENARIOS);

		mpq_set_d(end, found.lo);
		ck_assert_msg(mpq_cmp(end, b->truth[i]) <= 0,
			      "SEED=%" PRIu64 ": answer %zu, scenario %zu: below %g", seed, i / NSCENARIOS,
			      i % NSCENARIOS, found.lo);
		mpq_set_d(end, found.hi);
		ck_assert_msg(mpq_cmp(end, b->truth[i]) >= 0,
			      "SEED=%" PRIu64 ": answer %zu, scenario %zu: above %g", seed, i / NSCENARIOS,
			      i % NSCENARIOS, found.hi);
		ck_assert(found.lo >= 0);
		ck_assert(reductions[i % NREDUCTIONS] || (found.lo == 0 && found.hi == 0));
	}
	mpq_clear(end);
}

/* One of lo, lo + 1/7, ... hi. */
static void some_between(mpq_t out, int64_t lo, int64_t hi)
{
	mpq_set_ui(out, (uint64_t)lo * 7 + roll((uint64_t)(hi - lo) * 7 + 1), 7);
	mpq_canonicalize(out);
}

static int64_t some_ticks(void)
{
	return (int64_t)roll(UINT64_C(1) << (1 + roll(40)));
}

static void cut(struct both *b)
{
	size_t region = roll(REGIONS);
	frz_time duration = { some_ticks(), 0 };
	mpq_t time, part;

	duration.hi = duration.lo + (int64_t)roll(1000);
	mpq_inits(time, part, NULL);
	some_between(time, duration.lo, duration.hi);
	b->bounds = saving_own(&all, b->bounds);
	saving_cut(&all, b->bounds, region, duration, SAVING_NONE);
	for (size_t i = 0; i < NREDUCTIONS; i++) {
		mpq_set_ui(part, reductions[i], 100000000);
		mpq_canonicalize(part);
		mpq_mul(part, part, time);
		for (size_t at = region * NREDUCTIONS + i; at < ANSWERS * NSCENARIOS; at += NSCENARIOS)
			mpq_add(b->truth[at], b->truth[at], part);
	}
	mpq_clears(time, part, NULL);
}

/* One answer waits for all events, of which some may be none of its business, or all answers do; one event truly is
 * the last. What the answers from `first` on truly save. */
static void add_inputs(size_t answer, size_t first, size_t end, mpq_t least[])
{
	size_t last = roll(EVENTS);
	mpq_t slack, sum;
	bool any = false;

	mpq_inits(slack, sum, NULL);
	for (size_t e = 0; e < EVENTS; e++) {
		int64_t lo = e == last ? 0 : some_ticks(), hi = lo + (int64_t)roll(1000);
		bool sure = e == last || roll(4), counts = sure || roll(2);

		if (e == last)
			mpq_set_ui(slack, 0, 1);
		else
			some_between(slack, lo, hi);
		saving_input(&all, answer, event[e].bounds, (struct slack){ lo, hi, sure, false });
		for (size_t i = first * NSCENARIOS; i < end * NSCENARIOS && counts; i++) {
			mpq_add(sum, event[e].truth[i], slack);
			if (!any || mpq_cmp(sum, least[i]) < 0)
				mpq_set(least[i], sum);
		}
		any |= counts;
	}
	mpq_clears(slack, sum, NULL);
}

static void synchronise(void)
{
	mpq_t least[ANSWERS * NSCENARIOS];

	for (size_t i = 0; i < ANSWERS * NSCENARIOS; i++)
		mpq_init(least[i]);
	saving_begin(&all, false);
	if (roll(2))
		add_inputs(SAVING_ALL, 0, ANSWERS, least);
	else
		for (size_t answer = 0; answer < ANSWERS; answer++)
			add_inputs(answer, answer, answer + 1, least);
	saving_drop(&all, event[0].bounds);
	event[0].bounds = saving_end(&all);
	for (size_t i = 0; i < ANSWERS * NSCENARIOS; i++) {
		mpq_set(event[0].truth[i], least[i]);
		mpq_clear(least[i]);
	}
}

/* What is known of one answer is forgotten: anything up to what a run of that length may save. */
static void forget(struct both *b)
{
	size_t answer = roll(ANSWERS);
	int64_t elapsed = some_ticks();
	mpq_t time;

	mpq_init(time);
	b->bounds = saving_own(&all, b->bounds);
	saving_forget(&all, b->bounds, answer, (frz_time){ elapsed, elapsed });
	for (size_t i = answer * NSCENARIOS; i < (answer + 1) * NSCENARIOS; i++) {
		mpq_set_ui(time, (unsigned long)roll((uint64_t)elapsed + 1), 1);
		mpq_set_ui(b->truth[i], reductions[i % NREDUCTIONS], 100000000);
		mpq_canonicalize(b->truth[i]);
		mpq_mul(b->truth[i], b->truth[i], time);
	}
	mpq_clear(time);
}

/* One answer may have to wait for what comes as much later as `lag`, or less, and is itself earlier. */
static void wait_for_late(struct both *b, const struct both *late)
{
	size_t answer = roll(ANSWERS);
	int64_t lag = some_ticks();
	mpq_t then, none;

	mpq_inits(then, none, NULL);
	b->bounds = saving_own(&all, b->bounds);
	saving_late(&all, b->bounds, answer, late->bounds, lag);
	for (size_t i = answer * NSCENARIOS; i < (answer + 1) * NSCENARIOS; i++) {
		some_between(then, 0, lag);
		mpq_sub(then, late->truth[i], then);
		if (mpq_cmp(then, none) < 0)
			mpq_set(then, none);
		if (mpq_cmp(then, b->truth[i]) < 0)
			mpq_set(b->truth[i], then);
	}
	mpq_clears(then, none, NULL);
}

static void copy(struct both *to, const struct both *from)
{
	struct saving *kept = saving_keep(from->bounds);

	saving_drop(&all, to->bounds);
	to->bounds = kept;
	for (size_t i = 0; i < ANSWERS * NSCENARIOS; i++)
		mpq_set(to->truth[i], from->truth[i]);
}

static void one_history(uint64_t seed)
{
	dice = seed * 2 + 1;
	for (int i = 0; i < 8; i++)
		roll(2);
	const struct savings_region region = { reductions, NREDUCTIONS };
	savings_open(&all, (const struct savings_region[REGIONS]){ region, region, region }, REGIONS, ANSWERS);
	for (size_t e = 0; e < EVENTS; e++) {
		event[e].bounds = saving_none(&all);
		for (size_t i = 0; i < ANSWERS * NSCENARIOS; i++)
			mpq_init(event[e].truth[i]);
	}
	for (size_t step = 0; step < STEPS; step++) {
		size_t e = roll(EVENTS);

		switch (roll(8) ? roll(4) : 4 + roll(2)) {
		case 0: synchronise(); check(&event[0], seed); break;
		case 1: copy(&event[e], &event[0]); break;
		case 4: forget(&event[e]); check(&event[e], seed); break;
		case 5: wait_for_late(&event[e], &event[roll(EVENTS)]); check(&event[e], seed); break;
		default: cut(&event[e]); check(&event[e], seed); break;
		}
	}
	for (size_t e = 0; e < EVENTS; e++) {
		saving_drop(&all, event[e].bounds);
		for (size_t i = 0; i < ANSWERS * NSCENARIOS; i++)
			mpq_clear(event[e].truth[i]);
	}
	savings_close(&all);
}

START_TEST(bounds_hold_the_exact_savings)
{
	for (uint64_t i = 0; i < unit_times(HISTORIES); i++)
		one_history(unit_seed + i);
}
END_TEST

/* Neither the products nor the sums are exact. */
START_TEST(many_small_sums_round_outward)
{
	static const uint32_t third[] = { 33333333 };
	struct savings_bounds found;
	mpq_t exact, end;

	savings_open(&all, &(struct savings_region){ third, 1 }, 1, 1);
	struct saving *s = saving_own(&all, saving_none(&all));

	for (int i = 0; i < 10000; i++)
		saving_cut(&all, s, 0, (frz_time){ 7, 7 }, SAVING_NONE);
	found = saving_bounds(&all, s, 0, 0);
	mpq_inits(exact, end, NULL);
	mpq_set_ui(exact, UINT64_C(33333333) * 70000, 100000000);
	mpq_canonicalize(exact);
	mpq_set_d(end, found.lo);
	ck_assert_int_lt(mpq_cmp(end, exact), 0);
	mpq_set_d(end, found.hi);
	ck_assert_int_gt(mpq_cmp(end, exact), 0);
	ck_assert(found.hi - found.lo < 1e-6);
	mpq_clears(exact, end, NULL);
	saving_drop(&all, s);
	savings_close(&all);
}
END_TEST

START_TEST(what_may_be_later_saves_less_where_anything_is_cut)
{
	static const uint32_t none_and_half[] = { 0, 50000000 };

	savings_open(&all, &(struct savings_region){ none_and_half, 2 }, 1, 2);
	struct saving *s = saving_own(&all, saving_none(&all));
	saving_count(&all, 0, (frz_time){ 1000, 1000 });
	saving_cut(&all, s, 0, (frz_time){ 1000, 1000 }, SAVING_NONE);
	saving_may_delay(&all, s, 1, (frz_time){ 290, 300 });
	ck_assert_double_eq(saving_bounds(&all, s, 0, 1).lo, 500);
	ck_assert_double_eq(saving_bounds(&all, s, 1, 0).lo, 0);
	ck_assert_double_eq(saving_bounds(&all, s, 1, 1).lo, -300);
	ck_assert_double_eq(saving_bounds(&all, s, 1, 1).hi, 500);
	saving_drop(&all, s);
	savings_close(&all);
}
END_TEST

int main(void)
{
	TCase *c = unit_begin(900, 1);

	tcase_add_test(c, bounds_hold_the_exact_savings);
	tcase_add_test(c, many_small_sums_round_outward);
	tcase_add_test(c, what_may_be_later_saves_less_where_anything_is_cut);
	return unit_end();
}
