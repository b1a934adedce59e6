/* SPDX-License-Identifier: MIT
 *
 * master_worker_facts.h - where workers' time went, as facts for rules (rules/facts.clp: master-worker, metric), and as a table.
 *
 * Law: as facts.h. */
#ifndef ANALYSIS_MASTER_WORKER_FACTS_H
#define ANALYSIS_MASTER_WORKER_FACTS_H

#include "analysis/diagnose/facts.h"
#include "analysis/diagnose/master_worker.h"

/* Of one worker, or of all together (thread UINT32_MAX). */
struct metric {
	uint32_t thread;
	const char *name;            /* "init", ...; also "wait", all of that, and "life", all of it */
	frz_time ticks;
	struct interval share, lost; /* in percent of the worker's time, or of all threads'; and of what of it was no task */
};

/* The table, to be freed; how long it is. */
size_t master_worker_metrics(const struct facts *, const struct master_worker *, struct metric **);

void master_worker_tell(const struct facts *, const struct master_worker *, const struct metric *, size_t count, struct expert *);

#endif
