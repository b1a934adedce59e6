/* SPDX-License-Identifier: MIT
 *
 * decimal.h - whole numbers as text, for those that write millions of them.
 *
 * Law: what is put is what printf's PRId64 would print. */
#ifndef ANALYSIS_DECIMAL_H
#define ANALYSIS_DECIMAL_H

#include <stdint.h>
#include <string.h>

#define DECIMAL_MOST 20 /* characters */

/* Without a 0 behind it; returns its end. */
static inline char *decimal_put(char *to, int64_t number)
{
	char digits[DECIMAL_MOST], *first = digits + sizeof digits;
	uint64_t left = number < 0 ? -(uint64_t)number : (uint64_t)number;
	do
		*--first = (char)('0' + left % 10);
	while (left /= 10);
	if (number < 0)
		*--first = '-';
	size_t n = (size_t)(digits + sizeof digits - first);
	memcpy(to, first, n);
	return to + n;
}

#endif
