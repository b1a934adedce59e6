/* SPDX-License-Identifier: MIT
 *
 * joined.h - numbers that are joined to groups: each points to another one of its group, or, one of each group, to itself.
 * (R. Tarjan and J. van Leeuwen, Worst-case analysis of set union algorithms, 1984: path halving.) */
#ifndef ANALYSIS_JOINED_H
#define ANALYSIS_JOINED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/memory.h"

/* Each is a group of its own; to be freed. */
static inline uint32_t *joined_none(size_t n)
{
	uint32_t *joined = mem_resize(NULL, n + 1, sizeof *joined);
	for (size_t i = 0; i < n; i++)
		joined[i] = (uint32_t)i;
	return joined;
}

/* The one of its group that points to itself. */
static inline uint32_t joined_group(uint32_t *joined, uint32_t i)
{
	while (joined[i] != i)
		i = joined[i] = joined[joined[i]];
	return i;
}

/* False: they were of one group before. */
static inline bool joined_join(uint32_t *joined, uint32_t a, uint32_t b)
{
	uint32_t one = joined_group(joined, a), other = joined_group(joined, b);
	joined[one] = other;
	return one != other;
}

#endif
