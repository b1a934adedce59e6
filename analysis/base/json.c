/* SPDX-License-Identifier: MIT
 *
 * json.c - a comma before every value but the first; that is all the state there is. */
#include "analysis/base/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <mpfr.h>

#define DIGITS 12

struct json jw_on(FILE *out)
{
	return (struct json){ .out = out };
}

/* Length of the valid UTF-8 sequence at s; 0 when there is none. */
static size_t utf8_length(const unsigned char *s)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc2 || s[0] > 0xf4 ? 0 : s[0] < 0xe0 ? 2 :
		   s[0] < 0xf0 ? 3 : 4;
	if (n < 2)
		return n;
	uint32_t code = s[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	bool surrogate = code >= 0xd800 && code <= 0xdfff;
	return code < least[n] || code > 0x10ffff || surrogate ? 0 : n;
}

static void quoted(FILE *out, const char *string)
{
	fputc('"', out);
	for (const unsigned char *s = (const unsigned char *)string; *s;) {
		size_t n = utf8_length(s);
		if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else if (*s < ' ')
			fprintf(out, "\\u%04x", *s);
		else if (n == 0)
			fputs("\\ufffd", out);
		else
			fwrite(s, 1, n, out);
		s += n ? n : 1;
	}
	fputc('"', out);
}

/* What comes before a value: comma, new line, key. */
static void before(struct json *j, const char *key)
{
	if (j->filled[j->depth])
		fputc(',', j->out);
	if (j->depth > 0)
		fprintf(j->out, "\n%*s", (int)j->depth, "");
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
	before(j, key);
	fprintf(j->out, "%" PRId64, value);
}

void jw_bool(struct json *j, const char *key, bool value)
{
	before(j, key);
	fputs(value ? "true" : "false", j->out);
}

static void real(FILE *out, double value, mpfr_rnd_t direction)
{
	if (!isfinite(value)) {
		fputs("null", out);
		return;
	}
	mpfr_t x;
	mpfr_init2(x, 53);
	mpfr_set_d(x, value, MPFR_RNDN);
	mpfr_fprintf(out, "%.*R*g", DIGITS, direction, x);
	mpfr_clear(x);
}

void jw_interval(struct json *j, const char *key, struct interval x)
{
	before(j, key);
	fputs("{\"lo\": ", j->out);
	real(j->out, x.lo, MPFR_RNDD);
	fputs(", \"hi\": ", j->out);
	real(j->out, x.hi, MPFR_RNDU);
	fputc('}', j->out);
}

void jw_up(struct json *j, const char *key, double value)
{
	before(j, key);
	real(j->out, value, MPFR_RNDU);
}
