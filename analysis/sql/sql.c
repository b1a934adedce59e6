/* SPDX-License-Identifier: MIT
 *
 * sql.c - see sql.h. */
#include "analysis/sql/sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/lines.h"
#include "analysis/base/memory.h"
#include "analysis/base/shown.h"

static const struct sql_table *const recorded[] = { &sql_threads, &sql_sites, &sql_events, &sql_visits, &sql_messages };
#define NRECORDED (sizeof recorded / sizeof *recorded)

struct connection {
	struct sql_world world;
	struct sql_results *results;
	sqlite3 *to;
};

/* The earliest moment at which the run may have begun. */
static int64_t begin_of(const struct sql_source *s)
{
	struct ends *ends = mem_resize(NULL, s->trace->nthreads, sizeof *ends);
	for (size_t i = 0; i < s->trace->nthreads; i++)
		ends[i] = times_ends(&s->trace->threads[i]);
	struct span span = times_span(s->times, 0, ends);
	free(ends);
	return span.events ? span.first.lo : 0;
}

static size_t count_tables(const struct connection *c)
{
	return NRECORDED + sql_results_count(c->results);
}

static const struct sql_table *table_at(const struct connection *c, size_t i)
{
	return i < NRECORDED ? recorded[i] : sql_results_table(c->results, i - NRECORDED);
}

/* Has SQLite read its columns, which is no longer allowed when a question is asked. */
static int declare(sqlite3 *to, const char *name)
{
	sqlite3_stmt *statement = NULL;
	char *text = mem_format("SELECT 1 FROM %s", name);
	int code = sqlite3_prepare_v2(to, text, -1, &statement, NULL);
	sqlite3_finalize(statement);
	free(text);
	return code;
}

/* Tables have `prefix` before their names. */
static int connect(struct connection *c, const struct sql_source *s, const char *file, const char *prefix)
{
	*c = (struct connection){ .world = { s->trace, s->times, begin_of(s), s->trace->clocks[times_unit(s->times, 0)].ghz } };
	c->results = sql_results_open(s->results, s->nresults, &c->world, s->options);
	int code = sqlite3_open(file, &c->to);
	for (size_t i = 0; i < count_tables(c) && code == SQLITE_OK; i++) {
		char *name = mem_format("%s%s", prefix, table_at(c, i)->name);
		code = sql_table_add(c->to, name, &c->world, table_at(c, i));
		code = code == SQLITE_OK ? declare(c->to, name) : code;
		free(name);
	}
	return code;
}

static void disconnect(struct connection *c)
{
	sqlite3_close(c->to);
	sql_results_close(c->results);
}

/* ---- A question ------------------------------------------------------------------------------ */

#define LOOKED_AT 100 /* rows by which columns are made wide enough */
#define WIDEST    60

struct sql_answer {
	sqlite3_stmt *statement;
	int n;                   /* columns */
	struct tab_column *columns;
	struct tab_cell *cells;
	char **keys, **titles, **hex; /* n; of each column its own; what a row's blobs are shown as, or NULL */
	sqlite3_value **first; size_t nfirst; /* of the rows that are looked at; n for each */
};

/* As SQL's hex() has it. To be freed. */
static char *hex_of(sqlite3_value *v)
{
	const uint8_t *bytes = sqlite3_value_blob(v);
	size_t n = (size_t)sqlite3_value_bytes(v);
	char *hex = mem_resize(NULL, 2 * n + 1, 1);
	for (size_t i = 0; i < n; i++)
		snprintf(hex + 2 * i, 3, "%02X", bytes[i]);
	hex[2 * n] = 0;
	return hex;
}

/* `hex` is what the cell points to, if that is not the value's own. */
static struct tab_cell cell_of(sqlite3_value *v, char **hex)
{
	free(*hex);
	*hex = sqlite3_value_type(v) == SQLITE_BLOB ? hex_of(v) : NULL;
	switch (sqlite3_value_type(v)) {
	case SQLITE_INTEGER: return tab_count(sqlite3_value_int64(v));
	case SQLITE_FLOAT: return tab_real(sqlite3_value_double(v));
	case SQLITE_NULL: return TAB_NONE;
	case SQLITE_BLOB: return tab_text(*hex);
	default: return tab_text((const char *)sqlite3_value_text(v));
	}
}

static int width_of(const char *text)
{
	size_t n = text ? shown_width(text, strlen(text)) : 0;
	return n < WIDEST ? (int)n : WIDEST;
}

/* Numbers stand on the right. */
static void make_room(struct tab_column *c, sqlite3_value *v)
{
	int type = sqlite3_value_type(v);
	bool number = type == SQLITE_INTEGER || type == SQLITE_FLOAT;
	char *hex = type == SQLITE_BLOB ? hex_of(v) : NULL;
	int width = type == SQLITE_FLOAT  ? width_of(ln_real(sqlite3_value_double(v)).digits)
		    : type == SQLITE_BLOB ? width_of(hex)
					  : width_of((const char *)sqlite3_value_text(v));
	free(hex);
	width = width > abs(c->width) ? width : abs(c->width);
	c->width = number ? -width : c->width < 0 && type == SQLITE_NULL ? -width : width;
}

static bool is_key(const struct sql_answer *a, int n, const char *key)
{
	for (int i = 0; i < n; i++)
		if (strcmp(a->keys[i], key) == 0)
			return true;
	return false;
}

/* JSON has a key once, SQL a column's name as often as it is asked for: rank, rank_2, ... */
static char *key_of(const struct sql_answer *a, int column, const char *name)
{
	const char *base = *name ? name : "column";
	char *key = mem_copy(base);
	for (int n = 2; is_key(a, column, key); n++) {
		free(key);
		key = mem_format("%s_%d", base, n);
	}
	return key;
}

static void begin_columns(struct sql_answer *a)
{
	a->n = sqlite3_column_count(a->statement);
	a->columns = mem_resize(NULL, (size_t)a->n + 1, sizeof *a->columns);
	a->cells = mem_resize(NULL, (size_t)a->n, sizeof *a->cells);
	a->keys = mem_resize(NULL, (size_t)a->n, sizeof *a->keys);
	a->titles = mem_resize(NULL, (size_t)a->n, sizeof *a->titles);
	a->hex = mem_resize(NULL, (size_t)a->n, sizeof *a->hex);
	for (int i = 0; i < a->n; i++) {
		const char *name = sqlite3_column_name(a->statement, i);
		a->hex[i] = NULL;
		a->keys[i] = key_of(a, i, name);
		a->titles[i] = shown_copy(name);
		a->columns[i] = (struct tab_column){ .key = a->keys[i], .title = a->titles[i], .width = width_of(a->titles[i]),
						     .gap = i > 0, .whole = true };
	}
	a->columns[a->n] = (struct tab_column){ 0 };
}

static void keep_row(struct sql_answer *a)
{
	for (int i = 0; i < a->n; i++) {
		size_t at = a->nfirst * (size_t)a->n + (size_t)i;
		*MEM_GROW(a->first, at) = sqlite3_value_dup(sqlite3_column_value(a->statement, i));
		make_room(&a->columns[i], a->first[at - 1]);
	}
	a->nfirst++;
}

static void give_first(struct sql_answer *a, struct reply *r)
{
	reply_table(r, "rows", a->columns, SIZE_MAX);
	for (size_t row = 0; row < a->nfirst; row++) {
		for (int i = 0; i < a->n; i++)
			a->cells[i] = cell_of(a->first[row * (size_t)a->n + (size_t)i], &a->hex[i]);
		reply_cells(r, a->cells, (size_t)a->n);
	}
}

static void give_row(struct sql_answer *a, struct reply *r)
{
	for (int i = 0; i < a->n; i++)
		a->cells[i] = cell_of(sqlite3_column_value(a->statement, i), &a->hex[i]);
	reply_cells(r, a->cells, (size_t)a->n);
}

/* An SQLite code: SQLITE_DONE if all rows were given. */
static int give_rows(struct sql_answer *a, struct reply *r)
{
	int code = SQLITE_ROW;
	begin_columns(a);
	while (a->nfirst < LOOKED_AT && (code = sqlite3_step(a->statement)) == SQLITE_ROW)
		keep_row(a);
	if (code != SQLITE_ROW && code != SQLITE_DONE)
		return code;
	give_first(a, r);
	while (code == SQLITE_ROW && (code = sqlite3_step(a->statement)) == SQLITE_ROW)
		give_row(a, r);
	reply_end(r);
	return code;
}

static void end_answer(struct sql_answer *a)
{
	for (size_t i = 0; i < a->nfirst * (size_t)a->n; i++)
		sqlite3_value_free(a->first[i]);
	for (int i = 0; i < a->n; i++) {
		free(a->keys[i]);
		free(a->titles[i]);
		free(a->hex[i]);
	}
	free(a->first);
	free(a->keys);
	free(a->titles);
	free(a->hex);
	free(a->columns);
	free(a->cells);
	sqlite3_finalize(a->statement);
}

/* Nothing but reading what is there, and what columns that has. */
static int allow(void *unused, int action, const char *what, const char *more, const char *database, const char *trigger)
{
	(void)unused, (void)more, (void)database, (void)trigger;
	switch (action) {
	case SQLITE_READ: /* it knows no tables of ours */
		return sqlite3_strnicmp(what, "sqlite_", strlen("sqlite_")) == 0 ? SQLITE_DENY : SQLITE_OK;
	case SQLITE_SELECT:
	case SQLITE_FUNCTION:
	case SQLITE_RECURSIVE: return SQLITE_OK;
	case SQLITE_PRAGMA: return strcmp(what, "table_info") == 0 ? SQLITE_OK : SQLITE_DENY;
	default: return SQLITE_DENY;
	}
}

static int refuse(const char *what)
{
	shown_complain("query --sql: %s", what);
	return EXIT_USAGE;
}

/* What tables there are helps whoever names another. */
static int refuse_text(const struct connection *c)
{
	const char *wrong = sqlite3_errmsg(c->to);
	char *list = mem_copy("there are");
	for (size_t i = 0; i < count_tables(c); i++) {
		char *longer = mem_format("%s%s %s", list, i ? "," : "", table_at(c, i)->name);
		free(list);
		list = longer;
	}
	bool table = strncmp(wrong, "no such table", strlen("no such table")) == 0 || strstr(wrong, "access to sqlite_");
	bool refused = strncmp(wrong, "not authorized", strlen("not authorized")) == 0;
	char *text = table   ? mem_format("%s; %s", wrong, list)
		   : refused ? mem_copy("expected one SELECT: nothing here can be changed, and no file be opened")
			     : mem_copy(wrong);
	int status = refuse(text);
	free(text);
	free(list);
	return status;
}

static int answer(struct connection *c, const char *text, struct reply *r)
{
	struct sql_answer a = { 0 };
	const char *rest;
	sqlite3_set_authorizer(c->to, allow, NULL);
	if (sqlite3_prepare_v2(c->to, text, -1, &a.statement, &rest) != SQLITE_OK)
		return refuse_text(c);
	if (!a.statement || sqlite3_column_count(a.statement) == 0 || rest[strspn(rest, " \t\n;")]) {
		sqlite3_finalize(a.statement);
		return refuse("expected one SELECT");
	}
	int code = give_rows(&a, r), status = code == SQLITE_DONE ? EXIT_FINE : refuse(sqlite3_errmsg(c->to));
	end_answer(&a);
	return status;
}

int sql_ask(const struct sql_source *s, const char *text, struct reply *r)
{
	struct connection c;
	int status = connect(&c, s, ":memory:", "") == SQLITE_OK ? answer(&c, text, r) : refuse(sqlite3_errmsg(c.to));
	disconnect(&c);
	return status;
}

/* ---- A file ---------------------------------------------------------------------------------- */

#define OF_TRACE "trace_" /* before the names of tables that are copied */

static bool is_known(struct connection *c, const struct sql_table *t)
{
	char *text = mem_format("SELECT 1 FROM " OF_TRACE "%s LIMIT 1", t->name);
	int code = sqlite3_exec(c->to, text, NULL, NULL, NULL);
	free(text);
	return code == SQLITE_OK;
}

static int copy_table(struct connection *c, const struct sql_table *t)
{
	char *text = mem_format("CREATE TABLE %s(%s); INSERT INTO %s SELECT * FROM " OF_TRACE "%s", t->name, t->columns,
				t->name, t->name);
	int code = sqlite3_exec(c->to, text, NULL, NULL, NULL);
	free(text);
	return code;
}

/* Whoever reads a half of the file does not find it under its name: nothing needs to be undone. */
static int copy_tables(struct connection *c, struct sql_missing *missing)
{
	int code = sqlite3_exec(c->to, "PRAGMA page_size = 32768; PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = OFF; "
				    "PRAGMA synchronous = OFF; BEGIN", NULL, NULL, NULL);
	for (size_t i = 0; i < count_tables(c) && code == SQLITE_OK; i++) {
		const struct sql_table *t = table_at(c, i);
		if (t->large || is_known(c, t))
			code = copy_table(c, t);
		else
			*MEM_GROW(missing->names, missing->n) = mem_copy(t->name);
	}
	return code == SQLITE_OK ? sqlite3_exec(c->to, "COMMIT", NULL, NULL, NULL) : code;
}

char *sql_write(const struct sql_source *s, const char *file, struct sql_missing *missing)
{
	struct connection c;
	*missing = (struct sql_missing){ 0 };
	int code = connect(&c, s, file, OF_TRACE);
	if (code == SQLITE_OK)
		sql_results_run(c.results, s->together);
	code = code == SQLITE_OK ? copy_tables(&c, missing) : code;
	char *wrong = code == SQLITE_OK ? NULL : mem_copy(sqlite3_errmsg(c.to));
	disconnect(&c);
	return wrong;
}
