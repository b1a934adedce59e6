/* SPDX-License-Identifier: MIT
 *
 * waits.h - wait states: for how long each thread waited at each place, and for whom.
 *
 * Law: if a wait was ended by what the graph connects it with, then the time for which a thread waited at a place, in
 * all, and the time for which it waited there for another thread, lie in the intervals given for them. What is given
 * for a cause has in its lower bound only waits of which it is known that this thread was the last. Under the same
 * condition delays, as defined below, lie in the intervals given for them; all of them and what is left without a cause
 * are as long as all waiting at places.
 *
 * A thread *waits* from when it begins to (the graph's input of its own, graph.h) until the last of what it waited for
 * has come; what follows until it goes on is transfer, and no waiting. If it asks again and again in vain, that is sure
 * from the first attempt that is recorded, and not between one and the next. It does not wait while it is in a region
 * inside of the operation, such as a handler of a signal, but before and behind that. Who has left a team of OpenMP is
 * idle until the next one begins, in two waits at one place: for the last one to leave, and then for whoever opens the
 * next one. Behind its last team there is only the first of these, which is behind its last event.
 *
 * Who is at a barrier of its team when that is over, and then finds a task there that was made behind it, has waited for
 * whoever came last; for the one that made the task only perhaps, as it was on its way out.
 *
 * Whoever came last *caused* all of that wait, by what that thread had mostly done since it had last waited itself, or
 * come to an operation in which it might have; or by the operation in which it had waited, if that was most of the wait.
 * A lock that was free is no such operation. Nor is a receive whose message was there; of what was done before, between
 * and behind such receives the cause is what was longest while the other one waited. For a lock it is what was done
 * while that was held, if whoever held it has not waited since it took it. (The classes are those of Scalasca's wait
 * states; that a wait ends with its cause is Property 3.11 of the critical-path thesis.)
 *
 * *Delays* are what a wait of thread A goes back to. Its direct cause, thread B, was late: since both synchronised last
 * (of a message, up to its send, also where it went on only with a later call) B had been longer in some places than A,
 * or had waited itself. The cost of the wait is shared out among these excesses and these waits, by how long they were.
 * What falls to a wait of B is added to the cost of that one, and so goes back on, until it comes to places that were
 * longer. What a thread does in an operation counts as the place it was in, but for its waiting. (The delay analysis of
 * D. Boehme, M. Geimer, F. Wolf, L. Arnold: Identifying the root causes of wait states in large-scale parallel
 * applications, ICPP 2010, with its short-term and long-term costs.)
 *
 * They *synchronised last* at the point of both that is the fewest points back, DELAYS_LOOK_BACK at most: a node for
 * which both waited, or one of them until the other one came, who was the last; or where B took what A had posted, such
 * as a message, but for a lock that was free; or where one of them was created by the other (or most likely was); or
 * else at their begins. What is left of the one's operation is behind that. Where A took what B had posted, without
 * waiting for it, B had not waited for A: they had not synchronised.
 *
 * B may have been *late* then: what A had posted was there for so long when B took it, or B began so long behind that.
 * That is shared out among with the excesses. What falls to a begin goes back to nothing. What falls to what was taken
 * goes further back: to what B did up to there since the two had synchronised before that, while A did something else
 * up to where it had posted that; and so on, DELAYS_LOOK_BACK times at most, where nothing is proved any more.
 *
 * Memory: 24 bytes for each input of the graph, 24 for each message that was there and 64 for each wait, in the graph's
 * spill; and the answer. With delays 56 more for each wait, 4 for each point, 12 for each node, 16 for each place in
 * which a thread was between two of its points. */
#ifndef ANALYSIS_WAITS_H
#define ANALYSIS_WAITS_H

#include "analysis/graph/graph.h"

enum wait_kind {
	WAIT_LATE_SENDER, WAIT_LATE_RECEIVER, WAIT_AT_BARRIER, WAIT_AT_NXN, WAIT_LATE_BROADCAST, WAIT_EARLY_REDUCE,
	WAIT_LOCK, WAIT_JOIN, WAIT_CONDITION, WAIT_TASK_STARVATION, WAIT_IMBALANCE, WAIT_KINDS
};

/* At one place, for one thread, or of one place in all. */
struct wait_sum {
	enum wait_kind kind;
	uint32_t thread, site;       /* who waited, and where */
	uint32_t for_thread, did;    /* for whom, and the region or operation that it was in (TR_OUTSIDE);
					UINT32_MAX and TR_NO_SITE: of all */
	frz_time ticks;
	uint64_t count;              /* waits that there may have been */
	bool sure;                   /* of each of them it is known for whom it was */
};

/* Waiting of whatever threads that came of a place of one. */
struct wait_delay {
	uint32_t thread, site;       /* TR_OUTSIDE; of regions of one name the first */
	frz_time ticks;              /* in all: */
	frz_time short_term;         /* of whoever waited for this thread itself, */
	frz_time long_term;          /* and of others, who waited for those */
	bool sure;                   /* of each of these waits it is known for whom it was */
};
#define DELAYS_LOOK_BACK 256

struct waits {
	struct span span;
	struct wait_sum *causes; size_t ncauses; /* the longest first */
	struct wait_sum *places; size_t nplaces; /* likewise */
	struct wait_delay *delays; size_t ndelays; /* likewise */
	frz_time uncaused;           /* waiting that goes back to nothing in the trace */
	bool *lacks;                 /* of each thread: some of those */
	uint64_t unknown;            /* waits of which it is not known what ended them: they are in none of these, nor
					are: */
	uint64_t expired;            /* those that a time ended, perhaps with others behind that: for the lock that it takes
					again */
	struct graph_said said;      /* by the graph */
};

/* All clocks with threads must be on one time base. */
void waits_open(struct waits *, const struct trace *, const struct times *);
void waits_close(struct waits *);

/* Of a graph that is there, without delays or with them; what is wrong with that it has said itself. */
void waits_of_graph(struct waits *, const struct graph *);
void waits_and_delays_of_graph(struct waits *, const struct graph *);

/* "late_sender", and as people say it. */
const char *wait_kind_key(enum wait_kind);
const char *wait_kind_words(enum wait_kind);

#endif
