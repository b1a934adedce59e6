/* SPDX-License-Identifier: MIT
 *
 * trace_files.c - the directory of a trace: which files are there, and opening them by name. What another process has read
 * of a file (trace_parts.h) stands in its place. */
#define _GNU_SOURCE /* memfd_create */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/memory.h"
#include "analysis/trace/trace_private.h"
#include "freezer/regular.h"

bool name_ends(const char *name, const char *suffix)
{
	size_t length = strlen(name), end = strlen(suffix);
	return length > end && strcmp(name + length - end, suffix) == 0;
}

static bool read_all(int fd, char *to, size_t size, size_t *got)
{
	for (*got = 0; *got < size;) {
		ssize_t n = read(fd, to + *got, size - *got);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0;
		*got += (size_t)n;
	}
	return true;
}

/* ---- What others have read ------------------------------------------------------------------- */

static int is_named(const void *name, const void *other)
{
	return strcmp(name, *(char *const *)other);
}

static const struct tr_given *given_of(const struct opened_trace *o, const char *name)
{
	char **is = o->given ? bsearch(name, o->names, o->nnames, sizeof *o->names, is_named) : NULL;
	const struct tr_given *g = is ? &o->given[is - o->names] : NULL;
	return g && g->known ? g : NULL;
}

/* A file of its own, that nobody else sees. */
static int open_bytes(const struct tr_given *g, const char **found)
{
	int fd = memfd_create("dprof", MFD_CLOEXEC);
	size_t put = 0;
	while (fd >= 0 && put < g->size) {
		ssize_t n = pwrite(fd, g->bytes + put, g->size - put, (off_t)put);
		if (n <= 0 && errno != EINTR)
			break;
		put += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0 && put == g->size)
		return fd;
	*found = strerror(errno);
	if (fd >= 0)
		close(fd);
	return -EIO;
}

int open_named(const struct opened_trace *o, const char *name, const char **found)
{
	const struct tr_given *g = given_of(o, name);
	if (g && !g->found)
		return open_bytes(g, found);
	if (!g && !o->elsewhere)
		return frz_open_regular(o->directory, name, found);
	*found = g ? g->found : "nothing of that name";
	return g ? g->error : -ENOENT;
}

void close_given(struct opened_trace *o)
{
	for (size_t i = 0; o->given && i < o->nnames; i++) {
		free(o->given[i].bytes);
		free(o->given[i].found);
	}
	free(o->given);
	o->given = NULL;
}

/* ---- Reading and listing --------------------------------------------------------------------- */

char *read_opened(int fd, size_t most, size_t *size, const char **found)
{
	struct stat status;
	char *bytes = NULL;
	if (fstat(fd, &status) == 0 && (uint64_t)status.st_size > most) {
		*found = FOUND_TOO_BIG;
	} else {
		bytes = mem_resize(NULL, (size_t)status.st_size, 1);
		if (!read_all(fd, bytes, (size_t)status.st_size, size)) {
			*found = strerror(errno);
			free(bytes);
			bytes = NULL;
		}
	}
	close(fd);
	return bytes;
}

char *read_whole(struct opened_trace *o, const char *name, size_t most, size_t *size,
		 const char **found)
{
	int fd = open_named(o, name, found);
	return fd < 0 ? NULL : read_opened(fd, most, size, found);
}

int by_file_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_ours(const char *name)
{
	return name_ends(name, ".process") || name_ends(name, ".events") ||
	       name_ends(name, ".packed") || name_ends(name, ".nursery") ||
	       name_ends(name, ".sites") || name_ends(name, ".sync");
}

/* Why there is none; `inner` looks like one (DPROF_DIR was given in place of what is in it). Frees it. */
static char *no_trace(const char *directory, size_t others, char *inner)
{
	char *why = inner ? mem_format("%s: expected a trace, found a directory of traces: name one, such "
				       "as %s/%s", directory, directory, inner)
			  : mem_format("%s: expected a trace (files *.process and *.events), found %s",
				       directory, others ? "only other files" : "an empty directory");
	free(inner);
	return why;
}

char *list_directory(struct opened_trace *o)
{
	o->directory = open(o->t.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int listed = o->directory < 0 ? -1 : dup(o->directory);
	DIR *d = listed < 0 ? NULL : fdopendir(listed);
	if (!d)
		return mem_format("%s: expected a trace directory, found %s", o->t.directory,
				  errno == ENOTDIR  ? "something that is not a directory"
				  : errno == ENOENT ? "nothing of that name"
						    : strerror(errno));
	size_t others = 0;
	char *inner = NULL;
	for (struct dirent *e; (e = readdir(d));) {
		if (e->d_name[0] == '.')
			continue;
		if (is_ours(e->d_name))
			*MEM_GROW(o->names, o->nnames) = mem_copy(e->d_name);
		else if (others++, !inner && strncmp(e->d_name, "dprof-", strlen("dprof-")) == 0)
			inner = mem_copy(e->d_name);
	}
	closedir(d);
	if (!o->nnames)
		return no_trace(o->t.directory, others, inner);
	free(inner);
	qsort(o->names, o->nnames, sizeof *o->names, by_file_name);
	return NULL;
}

