/* SPDX-License-Identifier: MIT
 *
 * cores.h - do the cores of this host share a clock, and how far may they differ?
 *
 * The first core is compared with each other one: a thread on each, and stamps that go to and fro
 * in a cache line that both share:
 *
 *   first core   a |----->                  c      a, b, c: read behind fences
 *   core k               ----> b |---->
 *
 * Law: when b was read, the counter of the first core stood between a and c; so the counter of core
 * k was ahead by b - c to b - a ticks, and by a steady difference within the intersection of all
 * such intervals, widened by the tick that each counter's rounding may take. There is then one clock
 * from which no core differs by more than half the way from the least to the greatest of them (the
 * first core is at 0): uncertainty. That two cores differ for certain is no error: uncertainty covers
 * it.
 *
 * Where a core is so busy that stamps take microseconds all the time, nothing is concluded but a
 * difference that shows all the same: the core counts as not compared.
 *
 * What it says of a core is true of the time when it was measured; that the difference is steady is
 * what an invariant counter promises. */
#ifndef FREEZER_CORES_H
#define FREEZER_CORES_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>

struct frz_core {
	int number;
	int64_t lo, hi;      /* ticks that its counter is ahead of the first core's */
	uint32_t rounds;     /* that this follows from; 0: it could not be measured */
};

struct frz_cores {
	struct frz_core *core; /* in ascending order; the first is at 0 */
	size_t n;
	size_t compared;       /* how many pairs were; at most n - 1 */
	size_t disagree;       /* cores that differ from the first for certain */
	uint64_t uncertainty;  /* of those that were compared */
};

/* Compares the cores of `set` within about `deadline_ns`; those on which the caller may not run, or
 * which are busy with something else, may then be missing. 0 or -errno (not on the first); on error
 * *out owns nothing. Takes two threads for as long as it runs; the caller's own affinity stays. */
int frz_cores_compare(struct frz_cores *out, const cpu_set_t *set, uint64_t deadline_ns);
void frz_cores_free(struct frz_cores *);

#endif
