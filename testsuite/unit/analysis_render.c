/* SPDX-License-Identifier: MIT
 *
 * analysis_render.c - replies as JSON and as text: the data are all there, the page is all there, and neither is in
 * the other. */
#include <fenv.h>
#include <float.h>
#include <jansson.h>
#include <math.h>
#include <mpfr.h>

#include "analysis/base/json.h"
#include "analysis/render/render.h"
#include "testsuite/truth/random.h"
#include "testsuite/unit/unit.h"

#define CASES 500

/* What a reply to a FILE in memory looks like; to be freed. */
struct rendered { char *text; size_t size; FILE *out; struct reply *reply; };

static void begin(struct rendered *r, bool as_json)
{
	r->out = open_memstream(&r->text, &r->size);
	r->reply = as_json ? render_json(r->out) : render_text(r->out, (struct text_style){ 0 });
}

static const char *end(struct rendered *r)
{
	reply_close(r->reply);
	fclose(r->out);
	return r->text;
}

/* ---- Outputs, whole -------------------------------------------------------------------------- */

static void say_everything(struct reply *r)
{
	static const struct tab_column outer[] = {
		TAB_SHOWN("name", "who", 6, .alone = true), TAB_SHOWN("count", "times", -5), TAB_KEY("wide.least"), TAB_KEY("wide.most"),
		TAB_SHOWN("share", "share, % of the run", 13, 2), TAB_SHOWN("verdict", "", 9, .gap = 1), TAB_SHOWN(NULL, "last"), { 0 } };
	static const struct tab_column bare[] = { TAB_KEY(""), TAB_KEY(""), { 0 } };
	static const struct tab_column inner[] = { TAB_KEY("rank"), TAB_SHOWN(NULL, "", .gap = 2), { 0 } };
	char *notes[] = { "one", "two" };
	reply_value(r, "verdict", tab_text("fine"));
	reply_value(r, "span.s", tab_interval((struct interval){ 1, 2 }));
	reply_value(r, "span.known", tab_flag(true));
	reply_value(r, "gone", TAB_NONE);
	reply_say(r, SAY_HEADING, "Here %d", 1);
	reply_table(r, "rows", outer, 2);
	reply_row(r, tab_text("a"), tab_count(7), tab_upper(1), tab_upper(INFINITY), tab_range((struct interval){ 1, 2 }),
		  tab_verdict(true), tab_text("x"));
	reply_table(r, "within", inner, SIZE_MAX);
	reply_row(r, tab_count(-1), tab_text("below"));
	reply_end(r);
	reply_say(r, SAY_DETAIL, "of a");
	reply_row(r, tab_text("a longer name"), tab_count(1234567), TAB_NONE, TAB_NONE, tab_range((struct interval){ 0, INFINITY }),
		  tab_verdict(false), tab_text(""));
	reply_row(r, tab_text(NULL), tab_count(0), TAB_NONE, TAB_NONE, TAB_NONE, tab_verdict(false), TAB_NONE);
	reply_table(r, "within", inner, SIZE_MAX);
	reply_row(r, tab_count(3), tab_text("of a row that is not shown"));
	reply_value(r, "more.a", tab_count(4));
	reply_value(r, "more.b", tab_flag(false));
	reply_end(r);
	reply_end(r);
	reply_table(r, NULL, inner, SIZE_MAX);
	reply_row(r, tab_count(1), tab_text("page only"));
	reply_table(r, "within", inner, SIZE_MAX);
	reply_row(r, tab_count(2), tab_text("this, too"));
	reply_value(r, "more", tab_count(5));
	reply_end(r);
	reply_end(r);
	reply_table(r, "pairs", bare, 0);
	reply_row(r, tab_number(UINT64_MAX), tab_number(INT64_MAX));
	reply_end(r);
	reply_gap(r);
	reply_texts(r, "notes", notes, 2);
	reply_say(r, SAY_NOTE, "%s", notes[0]);
}

START_TEST(text_is_the_page)
{
	struct rendered r;
	begin(&r, false);
	say_everything(r.reply);
	ck_assert_str_eq(end(&r), "\nHere 1\n"
				  "  who    times share, % of the run      last\n"
				  "  a          7 1.0 .. 2.0     proved    x\n"
				  "    below\n"
				  "               of a\n"
				  "  a longer name\n"
				  "         1234567 unknown      undecided\n"
				  "    page only\n"
				  "    this, too\n"
				  "\n"
				  "note: one\n");
	free(r.text);
}
END_TEST

START_TEST(json_is_the_data)
{
	struct rendered r;
	begin(&r, true);
	say_everything(r.reply);
	json_t *found = json_loads(end(&r), JSON_REJECT_DUPLICATES, NULL);
	json_t *expected = json_loads(
		"{ \"verdict\": \"fine\", \"span\": { \"s\": { \"lo\": 1, \"hi\": 2 }, \"known\": true }, \"rows\": ["
		"  { \"name\": \"a\", \"count\": 7, \"wide\": { \"least\": 1, \"most\": null },"
		"    \"share\": { \"lo\": 1, \"hi\": 2 }, \"verdict\": \"proved\", \"within\": [ { \"rank\": -1 } ] },"
		"  { \"name\": \"a longer name\", \"count\": 1234567, \"share\": { \"lo\": 0, \"hi\": null }, \"verdict\": \"undecided\" },"
		"  { \"name\": null, \"count\": 0, \"verdict\": \"undecided\","
		"    \"within\": [ { \"rank\": 3, \"more\": { \"a\": 4, \"b\": false } } ] } ],"
		"  \"pairs\": [ [ \"18446744073709551615\", 9223372036854775807 ] ],"
		"  \"notes\": [ \"one\", \"two\" ] }", 0, NULL);
	ck_assert_msg(found && json_equal(found, expected), "%s", r.text);
	json_decref(found);
	json_decref(expected);
	free(r.text);
}
END_TEST

/* Whatever a cell holds is told to both. */
START_TEST(every_type_is_shown)
{
	static const struct tab_column columns[] = { TAB_SHOWN("x", "x", 0, 1), { 0 } };
	static const struct { struct tab_cell cell; const char *text, *json; } cases[] = {
		{ { TAB_TEXT, .text = "t" }, "t", "\"t\"" },
		{ { TAB_COUNT, .count = -3 }, "-3", "-3" },
		{ { TAB_NUMBER, .number = UINT64_MAX }, "18446744073709551615", "\"18446744073709551615\"" },
		{ { TAB_FLAG, .flag = true }, "yes", "true" },
		{ { TAB_FLAG, .flag = false }, "no", "false" },
		{ { TAB_VERDICT, .flag = true }, "proved", "\"proved\"" },
		{ { TAB_INTERVAL, .interval = { 2, 2.25 } }, "2.1 ±0.2", "{\"lo\": 2, \"hi\": 2.25}" },
		{ { TAB_RANGE, .interval = { 0.11, 0.12 } }, "0.1 ±0.1", "{\"lo\": 0.11, \"hi\": 0.12}" },
		{ { TAB_UPPER, .upper = 0.11 }, "0.2", "0.11" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (int as_json = 0; as_json < 2; as_json++) {
			char expected[100];
			struct rendered r;
			begin(&r, as_json);
			reply_table(r.reply, "rows", columns, 1);
			reply_cells(r.reply, &cases[i].cell, 1);
			reply_end(r.reply);
			snprintf(expected, sizeof expected, as_json ? "\"x\": %s" : "  x\n  %s\n",
				 as_json ? cases[i].json : cases[i].text);
			ck_assert_msg(strstr(end(&r), expected) != NULL, "expected %s, found %s", expected, r.text);
			free(r.text);
		}
}
END_TEST

START_TEST(both_ends_are_shown)
{
	static const struct tab_column columns[] = { TAB_SHOWN("x", "x", 0, 3), { 0 } };
	struct rendered r = { .text = NULL };
	r.out = open_memstream(&r.text, &r.size);
	r.reply = render_text(r.out, (struct text_style){ .ends = true });
	reply_table(r.reply, "rows", columns, 1);
	reply_row(r.reply, tab_interval((struct interval){ 2, 2.25 }));
	reply_end(r.reply);
	reply_say(r.reply, SAY_TEXT, "%s 0.123456 ±0.000001 s",
		  "seventy-one characters are so many that what follows does not fit: 345");
	ck_assert_str_eq(end(&r), "  x\n  2.000 .. 2.250\n"
				  "seventy-one characters are so many that what follows does not fit: 345\n0.123456 ±0.000001 s\n");
	free(r.text);
}
END_TEST

/* A line that is too long has fewer decimals, rounded outward: first those columns that have most. */
START_TEST(both_ends_fit_a_line)
{
	static const struct tab_column columns[] = { TAB_SHOWN("x", "", 20, 9), TAB_SHOWN("y", "", 4, 2),
						     TAB_SHOWN("z", ""), { 0 } };
	struct interval year = { 31556952.123456789, 63113904.987654321 }, share = { 1.25, 2.75 };
	struct rendered r = { .text = NULL };
	r.out = open_memstream(&r.text, &r.size);
	r.reply = render_text(r.out, (struct text_style){ .ends = true });
	reply_table(r.reply, "rows", columns, 3);
	reply_row(r.reply, tab_interval(year), tab_interval(share), tab_text("24 characters are behind"));
	reply_row(r.reply, tab_interval(year), tab_interval(share), tab_text("25 characters, one more ."));
	reply_row(r.reply, tab_interval(year), tab_interval(share), tab_text("fifty characters: the room for no decimals at all."));
	reply_end(r.reply);
	ck_assert_str_eq(end(&r), "  31556952.123456787 .. 63113904.987654321 1.25 .. 2.75 24 characters are behind\n"
				  "  31556952.12345678 .. 63113904.98765433 1.25 .. 2.75 25 characters, one more .\n"
				  "  31556952 .. 63113905 1 .. 3 fifty characters: the room for no decimals at all.\n");
	free(r.text);
}
END_TEST

/* What a terminal of so many columns shows of a share, in a line; to be freed. */
static char *shown_share(size_t columns, struct interval share)
{
	static const struct tab_column one[] = { TAB_SHOWN(NULL, "", 20, 2, .bar = true), TAB_SHOWN(NULL, ""), { 0 } };
	struct rendered r = { .text = NULL };
	r.out = open_memstream(&r.text, &r.size);
	r.reply = render_text(r.out, (struct text_style){ .columns = columns });
	reply_table(r.reply, NULL, one, 1);
	reply_row(r.reply, tab_interval(share), tab_text("x"));
	reply_end(r.reply);
	end(&r);
	return r.text;
}

static int count_of(const char *text, const char *what)
{
	int n = 0;
	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

/* The law of render.h. */
START_TEST(a_bar_is_no_more_than_the_share)
{
	struct dice dice = { unit_seed };
	for (int i = 0; i < CASES; i++) {
		double a = 110 * roll_unit(&dice), b = 110 * roll_unit(&dice);
		struct interval x = { a < b ? a : b, a < b ? b : a };
		size_t columns = (size_t)roll_in(&dice, 100, 160), room = columns - 82 < 40 ? columns - 82 : 40;
		char *line = shown_share(columns, x);
		int filled = count_of(line, "█"), all = filled + count_of(line, "░"), most = (int)room;
		double lo = x.lo / 100 * (double)room, hi = x.hi / 100 * (double)room;
		ck_assert_msg((filled <= lo && filled > lo - 1) || filled == most, "[%g, %g]: %s", x.lo, x.hi, line);
		ck_assert_msg((all >= hi && all < hi + 1) || all == most, "[%g, %g]: %s", x.lo, x.hi, line);
		free(line);
	}
}
END_TEST

START_TEST(bars_need_a_wide_terminal)
{
	static const size_t narrow[] = { 0, 40, 80, 99 };
	for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++) {
		char *line = shown_share(narrow[i], (struct interval){ 50, 60 });
		ck_assert_int_eq(count_of(line, "█") + count_of(line, "░"), 0);
		free(line);
	}
}
END_TEST

START_TEST(a_narrow_terminal_breaks_lines)
{
	struct rendered r = { .text = NULL };
	r.out = open_memstream(&r.text, &r.size);
	r.reply = render_text(r.out, (struct text_style){ .columns = 45 });
	reply_say(r.reply, SAY_TEXT, "forty-five characters in this line are found and more");
	ck_assert_str_eq(end(&r), "forty-five characters in this line are found\nand more\n");
	free(r.text);
}
END_TEST

START_TEST(an_empty_reply_is_nothing)
{
	for (int as_json = 0; as_json < 2; as_json++) {
		struct rendered r;
		begin(&r, as_json);
		ck_assert_str_eq(end(&r), "");
		free(r.text);
	}
}
END_TEST

/* ---- Random pages ---------------------------------------------------------------------------- */

/* Lines fit, end without a blank, and have all words in order. */
START_TEST(sentences_fit_and_lose_nothing)
{
	for (uint64_t seed = unit_seed; seed < unit_seed + unit_times(CASES); seed++) {
		static const enum reply_kind kinds[] = { SAY_TEXT, SAY_INDENTED, SAY_DETAIL, SAY_NOTE };
		char text[2000] = "", found[2400] = "", expected[2400] = "";
		uint64_t state = seed;
		for (int word = 0; word < 60; word++) {
			state = state * 6364136223846793005 + 1442695040888963407;
			sprintf(text + strlen(text), "%s%.*s", word ? " " : "", (int)(1 + (state >> 33) % 12), "abcdefghijkl");
		}
		enum reply_kind kind = kinds[seed % 4];
		struct rendered r;
		begin(&r, false);
		reply_say(r.reply, kind, "%s", text);
		end(&r);
		sprintf(expected, "%s%s", kind == SAY_NOTE ? "note: " : "", text);
		for (char *line = strtok(r.text, "\n"); line; line = strtok(NULL, "\n")) {
			ck_assert_msg(strlen(line) <= 80 && line[strlen(line) - 1] != ' ', "SEED=%" PRIu64 ": %s", seed, line);
			sprintf(found + strlen(found), "%s%s", *found ? " " : "", line + strspn(line, " "));
		}
		ck_assert_msg(strcmp(found, expected) == 0, "SEED=%" PRIu64 ": %s", seed, found);
		free(r.text);
	}
}
END_TEST

/* As the decimal number with so many digits that is next to it, in the direction that keeps it inside. */
START_TEST(json_numbers_are_rounded_outward)
{
	static const double edges[] = { 0, -0.0, 1, 0.1, 9.9999999999995, 999999999999.5, 9999999999995, 1e15, 1e-5, 0.0001,
					DBL_MIN, DBL_MAX, -DBL_MAX, 5e-324, 99999999999.99999, -0.30000000000000004 };
	uint64_t from = unit_seed, n = unit_times(20000);
	for (uint64_t seed = from; seed < from + n; seed++) {
		struct dice dice = { seed };
		double value = seed - from < sizeof edges / sizeof *edges
				       ? edges[seed - from]
				       : (double)roll_in(&dice, -1000000000000, 1000000000000) *
						 pow(10, (double)roll_in(&dice, -30, 20)) / (double)roll_in(&dice, 1, 999);
		char *found, *expected;
		size_t size;
		FILE *out = open_memstream(&found, &size);
		struct json j = jw_on(out);
		mpfr_t x;
		jw_interval(&j, NULL, (struct interval){ value, value });
		fclose(out);
		mpfr_init2(x, 53);
		mpfr_set_d(x, value, MPFR_RNDN);
		mpfr_asprintf(&expected, "{\"lo\": %.12RDg, \"hi\": %.12RUg}", x, x);
		ck_assert_msg(strcmp(found, expected) == 0, "SEED=%" PRIu64 ": %s, not %s", seed, found, expected);
		mpfr_clear(x);
		mpfr_free_str(expected);
		free(found);
	}
	ck_assert_int_eq(fegetround(), FE_TONEAREST);
}
END_TEST

int main(void)
{
	TCase *tc = unit_begin(60, UNIT_ANEW);

	tcase_add_test(tc, text_is_the_page);
	tcase_add_test(tc, json_is_the_data);
	tcase_add_test(tc, json_numbers_are_rounded_outward);
	tcase_add_test(tc, every_type_is_shown);
	tcase_add_test(tc, both_ends_are_shown);
	tcase_add_test(tc, both_ends_fit_a_line);
	tcase_add_test(tc, a_bar_is_no_more_than_the_share);
	tcase_add_test(tc, bars_need_a_wide_terminal);
	tcase_add_test(tc, a_narrow_terminal_breaks_lines);
	tcase_add_test(tc, an_empty_reply_is_nothing);
	tcase_add_test(tc, sentences_fit_and_lose_nothing);
	return unit_end();
}
