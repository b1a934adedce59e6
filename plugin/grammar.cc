/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * grammar.cc - what there is to say of the directives, from pragmas/grammar.def alone. */
#include "plugin/grammar.h"

const struct argument_rule arguments[] = {
#define DPROF_ARGUMENT(ID, shown, rule) { shown, rule },
#include "pragmas/grammar.def"
};

const char *const places[] = {
#define DPROF_PLACE(ID, rule) rule,
#include "pragmas/grammar.def"
};

const struct grammar grammar[DIRECTIVE_COUNT] = {
#define DPROF_DIRECTIVE(ID, word, modifier, argument, instance, place, kind, meaning) \
	{ word, modifier, ARGUMENT_##argument, instance, PLACE_##place, DPROF_KIND_##kind, meaning },
#include "pragmas/grammar.def"
};

enum directive grammar_find(const char *word, const char *modifier)
{
	for (size_t i = 0; i < ARRAY_SIZE(grammar); i++)
		if (!strcmp(grammar[i].word, word) && !strcmp(grammar[i].modifier, modifier))
			return (enum directive)i;
	return DIRECTIVE_COUNT;
}

/* region begin(NAME) */
char *grammar_form(const struct grammar &g)
{
	bool argument = g.argument != ARGUMENT_NONE;
	return xasprintf("%s%s%s%s%s%s", g.word, *g.modifier ? " " : "", g.modifier,
			 argument ? "(" : "", arguments[g.argument].shown, argument ? ")" : "");
}

/* The directive whose sites are of this kind. */
const char *grammar_word(enum dprof_kind kind)
{
	for (const struct grammar &g : grammar)
		if (g.kind == kind)
			return g.word;
	gcc_unreachable();
}

char *grammar_help()
{
	char *text = xstrdup("");
	for (const struct grammar &g : grammar) {
		char *form = grammar_form(g);
		bool argument = g.argument != ARGUMENT_NONE;
		char *more = xasprintf("%s  #pragma dprof %s%s\n"
				       "      %s;\n"
				       "      stands %s%s%s%s%s%s\n", text, form,
				       g.instance ? " [instance(VALUE)] [role(ROLE)]" : "", g.meaning, places[g.place],
				       argument ? "; " : "", arguments[g.argument].shown,
				       argument ? " is " : "", argument ? arguments[g.argument].rule : "",
				       g.instance ? ", VALUE " DPROF_VALUE_RULE : "");
		free(form);
		free(text);
		text = more;
	}
	return text;
}
