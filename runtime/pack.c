/* SPDX-License-Identifier: MIT
 *
 * pack.c - a chunk becomes parts of a .packed file (packed.h).
 *
 * Runs in the helper only, so it may use any register. zstd is part of libdprof, under names that
 * nobody outside sees (room.mk): the program may have another one. All its memory is one mapping of our
 * own: the program's malloc() does not notice us.
 *
 * Law: the file has whole chunks only, unless the process was killed within one. */
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "runtime/pack.h"
#include "runtime/packed.h"
#include "runtime/sys.h"
#include "runtime/thread.h"

#define LEVEL        1  /* the fastest that still finds what repeats */
#define WINDOW_LOG   17 /* a part */
#define PACKED_MOST  ZSTD_COMPRESSBOUND(DPROF_PART_WORDS * sizeof(uint64_t))

/* Everything that packing needs, and behind it what zstd needs. */
struct space {
	uint64_t words[DPROF_PART_WORDS];
	uint8_t planes[DPROF_PART_WORDS * sizeof(uint64_t)];
	struct {
		struct dprof_part header;
		uint8_t bytes[PACKED_MOST];
	} part;
	uint64_t zstd[] __attribute__((aligned(64)));
};

static struct space *space;
static size_t space_bytes;
static ZSTD_CCtx *zstd;

static bool open_space(void)
{
	ZSTD_compressionParameters p = ZSTD_getCParams(LEVEL, sizeof(space->planes), 0);
	size_t needed;
	long at;

	if (space)
		return true;
	p.windowLog = WINDOW_LOG;
	needed = ZSTD_estimateCCtxSize_usingCParams(p);
	at = sys(SYS_mmap, NULL, sizeof(*space) + needed, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ZSTD_isError(needed) || sys_failed(at))
		return false;
	space = (struct space *)at;
	space_bytes = sizeof(*space) + needed;
	zstd = ZSTD_initStaticCCtx(space->zstd, needed);
	if (zstd && !ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, LEVEL)) &&
	    !ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_windowLog, WINDOW_LOG)) &&
	    !ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1)))
		return true;
	dprof_pack_close();
	return false;
}

void dprof_pack_close(void)
{
	if (space)
		sys(SYS_munmap, space, space_bytes);
	space = NULL;
	zstd = NULL;
}

/* The offset behind the part, or -errno. */
static long write_part(int fd, uint64_t offset, struct dprof_part part, const uint64_t *words)
{
	size_t bytes = dprof_folded_words(part.words) * sizeof(*words), packed;

	dprof_fold(words + part.first, space->planes, part.words, space->words);
	packed = ZSTD_compress2(zstd, space->part.bytes, PACKED_MOST, space->planes, bytes);
	if (ZSTD_isError(packed))
		return -EIO;
	part.magic = DPROF_PART_MAGIC;
	part.bytes = (uint32_t)packed;
	part.check = dprof_part_check(&part);
	space->part.header = part;
	return dprof_file_write(fd, &space->part, sizeof(part) + packed, offset);
}

static long write_parts(int fd, uint64_t offset, uint64_t number, const uint64_t *words, size_t n)
{
	long at = (long)offset;

	for (size_t first = 0, here; first < n && at >= 0; first += here) {
		here = n - first < DPROF_PART_WORDS ? n - first : DPROF_PART_WORDS;
		at = write_part(fd, (uint64_t)at,
				(struct dprof_part){ .chunk = number, .first = (uint32_t)first,
						     .words = (uint32_t)here, .of = (uint32_t)n },
				words);
	}
	if (at < 0)
		sys(SYS_ftruncate, fd, offset);
	return at;
}

long dprof_pack(const char *path, uint64_t offset, uint64_t number, const uint64_t *words, size_t n)
{
	int create = offset ? 0 : O_CREAT | O_EXCL, fd;
	long at;

	if (!open_space())
		return -ENOMEM;
	fd = (int)sys(SYS_open, path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | create, 0666);
	if (fd < 0)
		return fd;
	at = write_parts(fd, offset, number, words, n);
	if (at < 0 && !offset)
		sys(SYS_unlink, path);
	sys(SYS_close, fd);
	return at;
}
