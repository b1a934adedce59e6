/* SPDX-License-Identifier: MIT
 *
 * pack.c - a chunk becomes parts of a .packed file (packed.h).
 *
 * Runs in the helper only, so it may use any register. zstd is part of libdprof, under names that
 * nothing outside sees (room.mk): the program may have another one. All its memory is one mapping of our
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

#define PLANE_BYTES  DPROF_PART_WORDS /* at most */
#define PLANE_ROOM   (PLANE_BYTES + DPROF_FOLD_WORDS)
#define BODY_MOST    (sizeof(struct dprof_split) + DPROF_CLASSES * (sizeof(uint64_t) + sizeof(uint16_t)) + \
		      DPROF_PLANES * PLANE_BYTES + sizeof(uint64_t))

/* Classes and escapes repeat: the fastest level that still finds what does. In stamps hardly anything does but
 * that some bytes are more frequent: one that only just looks, and always tries Huffman's codes. */
#define LEVEL        1
#define LEVEL_STAMPS (-20)
#define HUFFMAN      1 /* ZSTD_ps_enable, which had another name before zstd 1.5.1 */

/* Everything that packing needs, and behind it what zstd needs. */
struct space {
	struct dprof_streams streams;
	uint8_t plane[PLANE_ROOM];
	struct {
		struct dprof_part header;
		uint8_t bytes[BODY_MOST];
	} part;
	uint64_t zstd[] __attribute__((aligned(64)));
};

static struct space *space;
static size_t space_bytes;
static ZSTD_CCtx *zstd;

static size_t zstd_bytes(int level)
{
	return ZSTD_estimateCCtxSize_usingCParams(ZSTD_getCParams(level, PLANE_BYTES, 0));
}

static bool open_space(void)
{
	size_t needed = zstd_bytes(LEVEL), stamps = zstd_bytes(LEVEL_STAMPS);
	long at;

	if (space)
		return true;
	needed = stamps > needed ? stamps : needed;
	at = sys(SYS_mmap, NULL, sizeof(*space) + needed, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ZSTD_isError(needed) || sys_failed(at))
		return false;
	space = (struct space *)at;
	space_bytes = sizeof(*space) + needed;
	zstd = ZSTD_initStaticCCtx(space->zstd, needed);
	if (zstd && !ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_literalCompressionMode, HUFFMAN)))
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

static bool all_equal(const uint8_t *byte, size_t n)
{
	return n == 0 || memcmp(byte, byte + 1, n - 1) == 0;
}

static size_t compressed(uint8_t *to, size_t most, const uint8_t *plane, size_t n, int level)
{
	size_t error = ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, level);

	return ZSTD_isError(error) ? error : ZSTD_compress2(zstd, to, most, plane, n);
}

/* n bytes as packed.h says; where they end. */
static uint8_t *put_plane(uint8_t *to, const uint8_t *plane, size_t n, int level, uint16_t *stored)
{
	size_t bytes = n > 0 && *plane;

	if (!all_equal(plane, n))
		bytes = compressed(to, n - n / 16 - 1, plane, n, level);
	if (ZSTD_isError(bytes))
		bytes = n;
	if (bytes == n || bytes == 1)
		memcpy(to, plane, bytes);
	*stored = (uint16_t)bytes;
	return to + bytes;
}

/* The 8 planes of n words, of which `bits` are the only ones that are set anywhere. */
static uint8_t *put_stream(uint8_t *to, const uint64_t *word, size_t n, uint64_t bits, int level, uint16_t stored[8])
{
	for (unsigned byte = 0; byte < 8; byte++) {
		if (!(bits >> 8 * byte & 255))
			continue;
		dprof_to_plane(word, n, byte, space->plane);
		to = put_plane(to, space->plane, n, level, &stored[byte]);
	}
	return to;
}

static uint8_t *fill_up(uint8_t *begin, uint8_t *to)
{
	while ((to - begin) % sizeof(uint64_t))
		*to++ = 0;
	return to;
}

/* How many bytes the words take in `body`, which is aligned as words are. */
static size_t pack_words(const uint64_t *word, size_t n, uint8_t *body)
{
	struct dprof_streams *s = &space->streams;
	struct dprof_split split = { 0 };
	uint8_t *to = body + sizeof(split);

	dprof_split(word, n, s);
	split.events = (uint16_t)s->events;
	split.escapes = (uint16_t)s->escapes;
	split.classes = (uint16_t)s->classes;
	memcpy(to, s->first, s->classes * sizeof(*s->first));
	to += s->classes * sizeof(*s->first);
	memcpy(to, s->count, s->classes * sizeof(*s->count));
	to = fill_up(body, to + s->classes * sizeof(*s->count));
	to = put_plane(to, s->class, n, LEVEL, &split.plane[0]);
	to = put_stream(to, s->event, s->events, s->event_bits, LEVEL_STAMPS, &split.plane[1]);
	to = put_stream(to, s->escape, s->escapes, s->escape_bits, LEVEL, &split.plane[9]);
	to = fill_up(body, to);
	memcpy(body, &split, sizeof(split));
	split.sum = dprof_split_sum(body, (size_t)(to - body));
	memcpy(body, &split, sizeof(split));
	return (size_t)(to - body);
}

/* The offset behind the part, or -errno. */
static long write_part(int fd, uint64_t offset, uint32_t owner, struct dprof_part part, const uint64_t *words)
{
	part.magic = DPROF_PART_MAGIC;
	part.bytes = (uint32_t)pack_words(words + part.first, part.words, space->part.bytes);
	part.check = dprof_part_check(&part, owner);
	space->part.header = part;
	return dprof_file_write(fd, &space->part, sizeof(part) + part.bytes, offset);
}

struct packing { const char *path; uint64_t offset; uint32_t owner; uint64_t number; const uint64_t *words; size_t n; };

static long write_parts(int fd, const struct packing *p)
{
	long at = (long)p->offset;

	for (size_t first = 0, here; first < p->n && at >= 0; first += here) {
		here = p->n - first < DPROF_PART_WORDS ? p->n - first : DPROF_PART_WORDS;
		at = write_part(fd, (uint64_t)at, p->owner,
				(struct dprof_part){ .chunk = p->number, .first = (uint32_t)first,
						     .words = (uint32_t)here, .of = (uint32_t)p->n },
				p->words);
	}
	if (at < 0)
		sys(SYS_ftruncate, fd, p->offset);
	return at;
}

static long pack(void *asked)
{
	const struct packing *p = asked;
	int create = p->offset ? 0 : O_CREAT | O_EXCL, fd;
	long at;

	if (!open_space())
		return -ENOMEM;
	fd = (int)sys(SYS_open, p->path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | create, 0666);
	if (fd < 0)
		return fd;
	at = write_parts(fd, p);
	if (at < 0 && !p->offset)
		sys(SYS_unlink, p->path);
	sys(SYS_close, fd);
	return at;
}

long dprof_pack(const char *path, uint64_t offset, uint32_t owner, uint64_t number, const uint64_t *words, size_t n)
{
	return dprof_do_apart(pack, &(struct packing){ path, offset, owner, number, words, n });
}
