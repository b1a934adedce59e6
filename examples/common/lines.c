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
	free(l->text);
	l->file = NULL;
	l->text = NULL;
}

/* True when there is room for one more piece of the line behind its first `used` bytes. */
static bool make_room(struct lines *l, size_t used)
{
	if (l->room - used > 1)
		return true;
	size_t room = l->room ? 2 * l->room : 4096;
	char *text = realloc(l->text, room);
	if (!text)
		return lines_refuse(l, "no memory for a line of more than %zu bytes", used);
	l->text = text;
	l->room = room;
	return true;
}

/* Nothing more came: true when that is the end of the file, and not that zlib could not go on. */
static bool at_end(struct lines *l)
{
	int error;
	const char *why = gzerror(l->file, &error);
	if (error == Z_OK || error == Z_STREAM_END)
		return true;
	l->number++;
	size_t name = strlen(l->name); /* zlib puts it and ": " first */
	if (!strncmp(why, l->name, name) && why[name] == ':')
		why += name + 2;
	return lines_refuse(l, "cannot read on: %s", error == Z_ERRNO ? strerror(errno) : why);
}

bool lines_next(struct lines *l)
{
	size_t used = 0;
	if (l->refused)
		return false;
	do {
		if (!make_room(l, used))
			return false;
		int piece = (int)(l->room - used > 1 << 20 ? 1 << 20 : l->room - used);
		z_off_t before = gztell(l->file);
		if (!gzgets(l->file, l->text + used, piece)) {
			if (!at_end(l) || !used)
				return false;
			break;
		}
		size_t got = strlen(l->text + used);
		if (before + (z_off_t)got != gztell(l->file)) {
			l->number++;
			return lines_refuse(l, "expected text, found a NUL byte");
		}
		used += got;
	} while (l->text[used - 1] != '\n');
	l->number++;
	while (used && (l->text[used - 1] == '\n' || l->text[used - 1] == '\r'))
		l->text[--used] = 0;
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
