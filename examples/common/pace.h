/* SPDX-License-Identifier: MIT
 *
 * pace.h - work whose duration is known: it ends at its hour, whatever else runs on the cores.
 *
 * Law: a thread never returns from pace_until before that time.
 *
 * It sleeps for as long as is left: that is its own time, as work is. A sleep until a moment would be over at that
 * moment however early it began, and so would be no stand-in for work. */
#ifndef EXAMPLES_PACE_H
#define EXAMPLES_PACE_H

#include <stdint.h>
#include <time.h>

#define PACE_SECOND 1000000000LL /* ns */

static inline int64_t pace_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * PACE_SECOND + now.tv_nsec;
}

static inline void pace_until(int64_t ns)
{
	for (int64_t left; (left = ns - pace_now()) > 0;)
		nanosleep(&(struct timespec){ left / PACE_SECOND, left % PACE_SECOND }, NULL);
}

#endif
