/* SPDX-License-Identifier: MIT
 *
 * trace_words.c - the words of the text form, from the tables in format.h. */
#include <inttypes.h>
#include <stdio.h>
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

struct role_word tr_role_word(const struct tr_site *s)
{
	struct role_word word;
	if (s->role == DPROF_IN_ROLE_STAGE)
		snprintf(word.text, sizeof word.text, "%s:%" PRIu32, roles[s->role], s->stage);
	else
		snprintf(word.text, sizeof word.text, "%s", roles[s->role]);
	return word;
}

/* "3", as it is written: 0 of anything else. */
static uint32_t stage_of(const char *number)
{
	size_t n = strspn(number, "0123456789");
	uint32_t stage = n && n <= 3 && !number[n] && *number != '0' ? (uint32_t)atoi(number) : 0;
	return stage <= DPROF_STAGE_MOST ? stage : 0;
}

bool tr_role_of(const char *word, struct tr_site *s)
{
	size_t n = strcspn(word, ":");
	s->role = DPROF_ROLE_COUNT;
	while (--s->role > DPROF_IN_NO_ROLE && (strncmp(word, roles[s->role], n) != 0 || roles[s->role][n]))
		;
	s->stage = s->role == DPROF_IN_ROLE_STAGE && word[n] ? stage_of(word + n + 1) : 0;
	if (s->role == DPROF_IN_ROLE_STAGE ? !s->stage : word[n])
		s->role = DPROF_IN_NO_ROLE;
	return s->role != DPROF_IN_NO_ROLE;
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
