/* SPDX-License-Identifier: MIT
 *
 * recording.h - what two ranks really sent each other, seen on clocks that we made up.
 *
 * A recording is what traffic.c writes: lines of text, all stamps of one counter, in the order of
 * measuring:
 *
 *     ghz 2.596124                      ticks of the counter for each nanosecond
 *     barrier STAMP0 STAMP1             when ranks 0 and 1 left a barrier: the first, then the last
 *     packet FROM SENT TO RECEIVED      FreeZer's
 *     message FROM SENT TO RECEIVED     the program's
 *
 * Clock 0, the base, is that counter; clock 1 is it seen through a map (clockmap.h).
 *
 * Law: since nothing in a run was decided by a clock, the rewritten stamps are what a host with that
 * clock would have recorded; and the time of such a stamp is known: the recorded one. */
#ifndef PAPER_RECORDING_H
#define PAPER_RECORDING_H

#include <stddef.h>
#include <stdint.h>

#include "bench/baseline/baseline.h"
#include "freezer/link.h"
#include "testsuite/truth/clockmap.h"

#define CLOCK 1 /* the one that is converted to the base, 0 */

struct transfers {
	struct frz_link *truth; /* as recorded */
	struct frz_link *seen;  /* with clock 1's stamps rewritten */
	size_t n;
};

struct recording {
	double ghz;
	struct transfers packets, messages;
	uint64_t left[2][2];                  /* barriers: first and last, of each rank */
	struct baseline_moment barriers[2];   /* the same as clock 1 and the base saw them */
	struct clockmap map;
	uint64_t first, last;                 /* of all recorded stamps */
};

/* How clock 1 differs from the truth: it shows `rate` ticks for each true one (rounded to 1e-6),
 * plus an offset of `offset_ms`, and its rate wanders sinusoidally by `wander_ppm`. */
struct made_up { double rate, offset_ms, wander_ppm, period_s; };

/* Ends the program with a message if the file is not a recording. */
void recording_read(struct recording *, const char *path);
void recording_see(struct recording *, struct made_up);
void recording_free(struct recording *);

/* Base ticks for each tick of clock 1, from stamp to stamp of the truth. */
double recording_rate(const struct recording *, uint64_t from, uint64_t until);

/* "RATE[,OFFSET_MS[,WANDER_PPM,PERIOD_S]]" */
struct made_up made_up_of(const char *text);

/* Of a link between the two: the stamp of clock 1, and the true one of that. */
static inline uint64_t stamp_of_clock(const struct frz_link *l)
{
	return l->from == CLOCK ? l->sent : l->received;
}

#endif
