/* SPDX-License-Identifier: MIT
 *
 * thread.h - one recording thread and the chunks of its trace file.
 *
 *   file:   | header |   chunk 0   |      chunk 1      |      chunk 2      |
 *                     unmapped or     the one before      cursor in here       being made ahead
 *                     kept            (still mapped)
 *
 * Chunks double from DPROF_FIRST_CHUNK up to DPROF_BUFFER, so that a thread that records little
 * costs little. A thread makes its first two chunks itself; from then on it has the helper make
 * the next one while it fills its current one. If the helper is late the thread makes it itself;
 * a record is lost only where the system refuses a chunk (no space, no descriptor, no memory) or
 * where a signal handler interrupts the change of chunks.
 *
 * A chunk is reserved on disk before it is mapped, so that writing to it cannot fail; and written
 * to by its maker page by page, so that writing to it does not fault.
 *
 * Every chunk begins with an epoch, and once in EPOCH_TICKS the helper takes the fast path away from
 * each thread, whose next event then comes with another one: so no word is ambiguous (words.h).
 *
 * Law: a chunk is unmapped only after every record claimed in it was written, and only by whoever
 * makes the chunk three further on. Each chunk has lower addresses than the one before (slow.c). */
#ifndef RUNTIME_THREAD_H
#define RUNTIME_THREAD_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/record.h"
#include "runtime/words.h"

#define DPROF_FIRST_CHUNK ((size_t)64 << 10)
#define DPROF_CHUNKS      3 /* before, current, next */

/* `next` of a thread without a chunk: above whatever `end` may become. */
#define DPROF_NOWHERE ((uint64_t *)-4096)

/* Who may touch the next chunk. Only the thread leaves WANTED by force, and only it leaves
 * READY. */
enum dprof_supply {
	SUPPLY_FREE,    /* no thread uses this structure */
	SUPPLY_NONE,    /* not wanted yet */
	SUPPLY_WANTED,  /* by the thread, of whoever comes first */
	SUPPLY_MAKING,  /* the helper is at it */
	SUPPLY_READY,
	SUPPLY_REFUSED, /* by the system */
};

struct dprof_chunk {
	uint64_t *start; /* NULL: not mapped */
	size_t bytes;
};

/* Alone on its pages: helper and thread share nothing else. Kept for a later thread when one
 * ends. */
struct dprof_thread {
	struct dprof_thread *following;   /* in the list of all; never changes */
	int supply;                       /* enum dprof_supply, a futex */
	unsigned current;                 /* number of the chunk with the cursor */
	struct dprof_chunk chunk[DPROF_CHUNKS]; /* by number modulo DPROF_CHUNKS */
	uint64_t *chunk_end;
	struct dprof_cursor *cursor;      /* of the thread; NULL when it is gone */
	uint64_t file_bytes;
	uint64_t current_offset;          /* of the chunk with the cursor, in the file */
	struct dprof_events_header *header;
	uint64_t lost_unwritten;          /* not yet told in a LOST record */
	unsigned refused;                 /* how often there was no room since there last was */
	unsigned destructor_rounds;
	uint64_t *before;                 /* the last word of the chunk before, or NULL */
	char path[PATH_MAX];
};

extern __thread struct dprof_thread *dprof_self __attribute__((tls_model("initial-exec")));

/* Reserves, maps (below an address, unless that is NULL) and faults in a piece of a file: its
 * address, or -errno. */
long dprof_file_map(const char *path, int open_flags, uint64_t from, uint64_t bytes,
		    const void *below);

/* Makes one more chunk for t. 0 or -errno. Does not touch the cursor. */
int dprof_chunk_make(struct dprof_thread *t);

/* Moves the cursor of the calling thread into the chunk that was made. */
void dprof_chunk_enter(struct dprof_thread *t);

/* The thread's next event takes the slow path. For the helper: that of every thread. */
void dprof_threads_slow_down(void);

/* For the helper: makes every chunk that is wanted; true if one was. Is any thread recording? */
bool dprof_chunks_make_wanted(void);
bool dprof_any_thread(void);

/* The first event of a thread: sets dprof_self, with a first chunk made, unless it can have no
 * file. */
void dprof_thread_begin(void *unused);

/* Numbers of threads that are to be made: adapter.h. */
uint32_t dprof_thread_reserve(void);
void dprof_thread_return(uint32_t number);
void dprof_thread_be(uint32_t number);

/* The process ends: every thread that still runs ends with it. */
void dprof_threads_end(uint64_t stamp);

/* Before anything else: 0 or an error number. */
int dprof_threads_prepare(void);

/* In the child of a fork, which has no threads but its own and no file yet. */
void dprof_threads_forget(void);

/* Records of threads that could not have a file or had ended. */
extern uint64_t dprof_lost_homeless;

/* helper.c: there is work. From the slow path; starts the helper where that is safe. */
void dprof_helper_wake(void);
void dprof_helper_wanted(void);  /* the same, often: by each event that is recorded wide */
void dprof_helper_forget(void); /* in the child of a fork */

/* entry.S */
extern unsigned dprof_vector_bytes;
void dprof_keeping_vectors(void (*function)(void *), void *argument);

/* slow.c, called from entry.S: 1: try again, 0: there is nothing left to do. */
int dprof_make_room(uint64_t *slot, uint64_t what, uint64_t stamp);

/* One word of the calling thread's own while the fast path is closed, or NULL. */
uint64_t *dprof_slow_claim(void);

/* No event is recorded while set; entry.S looks at it first. */
extern uint8_t dprof_off;

/* Who vouches for the law of words.h: the helper, while it runs; and nobody, once modules turn out
 * to share addresses or the counter is none to be used. Unless both are set every event takes the
 * slow path and is stored wide. */
extern bool dprof_supervised, dprof_unambiguous;

static inline bool dprof_fast(void)
{
	return __atomic_load_n(&dprof_supervised, __ATOMIC_RELAXED) &&
	       __atomic_load_n(&dprof_unambiguous, __ATOMIC_RELAXED);
}

#endif
