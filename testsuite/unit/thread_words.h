/* SPDX-License-Identifier: MIT
 *
 * thread_words.h - the words of a thread, which a trace that is open has no more: for tests and benchmarks. */
#ifndef TESTSUITE_THREAD_WORDS_H
#define TESTSUITE_THREAD_WORDS_H

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/trace/chunks.h"
#include "runtime/sum.h"

/* The header at an offset of a file, which is opened; of version 0 if there is none. */
static inline struct dprof_events_header thread_header(int directory, const char *name, uint64_t at, int *fd)
{
	struct dprof_events_header h = { .version = 0 };
	*fd = openat(directory, name, O_RDONLY);
	if (*fd >= 0 && pread(*fd, &h, sizeof h, (off_t)at) != (ssize_t)sizeof h)
		h.version = 0;
	return h;
}

/* Of the file of events `name` in a directory, and of the slot before it; `said` takes the diagnostics. To be closed
 * with ch_close(). */
static inline struct ch_words thread_words(struct trace *said, struct ch_unpacker *u, int directory, const char *name)
{
	struct ch_files files = { .events = name };
	struct dprof_events_header h = thread_header(directory, name, 0, &files.fd);
	char nursery[NAME_MAX + 1];
	if (!memcmp(h.magic, DPROF_MORE_MAGIC, sizeof h.magic)) {
		close(files.fd);
		snprintf(nursery, sizeof nursery, "%.*s.nursery", (int)(strrchr(name, '-') - name), name);
		files = (struct ch_files){ name, nursery, (uint64_t)h.thread * DPROF_SLOT, -1 };
		h = thread_header(directory, nursery, files.slot, &files.fd);
	}
	bool summed = h.version >= DPROF_FORMAT_SUMMED && h.ended;
	return ch_open(said, u, files, &h, summed,
		       summed && dprof_header_sum(&h) == h.end.header_sum ? &h.end : NULL);
}

#endif
