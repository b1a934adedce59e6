/* SPDX-License-Identifier: MIT
 *
 * moments.h - one moment for each event, for formats that know no intervals.
 *
 * Each is within the event's bounds, moments of a thread never go back, and nothing comes before what it needs: no message is
 * received before it was sent, nobody leaves a barrier before the last one has entered, no thread begins before it was made.
 *
 * Such moments always exist: those at which it happened. They are found so: the middle of each interval, if that keeps
 * all this (it does as a rule, for clocks are known by these very messages). Else the earliest that are possible: an
 * event's lower bound, or the moment of what it needs or has had in this run, whichever is later. Along any chain of
 * needs that is no later than what really happened, and so not above the upper bound.
 *
 * Law: as it says, or `kept` is false: no such moments were found. That may be where bounds are only consistent; and
 * where they are true, if events of one thread have the same stamp, and so one moment, with one between them on another
 * thread (of a thousand random programs in one).
 *
 * All clocks with threads must be on one time base. Memory: the graph's, and nothing in the first case. */
#ifndef ANALYSIS_EXPORT_MOMENTS_H
#define ANALYSIS_EXPORT_MOMENTS_H

#include "analysis/clocks/times.h"

struct moved { uint64_t stamp; int64_t at; }; /* from here on no earlier */
struct moves { struct moved *v; size_t n; };  /* of a thread, by stamp: each is later than the one before it */

struct moments {
	const struct trace *trace;
	const struct times *times;
	int64_t begin;               /* of the run, at the earliest; ticks of the base: moments are since then */
	double ghz;                  /* of the base */
	bool middle, kept;
	struct moves *moved;         /* of each thread; NULL: none is */
};

/* Whether all clocks with threads are on one time base. */
bool moments_possible(const struct trace *, const struct times *);

/* Only the begin and the unit: of the clocks on the base's time base. */
struct moments moments_unit(const struct trace *, const struct times *);

void moments_open(struct moments *, const struct trace *, const struct times *);
void moments_close(struct moments *);

/* Along a thread. */
struct moments_cursor {
	const struct moments *of;
	struct frz_cursor clock;
	uint32_t thread;
	size_t next;                 /* of what is moved */
	int64_t last;
};
struct moments_cursor moments_of(const struct moments *, uint32_t thread);

/* Stamps in order: the moment, and in *bounds the interval, since the begin. */
int64_t moments_at(struct moments_cursor *, uint64_t stamp, frz_time *bounds);

/* The same of stamps in any order; slower where something is moved. */
int64_t moments_at_any(struct moments_cursor *, uint64_t stamp, frz_time *bounds);

/* All matches of the trace; to be closed. */
struct match_walk *moments_matches(const struct moments *);

#endif
