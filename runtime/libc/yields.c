/* SPDX-License-Identifier: MIT
 *
 * yields.c - a thread lets others have its core, perhaps until they have done what it waits for: so do libstdc++'s atomics,
 * latches, barriers and semaphores, a few times, before they sleep.
 *
 *   ENTER sched_yield until=0 peer=UNKNOWN ... EXIT      of yields that follow each other (polling.c) */
#include <sched.h>
#include <threads.h>

#include "runtime/libc/libc.h"

DPROF_SITE_OF(site_yield, DPROF_KIND_WAIT, "sched_yield");

void call_yielded(const struct libc_call *c)
{
	bool told = c->told && dprof_site_kind(c->told) == DPROF_KIND_WAIT;

	if (told || dprof_adapter_is_ours(c->caller))
		dprof_adapter_yielded(told ? c->told : SITE(site_yield), c->since);
}

DPROF_EXPORT int sched_yield(void)
{
	__typeof__(&sched_yield) real = REAL(sched_yield);
	if (!is_watched() || dprof_adapter_spins() || dprof_adapter_in_library(NULL))
		return real();
	struct libc_call call = CALL_OF(site_yield);
	int result = real();
	call_yielded(&call);
	return result;
}

DPROF_EXPORT void thrd_yield(void)
{
	__typeof__(&thrd_yield) real = REAL(thrd_yield);
	if (!is_watched() || dprof_adapter_spins()) {
		real();
		return;
	}
	struct libc_call call = CALL_OF(site_yield);
	real();
	call_yielded(&call);
}
