/* SPDX-License-Identifier: MIT
 *
 * leave.c - _exit() and _Exit(), which stand before the C library's.
 *
 * Law: who leaves by them has ended in good order, as by exit(). That holds where libdprof is shared. */
#include <stdlib.h>
#include <unistd.h>

#include "runtime/next.h"
#include "runtime/process.h"
#include "runtime/sys.h"

/* Also those of altstack.c, alone.c and atfork.c. */
static void __attribute__((constructor(101))) find_next(void)
{
	next_look_up_all();
}

__attribute__((visibility("default"), noreturn)) void _exit(int status)
{
	void (*next)(int) = NEXT_FUNCTION("_exit", void(int));

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
