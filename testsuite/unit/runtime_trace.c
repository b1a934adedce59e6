/* SPDX-License-Identifier: MIT
 *
 * runtime_trace.c - whatever a program records, and however it ends, its trace holds exactly that.
 *
 * Runs testsuite/fixtures/runtime/scenarios.c in a folder of its own and compares the trace
 * files with the twin that the program kept: for each thread the same records in the same
 * order, each stamp between the readings before and after, and each event that is not there
 * counted as lost. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <zstd.h>

#include "runtime/packed.h"
#include "runtime/sum.h"
#include "testsuite/fixtures/runtime/twin.h"
#include "testsuite/unit/unit.h"

#define FILES_MAX 1024
#define CHUNKS_MAX 65536 /* of a thread */
#define STEPS_MAX  10000 /* instructions: the first record takes some thousands, a further one hundreds */

static char program[PATH_MAX]; /* the scenarios */
static char analyze[PATH_MAX]; /* dprof-analyze */
static char folder[64];        /* DPROF_DIR of this test */
static struct twin *twin;
static uint64_t seed;

/* What a thread recorded, from its slot and its two files. */
struct events {
	char name[256];
	struct dprof_events_header header;
	uint64_t *words;
	size_t n;
	uint64_t near;   /* the stamp before */
	size_t stream;   /* of the event before; TWIN_STREAMS: unknown */
	bool slot;       /* it began in the nursery */
	size_t bytes;    /* of the file of events; 0: there is none */
	bool ends_used;  /* that file's last word is of a record, or it has no chunk */
	size_t unpacked; /* chunks in it */
	size_t packed;   /* chunks in the other file */
};

static struct events files[FILES_MAX];
static size_t nfiles, nown, nprocesses, nfinished, nsummed, nsealed;
static bool killed; /* a file may have been made and not begun, and the last record not be whole */

/* ---- Running --------------------------------------------------------------------------------- */

static void setup(void)
{
	int fd = memfd_create("twin", 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, sizeof(*twin)), 0);
	twin = mmap(NULL, sizeof(*twin), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne(twin, MAP_FAILED);
	ck_assert_int_eq(dup2(fd, TWIN_FD), TWIN_FD);
	close(fd);
	strcpy(folder, "/tmp/dprof-test.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	setenv("DPROF_DIR", folder, 1);
	nfiles = nown = nprocesses = nfinished = nsummed = nsealed = 0;
}

static void teardown(void)
{
	char command[128];

	munmap(twin, sizeof(*twin));
	close(TWIN_FD);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	ck_assert_int_eq(system(command), 0);
}

static pid_t start(const char *scenario, const char *buffer)
{
	char number[32];
	pid_t child;

	if (buffer)
		setenv("DPROF_BUFFER", buffer, 1);
	else
		unsetenv("DPROF_BUFFER");
	snprintf(number, sizeof(number), "%" PRIu64, seed);
	child = fork();
	if (child == 0) {
		execl(program, program, scenario, number, (char *)NULL);
		_exit(127);
	}
	ck_assert_int_gt(child, 0);
	return child;
}

static int finish(pid_t child)
{
	int status;

	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* ---- Reading --------------------------------------------------------------------------------- */

static uint8_t *read_whole(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY);
	struct stat s = { 0 };
	uint8_t *bytes;

	*size = 0;
	if (fd < 0)
		return NULL;
	fstat(fd, &s);
	bytes = malloc((size_t)s.st_size + 1);
	ck_assert_int_eq(read(fd, bytes, (size_t)s.st_size), s.st_size);
	close(fd);
	*size = (size_t)s.st_size;
	return bytes;
}

struct recorded_chunk { uint64_t number, *words; size_t n, of; bool packed; };
static struct recorded_chunk chunks[CHUNKS_MAX];
static size_t nchunks;

static struct recorded_chunk *new_chunk(uint64_t number, size_t words, bool packed)
{
	ck_assert_uint_lt(nchunks, CHUNKS_MAX);
	chunks[nchunks] = (struct recorded_chunk){ number, calloc(words + 1, 8), 0, words, packed };
	return &chunks[nchunks++];
}

/* The bytes of a plane, added to words of which it is one; where the next one begins. */
static const uint8_t *read_plane(const uint8_t *at, size_t stored, uint64_t *to, size_t n, size_t byte)
{
	static uint8_t plane[DPROF_PART_WORDS];

	if (stored == n)
		memcpy(plane, at, n);
	else if (stored <= 1)
		memset(plane, stored ? *at : 0, n);
	else
		ck_assert_uint_eq(ZSTD_decompress(plane, n, at, stored), n);
	for (size_t i = 0; i < n; i++)
		to[i] |= (uint64_t)plane[i] << 8 * byte;
	return at + stored;
}

/* What dprof_split() did, undone step by step. */
static void unsplit(const uint8_t *at, size_t bytes, uint64_t *to, size_t n)
{
	static uint64_t class[DPROF_PART_WORDS], stream[2][DPROF_PART_WORDS];
	struct dprof_split s;
	uint64_t first[DPROF_CLASSES], stamp = 0;
	uint16_t count[DPROF_CLASSES];
	size_t next[DPROF_CLASSES], events = 0, escapes = 0;

	memcpy(&s, at, sizeof(s));
	ck_assert_uint_eq(s.sum, dprof_split_sum(at, bytes));
	memcpy(first, at + sizeof(s), s.classes * sizeof(*first));
	memcpy(count, at + sizeof(s) + s.classes * sizeof(*first), s.classes * sizeof(*count));
	at += sizeof(s) + s.classes * sizeof(*first) + (s.classes * sizeof(*count) + 7) / 8 * 8;
	memset(class, 0, sizeof(class));
	memset(stream, 0, sizeof(stream));
	at = read_plane(at, s.plane[0], class, n, 0);
	for (size_t i = 0; i < 16; i++)
		at = read_plane(at, s.plane[1 + i], stream[i / 8], i < 8 ? s.events : s.escapes, i % 8);
	for (size_t c = 0; c < s.classes; escapes += count[c++])
		next[c] = escapes;
	stamp = first[0];
	for (size_t i = 0; i < n; i++) {
		uint64_t c = class[i];

		if (first[c] & 1 && c) {
			uint64_t more = count[c] ? stream[1][next[c]++] >> 8 : 0;

			first[c] += (more & 1 ? ~(more >> 1) : more >> 1) << 8;
			to[i] = first[c];
		} else {
			stamp += stream[0][events] >> DPROF_ID_BITS << DPROF_ID_BITS;
			to[i] = stamp | (c ? first[c] : stream[0][events] % DPROF_IDS);
			events++;
		}
	}
	ck_assert_uint_eq(events, s.events);
}

static void read_part(const struct dprof_part *p, const uint8_t *bytes)
{
	struct recorded_chunk *c = p->first ? &chunks[nchunks - 1] : new_chunk(p->chunk, p->of, true);

	ck_assert_uint_eq(p->magic, DPROF_PART_MAGIC);
	ck_assert_uint_eq(c->number, p->chunk);
	ck_assert_uint_eq(c->n, p->first);
	unsplit(bytes, p->bytes, c->words + c->n, p->words);
	c->n += p->words;
}

/* The file may end within a part, and with a chunk that has not all its parts. */
static void read_packed(const char *events)
{
	char path[PATH_MAX];
	struct dprof_part p;
	uint8_t *bytes;
	size_t size, at;

	snprintf(path, sizeof(path), "%.*s.packed", (int)(strlen(events) - strlen(".events")), events);
	bytes = read_whole(path, &size);
	for (at = 0; at + sizeof(p) <= size; at += sizeof(p) + p.bytes) {
		memcpy(&p, bytes + at, sizeof(p));
		if (p.bytes > size - at - sizeof(p))
			break;
		read_part(&p, bytes + at + sizeof(p));
	}
	if (nchunks && chunks[nchunks - 1].n < chunks[nchunks - 1].of)
		nchunks--;
	free(bytes);
}

/* Of a whole place: how many words it holds, if its seal says that; else so many. */
static size_t sealed(const uint64_t *words, size_t all, size_t otherwise)
{
	const uint64_t *seal = words + all - DPROF_SEAL_WORDS;

	if (!seal[0])
		return otherwise < all - DPROF_SEAL_WORDS ? otherwise : all - DPROF_SEAL_WORDS;
	ck_assert_uint_lt(seal[0], all - 1);
	ck_assert_uint_eq(seal[1], dprof_sum_words(DPROF_SUM_BEGIN, words, seal[0]));
	nsealed++;
	return seal[0];
}

static void read_place(const uint64_t *words, size_t here, bool whole)
{
	size_t n = here;
	struct recorded_chunk *c;

	while (n && !words[n - 1])
		n--;
	if (!words[0])
		return;
	if (whole)
		n = sealed(words, here, n);
	ck_assert(dprof_is(words[0], DPROF_ESCAPE_CHUNK));
	c = new_chunk(dprof_value(words[0]), n, false);
	memcpy(c->words, words, n * 8);
	c->n = n;
}

static void read_places(const struct events *e, const uint64_t *words)
{
	size_t all = (e->bytes - DPROF_HEADER_SIZE) / 8, here;

	for (uint64_t bytes = e->header.first_chunk; all; bytes = dprof_next_chunk(
							  bytes, e->header.largest_chunk)) {
		here = bytes / 8 < all ? bytes / 8 : all;
		read_place(words, here, here == bytes / 8);
		words += here;
		all -= here;
	}
}

static int by_number(const void *a, const void *b)
{
	const struct recorded_chunk *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return y->packed - x->packed;
}

/* What the header says of the last chunk, once its thread or process has ended: of all its words, or of those
 * that it had by then. */
static void check_end(const struct dprof_events_header *h, const struct recorded_chunk *last)
{
	if (!h->ended)
		return;
	ck_assert_uint_eq(h->end.header_sum, dprof_header_sum(h));
	ck_assert_uint_le(h->end.lost, h->lost);
	ck_assert_uint_le(h->end.chunks, last->number + 1);
	if (h->end.chunks <= last->number)
		return; /* it ran on */
	ck_assert_uint_le(h->end.words, last->n);
	ck_assert(h->end.ran_on || h->end.words == last->n);
	ck_assert_uint_eq(h->end.sum, dprof_sum_words(DPROF_SUM_BEGIN, last->words, h->end.words));
	nsummed += h->end.words > 0;
}

/* Each chunk once, from the first to the last. */
static void put_together(struct events *e)
{
	uint64_t next = 0;

	qsort(chunks, nchunks, sizeof(*chunks), by_number);
	for (size_t i = 0; i < nchunks; i++) {
		const struct recorded_chunk *c = &chunks[i];

		if (i && c->number == chunks[i - 1].number) {
			ck_assert(!c->packed); /* it was about to be wiped */
			continue;
		}
		ck_assert_uint_eq(c->number, next++);
		e->words = realloc(e->words, (e->n + c->n) * 8);
		memcpy(e->words + e->n, c->words, c->n * 8);
		e->n += c->n;
		e->packed += c->packed;
		e->unpacked += !c->packed;
	}
	if (nchunks)
		check_end(&e->header, &chunks[nchunks - 1]);
	while (nchunks)
		free(chunks[--nchunks].words);
}

/* A file is made, then reserved, then its header's magic is written. */
static bool begun(const uint8_t *bytes, size_t n)
{
	static const char none[8];

	return n && memcmp(bytes, none, sizeof(none));
}

static struct events *new_events(const char *name)
{
	struct events *e = &files[nfiles++];

	ck_assert_int_le(nfiles, FILES_MAX);
	*e = (struct events){ 0 };
	snprintf(e->name, sizeof(e->name), "%s", name);
	return e;
}

static void read_header(struct events *e, const uint8_t *bytes)
{
	memcpy(&e->header, bytes, sizeof(e->header));
	ck_assert_mem_eq(e->header.magic, DPROF_EVENTS_MAGIC, 8);
}

/* All but the header. */
static void read_own(struct events *e, const char *path, const uint8_t *bytes)
{
	uint64_t last;

	ck_assert_uint_ge(e->bytes, DPROF_HEADER_SIZE);
	memcpy(&last, bytes + e->bytes - sizeof(last), sizeof(last));
	e->ends_used = e->bytes == DPROF_HEADER_SIZE || last != 0;
	read_packed(path);
	read_places(e, (const uint64_t *)(const void *)(bytes + DPROF_HEADER_SIZE));
	nown++;
}

/* Of a thread that has a slot the file is read with that. */
static void read_events(const char *path, const char *name)
{
	struct events *e;
	size_t size;
	uint8_t *bytes = read_whole(path, &size);
	bool more = size >= 8 && !memcmp(bytes, DPROF_MORE_MAGIC, 8);

	if (!more && !(killed && !begun(bytes, size))) {
		e = new_events(name);
		e->bytes = size;
		ck_assert_uint_ge(size, DPROF_HEADER_SIZE);
		read_header(e, bytes);
		ck_assert_uint_eq(e->header.thread, 0);
		read_own(e, path, bytes);
		put_together(e);
	}
	free(bytes);
}

static void read_slot(const char *nursery, const char *name, const uint8_t *slot, size_t number)
{
	struct events *e = new_events(name);
	char path[PATH_MAX];
	uint8_t *more;

	e->slot = true;
	read_header(e, slot);
	ck_assert_uint_eq(e->header.thread, number);
	read_place((const uint64_t *)(const void *)(slot + DPROF_SLOT_HEADER), (DPROF_SLOT - DPROF_SLOT_HEADER) / 8, true);
	snprintf(path, sizeof(path), "%.*s-%zu.events", (int)(strlen(nursery) - strlen(".nursery")), nursery, number);
	more = read_whole(path, &e->bytes);
	if (more && (!killed || begun(more, e->bytes))) {
		ck_assert_mem_eq(more, DPROF_MORE_MAGIC, 8);
		read_own(e, path, more);
	}
	put_together(e);
	free(more);
}

static void read_nursery(const char *path, const char *name)
{
	size_t size;
	uint8_t *bytes = read_whole(path, &size);

	for (size_t at = 0; at + DPROF_SLOT <= size; at += DPROF_SLOT)
		if (begun(bytes + at, DPROF_SLOT))
			read_slot(path, name, bytes + at, at / DPROF_SLOT);
	free(bytes);
}

static void read_process(const char *path)
{
	char line[8192], last[8192] = "";
	FILE *f = fopen(path, "r");
	bool finished = false;

	ck_assert_ptr_nonnull(f);
	if (!fgets(line, sizeof(line), f) || !*line) {
		ck_assert(killed); /* before the first line was written */
		fclose(f);
		return;
	}
	ck_assert_str_eq(line, DPROF_PROCESS_FIRST_LINE "\n");
	while (fgets(line, sizeof(line), f)) {
		finished |= !strncmp(line, "finished ", 9);
		strcpy(last, line);
	}
	fclose(f);
	nprocesses++;
	nfinished += finished && !strncmp(last, "sum ", 4);
}

static void read_directory(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *entry;
	char inner[PATH_MAX];

	ck_assert_ptr_nonnull(d);
	while ((entry = readdir(d))) {
		const char *dot = strrchr(entry->d_name, '.');

		if (entry->d_name[0] == '.')
			continue;
		snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name);
		if (!strncmp(entry->d_name, "dprof-", 6))
			read_directory(inner);
		else if (dot && !strcmp(dot, ".events"))
			read_events(inner, entry->d_name);
		else if (dot && !strcmp(dot, ".nursery"))
			read_nursery(inner, entry->d_name);
		else if (dot && !strcmp(dot, ".process"))
			read_process(inner);
	}
	closedir(d);
}

/* ---- Comparing ------------------------------------------------------------------------------- */

static bool handlers;                 /* record, and claims may be given up */
static uint64_t consumed[TWIN_STREAMS]; /* entries of each stream that were found */
static uint64_t told_lost;            /* in LOST records, of all files */

static bool is_stream_of(size_t stream, const struct events *e)
{
	return twin->stream[stream].tid == e->header.tid;
}

/* What a word says of an entry: all of it but a site's upper bits. */
static uint64_t short_of(uint64_t what)
{
	unsigned op = what & 15;

	return op == DPROF_ARG ? what : dprof_id(what - op, (enum dprof_op)op) << 4;
}

static bool consume_of(size_t stream, const struct events *e, uint64_t what, uint64_t stamp)
{
	const struct twin_entry *next = &twin->stream[stream].entry[consumed[stream]];
	bool is_it = is_stream_of(stream, e) && consumed[stream] < twin->stream[stream].recorded &&
		     short_of(next->what) == what && next->before <= stamp && stamp <= next->after;

	consumed[stream] += is_it;
	return is_it;
}

/* The record is the next one of some stream of its thread. */
static bool consume(struct events *e, uint64_t what, uint64_t stamp)
{
	for (e->stream = 0; e->stream < twin->streams; e->stream++)
		if (consume_of(e->stream, e, what, stamp))
			return true;
	e->stream = TWIN_STREAMS;
	return false;
}

/* An argument stands directly behind its event, whose stream has it, too; or neither is known. */
static void consume_argument(const struct events *e, uint64_t what, uint64_t value)
{
	ck_assert_msg(e->stream == TWIN_STREAMS || consume_of(e->stream, e, what, value),
		      "%s: an argument of another event", e->name);
}

struct recorded_tally { size_t unknown; uint64_t lost; };

/* Of a record of several words, the first one is there; a process may have been killed before the last. */
static bool is_whole(const struct events *e, size_t i)
{
	if (i + DPROF_WIDE_WORDS <= e->n && e->words[i + DPROF_WIDE_WORDS - 1])
		return true;
	ck_assert_msg(killed && i + DPROF_WIDE_WORDS >= e->n, "%s: a record that is not whole", e->name);
	return false;
}

/* The record at word i; returns how many words it takes. */
static size_t compare_record(struct events *e, size_t i, struct recorded_tally *t)
{
	uint64_t word = e->words[i], what = (word & (DPROF_IDS - 1)) << 4, stamp;
	size_t words = 1;

	if (!word) {
		ck_assert_msg(handlers, "%s: a hole", e->name);
		return 1;
	}
	if (dprof_is(word, DPROF_ESCAPE_EPOCH))
		e->near = dprof_value(word) * DPROF_EPOCH_UNIT;
	if (dprof_is(word, DPROF_ESCAPE_EPOCH) || dprof_is(word, DPROF_ESCAPE_NOTHING) ||
	    dprof_is(word, DPROF_ESCAPE_CHUNK))
		return 1;
	if (dprof_is(word, DPROF_ESCAPE_LOST)) {
		t->lost += dprof_value(word);
		return 1;
	}
	stamp = dprof_stamp_near(word, e->near);
	if (dprof_is(word, DPROF_ESCAPE_ARG) && dprof_small(word) == DPROF_KEY_SINCE) {
		ck_assert_msg(handlers, "%s: what was recorded late", e->name);
		return 1;
	}
	if (dprof_is(word, DPROF_ESCAPE_ARG)) {
		consume_argument(e, (uint64_t)dprof_small(word) << 4 | DPROF_ARG, dprof_value(word));
		return 1;
	}
	if (dprof_is(word, DPROF_ESCAPE_WIDE)) {
		words = DPROF_WIDE_WORDS;
		if (!is_whole(e, i))
			return words;
		what = short_of(e->words[i + 2] | dprof_small(word));
		stamp = e->words[i + 1];
	} else {
		ck_assert_msg(!dprof_is_escape(word), "%s: a foreign word", e->name);
	}
	e->near = stamp;
	t->unknown += !consume(e, what, stamp);
	return words;
}

/* Returns how many records the twin does not know: it may have been killed before it wrote
 * them down. */
static size_t compare_file(struct events *e)
{
	struct recorded_tally t = { 0 };
	uint64_t lost_by_twin = 0;

	for (size_t i = 0; i < e->n; i += compare_record(e, i, &t))
		;
	for (size_t i = 0; i < twin->streams; i++)
		if (is_stream_of(i, e))
			lost_by_twin += twin->stream[i].lost;
	ck_assert_uint_eq(e->header.lost, lost_by_twin);
	ck_assert_uint_le(t.lost, e->header.lost);
	told_lost += t.lost;
	return t.unknown;
}

static void compare(size_t unknown_allowed)
{
	read_directory(folder);
	memset(consumed, 0, sizeof(consumed));
	told_lost = 0;
	for (size_t i = 0; i < nfiles; i++)
		ck_assert_msg(compare_file(&files[i]) <= unknown_allowed,
			      "%s holds what was never recorded", files[i].name);
	for (size_t i = 0; i < twin->streams; i++)
		ck_assert_msg(consumed[i] == twin->stream[i].recorded,
			      "thread %lu recorded %lu events, its trace has %lu",
			      twin->stream[i].tid, twin->stream[i].recorded, consumed[i]);
}

/* What a thread that ended did not use is given back: at once if it is little, else by the helper, if that
 * comes to it. Who recorded little has no file of its own. */
static void compare_sizes(void)
{
	for (size_t i = 0; i < nfiles; i++) {
		const struct dprof_events_header *h = &files[i].header;

		ck_assert_uint_ne(h->ended, 0);
		if (files[i].slot && files[i].packed + files[i].unpacked == 1)
			ck_assert_uint_eq(files[i].bytes, 0);
		else if (h->pid != h->tid && files[i].packed + files[i].unpacked == 1)
			ck_assert(files[i].ends_used);
	}
}

static uint64_t total_lost(void)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < nfiles; i++)
		lost += files[i].header.lost;
	return lost;
}

/* A thread that records nothing leaves no trace. */
static size_t streams_with_records(void)
{
	size_t n = 0;

	for (size_t i = 0; i < twin->streams; i++)
		n += twin->stream[i].recorded > 0;
	return n;
}

/* ---- Claims ---------------------------------------------------------------------------------- */

static const char *const buffers[] = { "4K", "8K", "64K", NULL };

START_TEST(every_record_is_there_in_order)
{
	seed = unit_seed + (uint64_t)_i;
	ck_assert_int_eq(finish(start("random-walks", buffers[_i])), 0);
	compare(0);
	compare_sizes();
	ck_assert_uint_ge(streams_with_records(), 6); /* of 8 walks; an empty one is rare, but then the one like it is, too */
	ck_assert_uint_eq(nfiles, streams_with_records());
	ck_assert_uint_eq(nsummed, nfiles);
	ck_assert_uint_eq(total_lost(), 0);
	ck_assert_uint_eq(nfinished, 1);
}
END_TEST

/* Whenever the helper closes the fast path: nothing is lost, and no chunk is left half empty. */
START_TEST(the_fast_path_may_close_at_any_moment)
{
	seed = unit_seed + (uint64_t)_i;
	ck_assert_int_eq(finish(start("slowed-down", "4K")), 0);
	compare(0);
	ck_assert_uint_eq(total_lost(), 0);
}
END_TEST

START_TEST(two_hundred_threads_share_a_file)
{
	ck_assert_int_eq(finish(start("many-threads", NULL)), 0);
	compare(0);
	compare_sizes();
	ck_assert_uint_eq(nfiles, 200);
	ck_assert_uint_eq(nown, 1);
}
END_TEST

/* At most the one record that was just being written is in the file and not in the twin. */
START_TEST(a_killed_process_loses_nothing)
{
	pid_t child;

	seed = unit_seed + 7919 * (uint64_t)_i;
	killed = true;
	child = start("until-killed", "4K");
	usleep(20000 + (useconds_t)(seed % 60000));
	kill(child, SIGKILL);
	ck_assert_int_eq(finish(child), -SIGKILL);
	compare(1);
	ck_assert_uint_eq(nfinished, 0);
}
END_TEST

static const char *const race_buffers[] = { "16K", "64K", "256K" };

/* Events of a racer, each the one that its number says, and stamps that do not go back. */
static uint64_t count_race(const struct events *e)
{
	uint64_t n = 0, near = 0, point = 0, ids[2] = { 0, 0 };

	for (size_t i = 0; i < e->n; i++) {
		uint64_t word = e->words[i], stamp, id = word & (DPROF_IDS - 1);

		ck_assert_msg(word || i + 1 == e->n, "%s: a hole", e->name);
		if (dprof_is(word, DPROF_ESCAPE_EPOCH)) {
			ck_assert_uint_ge(dprof_value(word) * DPROF_EPOCH_UNIT + DPROF_EPOCH_UNIT, near);
			near = dprof_value(word) * DPROF_EPOCH_UNIT;
		}
		ck_assert(!dprof_is(word, DPROF_ESCAPE_LOST));
		if (!word || (dprof_is_escape(word) && !dprof_is(word, DPROF_ESCAPE_WIDE)))
			continue;
		if (dprof_is_escape(word) && !is_whole(e, i))
			break;
		stamp = dprof_is_escape(word) ? e->words[i + 1] : dprof_stamp_near(word, near);
		point = dprof_is_escape(word) ? dprof_small(word) == DPROF_POINT
					      : id == ids[1] || (!ids[1] && twin_racer_choice(n));
		if (!dprof_is_escape(word))
			ids[point] = id;
		ck_assert_msg(point == (uint64_t)twin_racer_choice(n),
			      "%s: event %lu is not itself", e->name, n);
		ck_assert_uint_ge(stamp, near);
		near = stamp;
		n++;
		i += dprof_is_escape(word) ? DPROF_WIDE_WORDS - 1 : 0;
	}
	return n;
}

static void compare_race(void)
{
	read_directory(folder);
	for (size_t i = 0; i < nfiles; i++) {
		uint64_t n = count_race(&files[i]);

		for (size_t l = 0; l < twin->streams; l++)
			if (is_stream_of(l, &files[i]))
				ck_assert_msg(n - twin->stream[l].recorded <= 1,
					      "%s: %lu events of %lu", files[i].name, n,
					      twin->stream[l].recorded);
	}
}

/* Wherever the helper was just then: each record is there once, in order, and at most one is not counted
 * by the twin. */
START_TEST(a_process_killed_at_full_speed_loses_nothing)
{
	pid_t child;

	seed = unit_seed + 104729 * (uint64_t)_i;
	killed = true;
	child = start("races", race_buffers[_i % 3]);
	usleep(3000 + (useconds_t)(seed % 20000));
	kill(child, SIGKILL);
	ck_assert_int_eq(finish(child), -SIGKILL);
	compare_race();
}
END_TEST

/* What the analysis makes of it is told from its text: of each thread all events, and no damage. */
static void compare_read(void)
{
	char command[2 * PATH_MAX];
	uint64_t n = 0;

	for (size_t i = 0; i < nfiles; i++)
		n += count_race(&files[i]);
	snprintf(command, sizeof(command),
		 "%s dump %s/dprof-* >%s/text 2>%s/said; [ $? -lt 2 ] && "
		 "! grep -F -e .events -e .nursery %s/said && [ $(grep -c '^e ' %s/text) = %lu ]",
		 analyze, folder, folder, folder, folder, folder, n);
	ck_assert_int_eq(system(command), 0);
}

/* From the making of the file until some records later, while they are stored wide. */
START_TEST(a_process_killed_at_any_instruction_loses_nothing)
{
	uint64_t steps;
	pid_t child;
	int status;

	seed = unit_seed + 15485863 * (uint64_t)_i;
	killed = true;
	child = start("stepped", "64K");
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSTOPPED(status));
	for (steps = 0; steps < seed * 2654435761 % STEPS_MAX; steps++) {
		ck_assert_int_eq(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL), 0);
		ck_assert_int_eq(waitpid(child, &status, 0), child);
	}
	kill(child, SIGKILL);
	ck_assert_int_eq(finish(child), -SIGKILL);
	compare_race();
	compare_read();
}
END_TEST

START_TEST(what_is_full_is_packed)
{
	seed = unit_seed;
	ck_assert_int_eq(finish(start("packs", "4K")), 0);
	compare(0);
	ck_assert_uint_eq(nfiles, 1);
	ck_assert_uint_gt(files[0].packed, 0);
}
END_TEST

START_TEST(the_child_of_a_fork_is_a_process_of_its_own)
{
	ck_assert_int_eq(finish(start("forks", "4K")), 0);
	compare(0);
	ck_assert_uint_eq(nfiles, 5);     /* parent, child and its two threads, grandchild */
	ck_assert_uint_eq(nprocesses, 3); /* a child that records nothing leaves nothing */
	ck_assert_uint_eq(nfinished, 2);  /* the grandchild left by _exit */
}
END_TEST

/* Whatever instruction the handler interrupts: no record is overwritten, and each lost one is
 * counted. */
START_TEST(a_signal_handler_records_inside_records)
{
	seed = unit_seed + (uint64_t)_i;
	handlers = true;
	ck_assert_int_eq(finish(start("signals", buffers[_i % 2])), 0);
	compare(0);
}
END_TEST

START_TEST(a_handler_may_come_at_every_instruction)
{
	seed = unit_seed + (uint64_t)_i;
	handlers = true;
	ck_assert_int_eq(finish(start("single-steps", "4K")), 0);
	compare(0);
}
END_TEST

/* Its word has waited for minutes, or the one before it. */
START_TEST(a_handler_may_come_behind_a_long_wait)
{
	seed = unit_seed + (uint64_t)_i;
	handlers = true;
	ck_assert_int_eq(finish(start("late-steps", NULL)), 0);
	compare(0);
}
END_TEST

START_TEST(where_there_is_no_room_records_are_counted)
{
	ck_assert_int_eq(finish(start("size-limit", "8K")), 0);
	compare(0);
	ck_assert_uint_eq(nfiles, 1);
	ck_assert_uint_gt(total_lost(), 1000);
	ck_assert_uint_eq(told_lost, total_lost());
}
END_TEST

START_TEST(the_helper_keeps_none_alive)
{
	ck_assert_int_eq(finish(start("main-leaves", NULL)), 0);
	read_directory(folder);
	ck_assert_uint_eq(nfinished, 1);
}
END_TEST

START_TEST(destructors_of_others_may_record)
{
	ck_assert_int_eq(finish(start("destructors", NULL)), 0);
	compare(0);
	compare_sizes();
	ck_assert_uint_eq(total_lost(), 0);
}
END_TEST

START_TEST(arguments_stand_behind_their_event)
{
	ck_assert_int_eq(finish(start("arguments", buffers[_i])), 0);
	compare(0);
	ck_assert_uint_eq(total_lost(), 0);
}
END_TEST

/* However far a stamp lies from those of the words before it, and behind it. */
START_TEST(who_has_waited_for_long_says_since_when)
{
	seed = unit_seed + (uint64_t)_i;
	ck_assert_int_eq(finish(start("long-waits", buffers[_i])), 0);
	compare(0);
	ck_assert_uint_eq(total_lost(), 0);
}
END_TEST

/* Both events of a visit may be in the file and not in the twin. */
START_TEST(who_has_waited_for_long_may_be_killed)
{
	pid_t child;

	seed = unit_seed + 7919 * (uint64_t)_i;
	killed = true;
	child = start("long-waits-until-killed", "4K");
	usleep(2000 + (useconds_t)(seed % 20000));
	kill(child, SIGKILL);
	ck_assert_int_eq(finish(child), -SIGKILL);
	compare(2);
}
END_TEST

START_TEST(who_has_waited_for_long_may_be_interrupted)
{
	seed = unit_seed + (uint64_t)_i;
	handlers = true;
	ck_assert_int_eq(finish(start("interrupted-waits", buffers[_i % 2])), 0);
	compare(0);
}
END_TEST

START_TEST(an_event_changes_no_register)
{
	ck_assert_int_eq(finish(start("registers", buffers[_i])), 0);
}
END_TEST

int main(int argc, char **argv)
{
	TCase *t = unit_begin(900, UNIT_ANEW);

	(void)argc;
	snprintf(program, sizeof(program), "%s-scenarios", argv[0]);
	snprintf(analyze, sizeof(analyze), "%s/../bin/dprof-analyze", dirname(strdupa(argv[0])));
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, every_record_is_there_in_order, 0, 4);
	tcase_add_loop_test(t, the_fast_path_may_close_at_any_moment, 0, 4);
	tcase_add_test(t, two_hundred_threads_share_a_file);
	tcase_add_loop_test(t, a_killed_process_loses_nothing, 0, 5);
	tcase_add_test(t, what_is_full_is_packed);
	tcase_add_loop_test(t, a_process_killed_at_full_speed_loses_nothing, 0, 6 * (int)unit_times(1));
	tcase_add_loop_test(t, a_process_killed_at_any_instruction_loses_nothing, 0, 5 * (int)unit_times(1));
	tcase_add_test(t, the_child_of_a_fork_is_a_process_of_its_own);
	tcase_add_loop_test(t, a_signal_handler_records_inside_records, 0, 6);
	tcase_add_loop_test(t, a_handler_may_come_at_every_instruction, 0, (int)unit_times(1));
	tcase_add_loop_test(t, a_handler_may_come_behind_a_long_wait, 0, 2);
	tcase_add_test(t, where_there_is_no_room_records_are_counted);
	tcase_add_test(t, the_helper_keeps_none_alive);
	tcase_add_test(t, destructors_of_others_may_record);
	tcase_add_loop_test(t, arguments_stand_behind_their_event, 0, 3);
	tcase_add_loop_test(t, who_has_waited_for_long_says_since_when, 0, 4);
	tcase_add_loop_test(t, who_has_waited_for_long_may_be_killed, 0, 5);
	tcase_add_loop_test(t, who_has_waited_for_long_may_be_interrupted, 0, 4);
	tcase_add_loop_test(t, an_event_changes_no_register, 0, 3);
	return unit_end();
}
