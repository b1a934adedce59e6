/* SPDX-License-Identifier: MIT
 *
 * causes_table.h - whether all that happened has a cause in the trace (graph_causes.h), and where not. */
#ifndef ANALYSIS_CAUSES_TABLE_H
#define ANALYSIS_CAUSES_TABLE_H

#include "analysis/graph/graph_causes.h"
#include "analysis/tables/reply.h"

struct causes_table {
	const struct trace *trace;
	const struct times *times;
	const char *why;         /* nothing is known of causes, half a sentence; or NULL */
	uint32_t time_base;
	struct causes causes;
};

/* A trace that contradicts itself in what led to what has a diagnostic more. */
void causes_table_open(struct causes_table *, struct trace *, const struct times *);
void causes_table_close(struct causes_table *);

void causes_table_fill(struct reply *, const struct causes_table *); /* "causes" */
void causes_table_say(struct reply *, const struct causes_table *);  /* on the page, a row for each place that lacks some */

#endif
