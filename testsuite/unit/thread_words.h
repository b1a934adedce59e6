/* SPDX-License-Identifier: MIT
 *
 * thread_words.h - the words of a thread, which a trace that is open has no more: for tests and benchmarks. */
#ifndef TESTSUITE_THREAD_WORDS_H
#define TESTSUITE_THREAD_WORDS_H

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "analysis/trace/chunks.h"
#include "runtime/sum.h"

/* Of the file of events `name` in a directory; `said` takes the diagnostics. To be closed with ch_close(). */
static inline struct ch_words thread_words(struct trace *said, struct ch_unpacker *u, int directory, const char *name)
{
	struct dprof_events_header h = { .version = 0 };
	int fd = openat(directory, name, O_RDONLY);
	if (fd >= 0 && read(fd, &h, sizeof h) != (ssize_t)sizeof h)
		h.version = 0;
	bool summed = h.version >= DPROF_FORMAT_VERSION && h.ended;
	return ch_open(said, u, name, fd, &h, summed,
		       summed && dprof_header_sum(&h) == h.end.header_sum ? &h.end : NULL);
}

#endif
