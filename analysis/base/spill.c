/* SPDX-License-Identifier: MIT
 *
 * spill.c - see spill.h.
 *
 * In the arena an array moves to a block of twice its size when it grows; where there is none, to the file, and what it had is
 * for others.
 *
 * A long array is made of extents of the file, which are mapped behind each other, and addresses behind it are kept free for
 * more. Where many grow side by side, it has one up to LEAST_EXTENTS bytes, and is copied to a longer one when it grows: a
 * process has room for but some ten thousand mappings, and not for as many arrays' addresses. Extents are written before
 * they are mapped: a page for which the disk has no room would end the process; and what is written at once the kernel
 * keeps in one piece and maps by one fault, where pages that a mapping brought about cost a fault each, again and again.
 * What an array needs no longer the next one takes, so that it is written but once. */
#include "analysis/base/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/base/arena.h"
#include "analysis/base/memory.h"
#include "analysis/base/shown.h"
#include "analysis/base/temporary.h"

#define LEAST_LONG    ((size_t)1 << 14)
#define MOST_SHORT    ((size_t)1 << 18)
#define LEAST_EXTENTS ((size_t)1 << 20)
#define MANY          1000 /* arrays that grow side by side */
#define MOST_EXTENT   ((size_t)1 << 26)
#define ADDRESSES     ((size_t)1 << 36) /* that are kept for an array of several extents */
#define AT_ONCE       ((size_t)1 << 22) /* bytes that are copied, or made zero */
#define PAGE          ((size_t)1 << 12)

struct extent { uint64_t offset; size_t bytes; };

struct spilled {
	struct spilled *next, **before;
	struct spill_head *begin;
	size_t bytes;            /* its room, with the head */
	size_t addresses;        /* of a long one: that are its own */
	struct extent *extents; size_t nextents; /* none: it is in memory */
	bool in_arena;
};

static size_t at_least(size_t x, size_t least)
{
	return x > least ? x : least;
}

static size_t at_most(size_t x, size_t most)
{
	return x < most ? x : most;
}

/* ---- The file -------------------------------------------------------------------------------- */

static void complain(struct spill *s, int error)
{
	if (s->error)
		return;
	s->error = error;
	shown_complain("no temporary file has room for what threads wait for (%s): it stays in memory; set TMPDIR to a "
		       "directory with room", strerror(error));
}

/* In blocks, so that a piece is one; or why not. */
static int write_zeros(const struct spill *s, uint64_t offset, size_t bytes)
{
	static char zeros[SPILL_BLOCK];
	for (uint64_t at = offset, end = offset + bytes; at < end;) {
		ssize_t n = pwrite(s->file, zeros, at_most(end - at, SPILL_BLOCK - at % SPILL_BLOCK), (off_t)at);
		if (n <= 0 && errno != EINTR)
			return n < 0 ? errno : ENOSPC;
		at += n > 0 ? (uint64_t)n : 0;
	}
	return 0;
}

/* The shortest that no array needs any more and that is long enough; or NULL. */
static struct extent *find_unused(const struct spill *s, size_t bytes)
{
	struct extent *best = NULL;
	for (size_t i = 0; i < s->nunused; i++)
		if (s->unused[i].bytes >= bytes && (!best || s->unused[i].bytes < best->bytes))
			best = &s->unused[i];
	return best;
}

/* From what is unused, or else behind the end of the file. */
static int take_extent(struct spill *s, size_t bytes, struct extent *taken)
{
	struct extent *unused = find_unused(s, bytes);
	if (unused) {
		unused->bytes -= bytes;
		*taken = (struct extent){ unused->offset + unused->bytes, bytes };
		if (unused->bytes == 0)
			*unused = s->unused[--s->nunused];
		return 0;
	}
	*taken = (struct extent){ s->end, bytes };
	int error = write_zeros(s, s->end, bytes);
	if (!error)
		s->end += bytes;
	return error;
}

/* So many bytes of the file at addresses that are ours; what is in them is not said. */
static bool map_extent(struct spill *s, struct spilled *a, char *at, size_t bytes)
{
	struct extent extent;
	if (s->file < 0 && !s->error && (s->file = temporary_open()) < 0)
		complain(s, errno);
	if (s->error)
		return false;
	int error = take_extent(s, bytes, &extent);
	if (!error && mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, s->file, (off_t)extent.offset) ==
			      MAP_FAILED)
		error = errno;
	if (error) {
		complain(s, error);
		return false;
	}
	*MEM_GROW(a->extents, a->nextents) = extent;
	return true;
}

/* ---- Room for an array ----------------------------------------------------------------------- */

static void free_room(struct spill *s, struct spilled *a)
{
	if (a->nextents)
		munmap(a->begin, a->addresses);
	else if (a->in_arena)
		arena_give(s->arena, a->begin, a->bytes);
	else
		free(a->begin);
	a->in_arena = false;
	s->nlong -= a->nextents > 0;
	for (size_t i = 0; i < a->nextents; i++)
		*MEM_GROW(s->unused, s->nunused) = a->extents[i];
	free(a->extents);
	a->extents = NULL;
	a->nextents = 0;
}

static void *reserve(size_t addresses)
{
	void *at = mmap(NULL, addresses, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return at == MAP_FAILED ? NULL : at;
}

static bool has_one_extent(const struct spill *s, size_t bytes)
{
	return s->side_by_side >= MANY && bytes <= LEAST_EXTENTS;
}

/* To a new place in the file. */
static bool move(struct spill *s, struct spilled *a, size_t bytes)
{
	struct spilled to = { .bytes = bytes,
			      .addresses = has_one_extent(s, bytes) ? bytes : at_least(ADDRESSES, 2 * bytes) };
	if (!(to.begin = reserve(to.addresses)))
		to.begin = reserve(to.addresses = bytes);
	if (!to.begin) {
		complain(s, errno);
		return false;
	}
	if (!map_extent(s, &to, (char *)to.begin, bytes)) {
		munmap(to.begin, to.addresses);
		return false;
	}
	if (a->begin)
		memcpy(to.begin, a->begin, a->bytes);
	free_room(s, a);
	s->nlong++;
	to.next = a->next;
	to.before = a->before;
	*a = to;
	return true;
}

/* Behind what it has. */
static bool extend(struct spill *s, struct spilled *a, size_t bytes)
{
	if (!map_extent(s, a, (char *)a->begin + a->bytes, bytes - a->bytes))
		return false;
	a->bytes = bytes;
	return true;
}

static bool lengthen(struct spill *s, struct spilled *a, size_t bytes)
{
	return bytes <= a->addresses ? extend(s, a, bytes) : move(s, a, bytes);
}

/* In another block, while there is one. */
static bool keep_in_arena(struct spill *s, struct spilled *a, size_t bytes)
{
	if (bytes < ARENA_LEAST || !s->memory)
		return false;
	if (!s->arena && !(s->arena = arena_open(s->memory)))
		s->memory = 0;
	struct spill_head *begin = s->arena ? arena_take(s->arena, bytes) : NULL;
	if (!begin)
		return false;
	if (a->begin)
		memcpy(begin, a->begin, a->bytes);
	free_room(s, a);
	a->begin = begin;
	a->bytes = arena_block(bytes);
	a->in_arena = true;
	return true;
}

static void keep_in_memory(struct spill *s, struct spilled *a, size_t bytes)
{
	if (a->nextents || a->in_arena) {
		struct spill_head *begin = memcpy(mem_resize(NULL, bytes, 1), a->begin, a->bytes);
		free_room(s, a);
		a->begin = begin;
	} else {
		a->begin = mem_resize(a->begin, bytes, 1);
	}
	a->bytes = bytes;
}

static void *set_room(struct spill *s, struct spilled *a, size_t bytes)
{
	size_t whole = (bytes + PAGE - 1) / PAGE * PAGE;
	if (a->nextents ? !lengthen(s, a, whole) : !keep_in_arena(s, a, bytes) && !(bytes >= s->least && move(s, a, whole)))
		keep_in_memory(s, a, bytes);
	a->begin->array = a;
	a->begin->bytes = a->bytes - sizeof *a->begin;
	return a->begin + 1;
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

static struct spilled *new_array(struct spill *s)
{
	struct spilled *a = mem_resize(NULL, 1, sizeof *a);
	*a = (struct spilled){ .next = s->arrays, .before = &s->arrays };
	if (a->next)
		a->next->before = &a->next;
	return s->arrays = a;
}

static void close_array(struct spill *s, struct spilled *a)
{
	*a->before = a->next;
	if (a->next)
		a->next->before = a->before;
	free_room(s, a);
	free(a);
}

void *spill_more(struct spill *s, void *old, size_t bytes)
{
	struct spilled *a = old ? ((struct spill_head *)old)[-1].array : new_array(s);
	size_t more = a->bytes > LEAST_EXTENTS ? at_most(a->bytes / 4, MOST_EXTENT) : a->bytes;
	return set_room(s, a, at_least(sizeof(struct spill_head) + bytes, a->bytes + more));
}

void *spill_zeros(struct spill *s, size_t count, size_t size)
{
	struct spilled *a = new_array(s);
	size_t bytes;
	if (__builtin_mul_overflow(count, size, &bytes))
		bytes = SIZE_MAX / 2; /* more than there is */
	void *array = set_room(s, a, sizeof(struct spill_head) + bytes);
	for (size_t done = 0, n; done < bytes; done += n) {
		n = at_most(bytes - done, AT_ONCE);
		memset((char *)array + done, 0, n);
		spill_let_go(s);
	}
	return array;
}

void spill_copy(struct spill *s, void *to, const void *from, size_t bytes)
{
	for (size_t done = 0, n; done < bytes; done += n) {
		n = at_most(bytes - done, AT_ONCE);
		memcpy((char *)to + done, (const char *)from + done, n);
		if (n == AT_ONCE)
			spill_let_go(s);
	}
}

void spill_free(struct spill *s, void *array)
{
	if (array)
		close_array(s, ((struct spill_head *)array)[-1].array);
}

struct spill *spill_open(size_t memory, size_t arrays)
{
	struct spill *s = mem_resize(NULL, 1, sizeof *s);
	*s = (struct spill){ .file = -1, .memory = memory, .statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC) };
	s->side_by_side = at_least(arrays, 1);
	s->least = at_most(at_least(SPILL_SHORT / s->side_by_side, LEAST_LONG), MOST_SHORT);
	return s;
}

void spill_close(struct spill *s)
{
	while (s->arrays)
		close_array(s, s->arrays);
	arena_close(s->arena);
	if (s->file >= 0)
		close(s->file);
	if (s->statm >= 0)
		close(s->statm);
	free(s->unused);
	free(s);
}

/* ---- What is resident ------------------------------------------------------------------------ */

/* Of files, in bytes; more than enough where the kernel does not say. */
static uint64_t resident(const struct spill *s)
{
	char text[128];
	uint64_t pages;
	ssize_t n = s->statm < 0 ? -1 : pread(s->statm, text, sizeof text - 1, 0);
	text[n > 0 ? n : 0] = 0;
	return sscanf(text, "%*u %*u %" SCNu64, &pages) == 1 ? pages * PAGE : UINT64_MAX;
}

#define SOON 64 /* looks: less often it costs little to let go of all */

/* Too soon: what was let go of is in use. */
static void keep_more(struct spill *s)
{
	if (s->looks < SOON && s->more < SPILL_MORE)
		s->more += SPILL_BLOCK;
	s->looks = 0;
}

void spill_let_go(struct spill *s)
{
	s->uses = 0;
	s->looks++;
	if (s->nlong == 0 || resident(s) <= SPILL_RESIDENT + s->nlong * SPILL_USED + s->side_by_side * s->more)
		return;
	keep_more(s);
	spill_rest(s);
}

void spill_rest(struct spill *s)
{
	for (const struct spilled *a = s->arrays; a; a = a->next)
		if (a->nextents)
			madvise(a->begin, a->bytes, MADV_DONTNEED);
}
