/* SPDX-License-Identifier: MIT
 *
 * atfork.c - __register_atfork(), which stands before the C library's: pthread_atfork() calls it.
 *
 * Law: behind a fork dprof's own functions are called before those of every library, however early that began: those may
 * record, and in the child that is nothing of its parent's. And before a fork one of them is called behind those of every library.
 * That holds where libdprof is shared, and there when the first library asks. */
#include <errno.h>

#include "runtime/next.h"
#include "runtime/process.h"

typedef int register_atfork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void), void *library);

__attribute__((visibility("default"))) register_atfork __register_atfork;

int __register_atfork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void), void *library)
{
	register_atfork *real = NEXT_FUNCTION("__register_atfork", register_atfork);

	dprof_process_follow_forks();
	return real ? real(before, in_parent, in_child, library) : ENOMEM;
}
