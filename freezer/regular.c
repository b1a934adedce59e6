/* SPDX-License-Identifier: MIT
 *
 * regular.c - see regular.h. */
#include "freezer/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *word_for(mode_t mode)
{
	return S_ISFIFO(mode)   ? "a FIFO"
	       : S_ISSOCK(mode) ? "a socket"
	       : S_ISDIR(mode)  ? "a directory"
	       : S_ISCHR(mode) || S_ISBLK(mode) ? "a device"
						: "something that is no file";
}

static int failed(const char **found)
{
	int error = errno;

	*found = error == ENOENT  ? "nothing of that name"
		 : error == ELOOP ? "symbolic links in a circle"
				  : strerror(error);
	return -error;
}

int frz_open_regular(int directory, const char *name, const char **found)
{
	struct stat status;

	if (fstatat(directory, name, &status, 0))
		return failed(found);
	*found = word_for(status.st_mode);
	if (!S_ISREG(status.st_mode))
		return -EBADMSG;
	/* It may have become something else since. */
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return failed(found);
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		return fd;
	*found = word_for(status.st_mode);
	close(fd);
	return -EBADMSG;
}
