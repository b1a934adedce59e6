/* SPDX-License-Identifier: MIT
 *
 * table.h - tables of a trace for SQLite, which reads them where they are: nothing is imported.
 *
 * A table is what it is called, its columns, and how one goes through its rows. Where the first column is a number by which
 * rows are found (of a thread, a site), the rows come in its order, and who asks for one number reads only those rows.
 *
 * Law: a query sees the rows that go through all of the table gives, in whatever way SQLite asks for them.
 *
 * Times are seconds since the run began, at the earliest; a column ends in _lo or _hi where it is an end of an interval. What is
 * not known, and the time of a clock that nothing relates to the base, is NULL. Unsigned numbers are as their 64 bits are. */
#ifndef ANALYSIS_SQL_TABLE_H
#define ANALYSIS_SQL_TABLE_H

#include <sqlite3.h>
#include <stdbool.h>

#include "analysis/clocks/times.h"

struct sql_world {
	struct trace *trace;
	const struct times *times;
	int64_t begin;           /* of the run, at the earliest; ticks of the base */
	double ghz;              /* of the base */
};

#define SQL_ALL (-1)

struct sql_table {
	const char *name, *columns; /* as CREATE TABLE wants them */
	bool numbered;           /* by its first column, see above */
	bool large;              /* grows with the run */
	void *(*open)(const struct sql_world *, const struct sql_table *, char **error); /* NULL: and why, from sqlite3_mprintf */
	void (*rewind)(void *rows, int64_t number); /* to before the first row of that number, or of SQL_ALL */
	bool (*next)(void *rows);
	void (*column)(const void *rows, int column, sqlite3_context *);
	void (*close)(void *rows);
	void *about;             /* for its own use */
};

/* Makes it known, under this name, to a connection. Both must last as long as that. An SQLite code. */
int sql_table_add(sqlite3 *, const char *name, const struct sql_world *, const struct sql_table *);

/* Ticks of the base; outward by a step of double precision at most. */
struct interval sql_seconds(const struct sql_world *, frz_time);

/* The time of a stamp, since the run began; the cursor is the clock's. False: it has none. */
bool sql_is_placed(const struct sql_world *, uint32_t clock);
struct interval sql_time(const struct sql_world *, struct frz_cursor *, uint64_t stamp);

/* As a value: an infinite end is NULL. */
void sql_put_lo(sqlite3_context *, struct interval);
void sql_put_hi(sqlite3_context *, struct interval);
void sql_put_text(sqlite3_context *, const char *); /* that outlives the trace's use */

extern const struct sql_table sql_threads, sql_sites, sql_events, sql_visits, sql_messages;

#endif
