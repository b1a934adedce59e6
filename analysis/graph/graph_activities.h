/* SPDX-License-Identifier: MIT
 *
 * graph_activities.h - what a thread did, step by step: it worked, or was in an operation, of which so much was
 * waiting.
 *
 *	struct graph_activities a;
 *	graph_activities_open(&a, &graph, thread, &last);
 *	while (graph_activities_next(&a)) {
 *		... a.step.did from a.step.from to a.step.to; then came a.step.event, which closed a.step.closed entries ...
 *		... if (a.step.ended) a.step.operation is over ...
 *	}
 *	graph_activities_close(&a);
 *
 * A step goes from one event of the thread to the next. There the thread
 *
 *   works      in a region, or outside of all: sleep, input and output are its own, too
 *   operates   the innermost of what it is in is an operation in which others take part
 *   idles      it has left a team, and waits for the next one (states.h)
 *   or it is not known: records are lost, or something on its stack may have been left before (trace_jumps.h).
 *
 * An operation is the outermost one. What regions in there take is not a part of it: it is work, or an operation of its
 * own (a signal handler that forks, as its thread waits).
 *
 * Of an operation that had to wait for others (graph.h), what lies behind the last of these is *transfer*, and what
 * lies before that is waiting; of one that had not, all of it is transfer: what the operation itself took. One in which
 * a wait ends before it is over has two parts.
 *
 *   - A wait for a condition variable is over for the graph when the mutex is taken again, in the next call. Of each of
 *     both calls that part is waiting which lies before the last of those for whom it waited; if nobody is known to
 *     have signalled, all of the first may be.
 *   - Attempts in vain (states.h) are waiting, but for what the thread may have done between them, and for what lies behind
 *     the last of those for whom it waited, if that is known; whether they would have gone on as long as they did nobody
 *     knows. Work between the first attempt and the one that succeeds is perhaps waiting, up to there, too.
 *   - Where another one that takes part was in a region inside of the operation, what would be transfer may have been
 *     waiting for that.
 *
 * Law: if a wait was ended by what the graph connects it with, how long an operation took, how much of that was
 * waiting, and how much was transfer, lie in the intervals given for them.
 *
 * All clocks with threads must be on one time base. */
#ifndef ANALYSIS_GRAPH_ACTIVITIES_H
#define ANALYSIS_GRAPH_ACTIVITIES_H

#include "analysis/graph/graph_last.h"

enum graph_did { GRAPH_WORKED, GRAPH_OPERATED, GRAPH_IDLED, GRAPH_DID_UNKNOWN };

struct graph_operation {     /* or a part of one */
	uint32_t site;       /* the outermost; TR_BEFORE: the thread began, and was in none */
	frz_time took, waited, transfer;
	uint32_t node;       /* that ended it, or GRAPH_NO_NODE: it waited for none */
	bool known;          /* what ended it, if it waited; and it was not in vain */
	bool nested;         /* in a region inside of another one */
};

/* Of an operation in which the thread is: it goes on behind those in regions inside of it. */
struct graph_entered {
	size_t operations, regions;
	uint32_t outermost;
	struct stretches part;
	bool in_vain, inside;
	uint64_t between;
};

struct graph_activities {
	const struct graph *graph;
	struct graph_last *last;
	uint32_t thread;
	struct tr_cursor events;
	struct replay replay;    /* after the event */
	struct {
		enum graph_did did;
		uint64_t from, to;   /* stamps; the first step has no length, */
		int64_t perhaps;     /* so much of it, if it worked, may be waiting between attempts */
		uint32_t in;         /* and what it was in then: a region or an operation; or TR_OUTSIDE */
		struct tr_event event; /* without arguments: trace_arguments(&events, ...) */
		uint64_t at;         /* index of it, if it is not inherited */
		size_t closed;       /* entries, which are behind replay.depth until the next step */
		const struct graph_sync_point *points; size_t npoints; /* of it */
		bool ended;
		struct graph_operation operation;
	} step;

	/* Its own */
	size_t sync, wait;       /* the next point, and the next one that waits */
	uint64_t stamp, next_at;
	bool begun, lost, idle, in_team;
	size_t doubted;          /* entries that may have been left before */
	size_t operations;       /* that it is in, of which ... (with all those in regions inside of others: those) */
	size_t regions;          /* ... it is in so many inside of */
	uint32_t outermost;
	struct stretches part;   /* of it since it was entered, or since a wait in it */
	bool in_vain;            /* attempts, and for so many ticks in between it did not ask */
	uint64_t between;
	bool inside;             /* who takes part was in a region inside of it */
	struct graph_entered *around; size_t naround; /* in regions inside of these it is in an operation; outermost first */
};

void graph_activities_open(struct graph_activities *, const struct graph *, uint32_t thread, struct graph_last *);
bool graph_activities_next(struct graph_activities *);
void graph_activities_close(struct graph_activities *);

#endif
