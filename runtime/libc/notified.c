/* SPDX-License-Identifier: MIT
 *
 * notified.c - functions that the C library calls in threads of its own (SIGEV_THREAD): when a timer expires, a
 * message has come, or a request is done.
 *
 *   POINT SIGEV_THREAD
 *
 * Such a thread is made inside of the C library, and is in the trace only if it records something. So the trace says
 * that there may have been one. */
#include <mqueue.h>
#include <netdb.h>
#include <signal.h>
#include <time.h>

#include "runtime/libc/libc.h"
#include "runtime/readable.h"

DPROF_SITE_OF(site_notified, DPROF_KIND_FORK, "SIGEV_THREAD");

void call_notified(const struct sigevent *event, const void *caller)
{
	if (event && dprof_adapter_recording() && dprof_adapter_is_for_us(caller) && is_readable(event, sizeof(*event)) &&
	    event->sigev_notify == SIGEV_THREAD)
		dprof_adapter_point(SITE(site_notified));
}

DPROF_EXPORT int timer_create(clockid_t clock, struct sigevent *event, timer_t *timer)
{
	__typeof__(&timer_create) real = REAL(timer_create);

	call_notified(event, CALLER);
	return real(clock, event, timer);
}

DPROF_EXPORT int mq_notify(mqd_t queue, const struct sigevent *event)
{
	__typeof__(&mq_notify) real = REAL(mq_notify);

	call_notified(event, CALLER);
	return real(queue, event);
}

DPROF_EXPORT int getaddrinfo_a(int mode, struct gaicb *list[], int n, struct sigevent *event)
{
	__typeof__(&getaddrinfo_a) real = REAL(getaddrinfo_a);

	call_notified(event, CALLER);
	return real(mode, list, n, event);
}
