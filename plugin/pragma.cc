/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pragma.cc - reads `#pragma dprof ...` as pragmas/grammar.def defines it.
 *
 * Law: what the table does not allow is an error at the word that is wrong, naming what could have
 * stood there; nothing is guessed. The parser holds no state: C++ parses some text twice. */
#include "plugin/parts.h"

enum argument {
#define DPROF_ARGUMENT(ID, shown, rule) ARGUMENT_##ID,
#include "pragmas/grammar.def"
};

static const struct {
	const char *shown, *rule;
} arguments[] = {
#define DPROF_ARGUMENT(ID, shown, rule) { shown, rule },
#include "pragmas/grammar.def"
};

enum place {
#define DPROF_PLACE(ID, rule) PLACE_##ID,
#include "pragmas/grammar.def"
};

static const char *const places[] = {
#define DPROF_PLACE(ID, rule) rule,
#include "pragmas/grammar.def"
};

static const struct grammar {
	const char *word, *modifier;
	enum argument argument;
	enum place place;
	const char *meaning;
} grammar[] = {
#define DPROF_DIRECTIVE(ID, word, modifier, argument, place, kind, meaning) \
	{ word, modifier, ARGUMENT_##argument, PLACE_##place, meaning },
#include "pragmas/grammar.def"
};

struct token {
	enum cpp_ttype type;
	tree value;
	location_t where;
};

/* A directive that a macro wrote stands where the user called the macro. What is missing at the end of
 * the line is missing after the token before. */
static struct token lex(location_t before = UNKNOWN_LOCATION)
{
	struct token t = { CPP_EOF, NULL_TREE, UNKNOWN_LOCATION };
	t.type = pragma_lex(&t.value, &t.where);
	t.where = linemap_resolve_location(line_table, t.where, LRK_MACRO_EXPANSION_POINT, nullptr);
	if (t.type == CPP_EOF && before != UNKNOWN_LOCATION)
		t.where = before;
	return t;
}

/* Without adding a word twice. */
static void add(auto_vec<const char *> *words, const char *word)
{
	for (const char *w : *words)
		if (!strcmp(w, word))
			return;
	words->safe_push(word);
}

/* All words, or all modifiers that `word` can have ("" stands for none). */
static void list_words(auto_vec<const char *> *words, const char *word)
{
	for (const struct grammar &g : grammar)
		if (!word)
			add(words, g.word);
		else if (!strcmp(g.word, word) && *g.modifier)
			add(words, g.modifier);
}

/* 'a', 'b' */
static char *quote_all(const auto_vec<const char *> &words)
{
	char *text = xstrdup("");
	for (const char *w : words) {
		char *more = xasprintf("%s%s%s%s%s", text, *text ? ", " : "", open_quote, w,
				       close_quote);
		free(text);
		text = more;
	}
	return text;
}

static void refuse_word(const struct token &t, const char *what, const char *after,
			const auto_vec<const char *> &words)
{
	const char *given = t.type == CPP_NAME ? IDENTIFIER_POINTER(t.value) : nullptr;
	const char *near = given ? find_closest_string(given, &words) : nullptr;
	char *all = quote_all(words);
	if (near)
		error_at(t.where, "unknown dprof %s %qs; did you mean %qs?", what, given, near);
	else if (given)
		error_at(t.where, "unknown dprof %s %qs; expected one of %s", what, given, all);
	else
		error_at(t.where, "expected one of %s after %qs", all, after);
	free(all);
}

static void refuse_modifier(const struct token &t, const char *word)
{
	auto_vec<const char *> words;
	list_words(&words, word);
	if (t.type == CPP_NAME && !words.is_empty()) {
		refuse_word(t, "clause", word, words);
	} else if (words.is_empty()) {
		error_at(t.where, "expected %<(%> after %<#pragma dprof %s%>", word);
	} else {
		char *all = quote_all(words);
		error_at(t.where, "expected %<(%> or one of %s after %<#pragma dprof %s%>", all, word);
		free(all);
	}
}

static enum directive find(const char *word, const char *modifier)
{
	for (size_t i = 0; i < ARRAY_SIZE(grammar); i++)
		if (!strcmp(grammar[i].word, word) && !strcmp(grammar[i].modifier, modifier))
			return (enum directive)i;
	return DIRECTIVE_COUNT;
}

/* WORD [MODIFIER] "(". Returns DIRECTIVE_COUNT after an error. */
static enum directive parse_head(location_t *where)
{
	struct token word = lex();
	*where = word.where;
	auto_vec<const char *> words;
	list_words(&words, nullptr);
	const char *given = word.type == CPP_NAME ? IDENTIFIER_POINTER(word.value) : "";
	bool known = false;
	for (const char *w : words)
		known = known || !strcmp(w, given);
	if (!known) {
		refuse_word(word, "directive", "#pragma dprof", words);
		return DIRECTIVE_COUNT;
	}

	struct token next = lex(word.where);
	const char *modifier = "";
	struct token second = next;
	if (second.type == CPP_NAME) {
		modifier = IDENTIFIER_POINTER(second.value);
		next = lex(second.where);
	}
	enum directive what = find(given, modifier);
	if (what == DIRECTIVE_COUNT)
		refuse_modifier(second, given);
	else if (next.type != CPP_OPEN_PAREN)
		*modifier ? error_at(next.where, "expected %<(%> after %<#pragma dprof %s %s%>", given,
				     modifier)
			  : refuse_modifier(next, given);
	else
		return what;
	return DIRECTIVE_COUNT;
}

/* Returns the name, or NULL after an error. */
static const char *parse_name(location_t before)
{
	struct token t = lex(before);
	const char *rule = arguments[ARGUMENT_NAME].rule;
	if (t.type == CPP_NAME)
		return IDENTIFIER_POINTER(t.value);
	if (t.type == CPP_CLOSE_PAREN || t.type == CPP_EOF)
		error_at(t.where, "missing name; expected %s", rule);
	else if (t.type != CPP_STRING)
		error_at(t.where, "malformed name; expected %s", rule);
	else if (TREE_STRING_LENGTH(t.value) <= 1)
		error_at(t.where, "empty name; expected %s", rule);
	else {
		const char *s = TREE_STRING_POINTER(t.value);
		for (int i = 0; i < TREE_STRING_LENGTH(t.value) - 1; i++)
			if ((unsigned char)s[i] < ' ' || s[i] == 0x7f) {
				error_at(t.where, "control character in a name; expected %s", rule);
				return nullptr;
			}
		return xstrdup(s);
	}
	return nullptr;
}

/* ")" and the end of the line. */
static bool parse_tail(enum directive what, location_t before)
{
	struct token t = lex(before);
	if (t.type != CPP_CLOSE_PAREN) {
		error_at(t.where, "expected %<)%> after the name");
		return false;
	}
	t = lex();
	if (t.type == CPP_EOF)
		return true;
	const struct grammar &g = grammar[what];
	char *form = xasprintf("%s%s%s(%s)", g.word, *g.modifier ? " " : "", g.modifier,
			       arguments[g.argument].shown);
	if (t.type == CPP_NAME)
		error_at(t.where, "unknown dprof clause %qE; nothing follows %qs", t.value, form);
	else
		error_at(t.where, "expected the end of the line after %qs", form);
	free(form);
	return false;
}

static bool in_statements()
{
	return current_function_decl && building_stmt_list_p();
}

static void on_pragma(cpp_reader *)
{
	struct marker m = {};
	m.what = parse_head(&m.where);
	if (m.what == DIRECTIVE_COUNT)
		return;
	m.name = parse_name(m.where);
	if (!m.name || !parse_tail(m.what, m.where))
		return;
	if (strlen(m.name) > DPROF_NAME_MAX)
		error_at(m.where, "name is longer than %d bytes", DPROF_NAME_MAX);
	else if (!in_statements())
		error_at(m.where, "%<#pragma dprof %s%> outside a function; it must stand %s",
			 grammar[m.what].word, places[grammar[m.what].place]);
	else {
		add_stmt(marker_build(m));
		/* Without this the front end dissolves a block that declares nothing in its parent. */
		if (grammar[m.what].place != PLACE_STATEMENT)
			return;
		if (static_cast<void (*)(bool)>(keep_next_level))
			keep_next_level(true);
		else
			keep_next_level();
	}
}

char *pragma_help()
{
	char *text = xstrdup("");
	for (const struct grammar &g : grammar) {
		char *more = xasprintf("%s  #pragma dprof %s%s%s(%s)\n"
				       "      %s;\n"
				       "      stands %s; %s is %s\n", text, g.word, *g.modifier ? " " : "", g.modifier,
				       arguments[g.argument].shown, g.meaning, places[g.place],
				       arguments[g.argument].shown, arguments[g.argument].rule);
		free(text);
		text = more;
	}
	return text;
}

/* Here, not at the unit's start, because only here is it also defined under -E. At this early hour
 * -g3 cannot describe a macro yet, and what is preprocessed already needs none. */
static void define_macro()
{
	if (cpp_get_options(parse_in)->preprocessed)
		return;
	cpp_callbacks *callbacks = cpp_get_callbacks(parse_in);
	auto describe = callbacks->define;
	callbacks->define = nullptr;
	cpp_define(parse_in, "__DPROF__=1");
	callbacks->define = describe;
}

void pragma_register()
{
	/* The whole name space, so that misspelt directives arrive here too. */
	c_register_pragma(nullptr, "dprof", on_pragma);
	define_macro();
}
