/* SPDX-License-Identifier: MIT
 *
 * readable.h - whether the program's pointer can be followed.
 *
 * What a call is given is looked at after it has succeeded: then the kernel has read or written it. What must be known
 * before is asked for here, since the kernel refuses a bad pointer with EFAULT, and so the traced program has to get
 * that, too.
 *
 * The kernel reads a set of signals before it finds that there is no such operation on it, and changes nothing. (As
 * Abseil's address_is_readable.cc asks.) Eight bytes that begin at a multiple of eight lie in one page. */
#ifndef RUNTIME_READABLE_H
#define RUNTIME_READABLE_H

#include <errno.h>
#include <stdbool.h>

#include "runtime/sys.h"

#define READABLE_STEP 4096 /* no page is smaller */

/* Whether n bytes could be read there a moment ago, and not at NULL. One system call for each page. */
static inline bool is_readable(const void *at, size_t n)
{
	uintptr_t first = (uintptr_t)at & ~(uintptr_t)7, end = (uintptr_t)at + n;

	if (!first || end < (uintptr_t)at) /* NULL is no set, which is well */
		return false;
	for (uintptr_t page = first; page < end; page = (page | (READABLE_STEP - 1)) + 1)
		if (sys(SYS_rt_sigprocmask, -1, page, NULL, 8) == -EFAULT)
			return false;
	return true;
}

#endif
