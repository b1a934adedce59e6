/* SPDX-License-Identifier: MIT
 *
 * temporary.c - see temporary.h. */
#define _GNU_SOURCE /* mkostemp, nftw */
#include "analysis/base/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
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

static char *folder_in(const char *directory)
{
	char *name = mem_format("%s/dprof-XXXXXX", directory);
	if (mkdtemp(name))
		return name;
	int error = errno;
	free(name);
	errno = error;
	return NULL;
}

char *temporary_folder(void)
{
	const char *directory = getenv("TMPDIR");
	if (directory && *directory)
		return folder_in(directory);
	char *name = folder_in("/var/tmp");
	return name ? name : folder_in("/tmp");
}

static int remove_one(const char *path, const struct stat *found, int type, struct FTW *where)
{
	(void)found, (void)type, (void)where;
	remove(path);
	return 0;
}

void temporary_remove(const char *path)
{
	nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}
