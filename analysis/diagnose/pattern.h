/* SPDX-License-Identifier: MIT
 *
 * pattern.h - what a program's messages look like: its shape, and who has which role.
 *
 * Law: a shape is only said if all messages of the trace have it. The first that fits is said:
 *
 *   star    all messages are between one process, the *master*, and others: at least two *workers* (one, where marks
 *           say who is the master), each of which sends to it and is answered more than once, as often but for one as
 *           it sends
 *   chain   each process sends to one other at most, and gets from one other at most: from the *first* to the last of
 *           at least three
 *   tree    who has anything to do with whom is a tree of at least three, and whoever sends to another gets as many
 *           messages back
 *
 * A chain may be a pipeline or a wavefront: messages do not tell, and it is left to others.
 *
 * Marks (`region(NAME) role(master)`, `role(worker)`, `role(task)`) say who is who: of two processes that could be the
 * master it is the one that has been in a region of the master's, or whose other has been in a worker's or a task's.
 * Where stages are marked (`role(stage:K)`), of all who send or receive, a chain may have several processes in one
 * stage, and answers: all messages go from one stage to the next or back, and some to each.
 *
 * Where marks contradict each other or the messages, no shape is said, and `contradiction` names that. Who is in the
 * shape by its messages and not marked, where others are, is named in `why`. */
#ifndef ANALYSIS_PATTERN_H
#define ANALYSIS_PATTERN_H

#include "analysis/calls/calls.h"
#include "analysis/diagnose/events.h"

enum pattern_shape { SHAPE_NONE, SHAPE_STAR, SHAPE_CHAIN, SHAPE_TREE };

struct pattern {
	enum pattern_shape shape;
	char *why;               /* in words: what the messages look like */
	char *no_star;           /* why they are no star */
	bool marked;             /* some process is marked as a master, worker or stage */
	const char *contradiction; /* one of those, if roles say something else; or NULL */
	uint32_t *stage_of;      /* chain: of each process, if stages are marked; or 0 */
	enum event_role *role_of; /* star: of each process */
	uint32_t *order; size_t n; /* chain: processes, the first one first; tree: in any order */
};

void pattern_open(struct pattern *, const struct trace *, const struct call_profile *);
void pattern_close(struct pattern *);

#endif
