/* SPDX-License-Identifier: MIT
 *
 * graph_cancels.h - regions of OpenMP that one thread ends for all, and threads that another one ends. */
#ifndef ANALYSIS_GRAPH_CANCELS_H
#define ANALYSIS_GRAPH_CANCELS_H

#include "analysis/graph/graph_private.h"

/* A thread cancels its team's region, or a loop or sections; or comes to a barrier of its team, and since then could have been told
 * that another had, which would have been `said`. */
struct cancellation { uint64_t group; struct event_ref ref, since; bool cancels, said; };

/* A thread of one's process is cancelled (pthread_cancel); or the number of threads: it is not known which. */
struct thread_cancel { uint32_t thread; struct event_ref ref; };


struct cancel_records {
	struct cancellation *regions; size_t nregions;
	struct thread_cancel *threads; size_t nthreads;
};

void graph_cancellations(struct builder *, struct cancel_records *);
void graph_thread_cancels(struct builder *, struct cancel_records *);

#endif
