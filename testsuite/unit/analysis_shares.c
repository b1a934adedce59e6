/* SPDX-License-Identifier: MIT
 *
 * analysis_shares.c - who of several processes reads which file of a trace: each one once, by someone who has what the
 * trace has; and which files these are depends only on the first process that sees each. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/driver/shares.h"
#include "testsuite/unit/draw.h"
#include "testsuite/unit/unit.h"

#define ROUNDS    2000
#define PROCESSES 5
#define NAMES     14

static const char *const names[NAMES] = {
	"a-0-0.events", "a-0-0.packed", "a-0-1.events", "a-0.process", "b-1-0.events", "b-1-0.packed",
	"b-1-1.packed", "b-1-2.events", "b-1-3.events", "b-1.nursery", "b-1.process", "b.sync", "c-2-0.events", "c-2.nursery",
};

/* What each process sees: of each name one of two files, readable or not, or none. */
static void make(struct sight *s, bool shared)
{
	for (size_t p = 0; p < PROCESSES; p++) {
		s[p] = (struct sight){ .host = (char *)"h" };
		for (size_t i = 0; i < NAMES; i++) {
			bool rare = shared ? !draw_below(10) : draw_below(2);
			if (rare && draw_below(2))
				continue;
			*MEM_GROW(s[p].files, s[p].n) = (struct part_file){
				.name = mem_copy(names[i]), .size = 100 + (rare && !draw_below(3)), .bytes = draw_below(5000),
				.changed = rare && !draw_below(3), .readable = !rare || draw_below(4) };
		}
	}
}

static const struct part_file *seen(const struct sight *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->files[i].name, name) == 0)
			return &s->files[i];
	return NULL;
}

/* The obvious way: of each name, the file of the first process that has one. */
static const struct part_file *of_trace(const struct sight *s, size_t processes, bool elsewhere, const char *name, int *has)
{
	for (size_t p = 0; p < (elsewhere ? processes : 1); p++) {
		const struct part_file *f = seen(&s[p], name);
		*has = (int)p;
		if (f)
			return f;
	}
	return NULL;
}

static bool can_read(const struct sight *s, const struct part_file *is)
{
	const struct part_file *f = seen(s, is->name);
	return f && f->readable && f->size == is->size && f->changed == is->changed;
}

static void check_reader(const struct sight *s, size_t processes, const struct shares *shares, size_t i, bool elsewhere)
{
	const struct part_file *f = &shares->files[i];
	size_t length = strcspn(f->name, ".");
	char *packed = mem_format("%.*s.packed", (int)length, f->name);
	char *nursery = mem_format("%.*s.nursery", (int)(strrchr(f->name, '-') - f->name), f->name);
	int ignored, reader = shares->reads[i];
	const struct part_file *all[] = { f, of_trace(s, processes, elsewhere, packed, &ignored),
					  of_trace(s, processes, elsewhere, nursery, &ignored) };
	bool any = false, can[PROCESSES];
	for (size_t p = 0; p < processes; p++) {
		can[p] = true;
		for (size_t k = 0; k < (strstr(f->name, ".events") ? 3 : 1); k++)
			can[p] &= !all[k] || can_read(&s[p], all[k]);
		any |= can[p];
	}
	if (any)
		ck_assert(can[reader]);
	else
		ck_assert_int_eq(reader, shares->has[i]); /* who says what is wrong with it */
	free(packed);
	free(nursery);
}

START_TEST(each_file_is_read_once_by_one_who_has_it)
{
	size_t by_others = 0;
	for (uint64_t seed = unit_seed; seed < unit_seed + unit_times(ROUNDS); seed++) {
		struct sight s[PROCESSES];
		draw_state = seed;
		bool elsewhere = draw_below(2);
		size_t processes = 1 + draw_below(PROCESSES), n = 0;
		make(s, !elsewhere);
		struct shares shares = shares_make(s, processes, elsewhere);
		for (size_t i = 0; i < NAMES; i++) {
			int has;
			const struct part_file *f = of_trace(s, processes, elsewhere, names[i], &has);
			if (!f)
				continue;
			ck_assert_msg(n < shares.n && strcmp(shares.files[n].name, names[i]) == 0,
				      "SEED=%" PRIu64 ": no %s", seed, names[i]);
			ck_assert_int_eq(shares.has[n], has);
			ck_assert(shares.files[n].size == f->size && shares.files[n].changed == f->changed);
			bool events = strstr(names[i], ".events") || strstr(names[i], ".nursery");
			ck_assert_msg((shares.reads[n] >= 0) == events, "SEED=%" PRIu64 ": %s is read by %d", seed,
				      names[i], shares.reads[n]);
			by_others += events && shares.reads[n] != has;
			if (events)
				check_reader(s, processes, &shares, n, elsewhere);
			n++;
		}
		ck_assert_uint_eq(n, shares.n);
		shares_free(&shares);
		for (size_t p = 0; p < PROCESSES; p++)
			part_free_files(s[p].files, s[p].n);
	}
	ck_assert_uint_gt(by_others, unit_times(ROUNDS) / 4);
}
END_TEST

/* Nobody has more than the others by more than one file. */
START_TEST(shares_are_even)
{
	for (size_t processes = 1; processes <= PROCESSES; processes++) {
		struct sight s[PROCESSES] = { 0 };
		uint64_t load[PROCESSES] = { 0 }, all = 0;
		for (size_t i = 0; i < 1000; i++)
			for (size_t p = 0; p < processes; p++)
				*MEM_GROW(s[p].files, s[p].n) = (struct part_file){
					.name = mem_format("h-%04zu-0.events", i), .bytes = 1 + i * 7919 % 1000, .readable = true };
		struct shares shares = shares_make(s, processes, false);
		for (size_t i = 0; i < shares.n; i++) {
			load[shares.reads[i]] += shares.files[i].bytes;
			all += shares.files[i].bytes;
		}
		for (size_t p = 0; p < processes; p++)
			ck_assert_msg(load[p] * processes <= all + processes * 2000 && load[p] * processes + processes * 2000 >= all,
				      "%zu of %zu has %" PRIu64 " of %" PRIu64, p, processes, load[p], all);
		shares_free(&shares);
		for (size_t p = 0; p < processes; p++)
			part_free_files(s[p].files, s[p].n);
	}
}
END_TEST

int main(void)
{
	TCase *laws = unit_begin(60, UNIT_ANEW);

	tcase_add_test(laws, each_file_is_read_once_by_one_who_has_it);
	tcase_add_test(laws, shares_are_even);
	return unit_end();
}
