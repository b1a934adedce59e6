/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * source.cc - looks in the source text at what follows a directive.
 *
 * The tree does not show it: `;` and a static assertion leave nothing in it, so the region would
 * silently take the statement after them. Nor does a C parser before GCC 12 say that it takes a
 * directive for the whole body of an `if`. Law: a guess is never an answer; text that does not look
 * like the directive's, or in which conditional compilation decides, answers FOLLOWS_UNKNOWN. */
#include "plugin/parts.h"

/* A place in a file; column counts from 0. The line's text is kept, because GCC's cache of source
 * files searches from far back when it is asked for a line again. */
struct source_position {
	const char *file;
	int line;
	size_t column;
	char_span text;
};

static struct source_position line_start(const char *file, int line)
{
	return { file, line, 0, location_get_source_line(file, line) };
}

/* The character there; '\n' at the end of a line, '\0' at the end of the file. */
static char at(const struct source_position &p, size_t further = 0)
{
	if (!p.text)
		return '\0';
	size_t column = p.column + further;
	return column < p.text.length() ? p.text[column] : '\n';
}

static void advance(struct source_position *p, size_t n = 1)
{
	for (; n; n--)
		if (at(*p) == '\n')
			*p = line_start(p->file, p->line + 1);
		else
			p->column++;
}

static bool word_char(char c)
{
	return ISALNUM(c) || c == '_' || c == '$';
}

static bool line_starts_with_hash(const struct source_position &p)
{
	size_t i = 0;
	while (p.text && i < p.text.length() && ISBLANK(p.text[i]))
		i++;
	return p.text && i < p.text.length() && p.text[i] == '#';
}

static bool line_contains(const struct source_position &p, const char *word)
{
	return p.text && memmem(p.text.get_buffer(), p.text.length(), word, strlen(word));
}

/* To the start of the line after this one and its continuations. */
static void skip_directive(struct source_position *p)
{
	char last;
	do {
		last = p->text && p->text.length() ? p->text[p->text.length() - 1] : '\0';
		*p = line_start(p->file, p->line + 1);
	} while (last == '\\');
}

static void skip_blank_and_comments(struct source_position *p)
{
	for (;;) {
		if (ISSPACE(at(*p))) {
			advance(p);
		} else if (at(*p) == '/' && at(*p, 1) == '/') {
			while (at(*p) != '\n' && at(*p))
				advance(p);
		} else if (at(*p) == '/' && at(*p, 1) == '*') {
			advance(p, 2);
			while (at(*p) && !(at(*p) == '*' && at(*p, 1) == '/'))
				advance(p);
			if (at(*p))
				advance(p, 2);
		} else {
			return;
		}
	}
}

/* "(...)" with what is nested in it; false if there is none. */
static bool skip_parentheses(struct source_position *p)
{
	int depth = 0;
	skip_blank_and_comments(p);
	if (at(*p) != '(')
		return false;
	do {
		char c = at(*p);
		if (!c)
			return false;
		depth += (c == '(') - (c == ')');
		advance(p);
		if (c != '"')
			continue;
		for (; at(*p) != '"'; advance(p)) {
			if (!at(*p) || at(*p) == '\n')
				return false;
			if (at(*p) == '\\')
				advance(p);
		}
		advance(p);
	} while (depth);
	return true;
}

static void read_word(struct source_position *p, char *word, size_t size)
{
	size_t n = 0;
	for (; word_char(at(*p)); advance(p))
		if (n + 1 < size)
			word[n++] = at(*p);
	word[n] = '\0';
}

/* Over the directive itself: a #pragma line, or _Pragma or a macro with its arguments. */
static bool skip_self(struct source_position *p)
{
	char word[64];
	if (line_starts_with_hash(*p)) {
		if (!line_contains(*p, "pragma") || !line_contains(*p, "dprof"))
			return false;
		skip_directive(p);
		return true;
	}
	if (!word_char(at(*p)))
		return false;
	read_word(p, word, sizeof word);
	return skip_parentheses(p);
}

static enum follows classify(struct source_position *p)
{
	static const char *const codeless[] = { "typedef", "extern", "static_assert",
						"_Static_assert" };
	char word[64];

	for (;;) {
		skip_blank_and_comments(p);
		if (line_starts_with_hash(*p)) {
			if (!line_contains(*p, "pragma"))
				return FOLLOWS_UNKNOWN;
			skip_directive(p);
			continue;
		}
		if (at(*p) == ';')
			return FOLLOWS_NOTHING;
		read_word(p, word, sizeof word);
		if (strcmp(word, "_Pragma"))
			break;
		if (!skip_parentheses(p))
			return FOLLOWS_UNKNOWN;
	}
	for (const char *c : codeless)
		if (!strcmp(word, c))
			return FOLLOWS_DECLARATION;
	return FOLLOWS_UNKNOWN;
}

enum follows source_follows(location_t directive, location_t statement)
{
	/* Both from one macro: then the text after the macro is not what follows the directive. */
	statement = linemap_resolve_location(line_table, statement, LRK_MACRO_EXPANSION_POINT, nullptr);
	if (statement == UNKNOWN_LOCATION || statement == directive)
		return FOLLOWS_UNKNOWN;

	expanded_location e = expand_location(directive);
	if (!e.file || e.line < 1 || e.column < 1)
		return FOLLOWS_UNKNOWN;
	struct source_position p = line_start(e.file, e.line);
	p.column = e.column - 1;
	return skip_self(&p) ? classify(&p) : FOLLOWS_UNKNOWN;
}

/* ---- What stands before a directive ---------------------------------------------------------------- */

#define LINES_BACK 30

/* The text of a line up to a column, without comments, strings and directives. */
static void append_code(auto_vec<char> *text, struct source_position p, size_t end)
{
	if (line_starts_with_hash(p))
		return;
	for (int line = p.line; p.line == line && p.column < end && at(p) && at(p) != '\n';) {
		char quote = at(p);
		if (at(p) == '/' && (at(p, 1) == '/' || at(p, 1) == '*')) {
			skip_blank_and_comments(&p);
		} else if (quote == '"' || quote == '\'') {
			do
				advance(&p, at(p) == '\\' ? 2 : 1);
			while (p.line == line && at(p) && at(p) != '\n' && at(p) != quote);
			if (p.line == line && at(p) == quote)
				advance(&p);
			text->safe_push(quote);
		} else {
			text->safe_push(at(p));
			advance(&p);
		}
	}
	text->safe_push(' ');
}

/* Takes the blanks, then the word at the end of the text away. */
static bool ends_with_word(auto_vec<char> *text, std::initializer_list<const char *> words)
{
	while (!text->is_empty() && ISSPACE(text->last()))
		text->pop();
	unsigned start = text->length();
	while (start && word_char((*text)[start - 1]))
		start--;
	for (const char *w : words)
		if (strlen(w) == text->length() - start && !memcmp(w, text->begin() + start, strlen(w)))
			return true;
	return false;
}

static bool take_parentheses(auto_vec<char> *text)
{
	if (text->is_empty() || text->last() != ')')
		return false;
	int depth = 0;
	do
		depth += (text->last() == ')') - (text->last() == '(');
	while (text->pop(), depth && !text->is_empty());
	return !depth;
}

/* Is the directive where the whole body of an if, else, for, while or do is to stand? */
bool source_is_body(location_t directive)
{
	expanded_location e = expand_location(directive);
	if (!e.file || e.line < 1 || e.column < 1)
		return false;
	auto_vec<char> text;
	for (int line = MAX(1, e.line - LINES_BACK); line <= e.line; line++)
		append_code(&text, line_start(e.file, line),
			    line == e.line ? (size_t)e.column - 1 : SIZE_MAX);
	if (ends_with_word(&text, { "else", "do" }))
		return true;
	return take_parentheses(&text) && ends_with_word(&text, { "if", "for", "while", "switch" });
}
