/* SPDX-License-Identifier: MIT
 *
 * trace_text.c - the names that a trace brings along (of regions, files, functions, hosts, programs, jobs,
 * threads; notes) become what may be shown, in this one place. Only `dump` wants what they were.
 *
 * Law: no string of a struct trace can do anything to a terminal. */
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/shown.h"
#include "analysis/trace/trace_private.h"

static void replace(struct trace *t, const char **text, bool site)
{
	if (!*text || shown_is(*text))
		return;
	char *shown = shown_copy(*text);
	*MEM_GROW(t->raw, t->nraw) = (struct tr_raw){ shown, *text, site };
	*text = shown;
}

static void replace_own(struct trace *t, char **text)
{
	const char *same = *text;
	replace(t, &same, false);
	*text = (char *)(uintptr_t)same;
}

static int by_shown(const void *a, const void *b)
{
	const struct tr_raw *x = a, *y = b;
	return ORDER(x->shown, y->shown);
}

void open_texts(struct opened_trace *o)
{
	struct trace *t = &o->t;
	replace_own(t, &t->directory);
	for (size_t i = 0; i < t->nclocks; i++) {
		replace_own(t, &t->clocks[i].host);
		replace_own(t, &t->clocks[i].source);
	}
	for (size_t i = 0; i < t->nprocesses; i++) {
		replace_own(t, &t->processes[i].program);
		replace_own(t, &t->processes[i].job);
		replace_own(t, &t->processes[i].host);
	}
	for (size_t i = 0; i < t->nthreads; i++)
		replace_own(t, &t->threads[i].name);
	for (size_t i = 0; i < t->nnotes; i++)
		replace_own(t, &t->notes[i]);
	for (size_t i = 0; i < t->nsites; i++) {
		replace(t, &t->sites[i].name, true);
		replace(t, &t->sites[i].file, true);
		replace(t, &t->sites[i].function, true);
	}
	if (t->nraw)
		qsort(t->raw, t->nraw, sizeof *t->raw, by_shown);
}

const char *trace_raw(const struct trace *t, const char *shown)
{
	struct tr_raw key = { .shown = shown };
	const struct tr_raw *found = t->nraw ? bsearch(&key, t->raw, t->nraw, sizeof key, by_shown) : NULL;
	return found ? found->raw : shown;
}

/* Whoever owned the string frees what is shown instead of it; the strings of a site are in its file. */
void close_texts(struct trace *t)
{
	for (size_t i = 0; i < t->nraw; i++)
		free((void *)(uintptr_t)(t->raw[i].of_site ? t->raw[i].shown : t->raw[i].raw));
	free(t->raw);
}
