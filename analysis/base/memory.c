/* SPDX-License-Identifier: MIT
 *
 * memory.c - see memory.h. */
#define _GNU_SOURCE /* vasprintf */
#include "analysis/base/memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void *or_die(void *memory)
{
	if (!memory) {
		fputs("dprof-analyze: out of memory\n", stderr);
		exit(1);
	}
	return memory;
}

void *mem_resize(void *old, size_t count, size_t size)
{
	return or_die(reallocarray(old, count ? count : 1, size));
}

void *mem_zeroed(size_t count, size_t size)
{
	return or_die(calloc(count ? count : 1, size));
}

void *mem_grow(void *old, size_t count, size_t size)
{
	if (count & (count - 1))
		return old;
	return mem_resize(old, count ? 2 * count : 1, size);
}

char *mem_vformat(const char *format, va_list args)
{
	char *text = NULL;
	int length = vasprintf(&text, format, args);
	return or_die(length < 0 ? NULL : text);
}

char *mem_format(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *text = mem_vformat(format, args);
	va_end(args);
	return text;
}

char *mem_copy(const char *string)
{
	return or_die(strdup(string));
}

FILE *mem_stream(char **text, size_t *size)
{
	return or_die(open_memstream(text, size));
}

void mem_stream_close(FILE *stream)
{
	bool whole = !ferror(stream);
	whole &= fclose(stream) == 0;
	or_die(whole ? &whole : NULL);
}
