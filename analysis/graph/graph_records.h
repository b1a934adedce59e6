/* SPDX-License-Identifier: MIT
 *
 * graph_records.h - what the walks along threads leave, by subject, for the files that make nodes of it: each of these gets what is
 * of its subject, and no other. */
#ifndef ANALYSIS_GRAPH_RECORDS_H
#define ANALYSIS_GRAPH_RECORDS_H

#include "analysis/graph/graph_barriers.h"
#include "analysis/graph/graph_bytes.h"
#include "analysis/graph/graph_cancels.h"
#include "analysis/graph/graph_counters.h"
#include "analysis/graph/graph_ends.h"
#include "analysis/graph/graph_inside.h"
#include "analysis/graph/graph_locks.h"
#include "analysis/graph/graph_messages.h"
#include "analysis/graph/graph_moments.h"
#include "analysis/graph/graph_presumed.h"
#include "analysis/graph/graph_processes.h"
#include "analysis/graph/graph_stops.h"
#include "analysis/graph/graph_tasks.h"

/* What there are as many of as events lies in the spill. */
struct walk_records {
	struct barrier_records barriers;
	struct byte_records bytes;
	struct cancel_records cancels;
	struct flag_records flags;
	struct inside_records inside;
	struct join_records joins;
	struct message_records messages;
	struct moment_records moments;
	struct process_records processes;
	struct sleep_records sleeps;
	struct sync_records sync;
	struct task_records tasks;
	struct counter_records counters;
};

/* Along all threads. */
void graph_walks(struct builder *, struct walk_records *);

#endif
