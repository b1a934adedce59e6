/* SPDX-License-Identifier: MIT
 *
 * repack.h - a trace, as `dprof-analyze pack` makes it, becomes one as the recorder leaves it: its words are in chunks,
 * which are packed (runtime/packed.h); but for the last one of each thread, if that is wanted. */
#ifndef TESTSUITE_REPACK_H
#define TESTSUITE_REPACK_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/memory.h"
#include "analysis/trace/trace_private.h"
#include "runtime/pack.h"
#include "runtime/sum.h"
#include "testsuite/unit/thread_words.h"

struct repacking { uint64_t *chunk; size_t words; bool all; }; /* of a chunk; `all`: the last one, too */

static inline void repack_die(const char *what)
{
	fprintf(stderr, "repack: %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

/* The next words, behind the chunk's number; how many in all. */
static inline size_t repack_fill(const struct repacking *r, struct ch_words *w, size_t *at, uint64_t number)
{
	size_t n = 1;
	r->chunk[0] = dprof_escape_word(DPROF_ESCAPE_CHUNK, 0, number);
	while (n < r->words && *at < w->n)
		r->chunk[n++] = ch_word(w, (*at)++);
	return n;
}

/* The thread is in chunk `number`, of n words. */
static inline void repack_last(const struct repacking *r, const struct ch_words *w, uint64_t number, size_t n)
{
	struct dprof_events_header h;
	int fd = open(w->events, O_RDWR);
	if (fd < 0 || read(fd, &h, sizeof h) != (ssize_t)sizeof h)
		repack_die(w->events);
	h.first_chunk = h.largest_chunk = r->words * sizeof *r->chunk;
	h.end.chunks = number + 1;
	h.end.words = n;
	h.end.sum = dprof_sum_words(DPROF_SUM_BEGIN, r->chunk, n);
	h.end.header_sum = h.ended ? dprof_header_sum(&h) : 0;
	ssize_t bytes = r->all ? 0 : (ssize_t)(n * sizeof *r->chunk);
	if (pwrite(fd, &h, sizeof h, 0) != (ssize_t)sizeof h || ftruncate(fd, DPROF_HEADER_SIZE) ||
	    pwrite(fd, r->chunk, (size_t)bytes, DPROF_HEADER_SIZE) != bytes || close(fd))
		repack_die(w->events);
}

static inline void repack_thread(const struct repacking *r, struct ch_words *w)
{
	uint64_t number = 0;
	size_t at = 0, n = 0;
	for (long end = 0; at < w->n; number++) {
		n = repack_fill(r, w, &at, number);
		if (at < w->n || r->all)
			end = dprof_pack(w->packed, (uint64_t)end, w->owner, number, r->chunk, n);
		if (end < 0)
			repack_die(w->packed);
	}
	if (number)
		repack_last(r, w, number - 1, n);
}

/* All threads of the trace; chunks are of so many words. */
static inline void repack(const char *directory, size_t words, bool all)
{
	struct repacking r = { mem_resize(NULL, words, sizeof(uint64_t)), words, all };
	int here = open(".", O_RDONLY | O_DIRECTORY);
	DIR *d = chdir(directory) ? NULL : opendir(".");
	struct ch_unpacker *u = ch_unpacker_open(AT_FDCWD);
	for (struct dirent *e; d && (e = readdir(d));) {
		struct trace said = { .ndiagnostics = 0 };
		if (!name_ends(e->d_name, ".events"))
			continue;
		struct ch_words w = thread_words(&said, u, AT_FDCWD, e->d_name);
		if (said.ndiagnostics)
			repack_die(said.diagnostics[0]);
		repack_thread(&r, &w);
		ch_close(&w);
	}
	if (!d || closedir(d) || fchdir(here) || close(here))
		repack_die(directory);
	ch_unpacker_close(u);
	dprof_pack_close();
	free(r.chunk);
}

#endif
