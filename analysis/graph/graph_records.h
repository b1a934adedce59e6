/* SPDX-License-Identifier: MIT
 *
 * graph_records.h - what the walks along threads leave, by subject, for the files that make nodes of it: each of these gets what is of its
 * subject, and no other. */
#ifndef ANALYSIS_GRAPH_RECORDS_H
#define ANALYSIS_GRAPH_RECORDS_H

#include "analysis/graph/graph_tasks.h"

/* What there are as many of as events lies in the spill. */
struct walk_records {
	struct task_records tasks;
};

/* Along all threads. */
void graph_walks(struct builder *, struct walk_records *);

#endif
