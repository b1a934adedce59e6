/* SPDX-License-Identifier: MIT
 *
 * analysis_progress.c - a long stage says so on a terminal, on one line that is gone afterwards; to a file
 * or a pipe it says nothing. */
#include <pty.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analysis/base/progress.h"
#include "testsuite/unit/unit.h"

static void work(unsigned ms)
{
	progress_begin("counting sheep", 1000);
	for (unsigned i = 0; i < ms; i += 10) {
		nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
		progress_add(1);
	}
	progress_end();
	progress_add(1);
	fputs("done\n", stderr);
}

/* What a child that works with `theirs` as its standard error writes there. */
static void hear(int ours, int theirs, unsigned ms, char *text, size_t room)
{
	pid_t child = fork();
	size_t n = 0;

	ck_assert_int_ge(child, 0);
	if (!child) {
		dup2(theirs, STDERR_FILENO);
		work(ms);
		_exit(0);
	}
	close(theirs);
	for (ssize_t got; n < room - 1 && (got = read(ours, text + n, room - 1 - n)) > 0;)
		n += (size_t)got;
	text[n] = 0;
	close(ours);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

static void hear_terminal(unsigned ms, char *text, size_t room)
{
	int ours, theirs;

	ck_assert_int_eq(openpty(&ours, &theirs, NULL, NULL, NULL), 0);
	hear(ours, theirs, ms, text, room);
}

START_TEST(a_long_stage_speaks_on_a_terminal)
{
	char text[4096];

	hear_terminal(1400, text, sizeof text);
	ck_assert_msg(strstr(text, "\r\033[Kcounting sheep: ") == text, "%s", text);
	ck_assert_ptr_nonnull(strstr(text, " %"));
	const char *done = strstr(text, "\r\033[Kdone");
	ck_assert_msg(done && !strstr(done, "sheep"), "%s", text);
}
END_TEST

START_TEST(a_short_stage_is_silent)
{
	char text[4096];

	hear_terminal(50, text, sizeof text);
	ck_assert_str_eq(text, "done\r\n");
}
END_TEST

START_TEST(a_silenced_stage_says_nothing)
{
	char text[4096];

	progress_silence();
	hear_terminal(1400, text, sizeof text);
	ck_assert_str_eq(text, "done\r\n");
}
END_TEST

START_TEST(a_pipe_hears_nothing)
{
	char text[4096];
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	hear(ends[0], ends[1], 1400, text, sizeof text);
	ck_assert_str_eq(text, "done\n");
}
END_TEST

int main(void)
{
	TCase *c = unit_begin(900, 1);

	tcase_add_test(c, a_long_stage_speaks_on_a_terminal);
	tcase_add_test(c, a_short_stage_is_silent);
	tcase_add_test(c, a_silenced_stage_says_nothing);
	tcase_add_test(c, a_pipe_hears_nothing);
	return unit_end();
}
