/* SPDX-License-Identifier: MIT
 *
 * waits.c - what another thread or process may end.
 *
 *   ENTER poll [until=0] peer=UNKNOWN ... EXIT         likewise select, epoll_wait; without descriptors: a sleep;
 *                                                      until=0: a time limit ended it, a signal, or perhaps a timerfd
 *   ENTER waitpid peer=UNKNOWN [process=PID] ... EXIT    POINT killed child; not where there was no child
 *   ENTER pthread_once peer=UNKNOWN id=ADDRESS ... EXIT      the routine is run by another thread
 *   ENTER pthread_once id=ADDRESS EXIT                 it was, before: for the first time that a thread finds it so
 *   POINT pthread_once done id=ADDRESS
 *   ENTER flock [peer=UNKNOWN] object=N [role=0] ... EXIT   a lock of a file was taken, likewise lockf, and fcntl of a range
 *   POINT flock object=N                               and given back
 *
 * Who asks in vain for what is ready, a child's end or such a lock, without waiting, is recorded as of polling.c; but the
 * first time as if a time limit had ended it: what the thread does then, it may do because of that. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <threads.h>
#include <unistd.h>

#include "runtime/libc/libc.h"

/* ---- Descriptors ------------------------------------------------------------------------------------ */

/* Whether it came to nothing within its time limit, or a timer was among what is ready: that may have ended it, although
 * another became ready as well before it looked. */
bool polled_timer(const struct pollfd *of, nfds_t n, int result)
{
	bool found = result == 0;

	for (nfds_t i = 0; i < n && result > 0 && !found; i++)
		found = of[i].revents && descriptor_has_timer(of[i].fd);
	return found;
}

bool selected_timer(int n, const fd_set *in, int result)
{
	bool found = result == 0;

	for (int fd = 0; fd < n && in && result > 0 && !found; fd++)
		found = FD_ISSET(fd, in) && descriptor_has_timer(fd);
	return found;
}

/* Events say what the program has given with the descriptor, and not which one it is. */
bool epoll_timer(int set, const struct epoll_event *events, int result)
{
	struct descriptor d = descriptor_of(set);
	bool found = result == 0 || d.timers > 1;

	for (int i = 0; i < result && d.timers && !found; i++)
		found = events[i].data.u64 == d.timer_data;
	return found;
}

bool is_no_time(const struct timespec *most)
{
	return most && most->tv_sec == 0 && most->tv_nsec == 0;
}

void polled(struct plain *p, bool at_once, int result, bool timer)
{
	if (at_once && result == 0) {
		dprof_say(&p->more, DPROF_KEY_PEER, DPROF_PEER_UNKNOWN);
		plain_in_vain(p);
		return;
	}
	if (at_once && result > 0)
		dprof_adapter_polled_since(&p->call.since);
	plain_expired(p, call_expired(result) || timer);
}

/* Without descriptors, and with an end, it is a sleep. */
#define WAIT_OR_SLEEP(name, own, parameters, arguments, sleeps, endless, none, timer) \
	DPROF_EXPORT int name parameters                            \
	{                                                           \
		__typeof__(&name) real = REAL(name); \
		if (!is_watched())                                  \
			return real arguments;                \
		PLAIN(p, wait_##own);                               \
		bool is_sleep = (sleeps), at_once = (none);         \
		if (is_sleep)                                       \
			p.site = SITE(sleep_##own);                 \
		if (is_sleep || (endless))                          \
			call_lasts(&p.call, p.site);                \
		int result = real arguments;                        \
		if (!is_sleep)                                      \
			polled(&p, at_once, result, timer);         \
		return result;                                      \
	}
#define WAIT_OR_SLEEP_SITES(name)                             \
	DPROF_SITE_OF(wait_##name, DPROF_KIND_WAIT, #name);   \
	DPROF_SITE_OF(sleep_##name, DPROF_KIND_SLEEP, #name)

#define EPOLL(name, parameters, arguments, endless, none)           \
	DPROF_EXPORT int name parameters                            \
	{                                                           \
		__typeof__(&name) real = REAL(name);                \
		if (!is_watched())                                  \
			return real arguments;                      \
		PLAIN(p, site_epoll_wait);                          \
		if (endless)                                        \
			call_lasts(&p.call, p.site);                \
		int result = real arguments;                        \
		polled(&p, none, result, epoll_timer(fd, events, result)); \
		return result;                                      \
	}

WAIT_OR_SLEEP_SITES(poll);
WAIT_OR_SLEEP_SITES(ppoll);
WAIT_OR_SLEEP_SITES(select);
WAIT_OR_SLEEP_SITES(pselect);
DPROF_SITE_OF(site_epoll_wait, DPROF_KIND_WAIT, "epoll_wait");

int __poll_chk(struct pollfd *, nfds_t, int, size_t);
int __ppoll_chk(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t);

#define NO_TIME (most && most->tv_sec == 0 && most->tv_usec == 0)

WAIT_OR_SLEEP(poll, poll, (struct pollfd *of, nfds_t n, int ms), (of, n, ms), n == 0 && ms >= 0, ms < 0, ms == 0,
	      polled_timer(of, n, result))
WAIT_OR_SLEEP(__poll_chk, poll, (struct pollfd *of, nfds_t n, int ms, size_t room), (of, n, ms, room),
	      n == 0 && ms >= 0, ms < 0, ms == 0, polled_timer(of, n, result))
WAIT_OR_SLEEP(ppoll, ppoll, (struct pollfd *of, nfds_t n, const struct timespec *most, const sigset_t *mask),
	      (of, n, most, mask), n == 0 && most, !most, is_no_time(most), polled_timer(of, n, result))
WAIT_OR_SLEEP(__ppoll_chk, ppoll,
	      (struct pollfd *of, nfds_t n, const struct timespec *most, const sigset_t *mask, size_t room),
	      (of, n, most, mask, room), n == 0 && most, !most, is_no_time(most), polled_timer(of, n, result))
WAIT_OR_SLEEP(select, select, (int n, fd_set *in, fd_set *out, fd_set *other, struct timeval *most),
	      (n, in, out, other, most), (n == 0 || (!in && !out && !other)) && most, !most, NO_TIME,
	      selected_timer(n, in, result))
WAIT_OR_SLEEP(pselect, pselect,
	      (int n, fd_set *in, fd_set *out, fd_set *other, const struct timespec *most, const sigset_t *mask),
	      (n, in, out, other, most, mask), (n == 0 || (!in && !out && !other)) && most, !most, is_no_time(most),
	      selected_timer(n, in, result))
EPOLL(epoll_wait, (int fd, struct epoll_event *events, int n, int ms), (fd, events, n, ms), ms < 0, ms == 0)
EPOLL(epoll_pwait, (int fd, struct epoll_event *events, int n, int ms, const sigset_t *mask), (fd, events, n, ms, mask), ms < 0,
      ms == 0)
/* The kernel has read the time, if it found nothing within it. */
EPOLL(epoll_pwait2, (int fd, struct epoll_event *events, int n, const struct timespec *most, const sigset_t *mask),
      (fd, events, n, most, mask), !most, result == 0 && is_no_time(most))

DPROF_EXPORT int epoll_ctl(int set, int operation, int fd, struct epoll_event *event)
{
	__typeof__(&epoll_ctl) real = REAL(epoll_ctl);
	int result = real(set, operation, fd, event);

	if (result == 0 && operation != EPOLL_CTL_DEL && is_watched())
		descriptor_watched(set, fd, event);
	return result;
}

/* ---- Locks of files ----------------------------------------------------------------------------------- */

DPROF_SITE_OF(site_flock, DPROF_KIND_WAIT, "flock");
DPROF_SITE_OF(site_lockf, DPROF_KIND_WAIT, "lockf");

/* Each range that is locked is a lock of its own: most programs lock the same ones again. */
static uint64_t range_number(int64_t start, int64_t n)
{
	if (n < 0) {
		start += n;
		n = -n;
	}
	return (uint64_t)start * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)n;
}

static uint64_t position_of(int fd)
{
	return (uint64_t)sys(SYS_lseek, fd, 0, SEEK_CUR);
}

/* 0: it is not known which. */
uint64_t range_of(int fd, const struct flock *l)
{
	uint64_t start = (uint64_t)l->l_start;
	struct stat st;

	if (!dprof_adapter_wanted(DPROF_KIND_WAIT) || sys(SYS_fstat, fd, &st) < 0)
		return 0;
	if (l->l_whence == SEEK_CUR)
		start += position_of(fd);
	else if (l->l_whence == SEEK_END)
		start += (uint64_t)st.st_size;
	return dprof_adapter_object("range", (uint64_t)st.st_dev, (uint64_t)st.st_ino, range_number((int64_t)start, l->l_len));
}

static uint64_t file_of(int fd)
{
	struct stat st;

	if (!dprof_adapter_wanted(DPROF_KIND_WAIT) || sys(SYS_fstat, fd, &st) < 0)
		return 0;
	return dprof_adapter_object("file", (uint64_t)st.st_dev, (uint64_t)st.st_ino, 0);
}

/* Whoever takes it then may have waited for this. */
static void give_back(const struct libc_call *c, const struct dprof_site *site, uint64_t lock)
{
	struct dprof_arguments a;

	a.words = 0;
	dprof_say(&a, DPROF_KEY_OBJECT, lock);
	if (lock)
		call_point(c, site, &a);
}

void file_lock_returned(struct plain *p, int fd, uint64_t lock)
{
	give_back(&p->call, p->site, lock);
	descriptor_locks(fd, 0);
	p->site = NULL;
}

void file_closes(int fd, const void *caller)
{
	struct libc_call c = { .caller = caller };

	give_back(&c, SITE(site_flock), descriptor_lock(fd));
}

/* The call was over now, with this result. */
void file_lock_taken(struct plain *p, int fd, uint64_t lock, int result, bool shared)
{
	if (p->at_once && result == 0)
		dprof_adapter_polled_since(&p->call.since);
	else if (p->at_once && (errno == EAGAIN || errno == EACCES))
		plain_in_vain(p);
	else
		plain_expired(p, call_expired(result));
	if (result != 0)
		return;
	plain_shares(p, dprof_adapter_now_fenced(), lock, shared ? 0 : NO_ROLE);
	descriptor_locks(fd, lock);
}

/* Which lock it is, is found out before, as another may have what it stands for behind the call. */
#define LOCK_CALL(name, own, parameters, arguments, lock, returns, takes, shared, never_waits) \
	DPROF_EXPORT int name parameters                                  \
	{                                                                 \
		__typeof__(&name) real = REAL(name);                      \
		int result;                                               \
                                                                          \
		if (!is_watched() || !((returns) || (takes)))             \
			return real arguments;                            \
		struct dprof_moment begun = dprof_adapter_moment();       \
		uint64_t which = lock;                                    \
		PLAIN(p, own);                                            \
		p.at_once = never_waits;                                  \
		p.call.since = p.at_once ? begun : p.call.since;          \
		if (returns)                                              \
			file_lock_returned(&p, fd, which);                     \
		result = real arguments;                                  \
		if (takes)                                                \
			file_lock_taken(&p, fd, which, result, shared);        \
		return result;                                            \
	}
#define RANGE(n) range_of(fd, &(struct flock){ .l_whence = SEEK_CUR, .l_len = n })
#define TAKES_RANGE (command == F_LOCK || command == F_TLOCK)

LOCK_CALL(flock, site_flock, (int fd, int operation), (fd, operation), file_of(fd), operation & LOCK_UN,
	  operation & (LOCK_SH | LOCK_EX), operation & LOCK_SH, operation & LOCK_NB)
LOCK_CALL(lockf, site_lockf, (int fd, int command, off_t n), (fd, command, n), RANGE(n), command == F_ULOCK, TAKES_RANGE, false,
	  command == F_TLOCK)
LOCK_CALL(lockf64, site_lockf, (int fd, int command, off64_t n), (fd, command, n), RANGE(n), command == F_ULOCK, TAKES_RANGE, false,
	  command == F_TLOCK)

/* ---- Terminals ---------------------------------------------------------------------------------------- */

DPROF_SITE_OF(site_tcdrain, DPROF_KIND_WAIT, "tcdrain");
DPROF_SITE_OF(site_tcsetattr, DPROF_KIND_WAIT, "tcsetattr");
DPROF_SITE_OF(site_tcsendbreak, DPROF_KIND_SLEEP, "tcsendbreak");
DPROF_SITE_OF(site_getpass, DPROF_KIND_WAIT, "getpass");

PLAIN_CALL(int, tcdrain, site_tcdrain, (int fd), (fd))
PLAIN_CALL(int, tcsetattr, site_tcsetattr, (int fd, int when, const struct termios *to), (fd, when, to))
PLAIN_CALL(int, tcsendbreak, site_tcsendbreak, (int fd, int time), (fd, time))
PLAIN_CALL(char *, getpass, site_getpass, (const char *prompt), (prompt))

/* ---- Files are written down ------------------------------------------------------------------------- */

DPROF_SITE_OF(site_fsync, DPROF_KIND_IO, "fsync");
DPROF_SITE_OF(site_fdatasync, DPROF_KIND_IO, "fdatasync");

PLAIN_CALL(int, fsync, site_fsync, (int fd), (fd))
PLAIN_CALL(int, fdatasync, site_fdatasync, (int fd), (fd))

/* ---- Children ------------------------------------------------------------------------------------------ */

DPROF_SITE_OF(site_wait, DPROF_KIND_WAIT, "wait");
DPROF_SITE_OF(site_waitpid, DPROF_KIND_WAIT, "waitpid");
DPROF_SITE_OF(site_waitid, DPROF_KIND_WAIT, "waitid");

/* A child that was killed before it recorded anything is in no trace; but it was there. */
DPROF_SITE_OF(site_killed, DPROF_KIND_FORK, "killed child");

enum child_end { NOT_OVER, OVER, KILLED };

/* `signal`: by which it was killed, or 0. */
struct child_ended { enum child_end how; int signal; };

static struct child_ended end_of(int status)
{
	if (WIFSIGNALED(status))
		return (struct child_ended){ KILLED, WTERMSIG(status) };
	return (struct child_ended){ WIFEXITED(status) ? OVER : NOT_OVER, 0 };
}

static struct child_ended end_in(const siginfo_t *info)
{
	if (info->si_code == CLD_KILLED || info->si_code == CLD_DUMPED)
		return (struct child_ended){ KILLED, info->si_status };
	return (struct child_ended){ info->si_code == CLD_EXITED ? OVER : NOT_OVER, 0 };
}

/* How a child was asked for: this one alone; without waiting for it. */
enum { THIS_ONE = 1, LOOKS = 2 };

static unsigned children_taken; /* whose ends somebody was told */

/* Who learns of a child's end comes behind it, whether or not that blocked. */
static void record_end(struct plain *p, pid_t pid, int asked, int signal)
{
	bool blocked = !(asked & LOOKS) && call_blocked(&p->call, dprof_adapter_now());

	if (asked & LOOKS)
		dprof_adapter_polled_since(&p->call.since);
	__atomic_fetch_add(&children_taken, 1, __ATOMIC_RELAXED);
	dprof_say(&p->more, DPROF_KEY_PROCESS, (uint64_t)pid);
	if (asked & THIS_ONE)
		dprof_say(&p->more, DPROF_KEY_ROLE, 1);
	if (signal)
		dprof_say(&p->more, DPROF_KEY_TAG, (uint64_t)signal);
	if (blocked)
		dprof_say(&p->more, DPROF_KEY_PEER, DPROF_PEER_UNKNOWN);
	call_record(&p->call, p->site, dprof_adapter_now_fenced(), &p->more);
}

/* As a thread begins to wait for one: whether it is the only thread, and how many were taken. */
struct children_before { bool alone; unsigned taken; };

static struct children_before children_now(void)
{
	return (struct children_before){ dprof_adapter_is_alone(), __atomic_load_n(&children_taken, __ATOMIC_RELAXED) };
}

/* There was no child, and so it has waited for nothing; but where children are not kept until somebody waits, or another thread or
 * a handler may have taken the last one, it may have waited for their ends. */
static bool found_no_child(struct children_before before, int result)
{
	struct sigaction of;

	return result < 0 && errno == ECHILD && before.alone && before.taken == __atomic_load_n(&children_taken, __ATOMIC_RELAXED) &&
	       sigaction(SIGCHLD, NULL, &of) == 0 && of.sa_handler != SIG_IGN && !(of.sa_flags & SA_NOCLDWAIT);
}

static void waited(struct plain *p, pid_t pid, int asked, struct child_ended end)
{
	bool over = pid > 0 && end.how != NOT_OVER;

	if (over)
		record_end(p, pid, asked, end.signal);
	else if (!(asked & LOOKS))
		plain_end(p);
	else if (pid == 0)
		plain_in_vain(p);
	p->site = NULL;
	if (over && !dprof_adapter_child_ended(pid) && end.how == KILLED && dprof_adapter_is_for_us(p->call.caller))
		dprof_adapter_point(SITE(site_killed));
}

#define WAIT_FOR_CHILD(name, own, asked, parameters, arguments) \
	DPROF_EXPORT pid_t name parameters                      \
	{                                                       \
		__typeof__(&name) real = REAL(name);            \
		int unasked = 0;                                \
		pid_t pid;                                      \
                                                                \
		if (!is_watched())                              \
			return real arguments;                  \
		PLAIN(p, own);                                  \
		struct children_before before = children_now(); \
		if (!((asked) & LOOKS))                         \
			call_lasts(&p.call, p.site);            \
		status = status ? status : &unasked;            \
		pid = real arguments;                           \
		p.site = found_no_child(before, pid) ? NULL : p.site;               \
		waited(&p, pid, asked, pid > 0 ? end_of(*status) : (struct child_ended){ 0 });       \
		return pid;                                     \
	}

#define ASKED(one, options) (((one) ? THIS_ONE : 0) | ((options) & WNOHANG ? LOOKS : 0))

WAIT_FOR_CHILD(wait, site_wait, 0, (int *status), (status))
WAIT_FOR_CHILD(waitpid, site_waitpid, ASKED(id > 0, options), (pid_t id, int *status, int options), (id, status, options))
WAIT_FOR_CHILD(wait3, site_wait, ASKED(false, options), (int *status, int options, struct rusage *usage),
	       (status, options, usage))
WAIT_FOR_CHILD(wait4, site_waitpid, ASKED(id > 0, options), (pid_t id, int *status, int options, struct rusage *usage),
	       (id, status, options, usage))

DPROF_EXPORT int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	__typeof__(&waitid) real = REAL(waitid);
	int result;

	if (!is_watched())
		return real(type, id, info, options);
	PLAIN(p, site_waitid);
	struct children_before before = children_now();
	result = real(type, id, info, options);
	if (found_no_child(before, result)) {
		p.site = NULL;
	} else if (result == 0 && info) {
		waited(&p, info->si_pid, ASKED(type == P_PID, options), end_in(info));
	}
	return result;
}

/* ---- Forks: recorded in the parent, when the child is there ------------------------------------------- *
 *
 * What other libraries have called before a fork (pthread_atfork) is work of the thread before it. What they have called in the
 * parent behind it is in its record, as nobody knows the child's number until then. */

DPROF_SITE_OF(site_fork, DPROF_KIND_FORK, "fork");

DPROF_EXPORT pid_t fork(void)
{
	__typeof__(&fork) real = REAL(fork);

	if (!is_watched())
		return real();
	struct libc_call call = call_begin(SITE(site_fork), CALLER);
	struct dprof_moment before = dprof_adapter_forks_from((struct dprof_moment){ 0 });
	pid_t child = real();
	struct dprof_moment from = dprof_adapter_forks_from(before);
	if (child > 0) {
		struct dprof_arguments a = { 0 };

		if (from.stamp)
			call.since = from;
		dprof_say(&a, DPROF_KEY_PROCESS, (uint64_t)child);
		call_record(&call, SITE(site_fork), dprof_adapter_now_fenced(), &a);
	}
	return child;
}

/* ---- pthread_once -------------------------------------------------------------------------------------- */

DPROF_SITE_OF(site_once, DPROF_KIND_WAIT, "pthread_once");
DPROF_SITE_OF(site_done, DPROF_KIND_WAIT, "pthread_once done");

static __thread struct once { void (*routine)(void); const void *control, *caller; bool run; } once;

/* Another one may be done inside. */
static void run_it(void)
{
	struct once this = once;
	struct dprof_arguments a = { 0 };

	once.run = true;
	this.routine();
	once.run = true;
	if (!dprof_adapter_is_for_us(this.caller))
		return;
	dprof_say(&a, DPROF_KEY_ID, (uint64_t)this.control);
	dprof_adapter_initialises();
	dprof_adapter_finds(this.control);
	dprof_adapter_record(SITE(site_done), DPROF_POINT, 0, &a);
}

/* Who finds it done would have waited if it had come earlier, or have done it itself. */
static void find_done(const void *control, const void *caller)
{
	struct libc_call call;
	struct dprof_arguments a = { 0 };

	if (!dprof_adapter_wanted(DPROF_KIND_WAIT) || !dprof_adapter_finds(control))
		return;
	call = call_begin(SITE(site_once), caller);
	dprof_say(&a, DPROF_KEY_ID, (uint64_t)control);
	call_record(&call, SITE(site_once), dprof_adapter_now_fenced(), &a);
}

static int do_once(pthread_once_t *control, void (*routine)(void), const void *caller)
{
	__typeof__(&pthread_once) real = REAL(pthread_once);
	struct plain p = { .site = SITE(site_once), .call = call_begin(SITE(site_once), caller) };
	struct once around = once;
	int result;

	once = (struct once){ routine, control, caller, false };
	result = real(control, run_it);
	if (!once.run) {
		dprof_say(&p.more, DPROF_KEY_ID, (uint64_t)control);
		plain_end(&p);
		dprof_adapter_finds(control);
	}
	once = around;
	return result;
}

/* As glibc has it. */
static bool is_done(const int *control)
{
	return (__atomic_load_n(control, __ATOMIC_ACQUIRE) & 3) == 2;
}

DPROF_EXPORT int pthread_once(pthread_once_t *control, void (*routine)(void))
{
	__typeof__(&pthread_once) real = REAL(pthread_once);
	if (!is_watched())
		return real(control, routine);
	if (!is_done((const int *)control))
		return do_once(control, routine, CALLER);
	find_done(control, CALLER);
	return real(control, routine);
}

/* C11's, of which the C library has the same thing inside. */
DPROF_EXPORT void call_once(once_flag *flag, void (*routine)(void))
{
	__typeof__(&call_once) real = REAL(call_once);
	if (is_watched() && !is_done((const int *)flag)) {
		do_once((pthread_once_t *)flag, routine, CALLER);
		return;
	}
	if (is_watched())
		find_done(flag, CALLER);
	real(flag, routine);
}
