/* SPDX-License-Identifier: MIT
 *
 * notice.c - see notice.h. */
#include "runtime/notice.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/settings.h"

#define STARTERS 3 /* between a process of a parallel job and the user's shell, at most */

static struct stat first; /* of standard error; st_mode 0: it was closed */

/* ---- Where a line may go --------------------------------------------------------------------- */

static bool is_first(void)
{
	struct stat now;

	return first.st_mode && fstat(STDERR_FILENO, &now) == 0 && now.st_dev == first.st_dev &&
	       now.st_ino == first.st_ino && now.st_rdev == first.st_rdev;
}

/* The parent and the name of a process: "PID (NAME) STATE PARENT ..." */
static bool look_up(long pid, char name[32], long *parent)
{
	char path[64], text[256], *end;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[n < 0 ? 0 : n] = '\0';
	end = strrchr(text, ')');
	return end && sscanf(text, "%*d (%31[^)]", name) == 1 && sscanf(end, ") %*c %ld", parent) == 1;
}

static bool is_starter(const char *name)
{
	static const char *const starters[] = { "mpirun", "mpiexec", "orterun", "orted", "prterun", "prted",
						"prte", "hydra_pmi_proxy", NULL };

	for (const char *const *s = starters; *s; s++)
		if (!strncmp(name, *s, strlen(*s)))
			return true;
	return false;
}

static bool is_terminal(const char *path)
{
	char target[64];
	ssize_t n = readlink(path, target, sizeof(target) - 1);

	target[n < 0 ? 0 : n] = '\0';
	return !strncmp(target, "/dev/pts/", 9) || !strncmp(target, "/dev/tty", 8);
}

/* Whoever starts a parallel job reads its standard error from a pipe and writes it to his own. */
static bool ends_on_terminal(void)
{
	long pid = getppid(), parent;
	char name[32], path[64];

	if (isatty(STDERR_FILENO))
		return true;
	if (dprof_settings.rank < 0 || !S_ISFIFO(first.st_mode))
		return false;
	for (int i = 0; i < STARTERS && look_up(pid, name, &parent) && is_starter(name); i++) {
		snprintf(path, sizeof(path), "/proc/%ld/fd/2", pid);
		if (is_terminal(path))
			return true;
		pid = parent;
	}
	return false;
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* What a write may raise: a pipe without a reader, a file that may not grow, a terminal that is another job's. */
static const int raised[] = { SIGPIPE, SIGXFSZ, SIGTTOU };
#define RAISED (sizeof(raised) / sizeof(*raised))

static void write_line(const char *line, size_t bytes)
{
	struct pollfd ready = { .fd = STDERR_FILENO, .events = POLLOUT };
	struct timespec now = { 0, 0 };
	sigset_t ours, before, pending;

	if (poll(&ready, 1, 0) != 1 || !(ready.revents & POLLOUT))
		return;
	sigemptyset(&ours);
	sigpending(&pending);
	for (size_t i = 0; i < RAISED; i++)
		if (!sigismember(&pending, raised[i]))
			sigaddset(&ours, raised[i]);
	pthread_sigmask(SIG_BLOCK, &ours, &before);
	if (write(STDERR_FILENO, line, bytes) < 0)
		while (sigtimedwait(&ours, NULL, &now) > 0)
			;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* As the shell takes it, on one line and without what a terminal would obey. */
static void quote(char *to, size_t size, const char *from)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
	bool odd = from[strspn(from, plain)] != '\0';
	size_t n = (size_t)snprintf(to, size, odd ? "$'" : "");

	for (; *from && n + 6 < size; from++) {
		unsigned char c = (unsigned char)*from;

		if (c <= 0x1f || c >= 0x7f || c == '\'' || c == '\\')
			n += (size_t)snprintf(to + n, size - n, "\\x%02x", c);
		else
			to[n++] = *from;
	}
	snprintf(to + n, size - n, odd ? "'" : "");
}

/* ---- The lines ------------------------------------------------------------------------------- */

void dprof_notice_prepare(void)
{
	if (dprof_settings.quiet || fstat(STDERR_FILENO, &first) < 0)
		first.st_mode = 0;
	dprof_counting = first.st_mode && dprof_settings.rank <= 0 && ends_on_terminal();
}

void dprof_notice_failed(const char *path, int error)
{
	static char line[2 * PATH_MAX], where[PATH_MAX + 64];
	const char *said = dprof_settings.parent_given ? " (see DPROF_DIR)" : "";
	int n;

	if (dprof_settings.local_rank > 0 || !is_first())
		return;
	quote(where, sizeof(where), path);
	n = snprintf(line, sizeof(line), "dprof: nothing is recorded: cannot write %s: %s%s\n", where,
		     strerrordesc_np(error), said);
	if (n > 0 && (size_t)n < sizeof(line))
		write_line(line, (size_t)n);
}

/* What the user types where he started the program. */
static void name_trace(char *to, size_t size, const char *directory)
{
	const char *name = strrchr(directory, '/'), *given = dprof_settings.parent_given;
	static char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s%s%s", given ? given : "", given ? "/" : "", name ? name + 1 : directory);
	quote(to, size, path);
}

/* ", 92456 more are lost: the disk is full: set ..." */
static void say_lost(char *to, size_t size, struct dprof_count count)
{
	size_t n = (size_t)snprintf(to, size, count.lost ? ", %llu more %s lost" : "", (unsigned long long)count.lost,
				    count.lost == 1 ? "is" : "are");

	for (int why = 0, said = 0; why < DPROF_WHY_COUNT && count.lost; why++)
		if (count.why_lost >> why & 1 && n < size)
			n += (size_t)snprintf(to + n, size - n, "%s%s", said++ ? ", " : ": ", dprof_why_text((enum dprof_why)why));
}

void dprof_notice_end(struct dprof_count count, const char *directory, int64_t ranks)
{
	static char line[5 * PATH_MAX], trace[2 * PATH_MAX], lost[PATH_MAX]; /* it may be a thread with a small stack that exits */
	int n;

	if (!dprof_counting || !is_first())
		return;
	name_trace(trace, sizeof(trace), directory);
	say_lost(lost, sizeof(lost), count);
	n = snprintf(line, sizeof(line), "dprof: %s%llu event%s%s in %s%s; dprof-analyze %s\n",
		     count.all ? "" : "at least ", (unsigned long long)count.events, count.events == 1 ? "" : "s",
		     ranks == 1 ? "" : " of rank 0", trace, lost, trace);
	if (n > 0 && (size_t)n < sizeof(line))
		write_line(line, (size_t)n);
}
