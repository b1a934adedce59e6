/* SPDX-License-Identifier: MIT
 *
 * chunks.h - the words of one thread, in order, wherever they stand: in its slot of the nursery, in chunks of its
 * .events file, or packed in its .packed file (runtime/format.h, runtime/packed.h).
 *
 * Law: word i is the same whenever it is asked for, though the program may still run, pack the chunk in
 * which it stands, and use that chunk's place again. If somebody else changes the files meanwhile, that is said
 * wherever a sum can tell. Memory is one part's, and three files are open, for each thread that is. */
#ifndef ANALYSIS_TRACE_CHUNKS_H
#define ANALYSIS_TRACE_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/format.h"

struct trace;
struct ch_unpacker;            /* one for all threads of a trace */

/* Words that stand together in one of the files. */
struct ch_piece {
	size_t at, n;          /* words at .. at + n - 1 of the thread */
	uint64_t chunk;        /* its number */
	uint64_t offset;       /* in .events: of the first word; in .packed: of the part's header */
	uint64_t place;        /* in .events: offset of the chunk */
	uint32_t bytes;        /* in .packed: behind the header; 0: it is not there */
	bool in_slot;          /* what is said of .events is so in the nursery */
	uint32_t words;        /* in .packed: of the part; it may have become longer than n since */
	bool damaged;          /* and counts as words that say that something is lost */
	bool missing;          /* likewise: one word stands for all that ought to be here */
	size_t summed; uint64_t sum; /* in .events: the sum of so many of its words is known */
	uint32_t check;        /* in .packed: of the part's header */
};

struct ch_words {
	struct ch_unpacker *unpacker;
	char *events, *packed; /* names of the files */
	char *nursery;         /* or NULL: it has no slot */
	int events_fd, packed_fd, nursery_fd; /* or -1 */
	uint64_t slot;         /* its offset */
	uint32_t owner;        /* of packed parts (packed.h) */
	bool numbered;         /* chunks have a number */
	bool summed;           /* and their words a sum */
	struct ch_piece *piece; size_t npieces;
	size_t n;              /* words */
	size_t vouched;        /* those before this one are in a sum, or none said of how many there is one */
	bool gaps;             /* chunks are missing or damaged */
	uint64_t *buffer;      /* words first .. first + nbuffered - 1, and room for some more */
	size_t first, nbuffered, room;
	uint64_t sum; size_t sum_at; /* of a piece's words until sum_at, which have been read in order */
	bool changed;          /* a sum was another one than when the file was opened */
};

struct ch_unpacker *ch_unpacker_open(int directory);
void ch_unpacker_close(struct ch_unpacker *);

/* A thread's file of events, which may be missing if it has a slot in a nursery (else NULL) at an offset. The one with
 * the thread's header is open, and is then of the words. */
struct ch_files { const char *events, *nursery; uint64_t slot; int fd; };

/* What these, and the file of packed chunks, hold. What is missing or damaged becomes a
 * diagnostic of the trace. `end`: what its thread or process said at the end, or NULL; `summed`: it
 * did, and its process was not killed before all was sealed: so each of its chunks has a sum, and one without it is
 * left out. */
struct ch_words ch_open(struct trace *, struct ch_unpacker *, struct ch_files,
			const struct dprof_events_header *, bool summed, const struct dprof_end *end);
void ch_close(struct ch_words *);

/* Behind a look at all words, in order: a diagnostic of the trace if some were damaged, or changed meanwhile. And how
 * many words say that something is lost, and were not recorded. */
void ch_tell_damage(struct trace *, struct ch_words *);
size_t ch_damaged_words(const struct ch_words *);

/* Words n and those behind it are left out. */
void ch_cut(struct ch_words *, size_t n);

/* Where word i stands, for diagnostics. */
const char *ch_file(const struct ch_words *, size_t i);
uint64_t ch_offset(const struct ch_words *, size_t i);

/* Words i and those behind it that are at hand, until the next call for this thread; i is less than n. */
struct ch_run { const uint64_t *word; size_t n; };
struct ch_run ch_run_elsewhere(struct ch_words *, size_t i);
static inline struct ch_run ch_run(struct ch_words *w, size_t i)
{
	size_t ahead = i - w->first;
	return ahead < w->nbuffered ? (struct ch_run){ w->buffer + ahead, w->nbuffered - ahead }
				    : ch_run_elsewhere(w, i);
}

static inline uint64_t ch_word(struct ch_words *w, size_t i)
{
	return *ch_run(w, i).word;
}

#endif
