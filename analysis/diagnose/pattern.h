/* SPDX-License-Identifier: MIT
 *
 * pattern.h - what a program's messages look like: which model fits it, and who has which role.
 *
 * A *master* is a process with which all others that have messages exchange these, and nobody else does: at least two of them, each
 * of which sends to it and is answered more than once, as often but for one as it sends. So a tree, in which each pair meets once, is
 * none, nor are neighbours that talk to each other.
 *
 * Law: a model is only said to fit if all messages of the trace have that shape; how many there are is said. */
#ifndef ANALYSIS_PATTERN_H
#define ANALYSIS_PATTERN_H

#include "analysis/calls/calls.h"
#include "analysis/diagnose/events.h"

struct pattern {
	bool master_worker;
	char *why;               /* in words: what the messages look like, or why the model does not fit */
	enum event_role *role_of; /* of each process */
};

void pattern_open(struct pattern *, const struct trace *, const struct call_profile *);
void pattern_close(struct pattern *);

#endif
