/* SPDX-License-Identifier: MIT
 *
 * chunks_words.c - the words of a thread are read and unpacked, a part at a time.
 *
 * Nothing is mapped: a running program cuts its files off when a thread ends. A word from .events counts
 * only if its chunk still had its number after it was read; else the chunk was packed meanwhile. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/memory.h"
#include "analysis/trace/chunks_private.h"
#include "analysis/trace/trace.h"
#include "runtime/sum.h"

/* ---- Pieces ---------------------------------------------------------------------------------- */

static void make_room(struct ch_words *w, size_t words)
{
	if (words > w->room) {
		free(w->buffer);
		w->buffer = mem_resize(NULL, words, sizeof *w->buffer);
		w->room = words;
	}
}

static bool unpack(struct ch_words *w, const struct ch_piece *p)
{
	const char *found;
	struct dprof_part header;
	int fd = packed_file(w, &found);
	make_room(w, dprof_folded_words(p->words));
	bool read = fd >= 0 && read_at(fd, &header, sizeof header, p->offset) && header.check == p->check &&
		    unpacker_words(w->unpacker, fd, p->offset, w->owner, p->words, w->buffer);
	w->first = p->at;
	w->nbuffered = read ? p->n : 0;
	return read;
}

/* Words of a piece that were read: what comes of a sum that was right when the file was opened. */
static void add_up(struct ch_words *w, const struct ch_piece *p)
{
	if (w->first == p->at) {
		w->sum = DPROF_SUM_BEGIN;
		w->sum_at = p->at;
	}
	size_t end = p->at + p->summed, n = w->nbuffered;
	if (w->first != w->sum_at || w->first >= end)
		return;
	n = n < end - w->first ? n : end - w->first;
	w->sum = dprof_sum_words(w->sum, w->buffer, n);
	w->sum_at += n;
	w->changed |= w->sum_at == end && w->sum != p->sum;
}

/* The slice of a piece that is not packed, with word i. */
static bool read_slice(struct ch_words *w, const struct ch_piece *p, size_t i)
{
	size_t skip = (i - p->at) / DPROF_PART_WORDS * DPROF_PART_WORDS;
	size_t n = p->n - skip < DPROF_PART_WORDS ? p->n - skip : DPROF_PART_WORDS;
	uint64_t number = 0;
	make_room(w, n);
	int fd = place_file(w, p->in_slot);
	bool read = read_at(fd, w->buffer, n * sizeof *w->buffer, p->offset + skip * sizeof *w->buffer) &&
		    read_at(fd, &number, sizeof number, p->place);
	w->first = p->at + skip;
	w->nbuffered = n;
	read = read && (!w->numbered || number == dprof_escape_word(DPROF_ESCAPE_CHUNK, 0, p->chunk));
	if (read)
		add_up(w, p);
	return read;
}

/* Piece k was in .events, and is packed now: its parts stand in for it. False if it is not. */
static bool replace_by_parts(struct ch_words *w, size_t k)
{
	struct ch_piece old = w->piece[k];
	struct packed_parts parts = parts_list(w, 0);
	size_t first = 0, n = 0;
	while (first < parts.n && parts.part[first].header.chunk != old.chunk)
		first++;
	for (size_t at = 0; first + n < parts.n && parts.part[first + n].header.chunk == old.chunk &&
			    at < old.n; n++)
		at += parts.part[first + n].header.words;
	if (n) {
		w->piece = mem_resize(w->piece, w->npieces + n, sizeof *w->piece);
		memmove(w->piece + k + n, w->piece + k + 1, (w->npieces - k - 1) * sizeof *w->piece);
		w->npieces += n - 1;
	}
	for (size_t i = 0; i < n; i++) {
		const struct packed_part *part = &parts.part[first + i];
		size_t left = old.n - part->header.first;
		w->piece[k + i] = (struct ch_piece){
			.at = old.at + part->header.first, .chunk = old.chunk,
			.n = left < part->header.words ? left : part->header.words,
			.offset = part->offset, .bytes = part->header.bytes,
			.words = part->header.words, .check = part->header.check };
	}
	free(parts.part);
	return n > 0;
}

/* Words of which the first says that something is lost. What follows in the same chunk would lack what stood
 * before: epochs. */
static void fill(struct ch_words *w, size_t k)
{
	const struct ch_piece *p = &w->piece[k];
	w->first = p->at;
	w->nbuffered = p->n < DPROF_PART_WORDS ? p->n : DPROF_PART_WORDS;
	make_room(w, w->nbuffered);
	for (size_t i = 0; i < w->nbuffered; i++)
		w->buffer[i] = dprof_escape_word(i ? DPROF_ESCAPE_NOTHING : DPROF_ESCAPE_LOST, 0, 1);
	for (; k < w->npieces && w->piece[k].chunk == p->chunk; k++)
		w->piece[k].damaged = true;
	w->gaps = true;
}

static size_t piece_of(const struct ch_words *w, size_t i)
{
	size_t lo = 0, hi = w->npieces;
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;
		if (w->piece[mid].at <= i)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

struct ch_run ch_run_elsewhere(struct ch_words *w, size_t i)
{
	size_t k = piece_of(w, i);
	if (!w->piece[k].bytes && !w->piece[k].damaged && !read_slice(w, &w->piece[k], i)) {
		if (!replace_by_parts(w, k))
			w->piece[k].damaged = true;
		k = piece_of(w, i);
	}
	const struct ch_piece *p = &w->piece[k];
	if (p->damaged || (p->bytes && !unpack(w, p)))
		fill(w, k);
	if (i - w->first >= w->nbuffered) { /* within a damaged piece of many parts */
		w->first += (i - w->first) / DPROF_PART_WORDS * DPROF_PART_WORDS;
		if (p->at + p->n - w->first < w->nbuffered)
			w->nbuffered = p->at + p->n - w->first;
	}
	return (struct ch_run){ w->buffer + (i - w->first), w->nbuffered - (i - w->first) };
}

/* ---- For diagnostics ------------------------------------------------------------------------- */

const char *ch_file(const struct ch_words *w, size_t i)
{
	const struct ch_piece *p = w->npieces ? &w->piece[piece_of(w, i)] : NULL;
	return p && p->bytes ? w->packed : place_name(w, p && p->in_slot);
}

uint64_t ch_offset(const struct ch_words *w, size_t i)
{
	const struct ch_piece *p = &w->piece[piece_of(w, i)];
	return p->offset + (p->bytes ? 0 : (i - p->at) * sizeof(uint64_t));
}

size_t ch_damaged_words(const struct ch_words *w)
{
	size_t n = 0;
	for (size_t i = 0; i < w->npieces; i++)
		if (w->piece[i].damaged)
			n += (w->piece[i].n + DPROF_PART_WORDS - 1) / DPROF_PART_WORDS;
	return n;
}

void ch_tell_damage(struct trace *t, struct ch_words *w)
{
	size_t words = 0, first = w->npieces;
	for (size_t i = w->npieces; i-- > 0;)
		if (w->piece[i].damaged && !w->piece[i].missing) {
			words += w->piece[i].n;
			first = i;
		}
	if (w->changed)
		trace_diagnose(t, "%s: expected the words that the file had when it was opened, found others: they were "
				  "changed while they were read", place_name(w, w->nursery && w->events_fd < 0));
	w->gaps |= w->changed;
	if (first == w->npieces)
		return;
	const struct ch_piece *p = &w->piece[first];
	trace_diagnose(t,
		       "%s: offset %" PRIu64 ": expected the %s, found %s (%zu words are left out)",
		       p->bytes ? w->packed : place_name(w, p->in_slot), p->offset,
		       p->bytes ? "packed records that its checksum tells" : "words of a chunk",
		       p->bytes ? "others" : "a place that was wiped", words);
}
