/* SPDX-License-Identifier: MIT
 *
 * mutate.h - damages bytes as disks, editors and foes do.
 *
 * Law: what is done follows from the number that the mutator began with, and from nothing else. */
#ifndef TESTSUITE_MUTATE_H
#define TESTSUITE_MUTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mutator { uint64_t state; };

static inline uint64_t mut_below(struct mutator *m, uint64_t n)
{
	m->state = m->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (m->state >> 33) % n;
}

/* Numbers of all sizes. */
uint64_t mut_number(struct mutator *);

/* Bytes that are changed in place; `room` is how many they may become. */
struct mut_bytes { uint8_t *at; size_t size, room; };

/* A bit, a byte, a piece that is missing, twice there, zero, or of another file. */
void mut_damage(struct mutator *, struct mut_bytes *, const uint8_t *other, size_t other_size);

/* A file of events (runtime/format.h): a word that is well-formed and says something else, a moved stamp, two
 * sites or two words that change places, another number of a chunk. */
void mut_events(struct mutator *, struct mut_bytes *);

/* A text of lines: a number, a word or a line that is missing, twice there, elsewhere or another one. */
void mut_lines(struct mutator *, struct mut_bytes *);

/* As befits a file of that name, some one of these. */
void mut_file(struct mutator *, const char *name, struct mut_bytes *, const uint8_t *other, size_t other_size);

/* What full disks and buffers, and careless copies lose: a file, its end, a piece of it, or of a text (dprof-text)
 * events of one thread. False: the file is gone. */
bool mut_lose(struct mutator *, const char *name, struct mut_bytes *);

/* Of a text (dprof-text) one line of an event is missing, or a few. */
void mut_forget(struct mutator *, struct mut_bytes *);

#endif
