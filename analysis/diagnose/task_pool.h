/* SPDX-License-Identifier: MIT
 *
 * task_pool.h - how threads that take tasks out of a pool spent the run: each takes a lock, or waits for a condition or a
 * semaphore, and then works in a region, the same for all, again and again.
 *
 * Law: each of the times below lies in its interval, if a wait was ended by what the graph connects it with. Together
 * they are as long as the worker's time, where it is known what it did.
 *
 * A *task* is work in a region right behind such an operation. The region is the one in which most threads have
 * TASK_POOL_LEAST of them or more, of several one that is marked, and of these that with most. These threads are the
 * *workers*, two at least, and of one clock, and each takes or gives something where another one does, too. Most of them
 * begin all of their tasks by taking something, and take once more behind their last one; and none does so before
 * another one ends its last task but one: whoever finds none in a pool ends since there is none. The pool is
 * *open* from when the first of them begins its first task until the last has done its last. Of a worker's time
 *
 *   comp          is work in regions
 *   lock          waiting for locks
 *   starved       other waiting while the pool is open: for a task, if that is what the condition is for
 *   finalization  waiting while the pool is open, when it has done its last task: for the others
 *   seq           waiting before the pool is open, or when it no longer is
 *   comm          what operations take besides, and work outside of regions */
#ifndef ANALYSIS_TASK_POOL_H
#define ANALYSIS_TASK_POOL_H

#include "analysis/diagnose/facts.h"
#include "analysis/diagnose/parts.h"
#include "analysis/graph/graph_last.h"

#define TASK_POOL_LEAST 4

enum task_pool_metric {
	TASK_POOL_COMP, TASK_POOL_LOCK, TASK_POOL_STARVED, TASK_POOL_FINALIZATION, TASK_POOL_SEQ, TASK_POOL_COMM, TASK_POOL_METRICS
};

struct task_pool_worker {
	uint32_t thread;
	uint64_t tasks, first, last; /* stamps: its first task begins, its last one ends */
	frz_time life, wait, metric[TASK_POOL_METRICS];
	frz_time taking;             /* of comm, but for what is behind a longer wait that is not for a lock: whoever
					had to wait may be late to wake */
};

struct task_pool {
	struct task_pool_worker *workers; size_t n;
	uint64_t first, last;        /* stamps: it is open */
	size_t last_worker;
	uint32_t site;               /* in which tasks are done */
	uint64_t tasks;
	frz_time fed;                /* waiting of workers for conditions, which others than workers ended */
	uint32_t feeder, feeds;      /* the one for whom most of that is, and the region in which it was then; UINT32_MAX,
					TR_NO_SITE: nobody */
};

/* Of a part, or of all of the run (NULL). False: it does not fit. */
bool task_pool_open(struct task_pool *, const struct facts *, const struct graph *, struct graph_last *, const struct part *);
void task_pool_close(struct task_pool *);
char *task_pool_why(const struct facts *, const struct task_pool *); /* why it fits; to be freed */

size_t task_pool_metrics(const struct facts *, const struct task_pool *, struct model_metric **);
void task_pool_tell(const struct facts *, const struct task_pool *, const struct model_metric *, size_t count, struct expert *);

#endif
