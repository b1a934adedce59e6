/* SPDX-License-Identifier: MIT
 *
 * store.c - see store.h: what events are, each once; and blocks, as they are put in.
 *
 * Nothing that a trace says makes this grow without bound but its length: MOST_WHATS kinds of events are told apart. */
#define _GNU_SOURCE /* mkostemp */
#include "analysis/trace/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/memory.h"

#define OPS        3                      /* that events have */
#define MOST_WHATS ((uint32_t)1 << 22)
#define NO_WHAT    UINT32_MAX             /* the argument is left out */

/* With one more argument, of each key: which `what` that is; 0: it has not come yet. */
struct what_next { uint32_t of_key[DPROF_KEY_COUNT]; };

struct tr_store {
	struct tr_what *what; uint32_t nwhats; /* 0: LOST */
	struct what_next *next;
	uint32_t *of_event; size_t nsites; /* without arguments, by site and operation; the last: a site that is missing */

	uint8_t *tail; size_t ntail, room; /* bytes flushed .. flushed + ntail - 1 */
	uint64_t flushed;
	int file;                /* or -1 */
	int error;               /* why there is none, or why it does not grow any more */

	struct tr_blocks *blocks; /* of the thread that is put in */
	size_t most;             /* events of a block */
	size_t n, nvalues;       /* in this one */
	bool event;              /* the record before is one, or an argument of it */
	uint64_t is[STORE_EVENTS], stamp[STORE_EVENTS], value[2 * STORE_EVENTS];
};

/* ---- What events are ------------------------------------------------------------------------- */

static uint32_t add_what(struct tr_store *s, struct tr_what what)
{
	if (s->nwhats == MOST_WHATS)
		return NO_WHAT;
	s->what = mem_grow(s->what, s->nwhats, sizeof *s->what);
	s->next = mem_grow(s->next, s->nwhats, sizeof *s->next);
	s->what[s->nwhats] = what;
	s->next[s->nwhats] = (struct what_next){ .of_key = { NO_WHAT } };
	return s->nwhats++;
}

static inline uint32_t *slot_of(struct tr_store *s, uint64_t site, enum dprof_op op)
{
	return &s->of_event[(site < s->nsites ? site : s->nsites) * OPS + op];
}

static uint32_t add_event(struct tr_store *s, uint64_t site, enum dprof_op op)
{
	uint32_t *slot = slot_of(s, site, op);
	*slot = add_what(s, (struct tr_what){ .site = site < s->nsites ? (uint32_t)site : TR_NO_SITE,
					      .op = (uint8_t)op });
	if (*slot == NO_WHAT)
		*slot = *slot_of(s, TR_NO_SITE, op);
	return *slot;
}

static inline uint32_t what_of_event(struct tr_store *s, uint64_t what)
{
	uint32_t known = *slot_of(s, TR_BODY(what), TR_OP(what));
	return known ? known : add_event(s, TR_BODY(what), TR_OP(what));
}

/* `what` with one argument more, which has not come yet. */
static uint32_t with_argument(struct tr_store *s, uint32_t what, unsigned key)
{
	struct tr_what more = s->what[what];
	uint32_t now = NO_WHAT;
	if (!(more.keys & 1u << key)) {
		more.keys |= (uint16_t)(1u << key);
		more.key[more.nargs++] = (uint8_t)key;
		now = add_what(s, more);
	}
	return s->next[what].of_key[key] = now;
}

struct tr_store *store_open(size_t nsites, size_t nthreads)
{
	struct tr_store *s = mem_resize(NULL, 1, sizeof *s);
	size_t share = STORE_BUDGET / (nthreads ? nthreads : 1) / (4 * sizeof(uint64_t));
	memset(s, 0, sizeof *s);
	s->file = -1;
	s->nsites = nsites;
	s->most = share < DPROF_KEY_COUNT ? DPROF_KEY_COUNT : share < STORE_EVENTS ? share : STORE_EVENTS;
	s->of_event = mem_resize(NULL, (nsites + 1) * OPS, sizeof *s->of_event);
	memset(s->of_event, 0, (nsites + 1) * OPS * sizeof *s->of_event);
	add_what(s, (struct tr_what){ .site = TR_NO_SITE, .op = DPROF_LOST, .nargs = 1 });
	for (unsigned op = 0; op < OPS; op++)
		what_of_event(s, TR_WHAT(TR_NO_SITE, op));
	return s;
}

void store_close(struct tr_store *s)
{
	if (!s)
		return;
	if (s->file >= 0)
		close(s->file);
	blocks_close(s->blocks);
	free(s->what);
	free(s->next);
	free(s->of_event);
	free(s->tail);
	free(s);
}

/* ---- The bytes ------------------------------------------------------------------------------- */

/* A file that has no name any more, or -1. */
static int open_file(const char *directory)
{
	char *name = mem_format("%s/dprof-XXXXXX", directory);
	int fd = mkostemp(name, O_CLOEXEC), error = errno;
	if (fd >= 0)
		unlink(name);
	free(name);
	errno = error;
	return fd;
}

static int open_temporary(void)
{
	const char *directory = getenv("TMPDIR");
	if (directory && *directory)
		return open_file(directory);
	int fd = open_file("/var/tmp");
	return fd >= 0 ? fd : open_file("/tmp");
}

static bool write_at(int fd, const uint8_t *from, size_t n, uint64_t offset)
{
	while (n) {
		ssize_t put = pwrite(fd, from, n, (off_t)offset);
		if (put < 0 && errno == EINTR)
			continue;
		if (put == 0)
			errno = ENOSPC;
		if (put <= 0)
			return false;
		from += put;
		offset += (uint64_t)put;
		n -= (size_t)put;
	}
	return true;
}

/* What has not gone to the file stays in memory. */
static void flush(struct tr_store *s)
{
	if (s->error)
		return;
	if (s->file < 0)
		s->file = open_temporary();
	if (s->file < 0 || !write_at(s->file, s->tail, s->ntail, s->flushed)) {
		s->error = errno;
		return;
	}
	s->flushed += s->ntail;
	s->ntail = 0;
}

/* Room for so many bytes more. */
static uint8_t *more_bytes(struct tr_store *s, size_t n)
{
	if (s->ntail + n > STORE_TAIL)
		flush(s);
	if (s->ntail + n > s->room) {
		s->room = 2 * s->room > s->ntail + n ? 2 * s->room : s->ntail + n;
		s->tail = mem_resize(s->tail, s->room, 1);
	}
	return s->tail + s->ntail;
}

void store_read(const struct tr_store *s, uint64_t offset, size_t bytes, void *to)
{
	if (offset >= s->flushed) {
		memcpy(to, s->tail + (offset - s->flushed), bytes);
		return;
	}
	for (uint8_t *at = to; bytes;) {
		ssize_t got = pread(s->file, at, bytes, (off_t)offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			fprintf(stderr, "dprof-analyze: the temporary file of decoded events cannot be read: %s\n",
				got < 0 ? strerror(errno) : "it is cut short");
			exit(EXIT_FAILURE);
		}
		at += got;
		offset += (uint64_t)got;
		bytes -= (size_t)got;
	}
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* How many bytes each of the numbers less `base` needs. */
static uint8_t bytes_of(const uint64_t *number, size_t n, uint64_t base)
{
	uint64_t bits = 0;
	for (size_t i = 0; i < n; i++)
		bits |= number[i] - base;
	return bits > UINT32_MAX ? 8 : bits > UINT16_MAX ? 4 : bits > UINT8_MAX ? 2 : 1;
}

/* Numbers less `base`, of so many bytes each; the end, at a multiple of 8 bytes. */
static uint8_t *put_column(uint8_t *to, unsigned bytes, const uint64_t *number, size_t n, uint64_t base)
{
	for (size_t i = 0; i < n && bytes == 1; i++)
		to[i] = (uint8_t)(number[i] - base);
	for (size_t i = 0; i < n && bytes == 2; i++)
		memcpy(to + 2 * i, &(uint16_t){ (uint16_t)(number[i] - base) }, 2);
	for (size_t i = 0; i < n && bytes == 4; i++)
		memcpy(to + 4 * i, &(uint32_t){ (uint32_t)(number[i] - base) }, 4);
	for (size_t i = 0; i < n && bytes == 8; i++)
		memcpy(to + 8 * i, &(uint64_t){ number[i] - base }, 8);
	return to + (n * bytes + 7) / 8 * 8;
}

static void write_block(struct tr_store *s)
{
	struct tr_blocks *b = s->blocks;
	if (!s->n)
		return;
	uint8_t *begin = more_bytes(s, BLOCK_BYTES(s->n, s->nvalues)), *to = begin + sizeof(struct block_head);
	struct block_head head = { .stamp = s->stamp[0], .n = (uint32_t)s->n, .nvalues = (uint32_t)s->nvalues,
				   .what_bytes = bytes_of(s->is, s->n, 0),
				   .stamp_bytes = bytes_of(s->stamp, s->n, s->stamp[0]),
				   .value_bytes = bytes_of(s->value, s->nvalues, 0) };
	*MEM_GROW(b->block, b->nblocks) = (struct tr_block){ s->flushed + s->ntail, b->n };
	memcpy(begin, &head, sizeof head);
	to = put_column(to, head.what_bytes, s->is, s->n, 0);
	to = put_column(to, head.stamp_bytes, s->stamp, s->n, head.stamp);
	to = put_column(to, head.value_bytes, s->value, s->nvalues, 0);
	s->ntail += (size_t)(to - begin);
	b->n += s->n;
	b->most = s->n > b->most ? s->n : b->most;
	b->most_values = s->nvalues > b->most_values ? s->nvalues : b->most_values;
	s->n = s->nvalues = 0;
}

/* The next one of a block has room for all arguments that an event can have. */
static void put_event(struct tr_store *s, uint32_t what, uint64_t stamp)
{
	if (s->n == s->most || s->nvalues + DPROF_KEY_COUNT > 2 * s->most)
		write_block(s);
	s->is[s->n] = what;
	s->stamp[s->n++] = stamp;
}

static void put_argument(struct tr_store *s, unsigned key, uint64_t value)
{
	if (!s->event)
		return;
	/* It is in this block still, to which it was the last to come. */
	uint32_t what = (uint32_t)s->is[s->n - 1], now = s->next[what].of_key[key];
	if (!now)
		now = with_argument(s, what, key);
	if (now == NO_WHAT)
		return;
	s->is[s->n - 1] = now;
	s->value[s->nvalues++] = value;
}

static void put_lost(struct tr_store *s, uint64_t records)
{
	s->blocks->lost_before |= !s->blocks->any;
	s->blocks->lost_behind = true;
	s->event = false;
	if (!records)
		return;
	put_event(s, 0, s->blocks->any ? s->blocks->last : 0);
	s->value[s->nvalues++] = records;
}

void store_record(struct tr_store *s, const struct tr_record *r)
{
	struct tr_blocks *b = s->blocks;
	if (TR_OP(r->what) == DPROF_ARG) {
		put_argument(s, (unsigned)TR_BODY(r->what), r->stamp);
	} else if (!is_event(r)) {
		put_lost(s, r->stamp);
	} else {
		put_event(s, what_of_event(s, r->what), r->stamp);
		b->first = b->any ? b->first : r->stamp;
		b->last = r->stamp;
		b->any = s->event = true;
		b->lost_behind = false;
	}
}

/* Behind an event, those of a kind that has come before, as long as there is room. How many. */
static size_t put_known(struct tr_store *s, const struct tr_record *r, size_t count)
{
	size_t n = s->n, nvalues = s->nvalues, i, room = s->most, room_values = 2 * s->most - DPROF_KEY_COUNT;
	uint64_t nsites = s->nsites, what = s->event ? s->is[n - 1] : 0;
	for (i = 0; i < count && s->event; i++) {
		uint64_t body = TR_BODY(r[i].what);
		enum dprof_op op = TR_OP(r[i].what);
		uint32_t now = op == DPROF_ARG ? s->next[what].of_key[body]
			       : op <= DPROF_POINT ? s->of_event[(body < nsites ? body : nsites) * OPS + op] : 0;
		if (!now || now == NO_WHAT)
			break;
		if (op == DPROF_ARG) {
			s->is[n - 1] = what = now;
			s->value[nvalues++] = r[i].stamp;
		} else if (n < room && nvalues <= room_values) {
			s->is[n] = what = now;
			s->stamp[n++] = r[i].stamp;
		} else {
			break;
		}
	}
	s->n = n;
	s->nvalues = nvalues;
	s->blocks->last = s->event ? s->stamp[n - 1] : s->blocks->last;
	return i;
}

void store_records(struct tr_store *s, const struct tr_record *r, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		i += put_known(s, r + i, n - i);
		if (i < n)
			store_record(s, &r[i]);
	}
}

/* ---- Threads --------------------------------------------------------------------------------- */

void store_begin(struct tr_store *s, struct tr_blocks *again)
{
	if (again && again->nblocks) {
		uint64_t end = again->block[0].offset;
		s->ntail = end > s->flushed ? (size_t)(end - s->flushed) : 0;
		s->flushed = end < s->flushed ? end : s->flushed;
	}
	blocks_close(again);
	s->event = false;
	s->blocks = mem_resize(NULL, 1, sizeof *s->blocks);
	*s->blocks = (struct tr_blocks){ .n = 0 };
}

size_t store_events(const struct tr_store *s)
{
	return s->blocks->n + s->n;
}

struct tr_blocks *store_end(struct tr_store *s)
{
	struct tr_blocks *b = s->blocks;
	write_block(s);
	*MEM_GROW(b->block, b->nblocks) = (struct tr_block){ s->flushed + s->ntail, b->n };
	b->nblocks--;
	s->blocks = NULL;
	return b;
}

void blocks_close(struct tr_blocks *b)
{
	if (!b)
		return;
	free(b->block);
	free(b);
}

const struct tr_what *store_finish(struct tr_store *s, const char **kept_in_memory)
{
	if (s->flushed)
		flush(s);
	*kept_in_memory = s->error ? strerror(s->error) : NULL;
	if (!s->ntail) {
		free(s->tail);
		s->tail = NULL;
	}
	free(s->next);
	free(s->of_event);
	s->next = NULL;
	s->of_event = NULL;
	return s->what;
}
