/* SPDX-License-Identifier: MIT
 *
 * chunks_unpack.c - packed words become words, in each form (runtime/packed.h).
 *
 * Law: whatever the bytes are, what is read and written is within them and the unpacker; and they are unpacked
 * only if their sum is right. */
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "analysis/base/memory.h"
#include "analysis/trace/chunks_private.h"
#include "freezer/regular.h"

/* Planes of a stream are so far apart that they do not contend for the same lines of a cache. */
#define PLANE_ROOM (DPROF_PART_WORDS + 64)

struct ch_unpacker {
	int directory;
	ZSTD_DCtx *zstd;
	uint64_t packed[UNPACKER_BYTES / sizeof(uint64_t)];
	uint8_t planes[8 * PLANE_ROOM];
	struct dprof_streams streams;
};

struct ch_unpacker *ch_unpacker_open(int directory)
{
	struct ch_unpacker *u = mem_zeroed(1, sizeof *u);
	u->directory = directory;
	u->zstd = ZSTD_createDCtx();
	return u;
}

void ch_unpacker_close(struct ch_unpacker *u)
{
	if (!u)
		return;
	ZSTD_freeDCtx(u->zstd);
	free(u);
}

int unpacker_open_file(struct ch_unpacker *u, const char *name, const char **found)
{
	return frz_open_regular(u->directory, name, found);
}

/* ---- This form ------------------------------------------------------------------------------- */

/* What is left of the packed bytes; NULL: they were not what they should have been. */
struct rest { const uint8_t *at; size_t n; };

static const uint8_t *take(struct rest *r, size_t bytes)
{
	const uint8_t *at = r->at;
	if (!at || bytes > r->n) {
		r->at = NULL;
		return NULL;
	}
	r->at += bytes;
	r->n -= bytes;
	return at;
}

/* A plane of n bytes that is stored as so many. */
static void take_plane(struct ch_unpacker *u, struct rest *r, size_t stored, uint8_t *to, size_t n)
{
	const uint8_t *from = take(r, stored);
	if (!from)
		return;
	if (stored == n)
		memcpy(to, from, n);
	else if (stored <= 1)
		memset(to, stored ? *from : 0, n);
	else if (ZSTD_decompressDCtx(u->zstd, to, n, from, stored) != n)
		r->at = NULL;
}

static void take_stream(struct ch_unpacker *u, struct rest *r, const uint16_t stored[8], uint64_t *to, size_t n)
{
	for (size_t i = 0; i < 8; i++)
		take_plane(u, r, stored[i], u->planes + i * PLANE_ROOM, n);
	if (r->at)
		dprof_from_planes(u->planes, PLANE_ROOM, n, to);
}

/* What the classes are; false if they do not go with what is said of the streams. */
static bool take_classes(struct ch_unpacker *u, struct rest *r, const struct dprof_split *split)
{
	struct dprof_streams *s = &u->streams;
	size_t n = split->classes, words = 0;
	const uint8_t *first = n <= DPROF_CLASSES ? take(r, n * sizeof *s->first) : NULL;
	const uint8_t *count = take(r, (n * sizeof *s->count + 7) / 8 * 8);
	if (!n || !first || !count)
		return false;
	memcpy(s->first, first, n * sizeof *s->first);
	memcpy(s->count, count, n * sizeof *s->count);
	s->classes = split->classes;
	s->events = split->events;
	s->escapes = split->escapes;
	for (size_t c = 0; c < n; c++)
		words += s->count[c];
	return words == s->escapes && !s->count[0];
}

static bool merge(struct ch_unpacker *u, size_t bytes, size_t n, uint64_t *to)
{
	struct rest r = { (const uint8_t *)u->packed, bytes };
	struct dprof_split split;
	const uint8_t *at = take(&r, sizeof split);
	if (!at)
		return false;
	memcpy(&split, at, sizeof split);
	if (bytes % sizeof *u->packed || dprof_split_sum(u->packed, bytes) != split.sum ||
	    (size_t)split.events + split.escapes > n || !take_classes(u, &r, &split))
		return false;
	take_plane(u, &r, split.plane[0], u->streams.class, n);
	take_stream(u, &r, &split.plane[1], u->streams.event, split.events);
	take_stream(u, &r, &split.plane[9], u->streams.escape, split.escapes);
	return r.at && dprof_merge(&u->streams, n, to);
}

/* ---- All forms ------------------------------------------------------------------------------- */

static bool unfold(struct ch_unpacker *u, const struct dprof_part *p, uint64_t *to)
{
	size_t all = dprof_folded_words(p->words) * sizeof *to;
	size_t got = ZSTD_decompressDCtx(u->zstd, u->planes, sizeof u->planes, u->packed, p->bytes);
	if (got == all)
		dprof_unfold(u->planes, to, p->words, p->magic);
	return got == all;
}

bool unpacker_words(struct ch_unpacker *u, int fd, uint64_t offset, uint32_t owner, size_t n, uint64_t *to)
{
	struct dprof_part p;
	if (!read_at(fd, &p, sizeof p, offset) || !is_part(&p, owner) || p.words != n ||
	    !read_at(fd, u->packed, p.bytes, offset + sizeof p))
		return false;
	bool apart = p.magic == DPROF_PART_MAGIC || p.magic == DPROF_PART_MAGIC_3;
	return apart ? merge(u, p.bytes, n, to) : unfold(u, &p, to);
}
