/* SPDX-License-Identifier: MIT
 *
 * program_parts.h - what program.c (the script, the trace), program_tasks.c and program_teams.c (parts of the script),
 * program_run.c (true times) and program_clocks.c (clocks and packets) share. */
#ifndef TRUTH_PROGRAM_PARTS_H
#define TRUTH_PROGRAM_PARTS_H

#include "testsuite/truth/program.h"

#define MAX_RANKS   64
#define MAX_THREADS (3 * MAX_RANKS)
#define LOCKS       2

enum action_kind {
	WORK, ENTER, LEAVE, POINT, BARRIER, ALLREDUCE, BCAST, REDUCE, SCAN, SEND, RECEIVE, ISEND,
	IRECV, WAIT, FORK, JOIN, LOCK, UNLOCK,
	MAKE,   /* a task `id`, by task `tag`, in group `bytes` */
	COME,   /* a thread waits for tasks, at `site`, of number `tag` */
	BEGIN,  /* there it runs task `id`, which the action `other` made, */
	END,    /* to its end, and waits again, */
	GO,     /* and waits no longer */
	GO_ALL, /* of a team's barrier, all threads of the rank */
	OPEN_TEAM,  /* number `id` of the threads of the rank whose bits are in `tag` */
	CLOSE_TEAM,
};

/* What one thread does, or all main threads together. Times are in true ticks. */
struct action {
	enum action_kind kind;
	size_t thread;
	enum program_site site;      /* ENTER, LEAVE */
	int64_t gap;                 /* from the thread's last event to this one */
	int64_t cost, transfer;      /* see program.h */
	size_t other;                /* RECEIVE, IRECV: the action that sent; WAIT: the one begun;
					FORK, JOIN: the other thread */
	unsigned peer;               /* rank of the other side; root */
	uint64_t tag, bytes, id;     /* id: also the number of a collective or of a lock */
	int64_t gaps[MAX_RANKS];     /* of an operation of all; of a team, by the thread's number */
	struct { unsigned address, how; } depends[2]; /* MAKE; how as in format.h */
	unsigned ndepends;
	size_t *after, nafter;       /* BEGIN, GO: the actions END before it */
};

struct program_script {
	struct action *actions;
	size_t nactions, room;
	size_t main_thread[MAX_RANKS];
	uint64_t ids, collectives, teams[MAX_RANKS];
	uint64_t parallel[MAX_RANKS][8]; /* teams of each set of threads */
};

struct author {                  /* of the script */
	struct dice dice;
	const struct program_spec *spec;
	struct program *p;
	struct program_script *s;
	struct { bool began, ended; uint8_t depth; uint8_t stack[16]; } thread[MAX_THREADS];
	size_t pending[MAX_RANKS];   /* the action that is to be waited for, and 1 */
	bool held[LOCKS];
	unsigned may;
	double longest;              /* stretch between two events, in base ticks */
	int64_t cost[MAX_RANKS][MAX_RANKS], transfer[MAX_RANKS][MAX_RANKS];
};

/* In program.c: one more action; what it costs, from one rank to another. */
struct action *program_add(struct author *, enum action_kind, size_t thread);
void program_set_costs(struct author *, struct action *, unsigned from, unsigned to);
int64_t program_some_stretch(struct author *);

/* Threads of a rank make, run and await tasks. */
void program_tasks(struct author *, unsigned rank);

/* The main thread of a rank opens a team of those that can join one, if any can. */
void program_team(struct author *, unsigned rank);

#define PROGRAM_TEAM_OF(rank) (2 + (rank)) /* the group of all its threads */
#define PROGRAM_PARALLEL_OF(rank, threads) (1000 + 8 * (rank) + (threads)) /* and of the team of those */

/* Draws a clock for each host and packets between them, around a program that has been run. */
void program_make_clocks(struct program *, struct dice *, bool affine);

#endif
