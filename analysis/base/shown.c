/* SPDX-License-Identifier: MIT
 *
 * shown.c - see shown.h. */
#define _GNU_SOURCE /* mempcpy, wcwidth */
#include "analysis/base/shown.h"

#include <locale.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "analysis/base/memory.h"

/* Characters that are no sign of their own: Unicode's Cc, Zl, Zp, and of Cf all that is invisible or changes
 * the direction of writing (joiners stay, scripts and emoji need them). */
static const struct { uint32_t first, last; } hidden[] = {
	{ 0x00, 0x1f },     { 0x7f, 0x9f },     { 0xad, 0xad },       { 0x61c, 0x61c },
	{ 0x180e, 0x180e }, { 0x200b, 0x200b }, { 0x200e, 0x200f },   { 0x2028, 0x202e },
	{ 0x2060, 0x206f }, { 0xfeff, 0xfeff },   { 0xfff9, 0xfffb },
	{ 0xfffe, 0xffff }, { 0xe0000, 0xe0fff },
};

static bool is_hidden(uint32_t code)
{
	for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
		if (code >= hidden[i].first && code <= hidden[i].last)
			return true;
	return false;
}

size_t shown_decode(const char *text, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *s = (const unsigned char *)text;
	size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc2 || s[0] > 0xf4 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	*code = n == 1 ? s[0] : n ? s[0] & (0x7fu >> n) : 0;
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (s[i] & 0x3f);
	}
	bool surrogate = *code >= 0xd800 && *code <= 0xdfff;
	return *code < least[n] || *code > 0x10ffff || surrogate ? 0 : n;
}

size_t shown_length(const char *s)
{
	uint32_t code;
	size_t n = shown_decode(s, &code);
	return n && !is_hidden(code) ? n : 0;
}

size_t shown_fit(const char *text, size_t room)
{
	size_t length = strnlen(text, room + 1);
	if (length <= room)
		return length;
	for (length = room; length && (text[length] & 0xc0) == 0x80;)
		length--;
	return length;
}

/* The library knows them, in a locale that has them; in any other each is one wide. */
static size_t width_of_character(uint32_t code)
{
	static locale_t unicode;
	if (code < 0x300)
		return 1;
	if (!unicode)
		unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	if (!unicode)
		return 1;
	locale_t before = uselocale(unicode);
	int width = wcwidth((wchar_t)code);
	uselocale(before);
	return width < 0 ? 1 : (size_t)width;
}

size_t shown_width(const char *text, size_t bytes)
{
	size_t width = 0;
	for (size_t at = 0, n; at < bytes; at += n ? n : 1) {
		uint32_t code = 0;
		n = shown_decode(text + at, &code);
		width += n ? width_of_character(code) : 1;
	}
	return width;
}

bool shown_is(const char *text)
{
	for (size_t n; *text; text += n)
		if (!(n = shown_length(text)))
			return false;
	return true;
}

char *shown_copy(const char *text)
{
	char *copy = mem_resize(NULL, 4 * strlen(text) + 1, 1), *to = copy;
	while (*text) {
		size_t n = shown_length(text);
		if (n)
			to = mempcpy(to, text, n);
		else
			to += sprintf(to, "\\x%02x", (unsigned char)*text);
		text += n ? n : 1;
	}
	*to = 0;
	return copy;
}

static char *speaker;

void shown_speak_as(const char *name)
{
	free(speaker);
	speaker = mem_format("%s: ", name);
}

void shown_complain(const char *format, ...)
{
	char *diagnostic;
	va_list arguments;
	va_start(arguments, format);
	if (vasprintf(&diagnostic, format, arguments) < 0)
		abort();
	va_end(arguments);
	char *shown = shown_copy(diagnostic);
	fprintf(stderr, "dprof-analyze: %s%s\n", speaker ? speaker : "", shown);
	free(diagnostic);
	free(shown);
}
