/* SPDX-License-Identifier: MIT
 *
 * lines.c - a text file, plain or gzipped, line by line. */
#include "examples/common/lines.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool lines_refuse(struct lines *l, const char *format, ...)
{
	if (l->refused)
		return false;
	l->refused = true;
	fputs(l->name, stderr);
	if (l->number)
		fprintf(stderr, ":%zu", l->number);
	fputs(": ", stderr);
	va_list args;
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return false;
}

bool lines_open(struct lines *l, const char *name)
{
	*l = (struct lines){ .name = name };
	errno = 0;
	l->file = gzopen(name, "rb"); /* reads what is not gzipped as it is */
	if (!l->file)
		return lines_refuse(l, "%s", errno ? strerror(errno) : "out of memory");
	gzbuffer(l->file, 1 << 17);
	return true;
}

void lines_close(struct lines *l)
{
	if (l->file)
		gzclose(l->file);
	free(l->buffer);
	l->file = NULL;
	l->text = l->buffer = NULL;
}

/* True when there is room in the buffer, behind what is not yet a line. */
static bool make_room(struct lines *l)
{
	if (l->at) {
		memmove(l->buffer, l->buffer + l->at, l->end - l->at);
		l->end -= l->at;
		l->at = 0;
	}
	if (l->end < l->room)
		return true;
	size_t room = l->room ? 2 * l->room : 1 << 18;
	char *buffer = realloc(l->buffer, room + 1);
	if (!buffer)
		return lines_refuse(l, "no memory for a line of more than %zu bytes", l->end);
	l->buffer = buffer;
	l->room = room;
	return true;
}

/* Nothing more came. False; refused when that is not the end of the file but zlib could not go
 * on. */
static bool at_end(struct lines *l)
{
	int error;
	const char *why = gzerror(l->file, &error);
	if (error == Z_OK || error == Z_STREAM_END)
		return false;
	l->number++;
	size_t name = strlen(l->name); /* zlib puts it and ": " first */
	if (!strncmp(why, l->name, name) && why[name] == ':')
		why += name + 2;
	return lines_refuse(l, "cannot read on: %s", error == Z_ERRNO ? strerror(errno) : why);
}

/* Whether more of the file came into the buffer. */
static bool read_on(struct lines *l)
{
	if (!make_room(l))
		return false;
	size_t room = l->room - l->end;
	int got = gzread(l->file, l->buffer + l->end, room < 1 << 30 ? (unsigned)room : 1 << 30);
	if (got <= 0)
		return at_end(l);
	l->end += (size_t)got;
	return true;
}

/* The length of the next line in the buffer, with its end in *next; false when there is none. */
static bool find_line(struct lines *l, size_t *length, size_t *next)
{
	size_t searched = 0;
	for (;;) {
		size_t have = l->end - l->at;
		const char *from = l->buffer + l->at, *end = NULL;
		if (have > searched)
			end = memchr(from + searched, '\n', have - searched);
		if (end) {
			*length = (size_t)(end - from);
			*next = *length + 1;
			return true;
		}
		searched = have;
		if (!read_on(l)) {
			*length = *next = have; /* the last line may have no end */
			return !l->refused && have;
		}
	}
}

bool lines_next(struct lines *l)
{
	size_t length, next;
	if (l->refused || !find_line(l, &length, &next))
		return false;
	l->number++;
	l->text = l->buffer + l->at;
	l->at += next;
	if (memchr(l->text, 0, length))
		return lines_refuse(l, "expected text, found a NUL byte");
	while (length && l->text[length - 1] == '\r')
		length--;
	l->text[length] = 0;
	return true;
}

static char *skip_blanks(char *s)
{
	return s + strspn(s, " \t\r");
}

bool lines_number(struct lines *l, char **at, double *value)
{
	char *from = skip_blanks(*at), *end;
	if (!*from)
		return false;
	*value = strtod(from, &end);
	size_t length = strcspn(from, ", \t\r");
	if (end != from + length || !length)
		return lines_refuse(l, "expected a number in column %td, found \"%.*s\"",
				    from - l->text + 1, length < 40 ? (int)length : 40, from);
	if (!isfinite(*value))
		return lines_refuse(l, "expected a finite number in column %td, found \"%.*s\"",
				    from - l->text + 1, length < 40 ? (int)length : 40, from);
	end = skip_blanks(end);
	if (*end == ',') {
		end = skip_blanks(end + 1);
		if (!*end)
			return lines_refuse(l, "expected a number behind the last comma, "
					       "found the end of the line");
	}
	*at = end;
	return true;
}
