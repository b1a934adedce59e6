/* SPDX-License-Identifier: MIT
 *
 * chunks_private.h - what chunks.c (which chunks there are) and chunks_words.c (their words) share. */
#ifndef ANALYSIS_TRACE_CHUNKS_PRIVATE_H
#define ANALYSIS_TRACE_CHUNKS_PRIVATE_H

#include "analysis/trace/chunks.h"
#include "runtime/packed.h"

struct part { uint64_t offset; struct dprof_part header; };

/* The parts of chunks that are whole; and the first thing in the file that is none. */
struct parts {
	struct part *part; size_t n;
	uint64_t end;          /* of the last whole part in the file */
	uint64_t damage;       /* offset, if there is damage; UINT64_MAX */
	uint64_t found;        /* there */
};

/* From an offset on, where a part begins. The file may be missing. */
struct parts parts_list(struct ch_unpacker *, const char *name, uint64_t from);

int unpacker_open_file(struct ch_unpacker *, const char *name); /* a descriptor, or -1 */

/* All n bytes from an offset on; false if they are not there. */
bool read_at(int fd, void *to, size_t n, uint64_t offset);

#endif
