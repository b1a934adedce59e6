/* SPDX-License-Identifier: MIT
 *
 * lines.h - the text file of a process (format.h), mapped.
 *
 * Law: a line is there whole, or not at all, or is the last one and lacks its first byte. To write one needs no
 * descriptor, nor a file that may grow, nor a right: a program may have used up or given up all of that since
 * the room for it was made; and the last lines find room that is kept for them. */
#ifndef RUNTIME_LINES_H
#define RUNTIME_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/format.h"

/* Makes the file, which must not exist: 0 or -errno. */
int dprof_lines_create(const char *path);

/* False where there is no room: then dprof_lines_refused says how many were refused so far and why. */
bool dprof_lines_append(const char *lines, size_t bytes);
bool dprof_lines_append_summed(const char *line, size_t bytes); /* and behind it the sum of all, which others may follow */
size_t dprof_lines_refused(enum dprof_why *);

/* What is appended from now on is the end, for which there was room kept; and: writes the sum, gives back what
 * was not needed, and no more comes. */
void dprof_lines_begin_end(void);
void dprof_lines_end(void);

/* In the child of a fork: the file is its parent's. */
void dprof_lines_forget(void);

#endif
