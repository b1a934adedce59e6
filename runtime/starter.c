/* SPDX-License-Identifier: MIT
 *
 * starter.c - see starter.h. */
#include "runtime/starter.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "freezer/clock.h"
#include "runtime/format.h"
#include "runtime/process.h"
#include "runtime/sys.h"
#include "runtime/thread.h"

#define HEAD_BYTES 16384 /* of a process file: with all that is asked for */
#define SUFFIX     ".process"

/* ---- Its process file ------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

/* ADDRESSES RIGHTS OFFSET DEVICE INODE PATH -> `path`, if it may be that of a process file of this host. */
static bool may_be_mapped(const char *line, char path[PATH_MAX], unsigned long *inode)
{
	static char directory[PATH_MAX];
	char *slash;
	int at = 0;

	if (sscanf(line, "%*s %*s %*s %*s %lu %n", inode, &at) != 1 || line[at] != '/' || strlen(line + at) >= PATH_MAX)
		return false;
	strcpy(path, line + at);
	strcpy(directory, path);
	slash = strrchr(directory, '/');
	if (!ends_with(path, SUFFIX) || strncmp(slash + 1, dprof_settings.host, strlen(dprof_settings.host)))
		return false;
	*slash = '\0';
	slash = strrchr(directory, '/');
	return slash && !strncmp(slash + 1, "dprof-", strlen("dprof-"));
}

/* What is mapped by `pid`. Lines that are too long are of none. */
static bool find_mapped(long pid, char path[PATH_MAX], unsigned long *inode)
{
	static char text[2 * PATH_MAX];
	size_t held = 0;
	bool found = false;
	ssize_t n;
	int fd;

	snprintf(text, sizeof(text), "/proc/%ld/maps", pid);
	fd = open(text, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && !found && (n = read(fd, text + held, sizeof(text) - 1 - held)) > 0) {
		char *line = text, *end;

		text[held += (size_t)n] = '\0';
		for (; !found && (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			found = may_be_mapped(line, path, inode);
		}
		held -= (size_t)(line - text);
		memmove(text, line, held);
		held = held == sizeof(text) - 1 ? 0 : held;
	}
	if (fd >= 0)
		close(fd);
	return found;
}

static bool read_head(const char *path, unsigned long inode, char head[HEAD_BYTES])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat status;
	ssize_t n = -1;

	if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_ino == inode)
		n = read(fd, head, HEAD_BYTES - 1);
	if (fd >= 0)
		close(fd);
	head[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* The value in the line "KEY VALUE"; false where there is none, or it is too long. */
static bool value_of(const char *head, const char *key, char *to, size_t size)
{
	size_t n = strlen(key);

	for (const char *line = head; (line = strchr(line, '\n'));) {
		size_t bytes = strcspn(++line, "\n");

		if (strncmp(line, key, n) != 0 || line[n] != ' ')
			continue;
		if (bytes - n - 1 >= size)
			return false;
		memcpy(to, line + n + 1, bytes - n - 1);
		to[bytes - n - 1] = '\0';
		return true;
	}
	return false;
}

static bool says(const char *head, const char *key, const char *expected)
{
	char escaped[1024], value[1024];

	dprof_escape(escaped, sizeof(escaped), expected);
	return value_of(head, key, value, sizeof(value)) && !strcmp(value, escaped);
}

static bool is_fit(const char *head, long pid)
{
	static const char first[] = DPROF_PROCESS_FIRST_LINE "\n";
	char number[24];

	snprintf(number, sizeof(number), "%ld", pid);
	return !strncmp(head, first, sizeof(first) - 1) && says(head, "pid", number) &&
	       says(head, "hostid", dprof_settings.hostid) && says(head, "clock", frz_source_word(frz_source()));
}

/* Only who has recorded before it was another program has a file of this name there. */
static bool may_join(const char *directory)
{
	char own[PATH_MAX];
	int n = snprintf(own, sizeof(own), "%s/%s-p%ld.process", directory, dprof_settings.host, (long)getpid());

	return n > 0 && (size_t)n < sizeof(own) && access(own, F_OK) != 0 && access(directory, W_OK | X_OK) == 0;
}

bool dprof_starter_find(struct dprof_starter *s)
{
	static char head[HEAD_BYTES];
	static char path[PATH_MAX];
	unsigned long inode;
	char *slash;
	long pid = getppid();
	size_t n;

	if (!find_mapped(pid, path, &inode) || !read_head(path, inode, head) || !is_fit(head, pid))
		return false;
	slash = strrchr(path, '/');
	*slash = '\0';
	strcpy(s->directory, path);
	n = strlen(slash + 1) - strlen(SUFFIX);
	if (n >= sizeof(s->stem) || !value_of(head, "job", s->job, sizeof(s->job)))
		return false;
	memcpy(s->stem, slash + 1, n);
	s->stem[n] = '\0';
	return getppid() == pid && may_join(s->directory);
}

/* ---- When it was made -------------------------------------------------------------------------- */

#define TICKS_BEFORE 20 /* the kernel's, from where its name ends in /proc/PID/stat */

/* In ns since the host was started, and no later. */
static bool read_birth(uint64_t *ns)
{
	char stat[1024], *at;
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, stat, sizeof(stat) - 1);
	long per_s = sysconf(_SC_CLK_TCK);

	if (fd >= 0)
		close(fd);
	stat[n > 0 ? n : 0] = '\0';
	at = strrchr(stat, ')');
	for (int i = 0; at && i < TICKS_BEFORE; i++)
		at = strchr(at + 1, ' ');
	if (!at || per_s <= 0)
		return false;
	*ns = strtoull(at, NULL, 10) * (UINT64_C(1000000000) / (uint64_t)per_s);
	return true;
}

uint64_t dprof_starter_unborn(void)
{
	struct timespec now;
	uint64_t stamp = dprof_now(), birth, since;
	double ticks;

	if (clock_gettime(CLOCK_BOOTTIME, &now) < 0 || !read_birth(&birth))
		return 0;
	since = frz_ns(&now);
	if (since < birth)
		return 0;
	ticks = (double)(since - birth) * frz_ghz() * 1.01; /* no two clocks differ so much */
	return ticks < (double)stamp ? stamp - (uint64_t)ticks : 0;
}
