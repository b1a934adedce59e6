/* SPDX-License-Identifier: MIT
 *
 * output.c - see output.h. */
#define _GNU_SOURCE /* renameat2 */
#include "analysis/base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/memory.h"
#include "analysis/base/shown.h"
#include "analysis/base/temporary.h"

static bool may_be_written(const char *name, bool force)
{
	struct stat found;
	if (strcmp(name, "-") == 0) {
		shown_complain("expected the name of a file, found -: there is no writing to standard output (a file of that name is ./-)");
		return false;
	}
	if (lstat(name, &found) != 0)
		return true;
	if (S_ISDIR(found.st_mode))
		shown_complain("%s is a folder that is there already: name another, or remove it", name);
	else if (!S_ISREG(found.st_mode))
		shown_complain("expected the name of a file, found what is none: %s", name);
	else if (!force)
		shown_complain("%s is there already; --force writes over it", name);
	return S_ISREG(found.st_mode) && force;
}

struct output_size output_size(long bytes)
{
	struct output_size s;
	if (bytes < 1000)
		snprintf(s.text, sizeof s.text, "%ld byte%s", bytes, bytes == 1 ? "" : "s");
	else if (bytes < 1000000)
		snprintf(s.text, sizeof s.text, "%.0f kB", (double)bytes / 1e3);
	else
		snprintf(s.text, sizeof s.text, "%.1f MB", (double)bytes / 1e6);
	return s;
}

bool output_begin(struct output *o, const char *name, bool force)
{
	if (!may_be_written(name, force))
		return false;
	*o = (struct output){ name, mem_format("%s.%ld.part", name, (long)getpid()), force };
	return true;
}

FILE *output_open(const char *part)
{
	return fopen(part, "wx");
}

const char *output_close(FILE *out)
{
	errno = 0;
	bool bad = fflush(out) != 0 || ferror(out);
	int error = bad ? errno ? errno : EIO : 0;
	if (fclose(out) != 0 && !error)
		error = errno;
	return error ? strerror(error) : NULL;
}

/* What was there keeps its permissions. */
static void keep_mode(const struct output *o)
{
	struct stat found;
	if (o->over && lstat(o->name, &found) == 0 && S_ISREG(found.st_mode))
		chmod(o->part, found.st_mode & 07777);
}

bool output_end(struct output *o, const char *wrong)
{
	keep_mode(o);
	if (!wrong && renameat2(AT_FDCWD, o->part, AT_FDCWD, o->name, o->over ? 0 : RENAME_NOREPLACE) != 0)
		wrong = strerror(errno);
	if (wrong) {
		shown_complain("%s: cannot be written: %s", o->name, wrong);
		temporary_remove(o->part);
	}
	free(o->part);
	return !wrong;
}

void output_drop(struct output *o)
{
	free(o->part);
}
