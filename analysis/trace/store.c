/* SPDX-License-Identifier: MIT
 *
 * store.c - see store.h: what events are, each once; and blocks, as they are put in.
 *
 * Nothing that a trace says makes this grow without bound but its length: MOST_WHATS kinds of events are told apart.
 *
 * While writers write, what they share is behind one lock, which each takes once for a region. */
#include "analysis/trace/store.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/memory.h"
#include "analysis/base/temporary.h"
#include "analysis/base/vectorised.h"

#define MOST_WHATS ((uint32_t)1 << 22)

/* `memory`: NULL while a writer has it, and when its bytes are in the file. */
struct store_region { uint8_t *memory; size_t n; };

struct tr_store {
	pthread_mutex_t changing; /* what is below, while writers write */
	struct tr_writer **writers; size_t nwriters;
	struct store_region *region; size_t nregions;
	bool flushed;            /* some region has gone to the file, or should have */
	int file;                /* or -1 */
	int error;               /* why there is none, or why it does not grow any more */
	size_t nsites;
	size_t most;             /* events of a block */
};

struct tr_writer {
	struct tr_store *store;
	size_t number;
	struct tr_what *what; uint32_t nwhats; /* 0: LOST */
	bool full;               /* some would not fit */
	struct what_next *next;
	uint32_t *of_event; size_t nsites; /* without arguments, by TR_WHAT(); of the last site: it is missing */
	uint32_t *whats;         /* what each is for the store; NULL: the same */

	uint8_t *tail; size_t ntail; /* bytes of its region, or NULL */
	size_t region;
	size_t *spare; size_t nspare; /* regions whose bytes were given up */

	struct tr_blocks *blocks; /* of the thread that is put in */
	size_t most;             /* events of a block */
	size_t n, nvalues;       /* in this one */
	bool event;              /* the record before is one, or an argument of it */
	uint64_t is[STORE_EVENTS], stamp[STORE_EVENTS], value[2 * STORE_EVENTS];
};

/* ---- What events are ------------------------------------------------------------------------- */

static uint32_t add_what(struct tr_writer *w, struct tr_what what)
{
	if (w->nwhats == MOST_WHATS) {
		w->full = true;
		return STORE_NO_WHAT;
	}
	w->what = mem_grow(w->what, w->nwhats, sizeof *w->what);
	w->next = mem_grow(w->next, w->nwhats, sizeof *w->next);
	w->what[w->nwhats] = what;
	w->next[w->nwhats] = (struct what_next){ .of_key = { STORE_NO_WHAT } };
	return w->nwhats++;
}

static inline uint32_t *slot_of(struct tr_writer *w, uint64_t site, enum dprof_op op)
{
	return &w->of_event[TR_WHAT(site < w->nsites ? site : w->nsites, op)];
}

static uint32_t add_event(struct tr_writer *w, uint64_t site, enum dprof_op op)
{
	uint32_t *slot = slot_of(w, site, op);
	*slot = add_what(w, (struct tr_what){ .site = site < w->nsites ? (uint32_t)site : TR_NO_SITE,
					      .op = (uint8_t)op });
	if (*slot == STORE_NO_WHAT)
		*slot = *slot_of(w, TR_NO_SITE, op);
	return *slot;
}

static inline uint32_t what_of_event(struct tr_writer *w, uint64_t what)
{
	uint32_t known = *slot_of(w, TR_BODY(what), TR_OP(what));
	return known ? known : add_event(w, TR_BODY(what), TR_OP(what));
}

/* `what` with one argument more, which has not come yet. */
static uint32_t with_argument(struct tr_writer *w, uint32_t what, unsigned key)
{
	struct tr_what more = w->what[what];
	uint32_t now = STORE_NO_WHAT;
	if (!(more.keys & 1u << key)) {
		more.keys |= (uint16_t)(1u << key);
		more.key[more.nargs++] = (uint8_t)key;
		now = add_what(w, more);
	}
	return w->next[what].of_key[key] = now;
}

struct tr_store *store_open(size_t nsites, size_t nthreads)
{
	struct tr_store *s = mem_resize(NULL, 1, sizeof *s);
	size_t share = STORE_BUDGET / (nthreads ? nthreads : 1) / (4 * sizeof(uint64_t));
	*s = (struct tr_store){ .file = -1, .nsites = nsites };
	s->most = share < DPROF_KEY_COUNT ? DPROF_KEY_COUNT : share < STORE_EVENTS ? share : STORE_EVENTS;
	pthread_mutex_init(&s->changing, NULL);
	return s;
}

struct tr_writer *store_writer(struct tr_store *s)
{
	struct tr_writer *w = mem_resize(NULL, 1, sizeof *w);
	memset(w, 0, offsetof(struct tr_writer, is)); /* of the rest what was put there is read */
	w->store = s;
	w->nsites = s->nsites;
	w->most = s->most;
	w->of_event = mem_zeroed(TR_WHAT(w->nsites + 1, 0), sizeof *w->of_event);
	add_what(w, (struct tr_what){ .site = TR_NO_SITE, .op = DPROF_LOST, .nargs = 1 });
	for (unsigned op = 0; op < STORE_OPS; op++)
		what_of_event(w, TR_WHAT(TR_NO_SITE, op));
	pthread_mutex_lock(&s->changing);
	w->number = s->nwriters;
	*MEM_GROW(s->writers, s->nwriters) = w;
	pthread_mutex_unlock(&s->changing);
	return w;
}

static void close_writer(struct tr_writer *w)
{
	blocks_close(w->blocks);
	free(w->what);
	free(w->next);
	free(w->of_event);
	free(w->whats);
	free(w->tail);
	free(w->spare);
	free(w);
}

void store_close(struct tr_store *s)
{
	if (!s)
		return;
	if (s->file >= 0)
		close(s->file);
	for (size_t i = 0; i < s->nwriters; i++)
		close_writer(s->writers[i]);
	for (size_t i = 0; i < s->nregions; i++)
		free(s->region[i].memory);
	free(s->writers);
	free(s->region);
	pthread_mutex_destroy(&s->changing);
	free(s);
}

/* ---- The bytes ------------------------------------------------------------------------------- */

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

/* Whether there is a file that has grown as it should, so far. */
static bool has_file(struct tr_store *s)
{
	pthread_mutex_lock(&s->changing);
	s->flushed = true;
	if (s->file < 0 && !s->error && (s->file = temporary_open()) < 0)
		s->error = errno;
	bool has = !s->error;
	pthread_mutex_unlock(&s->changing);
	return has;
}

/* Those that are in memory stay there. */
static void keep_region(struct tr_writer *w, int error)
{
	struct tr_store *s = w->store;
	pthread_mutex_lock(&s->changing);
	s->error = s->error ? s->error : error;
	s->region[w->region] = (struct store_region){ mem_resize(w->tail, w->ntail ? w->ntail : 1, 1), w->ntail };
	pthread_mutex_unlock(&s->changing);
	w->tail = NULL;
}

static void note_written(struct tr_writer *w)
{
	pthread_mutex_lock(&w->store->changing);
	w->store->region[w->region].n = w->ntail;
	pthread_mutex_unlock(&w->store->changing);
}

/* What does not go to the file stays in memory. */
static void flush(struct tr_writer *w)
{
	if (!has_file(w->store))
		keep_region(w, 0);
	else if (!write_at(w->store->file, w->tail, w->ntail, w->region * STORE_REGION))
		keep_region(w, errno);
	else
		note_written(w);
}

static void begin_region(struct tr_writer *w)
{
	struct tr_store *s = w->store;
	if (!w->tail)
		w->tail = mem_resize(NULL, STORE_REGION, 1);
	w->ntail = 0;
	if (w->nspare) {
		w->region = w->spare[--w->nspare];
		return;
	}
	pthread_mutex_lock(&s->changing);
	w->region = s->nregions;
	*MEM_GROW(s->region, s->nregions) = (struct store_region){ NULL, 0 };
	pthread_mutex_unlock(&s->changing);
}

/* Room for so many bytes, which are less than a region. */
static uint8_t *more_bytes(struct tr_writer *w, size_t n)
{
	bool begun = w->tail != NULL;
	if (begun && w->ntail + n > STORE_REGION)
		flush(w);
	if (!begun || w->ntail + n > STORE_REGION)
		begin_region(w);
	return w->tail + w->ntail;
}

static size_t region_of(const struct tr_block *b)
{
	return b->offset / STORE_REGION;
}

/* The bytes of blocks that were the last to be put in. */
static void give_up(struct tr_writer *w, const struct tr_blocks *blocks)
{
	size_t first = blocks->nblocks ? region_of(&blocks->block[0]) : w->region, last = first;
	if (first == w->region) {
		w->ntail = blocks->nblocks ? blocks->block[0].offset % STORE_REGION : w->ntail;
		return;
	}
	w->ntail = 0;
	pthread_mutex_lock(&w->store->changing);
	for (size_t i = 0; i < blocks->nblocks; i++) {
		size_t region = region_of(&blocks->block[i]);
		if (region == last || region == w->region)
			continue;
		free(w->store->region[region].memory);
		w->store->region[region] = (struct store_region){ NULL, 0 };
		*MEM_GROW(w->spare, w->nspare) = last = region;
	}
	pthread_mutex_unlock(&w->store->changing);
}

static void read_file(const struct tr_store *s, uint64_t offset, size_t bytes, uint8_t *to)
{
	while (bytes) {
		ssize_t got = pread(s->file, to, bytes, (off_t)offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			fprintf(stderr, "dprof-analyze: the temporary file of decoded events cannot be read: %s\n",
				got < 0 ? strerror(errno) : "it is cut short");
			exit(EXIT_FAILURE);
		}
		to += got;
		offset += (uint64_t)got;
		bytes -= (size_t)got;
	}
}

void store_read(const struct tr_store *s, const struct tr_block *b, void *to)
{
	const uint8_t *region = s->region[region_of(b)].memory;
	if (region)
		memcpy(to, region + b->offset % STORE_REGION, b->bytes);
	else
		read_file(s, b->offset, b->bytes, to);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* How many bytes each of the numbers less `base` needs. */
VECTORISED static uint8_t bytes_of(const uint64_t *number, size_t n, uint64_t base)
{
	uint64_t bits = 0;
	for (size_t i = 0; i < n; i++)
		bits |= number[i] - base;
	return bits > UINT32_MAX ? 8 : bits > UINT16_MAX ? 4 : bits > UINT8_MAX ? 2 : 1;
}

/* A bit for each of the numbers, modulo 64. */
static uint64_t kinds_of(const uint64_t *number, size_t n)
{
	uint64_t kinds = 0;
#pragma GCC unroll 8
	for (size_t i = 0; i < n; i++)
		kinds |= UINT64_C(1) << (number[i] & 63);
	return kinds;
}

/* Numbers less `base`, of so many bytes each; the end, at a multiple of 8 bytes. */
VECTORISED static uint8_t *put_column(uint8_t *restrict to, unsigned bytes, const uint64_t *restrict number, size_t n,
				      uint64_t base)
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

/* n numbers of a type, each more than `base`. */
#define WIDEN(type, from, n, base, to)                                                             \
	for (size_t i = 0; i < (n); i++) {                                                         \
		type number;                                                                       \
		memcpy(&number, (from) + i * sizeof number, sizeof number);                        \
		(to)[i] = (base) + number;                                                         \
	}

/* Numbers of so many bytes each. -> where the next column begins. */
VECTORISED static const uint8_t *widen_64(const uint8_t *restrict from, unsigned bytes, size_t n, uint64_t base,
					  uint64_t *restrict to)
{
	if (bytes == 1)
		WIDEN(uint8_t, from, n, base, to)
	else if (bytes == 2)
		WIDEN(uint16_t, from, n, base, to)
	else if (bytes == 4)
		WIDEN(uint32_t, from, n, base, to)
	else
		WIDEN(uint64_t, from, n, base, to)
	return from + (n * bytes + 7) / 8 * 8;
}

VECTORISED static const uint8_t *widen_32(const uint8_t *restrict from, unsigned bytes, size_t n, uint32_t *restrict to)
{
	if (bytes == 1)
		WIDEN(uint8_t, from, n, 0, to)
	else if (bytes == 2)
		WIDEN(uint16_t, from, n, 0, to)
	else
		WIDEN(uint32_t, from, n, 0, to)
	return from + (n * bytes + 7) / 8 * 8;
}

struct block_head block_columns(const void *block, uint32_t *what, uint64_t *stamp, uint64_t *value)
{
	struct block_head head;
	memcpy(&head, block, sizeof head);
	const uint8_t *from = (const uint8_t *)block + sizeof head;
	from = widen_32(from, head.what_bytes, head.n, what);
	from = widen_64(from, head.stamp_bytes, head.n, head.stamp, stamp);
	widen_64(from, head.value_bytes, head.nvalues, 0, value);
	return head;
}

static void write_block(struct tr_writer *w)
{
	struct tr_blocks *b = w->blocks;
	if (!w->n)
		return;
	uint8_t *begin = more_bytes(w, BLOCK_BYTES(w->n, w->nvalues)), *to = begin + sizeof(struct block_head);
	struct block_head head = { .stamp = w->stamp[0], .n = (uint32_t)w->n, .nvalues = (uint32_t)w->nvalues,
				   .what_bytes = bytes_of(w->is, w->n, 0),
				   .stamp_bytes = bytes_of(w->stamp, w->n, w->stamp[0]),
				   .value_bytes = bytes_of(w->value, w->nvalues, 0) };
	memcpy(begin, &head, sizeof head);
	to = put_column(to, head.what_bytes, w->is, w->n, 0);
	to = put_column(to, head.stamp_bytes, w->stamp, w->n, head.stamp);
	to = put_column(to, head.value_bytes, w->value, w->nvalues, 0);
	*MEM_GROW(b->block, b->nblocks) = (struct tr_block){ w->region * STORE_REGION + w->ntail, b->n,
							     (uint32_t)(to - begin) };
	w->ntail += (size_t)(to - begin);
	b->n += w->n;
	b->kinds |= kinds_of(w->is, w->n);
	b->most = w->n > b->most ? w->n : b->most;
	b->most_values = w->nvalues > b->most_values ? w->nvalues : b->most_values;
	w->n = w->nvalues = 0;
}

/* The next one of a block has room for all arguments that an event can have. */
static void put_event(struct tr_writer *w, uint32_t what, uint64_t stamp)
{
	if (w->n == w->most || w->nvalues + DPROF_KEY_COUNT > 2 * w->most)
		write_block(w);
	w->is[w->n] = what;
	w->stamp[w->n++] = stamp;
}

static void put_argument(struct tr_writer *w, unsigned key, uint64_t value)
{
	if (!w->event)
		return;
	/* It is in this block still, to which it was the last to come. */
	uint32_t what = (uint32_t)w->is[w->n - 1], now = w->next[what].of_key[key];
	if (!now)
		now = with_argument(w, what, key);
	if (now == STORE_NO_WHAT)
		return;
	w->is[w->n - 1] = now;
	w->value[w->nvalues++] = value;
}

static void put_lost(struct tr_writer *w, uint64_t records)
{
	w->blocks->lost_before |= !w->blocks->any;
	w->blocks->lost_behind = true;
	w->event = false;
	if (!records)
		return;
	put_event(w, 0, w->blocks->any ? w->blocks->last : 0);
	w->blocks->losses++;
	w->value[w->nvalues++] = records;
}

void store_record(struct tr_writer *w, const struct tr_record *r)
{
	struct tr_blocks *b = w->blocks;
	if (TR_OP(r->what) == DPROF_ARG) {
		put_argument(w, (unsigned)TR_BODY(r->what), r->stamp);
	} else if (!is_event(r)) {
		put_lost(w, r->stamp);
	} else {
		put_event(w, what_of_event(w, r->what), r->stamp);
		b->first = b->any ? b->first : r->stamp;
		b->last = r->stamp;
		b->any = w->event = true;
		b->lost_behind = false;
	}
}

bool store_tail(struct tr_writer *w, struct store_tail *t)
{
	if (!w->event)
		return false;
	*t = (struct store_tail){ .of_event = w->of_event, .next = w->next, .is = w->is, .stamp = w->stamp,
				  .value = w->value, .n = w->n, .nvalues = w->nvalues, .most = w->most,
				  .most_values = 2 * w->most - DPROF_KEY_COUNT, .first = w->blocks->n, .what = w->is[w->n - 1] };
	return true;
}

void store_put_tail(struct tr_writer *w, const struct store_tail *t)
{
	w->n = t->n;
	w->nvalues = t->nvalues;
	w->blocks->last = t->stamp[t->n - 1];
}

const struct tr_what *store_last(const struct tr_writer *w)
{
	return &w->what[w->is[w->n - 1]];
}

struct store_room store_room(struct tr_writer *w)
{
	if (w->n == w->most) /* of values there are as many, for which there is more room */
		write_block(w);
	return (struct store_room){ w->is + w->n, w->stamp + w->n, w->value + w->nvalues, w->most - w->n };
}

void store_filled(struct tr_writer *w, size_t n)
{
	w->n += n;
	w->nvalues += n;
}

/* ---- Threads --------------------------------------------------------------------------------- */

void store_begin(struct tr_writer *w, struct tr_blocks *again)
{
	if (again)
		give_up(w, again);
	blocks_close(again);
	w->event = false;
	w->blocks = mem_resize(NULL, 1, sizeof *w->blocks);
	*w->blocks = (struct tr_blocks){ .writer = w->number };
}

size_t store_events(const struct tr_writer *w)
{
	return w->blocks->n + w->n;
}

struct tr_blocks *store_end(struct tr_writer *w)
{
	struct tr_blocks *b = w->blocks;
	write_block(w);
	w->blocks = NULL;
	return b;
}

void blocks_close(struct tr_blocks *b)
{
	if (!b)
		return;
	free(b->block);
	free(b);
}

/* ---- All ------------------------------------------------------------------------------------- */

/* What an event is, for the writer `all`, which may learn it by that. */
static uint32_t what_for(struct tr_writer *all, const struct tr_what *what)
{
	if (what->op == DPROF_LOST)
		return 0;
	uint32_t is = what_of_event(all, TR_WHAT(what->site, what->op));
	for (unsigned a = 0; a < what->nargs && is != STORE_NO_WHAT; a++) {
		uint32_t more = all->next[is].of_key[what->key[a]];
		is = more ? more : with_argument(all, is, what->key[a]);
	}
	return is;
}

/* The first writer learns what the others know. False if that is too much. */
static bool join_whats(struct tr_store *s)
{
	struct tr_writer *all = s->writers[0];
	bool full = all->full && s->nwriters > 1;
	for (size_t i = 1; i < s->nwriters && !full; i++) {
		struct tr_writer *w = s->writers[i];
		w->whats = mem_resize(NULL, w->nwhats, sizeof *w->whats);
		for (uint32_t k = 0; k < w->nwhats; k++)
			w->whats[k] = what_for(all, &w->what[k]);
		full = all->full || w->full;
	}
	return !full;
}

static void end_writer(struct tr_writer *w)
{
	if (w->tail && w->store->flushed)
		flush(w);
	else if (w->tail)
		keep_region(w, 0);
	free(w->tail);
	w->tail = NULL;
	if (w->number == 0) /* store_again() */
		return;
	free(w->next);
	free(w->of_event);
	w->next = NULL;
	w->of_event = NULL;
}

const char *store_error(const struct tr_store *s)
{
	return s->error ? strerror(s->error) : NULL;
}

const struct tr_what *store_finish(struct tr_store *s, const char **kept_in_memory)
{
	bool joined = s->nwriters == 0 || join_whats(s);
	for (size_t i = 0; i < s->nwriters; i++)
		end_writer(s->writers[i]);
	*kept_in_memory = store_error(s);
	return joined && s->nwriters ? s->writers[0]->what : NULL;
}

struct tr_writer *store_again(struct tr_store *s)
{
	return s->writers[0];
}

const struct tr_what *store_settle(struct tr_store *s)
{
	end_writer(s->writers[0]);
	return s->writers[0]->what;
}

size_t trace_kinds(const struct trace *t)
{
	return t->store && t->store->nwriters ? t->store->writers[0]->nwhats : 0;
}

const uint32_t *store_whats(const struct tr_store *s, size_t writer)
{
	return s->writers[writer]->whats;
}

uint64_t *store_kinds(const struct tr_store *s, const bool *wanted)
{
	uint64_t *kinds = mem_resize(NULL, s->nwriters + 1, sizeof *kinds);
	for (size_t i = 0; i < s->nwriters; i++) {
		const struct tr_writer *w = s->writers[i];
		kinds[i] = 0;
		for (uint32_t k = 0; k < w->nwhats; k++)
			kinds[i] |= (uint64_t)wanted[w->whats ? w->whats[k] : k] << (k & 63);
	}
	return kinds;
}

/* ---- Of another process ---------------------------------------------------------------------- */

static void send_region(const struct tr_store *s, struct tr_pipe *p, size_t region, uint8_t *room)
{
	const struct store_region *r = &s->region[region];
	if (!r->memory)
		read_file(s, region * STORE_REGION, r->n, room);
	pipe_value(p, r->n);
	pipe_bytes(p, r->memory ? r->memory : room, r->n);
}

/* It stays in memory where the other process had it there, as it had no more. */
static void take_region(struct tr_writer *w, struct tr_pipe *p, bool keeps)
{
	begin_region(w);
	w->ntail = pipe_value(p, 0);
	pipe_bytes(p, w->tail, w->ntail);
	if (keeps)
		keep_region(w, 0);
	else
		flush(w);
}

static void move_whats(struct tr_store *s, struct tr_pipe *p, size_t writer)
{
	struct tr_writer *w = p->sends ? s->writers[writer] : store_writer(s);
	size_t n = pipe_value(p, w->nwhats);
	w->full = pipe_value(p, w->full);
	if (!p->sends) {
		w->what = mem_resize(w->what, n, sizeof *w->what);
		w->nwhats = (uint32_t)n;
	}
	pipe_bytes(p, w->what, n * sizeof *w->what);
}

struct store_place store_move(struct tr_store *s, struct tr_pipe *p)
{
	struct store_place place = { .writers = s->nwriters, .regions = s->nregions };
	size_t nwriters = pipe_value(p, s->nwriters), nregions = pipe_value(p, s->nregions);
	bool flushed = pipe_value(p, s->flushed);
	for (size_t i = 0; i < nwriters; i++)
		move_whats(s, p, i);
	uint8_t *room = p->sends ? mem_resize(NULL, STORE_REGION, 1) : NULL;
	for (size_t i = 0; i < nregions; i++)
		if (p->sends)
			send_region(s, p, i, room);
		else
			take_region(s->writers[place.writers], p, !flushed);
	free(room);
	if (!p->sends) {
		free(s->writers[place.writers]->tail);
		s->writers[place.writers]->tail = NULL;
	}
	return place;
}

void blocks_place(struct tr_blocks *b, struct store_place place)
{
	b->writer += place.writers;
	for (size_t i = 0; i < b->nblocks; i++)
		b->block[i].offset += place.regions * STORE_REGION;
}
