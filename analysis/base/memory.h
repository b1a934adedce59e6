/* SPDX-License-Identifier: MIT
 *
 * memory.h - growing arrays and formatted strings for the analyses.
 *
 * Law: nothing here returns NULL. A command that runs out of memory has nothing better to do
 * than to say so and end. */
#ifndef ANALYSIS_MEMORY_H
#define ANALYSIS_MEMORY_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

void *mem_resize(void *old, size_t count, size_t size);

/* New, and zero: what of a large one is never touched costs nothing. */
void *mem_zeroed(size_t count, size_t size);

char *mem_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *mem_vformat(const char *format, va_list) __attribute__((format(printf, 1, 0)));
char *mem_copy(const char *string);

/* What is written there is a string when it is closed, to be freed; all of it. */
FILE *mem_stream(char **text, size_t *size);
void mem_stream_close(FILE *);

/* Makes room for one more in `array` of `count` elements and gives its address. */
#define MEM_GROW(array, count)                                                                     \
	((array) = mem_grow((array), (count), sizeof *(array)), &(array)[(count)++])

/* Behind it: doubles the room when `count` has reached a power of two. */
void *mem_grow(void *old, size_t count, size_t size);

#endif
