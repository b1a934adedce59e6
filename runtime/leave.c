/* SPDX-License-Identifier: MIT
 *
 * leave.c - _exit() and _Exit(), which stand before the C library's.
 *
 * Law: who leaves by them has ended in good order, as by exit(). That holds where libdprof is shared. They may be
 * called from a signal handler, so what comes next is looked up before. */
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/process.h"
#include "runtime/sys.h"

static void (*next)(int);

static void __attribute__((constructor(101))) find_next(void)
{
	next = (void (*)(int))dlsym(RTLD_NEXT, "_exit");
}

__attribute__((visibility("default"), noreturn)) void _exit(int status)
{
	dprof_process_leave();
	if (next)
		next(status);
	for (;;)
		sys(SYS_exit_group, status);
}

__attribute__((visibility("default"), noreturn)) void _Exit(int status)
{
	_exit(status);
}
