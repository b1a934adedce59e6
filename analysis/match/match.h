/* SPDX-License-Identifier: MIT
 *
 * match.h - which operations of different threads belong together: messages, collective operations, threads.
 *
 * The matcher is given the events of all threads, one at a time, and gives back what they settle:
 * which send a receive took its message from, who took part in which collective operation, which event
 * made a thread begin. It compares no stamps of different clocks, so it needs no times and can
 * serve those who compute them. Events of one thread must come in the order of recording, and those of
 * the threads of one rank in the order of their stamps; beyond that any order will do.
 *
 * Law: what is given as a match is certain from what format.h says of operations. In particular
 *
 *  - The n-th message from rank s to rank d in one group with one tag is taken by the n-th begun of
 *    the receives that took such a message. A receive from any source or with any tag keeps its
 *    place among all of its rank and group, and counts where its "done" says; until then those
 *    begun behind it that could concern the same messages wait.
 *  - That order is not certain among sends to the same stream in which threads of a rank are at the
 *    same time: these and as many receives give no matches. Nor is it when they are at the same time in
 *    receives that may take from it; when records of either rank were lost or
 *    damaged, or have no site; when one of them failed; when an id is begun again before its operation
 *    was completed (it was cancelled or freed, and may have taken a message or not). From there on that stream,
 *    or all streams of that rank, give no matches.
 *  - Members of a collective named the same group and number at the same kind of operation; if their
 *    operations have not the same name, its flow is FLOW_NOWHERE; likewise if not one of them is its root.
 *
 * A receive whose "done" names DPROF_PEER_NONE took no message: it counts as never begun.
 *
 * A visit to an operation that its thread left for a task does not count, nor does one to the join of a
 * team when it is followed by another. Who leaves a barrier for a task when another has left it for
 * good has a part that is never done (MATCH_NEVER): it goes on from that task, and not from the barrier.
 *
 * A non-blocking operation is completed by its "done", or by the EXIT of a wait that names its id
 * (an unsuccessful test must not name it); a blocking receive by its "done", or else by its EXIT.
 *
 * Memory: what is under way, and what was never completed by the other side. */
#ifndef ANALYSIS_MATCH_H
#define ANALYSIS_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/trace.h"

enum match_kind {
	MATCH_MESSAGE,  /* parts: sender, receiver */
	MATCH_COLLECTIVE, /* parts: all who took part, in the order in which they entered */
	MATCH_CREATED,  /* parts: who forked; the new thread at its first event */
	MATCH_JOINED,   /* parts: the thread that ended, at its last event; who waited for that */
	MATCH_SENT,     /* a send that one thread began and another one completed; one part */
	MATCH_UNTAKEN,  /* only when all events were given: a send of which no receive is known, */
	MATCH_UNSENT,   /* and a completed receive of which no send is known; one part */
};

/* One side. Ordinals count the events that trace_next gives for the thread, from 0. */
struct match_part {
	uint32_t thread;        /* of the trace */
	uint32_t done_in;       /* the thread that completed it: another one may, of what only began */
	uint32_t site;          /* of the call */
	size_t enter_at;        /* ordinal of its ENTER; of the event itself in CREATED, JOINED */
	size_t done_at;         /* ordinal of what completed it, in that thread; MATCH_NEVER, and for a sender */
	uint64_t enter, done;   /* their stamps */
	uint64_t bytes;         /* MATCH_NO_BYTES when it does not say */
	bool root;
};
#define MATCH_NEVER    SIZE_MAX
#define MATCH_NO_BYTES UINT64_MAX

struct match {
	enum match_kind kind;
	enum flow flow;         /* of a collective */
	bool arrival;           /* of a collective: who gives no bytes is waited for all the same */
	uint64_t group;         /* id; of messages and collectives */
	uint64_t number;        /* tag of a message, seq of a collective */
	bool begun;             /* a collective that parts enter without waiting, and wait for later */
	bool of_any, of_tags;   /* a message that was received from any source, with any tag */
	bool by_chance;         /* a collective of fewer than come to it: those who came first */
	bool unlike;            /* a collective that is not the same operation for all, or has not one root */
	bool all_came;          /* of a collective: all who should have taken part entered, */
	bool complete;          /* and left */
	size_t nparts;
	const struct match_part *parts; /* until the next call */
};

/* Whether it is a collective operation of several that none of them leaves before all have come. */
static inline bool match_synchronises(const struct match *m)
{
	return m->kind == MATCH_COLLECTIVE && m->flow == FLOW_ALL && m->complete && !m->begun && !m->by_chance && m->nparts > 1;
}

struct match_tally {
	uint64_t messages, collectives, incomplete, untaken, unsent;
	uint64_t doubtful;      /* sends and receives not matched for lack of a certain order */
};

struct matcher;

/* Stamps of one clock tell the order of threads only when they differ by more than `slack`. */
uint64_t match_slack(const struct trace *); /* of any host: what stamps of two threads may be off by */
struct matcher *match_open(const struct trace *, uint64_t slack);
void match_close(struct matcher *);

/* Takes the next event of a thread. */
void match_take(struct matcher *, uint32_t thread, const struct tr_event *);

/* An event that is none of what is wanted: it is counted, and says how far its rank's clock has come. */
void match_skip(struct matcher *, uint32_t thread, const struct tr_event *);

/* Of each site whether its events matter. Behind a thread's first event those of others may be told of by their number
 * alone. */
const bool *match_concerned(const struct matcher *);
void match_pass(struct matcher *, uint32_t thread, struct tr_passed);

/* Takes event i of these columns and the one behind it at once, as match_take() takes one after the other: the enter and
 * the exit of a call that sends or receives one message of a stream that is named, when nothing is open or in doubt
 * there. False: it is not such a call, and nothing was taken. */
bool match_take_call(struct matcher *, uint32_t thread, const struct tr_columns *, size_t i);

/* When event i is to be taken, among those of other threads: the enter of a receive that may be taken with its exit when
 * that is, as it settles nothing before. */
uint64_t match_call_stamp(const struct matcher *, uint32_t thread, const struct tr_columns *, size_t i);

/* Says that there are no more events: collectives that lack members follow, and what found no
 * other side. */
void match_finish(struct matcher *);

/* The next of what is settled. Call it until it says false after each match_take. */
bool match_found(struct matcher *, struct match *);
const struct match_tally *match_tally(const struct matcher *);

/* ---- Matches that are wanted more than once ----------------------------------------------------
 *
 * The first walk to the end, with a log, keeps there what it finds, in a spill; the next ones give the same matches
 * again, in the same order, without looking at events. The trace and the slack must be the same, and one walk at a time. */
struct match_log;
struct match_log *match_log_open(void);
void match_log_close(struct match_log *); /* or NULL */
bool match_log_is_full(const struct match_log *); /* or NULL, which never is */

/* ---- All matches of a trace, in an order that keeps little under way ---------------------------
 *
 * Threads are walked side by side, each clock's stamps from its first event to its last as if
 * they were the same stretch of time: a guess that only memory depends on. The log may be NULL. */
struct match_walk;
struct match_walk *match_walk_open(const struct trace *, uint64_t slack, struct match_log *);

/* Likewise, for all analyses of a trace: those that a log has, if it is full; of any other one, or NULL, anew. */
struct match_walk *match_walk_again(const struct trace *, struct match_log *);

/* Likewise, but without collective operations of groups whose threads are all on one clock. */
struct match_walk *match_walk_open_between(const struct trace *, uint64_t slack);

/* Likewise, and each event is taken by itself: what tests hold the others against. */
struct match_walk *match_walk_open_by_events(const struct trace *, uint64_t slack);
bool match_walk_next(struct match_walk *, struct match *);
const struct match_tally *match_walk_tally(const struct match_walk *);
void match_walk_close(struct match_walk *);

#endif
