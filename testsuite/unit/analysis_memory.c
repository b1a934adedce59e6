/* SPDX-License-Identifier: MIT
 *
 * analysis_memory.c - a stream to memory gives all that was written, or the command ends. */
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

int main(void)
{
	TCase *tests = unit_begin(60, 0);

	tcase_add_test(tests, what_was_written_is_there);
	tcase_add_exit_test(tests, what_could_not_be_written_ends_the_command, 1);
	return unit_end();
}
