/* SPDX-License-Identifier: MIT
 *
 * results.h - what commands say, as tables: the data of their replies (analysis/tables/reply.h), looked up by key.
 *
 * A table's rows are those of one table of a reply, "regions/curve" of one within another, each with the values of the
 * rows around it where it has none of its own; "" is the reply itself, in one row. Columns are named by keys:
 * "seconds~" is an interval, with an _lo and an _hi in SQL, "host$" a text, all others numbers; caused_by.rank becomes
 * caused_by_rank.
 *
 * A command runs when a table of its own is asked for, once for all of them; or before, with others whose work it shares.
 *
 * Law: a row has each value that the reply gives under its keys, and NULL for what is absent there. */
#ifndef ANALYSIS_SQL_RESULTS_H
#define ANALYSIS_SQL_RESULTS_H

#include "analysis/sql/table.h"
#include "analysis/tables/reply.h"

struct sql_result {
	const char *name;        /* of the table */
	const char *command;     /* as the user calls it */
	int (*run)(struct trace *, const struct options *, struct reply *); /* returns an EXIT_ status */
	const char *path;        /* of the reply's table */
	const char *keys;        /* with blanks between them */
};

/* Those that a connection knows; options and world must last. */
struct sql_results;
struct sql_results *sql_results_open(const struct sql_result *, size_t count, const struct sql_world *, const struct options *);
void sql_results_close(struct sql_results *);

/* Answers of several commands, each a reply that is begun and ended. */
struct sql_together { struct reply *(*begin)(void *to, const char *command); void (*end)(void *to); void *to; };
typedef void sql_answer_together(struct trace *, const struct times *, const struct options *, const struct sql_together *);
void sql_results_run(struct sql_results *, sql_answer_together *);

size_t sql_results_count(const struct sql_results *);
const struct sql_table *sql_results_table(const struct sql_results *, size_t); /* in the order that was given */

#endif
