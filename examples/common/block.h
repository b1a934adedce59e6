/* SPDX-License-Identifier: MIT
 *
 * block.h - dividing things among ranks and threads.
 *
 * Law: the parts of `count` things are neighbours, in order, without gap; sizes differ by one at most. */
#ifndef EXAMPLES_BLOCK_H
#define EXAMPLES_BLOCK_H

#include <stddef.h>

struct block {
	size_t first, count;
};

/* Part number `part` of so many `parts`. */
static inline struct block block_of(size_t count, int parts, int part)
{
	size_t share = count / (size_t)parts, rest = count % (size_t)parts, p = (size_t)part;
	return (struct block){ p * share + (p < rest ? p : rest), share + (p < rest) };
}

#endif
