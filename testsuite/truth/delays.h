/* SPDX-License-Identifier: MIT
 *
 * delays.h - how long packets take, in true ticks.
 *
 * Law: no packet is faster than its direction's floor; nothing else is promised, and no bound may
 * depend on more than that packets do not arrive before they are sent. */
#ifndef TRUTH_DELAYS_H
#define TRUTH_DELAYS_H

#include "testsuite/truth/random.h"

#define DELAY_KINDS(X)                                                                             \
	X(INSTANT, instant)         /* no time at all */                                           \
	X(SYMMETRIC, symmetric)     /* the same each way, with little noise */                     \
	X(ASYMMETRIC, asymmetric)   /* one way takes up to 100 times as long */                    \
	X(BURSTY, bursty)           /* stretches in which all packets are late */                  \
	X(EXPONENTIAL, exponential) /* memoryless noise of the floor's size */                     \
	X(HEAVY, heavy)             /* a Pareto tail without a mean */                             \
	X(CONGESTED, congested)     /* a queue that fills and empties, each way its own */

enum delay_kind {
#define X(NAME, word) DELAY_##NAME,
	DELAY_KINDS(X)
#undef X
	DELAY_KINDS_COUNT
};

const char *delay_word(enum delay_kind);
enum delay_kind delay_kind_of(const char *word); /* DELAY_KINDS_COUNT if it is none */

struct true_delay {
	enum delay_kind kind;
	double floor[2];  /* there, back */
	double queue[2];  /* CONGESTED: now; BURSTY: what is added now */
};

/* A path whose faster direction takes at least `floor` ticks. */
struct true_delay delay_draw(struct dice *, enum delay_kind, double floor);

/* Of the next packet; direction 0 is there, 1 is back. */
int64_t delay_next(struct true_delay *, struct dice *, int direction);

#endif
