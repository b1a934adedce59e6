/* SPDX-License-Identifier: MIT
 *
 * end.c - what a thread had recorded when it ended, or its process did: struct dprof_end.
 *
 * A thread that ends reads its last chunk itself. The process, when it ends, reads those of all threads that
 * still run, from their files: what is mapped may be unmapped meanwhile, and a word that is not written yet may
 * come later. So it counts the words up to the first such one, and they stay as they are.
 *
 * A thread that waits or sleeps then, in a call that is recorded when it is over, has recorded nothing of that: so its header
 * says where, and since when. It is looked at twice, as it may go on meanwhile.
 *
 * Law: the words that are counted are those at the begin of the last chunk, wherever that is stored then. */
#include <fcntl.h>

#include "runtime/adapter.h"
#include "runtime/sum.h"
#include "runtime/sys.h"
#include "runtime/thread.h"

#define BLOCK_WORDS 512

static void write_end(struct dprof_events_header *h, struct dprof_end end, uint64_t stamp)
{
	end.lost = h->lost;
	h->end = end;
	h->ended = stamp;
	h->end.header_sum = dprof_header_sum(h);
}

void dprof_end_thread(struct dprof_thread *t)
{
	const struct dprof_chunk *c = t->current;
	size_t words = (size_t)(c->claimed - c->start);

	write_end(t->header, (struct dprof_end){
		.chunks = t->numbers, .words = words,
		.sum = dprof_sum_words(DPROF_SUM_BEGIN, c->start, words) }, dprof_now());
}

/* How many of n words are written, up to the first that is not. */
static size_t written(const uint64_t *word, size_t n)
{
	size_t i = 0;

	while (i < n && word[i])
		i++;
	return i;
}

static void add_block(struct dprof_end *end, const uint64_t *word, size_t n)
{
	end->sum = dprof_sum_words(end->sum, word, n);
	end->words += n;
}

/* Counts the words of the chunk in one place of the file. */
static void read_words(int fd, uint64_t offset, uint64_t bytes, struct dprof_end *end)
{
	uint64_t word[BLOCK_WORDS], most = bytes / sizeof(*word);
	size_t n = BLOCK_WORDS;

	while (n == BLOCK_WORDS && end->words < most) {
		uint64_t left = (most - end->words) * sizeof(*word);
		long got = sys(SYS_pread64, fd, word, left < sizeof(word) ? left : sizeof(word),
			       offset + end->words * sizeof(*word));

		n = got > 0 ? written(word, (size_t)got / sizeof(*word)) : 0;
		add_block(end, word, n);
	}
}

/* Whether the chunk is still there: else it is packed by now, and was perhaps wiped while we read it. */
static bool still_there(int fd, const struct dprof_chunk *c)
{
	uint64_t first = 0;

	return sys(SYS_pread64, fd, &first, sizeof(first), c->offset) == sizeof(first) &&
	       first == dprof_escape_word(DPROF_ESCAPE_CHUNK, 0, c->number);
}

struct read { struct dprof_thread *t; struct dprof_chunk chunk; struct dprof_end end; };

static long read_chunk(void *read)
{
	struct read *r = read;
	const struct dprof_chunk *c = &r->chunk;
	int fd = (int)sys(SYS_open, dprof_chunk_path(r->t, c), O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0);

	if (fd >= 0 && still_there(fd, c))
		read_words(fd, c->offset, c->bytes - DPROF_SEAL_WORDS * sizeof(uint64_t), &r->end);
	if (fd < 0 || !still_there(fd, c))
		r->end = (struct dprof_end){ .ran_on = DPROF_RAN_ON, .chunks = r->end.chunks, .sum = DPROF_SUM_BEGIN };
	if (fd >= 0)
		sys(SYS_close, fd);
	return 0;
}

/* Where t has been since before `stamp`, and still is. */
static struct dprof_last_call last_call(const struct dprof_thread *t, uint64_t stamp)
{
	struct dprof_last_call none = { 0, 0 }, last = none;
	const struct dprof_open_call *open = t->open;
	const void *caller;

	if (!t->cursor || t == dprof_self)
		return none;
	last.since = __atomic_load_n(&open->since, __ATOMIC_ACQUIRE);
	last.site = (uint64_t)__atomic_load_n(&open->site, __ATOMIC_ACQUIRE);
	caller = __atomic_load_n(&open->caller, __ATOMIC_ACQUIRE);
	if (!last.since || last.since > stamp || (caller && !dprof_adapter_is_for_us(caller)) ||
	    __atomic_load_n(&open->since, __ATOMIC_ACQUIRE) != last.since)
		return none;
	return last;
}

void dprof_end_with_process(struct dprof_thread *t, uint64_t stamp)
{
	const struct dprof_chunk *current = __atomic_load_n(&t->current, __ATOMIC_ACQUIRE);

	if (!current)
		return;
	struct read r = { t, *current, { .ran_on = DPROF_RAN_ON, .chunks = current->number + 1, .sum = DPROF_SUM_BEGIN } };
	dprof_do_apart(read_chunk, &r);
	if (t == dprof_self)
		r.end.ran_on = DPROF_ENDED_IT;
	t->header->last = last_call(t, stamp);
	write_end(t->header, r.end, stamp);
}
