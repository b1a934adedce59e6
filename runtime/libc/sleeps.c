/* SPDX-License-Identifier: MIT
 *
 * sleeps.c - a thread sleeps for some time, or until a moment.
 *
 *   ENTER nanosleep ... EXIT
 *   ENTER nanosleep until=NS role=1 ... EXIT: for what was left of a time that the program has read off a clock (clocks.c)
 *   ENTER clock_nanosleep until=NS ... EXIT
 *   ENTER clock_nanosleep until=NS tag=NS ... EXIT: that moment was over for so long already
 *   ENTER nanosleep peer=UNKNOWN ... EXIT: a signal ended it, of whoever that was; or others' work, by a clock of processor time */
#include <errno.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "runtime/clocks.h"
#include "runtime/libc/libc.h"
#include "runtime/readable.h"
#include "runtime/sys.h"

DPROF_SITE_OF(site_nanosleep, DPROF_KIND_SLEEP, "nanosleep");
DPROF_SITE_OF(site_clock_nanosleep, DPROF_KIND_SLEEP, "clock_nanosleep");
DPROF_SITE_OF(site_usleep, DPROF_KIND_SLEEP, "usleep");
DPROF_SITE_OF(site_sleep, DPROF_KIND_SLEEP, "sleep");

/* For what is left of a time. */
static void rest_begins(struct plain *p, const struct timespec *time)
{
	struct timespec now;

	dprof_adapter_rests = NULL;
	if (is_readable(time, sizeof(*time)) && sys(SYS_clock_gettime, CLOCK_MONOTONIC, &now) == 0) {
		dprof_say(&p->more, DPROF_KEY_UNTIL, frz_ns(&now) + frz_ns(time));
		dprof_say(&p->more, DPROF_KEY_ROLE, DPROF_ROLE_REST);
	}
}

static inline void sleep_begins(struct plain *p, const struct timespec *time)
{
	if (__builtin_expect(dprof_adapter_rests != NULL, 0))
		rest_begins(p, time);
	else if (!dprof_adapter_in_library(NULL))
		call_lasts(&p->call, p->site);
}

DPROF_EXPORT int nanosleep(const struct timespec *time, struct timespec *rest)
{
	__typeof__(&nanosleep) real = REAL(nanosleep);
	if (!is_watched() || dprof_adapter_spins())
		return real(time, rest);
	SLEEP(p, site_nanosleep);
	sleep_begins(&p, time);
	int result = real(time, rest);
	plain_interrupted(&p, result != 0 && errno == EINTR);
	if (dprof_adapter_in_library(NULL)) /* sleep_until, which sleeps again */
		p.site = NULL;
	return result;
}

void plain_until(struct plain *p, clockid_t clock, const struct timespec *until)
{
	struct timespec now;

	dprof_say(&p->more, DPROF_KEY_UNTIL, frz_ns(until));
	if (sys(SYS_clock_gettime, clock, &now) == 0 && frz_ns(&now) > frz_ns(until))
		dprof_say(&p->more, DPROF_KEY_TAG, frz_ns(&now) - frz_ns(until));
}

DPROF_EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *rest)
{
	__typeof__(&clock_nanosleep) real = REAL(clock_nanosleep);
	if (!is_watched() || dprof_adapter_spins() || !is_readable(time, sizeof(*time)))
		return real(clock, flags, time, rest);
	SLEEP(p, site_clock_nanosleep);
	if (flags & TIMER_ABSTIME && !is_of_cpu(clock))
		plain_until(&p, clock, time);
	else if (!is_of_cpu(clock))
		sleep_begins(&p, time);
	dprof_adapter_rests = NULL;
	int result = real(clock, flags, time, rest);
	plain_interrupted(&p, result == EINTR || is_of_cpu(clock));
	return result;
}

DPROF_EXPORT int usleep(useconds_t time)
{
	__typeof__(&usleep) real = REAL(usleep);
	if (!is_watched() || dprof_adapter_spins())
		return real(time);
	SLEEP(p, site_usleep);
	sleep_begins(&p, &(struct timespec){ time / 1000000, time % 1000000 * 1000L });
	int result = real(time);
	plain_interrupted(&p, result != 0 && errno == EINTR);
	return result;
}

DPROF_EXPORT unsigned sleep(unsigned time)
{
	__typeof__(&sleep) real = REAL(sleep);
	if (!is_watched() || dprof_adapter_spins())
		return real(time);
	SLEEP(p, site_sleep);
	sleep_begins(&p, &(struct timespec){ time, 0 });
	unsigned left = real(time);
	plain_interrupted(&p, left > 0);
	return left;
}

DPROF_EXPORT int thrd_sleep(const struct timespec *time, struct timespec *rest)
{
	__typeof__(&thrd_sleep) real = REAL(thrd_sleep);
	if (!is_watched() || dprof_adapter_spins())
		return real(time, rest);
	SLEEP(p, site_nanosleep);
	sleep_begins(&p, time);
	int result = real(time, rest);
	plain_interrupted(&p, result == -1);
	return result;
}
