/* SPDX-License-Identifier: MIT
 *
 * graph_causes.h - whether all that happened has a cause in the trace.
 *
 * What the critical-path thesis demands of instrumentation (section 3.3), of a whole run:
 *
 *   begins       Property 3.9, minimum in-degree: each event but the first ones has an event that came before it and led to it. The
 *                events of a thread follow each other, so this asks who began each thread: all but the first threads of
 *                processes, which may have been started from outside, unless they were forked by one that is recorded.
 *   waits        Property 3.11, wait state termination: each wait that is over was ended by something else than waiting: by
 *                what another thread did, or because a time was over that had been named.
 *   standstills  Property 3.10, communication existence: at no moment do all threads that are there wait while nothing is
 *                under way that will end one of their waits.
 *
 * A thread is there from when another one made it, or else always, up to its end, or its last event if that is not known, or if it
 * was in a wait; what it does before its first event is no waiting. It waits in an operation up to the last event that was waited
 * for (graph_activities.h), and all the way where it is not known what ended it. Where clocks leave open whether all waited at a
 * moment, so does what is said of how long that was.
 *
 * Law: without a wait whose cause is missing there is no standstill. How long all waited lies in its interval, if waits were ended
 * by what the graph connects them with.
 *
 * Memory: a byte for each node of the graph; if the cause of a wait is missing 24 for each begin and end of all waits, in as far as
 * clocks tell, 6 at most, and 16 for each time that all waited; in the graph's spill. */
#ifndef ANALYSIS_GRAPH_CAUSES_H
#define ANALYSIS_GRAPH_CAUSES_H

#include "analysis/graph/graph_order.h"

enum causes_lack {
	CAUSES_BEGIN,        /* nothing says who began the thread */
	CAUSES_WAIT,         /* nothing says what ended the wait */
	CAUSES_CIRCLE,       /* what is said to have ended the wait came behind it: the trace contradicts itself */
	CAUSES_STANDSTILL,   /* all waited, until this wait was over, or this thread began */
	CAUSES_LACKS
};

struct causes_row {          /* of one place */
	enum causes_lack lack;
	uint32_t site;       /* operation; TR_BEFORE: a thread's begin */
	uint64_t count;
	uint32_t thread;     /* whose was the first, ... */
	frz_time first;      /* ... and when it was over: since the first event of the run */
	frz_time ticks;      /* how long, all together: of begins 0 */
};

/* All surely waited, from one time to another: in order, apart. */
struct causes_still { int64_t from, to; };

struct causes {
	struct span span;
	struct causes_row *rows; size_t n; /* by what lacks, the most first */
	uint64_t begins, waits;      /* that were looked at */
	uint64_t missing;            /* of these without a cause */
	frz_time standstill;         /* all waited, all together */
	struct causes_still *still; size_t nstill; /* in the graph's spill */
};

/* All clocks with threads must be on one time base. */
void causes_open(struct causes *, const struct graph *, const struct graph_order *);
void causes_close(struct causes *);

#endif
