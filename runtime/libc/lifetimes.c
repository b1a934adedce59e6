/* SPDX-License-Identifier: MIT
 *
 * lifetimes.c - calls that make, copy, close or give away descriptors; and those that wait for a connection.
 *
 * What is closed is forgotten before, since another thread may get its number at once, and once more behind,
 * since another thread may have looked meanwhile. */
#include <alloca.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pty.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <utmp.h>

#include "runtime/libc/libc.h"
#include "runtime/readable.h"
#include "runtime/sys.h"

/* ---- Made ----------------------------------------------------------------------------------------- */

DPROF_EXPORT int pipe(int fd[2])
{
	__typeof__(&pipe) real = REAL(pipe);
	int result = real(fd);

	if (result == 0 && is_watched())
		descriptors_made(fd, false);
	return result;
}

/* What is not read of a packet is gone. */
DPROF_EXPORT int pipe2(int fd[2], int flags)
{
	__typeof__(&pipe2) real = REAL(pipe2);
	int result = real(fd, flags);

	if (result == 0 && !(flags & O_DIRECT) && is_watched())
		descriptors_made(fd, false);
	return result;
}

DPROF_EXPORT int socketpair(int domain, int type, int protocol, int fd[2])
{
	__typeof__(&socketpair) real = REAL(socketpair);
	int result = real(domain, type, protocol, fd);

	if (result == 0 && is_watched())
		descriptors_made(fd, true);
	return result;
}

DPROF_EXPORT int eventfd(unsigned begin, int flags)
{
	__typeof__(&eventfd) real = REAL(eventfd);
	int fd = real(begin, flags);

	if (fd >= 0 && begin == 0 && is_watched())
		descriptor_counts(fd, flags & EFD_SEMAPHORE);
	return fd;
}

DPROF_EXPORT int timerfd_create(clockid_t clock, int flags)
{
	__typeof__(&timerfd_create) real = REAL(timerfd_create);
	int fd = real(clock, flags);

	if (fd >= 0 && is_watched())
		descriptor_makes_timer(fd, clock);
	return fd;
}

DPROF_EXPORT int timerfd_settime(int fd, int flags, const struct itimerspec *time, struct itimerspec *before)
{
	__typeof__(&timerfd_settime) real = REAL(timerfd_settime);
	bool known = is_watched() && is_readable(time, sizeof(*time));
	struct itimerspec set = known ? *time : (struct itimerspec){ 0 }; /* `before` may be there, too */
	int result;

	if (known)
		descriptor_sets_timer(fd);
	result = real(fd, flags, time, before);
	if (result == 0 && known)
		descriptor_set_timer(fd, &set, flags & TFD_TIMER_ABSTIME, dprof_adapter_place());
	return result;
}

DPROF_SITE_OF(site_accept, DPROF_KIND_WAIT, "accept");
DPROF_SITE_OF(site_connect, DPROF_KIND_WAIT, "connect");

/* It was in a queue, into which whoever asked for it has put it. */
static void accepted(struct plain *p, int listening, int fd)
{
	uint64_t now = dprof_adapter_now_fenced();

	if (fd < 0 && errno == EAGAIN && descriptor_never_blocks(listening))
		plain_in_vain(p);
	else
		plain_expired(p, call_expired(fd));
	if (fd < 0)
		return;
	dprof_adapter_polled_since(&p->call.since);
	p->at_once = call_blocked(&p->call, now) && descriptor_never_blocks(listening);
	plain_shares(p, now, descriptor_listening(fd, false), NO_ROLE);
	descriptor_connected(fd);
}

DPROF_EXPORT int accept(int fd, struct sockaddr *from, socklen_t *size)
{
	__typeof__(&accept) real = REAL(accept);
	int result;

	if (!is_watched())
		return real(fd, from, size);
	PLAIN(p, site_accept);
	call_lasts(&p.call, p.site);
	result = real(fd, from, size);
	accepted(&p, fd, result);
	return result;
}

DPROF_EXPORT int accept4(int fd, struct sockaddr *from, socklen_t *size, int flags)
{
	__typeof__(&accept4) real = REAL(accept4);
	int result;

	if (!is_watched())
		return real(fd, from, size, flags);
	PLAIN(p, site_accept);
	call_lasts(&p.call, p.site);
	result = real(fd, from, size, flags);
	accepted(&p, fd, result);
	return result;
}

static void asked(struct plain *p, int fd)
{
	uint64_t now = dprof_adapter_now_fenced();

	plain_shares(p, now, descriptor_listening(fd, true), GIVES);
}

/* There is nobody yet who listens, or no answer. */
static bool connects_later(int error)
{
	return error == ECONNREFUSED || error == ENOENT || error == EINPROGRESS;
}

DPROF_EXPORT int connect(int fd, const struct sockaddr *to, socklen_t size)
{
	__typeof__(&connect) real = REAL(connect);
	int result;

	if (!is_watched())
		return real(fd, to, size);
	descriptor_connects(fd);
	PLAIN(p, site_connect);
	result = real(fd, to, size);
	plain_expired(&p, result < 0 && connects_later(errno));
	if (result == 0)
		asked(&p, fd);
	if (result == 0 || errno == EINPROGRESS)
		descriptor_connected(fd);
	return result;
}

/* ---- Copied and closed ------------------------------------------------------------------------------ */

DPROF_SITE_OF(site_close, DPROF_KIND_WAIT, "close");

/* Until the other side has what was sent. */
static bool lingers(int fd)
{
	struct linger linger = { 0 };
	socklen_t size = sizeof(linger);

	return descriptor_known(fd) == OF_OTHERS &&
	       sys(SYS_getsockopt, fd, SOL_SOCKET, SO_LINGER, &linger, &size) == 0 && linger.l_onoff && linger.l_linger;
}

DPROF_EXPORT int close(int fd)
{
	__typeof__(&close) real = REAL(close);
	struct plain p AT_END(plain_end) = { 0 };
	int result;

	if (is_watched() && lingers(fd)) {
		p.site = SITE(site_close);
		p.call = call_begin(p.site, CALLER);
	}
	file_closes(fd, CALLER);
	descriptor_forget(fd);
	result = real(fd);
	descriptor_forget(fd);
	return result;
}

DPROF_EXPORT int close_range(unsigned first, unsigned last, int flags)
{
	__typeof__(&close_range) real = REAL(close_range);
	descriptors_forget(first, last);
	return real(first, last, flags);
}

DPROF_EXPORT void closefrom(int first)
{
	__typeof__(&closefrom) real = REAL(closefrom);
	descriptors_forget(first < 0 ? 0 : (unsigned)first, DESCRIPTORS_MAX);
	real(first);
}

DPROF_EXPORT int dup(int fd)
{
	__typeof__(&dup) real = REAL(dup);
	int copy = real(fd);

	if (copy >= 0 && is_watched())
		descriptor_copied(fd, copy);
	return copy;
}

DPROF_EXPORT int dup2(int fd, int to)
{
	__typeof__(&dup2) real = REAL(dup2);
	int copy = real(fd, to);

	if (copy >= 0 && is_watched())
		descriptor_copied(fd, copy);
	return copy;
}

DPROF_EXPORT int dup3(int fd, int to, int flags)
{
	__typeof__(&dup3) real = REAL(dup3);
	int copy = real(fd, to, flags);

	if (copy >= 0 && is_watched())
		descriptor_copied(fd, copy);
	return copy;
}

DPROF_SITE_OF(site_fcntl, DPROF_KIND_WAIT, "fcntl");

static bool waits(int command)
{
	return command == F_SETLKW || command == F_OFD_SETLKW;
}

static bool locks(int command, const void *argument)
{
	return (waits(command) || command == F_SETLK || command == F_OFD_SETLK) && is_readable(argument, sizeof(struct flock));
}

/* Of a file's lock. One that could not be had is nothing. */
static int control_lock(struct plain *p, __typeof__(&fcntl) real, int fd, int command, struct flock *lock)
{
	uint64_t which = range_of(fd, lock);
	bool returns = lock->l_type == F_UNLCK, shared = lock->l_type == F_RDLCK;
	int result;

	p->at_once = !waits(command);
	if (!p->at_once)
		p->call.since = dprof_adapter_moment();
	if (returns)
		file_lock_returned(p, fd, which);
	else
		call_may_be_left(&p->call, plain_left);
	result = real(fd, command, lock);
	if (!returns)
		file_lock_taken(p, fd, which, result, shared);
	if (!waits(command))
		p->site = NULL;
	return result;
}

static int control(__typeof__(&fcntl) real, int fd, int command, void *argument, const void *caller)
{
	struct plain p AT_END(plain_end) = { .site = SITE(site_fcntl), .call = call_begin(SITE(site_fcntl), caller) };
	int result;

	if (locks(command, argument))
		return control_lock(&p, real, fd, command, argument);
	if (waits(command))
		call_may_be_left(&p.call, plain_left);
	else
		p.site = NULL;
	result = real(fd, command, argument);
	if (result >= 0 && (command == F_DUPFD || command == F_DUPFD_CLOEXEC))
		descriptor_copied(fd, result);
	if (command == F_SETFL)
		descriptor_flags(fd, (intptr_t)argument);
	return result;
}

#define FCNTL(name)                                                                     \
	DPROF_EXPORT int name(int fd, int command, ...)                                 \
	{                                                                               \
		void *argument;                                                         \
		va_list list;                                                           \
                                                                                        \
		va_start(list, command);                                                \
		argument = va_arg(list, void *);                                        \
		va_end(list);                                                           \
		if (!is_watched())                                                      \
			return REAL(name)(fd, command, argument);                       \
		return control(REAL(name), fd, command, argument, CALLER);              \
	}

FCNTL(fcntl)
FCNTL(fcntl64)

/* ---- Given away ------------------------------------------------------------------------------------ */

#define NAME_MOST 4096

size_t readable_name(const char *name)
{
	size_t n = 0;

	if (dprof_adapter_is_off())
		return 0;
	while (n < NAME_MOST && ((n && ((uintptr_t)name + n) % READABLE_STEP) || is_readable(name + n, 1)) && name[n])
		n++;
	return n;
}

/* Another program gets what is not closed by exec. */
void exec_begins(const char *program)
{
	descriptors_inherited();
	dprof_adapter_exec(program, readable_name(program));
}

/* Who comes back is still the same. */
#define EXEC(name, parameters, program, arguments)   \
	DPROF_EXPORT int name parameters             \
	{                                            \
		__typeof__(&name) real = REAL(name); \
		int result;                          \
                                                     \
		exec_begins(program);                \
		result = real arguments;             \
		dprof_adapter_exec_failed();         \
		return result;                       \
	}

EXEC(execve, (const char *path, char *const argv[], char *const env[]), path, (path, argv, env))
EXEC(execv, (const char *path, char *const argv[]), path, (path, argv))
EXEC(execvp, (const char *path, char *const argv[]), path, (path, argv))
EXEC(execvpe, (const char *path, char *const argv[], char *const env[]), path, (path, argv, env))
EXEC(fexecve, (int fd, char *const argv[], char *const env[]), "a descriptor", (fd, argv, env))
EXEC(execveat, (int fd, const char *path, char *const argv[], char *const env[], int flags),
     path, (fd, path, argv, env, flags))

#define SPAWN(name)                                                                                            \
	DPROF_EXPORT int name(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,         \
			      const posix_spawnattr_t *attr, char *const argv[], char *const env[])            \
	{                                                                                                      \
		__typeof__(&name) real = REAL(name);                                                           \
		pid_t child = 0;                                                                               \
		int error;                                                                                     \
                                                                                                               \
		descriptors_inherited();                                                                       \
		pid = pid ? pid : &child;                                                                      \
		error = real(pid, path, actions, attr, argv, env);                                             \
		if (!error)                                                                                    \
			dprof_adapter_ran(path, readable_name(path), *pid);                                    \
		return error;                                                                                  \
	}

SPAWN(posix_spawn)
SPAWN(posix_spawnp)

DPROF_EXPORT int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *actions, int fd, int to)
{
	__typeof__(&posix_spawn_file_actions_adddup2) real = REAL(posix_spawn_file_actions_adddup2);
	descriptor_lost(fd);
	return real(actions, fd, to);
}

/* execl and its kin: the arguments as a list, which NULL ends. */
static size_t count_arguments(va_list list)
{
	size_t n = 1;

	while (va_arg(list, const char *))
		n++;
	return n;
}

#define EXEC_LIST(name, has_env, call)                                                  \
	DPROF_EXPORT int name(const char *path, const char *first, ...)                 \
	{                                                                               \
		const char *volatile begin = first; /* declared not to be NULL */       \
		char *const *env = environ, **argv;                                     \
		va_list list;                                                           \
		size_t n;                                                               \
                                                                                        \
		va_start(list, first);                                                  \
		n = begin ? count_arguments(list) : 0;                                  \
		va_end(list);                                                           \
		argv = alloca((n + 1) * sizeof(*argv));                                 \
		argv[0] = (char *)begin;                                                \
		va_start(list, first);                                                  \
		for (size_t i = 1; i <= n; i++)                                         \
			argv[i] = va_arg(list, char *);                                 \
		if (has_env)                                                            \
			env = va_arg(list, char *const *);                              \
		va_end(list);                                                           \
		return call;                                                            \
	}

EXEC_LIST(execl, false, execve(path, argv, env))
EXEC_LIST(execle, true, execve(path, argv, env))
EXEC_LIST(execlp, false, execvpe(path, argv, env))

/* The C library gives the first three something else to stand for. */
static void forget_first(void)
{
	descriptors_forget(0, 2);
}

/* What stands at /dev/null may be something else, which no output may come into. */
static bool is_null(int fd)
{
	struct stat of;

	return fstat(fd, &of) == 0 && S_ISCHR(of.st_mode) && of.st_rdev == makedev(1, 3);
}

static int become_null(void)
{
	int fd = open("/dev/null", O_RDWR);
	bool null = fd >= 0 && is_null(fd);

	for (int to = 0; null && to <= 2; to++)
		dup2(fd, to);
	if (fd > 2 || (fd >= 0 && !null))
		close(fd);
	if (fd >= 0 && !null)
		errno = ENODEV;
	return null ? 0 : -1;
}

/* As the C library does it, but that our _exit() sees the parent end. */
DPROF_EXPORT int daemon(int no_chdir, int no_close)
{
	pid_t child = fork();

	if (child > 0)
		_exit(0);
	if (child < 0 || setsid() < 0)
		return -1;
	if (!no_chdir)
		(void)!chdir("/");
	return no_close ? 0 : become_null();
}

DPROF_EXPORT int login_tty(int fd)
{
	__typeof__(&login_tty) real = REAL(login_tty);
	int result;

	descriptor_lost(fd);
	result = real(fd);
	descriptor_forget(fd);
	forget_first();
	return result;
}

DPROF_EXPORT pid_t forkpty(int *fd, char *name, const struct termios *t, const struct winsize *size)
{
	__typeof__(&forkpty) real = REAL(forkpty);
	pid_t child = real(fd, name, t, size);

	if (child == 0)
		forget_first();
	return child;
}

/* What goes there is not what the program gives, or is not all that goes there. */
DPROF_EXPORT int setsockopt(int fd, int level, int name, const void *value, socklen_t size)
{
	__typeof__(&setsockopt) real = REAL(setsockopt);
	if (level == IPPROTO_TCP && (name == TCP_ULP || name == TCP_REPAIR))
		descriptor_lost(fd);
	return real(fd, level, name, value, size);
}

/* What the C library moves on its own. */
DPROF_EXPORT void backtrace_symbols_fd(void *const *frames, int n, int fd)
{
	__typeof__(&backtrace_symbols_fd) real = REAL(backtrace_symbols_fd);
	descriptor_lost(fd);
	real(frames, n, fd);
}

DPROF_EXPORT FILE *fdopen(int fd, const char *mode)
{
	__typeof__(&fdopen) real = REAL(fdopen);
	descriptor_lost(fd);
	return real(fd, mode);
}
