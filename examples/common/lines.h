/* SPDX-License-Identifier: MIT
 *
 * lines.h - a text file, plain or gzipped, line by line.
 *
 * Law: whatever is refused is refused with FILE:LINE, once, and the reader then stays refused. */
#ifndef EXAMPLES_LINES_H
#define EXAMPLES_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <zlib.h>

struct lines {
	gzFile file;
	const char *name;
	size_t number; /* of the line that was read last, from 1 */
	char *text;    /* that line, without its end; until the next one is read */
	char *buffer;  /* what was read ahead */
	size_t room;   /* of the buffer, beside one byte for a NUL */
	size_t at, end; /* what is in it and not yet a line */
	bool refused;
};

/* Whether the file could be opened; if not, it has been refused. Always to be closed. */
bool lines_open(struct lines *l, const char *name);
void lines_close(struct lines *l);

/* The next line into l->text; false at the end or when refused. */
bool lines_next(struct lines *l);

/* Says "FILE:LINE: what is wrong" on stderr (no line before the first one). Returns false. */
bool lines_refuse(struct lines *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The next number in *at, which moves behind it and behind one comma, if there is one; false at the
 * end of the line, or when what is there is no finite number: then the line has been refused. */
bool lines_number(struct lines *l, char **at, double *value);

#endif
