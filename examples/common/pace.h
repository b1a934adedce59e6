/* SPDX-License-Identifier: MIT
 *
 * pace.h - work whose duration is known: it ends at its hour, whatever else runs on the cores.
 *
 * Law: a thread never returns from pace_until before that time. */
#ifndef EXAMPLES_PACE_H
#define EXAMPLES_PACE_H

#include <errno.h>
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
	struct timespec end = { ns / PACE_SECOND, ns % PACE_SECOND };
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR)
		;
}

#endif
