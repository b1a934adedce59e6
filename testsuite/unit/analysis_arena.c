/* SPDX-License-Identifier: MIT
 *
 * analysis_arena.c - blocks of an arena against a list of those that are in use. */
#include <stdbool.h>
#include <sys/resource.h>

#include "analysis/base/arena.h"
#include "testsuite/unit/unit.h"

#define ARENAS 20
#define BYTES  ((size_t)1 << 25)
#define LEASTS (BYTES / ARENA_LEAST)
#define STEPS  3000
#define MOST   400

struct in_use { char *begin; size_t bytes; };
static struct in_use used[MOST];
static size_t nused;
static bool taken[LEASTS]; /* the slow twin: what of the arena is in use, ARENA_LEAST by ARENA_LEAST */
static char *lowest;

static size_t first_of(const struct in_use *u)
{
	return (size_t)(u->begin - lowest) / ARENA_LEAST;
}

static void mark(const struct in_use *u, bool is_taken)
{
	for (size_t i = first_of(u); i < first_of(u) + arena_block(u->bytes) / ARENA_LEAST; i++) {
		ck_assert_msg(taken[i] != is_taken, "SEED=%" PRIu64 ": two blocks have one place", unit_seed);
		taken[i] = is_taken;
	}
}

/* A block is free, if it begins at a multiple of its size. */
static bool has_room(size_t bytes)
{
	size_t n = arena_block(bytes) / ARENA_LEAST;
	for (size_t i = 0; i + n <= LEASTS; i += n) {
		size_t k = 0;
		while (k < n && !taken[i + k])
			k++;
		if (k == n)
			return true;
	}
	return false;
}

static void take(struct arena *a, size_t bytes)
{
	struct in_use u = { arena_take(a, bytes), bytes };
	ck_assert_msg((u.begin != NULL) == has_room(bytes), "SEED=%" PRIu64 ": %zu bytes", unit_seed, bytes);
	if (!u.begin)
		return;
	ck_assert(u.begin >= lowest && u.begin + arena_block(bytes) <= lowest + BYTES);
	mark(&u, true);
	memset(u.begin, (int)nused, bytes < 64 ? bytes : 64);
	used[nused++] = u;
}

static void give(struct arena *a, size_t which)
{
	mark(&used[which], false);
	arena_give(a, used[which].begin, used[which].bytes);
	used[which] = used[--nused];
}

/* All that there is, and where it begins. */
static void take_whole(struct arena *a)
{
	lowest = arena_take(a, BYTES);
	ck_assert_ptr_nonnull(lowest);
	ck_assert_ptr_null(arena_take(a, 1));
	arena_give(a, lowest, BYTES);
}

START_TEST(blocks_do_not_overlap)
{
	for (uint64_t last = unit_seed + unit_times(ARENAS); unit_seed < last; unit_seed++) {
		struct arena *a = arena_open(BYTES);
		srand((unsigned)unit_seed);
		take_whole(a);
		for (int step = 0; step < STEPS; step++) {
			if (nused == MOST || (nused && rand() % 9 < 4))
				give(a, (size_t)rand() % nused);
			else
				take(a, 1 + (size_t)rand() % ((size_t)1 << (10 + rand() % 14)));
		}
		while (nused)
			give(a, (size_t)rand() % nused);
		take_whole(a);
		arena_close(a);
	}
}
END_TEST

START_TEST(blocks_are_powers_of_two)
{
	ck_assert_uint_eq(arena_block(0), ARENA_LEAST);
	ck_assert_uint_eq(arena_block(ARENA_LEAST), ARENA_LEAST);
	ck_assert_uint_eq(arena_block(ARENA_LEAST + 1), 2 * ARENA_LEAST);
	ck_assert_uint_eq(arena_block(BYTES - 1), BYTES);
	ck_assert_uint_eq(arena_block(BYTES), BYTES);
}
END_TEST

/* What a limit does not allow is not there; half of that may be. */
START_TEST(limits_are_kept)
{
	struct rlimit limit;
	ck_assert_int_eq(getrlimit(RLIMIT_DATA, &limit), 0);
	limit.rlim_cur = 5 * BYTES;
	ck_assert_int_eq(setrlimit(RLIMIT_DATA, &limit), 0);
	struct arena *a = arena_open(8 * BYTES);
	ck_assert_ptr_nonnull(a);
	ck_assert_ptr_null(arena_take(a, 4 * BYTES + 1));
	ck_assert_ptr_nonnull(arena_take(a, BYTES));
	arena_close(a);
	limit.rlim_cur = BYTES / 2;
	ck_assert_int_eq(setrlimit(RLIMIT_DATA, &limit), 0);
	ck_assert_ptr_null(arena_open(8 * BYTES));
	ck_assert_ptr_null(arena_open(0));
}
END_TEST

int main(void)
{
	TCase *c = unit_begin(60, 1);

	tcase_add_test(c, blocks_do_not_overlap);
	tcase_add_test(c, blocks_are_powers_of_two);
	tcase_add_test(c, limits_are_kept);
	return unit_end();
}
