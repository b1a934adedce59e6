/* SPDX-License-Identifier: MIT
 *
 * meetings.h - barriers that all ranks of two hosts have passed.
 *
 * Collectives with a root do not count: not everybody waits for everybody there. */
#ifndef ANALYSIS_MEETINGS_H
#define ANALYSIS_MEETINGS_H

#include "analysis/trace/trace.h"

/* The earliest exit from one barrier on either clock. */
struct meeting { uint64_t stamp[2]; };

/* The first such barrier and the last; false if there are no two. */
bool meetings_find(struct meeting ends[2], const struct trace *, const uint32_t clocks[2]);

#endif
