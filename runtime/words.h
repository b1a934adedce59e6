/* SPDX-License-Identifier: MIT
 *
 * words.h - how the records of format.h are stored: mostly, an event is one word of 8 bytes.
 *
 *   event    63 ............ 24  23 .......... 1  0        The address is that of the site plus 16 times
 *           | stamp, low 40 bits | address 26..4 | 0 |     the operation. Its upper bits are those of
 *                                                          the module whose sites are there.
 *   escape   63 ................ 8  7 .. 4  3 .. 1  0
 *           | value                | small | kind  | 1 |
 *
 *   EPOCH     value: a stamp's upper 56 bits. The stamp of the next event is the one nearest to it
 *             with those low 40 bits; that of every further event the one nearest to the event before.
 *   ARG       small: enum dprof_key, value: the lower 56 bits of the argument
 *   ARG_HIGH  the same of its upper 8 bits, where they are not 0; stands behind the ARG
 *   LOST      value: how many
 *   WIDE      an event of three words, of which the next two are the stamp and the site's address, both
 *             whole; small: enum dprof_op. Written while it is not ensured that words are unambiguous.
 *   NOTHING   a word that was not needed
 *   CHUNK     value: the number of the chunk that begins here (format.h)
 *
 * A word that is zero was never written. (An event's can only be zero in one tick of 2^40, at one of
 * 2^23 addresses; it is then missed like any that was not written.)
 *
 * Law: decoding gives back what was encoded if successive events without an EPOCH in between are
 * less than 2^39 ticks apart (110 s at 5 GHz) and no two modules have sites at addresses that are
 * equal in bits 26 to 4. The runtime sees to both, or writes WIDE. */
#ifndef DPROF_WORDS_H
#define DPROF_WORDS_H

#include <stddef.h>

#include "runtime/format.h"

#define DPROF_STAMP_BITS 40
#define DPROF_ID_BITS    24
#define DPROF_IDS        (UINT64_C(1) << DPROF_ID_BITS)
#define DPROF_EPOCH_UNIT 256 /* ticks */
#define DPROF_VALUE_MAX  (UINT64_MAX >> 8)

enum dprof_escape {
	DPROF_ESCAPE_EPOCH,
	DPROF_ESCAPE_ARG,
	DPROF_ESCAPE_ARG_HIGH,
	DPROF_ESCAPE_LOST,
	DPROF_ESCAPE_WIDE,
	DPROF_ESCAPE_NOTHING,
	DPROF_ESCAPE_CHUNK,
};

#define DPROF_WIDE_WORDS 3

/* What an event's word says of site and operation. */
static inline uint64_t dprof_id(uint64_t site, enum dprof_op op)
{
	return (site + DPROF_SITE_ALIGN * (uint64_t)op) >> 3 & (DPROF_IDS - 1);
}

static inline uint64_t dprof_event_word(uint64_t stamp, uint64_t site, enum dprof_op op)
{
	return stamp << DPROF_ID_BITS | dprof_id(site, op);
}

static inline uint64_t dprof_escape_word(enum dprof_escape kind, unsigned small, uint64_t value)
{
	return value << 8 | small << 4 | (uint64_t)kind << 1 | 1;
}

static inline uint64_t dprof_epoch_word(uint64_t stamp)
{
	return dprof_escape_word(DPROF_ESCAPE_EPOCH, 0, stamp / DPROF_EPOCH_UNIT);
}

static inline int dprof_is_escape(uint64_t word)
{
	return word & 1;
}

static inline int dprof_is(uint64_t word, enum dprof_escape kind)
{
	return (word & 15) == ((uint64_t)kind << 1 | 1);
}

static inline enum dprof_escape dprof_escape_kind(uint64_t word)
{
	return (enum dprof_escape)(word >> 1 & 7);
}

static inline unsigned dprof_small(uint64_t word)
{
	return word >> 4 & 15;
}

static inline uint64_t dprof_value(uint64_t word)
{
	return word >> 8;
}

/* The whole stamp of an event's word; `near`: of the event or epoch before. */
static inline uint64_t dprof_stamp_near(uint64_t word, uint64_t near)
{
	uint64_t ahead = (word >> DPROF_ID_BITS) - near;

	return near + (uint64_t)((int64_t)(ahead << (64 - DPROF_STAMP_BITS)) >>
				 (64 - DPROF_STAMP_BITS));
}

#endif
