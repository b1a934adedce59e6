/* SPDX-License-Identifier: MIT
 *
 * analysis_replay.c - where a thread is: random enters, exits and losses, at any depth, with exits that belong to nothing
 * and sites that are missing. The twin keeps every enter in a plain list and looks through all of it. */
#include "analysis/model/replay.h"
#include "testsuite/truth/random.h"
#include "testsuite/unit/unit.h"

#define SITES   40
#define MISSING UINT32_MAX
#define STEPS   400
#define DEEP    (STEPS + 1)

/* As ck_assert_msg(), which takes a system call. */
#define MUST(holds, ...)                                                \
	do {                                                            \
		if (!(holds))                                           \
			ck_abort_msg(__VA_ARGS__);                      \
	} while (0)

struct twin_entry { uint32_t site; uint64_t stamp; bool jumped; };
static struct twin_entry twin[DEEP];
static size_t depth;

static uint32_t is_of(uint32_t site)
{
	static const uint32_t is[] = { OP_REGION, OP_OTHERS | OP_WAITS, OP_OWN, 0 };
	return site == MISSING ? 0 : is[site % 4];
}

/* How many of the twin's entries the exit closes. */
static size_t twin_exit(uint32_t site)
{
	for (size_t n = 1; n <= depth; n++)
		if (twin[depth - n].site == site)
			return n;
	return 0;
}

/* The replay's entries [from, to) are the twin's [at, ..): those in a row that have no exit are one. -> behind them. */
static size_t check_entries(uint64_t seed, const struct replay *r, size_t from, size_t to, size_t at)
{
	for (size_t i = from; i < to; i++) {
		const struct replay_entry *e = &r->entry[i];
		MUST(e->stamp == twin[at].stamp, "SEED=%" PRIu64 ": entry %zu", seed, i);
		for (uint32_t k = 0; k < e->times; k++, at++)
			MUST(e->site == twin[at].site && e->jumped == twin[at].jumped,
				      "SEED=%" PRIu64 ": entry %zu of %zu", seed, i, r->depth);
		MUST(e->times == 1 || e->jumped, "SEED=%" PRIu64, seed);
	}
	return at;
}

static void check_counts(uint64_t seed, const struct replay *r)
{
	uint32_t regions = 0;
	for (size_t i = 0; i < r->depth; i++)
		regions += r->entry[i].is == OP_REGION;
	MUST(replay_regions(r) == regions, "SEED=%" PRIu64 ": %u regions, counted %u", seed, regions, replay_regions(r));
}

static void step(uint64_t seed, struct replay *r, struct dice *dice, uint64_t stamp, int64_t many)
{
	uint32_t site = roll_one_of(dice, 20) ? MISSING : (uint32_t)roll_in(dice, 0, many - 1);
	int64_t what = roll_in(dice, 0, 99);
	if (what < 55) {
		bool jumped = site != MISSING && roll_one_of(dice, 3);
		twin[depth++] = (struct twin_entry){ site, stamp, jumped };
		replay_enter(r, (struct replay_entry){ .stamp = stamp, .site = site, .is = is_of(site),
						       .jumped = jumped });
		return;
	}
	bool lost = what == 99;
	size_t wanted = lost ? depth : twin_exit(site);
	if (!lost && wanted > 0 && twin[depth - wanted].jumped)
		return; /* that has no exit */
	size_t closed = lost ? replay_lose(r) : replay_exit(r, site);
	MUST(check_entries(seed, r, r->depth, r->depth + closed, depth - wanted) == depth,
		      "SEED=%" PRIu64 ": closed", seed);
	depth -= wanted;
}

static void check_program(uint64_t seed)
{
	struct dice dice = { seed };
	struct replay r;
	int64_t many = roll_in(&dice, 1, SITES);
	depth = 0;
	replay_open(&r, SITES);
	for (uint64_t i = 0; i < STEPS; i++) {
		step(seed, &r, &dice, i, many);
		MUST(check_entries(seed, &r, 0, r.depth, 0) == depth, "SEED=%" PRIu64 ": depth", seed);
		check_counts(seed, &r);
	}
	replay_close(&r);
}

START_TEST(an_exit_belongs_to_the_innermost_enter_of_its_site)
{
	for (uint64_t i = 0; i < unit_times(500); i++)
		check_program(unit_seed + i);
}
END_TEST

/* Exits that belong to nothing, below many entries: each costs a look at a few of them. */
START_TEST(many_exits_that_belong_to_nothing)
{
	struct replay r;
	replay_open(&r, 2);
	for (size_t i = 0; i < 300000; i++)
		replay_enter(&r, (struct replay_entry){ .site = 0 });
	for (size_t i = 0; i < 300000; i++)
		MUST(replay_exit(&r, 1) == 0, "exit %zu", i);
	ck_assert(replay_exit(&r, MISSING) == 0 && r.depth == 300000);
	replay_enter(&r, (struct replay_entry){ .site = 1 });
	ck_assert(replay_exit(&r, 0) == 2 && replay_exit(&r, 1) == 0);
	ck_assert(replay_lose(&r) == 299999 && r.depth == 0 && replay_exit(&r, 0) == 0);
	replay_close(&r);
}
END_TEST

/* A loop that is left by longjmp needs no room. */
START_TEST(what_jumps_leave_again_and_again_is_one_entry)
{
	struct replay r;
	replay_open(&r, 2);
	replay_enter(&r, (struct replay_entry){ .site = 0 });
	for (uint64_t i = 0; i < 100000; i++)
		MUST(replay_enter(&r, (struct replay_entry){ .stamp = i, .site = 1, .jumped = true }) == (i == 0),
		     "enter %" PRIu64, i);
	ck_assert(r.depth == 2 && replay_top(&r)->times == 100000 && replay_top(&r)->stamp == 0);
	ck_assert(replay_exit(&r, 0) == 2 && r.depth == 0);
	replay_close(&r);
}
END_TEST

int main(void)
{
	TCase *laws = unit_begin(60, UNIT_ANEW);

	tcase_add_test(laws, an_exit_belongs_to_the_innermost_enter_of_its_site);
	tcase_add_test(laws, many_exits_that_belong_to_nothing);
	tcase_add_test(laws, what_jumps_leave_again_and_again_is_one_entry);
	return unit_end();
}
