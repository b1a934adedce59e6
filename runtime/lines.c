/* SPDX-License-Identifier: MIT
 *
 * lines.c - a window onto the end of the file, which moves on when it is full.
 *
 * What is behind the last line is zero until the end of the process, and stays so where that is killed. */
#include "runtime/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "runtime/sum.h"
#include "runtime/sys.h"
#include "runtime/thread.h"

#define PAGE      4096
#define WINDOW    16384
#define KEPT      1024  /* at the window's end, for the last lines, ... */
#define SUM_BYTES 64    /* ... and for the very last */
#define TRIES     10000 /* of 1 ms: whoever holds the lock needs some microseconds, but may not get a core */
#define WAIT_NS   1000000

static char path[PATH_MAX];
static char *window;
static uint64_t from, bytes;    /* of the window, in the file */
static uint64_t used;           /* of the file */
static uint64_t sum;            /* of what is used */
static size_t kept;
static size_t refused;
static enum dprof_why why;
static int locked;

/* ---- The lock: with all signals blocked that can wait, since a handler may have a line to write, and loses it where it could
 * not wait ------------------------------------------------------------------------------------------------ */

static __thread bool has_lock;

static bool lock(uint64_t *mask)
{
	struct timespec soon = { .tv_nsec = WAIT_NS };
	uint64_t all = DPROF_SIGNALS_THAT_WAIT;

	if (has_lock)
		return false;
	sys(SYS_rt_sigprocmask, SIG_BLOCK, &all, mask, sizeof(all));
	for (int i = 0; i < TRIES; i++) {
		has_lock = !__atomic_exchange_n(&locked, 1, __ATOMIC_ACQUIRE);
		if (has_lock)
			return true;
		if (dprof_is_apart()) /* whoever has the lock may ask for a new window */
			dprof_helper_answer();
		sys(SYS_nanosleep, &soon, NULL);
	}
	sys(SYS_rt_sigprocmask, SIG_SETMASK, mask, NULL, sizeof(all));
	return false;
}

static void unlock(uint64_t mask)
{
	__atomic_store_n(&locked, 0, __ATOMIC_RELEASE);
	has_lock = false;
	sys(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof(mask));
}

/* ---- The window ------------------------------------------------------------------------------- */

/* It is none before it is unmapped, and one when it is known where and how long it is: a child that is forked in between gives
 * back what it finds (dprof_lines_forget), and else there would be something of the program's among that. */
static void unmap_window(void)
{
	char *at = __atomic_exchange_n(&window, NULL, __ATOMIC_SEQ_CST);

	if (at)
		sys(SYS_munmap, at, bytes);
}

static int open_window(int flags, uint64_t offset, uint64_t size)
{
	long at = dprof_file_map(path, flags, offset, size);

	if (sys_failed(at))
		return (int)at;
	unmap_window();
	from = offset;
	bytes = size;
	__atomic_store_n(&window, (char *)at, __ATOMIC_SEQ_CST);
	return 0;
}

static bool make_room(size_t more)
{
	uint64_t start = used & ~(uint64_t)(PAGE - 1);
	int error;

	if (used + more + kept <= from + bytes)
		return true;
	error = open_window(0, start, (used - start + more + kept + WINDOW - 1) & ~(uint64_t)(PAGE - 1));
	if (!error)
		return true;
	refused++;
	why = dprof_why_refused(error);
	return false;
}

/* The first byte comes last: with it the line is whole. No memcpy(), which a sanitizer would watch. */
static void write_lines(const char *lines, size_t n)
{
	volatile char *at = window + (used - from);

	for (size_t i = 1; i < n; i++)
		at[i] = lines[i];
	__atomic_store_n(at, *lines, __ATOMIC_RELEASE);
	sum = dprof_sum_bytes(sum, lines, n);
	used += n;
}

/* ---- What others call ------------------------------------------------------------------------- */

int dprof_lines_create(const char *name)
{
	int error;

	if (strlen(name) >= sizeof(path))
		return -ENAMETOOLONG;
	strcpy(path, name);
	error = open_window(O_CREAT | O_EXCL, 0, WINDOW);
	if (error == -EFBIG || error == -ENOSPC || error == -EDQUOT)
		error = open_window(O_CREAT | O_EXCL, 0, PAGE);
	used = 0;
	sum = DPROF_SUM_BEGIN;
	kept = KEPT;
	return error;
}

bool dprof_lines_append(const char *lines, size_t n)
{
	bool written;
	uint64_t mask;

	if (!n || !lock(&mask))
		return false;
	written = window && make_room(n);
	if (written)
		write_lines(lines, n);
	unlock(mask);
	return written;
}

/* Both at once: whoever has the one has the other. */
bool dprof_lines_append_summed(const char *line, size_t n)
{
	char both[2 * SUM_BYTES];
	bool written;
	uint64_t mask;

	if (n > SUM_BYTES || !lock(&mask))
		return false;
	for (size_t i = 0; i < n; i++)
		both[i] = line[i];
	n += (size_t)snprintf(both + n, sizeof(both) - n, "sum %llu 0x%llx\n", (unsigned long long)(used + n),
			      (unsigned long long)dprof_sum_bytes(sum, line, n));
	written = window && make_room(n);
	if (written)
		write_lines(both, n);
	unlock(mask);
	return written;
}

size_t dprof_lines_refused(enum dprof_why *reason)
{
	*reason = why;
	return refused;
}

void dprof_lines_begin_end(void)
{
	kept = SUM_BYTES;
}

void dprof_lines_end(void)
{
	char line[SUM_BYTES];
	uint64_t mask;
	int n;

	if (!lock(&mask))
		return;
	kept = 0;
	n = snprintf(line, sizeof(line), "sum %llu 0x%llx\n", (unsigned long long)used, (unsigned long long)sum);
	if (window && make_room((size_t)n))
		write_lines(line, (size_t)n);
	unmap_window();
	sys(SYS_truncate, path, used);
	unlock(mask);
}

void dprof_lines_forget(void)
{
	unmap_window();
	refused = 0;
	locked = 0;
	has_lock = false;
}
