/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * filter.cc - which functions the automatic instrumentation takes: a file in the format of Score-P's filters.
 *
 *   SCOREP_FILE_NAMES_BEGIN          # patterns of source files: *, ? and [...] as in a shell
 *     EXCLUDE /usr/lib/ *_test.c
 *   SCOREP_FILE_NAMES_END
 *   SCOREP_REGION_NAMES_BEGIN        # of functions, as reports print them; after MANGLED: as the linker knows them
 *     EXCLUDE *
 *     INCLUDE solve* main
 *   SCOREP_REGION_NAMES_END
 *
 * Law: of the rules that match, the last one decides; what no rule matches is taken. A file that does
 * not follow the format is an error. */
#include "plugin/parts.h"

#include <fnmatch.h>

namespace {

struct rule {
	bool include, mangled;
	char *pattern;
};

auto_vec<rule> of_files, of_names;

/* The next word of the line, or NULL; a backslash keeps the character behind it. */
char *next_word(char **at)
{
	while (ISSPACE(**at))
		++*at;
	if (!**at || **at == '#')
		return nullptr;
	char *word = *at;
	for (; **at && !ISSPACE(**at); ++*at)
		if (**at == '\\' && (*at)[1])
			++*at;
	if (**at)
		*(*at)++ = '\0';
	return word;
}

/* Where in the format the reader is. */
struct reader_state {
	const char *file;
	int line;
	auto_vec<rule> *block; /* null outside of a block */
	bool include, mangled, in_rule;
};

bool refuse(const struct reader_state &s, const char *found,
	    std::initializer_list<const char *> expected)
{
	auto_vec<const char *> words;
	char *all = xstrdup("");
	for (const char *w : expected) {
		words.safe_push(w);
		char *more = xasprintf("%s%s%s", all, *all ? ", " : "", w);
		free(all);
		all = more;
	}
	const char *near = find_closest_string(found, &words);
	if (near)
		error_at(UNKNOWN_LOCATION, "%s:%d: unknown word %qs; did you mean %qs?", s.file, s.line,
			 found, near);
	else
		error_at(UNKNOWN_LOCATION, "%s:%d: found %qs, expected one of %s", s.file, s.line, found,
			 all);
	free(all);
	return false;
}

bool read_outside(struct reader_state *s, const char *word)
{
	if (!strcmp(word, "SCOREP_FILE_NAMES_BEGIN"))
		s->block = &of_files;
	else if (!strcmp(word, "SCOREP_REGION_NAMES_BEGIN"))
		s->block = &of_names;
	else
		return refuse(*s, word, { "SCOREP_FILE_NAMES_BEGIN", "SCOREP_REGION_NAMES_BEGIN" });
	s->in_rule = false;
	return true;
}

bool read_inside(struct reader_state *s, const char *word)
{
	const char *end = s->block == &of_files ? "SCOREP_FILE_NAMES_END" : "SCOREP_REGION_NAMES_END";
	if (!strcmp(word, end)) {
		s->block = nullptr;
	} else if (!strcmp(word, "INCLUDE") || !strcmp(word, "EXCLUDE")) {
		s->include = word[0] == 'I';
		s->mangled = false;
		s->in_rule = true;
	} else if (!s->in_rule) {
		return refuse(*s, word, { "INCLUDE", "EXCLUDE", end });
	} else if (!strcmp(word, "MANGLED") && s->block == &of_names) {
		s->mangled = true;
	} else {
		s->block->safe_push({ s->include, s->mangled, xstrdup(word) });
	}
	return true;
}

/* What no rule matches is taken. */
const rule *decides(const auto_vec<rule> &rules, const char *name, const char *mangled)
{
	static const struct rule all = { true, false, const_cast<char *>("*") };
	for (unsigned n = rules.length(); n-- > 0;)
		if (!fnmatch(rules[n].pattern, rules[n].mangled ? mangled : name, 0))
			return &rules[n];
	return &all;
}

const rule *of_file(tree fn)
{
	const char *file = DECL_SOURCE_FILE(fn);
	return decides(of_files, file ? file : "", "");
}

const rule *of_name(tree fn, const char *name)
{
	return decides(of_names, name, IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(fn)));
}

bool names(const rule *r, bool include)
{
	return r->include == include && r->pattern[strspn(r->pattern, "*")];
}

} // namespace

bool filter_read(const char *file)
{
	FILE *in = fopen(file, "r");
	if (!in) {
		error_at(UNKNOWN_LOCATION, "cannot open filter %qs: %m", file);
		return false;
	}
	struct reader_state s = { file, 0, nullptr, false, false, false };
	char *line = nullptr;
	size_t size = 0;
	bool good = true;
	while (good && getline(&line, &size, in) >= 0) {
		s.line++;
		char *at = line;
		for (char *word; good && (word = next_word(&at));)
			good = s.block ? read_inside(&s, word) : read_outside(&s, word);
	}
	if (good && s.block) {
		error_at(UNKNOWN_LOCATION, "%s:%d: the block that began is not ended", file, s.line);
		good = false;
	}
	free(line);
	fclose(in);
	return good;
}

bool filter_takes(tree fn, const char *name)
{
	return of_file(fn)->include && of_name(fn, name)->include;
}

bool filter_names(tree fn, const char *name)
{
	return of_file(fn)->include && names(of_name(fn, name), true);
}

bool filter_refuses(tree fn, const char *name)
{
	return names(of_file(fn), false) || names(of_name(fn, name), false);
}
