/* SPDX-License-Identifier: MIT
 *
 * clocks.h - kinds of clocks, and what each of them asks one to assume.
 *
 * Law: a clock of a kind before CLOCK_FIRST_BROKEN, drawn with `wander_ppb`, is strictly increasing
 * and its rate stays within about wander_ppb / 2 of a constant; clockmap_need_ppb says by how much
 * exactly. The others are set, stand still, or wander more than was asked for. */
#ifndef TRUTH_CLOCKS_H
#define TRUTH_CLOCKS_H

#include "testsuite/truth/clockmap.h"
#include "testsuite/truth/random.h"

#define CLOCK_KINDS(X)                                                                             \
	X(AFFINE, affine)   /* one rate for ever */                                                \
	X(SINE, sine)       /* the rate follows a sine, from some periods a run to a part of one */\
	X(WALK, walk)       /* the rate takes random steps between two walls */                    \
	X(SWITCH, switch)   /* the rate is always one of two extremes */                           \
	X(RAMP, ramp)       /* the rate goes from one extreme to the other: it becomes warm */     \
	X(FORWARD, forward) /* affine, but once set forward */                                     \
	X(BACK, back)       /* affine, but once set back */                                        \
	X(PAUSE, pause)     /* affine, but stands still: a virtual machine is stopped */           \
	X(EXCESS, excess)   /* wanders 2 to 100 times as much as it should */

enum clock_kind {
#define X(NAME, word) CLOCK_##NAME,
	CLOCK_KINDS(X)
#undef X
	CLOCK_KINDS_COUNT,
	CLOCK_FIRST_BROKEN = CLOCK_FORWARD
};

/* A word of CLOCK_KINDS; the kind of a word, CLOCK_KINDS_COUNT if it is none. */
const char *clock_word(enum clock_kind);
enum clock_kind clock_kind_of(const char *word);

struct clock_spec {
	enum clock_kind kind;
	int64_t begin, end;       /* true time of the run; knots lie in it */
	int64_t own;              /* what it shows at `begin` */
	double rate;              /* nominal: own ticks for each true tick */
	double wander_ppb;
	/* Of a clock that is set or stands still: by how many true ticks, and when. */
	int64_t break_ticks, break_at;
};

/* The caller owns the map: clockmap_free. Same dice, same map; whatever the kind, the dice are
 * rolled once, so that a world with one other clock is otherwise the same. */
struct clockmap clock_draw(struct dice *, const struct clock_spec *);

#endif
