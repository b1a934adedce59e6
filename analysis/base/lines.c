/* SPDX-License-Identifier: MIT
 *
 * lines.c - see lines.h. */
#define _GNU_SOURCE /* fwrite_unlocked */
#include "analysis/base/lines.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/nearest.h"
#include "analysis/base/shown.h"

#define QUOTE_BYTES 40

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f';
}

void ln_uncomment(char *line)
{
	char *mark = strchr(line, '#');
	while (mark && mark > line && !blank(mark[-1]))
		mark = strchr(mark + 1, '#');
	if (mark)
		*mark = 0;
}

char *ln_word(char **at)
{
	char *word = *at;
	while (blank(*word))
		word++;
	if (!*word) {
		*at = word;
		return NULL;
	}
	char *end = word;
	while (*end && !blank(*end))
		end++;
	*at = *end ? end + 1 : end;
	*end = 0;
	return word;
}

bool ln_number(const char *word, uint64_t *number)
{
	bool hex = word[0] == '0' && word[1] == 'x';
	const char *digits = hex ? word + 2 : word;
	if (!*digits ||
	    strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789") != strlen(digits))
		return false;
	errno = 0;
	*number = strtoull(digits, NULL, hex ? 16 : 10);
	return errno == 0;
}

static bool real(const char *word, double *number)
{
	if (!*word || strspn(word, "0123456789.e+-") != strlen(word))
		return false;
	char *end;
	*number = strtod(word, &end);
	return !*end && isfinite(*number) && *number > 0;
}

bool ln_list_next(const char **list, uint64_t *number, bool *wrong)
{
	char digits[24];
	size_t length = strcspn(*list, ",");
	*wrong = false;
	if (!**list)
		return false;
	*wrong = length >= sizeof digits;
	if (*wrong)
		return false;
	memcpy(digits, *list, length);
	digits[length] = 0;
	bool comma_is_last = (*list)[length] == ',' && !(*list)[length + 1];
	*wrong = comma_is_last || !ln_number(digits, number);
	*list += length + ((*list)[length] == ',');
	return !*wrong;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Undoes %XX in place; NULL, or what is wrong. */
static char *unescape(char *string)
{
	char *to = string;
	for (const char *from = string; *from; from++, to++) {
		*to = *from;
		if (*from != '%')
			continue;
		int high = hex_digit(from[1]), low = high < 0 ? -1 : hex_digit(from[2]);
		if (low < 0 || high + low == 0)
			return mem_format("expected two hexadecimal digits, not 00, after '%%'");
		*to = (char)(high << 4 | low);
		from += 2;
	}
	*to = 0;
	return NULL;
}

void ln_escaped(FILE *out, const char *string)
{
	while (*string) {
		unsigned char c = (unsigned char)*string;
		size_t n = c == ' ' || c == '%' || c == '#' ? 0 : shown_length(string);
		if (n)
			fwrite_unlocked(string, 1, n, out);
		else
			fprintf(out, "%%%02X", c);
		string += n ? n : 1;
	}
}

struct ln_real ln_real(double number)
{
	struct ln_real real;
	int precision = 1;
	do
		snprintf(real.digits, sizeof real.digits, "%.*g", precision, number);
	while (precision++ < 17 && strtod(real.digits, NULL) != number);
	return real;
}

void ln_put_real(FILE *out, double number)
{
	fputs(ln_real(number).digits, out);
}

char *ln_quote(const char *found)
{
	size_t length = shown_fit(found, QUOTE_BYTES);
	bool cut = found[length];
	char *text = mem_format("%.*s", (int)length, found), *shown = shown_copy(text);
	char *quoted = mem_format("'%s%s'", shown, cut ? "..." : "");
	free(text);
	free(shown);
	return quoted;
}

/* "expected FORMAT, found 'WORD'" */
__attribute__((format(printf, 2, 3))) static char *expected(const char *found, const char *format,
							    ...)
{
	char what[128];
	va_list args;
	va_start(args, format);
	vsnprintf(what, sizeof what, format, args);
	va_end(args);
	char *quoted = found ? ln_quote(found) : mem_copy("the end of the line");
	char *diagnostic = mem_format("expected %s, found %s", what, quoted);
	free(quoted);
	return diagnostic;
}

static char *read_value(const struct ln_field *field, char *word, struct ln_value *value)
{
	switch (field->type) {
	case LN_NUMBER:
		return ln_number(word, &value->number)
			       ? NULL
			       : expected(word, "a number of at most 64 bits for %s", field->name);
	case LN_REAL:
		return real(word, &value->real)
			       ? NULL
			       : expected(word, "a positive decimal for %s", field->name);
	case LN_WORD:
		return strcmp(word, field->name) == 0 ? NULL
						      : expected(word, "the word %s", field->name);
	case LN_STRING:
		value->string = word;
		return unescape(word);
	case LN_END:
		break;
	}
	return NULL;
}

static char *unknown_key(const struct ln_form *form, const char *word)
{
	const char *keys[LN_FIELDS];
	size_t nkeys = 0;
	for (const struct ln_field *f = form->fields; f->type; f++)
		if (f->where != LN_HERE)
			keys[nkeys++] = f->name;
	if (!nkeys)
		return expected(word, "the end of the line");
	const char *like = nearest(word, keys, nkeys);
	return like ? expected(word, "the key %s", like)
		    : expected(word, "a key of '%s', like %s", form->word, keys[0]);
}

/* One "key=value". */
static char *read_key(const struct ln_form *form, char *word, struct ln_line *out)
{
	char *equals = strchr(word, '=');
	if (!equals)
		return expected(word, "key=value");
	*equals = 0;
	for (int i = 0; form->fields[i].type; i++) {
		const struct ln_field *field = &form->fields[i];
		if (field->where == LN_HERE || strcmp(field->name, word) != 0)
			continue;
		if (out->value[i].given)
			return expected(equals + 1, "only one %s", field->name);
		out->value[i].given = true;
		return read_value(field, equals + 1, &out->value[i]);
	}
	return unknown_key(form, word);
}

static char *read_fields(const struct ln_form *form, char *at, struct ln_line *out)
{
	char *wrong = NULL;
	int i = 0;
	for (; !wrong && form->fields[i].type && form->fields[i].where == LN_HERE; i++) {
		char *word = ln_word(&at);
		if (!word)
			return expected(NULL, "%s", form->fields[i].name);
		out->value[i].given = true;
		wrong = read_value(&form->fields[i], word, &out->value[i]);
	}
	for (char *word; !wrong && (word = ln_word(&at));)
		wrong = read_key(form, word, out);
	for (; !wrong && form->fields[i].type; i++)
		if (form->fields[i].where == LN_NEEDED && !out->value[i].given)
			wrong = expected(NULL, "%s=", form->fields[i].name);
	return wrong;
}

char *ln_parse(const struct ln_form *forms, size_t nforms, char *line, struct ln_line *out)
{
	*out = (struct ln_line){ .form = -1 };
	char *at = line, *word = ln_word(&at);
	if (!word)
		return NULL;
	const char *words[LN_FORMS];
	assert(nforms <= LN_FORMS);
	for (size_t i = 0; i < nforms; i++) {
		words[i] = forms[i].word;
		if (strcmp(word, forms[i].word) == 0) {
			out->form = (int)i;
			return read_fields(&forms[i], at, out);
		}
	}
	const char *like = nearest(word, words, nforms);
	return expected(word, like ? "'%s'" : "a line like '%s'", like ? like : words[0]);
}
