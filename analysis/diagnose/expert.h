/* SPDX-License-Identifier: MIT
 *
 * expert.h - the expert system in which rules are applied to facts: CLIPS, which only expert.c knows.
 *
 *	struct expert *e = expert_open();
 *	if (expert_load(e, "facts.clp") && expert_load(e, "generic.clp")) {
 *		expert_fact(e, "wait", (struct expert_slot[]){ EXPERT_WORD("kind", "lock"), EXPERT_RANGE("cost", x) }, 2);
 *		expert_run(e);
 *		for (struct expert_found f = { 0 }; expert_next(e, "finding", &f);)
 *			... expert_text(e, &f, "cause") ...
 *	}
 *	... expert_errors(e, &n) ...
 *	expert_close(e);
 *
 * Law: facts have the values that they were given, whatever bytes these are: nothing of a trace is read as a rule. What is
 * wrong with a file of rules, or with a rule as it is applied, is an error, with file and line as CLIPS says them; so are
 * rules, loops and calls within calls without an end, with the rule's name, or the file's as it is loaded; files
 * without errors, however many, give the same findings in the same order each time.
 *
 * Rules may use one function beside those of CLIPS: (shown LO HI [DECIMALS]) is the text of an interval. What they print is
 * kept (expert_printed). Texts are the expert's, and go with it. */
#ifndef ANALYSIS_EXPERT_H
#define ANALYSIS_EXPERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/interval.h"

struct expert;

struct expert *expert_open(void);
void expert_close(struct expert *);

bool expert_load(struct expert *, const char *file); /* false: there are errors */

/* A slot of a fact. A range is two of them, NAME-lo and NAME-hi. */
struct expert_slot {
	const char *name;
	enum { EXPERT_IS_WORD, EXPERT_IS_TEXT, EXPERT_IS_COUNT, EXPERT_IS_RANGE } type;
	union {
		const char *text;
		int64_t count;
		struct interval range;
	};
};
#define EXPERT_WORD(name_, text_)   { (name_), EXPERT_IS_WORD, .text = (text_) }
#define EXPERT_TEXT(name_, text_)   { (name_), EXPERT_IS_TEXT, .text = (text_) }
#define EXPERT_COUNT(name_, count_) { (name_), EXPERT_IS_COUNT, .count = (count_) }
#define EXPERT_RANGE(name_, range_) { (name_), EXPERT_IS_RANGE, .range = (range_) }

/* Of a template that a file has defined, with these slots; others have their defaults. */
void expert_fact(struct expert *, const char *template, const struct expert_slot *, size_t count);
#define EXPERT_FACT(e, template, ...)                                                              \
	expert_fact((e), (template), (const struct expert_slot[]){ __VA_ARGS__ },                  \
		    sizeof(struct expert_slot[]){ __VA_ARGS__ } / sizeof(struct expert_slot))

/* Applies rules until none fits any more; false: there are errors, such as that there is no end. */
bool expert_run(struct expert *);

/* The facts of a template, in the order in which they came to be. */
struct expert_found { void *fact; };
bool expert_next(struct expert *, const char *template, struct expert_found *);
const char *expert_text(struct expert *, const struct expert_found *, const char *slot);  /* or "" */
double expert_number(struct expert *, const struct expert_found *, const char *slot);     /* or 0 */
int64_t expert_count(struct expert *, const struct expert_found *, const char *slot);     /* or 0 */

char *const *expert_errors(const struct expert *, size_t *count);
const char *expert_printed(const struct expert *);

#endif
