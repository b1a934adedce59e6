/* SPDX-License-Identifier: MIT
 *
 * graph_processes.h - processes that were forked, and those that others waited for. */
#ifndef ANALYSIS_GRAPH_PROCESSES_H
#define ANALYSIS_GRAPH_PROCESSES_H

#include "analysis/graph/graph_ends.h"

/* A process was forked; or waited for, and over. */
struct process_fork { uint64_t pid; struct event_ref ref; uint32_t site; };
struct process_wait {
	uint64_t pid;
	struct event_ref exit;
	struct wait_begin begin;
	uint32_t site;
	uint64_t signal;          /* that has ended it, or 0 */
	bool of_one;              /* and for no other */
	struct event_ref ended;   /* its last event, if known */
	size_t looks, nlooks;     /* just before, it waited for nobody knows what: those of the unknown waits from that one on, from 1 */
};

/* One that may end another process was sent to it, or to any (pid 0). */
struct process_signal { uint64_t pid, signal; struct event_ref ref; };

struct process_records {
	struct process_fork *forks; size_t nforks;
	struct process_wait *waits; size_t nwaits;
	struct process_signal *signals; size_t nsignals;
};

void graph_processes(struct builder *, struct process_records *, const struct join_records *);

#endif
