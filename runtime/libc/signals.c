/* SPDX-License-Identifier: MIT
 *
 * signals.c - until a signal comes, which another thread or process may send, or a timer.
 *
 *   ENTER sigwait until=0 peer=UNKNOWN ... EXIT */
#include <signal.h>
#include <unistd.h>

#include "runtime/libc/libc.h"

DPROF_SITE_OF(site_sigwait, DPROF_KIND_WAIT, "sigwait");
DPROF_SITE_OF(site_sigwaitinfo, DPROF_KIND_WAIT, "sigwaitinfo");
DPROF_SITE_OF(site_sigtimedwait, DPROF_KIND_WAIT, "sigtimedwait");
DPROF_SITE_OF(site_sigsuspend, DPROF_KIND_WAIT, "sigsuspend");
DPROF_SITE_OF(site_sigpause, DPROF_KIND_WAIT, "sigpause");
DPROF_SITE_OF(site_pause, DPROF_KIND_WAIT, "pause");

int __sigpause(int, int);

TIMED_CALL(sigwait, site_sigwait, (const sigset_t *set, int *signal), (set, signal), true)
TIMED_CALL(sigwaitinfo, site_sigwaitinfo, (const sigset_t *set, siginfo_t *info), (set, info), true)
TIMED_CALL(sigtimedwait, site_sigtimedwait, (const sigset_t *set, siginfo_t *info, const struct timespec *most),
	   (set, info, most), true)
TIMED_CALL(sigsuspend, site_sigsuspend, (const sigset_t *mask), (mask), true)
TIMED_CALL(__sigpause, site_sigpause, (int number_or_mask, int is_number), (number_or_mask, is_number), true)
TIMED_CALL(pause, site_pause, (void), (), true)

/* sigpause is another function in BSD, where it takes a mask, than in POSIX; headers say which one is meant. */
#define SIGPAUSE(id, symbol)                                                              \
	DPROF_EXPORT int id(int mask_or_number) __asm__(symbol);                          \
	DPROF_EXPORT int id(int mask_or_number)                                           \
	{                                                                                 \
		int (*real)(int) = FOUND(symbol, int(int));                               \
		if (!is_watched())                                                        \
			return real(mask_or_number);                                      \
		PLAIN(p, site_sigpause);                                                  \
		int result = real(mask_or_number);                                        \
		plain_expired(&p, true);                                                  \
		return result;                                                            \
	}
SIGPAUSE(sigpause_of_bsd, "sigpause")
SIGPAUSE(sigpause_of_posix, "__xpg_sigpause")
