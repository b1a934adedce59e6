/* SPDX-License-Identifier: MIT
 *
 * transfer.h - how long it takes until what was sent has arrived, as far as the trace shows it.
 *
 * What arrives does so at max(begin + own cost o, send + transfer L); of each, both are unknown,
 * and one is tight. Where it is visible which one, it is measured:
 *
 *   L   of what was certainly sent after its receiver had begun to wait: end - send
 *   o   where the wait certainly began later than any such L after sending: end - begin
 *
 * (of a wait for several things: L of the one that was certainly sent last; where a candidate came behind it, nothing
 * is visible). L is taken to lie
 * within the range of what was measured for the same kind of thing (a message, a lock, MPI_Bcast,
 * ...), the same two hosts and size, by powers of two; so is o. Where o was seen seldom, or never, it is taken to
 * be no longer than L or what was seen of it; where no L was seen, both may be anything that is not negative; but what is expected
 * of a wait that was over very soon is that L was no longer than that.
 *
 * Some transfers take long for reasons of their own, so ranges may say of several inputs that they were tight; as they do
 * where none was seen: then expected is that whoever came last was, if that was far behind all others, and what it took
 * behind that stays.
 *
 * Law, of what is proved: if o <= L, and L and o lie in these ranges, transfer_slacks are bounds of the true slacks of
 * an ARRIVAL; without ranges (worst), they always are. Of what was seen seldom only how long it takes at most is taken from there:
 * who was measured may have been off its core. */
#ifndef ANALYSIS_TRANSFER_H
#define ANALYSIS_TRANSFER_H

#include "analysis/base/ids.h"
#include "analysis/coz/savings.h"
#include "analysis/graph/graph.h"

struct transfer_range { frz_time ticks; uint64_t seen; };

struct transfer {
	const struct graph *graph;
	struct frz_cursor *cursors;  /* of each clock */
	struct ids classes;
	struct transfer_range *ranges; size_t nranges; /* of each class */
	bool worst;
	uint64_t visible_transfers, visible_costs;

	const struct graph_node *node; /* that was looked at last: */
	struct timed_moment *inputs, end; /* when its inputs were, and its end; and if it was looked at closer, */
	struct transfer_range *seen; bool closer; /* what was seen of its cost, and then of what its other inputs sent */
	size_t room;                 /* for inputs */
};

void transfer_open(struct transfer *, const struct graph *, bool worst);
void transfer_close(struct transfer *);

/* How long before the end of a node, of any kind, each input was there. */
void transfer_passed(struct transfer *, const struct graph_node *, frz_time *passed);

/* Of each input of an ARRIVAL, which was there `passed` before the end, for the proved answer or the expected one.
 * There a candidate is absent, unless it came last and nothing that was seen of such operations explains how long this
 * one took: then it is what was waited for; or unless sends like this one always meet it. Whether all such transfers were seen, and
 * often enough: then no input but candidates differs in the other answer. */
bool transfer_slacks(struct transfer *, const struct graph_node *, const frz_time *passed, bool proved,
		     struct slack *out);

/* A candidate need not have been waited for here, and then the operation did its own work before it, too. In a run in which it is
 * waited for, all of that may come only behind it. So the node happens no later than so long after a candidate that comes earlier,
 * besides what passed here from it to the end: what the operation had done before the candidate came; or if sends of that size
 * between the same hosts were seen that waited for nobody, what the longest of them took beyond what passed here. Ticks; 0 or
 * more. */
int64_t transfer_lag(struct transfer *, const struct graph_node *, size_t candidate);

/* How long after it was given back a lock is had at most, by the node's thread or by one that waits then: what was seen of locks
 * that were waited for; or where none was, what this one took here, and besides that what it took to wake who waited for a thread's
 * end or a semaphore. Ticks; INT64_MAX: nothing of that was seen. */
int64_t transfer_handed_on(struct transfer *, const struct graph_node *);

#endif
