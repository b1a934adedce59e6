/* SPDX-License-Identifier: MIT
 *
 * calls.h - the profile by call path: in which regions and operations threads were, how often, for how long, and who sent whom
 * how much.
 *
 * A *call path* is what is open when something is entered: regions by their names, operations by their places. All
 * threads share one tree of them, whose root is the whole of a thread, from its first event to its last. What a thread
 * inherits of the one that opened its team is on its path, too. What is deeper than CALLS_DEPTH hangs there: only the
 * innermost is told apart.
 *
 *   visits      enters; none of what is inherited
 *   inclusive   from enter to exit; in the flat list recursion counts once
 *   exclusive   while nothing else was open in it
 *   waited      in operations on the path, for others (graph_activities.h), or for the next team; between attempts perhaps
 *   transfer    what else operations on the path took
 *   uncaused    at most so much of that may be waiting, too: for a lock that was held, or a receive that had not begun,
 *               by somebody who is not in the trace; if records are missing, it is in both
 *   bytes       given by sends and collective operations, where they are begun, and received, where that is complete
 *
 * Law: of each thread, each of these lies in what is said of it, if a wait was ended by what the graph connects it
 * with. Durations are as exact as the thread's clock, but where records are lost or something was left without an exit:
 * that time is possibly anywhere on the thread's paths.
 *
 * Memory: the tree; for each thread what it did in each region and operation; and the graph's spill. */
#ifndef ANALYSIS_CALLS_H
#define ANALYSIS_CALLS_H

#include "analysis/graph/graph.h"

#define CALLS_DEPTH 256

struct call_sums {
	uint64_t visits, bytes;
	frz_time inclusive, exclusive, waited, transfer;
	int64_t uncaused;        /* ticks */
};

struct call_spread {         /* over threads */
	struct call_sums all;
	size_t nthreads;         /* that were in it, ... */
	size_t lossy;            /* of these: records of theirs are lost; */
	int64_t unseen;          /* and others that may have been in it, at most: theirs, or all of theirs, is lost;
				    inclusive times: */
	frz_time least, most;
	uint32_t longest;        /* thread */
};

struct call_node {
	uint32_t parent, site;   /* the first has no parent: CALL_ROOT; of regions of one name the first site; TR_OUTSIDE:
				    the root; TR_NO_SITE: it is not known where the thread was */
	uint32_t depth;
	bool outermost;          /* nothing above it is the same */
	struct call_spread spread;
};
#define CALL_ROOT UINT32_MAX

struct call_flat { uint32_t site; struct call_spread spread; };
struct call_each { uint32_t thread, site; struct call_sums sums; }; /* of one thread */

/* Of an operation: whom all together waited for the longest, and what that one did. */
struct call_cause { uint32_t site, for_thread, did; frz_time ticks; };

struct call_message { uint32_t from, to; uint64_t count, bytes; }; /* processes */

struct call_profile {
	struct span span;
	size_t nthreads, nprocesses; /* with events */
	struct call_node *nodes; size_t nnodes; /* parents first */
	struct call_flat *flat; size_t nflat;   /* the longest exclusive time first */
	struct call_each *each; size_t neach;   /* by site, then thread */
	struct call_cause *causes; size_t ncauses; /* of operations */
	struct call_message *messages; size_t nmessages; /* by sender, then receiver */
	uint64_t unmatched;      /* messages of which the other side is not known: they are not among those */
	struct graph_said said;      /* by the graph */
};

/* All clocks with threads must be on one time base, and nothing left out. */
void calls_open(struct call_profile *, const struct trace *, const struct times *);
void calls_close(struct call_profile *);

/* Of a graph that is there, and its waits, if these are there (else NULL); what is wrong with it the graph has said itself. */
struct waits;
void calls_of_graph(struct call_profile *, const struct graph *, const struct waits *);

/* How much of what the threads together could have done in the time of the longest they did not, in percent. */
struct interval call_imbalance(const struct call_spread *);
/* On average of those that were in it. */
frz_time call_mean(const struct call_spread *);

/* Of each site, what the critical path takes for time there: its exclusive time, and sleeps, input and output, which are of the
 * region or operation that they are in. Outside of those they have their own. To be freed. */
frz_time *calls_own(const struct call_profile *, const struct trace *);

/* NULL: nobody waited there. */
const struct call_cause *call_cause_of(const struct call_profile *, uint32_t site);

#endif
