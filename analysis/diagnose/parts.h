/* SPDX-License-Identifier: MIT
 *
 * parts.h - a program whose messages have no one shape, in parts that have: phases of its time, and groups of its
 * processes.
 *
 * Law: each message of the trace is in one part, and no time of a thread is in two.
 *
 * A *phase* ends where no message is under way and all processes come together that send or receive messages at all, or
 * come together with some others: in a collective operation that none leaves before all have come. A phase goes on with
 * the next one if that has messages between the same processes, or if neither has any. If these are more than
 * PARTS_MOST, one that is the same as another no more than PARTS_LOOP before goes on with that and all between: what a
 * loop does in turn is one phase.
 *
 * A *group* are processes that have messages for each other in a phase, and for none else; or without messages come
 * together with each other (if they do so with all, BSP_LEAST - 1 times at least). A *part* is a group in a phase: its
 * messages, and the marks that its processes come by then, have a pattern (pattern.h) of their own.
 *
 * With more than PARTS_MOST of them, or more than PARTS_ENDS places where all come together, none are given. */
#ifndef ANALYSIS_PARTS_H
#define ANALYSIS_PARTS_H

#include "analysis/diagnose/pattern.h"
#include "analysis/diagnose/steps.h"

#define PARTS_MOST 8
#define PARTS_LOOP 8
#define PARTS_ENDS 65536

struct part {
	struct call_profile calls;       /* that of the run, but for: */
	struct call_message *messages; size_t nmessages; /* those of the part, */
	struct call_each *each; size_t neach; /* and of sites with roles, in which its processes were then */
	uint32_t *processes; size_t n;
	struct steps_window *windows;    /* of each thread */
	struct pattern pattern;
	frz_time begins, length;         /* since the run's begin; from when its first process begins until its last one ends */
};

struct parts {
	struct part *v; size_t n;
	uint32_t *part_of;           /* of each row (tr_row) that is a region's: the part, from 1 on, in which all are that ever
					are in it; or another number */
};

bool part_has(const struct part *, uint32_t process);

void parts_open(struct parts *, const struct graph *, const struct call_profile *);
void parts_close(struct parts *);

#endif
