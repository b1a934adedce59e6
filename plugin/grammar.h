/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * grammar.h - pragmas/grammar.def as a table. */
#ifndef DPROF_PLUGIN_GRAMMAR_H
#define DPROF_PLUGIN_GRAMMAR_H

#include "plugin/parts.h"

enum argument {
#define DPROF_ARGUMENT(ID, shown, rule) ARGUMENT_##ID,
#include "pragmas/grammar.def"
};

enum place {
#define DPROF_PLACE(ID, rule) PLACE_##ID,
#include "pragmas/grammar.def"
};

struct grammar {
	const char *word, *modifier;
	enum argument argument;
	bool instance;
	enum place place;
	enum dprof_kind kind;
	const char *meaning;
};

extern const struct grammar grammar[DIRECTIVE_COUNT];
extern const struct argument_rule {
	const char *shown, *rule;
} arguments[];
extern const char *const places[];

enum directive grammar_find(const char *word, const char *modifier); /* or DIRECTIVE_COUNT */
char *grammar_form(const struct grammar &g); /* "region begin(NAME)"; to be freed */

#endif
