/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pragma.cc - reads `#pragma dprof ...` as pragmas/grammar.def defines it.
 *
 * Law: what the table does not allow is an error at the word that is wrong, naming what could have
 * stood there; nothing is guessed. The parser holds no state: C++ parses some text twice. */
#include "plugin/grammar.h"

static bool cplusplus;

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

/* WORD, or WORD [MODIFIER] "(". Returns DIRECTIVE_COUNT after an error. */
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

	enum directive plain = grammar_find(given, "");
	if (plain != DIRECTIVE_COUNT && grammar[plain].argument == ARGUMENT_NONE)
		return plain;
	struct token next = lex(word.where);
	const char *modifier = "";
	struct token second = next;
	if (second.type == CPP_NAME) {
		modifier = IDENTIFIER_POINTER(second.value);
		next = lex(second.where);
	}
	enum directive what = grammar_find(given, modifier);
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

/* "(" VALUE ")", behind `instance`. */
static bool parse_instance(struct marker *m, location_t before)
{
	struct token open = lex(before);
	if (open.type != CPP_OPEN_PAREN) {
		error_at(open.where, "expected %<(%> after %<instance%>");
		return false;
	}
	m->instance = value_parse(open.where);
	return m->instance;
}

static const char *const role_words[DPROF_ROLE_COUNT] = {
	"",
#define X(NAME, word) #word,
	DPROF_ROLES(X)
#undef X
};

/* ":" K, behind `stage`; the place of K, or of what is wrong. */
static bool parse_stage(struct marker *m, location_t *before)
{
	struct token colon = lex(*before), number = colon.type == CPP_COLON ? lex(colon.where) : colon;
	bool whole = number.type == CPP_NUMBER && TREE_CODE(number.value) == INTEGER_CST && tree_fits_uhwi_p(number.value);
	unsigned HOST_WIDE_INT k = whole ? tree_to_uhwi(number.value) : 0;
	*before = number.where;
	if (colon.type != CPP_COLON)
		error_at(number.where, "expected %<:%> and the number of the stage after %<stage%>");
	else if (k < 1 || k > DPROF_STAGE_MOST)
		error_at(number.where, "expected the number of the stage, from 1 to %d, after %<stage:%>", DPROF_STAGE_MOST);
	else
		m->role = xasprintf("%s:%u", role_words[DPROF_IN_ROLE_STAGE], (unsigned)k);
	return m->role;
}

/* ROLE, and where it ends. */
static bool parse_role_word(struct marker *m, location_t *before)
{
	auto_vec<const char *> words;
	struct token t = lex(*before);
	const char *given = t.type == CPP_NAME ? IDENTIFIER_POINTER(t.value) : "";
	*before = t.where;
	if (!strcmp(given, role_words[DPROF_IN_ROLE_STAGE]))
		return parse_stage(m, before);
	for (int role = DPROF_IN_NO_ROLE + 1; role < DPROF_ROLE_COUNT; role++) {
		words.safe_push(role == DPROF_IN_ROLE_STAGE ? "stage:K" : role_words[role]);
		if (!strcmp(given, role_words[role]))
			m->role = role_words[role];
	}
	if (!m->role)
		refuse_word(t, "role", "role(", words);
	return m->role;
}

/* "(" ROLE ")", behind `role`. */
static bool parse_role(struct marker *m, location_t before)
{
	struct token open = lex(before);
	if (open.type != CPP_OPEN_PAREN) {
		error_at(open.where, "expected %<(%> after %<role%>");
		return false;
	}
	location_t last = open.where;
	if (!parse_role_word(m, &last))
		return false;
	struct token close = lex(last);
	if (close.type == CPP_CLOSE_PAREN)
		return true;
	error_at(close.where, "expected %<)%> after the role");
	return false;
}

static bool is_word(const struct token &t, const char *word)
{
	return t.type == CPP_NAME && !strcmp(IDENTIFIER_POINTER(t.value), word);
}

static void refuse_tail(const struct token &t, const struct grammar &g)
{
	char *form = grammar_form(g);
	if (t.type != CPP_NAME)
		error_at(t.where, "expected the end of the line after %qs", form);
	else if (g.instance)
		error_at(t.where, "unknown dprof clause %qE; only %<instance(VALUE)%> and %<role(ROLE)%> can follow %qs",
			 t.value, form);
	else
		error_at(t.where, "unknown dprof clause %qE; nothing follows %qs", t.value, form);
	free(form);
}

/* ["instance" "(" VALUE ")"] ["role" "(" ROLE ")"], in any order, and the end of the line. */
static bool parse_tail(struct marker *m)
{
	const struct grammar &g = grammar[m->what];
	struct token t = lex();
	while (g.instance && ((!m->instance && is_word(t, "instance")) || (!m->role && is_word(t, "role")))) {
		if (is_word(t, "instance") ? !parse_instance(m, t.where) : !parse_role(m, t.where))
			return false;
		t = lex();
	}
	if (t.type == CPP_EOF)
		return true;
	refuse_tail(t, g);
	return false;
}

/* NAME ")" */
static bool parse_argument(struct marker *m)
{
	m->name = parse_name(m->where);
	if (!m->name)
		return false;
	struct token t = lex(m->where);
	if (t.type == CPP_CLOSE_PAREN)
		return true;
	error_at(t.where, "expected %<)%> after the name");
	return false;
}

static bool in_statements()
{
	return current_function_decl && building_stmt_list_p();
}

/* Without this the front end dissolves a block that declares nothing in its parent. */
static void keep_block()
{
	if (static_cast<void (*)(bool)>(keep_next_level))
		keep_next_level(true);
	else
		keep_next_level();
}

/* False if the directive cannot stand here, or has no effect here. */
static bool check_place(const struct marker &m)
{
	const struct grammar &g = grammar[m.what];
	if (!in_statements()) {
		error_at(m.where, "%<#pragma dprof %s%> outside a function; it must stand %s", g.word,
			 places[g.place]);
	} else if (cplusplus && cplus_constexpr(current_function_decl)) {
		inform(m.where, "%<#pragma dprof %s%> has no effect in a constexpr function", g.word);
	} else if (BUILDING_GCC_MAJOR < 12 && !cplusplus && source_is_body(m.where)) {
		/* This parser takes the directive for the body. */
		error_at(m.where, "%<#pragma dprof %s%> where GCC before 12 expects one statement: "
			 "put braces around it and what it stands before", g.word);
	} else {
		return true;
	}
	return false;
}

static void on_pragma(cpp_reader *)
{
	struct marker m = {};
	m.what = parse_head(&m.where);
	if (m.what == DIRECTIVE_COUNT)
		return;
	const struct grammar &g = grammar[m.what];
	m.kind = g.kind;
	if ((g.argument == ARGUMENT_NAME && !parse_argument(&m)) || !parse_tail(&m))
		return;
	if (g.place == PLACE_ANYWHERE) {
		stretches_add(m.where, m.what == DIRECTIVE_ON);
		return;
	}
	if (strlen(m.name) > DPROF_NAME_MAX) {
		error_at(m.where, "name is longer than %d bytes", DPROF_NAME_MAX);
		return;
	}
	if (!check_place(m) || stretches_off(m.where) || !names_check(m.kind, m.name, m.where) ||
	    (m.role && !names_take_role(m.name, m.role, m.where)))
		return;
	add_stmt(marker_build(m));
	if (g.place == PLACE_STATEMENT)
		keep_block();
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

/* Of an unknown name space GCC says something with -Wall only; a misspelt mark would just be missing. */
static void (*unknown_pragma)(cpp_reader *, location_t);

static void on_unknown(cpp_reader *reader, location_t where)
{
	const cpp_token *t = cpp_peek_token(reader, 0);
	auto_vec<const char *> ours;
	ours.safe_push("dprof");
	if (t->type == CPP_NAME) {
		const char *given = (const char *)NODE_NAME(t->val.node.node);
		if (find_closest_string(given, &ours) && !in_system_header_at(where))
			warning_at(linemap_resolve_location(line_table, t->src_loc, LRK_MACRO_EXPANSION_POINT, nullptr), 0,
				   "%<#pragma %s%> is ignored; did you mean %<#pragma dprof%>?", given);
	}
	if (unknown_pragma)
		unknown_pragma(reader, where);
}

static void watch_unknown()
{
	cpp_callbacks *callbacks = cpp_get_callbacks(parse_in);
	unknown_pragma = callbacks->def_pragma;
	callbacks->def_pragma = on_unknown;
}

void pragma_register(bool language_is_cplusplus)
{
	cplusplus = language_is_cplusplus;
	/* The whole name space, so that misspelt directives arrive here too. */
	c_register_pragma(nullptr, "dprof", on_pragma);
	define_macro();
	watch_unknown();
}
