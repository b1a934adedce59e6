/* SPDX-License-Identifier: MIT
 *
 * analysis_expert.c - facts come back as they were given, whatever bytes they have; what is wrong with rules is said, with file and
 * line; and rules without an end are ended. */
#include <unistd.h>

#include "analysis/diagnose/expert.h"
#include "testsuite/truth/random.h"
#include "testsuite/unit/unit.h"

#define CASES 300

static const char templates[] =
	"(deftemplate given (slot n) (slot text) (slot x-lo) (slot x-hi))\n"
	"(deftemplate back (slot n) (slot text) (slot x-lo) (slot x-hi))\n"
	"(defrule copies (given (n ?n) (text ?t) (x-lo ?l) (x-hi ?h)) => (assert (back (n ?n) (text ?t) (x-lo ?l) (x-hi ?h))))\n";

/* Has rules of this text loaded, and takes the file away. */
static bool load(struct expert *e, const char *rules, char *name)
{
	strcpy(name, "/tmp/analysis_expert.XXXXXX");
	FILE *file = fdopen(mkstemp(name), "w");
	ck_assert_ptr_nonnull(file);
	fputs(rules, file);
	fclose(file);
	bool loaded = expert_load(e, name);
	unlink(name);
	return loaded;
}

/* Any bytes, and often those that mean something in rules. */
static void make_text(struct dice *r, char *text, size_t room)
{
	static const char often[] = "()\"\\;?$&~|<>=- \n\tab7";
	size_t n = (size_t)roll_in(r, 0, (int64_t)room - 1);
	for (size_t i = 0; i < n; i++)
		text[i] = roll_one_of(r, 4) ? (char)roll_in(r, 1, 255) : often[roll_in(r, 0, (int64_t)sizeof often - 2)];
	text[n] = 0;
}

START_TEST(facts_come_back)
{
	for (uint64_t seed = unit_seed; seed < unit_seed + unit_times(CASES); seed++) {
		struct dice r = { seed };
		struct expert *e = expert_open();
		struct { char text[40]; struct interval x; } given[8];
		char name[64];
		bool seen[8] = { false };
		ck_assert(load(e, templates, name));
		for (int64_t i = 0; i < 8; i++) {
			make_text(&r, given[i].text, sizeof given[i].text);
			given[i].x.lo = (double)roll_in(&r, 0, 999) / 7 - 50;
			given[i].x.hi = given[i].x.lo + (double)roll_in(&r, 0, 999) / 3;
			EXPERT_FACT(e, "given", EXPERT_COUNT("n", i), EXPERT_TEXT("text", given[i].text),
				    EXPERT_RANGE("x", given[i].x));
		}
		ck_assert(expert_run(e));
		for (struct expert_found f = { 0 }; expert_next(e, "back", &f);) {
			int64_t i = expert_count(e, &f, "n");
			ck_assert_msg(i >= 0 && i < 8 && !seen[i], "SEED=%" PRIu64, seed);
			seen[i] = true;
			ck_assert_msg(strcmp(expert_text(e, &f, "text"), given[i].text) == 0,
				      "SEED=%" PRIu64 ": \"%s\", not \"%s\"", seed, expert_text(e, &f, "text"),
				      given[i].text);
			ck_assert(expert_number(e, &f, "x-lo") == given[i].x.lo && expert_number(e, &f, "x-hi") == given[i].x.hi);
		}
		for (size_t i = 0; i < 8; i++)
			ck_assert_msg(seen[i], "SEED=%" PRIu64 ": fact %zu did not come back", seed, i);
		expert_close(e);
	}
}
END_TEST

/* The only error of these rules, which is to begin with the file and this line, and to have these words. */
static void expect_error(const char *rules, const char *line, const char *words)
{
	struct expert *e = expert_open();
	char name[64], begin[128];
	size_t n;
	bool loaded = load(e, rules, name);
	snprintf(begin, sizeof begin, "%s%s", name, line);
	ck_assert(!loaded);
	char *const *errors = expert_errors(e, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_msg(strncmp(errors[0], begin, strlen(begin)) == 0 && strstr(errors[0], words),
		      "%s: expected %s %s", errors[0], begin, words);
	expert_close(e);
}

START_TEST(errors_have_file_and_line)
{
	expect_error("(deftemplate a (slot x))\n\n(defrule r (a (y 1)) => )\n", ":3:", "Invalid slot y");
	expect_error("(defrule r\n =>\n (no-such-function 1))\n", ":3:", "no-such-function");
	expect_error("; nothing\n(defrule r (a", ":2:", "Syntax Error");
	expect_error("(defglobal ?*x* = (while TRUE do))", ":", "a loop came to no end");
	expect_error("(defrule r => (unwatch all))", ":1:", "unwatch");
	expect_error("no rule at all", ":1:", "Expected the beginning of a construct");
	struct expert *e = expert_open();
	size_t n;
	ck_assert(!expert_load(e, "/nowhere/at.all"));
	ck_assert_str_eq(expert_errors(e, &n)[0], "/nowhere/at.all: expected a file of rules that can be read");
	expert_close(e);
}
END_TEST

START_TEST(rules_that_fail_or_never_end_are_said)
{
	static const struct { const char *rules, *words; } cases[] = {
		{ "(defrule r => (printout t (/ 1 0)))", "divide by zero" },
		{ "(deffacts f (n 0)) (defrule r ?f <- (n ?i) => (retract ?f) (assert (n (+ ?i 1))))"
		  "(defrule begin => (assert (n 0)))", "rules came to no end: 100000 were applied, and rule " },
		{ "(defrule r => (while TRUE do (printout t \"again\")))", "rule r: a loop came to no end: 1000000 turns were made" },
		{ "(deftemplate a (slot x)) (defrule s => (assert (a (x 1))))"
		  "(defrule r (a (x ?x)) (test (while TRUE do (bind ?y ?x))) => )", "rule s: a loop came to no end" },
		{ "(deffunction f (?x) (+ 1 (f ?x))) (defrule r => (f 1))", "rule r: a function that calls itself came to no end" },
		{ "(defmethod f ((?x INTEGER)) (f (+ 1 ?x))) (defrule r => (f 1))", "rule r: a function that calls itself" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct expert *e = expert_open();
		char name[64];
		size_t n;
		ck_assert(load(e, cases[i].rules, name));
		EXPERT_FACT(e, "initial-fact", EXPERT_COUNT("none", 0));
		ck_assert(!expert_run(e));
		ck_assert_msg(strstr(expert_errors(e, &n)[0], cases[i].words), "%s", expert_errors(e, &n)[0]);
		ck_assert_uint_eq(n, 1);
		expert_close(e);
	}
}
END_TEST

START_TEST(what_rules_print_is_kept)
{
	struct expert *e = expert_open();
	char name[64];
	ck_assert(load(e, "(deftemplate x (slot a-lo) (slot a-hi))"
			  "(defrule r (x (a-lo ?l) (a-hi ?h)) => (printout t \"it is \" (shown ?l ?h) \", \" (shown ?l ?h 3) crlf))", name));
	EXPERT_FACT(e, "x", EXPERT_RANGE("a", ((struct interval){ 1.2344, 1.2346 })));
	ck_assert(expert_run(e));
	ck_assert_str_eq(expert_printed(e), "it is 1.2 ±0.1, 1.234 ±0.001\n");
	expert_close(e);
}
END_TEST

int main(void)
{
	TCase *tc = unit_begin(120, UNIT_ANEW);

	tcase_add_test(tc, facts_come_back);
	tcase_add_test(tc, errors_have_file_and_line);
	tcase_add_test(tc, rules_that_fail_or_never_end_are_said);
	tcase_add_test(tc, what_rules_print_is_kept);
	return unit_end();
}
