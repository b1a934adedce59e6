/* SPDX-License-Identifier: MIT
 *
 * enumeration.c - see enumeration.h. */
#include "analysis/base/enumeration.h"

#include <stdarg.h>
#include <stdlib.h>

#include "analysis/base/memory.h"

static void append(struct enumeration *e, const char *between, const char *text)
{
	char *longer = mem_format("%s%s%s", e->text ? e->text : "", e->text ? between : "", text);
	free(e->text);
	e->text = longer;
}

void enumeration_add(struct enumeration *e, const char *format, ...)
{
	if (e->count++ >= e->most)
		return;
	va_list args;
	va_start(args, format);
	char *text = mem_vformat(format, args);
	va_end(args);
	append(e, ", ", text);
	free(text);
}

char *enumeration_take(struct enumeration *e)
{
	if (e->count > e->most) {
		char *rest = mem_format("and %zu more", e->count - e->most);
		append(e, ", ", rest);
		free(rest);
	}
	char *text = e->text ? e->text : mem_copy("");
	*e = (struct enumeration){ .most = e->most };
	return text;
}
