/* SPDX-License-Identifier: MIT
 *
 * chunks_private.h - what chunks.c (which chunks there are), chunks_words.c (their
 * words) and chunks_unpack.c (packed ones) share. */
#ifndef ANALYSIS_TRACE_CHUNKS_PRIVATE_H
#define ANALYSIS_TRACE_CHUNKS_PRIVATE_H

#include "analysis/trace/chunks.h"
#include "runtime/packed.h"

struct packed_part { uint64_t offset; struct dprof_part header; };

/* The parts of chunks that are whole; and the first thing in the file that is none. */
struct packed_parts {
	struct packed_part *part; size_t n;
	uint64_t end;          /* of the last whole part in the file */
	uint64_t damage;       /* offset, if there is damage; UINT64_MAX */
	uint64_t found;        /* there */
	const char *no_file;   /* what stands in place of the file, or NULL; it may be missing */
};

/* From an offset on, where a part begins. */
struct packed_parts parts_list(struct ch_words *, uint64_t from);

/* More than packed words ever take, in any form. */
#define UNPACKER_BYTES (20 * DPROF_PART_WORDS)

/* Whether that is the header of a part of the owner; of the forms before, of anybody. */
bool is_part(const struct dprof_part *, uint32_t owner);

/* The n words of the owner's part that begins at an offset of a file; false if it is damaged. `to` has room for
 * dprof_folded_words(n). */
bool unpacker_words(struct ch_unpacker *, int fd, uint64_t offset, uint32_t owner, size_t n, uint64_t *to);

/* As frz_open_regular() does. */
int unpacker_open_file(struct ch_unpacker *, const char *name, const char **found);

/* That of packed parts, which may come only while the program runs; likewise. */
int packed_file(struct ch_words *, const char **found);

/* The first offset from `offset` on, up to `end`, where the file is no hole. */
uint64_t next_data(int fd, uint64_t offset, uint64_t end);

/* The file of events, or the nursery; or -1. */
static inline int place_file(const struct ch_words *w, bool in_slot)
{
	return in_slot ? w->nursery_fd : w->events_fd;
}

static inline const char *place_name(const struct ch_words *w, bool in_slot)
{
	return in_slot ? w->nursery : w->events;
}

/* All n bytes from an offset on; false if they are not there. */
bool read_at(int fd, void *to, size_t n, uint64_t offset);

#endif
