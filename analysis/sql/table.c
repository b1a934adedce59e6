/* SPDX-License-Identifier: MIT
 *
 * table.c - see table.h. One module of SQLite's for all tables: https://www.sqlite.org/vtab.html */
#include "analysis/sql/table.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/base/memory.h"

struct table_known {                       /* to SQLite: the connection's */
	const struct sql_world *world;
	const struct sql_table *table;
};

struct sql_open_table {
	sqlite3_vtab base;           /* the first, so that one is the other */
	struct table_known known;
};

struct table_cursor {
	sqlite3_vtab_cursor base;    /* likewise */
	void *rows;
	sqlite3_int64 row;
	bool more;
};

static const struct sql_table *table_of(const struct table_cursor *c)
{
	return ((const struct sql_open_table *)c->base.pVtab)->known.table;
}

static int connect_table(sqlite3 *to, void *known, int argc, const char *const *argv, sqlite3_vtab **out, char **error)
{
	const struct table_known *k = known;
	char *text = mem_format("CREATE TABLE x(%s)", k->table->columns);
	int code = sqlite3_declare_vtab(to, text);
	(void)argc, (void)argv, (void)error;
	free(text);
	if (code != SQLITE_OK)
		return code;
	struct sql_open_table *t = mem_resize(NULL, 1, sizeof *t);
	*t = (struct sql_open_table){ .known = *k };
	*out = &t->base;
	return SQLITE_OK;
}

static int disconnect_table(sqlite3_vtab *table)
{
	free(table);
	return SQLITE_OK;
}

/* Which of the constraints asks for one number; or -1. */
static int asked_number(const sqlite3_index_info *i)
{
	for (int c = 0; c < i->nConstraint; c++)
		if (i->aConstraint[c].usable && i->aConstraint[c].iColumn == 0 &&
		    i->aConstraint[c].op == SQLITE_INDEX_CONSTRAINT_EQ)
			return c;
	return -1;
}

/* Each row is still compared by SQLite itself: we only leave out others. */
static int plan(sqlite3_vtab *vtab, sqlite3_index_info *i)
{
	const struct sql_table *t = ((const struct sql_open_table *)vtab)->known.table;
	int number = t->numbered ? asked_number(i) : -1;
	double rows = t->large ? 1e7 : 1e3;
	if (number >= 0) {
		i->aConstraintUsage[number].argvIndex = 1;
		rows = t->large ? 1e5 : 1;
	}
	i->orderByConsumed = t->numbered && i->nOrderBy == 1 && i->aOrderBy->iColumn == 0 && !i->aOrderBy->desc;
	i->idxNum = number >= 0;
	i->estimatedRows = (sqlite3_int64)rows;
	i->estimatedCost = rows;
	return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out)
{
	const struct table_known *k = &((const struct sql_open_table *)vtab)->known;
	char *error = NULL;
	void *rows = k->table->open(k->world, k->table, &error);
	if (!rows) {
		sqlite3_free(vtab->zErrMsg);
		vtab->zErrMsg = error;
		return SQLITE_ERROR;
	}
	struct table_cursor *c = mem_resize(NULL, 1, sizeof *c);
	*c = (struct table_cursor){ .rows = rows };
	*out = &c->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
	struct table_cursor *c = (struct table_cursor *)cursor;
	table_of(c)->close(c->rows);
	free(c);
	return SQLITE_OK;
}

static int next_row(sqlite3_vtab_cursor *cursor)
{
	struct table_cursor *c = (struct table_cursor *)cursor;
	c->more = table_of(c)->next(c->rows);
	c->row++;
	return SQLITE_OK;
}

/* What is asked for may be no number that a row can have: then SQLite finds that none is equal to it. */
static int filter(sqlite3_vtab_cursor *cursor, int asked, const char *text, int argc, sqlite3_value **argv)
{
	struct table_cursor *c = (struct table_cursor *)cursor;
	int64_t number = SQL_ALL;
	(void)text, (void)argc;
	if (asked && sqlite3_value_type(argv[0]) == SQLITE_INTEGER && sqlite3_value_int64(argv[0]) >= 0)
		number = sqlite3_value_int64(argv[0]);
	table_of(c)->rewind(c->rows, number);
	c->row = -1;
	return next_row(cursor);
}

static int is_behind(sqlite3_vtab_cursor *cursor)
{
	return !((const struct table_cursor *)cursor)->more;
}

static int put_column(sqlite3_vtab_cursor *cursor, sqlite3_context *to, int column)
{
	const struct table_cursor *c = (const struct table_cursor *)cursor;
	table_of(c)->column(c->rows, column, to);
	return SQLITE_OK;
}

static int put_row_number(sqlite3_vtab_cursor *cursor, sqlite3_int64 *row)
{
	*row = ((const struct table_cursor *)cursor)->row;
	return SQLITE_OK;
}

/* Without xCreate tables are there as soon as they are named. */
static const sqlite3_module module = {
	.xConnect = connect_table, .xDisconnect = disconnect_table, .xDestroy = disconnect_table, .xBestIndex = plan,
	.xOpen = open_cursor, .xClose = close_cursor, .xFilter = filter, .xNext = next_row, .xEof = is_behind,
	.xColumn = put_column, .xRowid = put_row_number,
};

int sql_table_add(sqlite3 *to, const char *name, const struct sql_world *world, const struct sql_table *table)
{
	struct table_known *k = mem_resize(NULL, 1, sizeof *k);
	*k = (struct table_known){ world, table };
	return sqlite3_create_module_v2(to, name, &module, k, free);
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* The quotient is exact to some 2^-62 of itself and its double to half a step more: the next double is beyond it. */
static double second(int64_t ticks, double ghz, double towards)
{
	return ticks == 0 ? 0 : nextafter((double)((long double)ticks / ((long double)ghz * 1e9L)), towards);
}

struct interval sql_seconds(const struct sql_world *w, frz_time x)
{
	return (struct interval){ x.lo == INT64_MIN ? -INFINITY : second(x.lo, w->ghz, -INFINITY),
				  x.hi == INT64_MAX ? INFINITY : second(x.hi, w->ghz, INFINITY) };
}

bool sql_is_placed(const struct sql_world *w, uint32_t clock)
{
	return w->times->time_base[clock] == 0;
}

struct interval sql_time(const struct sql_world *w, struct frz_cursor *clock, uint64_t stamp)
{
	return sql_seconds(w, time_apart((frz_time){ w->begin, w->begin }, frz_time_of(clock, stamp)));
}

static void put_end(sqlite3_context *to, double end)
{
	if (isfinite(end))
		sqlite3_result_double(to, end);
	else
		sqlite3_result_null(to);
}

void sql_put_lo(sqlite3_context *to, struct interval x)
{
	put_end(to, x.lo);
}

void sql_put_hi(sqlite3_context *to, struct interval x)
{
	put_end(to, x.hi);
}

void sql_put_text(sqlite3_context *to, const char *text)
{
	if (text)
		sqlite3_result_text(to, text, -1, SQLITE_STATIC);
	else
		sqlite3_result_null(to);
}
