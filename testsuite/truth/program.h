/* SPDX-License-Identifier: MIT
 *
 * program.h - random programs whose true times are known, on hosts with made-up clocks.
 *
 * A program is a list of actions (work, regions, barriers, collectives, messages, forks, joins,
 * teams, locks) in an order in which they can happen. program_run goes through the list once and gives
 * every event its true time, in true ticks, of which PROGRAM_FINE make a tick of the base clock:
 * host 0 shows truth / PROGRAM_FINE, rounded down; the others go through a map that is known
 * exactly. What a run on these hosts would have recorded is a trace.
 *
 *	struct program *p = program_draw(seed, &(struct program_spec){ 0 });
 *	struct trace *seen = program_trace(p, PROGRAM_RECORDED);
 *	... every interval computed from `seen` under p->assumption must contain the truth:
 *	... p->threads[t].events[i].truth, in the order of trace_events(seen, t) ...
 *	trace_close(seen);
 *	program_free(p);
 *
 * Law: the same seed and spec give the same program; what happens first has the smaller number:
 * entering a barrier before any leaves, sending before receiving, and so on; the drift of every
 * clock is within p->assumption; and program_run with a cut is what the program would really have
 * done, had its region been faster:
 *
 *  - each stretch between two events of a thread shrinks by the cut while the region is anywhere on its stack, or on
 *    that of the opener of a team that it is in, but for time inside an operation (barrier, coll, send, recv, wait,
 *    fork, join, lock); while it runs a task its stack is that of the task's maker when the task was made, and the
 *    task's own;
 *  - a barrier, or a collective of all to all, is left a fixed cost after the latest entry;
 *  - a receive, or the wait for one, ends a fixed cost after its own entry, or a fixed transfer
 *    after the entry of its send, whichever is later; other operations end a fixed cost after their
 *    entry;
 *  - of a rooted collective or a scan, data that must come is a transfer under way likewise;
 *  - a thread begins a fixed cost after the entry of its fork; a join ends a fixed cost after the
 *    last event of the thread, or after its own entry;
 *  - a thread of a team begins a fixed transfer after the opener opened it, or a fixed cost after it came to wait for
 *    that; and the opener goes on a fixed transfer after the last of them has left, or a fixed cost after itself;
 *  - a lock is got in the order in which threads come to it, a fixed cost after its release, or its own entry: in another run
 *    that may be another order;
 *  - a task begins a fixed cost after its thread has begun to wait, or a fixed transfer after it was made and after all
 *    ended that it depends on (any two of one parent with an address in common, unless both are ins or both inoutsets;
 *    but not on one for which another of these waits); the wait for tasks ends likewise after the last of them, and a
 *    team's barrier a fixed cost after all its threads have come there and ended what they run there. */
#ifndef TRUTH_PROGRAM_H
#define TRUTH_PROGRAM_H

#include <stdio.h>

#include "analysis/trace/trace.h"
#include "testsuite/truth/clocks.h"
#include "testsuite/truth/delays.h"

#define PROGRAM_FINE 65536 /* true ticks in a tick of the base clock */

enum program_may { /* kinds of actions beside work, regions and progress */
	PROGRAM_BARRIERS = 1, PROGRAM_COLLECTIVES = 2, PROGRAM_MESSAGES = 4, PROGRAM_PENDING = 8,
	PROGRAM_THREADS = 16, PROGRAM_LOCKS = 32, PROGRAM_TASKS = 64, PROGRAM_TEAMS = 128, PROGRAM_ALL = 255,
};

struct program_spec {          /* 0: drawn */
	unsigned hosts, ranks; /* drawn: at most 4 and 6 */
	unsigned steps;        /* actions, or some such number; drawn: at most 100 */
	unsigned may;          /* of enum program_may; drawn: PROGRAM_ALL */
	bool affine;           /* all clocks are; otherwise they may wander */
	bool varying;          /* fixed costs and transfers differ from operation to operation;
				  otherwise each pair of hosts has one of each */
	bool unmarked; /* regions are automatic: work outside of them is work, too */
	bool holds; /* MPI holds back some messages whose sends are over, until their senders call it again */
	bool twins; /* all ranks on one host, whose clock is the base: nothing is unknown */
};

enum program_site { /* number of each site in a program's trace */
	PROGRAM_A, PROGRAM_B, PROGRAM_C, PROGRAM_D, /* regions "a" to "d"; a thread may nest them */
	PROGRAM_BARRIER, PROGRAM_ALLREDUCE, PROGRAM_BCAST, PROGRAM_REDUCE, PROGRAM_SCAN,
	PROGRAM_SEND, PROGRAM_RECV, PROGRAM_ISEND, PROGRAM_IRECV, PROGRAM_WAIT,
	PROGRAM_CREATE, PROGRAM_JOIN, PROGRAM_LOCK, PROGRAM_STEP, /* a progress point */
	PROGRAM_MADE, PROGRAM_DEPEND, PROGRAM_TASK, PROGRAM_TASKWAIT, PROGRAM_TEAM, /* its barrier */
	PROGRAM_PARALLEL, PROGRAM_PARALLEL_END, /* a team begins and ends */
	PROGRAM_EPOLL, /* for what is not in the trace: nobody comes there by himself */
	PROGRAM_SITES
};
#define PROGRAM_REGIONS 4
#define PROGRAM_OUTSIDE  (PROGRAM_SITES)     /* to cut: all work outside of regions, */
#define PROGRAM_ALL_WORK (PROGRAM_SITES + 1) /* or all; from each thread's first event on */

struct program_event {
	int64_t truth;
	int64_t freed; /* a receive ends: when MPI let go of the message, which it had held back; 0: it had not */
	enum program_site site;
	enum dprof_op op;
	unsigned nargs;
	struct tr_arg args[5];
};

struct program_thread {
	unsigned host, rank, number; /* in its process */
	struct program_event *events;
	size_t nevents;
};

struct program {
	uint64_t seed;
	unsigned nhosts, nranks;
	struct clockmap *maps;           /* of each host */
	struct program_thread *threads;  /* by rank, then number: the order of the trace */
	size_t nthreads;
	struct frz_assumption assumption; /* it holds, with few ppb to spare */
	struct frz_link *links;          /* packets at the beginning, at the end, and between */
	size_t nlinks;
	int64_t begin, end;              /* true times of the first and the last event */
	bool unmarked, holds;
	struct program_script *script;   /* program.c's own */
};

struct program *program_draw(uint64_t seed, const struct program_spec *);
void program_free(struct program *);

/* What if every stretch of region `site` took `permille` less, on one rank or (-1) on all? `patient`: and MPI then waits
 * wherever it may: who has sent for its receiver, and who takes part in a rooted operation for all others, but nobody
 * until after he was done when it was recorded. `unfair`: a lock is given to any of those who wait for it. */
struct program_cut { unsigned site; int64_t rank, thread; unsigned permille; bool patient, unfair; };

/* Gives each event its true time; NULL: as it was recorded, which is how program_draw leaves it.
 * Links and clocks stay what they are. */
void program_run(struct program *, const struct program_cut *);

enum program_view {
	PROGRAM_RECORDED, /* by each host's own clock, with packets */
	PROGRAM_TRUE,     /* all threads on one clock that shows true ticks, without packets */
};

/* As a text (analysis/text/text.h), and opened; trace_close. Dies when the trace cannot be made. */
void program_text(const struct program *, enum program_view, FILE *);
struct trace *program_trace(const struct program *, enum program_view);

/* Where an event truly lies against a whole number of base ticks: the sign of truth - ticks. */
static inline int program_compare(int64_t truth, int64_t ticks)
{
	__int128 there = (__int128)ticks * PROGRAM_FINE;

	return (truth > there) - (truth < there);
}

#endif
