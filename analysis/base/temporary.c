/* SPDX-License-Identifier: MIT
 *
 * temporary.c - see temporary.h. */
#define _GNU_SOURCE /* mkostemp */
#include "analysis/base/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/base/memory.h"

static int open_in(const char *directory)
{
	char *name = mem_format("%s/dprof-XXXXXX", directory);
	int fd = mkostemp(name, O_CLOEXEC), error = errno;
	if (fd >= 0)
		unlink(name);
	free(name);
	errno = error;
	return fd;
}

int temporary_open(void)
{
	const char *directory = getenv("TMPDIR");
	if (directory && *directory)
		return open_in(directory);
	int fd = open_in("/var/tmp");
	return fd >= 0 ? fd : open_in("/tmp");
}
