/* SPDX-License-Identifier: MIT
 *
 * signals.c - until a signal comes, which another thread or process may send.
 *
 *   ENTER sigwait peer=UNKNOWN ... EXIT */
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

PLAIN_CALL(int, sigwait, site_sigwait, (const sigset_t *set, int *signal), (set, signal))
PLAIN_CALL(int, sigwaitinfo, site_sigwaitinfo, (const sigset_t *set, siginfo_t *info), (set, info))
TIMED_CALL(sigtimedwait, site_sigtimedwait, (const sigset_t *set, siginfo_t *info, const struct timespec *most),
	   (set, info, most), call_expired(result))
PLAIN_CALL(int, sigsuspend, site_sigsuspend, (const sigset_t *mask), (mask))
PLAIN_CALL(int, __sigpause, site_sigpause, (int number_or_mask, int is_number), (number_or_mask, is_number))
PLAIN_CALL(int, pause, site_pause, (void), ())

/* sigpause is another function in BSD, where it takes a mask, than in POSIX; headers say which one is meant. */
#define SIGPAUSE(id, symbol)                                                              \
	DPROF_EXPORT int id(int mask_or_number) __asm__(symbol);                          \
	DPROF_EXPORT int id(int mask_or_number)                                           \
	{                                                                                 \
		int (*real)(int) = FOUND(symbol, int(int));                               \
		if (!is_watched())                                                        \
			return real(mask_or_number);                                      \
		PLAIN(p, site_sigpause);                                                  \
		return real(mask_or_number);                                              \
	}
SIGPAUSE(sigpause_of_bsd, "sigpause")
SIGPAUSE(sigpause_of_posix, "__xpg_sigpause")
