/* SPDX-License-Identifier: MIT
 *
 * trace_words.c - the words of the text form, from the tables in format.h. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/trace/trace.h"

const char *tr_kind_word(enum dprof_kind kind)
{
	static const char *const words[] = {
#define X(NAME, word) [DPROF_KIND_##NAME] = #word,
		DPROF_KINDS(X)
#undef X
	};
	return words[kind];
}

static const char *const roles[DPROF_ROLE_COUNT] = {
	"",
#define X(NAME, word) #word,
	DPROF_ROLES(X)
#undef X
};

const char *tr_role_word(enum dprof_role role)
{
	return roles[role];
}

enum dprof_role tr_role_of(const char *word)
{
	enum dprof_role role = DPROF_ROLE_COUNT;
	while (--role > DPROF_IN_NO_ROLE && strcmp(word, roles[role]) != 0)
		;
	return role;
}

char *tr_kinds_words(uint32_t kinds)
{
	char *words = mem_copy("");
	for (enum dprof_kind k = 1; k < DPROF_KIND_COUNT; k++) {
		if (!(kinds & TR_KIND_BIT(k)))
			continue;
		char *longer = mem_format("%s%s%s", words, *words ? "," : "", tr_kind_word(k));
		free(words);
		words = longer;
	}
	return words;
}

bool tr_kinds_of(const char *words, uint32_t *kinds)
{
	for (;; words++) {
		size_t length = strcspn(words, ",");
		enum dprof_kind k = 1;
		while (k < DPROF_KIND_COUNT && (strlen(tr_kind_word(k)) != length ||
						strncmp(tr_kind_word(k), words, length) != 0))
			k++;
		if (k == DPROF_KIND_COUNT)
			return false;
		*kinds |= TR_KIND_BIT(k);
		words += length;
		if (!*words)
			return true;
	}
}

const char *tr_key_word(enum dprof_key key)
{
	static const char *const words[] = {
#define X(NAME, word) [DPROF_KEY_##NAME] = #word,
		DPROF_KEYS(X)
#undef X
	};
	return words[key];
}
