/* SPDX-License-Identifier: MIT
 *
 * analysis_report_numbers.c - what is printed contains what was computed, and JSON is JSON.
 *
 * The twin computes with rationals (GMP): exact, so that a bound that was rounded the wrong way in
 * its last digit is noticed. */
#include <float.h>
#include <gmp.h>
#include <jansson.h>
#include <math.h>

#include "analysis/base/json.h"
#include "testsuite/unit/unit.h"

#define ROUNDS 20000

static uint64_t state;

static uint64_t any(void)
{
	state = state * 6364136223846793005 + 1442695040888963407;
	return state >> 16 ^ state << 20;
}

/* Of any magnitude. */
static int64_t ticks(void)
{
	return (int64_t)(any() >> (1 + any() % 63));
}

static frz_time some_time(void)
{
	int64_t lo = ticks() >> 1, width = ticks() >> 1;
	return (frz_time){ any() % 4 ? lo : -lo, lo + (any() % 4 ? width : 0) };
}

static struct interval some_interval(void)
{
	double lo = ldexp((double)any(), (int)(any() % 60) - 60) * (any() % 4 ? 1 : -1);
	double width = ldexp((double)any(), (int)(any() % 90) - 110);
	return (struct interval){ lo, any() % 8 ? lo + width : lo };
}

/* lo <= numerator / denominator */
static bool at_most(double lo, int64_t numerator, int64_t denominator, double scale)
{
	mpq_t x, y, z;
	mpq_inits(x, y, z, NULL);
	mpq_set_d(x, lo);
	mpq_set_si(y, numerator, 1);
	mpq_set_si(z, denominator, 1);
	mpq_mul(x, x, z);
	mpq_set_d(z, scale);
	mpq_mul(y, y, z);
	bool result = mpq_cmp(x, y) <= 0;
	mpq_clears(x, y, z, NULL);
	return result;
}

/* The decimal as a rational; digits, one point, an exponent. */
static void set_decimal(mpq_t x, const char *text, size_t length)
{
	char digits[64] = "";
	size_t n = 0;
	long exponent = 0;
	bool point = false;
	for (size_t i = 0; i < length; i++) {
		if (text[i] == 'e') {
			exponent += strtol(text + i + 1, NULL, 10);
			break;
		}
		if (text[i] == '.') {
			point = true;
			continue;
		}
		digits[n++] = text[i];
		exponent -= point;
	}
	mpz_t power;
	mpz_init(power);
	mpz_ui_pow_ui(power, 10, (unsigned long)labs(exponent));
	mpq_set_str(x, digits, 10);
	mpq_t scale;
	mpq_init(scale);
	mpq_set_z(scale, power);
	if (exponent < 0)
		mpq_div(x, x, scale);
	else
		mpq_mul(x, x, scale);
	mpq_clear(scale);
	mpz_clear(power);
}

/* How the decimal compares with the double. */
static int compare(const char *text, size_t length, double value)
{
	mpq_t decimal, exact;
	mpq_inits(decimal, exact, NULL);
	set_decimal(decimal, text, length);
	mpq_set_d(exact, value);
	int order = mpq_cmp(decimal, exact);
	mpq_clears(decimal, exact, NULL);
	return order;
}

#define CLAIM(condition, round)                                                                    \
	ck_assert_msg(condition, "SEED=%" PRIu64 ": not " #condition, (uint64_t)(round))

START_TEST(percent_contains_every_quotient)
{
	for (uint64_t round = unit_seed; round < unit_seed + unit_times(ROUNDS); round++) {
		state = round;
		frz_time part = some_time(), whole = some_time();
		struct interval p = interval_percent(part, whole);
		CLAIM(0 <= p.lo && p.lo <= p.hi && p.hi <= 100, round);
		if (whole.lo <= 0)
			continue;
		if (part.lo >= 0 && part.lo <= whole.hi)
			CLAIM(at_most(p.lo, part.lo, whole.hi, 100), round);
		if (part.hi <= whole.lo)
			CLAIM(at_most(-p.hi, -part.hi, whole.lo, 100), round);
	}
}
END_TEST

START_TEST(seconds_contain_every_quotient)
{
	for (uint64_t round = unit_seed; round < unit_seed + unit_times(ROUNDS); round++) {
		state = round;
		frz_time t = some_time();
		double ghz = (double)(1 + any() % 4000) / 1000;
		struct interval s = interval_seconds(t, ghz);
		/* lo <= ticks / (ghz * 10^9) without dividing: lo * 10^9 <= ticks / ghz */
		mpq_t bound, g;
		mpq_inits(bound, g, NULL);
		mpq_set_d(g, ghz);
		mpq_set_d(bound, s.lo);
		mpq_mul(bound, bound, g);
		mpq_set_si(g, 1000000000, 1);
		mpq_mul(bound, bound, g);
		CLAIM(mpq_cmp_si(bound, t.lo, 1) <= 0, round);
		CLAIM(isinf(s.hi) == (t.hi >= INT64_MAX / 2), round); /* as far out as only what has no bound is */
		mpq_set_d(g, ghz);
		mpq_set_d(bound, isinf(s.hi) ? DBL_MAX : s.hi);
		mpq_mul(bound, bound, g);
		mpq_set_si(g, 1000000000, 1);
		mpq_mul(bound, bound, g);
		CLAIM(mpq_cmp_si(bound, t.hi, 1) >= 0, round);
		mpq_clears(bound, g, NULL);
	}
}
END_TEST

/* The number that a text begins with; as an integer, without its point. -> its length */
static size_t digits_of(const char *text, mpz_t to)
{
	char digits[64];
	size_t length = strspn(text, "-0123456789."), n = 0;
	for (size_t i = 0; i < length; i++)
		if (text[i] != '.')
			digits[n++] = text[i];
	digits[n] = '\0';
	mpz_set_str(to, digits, 10);
	return length;
}

static void put_point(char to[64], mpz_t digits, size_t decimals)
{
	bool negative = mpz_sgn(digits) < 0;
	mpz_abs(digits, digits);
	size_t n = (size_t)gmp_sprintf(to, "%s%0*Zd", negative ? "-" : "", (int)decimals + 1, digits);
	memmove(to + n - decimals + 1, to + n - decimals, decimals + 1);
	to[n - decimals] = decimals ? '.' : '\0';
}

/* Reads "31.225 ±0.015", "31.21 .. 31.23" and "31.2". */
static void read_text(const char *text, char lo[64], char hi[64])
{
	const char *dots = strstr(text, " .. "), *around = strstr(text, " ±");
	size_t length = strcspn(text, " ");
	if (around) {
		mpz_t middle, radius;
		mpz_inits(middle, radius, NULL);
		digits_of(text, middle);
		size_t point = strcspn(text, "."), decimals = point < length ? length - point - 1 : 0;
		ck_assert_uint_eq(digits_of(around + strlen(" ±"), radius), strlen(around + strlen(" ±")));
		mpz_sub(middle, middle, radius);
		put_point(lo, middle, decimals);
		mpz_addmul_ui(middle, radius, 2);
		put_point(hi, middle, decimals);
		mpz_clears(middle, radius, NULL);
		return;
	}
	sprintf(lo, "%.*s", (int)length, text);
	sprintf(hi, "%s", dots ? dots + strlen(" .. ") : text);
}

START_TEST(text_contains_the_interval)
{
	for (uint64_t round = unit_seed; round < unit_seed + unit_times(ROUNDS); round++) {
		state = round;
		struct interval x = some_interval();
		int decimals = (int)(any() % 10);
		char lo[64], hi[64];
		read_text(interval_range(x, decimals).text, lo, hi);
		CLAIM(compare(lo, strlen(lo), x.lo) <= 0, round);
		CLAIM(compare(hi, strlen(hi), x.hi) >= 0, round);
		read_text(interval_shown(x, decimals).text, lo, hi);
		CLAIM(compare(lo, strlen(lo), x.lo) <= 0, round);
		CLAIM(compare(hi, strlen(hi), x.hi) >= 0, round);
	}
}
END_TEST

START_TEST(text_is_as_people_read_it)
{
	ck_assert_str_eq(interval_shown((struct interval){ 1.23412, 1.23467 }, 9).text,
			 "1.23440 ±0.00028");
	ck_assert_str_eq(interval_shown((struct interval){ 9.75, 10.25 }, 9).text, "10.00 ±0.25");
	ck_assert_str_eq(interval_shown((struct interval){ 123.4567891, 123.4567892 }, 9).text, "123.457 ±0.001");
	ck_assert_str_eq(interval_shown((struct interval){ 0, 0 }, 9).text, "0");
	ck_assert_str_eq(interval_shown((struct interval){ 1.2345678, INFINITY }, 9).text, "at least 1.23456");
	ck_assert_str_eq(interval_range((struct interval){ 1.2345678, INFINITY }, 2).text, "at least 1.23");
	ck_assert_str_eq(interval_shown((struct interval){ 100, 2000 }, 9).text, "100 .. 2000");
	ck_assert_str_eq(interval_range((struct interval){ 31.2, 31.3 }, 1).text, "31.1 .. 31.4");
	ck_assert_str_eq(interval_range((struct interval){ 31.25, 31.5 }, 2).text,
			 "31.25 .. 31.50");
	ck_assert_str_eq(interval_upper(0.123, 2).text, "0.13");
}
END_TEST

/* ---- JSON ------------------------------------------------------------------------------------ */

static void some_bytes(char *out, size_t size)
{
	size_t n = any() % (size - 1);
	for (size_t i = 0; i < n; i++) {
		char c = (char)(any() % 3 ? ' ' + any() % 95 : any() % 256);
		out[i] = c ? c : 'x';
	}
	out[n] = '\0';
}

static char *written(struct interval x, const char *string, int64_t integer)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct json j = jw_on(out);
	jw_object(&j, NULL);
	jw_interval(&j, "interval", x);
	jw_array(&j, "array");
	jw_string(&j, NULL, string);
	jw_integer(&j, NULL, integer);
	jw_object(&j, NULL);
	jw_end(&j);
	jw_end(&j);
	jw_bool(&j, string, true);
	jw_string(&j, "none", NULL);
	jw_up(&j, "rounded upwards", x.hi);
	jw_interval(&j, "unknown", (struct interval){ 0, INFINITY });
	jw_end(&j);
	fclose(out);
	return text;
}

/* The literal behind a key, as it stands in the text. */
static const char *literal(const char *text, const char *key)
{
	return strstr(text, key) + strlen(key);
}

START_TEST(json_is_valid_and_outward)
{
	for (uint64_t round = unit_seed; round < unit_seed + unit_times(ROUNDS); round++) {
		state = round;
		struct interval x = some_interval();
		char string[40];
		some_bytes(string, sizeof string);
		int64_t integer = ticks();
		char *text = written(x, string, integer);
		json_error_t error;
		json_t *root = json_loads(text, JSON_ALLOW_NUL, &error);
		ck_assert_msg(root != NULL, "SEED=%" PRIu64 ": %s in %s", round, error.text,
			      text);
		CLAIM(json_integer_value(json_array_get(json_object_get(root, "array"), 1)) ==
			      integer,
		      round);
		CLAIM(json_is_null(json_object_get(json_object_get(root, "unknown"), "hi")), round);
		const char *lo = literal(text, "\"lo\": "), *hi = literal(text, "\"hi\": "),
			   *up = literal(text, "\"rounded upwards\": ");
		CLAIM(compare(lo, strcspn(lo, ",}\n"), x.lo) <= 0, round);
		CLAIM(compare(hi, strcspn(hi, ",}\n"), x.hi) >= 0, round);
		CLAIM(compare(up, strcspn(up, ",}\n"), x.hi) >= 0, round);
		json_decref(root);
		free(text);
	}
}
END_TEST

START_TEST(json_keeps_strings)
{
	static const char *const strings[] = { "plain", "quote\" back\\slash /",
					       "tab\t line\n bell\a",
					       "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" };
	for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
		char *text = written((struct interval){ 0, 1 }, strings[i], 0);
		json_t *root = json_loads(text, 0, NULL);
		ck_assert_str_eq(
			json_string_value(json_array_get(json_object_get(root, "array"), 0)),
			strings[i]);
		ck_assert(json_is_true(json_object_get(root, strings[i])));
		json_decref(root);
		free(text);
	}
}
END_TEST

/* Bytes that begin a character and do not end it, whatever their bits would mean. */
START_TEST(json_replaces_what_is_no_character)
{
	static const char *const strings[][2] = { { "a\xe1\x9c" "b", "a\xef\xbf\xbd\xef\xbf\xbd" "b" },
						  { "\xe0\x80\xa2", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
						  { "\xc3", "\xef\xbf\xbd" } };
	for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
		char *text = written((struct interval){ 0, 1 }, strings[i][0], 0);
		json_t *root = json_loads(text, 0, NULL);
		ck_assert_msg(root != NULL, "%s", text);
		ck_assert_str_eq(json_string_value(json_array_get(json_object_get(root, "array"), 0)),
				 strings[i][1]);
		json_decref(root);
		free(text);
	}
}
END_TEST

int main(void)
{
	TCase *tc = unit_begin(900, 1);

	tcase_add_test(tc, percent_contains_every_quotient);
	tcase_add_test(tc, seconds_contain_every_quotient);
	tcase_add_test(tc, text_contains_the_interval);
	tcase_add_test(tc, text_is_as_people_read_it);
	tcase_add_test(tc, json_is_valid_and_outward);
	tcase_add_test(tc, json_keeps_strings);
	tcase_add_test(tc, json_replaces_what_is_no_character);
	return unit_end();
}
