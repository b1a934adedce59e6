/* SPDX-License-Identifier: MIT
 *
 * opens.c - a FIFO is opened when its other end is, and a terminal when there is a line.
 *
 *   ENTER open peer=UNKNOWN ... EXIT
 *
 * To open a file is the thread's own time, and not recorded. What cannot be opened because a signal came was no
 * file. A pipe that gets one more descriptor (/dev/fd/N) is not counted any more. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>

#include "runtime/libc/libc.h"

DPROF_SITE_OF(site_open, DPROF_KIND_WAIT, "open");
DPROF_SITE_OF(site_fopen, DPROF_KIND_WAIT, "fopen");

int __open_2(const char *, int);
int __open64_2(const char *, int);
int __openat_2(int, const char *, int);
int __openat64_2(int, const char *, int);

void call_opened(struct plain *p, int fd)
{
	bool waited = fd < 0 ? errno == EINTR : descriptor_of(fd).what == OF_OTHERS;

	if (fd >= 0 && descriptors_of_parent())
		descriptor_lost(fd);
	if (!waited)
		p->site = NULL;
}

#define OPEN(name, parameters, arguments)                       \
	DPROF_EXPORT int name parameters                        \
	{                                                       \
		__typeof__(&name) real = REAL(name);            \
		int fd;                                         \
                                                                \
		if (!is_watched())                              \
			return real arguments;                  \
		PLAIN(p, site_open);                            \
		fd = real arguments;                            \
		call_opened(&p, fd);                                 \
		return fd;                                      \
	}

/* The same where a mode may follow, which the C library takes only if the flags ask for it. */
#define OPEN_MODE(name, parameters, arguments)                  \
	DPROF_EXPORT int name parameters                        \
	{                                                       \
		__typeof__(&name) real = REAL(name);            \
		mode_t mode;                                    \
		va_list list;                                   \
		int fd;                                         \
                                                                \
		va_start(list, flags);                          \
		mode = va_arg(list, mode_t);                    \
		va_end(list);                                   \
		if (!is_watched())                              \
			return real arguments;                  \
		PLAIN(p, site_open);                            \
		fd = real arguments;                            \
		call_opened(&p, fd);                                 \
		return fd;                                      \
	}

OPEN_MODE(open, (const char *path, int flags, ...), (path, flags, mode))
OPEN_MODE(open64, (const char *path, int flags, ...), (path, flags, mode))
OPEN_MODE(openat, (int from, const char *path, int flags, ...), (from, path, flags, mode))
OPEN_MODE(openat64, (int from, const char *path, int flags, ...), (from, path, flags, mode))
OPEN(__open_2, (const char *path, int flags), (path, flags))
OPEN(__open64_2, (const char *path, int flags), (path, flags))
OPEN(__openat_2, (int from, const char *path, int flags), (from, path, flags))
OPEN(__openat64_2, (int from, const char *path, int flags), (from, path, flags))
OPEN(creat, (const char *path, mode_t mode), (path, mode))
OPEN(creat64, (const char *path, mode_t mode), (path, mode))

#define FOPEN(name, before, parameters, arguments)              \
	DPROF_EXPORT FILE *name parameters                      \
	{                                                       \
		__typeof__(&name) real = REAL(name);            \
		FILE *file;                                     \
                                                                \
		before;                                         \
		if (!is_watched())                              \
			return real arguments;                  \
		PLAIN(p, site_fopen);                           \
		file = real arguments;                          \
		call_opened(&p, file ? file->_fileno : -1);          \
		return file;                                    \
	}

FOPEN(fopen, , (const char *path, const char *mode), (path, mode))
FOPEN(fopen64, , (const char *path, const char *mode), (path, mode))
FOPEN(freopen, descriptor_forget(f->_fileno), (const char *path, const char *mode, FILE *f), (path, mode, f))
FOPEN(freopen64, descriptor_forget(f->_fileno), (const char *path, const char *mode, FILE *f), (path, mode, f))
