/* SPDX-License-Identifier: MIT
 *
 * analysis_memory.c - a stream to memory gives all that was written, or the command ends; of an array of zeros only what
 * is touched costs anything. */
#include <sys/resource.h>

#include "analysis/base/memory.h"
#include "testsuite/unit/unit.h"

START_TEST(what_was_written_is_there)
{
	char *text;
	size_t size;
	FILE *stream = mem_stream(&text, &size);
	for (int i = 0; i < 100000; i++)
		fprintf(stream, "%04d\n", i % 10000);
	mem_stream_close(stream);
	ck_assert_uint_eq(size, 500000);
	ck_assert_uint_eq(strlen(text), size);
	ck_assert_str_eq(text + size - 5, "9999\n");
	free(text);
}
END_TEST

/* As a stream for which memory has run out, it says so at the latest when it is closed. */
START_TEST(what_could_not_be_written_ends_the_command)
{
	FILE *stream = fopen("/dev/full", "w");
	ck_assert(stream && fputs("something", stream) >= 0);
	mem_stream_close(stream);
}
END_TEST

static long page_faults(void)
{
	struct rusage used;
	ck_assert_int_eq(getrusage(RUSAGE_SELF, &used), 0);
	return used.ru_minflt;
}

/* Tables for whatever a trace may number are much larger than most traces need. */
START_TEST(zeros_that_nobody_touches_cost_nothing)
{
	const size_t bytes = 64 << 20;
	long before = page_faults();
	char *zeros = mem_zeroed(bytes, 1);
	for (size_t at = 0; at < bytes; at += bytes / 8)
		ck_assert_int_eq(zeros[at], 0);
	ck_assert_int_lt(page_faults() - before, 1000);
	free(zeros);
	free(mem_zeroed(0, 1));
}
END_TEST

int main(void)
{
	TCase *tests = unit_begin(60, 0);

	tcase_add_test(tests, what_was_written_is_there);
	tcase_add_test(tests, zeros_that_nobody_touches_cost_nothing);
	tcase_add_exit_test(tests, what_could_not_be_written_ends_the_command, 1);
	return unit_end();
}
