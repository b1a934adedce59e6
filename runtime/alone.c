/* SPDX-License-Identifier: MIT
 *
 * alone.c - unshare() and setns(), which stand before the C library's.
 *
 * Law: what the kernel lets only a process of one thread do, it lets a program of one thread do: the helper is
 * gone meanwhile, and comes again. That holds where libdprof is shared. */
#include <errno.h>
#include <sched.h>

#include "runtime/next.h"
#include "runtime/thread.h"

#define OF_ONE_THREAD (CLONE_NEWUSER | CLONE_THREAD | CLONE_SIGHAND | CLONE_VM)

static void be_alone(void)
{
	int saved_errno = errno;

	if (!dprof_off && dprof_only_thread())
		dprof_helper_dismiss();
	errno = saved_errno;
}

__attribute__((visibility("default"))) int unshare(int flags)
{
	int (*real)(int) = NEXT_FUNCTION("unshare", int(int));

	if (flags & OF_ONE_THREAD)
		be_alone();
	return real(flags);
}

/* Of which kind the namespace is only the kernel knows; it wants one thread for users' and for mounts'. */
__attribute__((visibility("default"))) int setns(int fd, int kind)
{
	int (*real)(int, int) = NEXT_FUNCTION("setns", int(int, int));

	be_alone();
	return real(fd, kind);
}
