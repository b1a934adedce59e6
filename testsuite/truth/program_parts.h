/* SPDX-License-Identifier: MIT
 *
 * program_parts.h - what program.c (the script, the trace), program_run.c (true times) and
 * program_clocks.c (clocks and packets) share. */
#ifndef TRUTH_PROGRAM_PARTS_H
#define TRUTH_PROGRAM_PARTS_H

#include "testsuite/truth/program.h"

#define MAX_RANKS   64
#define MAX_THREADS (3 * MAX_RANKS)
#define LOCKS       2

enum action_kind {
	WORK, ENTER, LEAVE, POINT, BARRIER, ALLREDUCE, BCAST, REDUCE, SCAN, SEND, RECEIVE, ISEND,
	IRECV, WAIT, FORK, JOIN, LOCK, UNLOCK,
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
	uint64_t tag, bytes, id;     /* id: also the number of a meeting or of a lock */
	int64_t gaps[MAX_RANKS];     /* of an operation of all */
};

struct program_script {
	struct action *actions;
	size_t nactions, room;
	size_t main_thread[MAX_RANKS];
	uint64_t ids, meetings;
};

/* Draws a clock for each host and packets between them, around a program that has been run. */
void program_make_clocks(struct program *, struct dice *, bool affine);

#endif
