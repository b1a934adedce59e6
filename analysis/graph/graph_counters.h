/* SPDX-License-Identifier: MIT
 *
 * graph_counters.h - work that ranks or threads share out by a counter. */
#ifndef ANALYSIS_GRAPH_COUNTERS_H
#define ANALYSIS_GRAPH_COUNTERS_H

#include "analysis/graph/graph_private.h"

/* Ranks count at a place of a window, or threads at an atomic number: a take of whatever has that value there, or ARG_NONE: it
 * is not known. */
struct counter_take { uint64_t id, value; struct take take; };

/* A thread has claimed something at an address, or found that another had; take.left: what it did because of that was over. */
struct claimed_take { uint32_t process; uint64_t object; struct take take; };

struct counter_records { struct counter_take *v; size_t n; struct claimed_take *claims; size_t nclaims; };

void graph_recorded_counters(struct builder *, struct counter_records *);
void graph_claims(struct builder *, struct counter_records *);

/* Behind all that gives out work where that is recorded. */
void graph_counters(struct builder *);

#endif
