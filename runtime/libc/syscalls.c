/* SPDX-License-Identifier: MIT
 *
 * syscalls.c - what blocks, asked for by syscall(); and futexes, for which there is no function.
 *
 *   ENTER futex id=ADDRESS [peer=UNKNOWN] ... EXIT       std::atomic::wait, std::latch, std::barrier, ...
 *   POINT futex wake id=ADDRESS
 *   ENTER read peer=UNKNOWN [channel=C] bytes=N ... EXIT
 *
 * Who was woken has no peer: another thread did that, most likely of this process (libstdc++'s futexes are not private,
 * although nobody shares them). With one, it was a signal or a moment. Who found that the value had changed has not
 * waited, and leaves no record; unless a signal's handler came, behind which the kernel has asked again. What such calls
 * move is not counted. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/libc/libc.h"
#include "runtime/readable.h"

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

typedef long six(long number, long a, long b, long c, long d, long e, long f);

/* A system call and its arguments; those that were not given are not looked at. */
struct syscalls_asked {
	six *real;
	long number, a, b, c, d, e, f;
	const void *caller;
};

static long ask(const struct syscalls_asked *q)
{
	return q->real(q->number, q->a, q->b, q->c, q->d, q->e, q->f);
}

/* ---- Futexes ------------------------------------------------------------------------------------------- */

DPROF_SITE_OF(site_futex, DPROF_KIND_WAIT, "futex");
DPROF_SITE_OF(site_wake, DPROF_KIND_WAIT, "futex wake");

static bool is_wait(long operation)
{
	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_WAIT: case FUTEX_WAIT_BITSET: case FUTEX_LOCK_PI: case FUTEX_LOCK_PI2:
	case FUTEX_WAIT_REQUEUE_PI:
		return true;
	default:
		return false;
	}
}

static void say_wake(long address)
{
	struct dprof_arguments a = { 0 };

	dprof_say(&a, DPROF_KEY_ID, (uint64_t)address);
	dprof_adapter_record(SITE(site_wake), DPROF_POINT, dprof_adapter_now_fenced(), &a);
}

/* One operation wakes who waits for either of two. */
static void say_woken(const struct syscalls_asked *q)
{
	if (!dprof_adapter_is_for_us(q->caller) || dprof_adapter_in_library((const void *)q->a))
		return;
	say_wake(q->a);
	if ((q->b & FUTEX_CMD_MASK) == FUTEX_WAKE_OP)
		say_wake(q->e);
}

/* Who finds that the value has changed does not wait, or did so only before a handler came. */
static void say_waited(struct plain *p, const struct syscalls_asked *q, long result, bool interrupted)
{
	bool found = result < 0 && errno == EAGAIN && !interrupted;

	if (found || !call_blocked(&p->call, dprof_adapter_now()) || dprof_adapter_in_library((const void *)q->a))
		return;
	dprof_say(&p->more, DPROF_KEY_ID, (uint64_t)q->a);
	plain_expired(p, call_expired(result) && !(interrupted && errno == EAGAIN));
	if (result != 0)
		dprof_say(&p->more, DPROF_KEY_PEER, DPROF_PEER_UNKNOWN);
	call_record(&p->call, p->site, dprof_adapter_now_fenced(), &p->more);
}

static long futex(const struct syscalls_asked *q)
{
	struct plain p = { .site = SITE(site_futex) };
	unsigned handlers = handlers_begun;
	long result;

	if (!is_wait(q->b)) {
		say_woken(q);
		return ask(q);
	}
	p.call = call_begin(p.site, q->caller);
	call_may_be_left(&p.call, plain_left);
	result = ask(q);
	call_closes(&p.call.open);
	say_waited(&p, q, result, handlers_begun != handlers);
	return result;
}

/* ---- Descriptors ----------------------------------------------------------------------------------------- */

/* What others do is not seen: from now on. */
static void before(const struct syscalls_asked *q)
{
	switch (q->number) {
	case SYS_splice:
		descriptor_lost((int)q->a);
		descriptor_lost((int)q->c);
		break;
	case SYS_tee: case SYS_sendfile:
		descriptor_lost((int)q->a);
		descriptor_lost((int)q->b);
		break;
	case SYS_close:
		descriptor_forget((int)q->a);
		break;
	case SYS_execve:
		exec_begins((const char *)q->a);
		break;
	case SYS_execveat:
		exec_begins((const char *)q->b);
		break;
	case SYS_io_uring_setup: case SYS_io_setup: case SYS_pidfd_getfd:
		descriptors_lost();
	}
}

/* The number stands for something else. */
static void after(const struct syscalls_asked *q, long result)
{
	switch (q->number) {
	case SYS_execve: case SYS_execveat:
		dprof_adapter_exec_failed();
		break;
	case SYS_dup: case SYS_dup2: case SYS_dup3:
		descriptor_lost((int)q->a);
		descriptor_copied((int)q->a, (int)result);
		break;
	case SYS_fcntl:
		if (result >= 0 && (q->b == F_DUPFD || q->b == F_DUPFD_CLOEXEC))
			descriptor_copied((int)q->a, (int)result);
		break;
	case SYS_epoll_ctl:
		if (result == 0 && q->b != EPOLL_CTL_DEL)
			descriptor_watched((int)q->a, (int)q->c, (const struct epoll_event *)q->d);
		break;
	case SYS_close:
		descriptor_forget((int)q->a);
		break;
	case SYS_close_range:
		descriptors_forget((unsigned)q->a, (unsigned)q->b);
	}
}

/* ---- Transfers ----------------------------------------------------------------------------------------- */

/* name, number, which way, whether the result is bytes */
#define TRANSFERS(X)                                                            \
	X(read, SYS_read, TAKES, true) X(write, SYS_write, GIVES, true)         \
	X(readv, SYS_readv, TAKES, true) X(writev, SYS_writev, GIVES, true)     \
	X(pread, SYS_pread64, TAKES, true) X(pwrite, SYS_pwrite64, GIVES, true) \
	X(preadv, SYS_preadv, TAKES, true) X(pwritev, SYS_pwritev, GIVES, true) \
	X(preadv2, SYS_preadv2, TAKES, true) X(pwritev2, SYS_pwritev2, GIVES, true) \
	X(recvfrom, SYS_recvfrom, TAKES, true) X(sendto, SYS_sendto, GIVES, true) \
	X(recvmsg, SYS_recvmsg, TAKES, true) X(sendmsg, SYS_sendmsg, GIVES, true) \
	X(recvmmsg, SYS_recvmmsg, TAKES, false) X(sendmmsg, SYS_sendmmsg, GIVES, false) \
	X(sendfile, SYS_sendfile, GIVES, true) X(vmsplice, SYS_vmsplice, GIVES, true)

#define X(name, number, way, in_bytes) TRANSFER_SITES(name);
TRANSFERS(X)
#undef X

static long move(const struct syscalls_asked *q, const struct dprof_site *wait, const struct dprof_site *io, enum way way,
		 bool in_bytes)
{
	long result;

	before(q);
	descriptor_lost((int)q->a);
	struct libc_transfer t AT_END(transfer_end);
	transfer_begin(&t, (int)q->a, way, wait, io);
	t.call = call_begin(io, q->caller);
	call_may_be_left(&t.call, transfer_left);
	result = ask(q);
	t.expired = call_expired(result);
	t.bytes = in_bytes ? result : -1;
	return result;
}

/* ---- Waits ---------------------------------------------------------------------------------------------- */

/* name, number, kind; with which arguments */
#define CALLS(X)                                                                                        \
	X(sleep_poll, "poll", SYS_poll, SLEEP, q->b == 0 && (int)q->c >= 0)                                         \
	X(sleep_ppoll, "ppoll", SYS_ppoll, SLEEP, q->b == 0 && q->c)                                      \
	X(sleep_select, "select", SYS_select, SLEEP, q->a == 0 && q->e)                                   \
	X(sleep_pselect, "pselect", SYS_pselect6, SLEEP, q->a == 0 && q->e)                               \
	X(poll, "poll", SYS_poll, WAIT, true)                                                           \
	X(ppoll, "ppoll", SYS_ppoll, WAIT, true)                                                        \
	X(select, "select", SYS_select, WAIT, true)                                                     \
	X(pselect, "pselect", SYS_pselect6, WAIT, true)                                                 \
	X(epoll_wait, "epoll_wait", SYS_epoll_wait, WAIT, true)                                         \
	X(epoll_pwait, "epoll_wait", SYS_epoll_pwait, WAIT, true)                                       \
	X(epoll_pwait2, "epoll_wait", SYS_epoll_pwait2, WAIT, true)                                     \
	X(accept, "accept", SYS_accept, WAIT, true)                                                     \
	X(accept4, "accept", SYS_accept4, WAIT, true)                                                   \
	X(connect, "connect", SYS_connect, WAIT, true)                                                  \
	X(splice, "splice", SYS_splice, WAIT, true)                                                     \
	X(tee, "tee", SYS_tee, WAIT, true)                                                              \
	X(wait4, "waitpid", SYS_wait4, WAIT, true)                                                      \
	X(waitid, "waitid", SYS_waitid, WAIT, true)                                                     \
	X(flock, "flock", SYS_flock, WAIT, true)                                                        \
	X(fcntl, "fcntl", SYS_fcntl, WAIT, q->b == F_SETLKW || q->b == F_OFD_SETLKW)                    \
	X(pause, "pause", SYS_pause, WAIT, true)                                                        \
	X(sigsuspend, "sigsuspend", SYS_rt_sigsuspend, WAIT, true)                                      \
	X(sigtimedwait, "sigtimedwait", SYS_rt_sigtimedwait, WAIT, true)                                \
	X(msgrcv, "msgrcv", SYS_msgrcv, WAIT, true)                                                     \
	X(msgsnd, "msgsnd", SYS_msgsnd, WAIT, true)                                                     \
	X(semop, "semop", SYS_semop, WAIT, true)                                                        \
	X(semtimedop, "semtimedop", SYS_semtimedop, WAIT, true)                                         \
	X(mq_timedreceive, "mq_timedreceive", SYS_mq_timedreceive, WAIT, true)                          \
	X(mq_timedsend, "mq_timedsend", SYS_mq_timedsend, WAIT, true)                                   \
	X(futex_waitv, "futex", SYS_futex_waitv, WAIT, true)                                            \
	X(io_uring_enter, "io_uring_enter", SYS_io_uring_enter, WAIT, true)                             \
	X(open, "open", SYS_open, WAIT, true)                                                           \
	X(openat, "open", SYS_openat, WAIT, true)                                                       \
	X(openat2, "open", SYS_openat2, WAIT, true)                                                     \
	X(creat, "open", SYS_creat, WAIT, true)                                                         \
	X(io_getevents, "io_getevents", SYS_io_getevents, IO, true)                                     \
	X(io_pgetevents, "io_getevents", SYS_io_pgetevents, IO, true)                                   \
	X(fsync, "fsync", SYS_fsync, IO, true)                                                          \
	X(fdatasync, "fdatasync", SYS_fdatasync, IO, true)                                              \
	X(nanosleep, "nanosleep", SYS_nanosleep, SLEEP, true)                                           \
	X(clock_nanosleep, "clock_nanosleep", SYS_clock_nanosleep, SLEEP, true)

#define X(id, name, number, kind, applies) DPROF_SITE_OF(site_##id, DPROF_KIND_##kind, name);
CALLS(X)
#undef X

static const struct dprof_site *site_of(const struct syscalls_asked *q)
{
#define X(id, name, number_, kind, applies) \
	if (q->number == number_ && (applies)) \
		return SITE(site_##id);
	CALLS(X)
#undef X
	return NULL;
}

static bool opens(long number)
{
	return number == SYS_open || number == SYS_openat || number == SYS_openat2 || number == SYS_creat;
}

static bool is_no_time_at(long most)
{
	return is_readable((const void *)most, sizeof(struct timespec)) && is_no_time((const struct timespec *)most);
}

/* It looks at descriptors, and does not wait. Asked before the call: the kernel writes there what is left. */
static bool polls_at_once(const struct syscalls_asked *q)
{
	switch (q->number) {
	case SYS_poll:
		return (int)q->c == 0;
	case SYS_epoll_wait: case SYS_epoll_pwait:
		return (int)q->d == 0;
	case SYS_ppoll:
		return is_no_time_at(q->c);
	case SYS_epoll_pwait2:
		return is_no_time_at(q->d);
	case SYS_select: case SYS_pselect6:
		return is_no_time_at(q->e);
	default:
		return false;
	}
}

/* How a wait has ended. What io_uring was asked for, and which of that is done, is not looked at: it may have been a timer. */
static void waited(const struct syscalls_asked *q, struct plain *p, bool at_once, long result)
{
	switch (q->number) {
	case SYS_poll: case SYS_ppoll:
		polled(p, at_once, (int)result, polled_timer((const struct pollfd *)q->a, (nfds_t)q->b, (int)result));
		break;
	case SYS_select: case SYS_pselect6:
		polled(p, at_once, (int)result, selected_timer((int)q->a, (const fd_set *)q->b, (int)result));
		break;
	case SYS_epoll_wait: case SYS_epoll_pwait: case SYS_epoll_pwait2:
		polled(p, at_once, (int)result, epoll_timer((int)q->a, (const struct epoll_event *)q->b, (int)result));
		break;
	case SYS_rt_sigtimedwait: case SYS_io_uring_enter:
		plain_expired(p, true);
		break;
	default:
		plain_expired(p, call_expired(result));
	}
}

/* A sleep by a clock that others make go. */
static bool is_by_cpu(const struct syscalls_asked *q)
{
	return q->number == SYS_clock_nanosleep && is_of_cpu((clockid_t)q->a);
}

/* A sleep until a moment. */
static bool is_until(const struct syscalls_asked *q)
{
	return q->number == SYS_clock_nanosleep && q->b & TIMER_ABSTIME && !is_by_cpu(q) &&
	       is_readable((const void *)q->c, sizeof(struct timespec));
}

static long wait_for(const struct syscalls_asked *q, const struct dprof_site *site)
{
	struct plain p AT_END(plain_end) = { .site = site, .call = call_begin(site, q->caller) };
	bool at_once = polls_at_once(q);
	long result;

	call_may_be_left(&p.call, plain_left);
	if (is_until(q))
		plain_until(&p, (clockid_t)q->a, (const struct timespec *)q->c);
	result = ask(q);
	if (dprof_site_kind(site) == DPROF_KIND_SLEEP)
		plain_interrupted(&p, (result == -1 && errno == EINTR) || is_by_cpu(q));
	if (dprof_site_kind(site) == DPROF_KIND_WAIT)
		waited(q, &p, at_once, result);
	if (opens(q->number))
		call_opened(&p, (int)result);
	return result;
}

/* ---- The function ------------------------------------------------------------------------------------------ */

static long yield(const struct syscalls_asked *q)
{
	struct libc_call call = call_begin_named("sched_yield", q->caller);
	long result = ask(q);

	call_yielded(&call);
	return result;
}

static long watch(const struct syscalls_asked *q)
{
	const struct dprof_site *site;
	long result;

	switch (q->number) {
	case SYS_futex:
		return futex(q);
	case SYS_sched_yield:
		return yield(q);
#define X(name, number, way, in_bytes) \
	case number: return move(q, SITE(wait_##name), SITE(io_##name), way, in_bytes);
	TRANSFERS(X)
#undef X
	}
	before(q);
	site = site_of(q);
	result = site ? wait_for(q, site) : ask(q);
	after(q, result);
	return result;
}

/* It has six arguments at most, which stand where these do. */
DPROF_EXPORT long any_syscall(long number, long a, long b, long c, long d, long e, long f) __asm__("syscall");

DPROF_EXPORT long any_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	struct syscalls_asked q = { FOUND("syscall", six), number, a, b, c, d, e, f, CALLER };

	if (number == SYS_exit_group)
		_exit((int)a);
	if (number == SYS_exit)
		dprof_adapter_thread_leaves();
	if (number == SYS_unshare)
		return unshare((int)a);
	if (number == SYS_sigaltstack)
		return sigaltstack((const stack_t *)a, (stack_t *)b);
	if (number == SYS_setns)
		return setns((int)a, (int)b);
	return is_watched() ? watch(&q) : ask(&q);
}
