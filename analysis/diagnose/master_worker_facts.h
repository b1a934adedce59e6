/* SPDX-License-Identifier: MIT
 *
 * master_worker_facts.h - where workers' time went, as facts for rules (rules/facts.clp: master-worker, metric), and as a table.
 *
 * Law: as facts.h. */
#ifndef ANALYSIS_MASTER_WORKER_FACTS_H
#define ANALYSIS_MASTER_WORKER_FACTS_H

#include "analysis/diagnose/facts.h"
#include "analysis/diagnose/master_worker.h"
#include "analysis/diagnose/phase.h"

/* The table, of each worker and of all together, to be freed; how long it is. Work are tasks. */
size_t master_worker_metrics(const struct facts *, const struct master_worker *, struct model_metric **);

void master_worker_tell(const struct facts *, const struct master_worker *, const struct phase *, const struct model_metric *,
			size_t count, struct expert *);

#endif
