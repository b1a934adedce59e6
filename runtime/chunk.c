/* SPDX-License-Identifier: MIT
 *
 * chunk.c - a piece of a trace file, reserved, mapped and faulted in; and the change from one to the next.
 *
 * Runs in the helper and, when that is late, in the recording thread: system calls only, general
 * registers only (see room.mk).
 *
 * No descriptor is kept: a program that closes all of them and opens its own, as daemons do, would
 * otherwise make us write into its files. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "runtime/count.h"
#include "runtime/nursery.h"
#include "runtime/sum.h"
#include "runtime/sys.h"
#include "runtime/thread.h"
#include "runtime/unpacked.h"

#define PAGE 4096

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

/* ---- Files that grow ---------------------------------------------------------------------------
 *
 * Past the limit of a file's size the kernel raises SIGXFSZ, which ends the program: we do not try. But the program
 * may lower the limit any time: so the signal is blocked meanwhile, and taken back if it came for us. */

#define XFSZ (UINT64_C(1) << (SIGXFSZ - 1))

struct held { uint64_t mask, pending; };

static struct held hold(void)
{
	struct held h = { 0, 0 };
	uint64_t xfsz = XFSZ;

	sys(SYS_rt_sigprocmask, SIG_BLOCK, &xfsz, &h.mask, sizeof(xfsz));
	sys(SYS_rt_sigpending, &h.pending, sizeof(h.pending));
	return h;
}

static void release(struct held h, long error)
{
	struct timespec now = { 0, 0 };
	uint64_t xfsz = XFSZ;

	if (error == -EFBIG && !(h.pending & XFSZ))
		sys(SYS_rt_sigtimedwait, &xfsz, NULL, &now, sizeof(xfsz));
	sys(SYS_rt_sigprocmask, SIG_SETMASK, &h.mask, NULL, sizeof(h.mask));
}

static bool within_limit(uint64_t bytes)
{
	struct rlimit limit;

	if (sys(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit) < 0)
		return false;
	return limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

static long write_all(int fd, const void *bytes, size_t n, uint64_t offset)
{
	const uint8_t *from = bytes, *end = from + n;

	while (from < end) {
		long done = sys(SYS_pwrite64, fd, from, end - from, offset);

		if (done == 0)
			done = -ENOSPC;
		if (done < 0 && done != -EINTR)
			return done;
		from += done < 0 ? 0 : done;
		offset += done < 0 ? 0 : (uint64_t)done;
	}
	return (long)offset;
}

long dprof_file_write(int fd, const void *bytes, size_t n, uint64_t offset)
{
	struct held h;
	long end;

	if (!within_limit(offset + n))
		return -EFBIG;
	h = hold();
	end = write_all(fd, bytes, n, offset);
	release(h, end);
	return end;
}

/* Where a file system cannot reserve, writing zeros shows whether there is room. */
static long reserve_by_writing(int fd, uint64_t from, uint64_t bytes)
{
	static const char zeros[PAGE];
	long done = 0;

	for (uint64_t at = from; at < from + bytes && done >= 0; at += PAGE)
		done = write_all(fd, zeros, PAGE, at);
	return done < 0 ? done : 0;
}

static long reserve(int fd, uint64_t from, uint64_t bytes)
{
	struct held h;
	long error;

	if (!within_limit(from + bytes))
		return -EFBIG;
	h = hold();
	do
		error = sys(SYS_fallocate, fd, 0, from, bytes);
	while (error == -EINTR);
	if (error == -EOPNOTSUPP || error == -ENOSYS)
		error = reserve_by_writing(fd, from, bytes);
	release(h, error);
	return error;
}

/* ---- Pieces of files --------------------------------------------------------------------------- */

static long map(int fd, uint64_t from, uint64_t bytes)
{
	long at = sys(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, from);

	/* MAP_POPULATE would fault shared pages in for reading only. Older kernels: fault later. */
	if (!sys_failed(at) && sys(SYS_madvise, at, bytes, MADV_POPULATE_WRITE) == -EFAULT) {
		sys(SYS_munmap, at, bytes);
		return -EFAULT;
	}
	return at;
}

struct chunk_piece { const char *path; int flags; uint64_t from, bytes; }; /* of a file */

static long map_piece(void *piece)
{
	const struct chunk_piece *p = piece;
	int fd = (int)sys(SYS_open, p->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | p->flags, 0666);
	long at;

	if (fd < 0)
		return fd;
	at = reserve(fd, p->from, p->bytes);
	if (at == 0)
		at = map(fd, p->from, p->bytes);
	sys(SYS_close, fd);
	if (sys_failed(at) && p->flags & O_EXCL)
		sys(SYS_unlink, p->path);
	return at;
}

long dprof_file_map(const char *path, int flags, uint64_t from, uint64_t bytes)
{
	return dprof_do_apart(map_piece, &(struct chunk_piece){ path, flags, from, bytes });
}

static long punch_piece(void *piece)
{
	const struct chunk_piece *p = piece;
	int fd = (int)sys(SYS_open, p->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);

	if (fd < 0)
		return fd;
	sys(SYS_fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, p->from, p->bytes);
	sys(SYS_close, fd);
	return 0;
}

/* Where a file system cannot do that, what is there stays. */
void dprof_file_punch(const char *path, uint64_t from, uint64_t bytes)
{
	dprof_do_apart(punch_piece, &(struct chunk_piece){ .path = path, .from = from, .bytes = bytes });
}

/* ---- The chunks of a thread ------------------------------------------------------------------- */

static bool all_written(const struct dprof_chunk *c)
{
	for (const uint64_t *word = c->start; word < c->claimed; word++)
		if (!*word)
			return false;
	return true;
}

/* The number of words comes last: with it the seal is whole. */
void dprof_chunk_seal(const struct dprof_chunk *c)
{
	uint64_t *last = c->start + c->bytes / sizeof(*last) - DPROF_SEAL_WORDS;
	size_t words = (size_t)(c->claimed - c->start);

	last[1] = dprof_sum_words(DPROF_SUM_BEGIN, c->start, words);
	__atomic_store_n(&last[0], words, __ATOMIC_RELEASE);
}

void dprof_chunk_unmap(struct dprof_chunk *c)
{
	size_t bytes = __atomic_exchange_n(&c->bytes, 0, __ATOMIC_SEQ_CST);

	sys(SYS_munmap, c->start, bytes);
}

/* A claimed record is unwritten while its claimer is interrupted: perhaps for long, by a
 * handler that filled chunks; perhaps for ever, by a handler that jumped away. Such a chunk
 * stays mapped. */
static void forget(struct dprof_thread *t, struct dprof_chunk *c)
{
	if (!c->in_slot && c->offset + c->bytes > t->kept_bytes)
		t->kept_bytes = c->offset + c->bytes;
	dprof_count_chunk(c);
	dprof_unpacked_add(c);
	if (all_written(c))
		dprof_chunk_seal(c);
	if (all_written(c) && c != t->current && !c->in_slot)
		dprof_chunk_unmap(c);
	__atomic_store_n(&c->state, CHUNK_NONE, __ATOMIC_RELEASE);
}

static struct dprof_chunk *in_state(struct dprof_thread *t, enum dprof_chunk_state state)
{
	struct dprof_chunk *found = NULL;

	for (struct dprof_chunk *c = t->chunk; c < t->chunk + DPROF_CHUNKS; c++)
		if (__atomic_load_n(&c->state, __ATOMIC_ACQUIRE) == (int)state &&
		    (!found || c->number < found->number))
			found = c;
	return found;
}

static bool take(struct dprof_chunk *c)
{
	int full = CHUNK_FULL;

	return __atomic_compare_exchange_n(&c->state, &full, CHUNK_TAKEN, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

/* At most one is being packed, one is current, and none is clean when one is to be made: so there is an
 * unused or a full one, unless the helper takes that while we look. */
static struct dprof_chunk *room_for_one(struct dprof_thread *t)
{
	struct dprof_chunk *c = in_state(t, CHUNK_NONE);

	if (c)
		return c;
	c = in_state(t, CHUNK_FULL);
	if (!c || !take(c))
		return NULL;
	forget(t, c);
	return c;
}

enum dprof_why dprof_why_refused(long error)
{
	switch (-error) {
	case ENOSPC: return DPROF_WHY_DISK;
	case EDQUOT: return DPROF_WHY_QUOTA;
	case EFBIG:  return DPROF_WHY_LIMIT;
	case ENOMEM:
	case EFAULT: return DPROF_WHY_MEMORY;
	case EMFILE:
	case ENFILE: return DPROF_WHY_FILES;
	case EAGAIN: return DPROF_WHY_LATE;
	default:     return DPROF_WHY_REFUSED;
	}
}

const char *dprof_why_word(enum dprof_why why)
{
	static const char *const words[] = {
#define X(NAME, word, text) [DPROF_WHY_##NAME] = #word,
		DPROF_WHYS(X)
#undef X
	};

	return words[why];
}

const char *dprof_why_text(enum dprof_why why)
{
	static const char *const texts[] = {
#define X(NAME, word, text) [DPROF_WHY_##NAME] = text,
		DPROF_WHYS(X)
#undef X
	};

	return texts[why];
}

/* Where a thread goes on that began in a slot: the file's first chunk, behind a header that says so. Both are mapped
 * by themselves: valgrind 3.19 dies where the first page of a mapping is unmapped and the rest stays. */
static long begin_file(struct dprof_thread *t)
{
	const struct dprof_events_header *slot = t->header;
	long header = dprof_file_map(t->path, O_CREAT | O_EXCL, 0, DPROF_HEADER_SIZE);
	struct dprof_events_header *h = (struct dprof_events_header *)header;
	long at;

	if (sys_failed(header))
		return header;
	at = dprof_file_map(t->path, 0, DPROF_HEADER_SIZE, dprof_first_chunk());
	if (sys_failed(at)) {
		sys(SYS_unlink, t->path);
	} else {
		h->version = slot->version;
		h->header_size = DPROF_HEADER_SIZE;
		h->word_size = slot->word_size;
		h->thread = slot->thread;
		h->rank = slot->rank;
		h->pid = slot->pid;
		h->started = slot->started;
		h->first_chunk = slot->first_chunk;
		h->largest_chunk = slot->largest_chunk;
		__atomic_thread_fence(__ATOMIC_RELEASE);
		__builtin_memcpy(h->magic, DPROF_MORE_MAGIC, sizeof(h->magic));
		t->file_bytes = DPROF_HEADER_SIZE;
	}
	sys(SYS_munmap, header, DPROF_HEADER_SIZE);
	return at;
}

static int make(struct dprof_thread *t)
{
	size_t bytes = t->file_bytes ? dprof_next_chunk(t->made_bytes, t->largest) : dprof_first_chunk();
	struct dprof_chunk *c = room_for_one(t);
	long at;

	if (!c)
		return -EAGAIN;
	at = t->file_bytes ? dprof_file_map(t->path, 0, t->file_bytes, bytes) : begin_file(t);
	if (sys_failed(at))
		return (int)at;
	*c = (struct dprof_chunk){ .start = (uint64_t *)at, .bytes = bytes, .offset = t->file_bytes };
	t->file_bytes += bytes;
	t->made_bytes = bytes;
	__atomic_store_n(&c->state, CHUNK_CLEAN, __ATOMIC_RELEASE);
	return 0;
}

int dprof_chunk_make(struct dprof_thread *t)
{
	int error = make(t);

	if (error)
		t->why = dprof_why_refused(error);
	return error;
}

bool dprof_chunk_is_clean(struct dprof_thread *t)
{
	return in_state(t, CHUNK_CLEAN) != NULL;
}

struct dprof_chunk *dprof_chunk_take_clean(struct dprof_thread *t)
{
	struct dprof_chunk *c = in_state(t, CHUNK_CLEAN);
	int clean = CHUNK_CLEAN;

	while (c && !__atomic_compare_exchange_n(&c->state, &clean, CHUNK_CURRENT, false, __ATOMIC_ACQUIRE,
						 __ATOMIC_RELAXED)) {
		c = in_state(t, CHUNK_CLEAN);
		clean = CHUNK_CLEAN;
	}
	return c;
}

/* Every word up to `next` was claimed, or is one that is not going to be written. */
static void leave(struct dprof_thread *t, uint64_t *next)
{
	struct dprof_chunk *c = t->current;
	uint64_t *end = t->chunk_end, *last = end + DPROF_SLACK_WORDS - DPROF_SEAL_WORDS;

	t->before = end - 1;
	if (dprof_chunk_is_left(t))
		return;
	c->claimed = next < end ? end : next < last ? next : last;
	c->hole = NULL;
}

/* The order of the three stores to the cursor matters: a handler that records between them finds no room
 * and takes its claim back, whichever chunk `next` stands in. */
void dprof_chunk_enter(struct dprof_thread *t, struct dprof_chunk *c)
{
	volatile struct dprof_cursor *cursor = &__dprof_cursor;
	struct dprof_chunk *old = t->current;
	uint64_t *start = c->start, lost;
	bool left = dprof_chunk_is_left(t);

	if (old)
		leave(t, cursor->next);
	c->number = t->numbers++;
	t->current = c;
	t->written = start;
	t->chunk_end = start + c->bytes / sizeof(*start) - DPROF_SLACK_WORDS;
	t->refused = 0;
	*start++ = dprof_escape_word(DPROF_ESCAPE_CHUNK, 0, c->number);
	lost = __atomic_exchange_n(&t->lost_unwritten, 0, __ATOMIC_RELAXED);
	if (lost)
		*start++ = dprof_escape_word(DPROF_ESCAPE_LOST, 0, lost);
	t->epoch = dprof_now();
	*start++ = dprof_epoch_word(t->epoch);
	cursor->end = NULL;
	cursor->next = start;
	cursor->end = dprof_open() ? t->chunk_end : NULL;
	if (old && !left)
		__atomic_store_n(&old->state, CHUNK_FULL, __ATOMIC_RELEASE);
	if (left)
		__atomic_store_n(&t->hold, HOLD_NONE, __ATOMIC_RELEASE);
}

/* Its last page has the place of its seal. Words behind the new end may be claimed in vain, as behind any. */
void dprof_chunk_shrink(struct dprof_thread *t)
{
	volatile struct dprof_cursor *cursor = &__dprof_cursor;
	struct dprof_chunk *c = t->current;
	uint64_t used = (uint64_t)((char *)cursor->next - (char *)c->start);
	uint64_t kept = (used + DPROF_FIRST_CHUNK + PAGE - 1) / PAGE * PAGE;

	if (used > c->bytes || kept + 2 * PAGE > c->bytes)
		return;
	t->chunk_end = c->start + kept / sizeof(*c->start) - DPROF_SLACK_WORDS;
	c->shrunk = true;
	cursor->end = NULL; /* the next event opens it again */
	dprof_file_punch(t->path, c->offset + kept, c->bytes - kept - PAGE);
}

void dprof_chunk_left(struct dprof_chunk *c)
{
	if (!(c->shrunk || __atomic_load_n(&dprof_ending, __ATOMIC_ACQUIRE)) || !take(c))
		return;
	if (all_written(c))
		dprof_chunk_seal(c);
	__atomic_store_n(&c->state, CHUNK_FULL, __ATOMIC_RELEASE);
}

static bool is_no_record(uint64_t word)
{
	return dprof_is(word, DPROF_ESCAPE_EPOCH) || dprof_is(word, DPROF_ESCAPE_CHUNK);
}

uint64_t *dprof_chunk_before(const struct dprof_thread *t, uint64_t *slot)
{
	uint64_t *start = t->current->start;

	if (slot > t->chunk_end)
		slot = t->chunk_end;
	while (slot > start && is_no_record(slot[-1]))
		slot--;
	return slot > start ? slot - 1 : t->before;
}

void dprof_chunk_settle(struct dprof_thread *t, uint64_t *word)
{
	for (struct dprof_chunk *c = t->chunk; c < t->chunk + DPROF_CHUNKS; c++) {
		int state = __atomic_load_n(&c->state, __ATOMIC_ACQUIRE);

		if (state >= CHUNK_FULL && state != CHUNK_GOING && word >= c->start &&
		    word < c->claimed && !*word)
			*(volatile uint64_t *)word = dprof_escape_word(DPROF_ESCAPE_NOTHING, 0, 0);
	}
}

bool dprof_chunks_take(struct dprof_thread *t)
{
	for (struct dprof_chunk *c = t->chunk; c < t->chunk + DPROF_CHUNKS; c++) {
		if (take(c) || __atomic_load_n(&c->state, __ATOMIC_ACQUIRE) < CHUNK_FULL)
			continue;
		while (c-- > t->chunk)
			if (c->state == CHUNK_TAKEN)
				__atomic_store_n(&c->state, CHUNK_FULL, __ATOMIC_RELEASE);
		return false;
	}
	return true;
}

const char *dprof_chunk_path(const struct dprof_thread *t, const struct dprof_chunk *c)
{
	return c->in_slot ? dprof_nursery_path() : t->path;
}

uint64_t dprof_chunks_end(const struct dprof_thread *t)
{
	uint64_t end = t->kept_bytes;

	for (const struct dprof_chunk *c = t->chunk; c < t->chunk + DPROF_CHUNKS; c++) {
		uint64_t claimed = (uint64_t)((char *)c->claimed - (char *)c->start);

		if (c != t->current)
			claimed = c->bytes; /* it is sealed */
		if (c->state >= CHUNK_CURRENT && !c->in_slot && c->offset + claimed > end)
			end = c->offset + claimed;
	}
	return end;
}

/* From the helper, which only reads a chunk until it is in the other file. */
static bool keep(struct dprof_chunk *c)
{
	int packing = CHUNK_PACKING;

	return __atomic_compare_exchange_n(&c->state, &packing, CHUNK_KEPT, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

/* Of a thread that ended no word comes any more: one that is unwritten stays so, and has its place in the sum. */
static void seal_full(struct dprof_chunk *c, bool ended)
{
	bool taken, ours;
	int state;

	do {
		taken = take(c);
		ours = taken || keep(c);
		state = __atomic_load_n(&c->state, __ATOMIC_ACQUIRE);
	} while (!ours && (state == CHUNK_FULL || state == CHUNK_PACKING));
	ours |= ended && state == CHUNK_TAKEN;
	if (ours)
		dprof_unpacked_add(c);
	if (ours && (ended || all_written(c)))
		dprof_chunk_seal(c);
	if (taken)
		__atomic_store_n(&c->state, CHUNK_FULL, __ATOMIC_RELEASE);
}

void dprof_chunks_seal(struct dprof_thread *t, bool ended)
{
	for (struct dprof_chunk *c = t->chunk; c < t->chunk + DPROF_CHUNKS; c++)
		if (c != t->current || dprof_chunk_is_left(t))
			seal_full(c, ended);
}
