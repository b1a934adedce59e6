/* SPDX-License-Identifier: MIT
 *
 * chunks.c - which chunks a thread has, and in which of its files each is.
 *
 * Law: each number from 0 to the highest is found once, or said to be missing. The program may run
 * meanwhile: the places in the nursery and in .events are looked at, then the parts in .packed, and all again unless the places
 * are as they were. So a chunk that was packed in between is found packed. */
#define _GNU_SOURCE /* SEEK_DATA */
#include "analysis/trace/chunks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/memory.h"
#include "analysis/trace/chunks_private.h"
#include "analysis/trace/trace.h"
#include "runtime/sum.h"

#define TRIES 20 /* to see all chunks of a running program */
#define BLOCK ((size_t)1 << 16)

/* ---- Reading --------------------------------------------------------------------------------- */

bool read_at(int fd, void *to, size_t n, uint64_t offset)
{
	while (n) {
		ssize_t got = pread(fd, to, n, (off_t)offset);
		if (got <= 0)
			return false;
		to = (char *)to + got;
		offset += (uint64_t)got;
		n -= (size_t)got;
	}
	return true;
}

uint64_t next_data(int fd, uint64_t offset, uint64_t end)
{
	off_t data = lseek(fd, (off_t)offset, SEEK_DATA);
	if (data < 0)
		return errno == ENXIO ? end : offset;
	return (uint64_t)data < end ? (uint64_t)data : end;
}

/* Where the hole begins with which offset .. end - 1 ends; `end` if there is none. */
static uint64_t last_hole(int fd, uint64_t offset, uint64_t end)
{
	uint64_t hole = offset;
	while ((offset = next_data(fd, hole, end)) < end) {
		off_t after = lseek(fd, (off_t)offset, SEEK_HOLE);
		hole = after > 0 && (uint64_t)after < end ? (uint64_t)after : end;
	}
	return hole;
}

/* Words of a place up to the last that is not zero. */
static size_t used_words(int fd, uint64_t place, uint64_t bytes)
{
	uint64_t block[BLOCK / sizeof(uint64_t)];
	size_t all = bytes / sizeof *block;
	size_t n = (last_hole(fd, place, place + bytes) - place + sizeof *block - 1) / sizeof *block;
	n = n < all ? n : all;
	while (n) {
		size_t begin = (n - 1) / (BLOCK / sizeof *block) * (BLOCK / sizeof *block), k = n - begin;
		if (!read_at(fd, block, k * sizeof *block, place + begin * sizeof *block))
			k = 0; /* cut off since */
		while (k && !block[k - 1])
			k--;
		if (k)
			return begin + k;
		n = begin;
	}
	return 0;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

bool is_part(const struct dprof_part *p, uint32_t owner)
{
	bool now = p->magic == DPROF_PART_MAGIC;
	bool before = p->magic == DPROF_PART_MAGIC_3 || p->magic == DPROF_PART_MAGIC_2 || p->magic == DPROF_PART_MAGIC_1;
	return (now || before) && p->check == dprof_part_check(p, now ? owner : DPROF_PART_NOBODY) &&
	       p->words <= DPROF_PART_WORDS && p->words && p->first <= p->of && p->words <= p->of - p->first &&
	       p->bytes <= UNPACKER_BYTES;
}

/* The next place from `at` on where a part begins; or the size of the file. */
static uint64_t find_part(int fd, uint32_t owner, uint64_t at, uint64_t size)
{
	uint8_t block[BLOCK];
	struct dprof_part p;
	while ((at = next_data(fd, at, size)) + sizeof p <= size) {
		size_t n = size - at < BLOCK ? (size_t)(size - at) : BLOCK;
		if (!read_at(fd, block, n, at))
			return size;
		for (size_t i = 0; i + sizeof p <= n; i++) {
			memcpy(&p, block + i, sizeof p);
			if (is_part(&p, owner))
				return at + i;
		}
		at += n - sizeof p + 1;
	}
	return size;
}

/* Parts of a chunk of which some are missing do not count; at the end they may still come. */
static void drop_incomplete(struct packed_parts *parts)
{
	size_t kept = 0;
	for (size_t i = 0, end; i < parts->n; i = end) {
		uint64_t words = 0;
		for (end = i; end < parts->n && parts->part[end].header.chunk == parts->part[i].header.chunk &&
			      parts->part[end].header.first == words;
		     end++)
			words += parts->part[end].header.words;
		bool whole = end > i && words == parts->part[i].header.of;
		end += end == i;
		if (!whole && end == parts->n)
			parts->end = parts->part[i].offset;
		for (size_t k = i; k < end && whole; k++)
			parts->part[kept++] = parts->part[k];
	}
	parts->n = kept;
}

int packed_file(struct ch_words *w, const char **found)
{
	if (w->packed_fd < 0)
		w->packed_fd = unpacker_open_file(w->unpacker, w->packed, found);
	return w->packed_fd;
}

struct packed_parts parts_list(struct ch_words *w, uint64_t from)
{
	struct packed_parts parts = { .end = from, .damage = UINT64_MAX };
	struct stat status;
	const char *found;
	int fd = packed_file(w, &found);
	if (fd < 0 || fstat(fd, &status)) {
		parts.no_file = fd == -ENOENT ? NULL : fd < 0 ? found : strerror(errno);
		return parts;
	}
	uint64_t size = (uint64_t)status.st_size;
	struct packed_part p = { .offset = from };
	while (p.offset < size && size - p.offset >= sizeof p.header &&
	       read_at(fd, &p.header, sizeof p.header, p.offset)) {
		if (!is_part(&p.header, w->owner)) {
			if (parts.damage == UINT64_MAX) {
				parts.damage = p.offset;
				memcpy(&parts.found, &p.header, sizeof parts.found);
			}
			p.offset = find_part(fd, w->owner, p.offset + 1, size);
			continue;
		}
		uint64_t end = p.offset + sizeof p.header + p.header.bytes;
		if (end > size)
			break;
		*MEM_GROW(parts.part, parts.n) = p;
		parts.end = p.offset = end;
	}
	drop_incomplete(&parts);
	return parts;
}

/* ---- Places ---------------------------------------------------------------------------------- */

/* `seal`: bytes at its end that are no words; in_slot: 1 if it is in the nursery. */
struct chunk_place { uint64_t offset, bytes, first_word, seal, in_slot; };

struct chunk_places { struct chunk_place *place; size_t n; };

static uint64_t file_size(int fd)
{
	struct stat status;
	return fstat(fd, &status) ? 0 : (uint64_t)status.st_size;
}

static void add_slot(struct chunk_places *places, const struct ch_words *w)
{
	uint64_t size = file_size(w->nursery_fd), offset = w->slot + DPROF_SLOT_HEADER;
	uint64_t bytes = DPROF_SLOT - DPROF_SLOT_HEADER, here = size > offset ? size - offset : 0;
	struct chunk_place p = { .offset = offset, .bytes = here < bytes ? here : bytes, .in_slot = true };
	if (p.bytes == bytes)
		p.seal = DPROF_SEAL_WORDS * sizeof(uint64_t);
	if (read_at(w->nursery_fd, &p.first_word, sizeof p.first_word, offset) && p.first_word)
		*MEM_GROW(places->place, places->n) = p;
}

static struct chunk_places places_list(const struct ch_words *w, const struct dprof_events_header *h)
{
	struct chunk_places places = { 0 };
	int fd = w->events_fd;
	uint64_t offset = DPROF_HEADER_SIZE, size = fd < 0 ? 0 : file_size(fd);
	if (w->nursery)
		add_slot(&places, w);
	uint64_t bytes = h->first_chunk ? h->first_chunk : size > offset ? size - offset : 0;
	while (offset + sizeof(uint64_t) <= size) {
		uint64_t data = next_data(fd, offset, size);
		if (bytes == h->largest_chunk && bytes && data - offset > bytes)
			offset += (data - offset) / bytes * bytes; /* places that were never used */
		struct chunk_place p = { .offset = offset,
					 .bytes = size - offset < bytes ? size - offset : bytes };
		if (h->version >= DPROF_FORMAT_SUMMED && h->first_chunk && p.bytes == bytes)
			p.seal = DPROF_SEAL_WORDS * sizeof(uint64_t);
		if (!read_at(fd, &p.first_word, sizeof p.first_word, offset))
			break;
		if (p.first_word)
			*MEM_GROW(places.place, places.n) = p;
		offset += bytes;
		bytes = dprof_next_chunk(bytes, h->largest_chunk);
	}
	return places;
}

static bool places_equal(const struct chunk_places *a, const struct chunk_places *b)
{
	return a->n == b->n && (!a->n || !memcmp(a->place, b->place, a->n * sizeof *a->place));
}

/* ---- Files ----------------------------------------------------------------------------------- */

static bool is_more(const struct dprof_events_header *more, const struct dprof_events_header *h)
{
	return !memcmp(more->magic, DPROF_MORE_MAGIC, sizeof more->magic) && more->version == h->version &&
	       more->header_size == DPROF_HEADER_SIZE && more->word_size == h->word_size && more->thread == h->thread &&
	       more->pid == h->pid && (!more->started || more->started == h->started) &&
	       more->first_chunk == h->first_chunk && more->largest_chunk == h->largest_chunk;
}

/* A file that was made, and not begun. */
static bool is_blank(int fd)
{
	uint64_t first = 0, magic = 0;
	read_at(fd, &magic, sizeof magic, 0);
	read_at(fd, &first, sizeof first, DPROF_HEADER_SIZE);
	return !magic && !first;
}

/* The file in which a thread goes on that has a slot. True as long as it may not have come to that. */
static bool open_more(struct trace *t, struct ch_words *w, const struct dprof_events_header *h)
{
	struct dprof_events_header more;
	const char *found;
	int fd = unpacker_open_file(w->unpacker, w->events, &found);
	bool read = fd >= 0 && read_at(fd, &more, sizeof more, 0);
	if (read && is_more(&more, h)) {
		w->events_fd = fd;
		return false;
	}
	bool blank = fd == -ENOENT || (fd >= 0 && is_blank(fd));
	if (fd >= 0)
		close(fd);
	if (blank)
		return true;
	trace_diagnose(t, "%s: expected what thread %" PRIu32 " recorded behind its slot in %s, found %s", w->events,
		       h->thread, w->nursery, fd < 0 ? found : read ? "another header" : "a file that is cut short");
	w->gaps = true;
	return false;
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

/* One chunk: parts first .. first + n - 1, or a place. */
struct chunk { uint64_t number; size_t first, n, place; };

static int by_number(const void *a, const void *b)
{
	const struct chunk *x = a, *y = b;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (x->n == 0) - (y->n == 0); /* the packed one counts */
}

struct listing {
	struct chunk_places places;
	struct packed_parts parts;
	struct chunk *chunk; size_t nchunks;
};

/* A chunk that is there again is another one of the same number. */
static void list_chunks(struct listing *l)
{
	for (size_t i = 0, end; i < l->parts.n; i = end) {
		uint64_t number = l->parts.part[i].header.chunk;
		for (end = i + 1; end < l->parts.n && l->parts.part[end].header.chunk == number && l->parts.part[end].header.first; end++)
			;
		*MEM_GROW(l->chunk, l->nchunks) = (struct chunk){ number, i, end - i, 0 };
	}
	for (size_t i = 0; i < l->places.n; i++)
		if (dprof_is(l->places.place[i].first_word, DPROF_ESCAPE_CHUNK))
			*MEM_GROW(l->chunk, l->nchunks) = (struct chunk){
				.number = dprof_value(l->places.place[i].first_word), .place = i };
	if (l->nchunks)
		qsort(l->chunk, l->nchunks, sizeof *l->chunk, by_number);
}

/* Adds what has come to the file of packed chunks since. */
static void list_more_parts(struct listing *l, struct ch_words *w)
{
	struct packed_parts more = parts_list(w, l->parts.end);
	for (size_t i = 0; i < more.n; i++)
		*MEM_GROW(l->parts.part, l->parts.n) = more.part[i];
	l->parts.end = more.end;
	l->parts.no_file = more.no_file;
	if (l->parts.damage == UINT64_MAX) {
		l->parts.damage = more.damage;
		l->parts.found = more.found;
	}
	free(more.part);
}

/* Of a program that is too fast for us, what it had recorded before some chunk that we did not see. */
static void leave_out_newest(struct listing *l)
{
	uint64_t next = 0;
	size_t n = 0;
	while (n < l->nchunks && l->chunk[n].number <= next) {
		next = l->chunk[n].number + 1;
		n++;
	}
	l->nchunks = n;
}

static struct listing list(struct trace *t, struct ch_words *w, const struct dprof_events_header *h)
{
	bool same = false, more = w->nursery && open_more(t, w, h);
	struct listing l = { .places = places_list(w, h), .parts.damage = UINT64_MAX };
	for (int i = 0; i < TRIES && !same; i++) {
		list_more_parts(&l, w);
		more = more && open_more(t, w, h);
		struct chunk_places again = places_list(w, h);
		same = places_equal(&l.places, &again);
		free(l.places.place);
		l.places = again;
	}
	list_chunks(&l);
	if (!same)
		leave_out_newest(&l);
	return l;
}

/* ---- What it comes to ------------------------------------------------------------------------ */

static void add_parts(struct ch_words *w, const struct packed_part *part, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct dprof_part *h = &part[i].header;
		*MEM_GROW(w->piece, w->npieces) = (struct ch_piece){
			.at = w->n, .n = h->words, .chunk = h->chunk,
			.offset = part[i].offset, .bytes = h->bytes, .words = h->words, .check = h->check };
		w->n += h->words;
	}
}

/* One word that says that something is lost here. */
static void add_missing(struct ch_words *w)
{
	*MEM_GROW(w->piece, w->npieces) = (struct ch_piece){
		.at = w->n, .n = 1, .chunk = UINT64_MAX, .damaged = true, .missing = true };
	w->n++;
	w->gaps = true;
}

/* What was said of the words in a place when nothing was going to change them any more. */
struct claim { bool made, sealed, more, due; uint64_t words, sum; };

/* `summed`: of each chunk something was said. But not of all of a thread that ran on: it was in some chunk when the
 * kernel ended it, however far behind those of its end. That none between is missing is looked for anyway. */
static struct claim claim_of(const struct ch_words *w, const struct chunk_place *p, uint64_t number,
			     const struct dprof_end *end)
{
	int fd = place_file(w, p->in_slot);
	bool summed = w->summed;
	bool due = summed && !(end && end->ran_on);
	uint64_t seal[DPROF_SEAL_WORDS];
	bool sealed = p->seal && read_at(fd, seal, sizeof seal, p->offset + p->bytes - sizeof seal) && seal[0];
	if (end && number + 1 == end->chunks && !(sealed && end->ran_on))
		return (struct claim){ true, false, end->ran_on, due, end->words, end->sum };
	if (!sealed)
		return (struct claim){ .due = due };
	return (struct claim){ true, true, false, due, seal[0], seal[1] };
}

static bool sum_of_words(int fd, uint64_t offset, uint64_t words, uint64_t *sum)
{
	uint64_t block[BLOCK / sizeof(uint64_t)];
	*sum = DPROF_SUM_BEGIN;
	for (uint64_t at = 0, n; at < words; at += n) {
		n = words - at < BLOCK / sizeof *block ? words - at : BLOCK / sizeof *block;
		if (!read_at(fd, block, n * sizeof *block, offset + at * sizeof *block))
			return false;
		*sum = dprof_sum_words(*sum, block, n);
	}
	return true;
}

/* False after a diagnostic: then the words are not to be believed. */
static bool check_claim(struct trace *t, const struct ch_words *w, const struct chunk_place *p, const struct claim *c)
{
	uint64_t here = p->bytes / sizeof(uint64_t), sum = 0;
	const char *name = place_name(w, p->in_slot);
	if (c->words > here)
		trace_diagnose(t,
			       "%s: offset %" PRIu64 ": expected a chunk of %" PRIu64 " words, found %" PRIu64
				 ": the file is cut short (the chunk is left out)",
			       name, p->offset, c->words, here);
	else if (!sum_of_words(place_file(w, p->in_slot), p->offset, c->words, &sum) || sum != c->sum)
		trace_diagnose(t,
			       "%s: offset %" PRIu64 ": expected %" PRIu64 " words with the sum 0x%" PRIx64
				 ", found 0x%" PRIx64 ": they were changed (the chunk is left out)",
			       name, p->offset, c->words, c->sum, sum);
	else
		return true;
	return false;
}

/* How many words a place holds. SIZE_MAX: they are not to be believed. */
static size_t words_in(struct trace *t, const struct ch_words *w, const struct chunk_place *p, bool last,
		       const struct claim *c)
{
	const char *name = place_name(w, p->in_slot);
	size_t n = used_words(place_file(w, p->in_slot), p->offset, p->bytes - p->seal);
	size_t all = p->bytes / sizeof(uint64_t);
	if (c->made && !check_claim(t, w, p, c))
		return SIZE_MAX;
	if (n && c->due && !c->made) {
		trace_diagnose(t,
			       "%s: offset %" PRIu64 ": expected the sum of a chunk, found none (the chunk is left out)",
			       name, p->offset);
		return SIZE_MAX;
	}
	if (c->made && !c->sealed && !c->more && n > c->words)
		trace_diagnose(t,
			       "%s: offset %" PRIu64 ": expected the end of the records, found more behind it",
			       name, p->offset + c->words * sizeof(uint64_t));
	if (c->made && !c->more)
		return c->words;
	if (!last && n + DPROF_SLACK_WORDS < all) /* the thread left it full: what is not there, is missing */
		n = all - DPROF_SLACK_WORDS;
	return n;
}

static void add_place(struct trace *t, struct ch_words *w, const struct chunk_place *p,
		      bool last, const struct dprof_end *end)
{
	struct claim claim = claim_of(w, p, w->numbered ? dprof_value(p->first_word) : 0, end);
	size_t n = words_in(t, w, p, last, &claim);
	if (n == SIZE_MAX)
		add_missing(w);
	if (!n || n == SIZE_MAX)
		return;
	if (end && w->vouched == SIZE_MAX && !(claim.made && claim.words >= n))
		w->vouched = w->n + (claim.made ? claim.words : 0);
	*MEM_GROW(w->piece, w->npieces) = (struct ch_piece){
		.at = w->n, .n = n, .chunk = dprof_value(p->first_word),
		.offset = p->offset, .place = p->offset, .in_slot = p->in_slot,
		.summed = claim.made && claim.words <= n ? claim.words : 0, .sum = claim.sum };
	w->n += n;
}

static void tell_foreign(struct trace *t, struct ch_words *w, const struct listing *l)
{
	size_t foreign = 0;
	const struct chunk_place *first = NULL;
	for (size_t i = l->places.n; i-- > 0 && w->numbered;)
		if (!dprof_is(l->places.place[i].first_word, DPROF_ESCAPE_CHUNK)) {
			first = &l->places.place[i];
			foreign++;
		}
	if (first)
		trace_diagnose(t,
			       "%s: offset %" PRIu64 ": expected the number of a chunk, found 0x%" PRIx64
				 " (%zu chunk%s left out)",
			       place_name(w, first->in_slot), first->offset, first->first_word, foreign,
			       foreign > 1 ? "s are" : " is");
	w->gaps |= foreign > 0;
}

static void tell_missing(struct trace *t, struct ch_words *w, const struct listing *l,
			 const struct dprof_end *end)
{
	uint64_t next = 0, missing = 0, first = 0;
	for (size_t i = 0; i < l->nchunks; i++) {
		uint64_t number = l->chunk[i].number;
		if (number > next) {
			first = missing ? first : next;
			missing += number - next;
		}
		next = number >= next ? number + 1 : next;
	}
	if (end && w->numbered && next < end->chunks) {
		first = missing ? first : next;
		missing += end->chunks - next;
		next = end->chunks;
		add_missing(w);
	}
	if (end && w->numbered && next > end->chunks && !end->ran_on)
		trace_diagnose(t, "%s: expected %" PRIu64 " chunks, found chunk %" PRIu64,
			       w->events, end->chunks, next - 1);
	if (missing)
		trace_diagnose(t,
			       "%s: expected chunk %" PRIu64 " here or in %s, found neither (%" PRIu64
				 " of %" PRIu64 " chunks are missing)",
			       place_name(w, w->nursery && !first), first, w->packed, missing, next);
	w->gaps |= missing > 0;
}

static void tell(struct trace *t, struct ch_words *w, const struct listing *l, const struct dprof_end *end)
{
	if (l->parts.damage != UINT64_MAX) {
		trace_diagnose(t,
			       "%s: offset %" PRIu64 ": expected packed records of this thread, found 0x%" PRIx64,
			       w->packed, l->parts.damage, l->parts.found);
		w->gaps = true;
	}
	if (l->parts.no_file) {
		trace_diagnose(t, "%s: expected a file of packed records, found %s", w->packed,
			       l->parts.no_file);
		w->gaps = true;
	}
	tell_foreign(t, w, l);
	tell_missing(t, w, l, end);
}

static void tell_nothing(struct trace *t, struct ch_words *w, const struct dprof_end *end)
{
	trace_diagnose(t, "%s: offset %d: expected %" PRIu64 " words, found none", w->events,
		       DPROF_HEADER_SIZE, end->words);
	add_missing(w);
}

static char *packed_name(const char *events)
{
	return mem_format("%.*s.packed", (int)(strlen(events) - strlen(".events")), events);
}

static void add_chunks(struct trace *t, struct ch_words *w, const struct listing *l,
		       const struct dprof_end *end)
{
	uint64_t next = 0;
	for (size_t i = 0; i < l->nchunks; i++) {
		const struct chunk *c = &l->chunk[i];
		if (i && c->number == l->chunk[i - 1].number)
			continue;
		if (c->number > next)
			add_missing(w);
		next = c->number + 1;
		if (c->n)
			add_parts(w, &l->parts.part[c->first], c->n);
		else
			add_place(t, w, &l->places.place[c->place], i + 1 == l->nchunks, end);
	}
}

struct ch_words ch_open(struct trace *t, struct ch_unpacker *u, struct ch_files f,
			const struct dprof_events_header *h, bool summed, const struct dprof_end *end)
{
	struct ch_words w = { .unpacker = u, .events = mem_copy(f.events), .packed = packed_name(f.events), .summed = summed,
			      .nursery = f.nursery ? mem_copy(f.nursery) : NULL, .slot = f.slot, .owner = dprof_part_owner(h),
			      .numbered = h->first_chunk != 0, .vouched = SIZE_MAX,
			      .packed_fd = -1, .events_fd = f.nursery ? -1 : f.fd, .nursery_fd = f.nursery ? f.fd : -1 };
	struct listing l = list(t, &w, h);
	bool cut = w.gaps; /* what was recorded behind the slot cannot be read */
	if (w.numbered)
		add_chunks(t, &w, &l, end);
	else if (l.places.n)
		add_place(t, &w, &l.places.place[0], true, end);
	else if (end && end->words)
		tell_nothing(t, &w, end);
	if (cut && !end) /* else it says how many chunks there were */
		add_missing(&w);
	tell(t, &w, &l, end);
	free(l.places.place);
	free(l.parts.part);
	free(l.chunk);
	return w;
}

void ch_cut(struct ch_words *w, size_t n)
{
	while (w->npieces && w->piece[w->npieces - 1].at >= n)
		w->npieces--;
	struct ch_piece *last = w->npieces ? &w->piece[w->npieces - 1] : NULL;
	if (last) {
		last->n = n - last->at;
		last->summed = last->summed <= last->n ? last->summed : 0;
	}
	w->n = n;
	w->nbuffered = 0;
	w->gaps = true;
}

void ch_close(struct ch_words *w)
{
	if (w->events_fd >= 0)
		close(w->events_fd);
	if (w->packed_fd >= 0)
		close(w->packed_fd);
	if (w->nursery_fd >= 0)
		close(w->nursery_fd);
	free(w->nursery);
	free(w->events);
	free(w->packed);
	free(w->piece);
	free(w->buffer);
}
