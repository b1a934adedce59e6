/* SPDX-License-Identifier: MIT
 *
 * mutate.c - see mutate.h. */
#include "testsuite/fuzz/mutate.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "runtime/words.h"

uint64_t mut_number(struct mutator *m)
{
	uint64_t high = mut_below(m, UINT64_C(1) << 31), low = mut_below(m, UINT64_C(1) << 31);
	return (high << 33 | low << 2 | mut_below(m, 4)) >> mut_below(m, 64);
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* Mostly where something stands: the header page of a file of events is nearly empty. */
static size_t somewhere(struct mutator *m, size_t size)
{
	if (!size)
		return 0;
	size_t at = (size_t)mut_below(m, size);
	return size > DPROF_HEADER_SIZE && at > sizeof(struct dprof_events_header) && at < DPROF_HEADER_SIZE
		       ? DPROF_HEADER_SIZE + at % (size - DPROF_HEADER_SIZE)
		       : at;
}

/* Puts n bytes of `with` in place of `old` bytes, as far as there is room. */
static void splice(struct mut_bytes *b, size_t at, size_t old, const void *with, size_t n)
{
	if (b->size - old + n > b->room)
		return;
	memmove(b->at + at + n, b->at + at + old, b->size - at - old);
	if (n)
		memcpy(b->at + at, with, n);
	b->size += n - old;
}

void mut_damage(struct mutator *m, struct mut_bytes *b, const uint8_t *other, size_t other_size)
{
	if (!b->size)
		return;
	size_t at = somewhere(m, b->size), n = 1 + (size_t)mut_below(m, b->size - at);
	switch (mut_below(m, 8)) {
	case 0: /* one bit */
	case 1:
		b->at[at] ^= (uint8_t)(1 << mut_below(m, 8));
		return;
	case 2: /* one byte */
		b->at[at] = (uint8_t)mut_below(m, 256);
		return;
	case 3: /* the end is missing */
		b->size = at;
		return;
	case 4: /* zeros */
		memset(b->at + at, 0, n);
		return;
	case 5: /* something is missing in the middle */
		splice(b, at, n, NULL, 0);
		return;
	case 6: /* a piece of another file */
		n = n < other_size ? n : other_size;
		if (n)
			memcpy(b->at + at, other, n);
		return;
	default: /* something is there twice */
		if (b->size + n <= b->room) {
			memmove(b->at + at + n, b->at + at, b->size - at);
			b->size += n;
		}
	}
}

/* ---- Words ----------------------------------------------------------------------------------- */

static uint64_t get(const struct mut_bytes *b, size_t word)
{
	uint64_t value;
	memcpy(&value, b->at + DPROF_HEADER_SIZE + word * sizeof value, sizeof value);
	return value;
}

static void put(struct mut_bytes *b, size_t word, uint64_t value)
{
	memcpy(b->at + DPROF_HEADER_SIZE + word * sizeof value, &value, sizeof value);
}

/* The first word from i on, going around, of which `is` holds; i if there is none. */
static size_t find(const struct mut_bytes *b, size_t n, size_t i, bool (*is)(uint64_t))
{
	for (size_t k = 0; k < n; k++)
		if (is(get(b, (i + k) % n)))
			return (i + k) % n;
	return i;
}

static bool is_used(uint64_t word)
{
	return word != 0;
}

static bool is_event(uint64_t word)
{
	return word && !dprof_is_escape(word);
}

static bool is_chunk(uint64_t word)
{
	return dprof_is(word, DPROF_ESCAPE_CHUNK);
}

static uint64_t any_escape(struct mutator *m)
{
	return dprof_escape_word((enum dprof_escape)mut_below(m, 8), (unsigned)mut_below(m, 16), mut_number(m));
}

static uint64_t with_stamp(struct mutator *m, uint64_t word)
{
	uint64_t by = (mut_number(m) >> mut_below(m, 60)) << DPROF_ID_BITS;
	return mut_below(m, 2) ? word + by : word - by;
}

static void swap_sites(struct mut_bytes *b, size_t i, size_t k)
{
	uint64_t x = get(b, i), y = get(b, k), differ = (x ^ y) & (DPROF_IDS - 1);
	put(b, i, x ^ differ);
	put(b, k, y ^ differ);
}

static void swap_words(struct mut_bytes *b, size_t i, size_t k)
{
	uint64_t x = get(b, i);
	put(b, i, get(b, k));
	put(b, k, x);
}

void mut_events(struct mutator *m, struct mut_bytes *b)
{
	if (b->size < DPROF_HEADER_SIZE + sizeof(uint64_t))
		return;
	size_t n = (b->size - DPROF_HEADER_SIZE) / sizeof(uint64_t);
	size_t i = find(b, n, (size_t)mut_below(m, n), is_used), k = find(b, n, (size_t)mut_below(m, n), is_used);
	switch (mut_below(m, 8)) {
	case 0: put(b, i, any_escape(m)); return;
	case 1: put(b, i, mut_number(m)); return;
	case 2: /* an argument or an epoch with another value */
		put(b, i, dprof_escape_word(dprof_escape_kind(get(b, i)), dprof_small(get(b, i)), mut_number(m)));
		return;
	case 3:
	case 4:
		i = find(b, n, i, is_event);
		put(b, i, with_stamp(m, get(b, i)));
		return;
	case 5: swap_sites(b, find(b, n, i, is_event), find(b, n, k, is_event)); return;
	case 6: swap_words(b, i, k); return;
	default:
		i = find(b, n, i, is_chunk);
		if (is_chunk(get(b, i)))
			put(b, i, dprof_escape_word(DPROF_ESCAPE_CHUNK, 0, mut_below(m, 3) ? mut_below(m, 4) :
									   mut_number(m)));
	}
}

/* The next slot, from some one on, with anything in it. */
static uint8_t *used_slot(struct mutator *m, struct mut_bytes *b)
{
	static const uint8_t none[sizeof(uint64_t)];
	size_t slots = b->size / DPROF_SLOT, from = (size_t)mut_below(m, slots), i = 0;
	while (i < slots - 1 && !memcmp(b->at + (from + i) % slots * DPROF_SLOT, none, sizeof none))
		i++;
	return b->at + (from + i) % slots * DPROF_SLOT;
}

/* What a slot holds, whose words stand behind a shorter header. */
static void mut_nursery(struct mutator *m, struct mut_bytes *b, const uint8_t *other, size_t other_size)
{
	if (b->size < 2 * DPROF_SLOT)
		return;
	uint8_t *slot = used_slot(m, b);
	struct mut_bytes all = { slot, DPROF_SLOT, DPROF_SLOT };
	struct mut_bytes words = { slot + DPROF_SLOT_HEADER - DPROF_HEADER_SIZE,
				   DPROF_HEADER_SIZE + DPROF_SLOT - DPROF_SLOT_HEADER, 0 };
	if (slot == b->at || mut_below(m, 2))
		mut_damage(m, &all, other, other_size);
	else
		mut_events(m, &words);
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static bool ends_word(uint8_t c)
{
	return c == ' ' || c == '=' || c == ',' || c == '\n';
}

/* The word around an offset. */
static size_t word_at(const struct mut_bytes *b, size_t at, size_t *begin)
{
	size_t end = at;
	while (at > 0 && !ends_word(b->at[at - 1]))
		at--;
	while (end < b->size && !ends_word(b->at[end]))
		end++;
	*begin = at;
	return end - at;
}

static size_t line_at(const struct mut_bytes *b, size_t at, size_t *begin)
{
	size_t end = at;
	while (at > 0 && b->at[at - 1] != '\n')
		at--;
	while (end < b->size && b->at[end] != '\n')
		end++;
	*begin = at;
	return end - at + (end < b->size);
}

static void put_other_word(struct mutator *m, struct mut_bytes *b, size_t at, size_t n)
{
	static const char *const words[] = { "", "0", "-1", "18446744073709551615", "18446744073709551616", "0x",
					     "%", "%00", "%1b", "\x1b[2J", "\xff\xfe", "=", "size=0", "1e308", "nan",
					     "ranks=0,0,0", "threads=", "\xc2\x9b", ",", "../../x", "group", "#" };
	char number[24];
	snprintf(number, sizeof number, "%" PRIu64, mut_number(m));
	const char *word = mut_below(m, 2) ? number : words[mut_below(m, sizeof words / sizeof *words)];
	splice(b, at, n, word, strlen(word));
}

void mut_lines(struct mutator *m, struct mut_bytes *b)
{
	uint8_t line[4096];
	if (!b->size)
		return;
	size_t at = (size_t)mut_below(m, b->size), begin, n;
	switch (mut_below(m, 5)) {
	case 0: /* a line is missing, ... */
		n = line_at(b, at, &begin);
		splice(b, begin, n, NULL, 0);
		return;
	case 1: /* ... elsewhere, or twice there */
		n = line_at(b, at, &begin);
		n = n < sizeof line ? n : sizeof line;
		memcpy(line, b->at + begin, n);
		if (mut_below(m, 2))
			splice(b, begin, n, NULL, 0);
		line_at(b, (size_t)mut_below(m, b->size + 1), &begin);
		splice(b, begin, 0, line, n);
		return;
	case 2:
		n = word_at(b, at, &begin);
		splice(b, begin, n, NULL, 0);
		return;
	default:
		n = word_at(b, at, &begin);
		put_other_word(m, b, begin, n);
	}
}

/* ---- Files ----------------------------------------------------------------------------------- */

static bool ends(const char *name, const char *suffix)
{
	size_t length = strlen(name), end = strlen(suffix);
	return length > end && !strcmp(name + length - end, suffix);
}

void mut_file(struct mutator *m, const char *name, struct mut_bytes *b, const uint8_t *other, size_t other_size)
{
	bool generic = mut_below(m, 3) == 0;
	if (ends(name, ".events") && !generic)
		mut_events(m, b);
	else if (ends(name, ".nursery") && !generic)
		mut_nursery(m, b, other, other_size);
	else if ((ends(name, ".process") || ends(name, ".txt")) && !generic)
		mut_lines(m, b);
	else
		mut_damage(m, b, other, other_size);
}

/* ---- Losses ---------------------------------------------------------------------------------- */

struct loss { char event[32]; uint64_t thread, first, end, count; }; /* how its lines begin; which of `count` are lost */

static size_t begins_with(const uint8_t *line, const char *word)
{
	return strncmp((const char *)line, word, strlen(word)) == 0;
}

/* Behind the line, which ends with a newline. */
static uint8_t *next_line(const struct mut_bytes *b, uint8_t *line)
{
	uint8_t *end = memchr(line, '\n', (size_t)(b->at + b->size - line));
	return end ? end + 1 : b->at + b->size;
}

static uint64_t count_lines(const struct mut_bytes *b, const char *word)
{
	uint64_t n = 0;
	for (uint8_t *line = b->at; line < b->at + b->size; line = next_line(b, line))
		n += begins_with(line, word);
	return n;
}

/* Some of one thread's, but never the last one: a text does not say otherwise how long it was there. */
static bool choose_loss(struct mutator *m, const struct mut_bytes *b, struct loss *l)
{
	uint64_t threads = count_lines(b, "thread ");
	l->thread = threads ? mut_below(m, threads) : 0;
	snprintf(l->event, sizeof l->event, "e %" PRIu64 " ", l->thread);
	l->count = count_lines(b, l->event);
	if (l->count < 2)
		return false;
	l->first = mut_below(m, l->count - 1);
	uint64_t most = l->count - 1 - l->first;
	l->end = l->first + 1 + mut_below(m, mut_below(m, 2) && most > 8 ? 8 : most);
	return true;
}

/* Where they stood is a line that says how many: that is shorter than one of them. */
static void lose_events(struct mutator *m, struct mut_bytes *b)
{
	struct loss l;
	uint8_t *to = b->at, *next;
	uint64_t n = 0;
	if (!choose_loss(m, b, &l))
		return;
	for (uint8_t *line = b->at; line < b->at + b->size; line = next) {
		next = next_line(b, line);
		bool is = begins_with(line, l.event), lost = is && n >= l.first && n < l.end;
		if (lost && n + 1 == l.end) {
			char text[64];
			int size = snprintf(text, sizeof text, "lost %" PRIu64 " %" PRIu64 "\n", l.thread, l.end - l.first);
			memcpy(to, text, (size_t)size);
			to += size;
		}
		n += is;
		if (!lost) {
			memmove(to, line, (size_t)(next - line));
			to += next - line;
		}
	}
	b->size = (size_t)(to - b->at);
}

void mut_forget(struct mutator *m, struct mut_bytes *b)
{
	for (uint64_t times = mut_below(m, 2) ? 1 : 1 + mut_below(m, 4); times; times--) {
		uint64_t n = count_lines(b, "e "), which = n ? mut_below(m, n) : 0;
		for (uint8_t *line = b->at, *next; n && line < b->at + b->size; line = next) {
			next = next_line(b, line);
			if (!begins_with(line, "e ") || which-- > 0)
				continue;
			splice(b, (size_t)(line - b->at), (size_t)(next - line), NULL, 0);
			break;
		}
	}
}

bool mut_lose(struct mutator *m, const char *name, struct mut_bytes *b)
{
	if (ends(name, ".txt")) {
		for (uint64_t times = 1 + mut_below(m, 2); times; times--)
			lose_events(m, b);
		return true;
	}
	if (!b->size || mut_below(m, 4) == 0)
		return false;
	size_t at = somewhere(m, b->size), n = 1 + (size_t)mut_below(m, b->size - at);
	switch (mut_below(m, 3)) {
	case 0: b->size = at; break;
	case 1: b->size -= b->size % 4096 && mut_below(m, 2) ? b->size % 4096 : at % 4096; break;
	default: memset(b->at + at, 0, n);
	}
	return true;
}
