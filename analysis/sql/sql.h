/* SPDX-License-Identifier: MIT
 *
 * sql.h - a trace as SQLite sees it: what was recorded (table.h) and what commands find (results.h), for a question, or as a
 * file.
 *
 * Law: a question gets the same answer of the trace as of the file. */
#ifndef ANALYSIS_SQL_H
#define ANALYSIS_SQL_H

#include "analysis/sql/results.h"

struct sql_source {
	struct trace *trace;
	const struct times *times;
	const struct options *options;
	const struct sql_result *results; size_t nresults;
	sql_answer_together *together; /* answers what it can at once, where all is asked for */
};

/* Answers one SELECT: "rows", with the columns that it has. An EXIT_ status, after a message where that is not EXIT_FINE; nothing
 * that is written in the text can change or open a file. */
int sql_ask(const struct sql_source *, const char *text, struct reply *);

/* Writes a new database there. What is not known of the trace has no table: its names, to be freed with the list. NULL, or what
 * went wrong, to be freed. */
struct sql_missing { char **names; size_t n; };
char *sql_write(const struct sql_source *, const char *file, struct sql_missing *);

#endif
