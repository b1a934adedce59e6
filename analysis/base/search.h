/* SPDX-License-Identifier: MIT
 *
 * search.h - by halves, in rows that stand in order. */
#ifndef ANALYSIS_SEARCH_H
#define ANALYSIS_SEARCH_H

#include <stddef.h>

/* How many of `n` rows there are of which `before` holds, a condition on the row's index `i`: they stand before all others. */
#define SEARCH(n, i, before)                                  \
	({                                                    \
		size_t from_ = 0, to_ = (n);                  \
		while (from_ < to_) {                         \
			size_t i = from_ + (to_ - from_) / 2; \
			if (before)                           \
				from_ = i + 1;                \
			else                                  \
				to_ = i;                      \
		}                                             \
		from_;                                        \
	})

#endif
