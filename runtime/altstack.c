/* SPDX-License-Identifier: MIT
 *
 * altstack.c - sigaltstack(), which stands before the C library's.
 *
 * Law: before a handler can run on a stack that the kernel takes away meanwhile (SS_AUTODISARM), and then does not tell of,
 * its thread is known for one that has such a stack. That holds where libdprof is shared. */
#include <errno.h>
#include <signal.h>

#include "runtime/next.h"
#include "runtime/readable.h"
#include "runtime/thread.h"

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1u << 31)
#endif

static int ask(const stack_t *given, stack_t *before)
{
	long error = sys(SYS_sigaltstack, given, before);

	if (!sys_failed(error))
		return 0;
	errno = (int)-error;
	return -1;
}

__attribute__((visibility("default"))) int sigaltstack(const stack_t *given, stack_t *before)
{
	__typeof__(&sigaltstack) next = NEXT_FUNCTION("sigaltstack", __typeof__(sigaltstack));

	if (!dprof_settings.off && is_readable(given, sizeof(*given)) && (unsigned)given->ss_flags & SS_AUTODISARM)
		dprof_stack_disarms = true;
	return next ? next(given, before) : ask(given, before);
}
