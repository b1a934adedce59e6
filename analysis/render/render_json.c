/* SPDX-License-Identifier: MIT
 *
 * render_json.c - the data of a reply as one JSON object: tables are arrays of objects, keys with a point make objects
 * within. A row stays open, for tables in it, until the next one or the end. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/json.h"
#include "analysis/base/memory.h"
#include "analysis/render/render.h"
#include "analysis/trace/names.h"

struct render_json {
	struct reply reply;      /* the first, so that one is the other */
	struct json j;
	char within[TAB_DEPTH + 1][32]; /* of each open object, the member that is being written: "width_s", or "" */
};

static void put_site(struct json *j, const char *key, const struct tab_cell *cell)
{
	bool placed = cell->site < cell->trace->nsites;
	const struct tr_site *site = placed ? &cell->trace->sites[cell->site] : NULL;
	jw_string(j, key, placed ? site->name : site_name(cell->trace, cell->site).text);
	if (placed) {
		jw_string(j, "file", site->file);
		jw_integer(j, "line", site->line);
	}
}

static void put_number(struct json *j, const char *key, uint64_t number)
{
	char digits[24];
	snprintf(digits, sizeof digits, "%" PRIu64, number);
	if (number <= INT64_MAX)
		jw_integer(j, key, (int64_t)number);
	else
		jw_string(j, key, digits);
}

static void put(struct json *j, const char *key, const struct tab_cell *cell)
{
	switch (cell->type) {
	case TAB_TEXT: jw_string(j, key, cell->text); break;
	case TAB_COUNT: jw_integer(j, key, cell->count); break;
	case TAB_NUMBER: put_number(j, key, cell->number); break;
	case TAB_FLAG: jw_bool(j, key, cell->flag); break;
	case TAB_VERDICT: jw_string(j, key, cell->flag ? "proved" : "undecided"); break;
	case TAB_INTERVAL:
	case TAB_RANGE: jw_interval(j, key, cell->interval); break;
	case TAB_REAL: jw_real(j, key, cell->real); break;
	case TAB_UPPER: jw_up(j, key, cell->upper); break;
	case TAB_SITE: put_site(j, key, cell); break;
	case TAB_ABSENT: break;
	}
}

static bool is_absent(const struct tab_cell *cell)
{
	return cell->type == TAB_ABSENT || (cell->type == TAB_SITE && cell->site == TR_NO_SITE);
}

/* Ends the object within and begins that of the key, if there are any; what is left of the key. */
static const char *move_to(struct render_json *r, char *within, const char *key)
{
	const char *point = strchr(key, '.');
	size_t length = point ? (size_t)(point - key) : 0;
	if (strlen(within) != length || strncmp(within, key, length) != 0) {
		if (*within)
			jw_end(&r->j);
		snprintf(within, sizeof *r->within, "%.*s", (int)length, key);
		if (*within)
			jw_object(&r->j, within);
	}
	return point ? point + 1 : key;
}

/* Of the row of a table, 1 the outermost, or of the whole, which is an object from the first of the data on. */
static char *within(struct render_json *r, size_t depth)
{
	if (r->j.depth == 0)
		jw_object(&r->j, NULL);
	return r->within[depth];
}

static bool is_data(const struct reply *r)
{
	return r->depth == 0 || r->tables[r->depth - 1].key;
}

static void value(struct reply *reply, const char *key, struct tab_cell cell)
{
	struct render_json *r = (struct render_json *)reply;
	if (is_data(reply) && !is_absent(&cell))
		put(&r->j, move_to(r, within(r, reply->depth), key), &cell);
}

static void begin(struct reply *reply)
{
	struct render_json *r = (struct render_json *)reply;
	if (is_data(reply))
		jw_array(&r->j, move_to(r, within(r, reply->depth - 1), reply->tables[reply->depth - 1].key));
}

static bool is_bare(const struct tab_open *t)
{
	return t->columns->key && !*t->columns->key;
}

static void put_bare(struct json *j, const struct tab_column *columns, const struct tab_cell *cells)
{
	bool several = !tab_is_end(&columns[1]);
	if (several)
		jw_array(j, NULL);
	for (size_t i = 0; !tab_is_end(&columns[i]); i++)
		put(j, NULL, &cells[i]);
	if (several)
		jw_end(j);
}

static void end_row(struct render_json *r, const struct tab_open *t)
{
	if (t->rows == 0 || is_bare(t))
		return;
	move_to(r, r->within[r->reply.depth], "");
	jw_end(&r->j);
}

static void row(struct reply *reply, const struct tab_cell *cells)
{
	struct render_json *r = (struct render_json *)reply;
	const struct tab_open *t = &reply->tables[reply->depth - 1];
	if (!is_data(reply))
		return;
	end_row(r, t);
	if (is_bare(t)) {
		put_bare(&r->j, t->columns, cells);
		return;
	}
	jw_object(&r->j, NULL);
	for (const struct tab_column *c = t->columns; !tab_is_end(c); c++, cells++)
		if (c->key && !is_absent(cells))
			put(&r->j, c->whole ? c->key : move_to(r, r->within[reply->depth], c->key), cells);
}

static void end(struct reply *reply)
{
	struct render_json *r = (struct render_json *)reply;
	if (!is_data(reply))
		return;
	end_row(r, &reply->tables[reply->depth - 1]);
	jw_end(&r->j);
}

static void close_all(struct reply *reply)
{
	struct render_json *r = (struct render_json *)reply;
	if (r->j.depth == 0)
		return;
	move_to(r, r->within[0], "");
	jw_end(&r->j);
}

struct reply *render_json(FILE *out)
{
	static const struct renderer json = { .value = value, .begin = begin, .row = row, .end = end, .close = close_all };
	struct render_json *r = mem_resize(NULL, 1, sizeof *r);
	*r = (struct render_json){ .reply = { .renderer = &json, .data = true, .ends = true }, .j = jw_on(out) };
	return &r->reply;
}
