/* SPDX-License-Identifier: MIT
 *
 * shared_barriers.h - barriers that all ranks of two hosts have passed: what the method of two
 * barriers is fitted to.
 *
 * Collectives with a root do not count: not all wait for all there. */
#ifndef PAPER_SHARED_BARRIERS_H
#define PAPER_SHARED_BARRIERS_H

#include "analysis/trace/trace.h"

/* The earliest exit from one barrier on either clock. */
struct shared_barrier { uint64_t stamp[2]; };

/* The first such barrier and the last; false if there are no two. */
bool shared_barriers(struct shared_barrier ends[2], const struct trace *, const uint32_t clocks[2]);

#endif
