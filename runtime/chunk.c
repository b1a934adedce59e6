/* SPDX-License-Identifier: MIT
 *
 * chunk.c - a piece of a trace file, reserved, mapped and faulted in.
 *
 * Runs in the helper and, when that is late, in the recording thread: system calls only, general
 * registers only (see room.mk).
 *
 * No descriptor is kept: a program that closes all of them and opens its own, as daemons do, would
 * otherwise make us write into its files. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "runtime/settings.h"
#include "runtime/sys.h"
#include "runtime/thread.h"

#define PAGE   4096
#define LOWEST ((uint64_t)1 << 32) /* programs that are not relocated, and their heaps, are below */

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

/* Growing past this limit would kill the program by SIGXFSZ. */
static bool within_file_size_limit(uint64_t bytes)
{
	struct rlimit limit;

	if (sys(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit) < 0)
		return false;
	return limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

/* Where a file system cannot reserve, writing zeros shows whether there is room. */
static long reserve_by_writing(int fd, uint64_t from, uint64_t bytes)
{
	static const char zeros[PAGE];
	long done = 0;

	for (uint64_t at = from; at < from + bytes && done >= 0; at += PAGE)
		done = sys(SYS_pwrite64, fd, zeros, PAGE, at);
	return done < 0 ? done : 0;
}

static long reserve(int fd, uint64_t from, uint64_t bytes)
{
	long error;

	if (!within_file_size_limit(from + bytes))
		return -EFBIG;
	do
		error = sys(SYS_fallocate, fd, 0, from, bytes);
	while (error == -EINTR);
	if (error == -EOPNOTSUPP || error == -ENOSYS)
		error = reserve_by_writing(fd, from, bytes);
	return error;
}

/* Right below `below`, or, where something stands there, further and further down. */
static long map_below(int fd, uint64_t from, uint64_t bytes, uint64_t below)
{
	uint64_t at = below - bytes, step = bytes;

	while (at < below && at > LOWEST) {
		long got = sys(SYS_mmap, at, bytes, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_FIXED_NOREPLACE, fd, from);

		if (got == (long)at || (sys_failed(got) && got != -EEXIST))
			return got;
		if (!sys_failed(got)) /* before Linux 4.17, a mere hint */
			sys(SYS_munmap, got, bytes);
		at -= step;
		step *= 2;
	}
	return -ENOMEM;
}

static long map(int fd, uint64_t from, uint64_t bytes, const void *below)
{
	long at;

	if (below)
		at = map_below(fd, from, bytes, (uint64_t)below);
	else
		at = sys(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, from);
	/* MAP_POPULATE would fault shared pages in for reading only. Older kernels: fault later. */
	if (!sys_failed(at) && sys(SYS_madvise, at, bytes, MADV_POPULATE_WRITE) == -EFAULT) {
		sys(SYS_munmap, at, bytes);
		return -EFAULT;
	}
	return at;
}

long dprof_file_map(const char *path, int flags, uint64_t from, uint64_t bytes, const void *below)
{
	int fd = (int)sys(SYS_open, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0666);
	long at;

	if (fd < 0)
		return fd;
	at = reserve(fd, from, bytes);
	if (at == 0)
		at = map(fd, from, bytes, below);
	sys(SYS_close, fd);
	return at;
}

/* A claimed record is unwritten while its claimer is interrupted: perhaps for long, by a
 * handler that filled chunks; perhaps for ever, by a handler that jumped away. Such a chunk
 * stays mapped. */
static bool all_written(const struct dprof_chunk *c)
{
	const uint64_t *end = c->start + c->bytes / sizeof(*end);

	for (const uint64_t *word = c->start; word < end; word++)
		if (!*word)
			return false;
	return true;
}

static size_t next_bytes(const struct dprof_thread *t)
{
	size_t now = t->chunk[t->current % DPROF_CHUNKS].bytes;
	size_t most = dprof_settings.chunk_bytes;

	if (!now)
		return most < DPROF_FIRST_CHUNK ? most : DPROF_FIRST_CHUNK;
	return now < most / 2 ? 2 * now : most;
}

int dprof_chunk_make(struct dprof_thread *t)
{
	struct dprof_chunk *c = &t->chunk[(t->current + 1) % DPROF_CHUNKS];
	size_t bytes = next_bytes(t);
	long at;

	if (c->start && all_written(c))
		sys(SYS_munmap, c->start, c->bytes);
	c->start = NULL;
	at = dprof_file_map(t->path, 0, t->file_bytes, bytes,
			    t->chunk[t->current % DPROF_CHUNKS].start);
	if (sys_failed(at))
		return (int)at;
	c->start = (uint64_t *)at;
	c->bytes = bytes;
	t->file_bytes += bytes;
	return 0;
}

/* The order of the three stores matters: a handler that records between them finds no room and
 * takes its claim back, whichever chunk `next` stands in. */
void dprof_chunk_enter(struct dprof_thread *t)
{
	struct dprof_chunk *old = &t->chunk[t->current % DPROF_CHUNKS];
	struct dprof_chunk *c = &t->chunk[++t->current % DPROF_CHUNKS];
	uint64_t *start = c->start;
	size_t n = c->bytes / sizeof(*start);
	volatile struct dprof_cursor *cursor = &__dprof_cursor;
	uint64_t lost;

	t->before = old->start ? old->start + old->bytes / sizeof(*start) - 1 : NULL;
	t->current_offset = t->file_bytes - c->bytes;
	t->chunk_end = start + n;
	t->refused = 0;
	lost = __atomic_exchange_n(&t->lost_unwritten, 0, __ATOMIC_RELAXED);
	if (lost)
		*start++ = dprof_escape_word(DPROF_ESCAPE_LOST, 0, lost);
	*start++ = dprof_epoch_word(dprof_now());
	cursor->end = NULL;
	cursor->next = start;
	cursor->end = dprof_fast() ? t->chunk_end : NULL;
}
