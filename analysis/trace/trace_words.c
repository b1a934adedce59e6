/* SPDX-License-Identifier: MIT
 *
 * trace_words.c - the words of the text form, from the tables in format.h. */
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

const char *tr_key_word(enum dprof_key key)
{
	static const char *const words[] = {
#define X(NAME, word) [DPROF_KEY_##NAME] = #word,
		DPROF_KEYS(X)
#undef X
	};
	return words[key];
}
