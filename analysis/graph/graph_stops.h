/* SPDX-License-Identifier: MIT
 *
 * graph_stops.h - threads that work until another one says that they shall stop. */
#ifndef ANALYSIS_GRAPH_STOPS_H
#define ANALYSIS_GRAPH_STOPS_H

#include "analysis/graph/graph_locks.h"

/* Those who look with a lock, of all that concerns it, by time: their looks but the last are in_row then. Returns whether there are
 * any: then it gives out no work. */
bool graph_lock_stops(struct builder *, struct sync_event *t, size_t n);

/* A thread has found another number in memory than was found before, or has set one. */
struct flag_change { uint32_t process; uint64_t object; struct event_ref ref; };
struct flag_records { struct flag_change *v; size_t n; };

/* Those who look at these. */
void graph_flag_stops(struct builder *, struct flag_records *);

#endif
