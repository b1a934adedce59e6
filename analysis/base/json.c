/* SPDX-License-Identifier: MIT
 *
 * json.c - a comma before every value but the first; that is all the state there is. */
#include "analysis/base/json.h"

#include <assert.h>
#include <fenv.h>
#include <math.h>
#include <string.h>

#include "analysis/base/decimal.h"
#include "analysis/base/lines.h"
#include "analysis/base/shown.h"

#define DIGITS 12

struct json jw_on(FILE *out)
{
	return (struct json){ .out = out };
}

static void hidden(FILE *out, uint32_t code)
{
	if (code > 0xffff)
		fprintf(out, "\\u%04x\\u%04x", 0xd800 + ((code - 0x10000) >> 10), 0xdc00 + (code & 0x3ff));
	else
		fprintf(out, "\\u%04x", code);
}

/* How many of the first characters stand for themselves. */
static size_t plain_length(const char *string)
{
	size_t n = 0;
	while (string[n] >= ' ' && string[n] <= '~' && string[n] != '"' && string[n] != '\\')
		n++;
	return n;
}

static void quoted(FILE *out, const char *string)
{
	fputc('"', out);
	while (*string) {
		uint32_t code;
		size_t plain = plain_length(string);
		if (plain) {
			fwrite(string, 1, plain, out);
			string += plain;
			continue;
		}
		size_t n = shown_decode(string, &code);
		if (n == 0)
			fputs("\\ufffd", out);
		else if (code == '"' || code == '\\')
			fprintf(out, "\\%c", *string);
		else if (!shown_length(string))
			hidden(out, code);
		else
			fwrite(string, 1, n, out);
		string += n ? n : 1;
	}
	fputc('"', out);
}

static const char spaces[] = "                ";
_Static_assert(sizeof spaces > JSON_DEPTH, "a space for each depth");

/* What comes before a value: comma, new line, key. */
static void before(struct json *j, const char *key)
{
	if (j->filled[j->depth])
		fputc(',', j->out);
	if (j->depth > 0) {
		fputc('\n', j->out);
		fwrite(spaces, 1, j->depth, j->out);
	}
	j->filled[j->depth] = true;
	if (key) {
		quoted(j->out, key);
		fputs(": ", j->out);
	}
}

static void begin(struct json *j, const char *key, const char *brackets)
{
	before(j, key);
	fputc(brackets[0], j->out);
	assert(j->depth + 1 < JSON_DEPTH);
	j->depth++;
	j->filled[j->depth] = false;
	j->closing[j->depth] = brackets[1];
}

void jw_object(struct json *j, const char *key)
{
	begin(j, key, "{}");
}

void jw_array(struct json *j, const char *key)
{
	begin(j, key, "[]");
}

void jw_end(struct json *j)
{
	assert(j->depth > 0);
	fputc(j->closing[j->depth], j->out);
	j->depth--;
	if (j->depth == 0)
		fputc('\n', j->out);
}

void jw_string(struct json *j, const char *key, const char *value)
{
	before(j, key);
	if (value)
		quoted(j->out, value);
	else
		fputs("null", j->out);
}

void jw_integer(struct json *j, const char *key, int64_t value)
{
	char text[DECIMAL_MOST];
	before(j, key);
	fwrite(text, 1, (size_t)(decimal_put(text, value) - text), j->out);
}

void jw_bool(struct json *j, const char *key, bool value)
{
	before(j, key);
	fputs(value ? "true" : "false", j->out);
}

/* glibc prints what is nearest in the direction in which the processor rounds. */
static void real(FILE *out, double value, int direction)
{
	int before = fegetround();
	if (!isfinite(value)) {
		fputs("null", out);
		return;
	}
	fesetround(direction);
	fprintf(out, "%.*g", DIGITS, value);
	fesetround(before);
}

void jw_interval(struct json *j, const char *key, struct interval x)
{
	before(j, key);
	fputs("{\"lo\": ", j->out);
	real(j->out, x.lo, FE_DOWNWARD);
	fputs(", \"hi\": ", j->out);
	real(j->out, x.hi, FE_UPWARD);
	fputc('}', j->out);
}

void jw_real(struct json *j, const char *key, double value)
{
	before(j, key);
	fputs(isfinite(value) ? ln_real(value).digits : "null", j->out);
}

void jw_up(struct json *j, const char *key, double value)
{
	before(j, key);
	real(j->out, value, FE_UPWARD);
}
