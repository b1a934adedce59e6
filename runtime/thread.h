/* SPDX-License-Identifier: MIT
 *
 * thread.h - one recording thread and the chunks of its trace file.
 *
 *   file:   | header | small ones, | the one before, | cursor in here | clean |
 *                      left behind   being packed
 *
 * Chunks double from DPROF_FIRST_CHUNK up to DPROF_BUFFER, so that a thread that records little costs little; up to
 * less where the thread begins among many, so that many do not cost much more than some. The process's first thread has
 * a file at once; all others begin in a slot of a file that they share, mostly mapped by the helper ahead (nursery.h),
 * and have a file of their own when that is full.
 *
 * A thread makes its file, and the second chunk there, itself; from then on it has the helper make the next one while
 * it fills its current one. A chunk that is full is packed by the helper, wiped, and clean again: so three of the
 * largest take turns, with all their pages faulted in, and a thread that goes on takes a clean one without asking. If
 * the helper is late the thread makes a chunk itself, at the end of the file; a record is lost only where the system
 * refuses a chunk (no space, no descriptor, no memory) or where a signal handler interrupts the change of chunks.
 *
 * When the process ends, all threads go on in another chunk, if their current ones have much (left.c); the helper packs
 * what is full, for some time at most; then clean chunks are given back, and most of that thread's own.
 *
 * A chunk is reserved on disk before it is mapped, so that writing to it cannot fail; and written to by its maker page
 * by page, so that writing to it does not fault.
 *
 * Every chunk begins with its number and an epoch, and once in EPOCH_TICKS the helper takes the fast path
 * away from each thread, whose next event then comes with another epoch. An event that an adapter stamped long before it
 * records it, since it waited, has an epoch before it and another one behind it.
 *
 * Law of stamps: `epoch` is never more than 2 * EPOCH_TICKS, and what the helper is late, away from the stamp to which
 * a reader relates the thread's next word; and while the fast path is open, neither is the counter. A claim that a
 * signal handler has interrupted is compared with `end`, and its counter read, when that is done: so the handler does
 * not open the path while such a claim may be from a time before. Then no word is ambiguous (words.h), unless its
 * thread is kept for minutes, its process not, between the comparison and the counter, two instructions.
 *
 * Law: a chunk is packed, wiped or unmapped only when every word of it that was ever claimed is written. Claims that
 * failed for want of room count, too: each has a word of its own in the slack behind `end`. So whoever is interrupted
 * between claiming a word and writing it, for however long and however many chunks, may then find any `end`, and either
 * write its word or leave it to slow.c, which fills it. */
#ifndef RUNTIME_THREAD_H
#define RUNTIME_THREAD_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/record.h"
#include "runtime/settings.h"
#include "runtime/words.h"

#define DPROF_FIRST_CHUNK ((size_t)16 << 10)
#define DPROF_MUCH_WORDS  8192 /* that are worth packing when a process ends */
#define DPROF_CHUNKS      8  /* that are remembered: three in turn, and as many again for a late helper */

/* `next` of a thread without a chunk: above whatever `end` may become. */
#define DPROF_NOWHERE ((uint64_t *)-4096)

/* Who may make a chunk. Only the thread leaves WANTED by force, and only it leaves READY. */
enum dprof_supply {
	SUPPLY_FREE,    /* no thread uses this structure */
	SUPPLY_NONE,    /* not wanted yet */
	SUPPLY_WANTED,  /* by the thread, of whoever comes first */
	SUPPLY_MAKING,  /* the helper is at it */
	SUPPLY_READY,
	SUPPLY_REFUSED, /* by the system */
	SUPPLY_ENDED,   /* the thread ended: what it recorded is the helper's */
};

/* When the process ends: is the current chunk taken away from its thread (left.c)? */
enum dprof_hold {
	HOLD_NONE,
	HOLD_ASKED, /* the thread waits in its slow path */
	HOLD_LEFT,  /* it is not the thread's any more; stays so until the thread enters another one */
};

/* Whose a chunk is: of the thread, which takes CLEAN ones; or of whoever took it from FULL. */
enum dprof_chunk_state {
	CHUNK_NONE,
	CHUNK_CLEAN,
	CHUNK_CURRENT,
	CHUNK_FULL,
	CHUNK_TAKEN,   /* its thread forgets it, or it is being sealed */
	CHUNK_PACKING, /* the helper reads it: it may be taken from the helper, and is then KEPT */
	CHUNK_GOING,   /* it is being wiped or given back */
	CHUNK_KEPT,    /* sealed, since its process ended while the helper was PACKING; stays as it is */
};

struct dprof_chunk {
	int state;                /* enum dprof_chunk_state */
	uint64_t *start;
	size_t bytes;
	uint64_t offset;          /* in the file */
	uint64_t number;
	uint64_t *claimed;        /* FULL: words from here on were never claimed */
	bool shrunk;              /* its end is not where its place ends */
	bool in_slot;             /* of the nursery, and so is its offset */
	uint64_t *hole;           /* FULL: a claimed word that was still unwritten when last seen */
};

/* Alone on its pages: helper and thread share nothing else. Kept for a later thread when one
 * ends. */
struct dprof_thread {
	struct dprof_thread *following;   /* in the list of all; never changes */
	struct dprof_thread *below;       /* SUPPLY_FREE: in the stack of those */
	int supply;                       /* enum dprof_supply, a futex */
	struct dprof_chunk *current;      /* with the cursor; NULL before the first */
	struct dprof_chunk chunk[DPROF_CHUNKS];
	uint64_t *chunk_end;              /* of the current one, without its slack */
	struct dprof_cursor *cursor;      /* of the thread; NULL when it is gone, */
	const struct dprof_open_call *open; /* and then neither is this */
	int hold;                         /* enum dprof_hold */
	int serving;                      /* the thread is in slow.c, and changes what is here */
	int rewriting;                    /* it changes words that it has recorded (polling.c) */
	uint64_t *left_at;                /* HOLD_LEFT: where its next word would have stood */
	uint64_t file_bytes;              /* 0: it began in a slot, and has no file of its own */
	size_t made_bytes;                /* of the chunk made last */
	size_t largest;                   /* bytes of a chunk, of those to be made */
	uint64_t kept_bytes;              /* of its own file: chunks that were forgotten as they were */
	uint64_t numbers;                 /* of chunks: the next one's */
	struct dprof_events_header *header;
	uint64_t lost_unwritten;          /* not yet told in a LOST record */
	enum dprof_why why;               /* there was no room the last time */
	unsigned refused;                 /* how often there was no room since there last was */
	unsigned destructor_rounds;
	const struct dprof_site *last;    /* a point of it is recorded behind all else, or NULL */
	uint64_t *before;                 /* where the last word of the chunk before stood, or NULL */
	uint64_t *dropped;                /* the last word when an event was left out, ... */
	uint64_t dropped_in;              /* ... and the number of the chunk */
	uint64_t epoch;                   /* a stamp near that of its last word, or of the event before that */
	uint64_t checked;                 /* a stamp: then no claim was under way */
	uint64_t *written;                /* of the current chunk: all words before it were, at last sight */
	bool has_hole;                    /* the helper's: so has a full chunk */
	uint64_t packed_bytes;            /* the helper's: of the file of packed chunks */
	uint32_t owner;                   /* of these (packed.h); since its header is there */
	bool ends;                        /* it asks the kernel for its last counts itself, and nobody does after it */
	uint64_t begun, looked;           /* stamps: of its begin; of when it is known what the kernel had counted */
	char path[PATH_MAX];
};

extern __thread struct dprof_thread *dprof_self __attribute__((tls_model("initial-exec")));

/* Reserves, maps and faults in a piece of a file: its address, or -errno. */
long dprof_file_map(const char *path, int open_flags, uint64_t from, uint64_t bytes);

/* Writes all of it: the offset behind it, or -errno. */
long dprof_file_write(int fd, const void *bytes, size_t n, uint64_t offset);

/* A piece of a file is a hole from now on. */
void dprof_file_punch(const char *path, uint64_t from, uint64_t bytes);

/* How large the first chunk in a thread's file is; it stands behind the header, and both are mapped at once. */
static inline size_t dprof_first_chunk(void)
{
	return dprof_settings.chunk_bytes < DPROF_FIRST_CHUNK ? dprof_settings.chunk_bytes
							      : DPROF_FIRST_CHUNK;
}
/* What a negative error number is as a reason to lose records; its word in the process file, and in full. */
enum dprof_why dprof_why_refused(long error);
const char *dprof_why_word(enum dprof_why);
const char *dprof_why_text(enum dprof_why);

/* Makes one more chunk for t, and forgets the oldest full one where there is no place to remember
 * another. 0 or -errno. Does not touch the cursor. For whoever `supply` lets. */
int dprof_chunk_make(struct dprof_thread *t);

/* Is there a clean chunk? And: it is the calling thread's current one from now on; NULL without one. */
bool dprof_chunk_is_clean(struct dprof_thread *t);
struct dprof_chunk *dprof_chunk_take_clean(struct dprof_thread *t);

/* Moves the cursor of the calling thread into a chunk that was clean. */
void dprof_chunk_enter(struct dprof_thread *t, struct dprof_chunk *);

/* Of the calling thread's current chunk, no more is reserved than what it may still want while its process ends. It
 * is sealed when the thread has left it all the same, and settled its claim. */
void dprof_chunk_shrink(struct dprof_thread *t);
void dprof_chunk_left(struct dprof_chunk *);

/* Where the word before `slot` stands in the order of recording, epochs not counted; or NULL. */
uint64_t *dprof_chunk_before(const struct dprof_thread *t, uint64_t *slot);

/* A claim of the calling thread came to nothing: if its word is in a chunk that is waiting for that, it is
 * filled. */
void dprof_chunk_settle(struct dprof_thread *t, uint64_t *word);

/* Says behind its words how many there are, and their sum (format.h). Of a chunk that nobody else seals. */
void dprof_chunk_seal(const struct dprof_chunk *);

/* Gives its memory back. It has none from before that on: a child that is forked meanwhile gives back what it finds to
 * be its parent's, and by then something of the program's may stand there. */
void dprof_chunk_unmap(struct dprof_chunk *);

/* For a thread that ended: takes its full chunks, unless the helper has one; then false, and they are as
 * before. And where its file ends, behind every chunk that is not packed. */
bool dprof_chunks_take(struct dprof_thread *t);
uint64_t dprof_chunks_end(const struct dprof_thread *t);

/* The file in which it is. */
const char *dprof_chunk_path(const struct dprof_thread *, const struct dprof_chunk *);

/* Seals the full chunks (format.h) of a thread that ended, or of one that runs on when its process ends. What the
 * helper is packing is taken from it: how long that still takes, nobody knows. While no thread is taken down. */
void dprof_chunks_seal(struct dprof_thread *t, bool ended);

/* end.c: says in the header what was recorded. Of the calling thread, when it has closed its cursor; of any
 * thread when the process ends, at `stamp`. */
void dprof_end_thread(struct dprof_thread *t);
void dprof_end_with_process(struct dprof_thread *t, uint64_t stamp);

/* recycle.c: chunks that are clean are no more, unless the thread has not recorded yet; while no thread is taken
 * down. */
void dprof_chunks_give_back(struct dprof_thread *t);

/* recycle.c, for the helper: packs a full chunk of each thread that has one, and deals with what a thread
 * left that ended; true if there was something to do. */
bool dprof_chunks_pack(void);

/* The process ends: no chunk is made ahead any more, nor kept clean. */
extern bool dprof_ending;

/* Then: this thread changes nothing any more of what it has recorded. */
void dprof_polling_ends(struct dprof_thread *);


/* The thread's current chunk is not its own any more. */
static inline bool dprof_chunk_is_left(const struct dprof_thread *t)
{
	return __atomic_load_n(&t->hold, __ATOMIC_ACQUIRE) == HOLD_LEFT;
}

/* left.c: so do all others, with their next events; while no thread is taken down. */
void dprof_chunks_leave(void);

/* slow.c: the calling thread goes on in another chunk, if its current one has much that can be packed. */
void dprof_chunk_finish(void);

/* For the helper: every thread's next event takes the slow path; false while a thread is taken down. */
bool dprof_threads_slow_down(void);

/* For the helper: asks the kernel of each thread of which it was not asked for long (sched.h); true if one has
 * just begun and is to be asked soon. */
bool dprof_threads_look(uint64_t now);

/* For the helper: the first of all threads that ever were (and following). */
struct dprof_thread *dprof_threads(void);

/* For the helper: makes every chunk that is wanted; true if one was. */
bool dprof_chunks_make_wanted(void);

/* Counted are the process's first thread, until it ends, and all that record. Is there any; and is there none but
 * the calling one? */
bool dprof_any_thread(void);
bool dprof_only_thread(void);

/* slow.c: the process ends, and no other thread begins any more. Waits for those that are about to; not for long. */
extern int dprof_beginning; /* how many are */
void dprof_wait_for_begins(void);

/* The first event of a thread: sets dprof_self, with a first chunk made, unless it can have no
 * file. */
void dprof_thread_begin(void *unused);

/* For the helper: maps slots ahead (nursery.h); true if it did. */
bool dprof_threads_prepare_slots(void);

/* The processor time until now of all threads that are recorded, with those that ended, of which there were so many.
 * False while one is taken down, but for who waits for that. */
bool dprof_threads_cpu(bool waits, uint64_t *ns, uint64_t *ended);

/* Is one of them the thread with this id? */
bool dprof_threads_have(uint64_t tid);

/* Numbers of threads that are to be made: adapter.h. */
uint32_t dprof_thread_reserve(void);
void dprof_thread_return(uint32_t number);
void dprof_thread_be(uint32_t number, uint64_t before);

/* The calling thread was made between these stamps, by a fork; behind dprof_threads_forget(). */
void dprof_thread_was_forked(uint64_t from, uint64_t to);

/* The calling thread, which records nothing yet, jumps: if it was forked, out of what its parent's thread was in,
 * perhaps. */
void dprof_thread_jumps(void);

/* The process ends: every thread that still runs ends with it. How many events there are, if that is going
 * to be asked (count.h): no more than were recorded, and `all` of them if that is certain. */
struct dprof_count { uint64_t events; bool all; uint64_t lost, why_lost; }; /* and bits 1 << enum dprof_why */
struct dprof_count dprof_threads_end(uint64_t stamp);

/* Before anything else: 0 or an error number. */
int dprof_threads_prepare(void);

/* In the child of a fork, which has no threads but its own and no file yet. */
void dprof_threads_forget(void);

/* The thread has had a stack for handlers of which the kernel does not tell while one runs there (altstack.c). */
extern __thread bool dprof_stack_disarms __attribute__((tls_model("initial-exec")));

/* Jumps of threads (longjmp) are reported. */
extern bool dprof_jumps_told;

/* Records of threads that could not have a file or had ended; and bits 1 << enum dprof_why. */
extern uint64_t dprof_lost_homeless, dprof_why_homeless;

/* Writes "FIRST-LAST,..." of the numbers of threads that have a file, from *from on, as far as there is room,
 * and moves *from behind them. False when there are none. */
bool dprof_threads_list(char *to, size_t size, uint32_t *from);

/* For the helper: all that an ended thread recorded is dealt with. */
void dprof_thread_gone(struct dprof_thread *t);

/* All signals that can wait, as the kernel has them. Those that an instruction causes cannot: a program that is traced
 * step by step, or whose system calls a filter traps, would be killed where they are blocked. Nor can the one by which
 * the C library has each thread change its user or group: setuid() in another thread waits for ours, for which ours may
 * wait. The program may have blocked these itself and wait for them (sigwait): so all of ours are blocked besides
 * (SIG_BLOCK), and none is let through. */
#define DPROF_SIGNAL(number) (UINT64_C(1) << ((number) - 1))
#define DPROF_SIGNAL_CANCEL  DPROF_SIGNAL(32) /* the C library's, as is the next one */
#define DPROF_SIGNAL_SETXID  DPROF_SIGNAL(33)
#define DPROF_SIGNALS_THAT_WAIT                                                                                \
	(~(DPROF_SIGNAL(SIGTRAP) | DPROF_SIGNAL(SIGSEGV) | DPROF_SIGNAL(SIGBUS) | DPROF_SIGNAL(SIGFPE) |       \
	   DPROF_SIGNAL(SIGILL) | DPROF_SIGNAL(SIGSYS) | DPROF_SIGNAL_SETXID))

/* But for the other one that the C library has for itself, which it unblocks when it likes. */
#define DPROF_SIGNALS_OF_PROGRAM (DPROF_SIGNALS_THAT_WAIT & ~DPROF_SIGNAL_CANCEL)

/* slow.c: those that the program has blocked in the calling thread; all, if that cannot be known. */
uint64_t dprof_blocked_signals(void);

/* The calling thread has descriptors of its own (adapter.h). */
void dprof_be_apart(void);
bool dprof_is_apart(void);

/* helper.c: is there a helper? As long as a thread is counted (dprof_any_thread) it stays, but for
 * dprof_helper_dismiss: then it is gone when that returns, having packed what there was. */
void dprof_helper_look(void); /* before anything is recorded: at what program this is */
bool dprof_helper_there(void);
bool dprof_helper_possible(void); /* there is one, or may be */
void dprof_helper_dismiss(void);
const char *dprof_helper_absent(void); /* why there never was one, for a reader; or NULL */

/* helper.c: calls what(with) where files that are opened are nobody else's, which is in the helper, and gives what that
 * gives: a file that a thread of the program opens has a number that another one may close, or give to a file of its
 * own, which we would then write to. Where there is no helper, or it does not come, the caller does it himself. */
long dprof_do_apart(long (*what)(void *), void *with);
bool dprof_helper_answer(void); /* for the helper, as often as it can; true if somebody had asked */

/* helper.c: waits until it has packed what there was before, but not for long. */
void dprof_helper_finish(void);

/* helper.c: there is work. From the slow path; starts the helper where that is safe. */
void dprof_helper_wake(void);
void dprof_helper_wanted(bool in_handler); /* the same, often: by each event that is recorded wide; perhaps in one */
void dprof_helper_forget(void); /* in the child of a fork */

/* entry.S */
extern unsigned dprof_vector_bytes;
void dprof_keeping_vectors(void (*function)(void *), void *argument);
void dprof_keeping_vectors_on(void *top, void (*function)(void *), void *argument);

/* slow.c: the same, with NULL. Events of the calling thread meanwhile are of functions that the program has in the
 * place of the C library's: they are lost, and that is said of them. */
void dprof_call(void (*function)(void *));

/* slow.c, called from entry.S: 1: try again, 0: there is nothing left to do. */
int dprof_make_room(uint64_t *slot, uint64_t what, uint64_t stamp);

/* An event and the words behind it. Stamp 0: when it is recorded. */
struct dprof_event {
	uint64_t what, stamp;
	const uint64_t *place; /* nothing is to stand between this and the event; NULL: whatever stands there */
	const uint64_t *argument;
	unsigned arguments;
	bool of_adapter;
};

/* Records an adapter's event, of which nothing was claimed. False: something stands behind its place already, and it is
 * not recorded. And words behind the last event, if nothing was recorded since that place. */
bool dprof_record(const struct dprof_event *);
void dprof_add_slowly(const uint64_t *place, const uint64_t *word, unsigned n);

/* No event is recorded while set; entry.S looks at it first. */
extern uint8_t dprof_off;

/* Who ensures the law of words.h: the helper, while it runs; and none, once modules turn out
 * to share addresses or the counter is none to be used. Unless both are set every event takes the
 * slow path and is stored wide. */
extern bool dprof_supervised, dprof_unambiguous;

/* An object is loaded with sites of kinds that are left out and that inserted code records without looking: then each
 * event takes the slow path, too, which looks at its kind. */
extern bool dprof_choosy;

/* All events are left out from now on, for good: the process's files are complete (DPROF_GATHER). */
extern bool dprof_stopped;
#define DPROF_UNASKED_KINDS (DPROF_KIND_BIT(DPROF_KIND_REGION) | DPROF_KIND_BIT(DPROF_KIND_PROGRESS))

static inline bool dprof_is_left_out(const struct dprof_site *site)
{
	return dprof_settings.left_out >> dprof_site_kind(site) & 1;
}

/* An event of the calling thread was left out and nothing was recorded since, or one was perhaps lost. */
bool dprof_dropped(void);

/* Words are unambiguous. */
static inline bool dprof_fast(void)
{
	return __atomic_load_n(&dprof_supervised, __ATOMIC_RELAXED) &&
	       __atomic_load_n(&dprof_unambiguous, __ATOMIC_RELAXED);
}

/* The inserted code may write them. */
static inline bool dprof_open(void)
{
	return dprof_fast() && !dprof_choosy && !dprof_stopped;
}

#endif
