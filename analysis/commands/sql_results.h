/* SPDX-License-Identifier: MIT
 *
 * sql_results.h - what the commands find, as tables of SQL: one list for query --sql and for export --to sqlite. */
#ifndef ANALYSIS_SQL_RESULTS_COMMAND_H
#define ANALYSIS_SQL_RESULTS_COMMAND_H

#include "analysis/sql/sql.h"

/* The others must last. */
struct sql_source sql_source_of(struct trace *, const struct times *, const struct options *);

#endif
