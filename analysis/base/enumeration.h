/* SPDX-License-Identifier: MIT
 *
 * enumeration.h - "a, b, c, and 4 more": what a sentence lists, of which only the first few are named. */
#ifndef ANALYSIS_ENUMERATION_H
#define ANALYSIS_ENUMERATION_H

#include <stddef.h>

struct enumeration {
	size_t most;  /* so many are named */
	size_t count; /* so many there are */
	char *text;   /* those that are named */
};

void enumeration_add(struct enumeration *, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The whole, "" of none; to be freed. The list is empty then. */
char *enumeration_take(struct enumeration *);

#endif
