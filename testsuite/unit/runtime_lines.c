/* SPDX-License-Identifier: MIT
 *
 * runtime_lines.c - at each instruction by which the window of the process file moves on, what a child that is forked there
 * finds is a window with the bytes that it has, or none: it gives back its parent's, and not what lies behind it. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "runtime/lines.c"
#include "testsuite/unit/unit.h"

#define WINDOWS      64
#define INSTRUCTIONS 200 /* from when the new window is there */
#define TRAP_FLAG    0x100

static struct { char *at; uint64_t from, bytes; } made[WINDOWS];
static volatile size_t windows;
static volatile unsigned instructions, left, wrong;

#define BESIDE_RED_ZONE(change) "lea -128(%%rsp), %%rsp\n pushfq\n " change "\n popfq\n lea 128(%%rsp), %%rsp"

/* ---- What lines.c needs of the runtime ---------------------------------------------------------- */

long dprof_file_map(const char *name, int flags, uint64_t offset, uint64_t size)
{
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)name, (void)flags;
	if (at == MAP_FAILED || windows == WINDOWS)
		return -ENOMEM;
	made[windows].at = at;
	made[windows].from = offset;
	made[windows].bytes = size;
	windows++;
	left = INSTRUCTIONS;
	__asm__ volatile(BESIDE_RED_ZONE("orq $0x100, (%%rsp)") ::: "memory", "cc");
	return (long)at;
}

enum dprof_why dprof_why_refused(long error)
{
	return error ? DPROF_WHY_MEMORY : DPROF_WHY_REFUSED;
}

bool dprof_is_apart(void)
{
	return false;
}

bool dprof_helper_answer(void)
{
	return false;
}

/* ---- Step by step ------------------------------------------------------------------------------- */

static bool is_right(void)
{
	for (size_t i = windows; window && i-- > 0;)
		if (made[i].at == window)
			return made[i].from == from && made[i].bytes == bytes;
	return !window;
}

static void look(int signal, siginfo_t *info, void *context)
{
	greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];

	(void)signal, (void)info;
	instructions++;
	wrong += !is_right();
	if (--left == 0)
		*flags &= ~TRAP_FLAG;
}

/* Lines of such a length that windows of 4 and of 5 pages follow each other. */
START_TEST(window_moves_at_once)
{
	struct sigaction action = { .sa_sigaction = look, .sa_flags = SA_SIGINFO };
	static char line[3000];

	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 1] = '\n';
	ck_assert_int_eq(sigaction(SIGTRAP, &action, NULL), 0);
	ck_assert_int_eq(dprof_lines_create("a file"), 0);
	for (int i = 0; i < 40; i++)
		ck_assert(dprof_lines_append(line, sizeof(line)));
	ck_assert_uint_ge(windows, 5);
	ck_assert_uint_gt(instructions, 1000);
	ck_assert_uint_eq(wrong, 0);
}
END_TEST

int main(void)
{
	TCase *laws = unit_begin(300, 0);

	tcase_add_test(laws, window_moves_at_once);
	return unit_end();
}
