/* SPDX-License-Identifier: MIT
 *
 * analysis_spill.c - arrays of a spill against plain memory: what is in them, how much of them is resident, and what
 * happens where there is no room. */
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>

#include "analysis/base/spill.h"
#include "testsuite/unit/unit.h"

#define SPILLS 8
#define ARRAYS 6
#define STEPS  300
#define ARENA  ((size_t)1 << 25) /* bytes: too few for all arrays */
#define MANY   ((size_t)1 << 20) /* arrays side by side: then all but the shortest are long */

static uint64_t dice;

static uint64_t roll(uint64_t sides)
{
	dice ^= dice >> 12, dice ^= dice << 25, dice ^= dice >> 27;
	return dice * UINT64_C(2685821657736338717) % sides;
}

struct spill_item { uint64_t a, b, c; };
struct spill_pair { struct spill_item *array, *twin; size_t n; };

static void grow(struct spill *s, struct spill_pair *p)
{
	for (size_t more = (size_t)1 << roll(15); more > 0; more--) {
		struct spill_item item = { roll(UINT64_MAX), p->n, more };

		p->twin = realloc(p->twin, (p->n + 1) * sizeof item);
		p->twin[p->n] = item;
		*SPILL_GROW(s, p->array, p->n) = item;
		spill_relax(s);
	}
}

static void change(const struct spill_pair *p)
{
	for (size_t k = roll(100); k > 0 && p->n; k--) {
		size_t at = roll(p->n);

		p->array[at].b = p->twin[at].b = roll(UINT64_MAX);
	}
}

static void check(const struct spill_pair *p)
{
	ck_assert_msg(!p->n || memcmp(p->array, p->twin, p->n * sizeof *p->twin) == 0,
		      "SEED=%" PRIu64 ": %zu items are not what was put in", unit_seed, p->n);
}

static void drop(struct spill *s, struct spill_pair *p)
{
	check(p);
	spill_free(s, p->array);
	free(p->twin);
	*p = (struct spill_pair){ NULL, NULL, 0 };
}

/* To another place, as pages of another array. */
static void copy(struct spill *s, struct spill_pair *p)
{
	struct spill_item *to = spill_zeros(s, p->n, sizeof *to);

	for (size_t i = 0; i < p->n; i++)
		ck_assert_uint_eq(to[i].a | to[i].b | to[i].c, 0);
	spill_copy(s, to, p->array, p->n * sizeof *to);
	spill_free(s, p->array);
	p->array = to;
}

static void compare_with_memory(size_t memory, size_t side_by_side)
{
	struct spill *s = spill_open(memory, side_by_side);
	struct spill_pair pairs[ARRAYS] = { 0 };

	for (int i = 0; i < 8; i++)
		roll(2);
	for (int step = 0; step < STEPS; step++) {
		struct spill_pair *p = &pairs[roll(ARRAYS)];

		switch (roll(8)) {
		case 0: drop(s, p); break;
		case 1: copy(s, p); break;
		case 2: change(p); break;
		case 3: spill_let_go(s); break;
		default: grow(s, p); break;
		}
		check(p);
	}
	for (int i = 0; i < ARRAYS; i++) {
		check(&pairs[i]);
		free(pairs[i].twin);
	}
	spill_close(s);
}

START_TEST(arrays_have_what_was_put_in)
{
	for (uint64_t last = unit_seed + unit_times(SPILLS); unit_seed < last; unit_seed++) {
		dice = unit_seed * 2 + 1;
		compare_with_memory(unit_seed % 4 < 2 ? 0 : ARENA, unit_seed % 2 ? 1 : MANY);
	}
}
END_TEST

/* ---- What is resident ------------------------------------------------------------------------ */

static size_t most_resident(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (size_t)usage.ru_maxrss * 1024;
}

static void expect_little_is_resident(size_t memory)
{
	const size_t n = 2 * SPILL_RESIDENT, allowed = memory + SPILL_RESIDENT + SPILL_RESIDENT / 2;
	struct spill *s = spill_open(memory, 1);
	size_t before = most_resident(), count = 0;
	uint64_t *array = NULL, sum = 0;

	for (uint64_t i = 0; i < n / 4; i++, spill_relax(s))
		*SPILL_GROW(s, array, count) = i;
	for (size_t i = 0; i < count; i++, spill_relax(s))
		sum += array[i] != i;
	ck_assert_uint_eq(sum, 0);
	ck_assert_uint_ge(count * sizeof *array, 4 * SPILL_RESIDENT);
	ck_assert_uint_lt(most_resident() - before, allowed);
	spill_close(s);
}

START_TEST(little_is_resident)
{
	expect_little_is_resident(0);
	expect_little_is_resident(ARENA);
}
END_TEST

/* Many go along one array side by side, so that all of it is in use. */
START_TEST(what_is_in_use_stays)
{
	const size_t streams = 1024, length = 3 * SPILL_RESIDENT / (2 * streams * sizeof(uint64_t));
	struct spill *s = spill_open(0, streams);
	uint64_t *array = spill_zeros(s, streams * length, sizeof *array);
	struct rusage before, after;

	getrusage(RUSAGE_SELF, &before);
	for (size_t i = 0; i < length; i++)
		for (size_t k = 0; k < streams; k++, spill_relax(s))
			array[k * length + i]++;
	getrusage(RUSAGE_SELF, &after);
	size_t pages = streams * length * sizeof *array / 4096;
ck_assert_uint_lt(after.ru_minflt - before.ru_minflt, 8 * pages);
	spill_close(s);
}
END_TEST

START_TEST(what_is_freed_is_used_again)
{
	const size_t n = (size_t)1 << 20;
	struct spill *s = spill_open(0, 1);

	for (int round = 0; round < 16; round++) {
		uint64_t *array = NULL;
		size_t count = 0;

		for (uint64_t i = 0; i < n; i++, spill_relax(s))
			*SPILL_GROW(s, array, count) = i;
		ck_assert_uint_gt(s->nlong, 0);
		spill_free(s, array);
	}
	ck_assert_uint_lt(s->end, 4 * n * sizeof(uint64_t));
	spill_close(s);
}
END_TEST

/* ---- Where there is no room ------------------------------------------------------------------ */

static void fill(bool has_room)
{
	struct spill *s = spill_open(0, 1);
	struct spill_item *array = NULL;
	size_t n = 0;

	for (size_t i = 0; i < 200000; i++)
		*SPILL_GROW(s, array, n) = (struct spill_item){ i, 2 * i, 3 * i };
	for (size_t i = 0; i < n; i++)
		ck_assert(array[i].a == i && array[i].b == 2 * i && array[i].c == 3 * i);
	ck_assert_int_eq(s->error == 0, has_room);
	ck_assert_uint_eq(s->nlong, has_room);
	spill_close(s);
}

START_TEST(without_a_temporary_file_arrays_stay_in_memory)
{
	fill(true);
	setenv("TMPDIR", "/nowhere/at/all", 1);
	fill(false);
	unsetenv("TMPDIR");
	signal(SIGXFSZ, SIG_IGN);
	struct rlimit limit = { 1500000, 1500000 };
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	fill(false);
}
END_TEST

int main(void)
{
	TCase *c = unit_begin(120, 1);

	tcase_add_test(c, arrays_have_what_was_put_in);
	tcase_add_test(c, little_is_resident);
	tcase_add_test(c, what_is_in_use_stays);
	tcase_add_test(c, what_is_freed_is_used_again);
	tcase_add_test(c, without_a_temporary_file_arrays_stay_in_memory);
	return unit_end();
}
