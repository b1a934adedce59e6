/* SPDX-License-Identifier: MIT
 *
 * order.h - which of two comes first, as qsort() asks: below 0, 0, above 0. */
#ifndef ANALYSIS_ORDER_H
#define ANALYSIS_ORDER_H

#include <stdint.h>

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* By one thing, where that is the same by another, and so on. */
#define ORDER_2(a, b, first, second) ((a)->first != (b)->first ? ORDER((a)->first, (b)->first) : ORDER((a)->second, (b)->second))
#define ORDER_3(a, b, first, ...) ((a)->first != (b)->first ? ORDER((a)->first, (b)->first) : ORDER_2(a, b, __VA_ARGS__))
#define ORDER_4(a, b, first, ...) ((a)->first != (b)->first ? ORDER((a)->first, (b)->first) : ORDER_3(a, b, __VA_ARGS__))

#define ORDER_OF(name, type)                                    \
	static inline int name(const void *x, const void *y)       \
	{                                                          \
		const type *a = x, *b = y;                         \
		return ORDER(*a, *b);                              \
	}
ORDER_OF(order_doubles, double)
ORDER_OF(order_int64, int64_t)
ORDER_OF(order_uint64, uint64_t)
ORDER_OF(order_uint32, uint32_t)
#undef ORDER_OF

#endif
