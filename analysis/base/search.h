/* SPDX-License-Identifier: MIT
 *
 * search.h - by halves, in rows that stand in order; or from where the answer is likely to be, by steps that double until it
 * is passed, and then by halves: that looks at a few rows where it is near, and at twice as many as the other at most. */
#ifndef ANALYSIS_SEARCH_H
#define ANALYSIS_SEARCH_H

#include <stdbool.h>
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

/* The same, beginning at row `near`, which may be any. */
#define SEARCH_NEAR(n, near, i, before)                                                                \
	({                                                                                             \
		size_t from_ = 0, to_ = (n), near_ = (near), at_ = near_ < to_ ? near_ : to_ - (to_ > 0); \
		bool up_ = false, down_ = false;                                                       \
		for (size_t step_ = 1; from_ < to_; step_ *= 2) {                                      \
			size_t i = at_;                                                                \
			if (before) {                                                                  \
				from_ = i + 1;                                                         \
				up_ = true;                                                            \
			} else {                                                                       \
				to_ = i;                                                               \
				down_ = true;                                                          \
			}                                                                              \
			at_ = from_ + (to_ - from_) / 2;                                               \
			if (up_ && !down_ && step_ <= to_ - from_)                                     \
				at_ = from_ + step_ - 1;                                               \
			if (down_ && !up_ && step_ <= to_ - from_)                                     \
				at_ = to_ - step_;                                                     \
		}                                                                                      \
		from_;                                                                                 \
	})

#endif
