/* SPDX-License-Identifier: MIT
 *
 * graph_ends.h - ends of threads, of teams and of the run. */
#ifndef ANALYSIS_GRAPH_ENDS_H
#define ANALYSIS_GRAPH_ENDS_H

#include "analysis/graph/graph_private.h"

/* A wait for a thread's end: which is this one, or at = NO_EVENT. */
struct thread_join { struct event_ref enter, exit, ended; struct wait_begin begin; uint32_t thread, site; };

struct join_records { struct thread_join *v; size_t n; };

void graph_joins(struct builder *, struct join_records *);
void graph_team_ends(struct builder *); /* members that ended with their team */
void graph_end(struct builder *, const struct join_records *); /* of the run */

#endif
