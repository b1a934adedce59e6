/* SPDX-License-Identifier: MIT
 *
 * memory.h - growing arrays and formatted strings for the analyses.
 *
 * Law: nothing here returns NULL. A command that runs out of memory has nothing better to do than to
 * say so and end. */
#ifndef ANALYSIS_MEMORY_H
#define ANALYSIS_MEMORY_H

#include <stddef.h>
#include <stdint.h>

void *mem_resize(void *old, size_t count, size_t size);
char *mem_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *mem_copy(const char *string);

/* Makes room for one more in `array` of `count` elements, by doubling, and gives its address. */
#define MEM_GROW(array, count)                                                                     \
	(((count) & ((count) - 1)) == 0                                                            \
		 ? (void)((array) = mem_resize((array), (count) ? 2 * (count) : 1, sizeof *(array)))  \
		 : (void)0,                                                                        \
	 &(array)[(count)++])

#endif
