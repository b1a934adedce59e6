/* SPDX-License-Identifier: MIT
 *
 * signals.c - until a signal comes, which another thread or process may send, or a timer; and who sends one.
 *
 *   ENTER sigwait until=0 peer=UNKNOWN ... EXIT
 *   ENTER sigwait id=SIGNAL ... EXIT              a thread of this process has sent it meanwhile
 *   POINT kill id=SIGNAL
 *   POINT kill process=PID tag=NUMBER             one that may end another process, which then says nothing itself
 *
 * Of what ends by a handler it is known which signal that was where the handler is one of those of handlers.c. What was sent before
 * the call is there at once, and the call does not block. */
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include "runtime/libc/libc.h"

DPROF_SITE_OF(site_sigwait, DPROF_KIND_WAIT, "sigwait");
DPROF_SITE_OF(site_sigwaitinfo, DPROF_KIND_WAIT, "sigwaitinfo");
DPROF_SITE_OF(site_sigtimedwait, DPROF_KIND_WAIT, "sigtimedwait");
DPROF_SITE_OF(site_sigsuspend, DPROF_KIND_WAIT, "sigsuspend");
DPROF_SITE_OF(site_sigpause, DPROF_KIND_WAIT, "sigpause");
DPROF_SITE_OF(site_pause, DPROF_KIND_WAIT, "pause");

int __sigpause(int, int);
int pidfd_send_signal(int, int, siginfo_t *, unsigned); /* older headers lack it */

/* ---- Who sends one ------------------------------------------------------------------------------------- */

DPROF_SITE_OF(site_kill, DPROF_KIND_WAIT, "kill");
DPROF_SITE_OF(site_killpg, DPROF_KIND_WAIT, "killpg");
DPROF_SITE_OF(site_raise, DPROF_KIND_WAIT, "raise");
DPROF_SITE_OF(site_tgkill, DPROF_KIND_WAIT, "tgkill");
DPROF_SITE_OF(site_sigqueue, DPROF_KIND_WAIT, "sigqueue");
DPROF_SITE_OF(site_pidfd_send_signal, DPROF_KIND_WAIT, "pidfd_send_signal");
DPROF_SITE_OF(site_pthread_kill, DPROF_KIND_WAIT, "pthread_kill");
DPROF_SITE_OF(site_pthread_sigqueue, DPROF_KIND_WAIT, "pthread_sigqueue");

static uint64_t sends;       /* how many signals threads of this process have sent to it, */
static uint64_t sent[_NSIG]; /* and the number of each signal's last; its address is the signal's id */

/* To another process, to several (MANY), or to none but our own (NOBODY). */
enum { NOBODY = -1, MANY = 0 };

/* Before it is: it may end us. */
static void say_sent(int signal, bool to_us, pid_t to, const struct dprof_site *own, const void *caller)
{
	struct dprof_arguments a = { 0 };
	struct libc_call c = call_begin(own, caller);

	if (to_us) {
		__atomic_store_n(&sent[signal], __atomic_add_fetch(&sends, 1, __ATOMIC_RELAXED), __ATOMIC_RELEASE);
		dprof_say(&a, DPROF_KEY_ID, (uint64_t)&sent[signal]);
	}
	if (to != NOBODY) {
		dprof_say(&a, DPROF_KEY_PROCESS, (uint64_t)to);
		dprof_say(&a, DPROF_KEY_TAG, (uint64_t)signal);
	}
	call_point(&c, own, &a);
}

static bool can_be_waited_for(int signal)
{
	return signal > 0 && signal < _NSIG && signal != SIGKILL && signal != SIGSTOP;
}

/* What nobody who leaves it alone is ended by. */
static bool may_end(int signal)
{
	switch (signal) {
	case SIGCHLD: case SIGCONT: case SIGURG: case SIGWINCH: case SIGSTOP: case SIGTSTP: case SIGTTIN: case SIGTTOU:
		return false;
	default:
		return signal > 0 && signal < _NSIG;
	}
}

static bool is_here(pid_t process)
{
	return process == getpid() || process == 0 || process == -1 || process == -getpgrp();
}

static pid_t other(pid_t process)
{
	return process <= 0 ? MANY : process == getpid() ? NOBODY : process;
}

#define SENDS(name, parameters, arguments, here, others)                                \
	DPROF_EXPORT int name parameters                                                \
	{                                                                               \
		__typeof__(&name) real = REAL(name);                                    \
                                                                                        \
		if (is_watched()) {                                                     \
			bool to_us = can_be_waited_for(signal) && (here);               \
			pid_t to = may_end(signal) ? (others) : NOBODY;                 \
			if (to_us || to != NOBODY)                                      \
				say_sent(signal, to_us, to, SITE(site_##name), CALLER); \
		}                                                                       \
		return real arguments;                                                  \
	}

SENDS(kill, (pid_t process, int signal), (process, signal), is_here(process), other(process))
SENDS(killpg, (pid_t group, int signal), (group, signal), group == 0 || group == getpgrp(), MANY)
SENDS(raise, (int signal), (signal), true, NOBODY)
SENDS(tgkill, (pid_t process, pid_t thread, int signal), (process, thread, signal), process == getpid(), other(process))
SENDS(sigqueue, (pid_t process, int signal, const union sigval value), (process, signal, value), process == getpid(),
      other(process))
SENDS(pthread_kill, (pthread_t thread, int signal), (thread, signal), true, NOBODY)
SENDS(pthread_sigqueue, (pthread_t thread, int signal, const union sigval value), (thread, signal, value), true, NOBODY)
SENDS(pidfd_send_signal, (int fd, int signal, siginfo_t *info, unsigned flags), (fd, signal, info, flags), false, MANY)

/* ---- Who waits for one --------------------------------------------------------------------------------- */

/* The call was ended by this signal (0: not known which), and had begun when there were so many sends. */
static void signal_came(struct plain *p, int signal, uint64_t before)
{
	bool is_known = signal > 0 && signal < _NSIG && __atomic_load_n(&sent[signal], __ATOMIC_ACQUIRE) > before;

	if (!is_known || !call_blocked(&p->call, dprof_adapter_now())) {
		plain_expired(p, true);
		return;
	}
	dprof_say(&p->more, DPROF_KEY_ID, (uint64_t)&sent[signal]);
	call_record(&p->call, p->site, dprof_adapter_now_fenced(), &p->more);
	p->site = NULL;
}

#define AWAITS_AS(real, own, arguments, endless, which)                                 \
	{                                                                               \
		if (!is_watched())                                                      \
			return (real) arguments;                                        \
		uint64_t before = __atomic_load_n(&sends, __ATOMIC_RELAXED);            \
		unsigned handlers __attribute__((unused)) = handlers_begun;             \
		PLAIN(p, own);                                                          \
		if (endless)                                                            \
			call_lasts(&p.call, p.site);                                    \
		int result = (real) arguments;                                          \
		signal_came(&p, which, before);                                         \
		return result;                                                          \
	}
#define AWAITS(name, own, parameters, arguments, endless, which) \
	DPROF_EXPORT int name parameters AWAITS_AS(REAL(name), own, arguments, endless, which)
#define HANDLED (handlers != handlers_begun ? handled_last : 0)

AWAITS(sigwait, site_sigwait, (const sigset_t *set, int *signal), (set, signal), true, result == 0 ? *signal : 0)
AWAITS(sigwaitinfo, site_sigwaitinfo, (const sigset_t *set, siginfo_t *info), (set, info), true, result)
AWAITS(sigtimedwait, site_sigtimedwait, (const sigset_t *set, siginfo_t *info, const struct timespec *most), (set, info, most),
       !most, result)
AWAITS(sigsuspend, site_sigsuspend, (const sigset_t *mask), (mask), true, HANDLED)
AWAITS(__sigpause, site_sigpause, (int number_or_mask, int is_number), (number_or_mask, is_number), true, HANDLED)
AWAITS(pause, site_pause, (void), (), true, HANDLED)

/* sigpause is another function in BSD, where it takes a mask, than in POSIX; headers say which one is meant. */
#define SIGPAUSE(id, symbol)                                     \
	DPROF_EXPORT int id(int mask_or_number) __asm__(symbol); \
	DPROF_EXPORT int id(int mask_or_number) AWAITS_AS(FOUND(symbol, int(int)), site_sigpause, (mask_or_number), true, HANDLED)
SIGPAUSE(sigpause_of_bsd, "sigpause")
SIGPAUSE(sigpause_of_posix, "__xpg_sigpause")
