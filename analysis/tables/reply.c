/* SPDX-License-Identifier: MIT
 *
 * reply.c - see reply.h. */
#define _GNU_SOURCE /* vasprintf */
#include "analysis/tables/reply.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void reply_value(struct reply *r, const char *key, struct tab_cell cell)
{
	if (r->renderer->value)
		r->renderer->value(r, key, cell);
}

void reply_table(struct reply *r, const char *key, const struct tab_column *columns, size_t most)
{
	const struct tab_open *outer = r->depth ? &r->tables[r->depth - 1] : NULL;
	assert(r->depth < TAB_DEPTH);
	bool is_data = !outer || outer->key, is_shown = !outer || outer->rows <= outer->most;
	r->tables[r->depth++] = (struct tab_open){ is_data ? key : NULL, columns, is_shown ? most : 0, 0 };
	if (r->renderer->begin)
		r->renderer->begin(r);
}

void reply_cells(struct reply *r, const struct tab_cell *cells, size_t count)
{
	struct tab_open *table = &r->tables[r->depth - 1];
	for (size_t i = 0; i < count; i++)
		assert(!tab_is_end(&table->columns[i]));
	assert(tab_is_end(&table->columns[count]));
	r->renderer->row(r, cells);
	table->rows++;
}

void reply_end(struct reply *r)
{
	if (r->renderer->end)
		r->renderer->end(r);
	r->depth--;
}

void reply_texts(struct reply *r, const char *key, char *const *texts, size_t count)
{
	static const struct tab_column bare[] = { TAB_KEY(""), { 0 } };
	reply_table(r, key, bare, 0);
	for (size_t i = 0; i < count; i++)
		reply_row(r, tab_text(texts[i]));
	reply_end(r);
}

struct interval_text reply_interval(const struct reply *r, struct interval x, int decimals)
{
	return (r->ends ? interval_range : interval_shown)(x, decimals);
}

void reply_say(struct reply *r, enum reply_kind kind, const char *format, ...)
{
	char *text;
	va_list arguments;
	if (!r->renderer->say)
		return;
	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		abort();
	va_end(arguments);
	r->renderer->say(r, kind, text);
	free(text);
}

void reply_gap(struct reply *r)
{
	reply_say(r, SAY_LINE, "%s", "");
}

void reply_close(struct reply *r)
{
	if (r->renderer->close)
		r->renderer->close(r);
	free(r);
}
