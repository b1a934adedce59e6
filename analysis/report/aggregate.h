/* SPDX-License-Identifier: MIT
 *
 * aggregate.h - the aggregated event view: frames in which no thread changes state, and between
 * them events in unknown order.
 *
 * Events (enters and exits of all threads of a time base) whose times overlap, directly or through
 * others, are merged into one *aggregated event*; its size is how many they are. Between two of
 * them is a frame. Scores and queries do not go this way: events of one clock, whose order is
 * known, are merged here as well (frames.h is tighter). The view shows how finely a run can be
 * resolved with its clocks.
 *
 * Law: at any moment of a frame, whatever the clocks, no thread enters or leaves anything. What was
 * lost may have been an event at any moment from the record before it to the one behind it, and so
 * may be what a thread that was killed did behind its last.
 *
 * Memory grows with the threads, not with the run. */
#ifndef ANALYSIS_AGGREGATE_H
#define ANALYSIS_AGGREGATE_H

#include "analysis/states/frames.h"
#include "analysis/tables/reply.h"

#define AGGREGATE_BINS 64

/* Bin b has the sizes from aggregate_least(b) to aggregate_least(b + 1) - 1: 1, 2, 3..4, 5..8, ...
 * */
static inline uint64_t aggregate_least(unsigned bin)
{
	return bin < 2 ? bin + 1 : (UINT64_C(1) << (bin - 1)) + 1;
}

struct aggregate {
	uint64_t events;          /* all */
	uint64_t aggregated;      /* into so many */
	uint64_t largest;         /* size */
	struct { uint64_t count, events; } bins[AGGREGATE_BINS];
	uint64_t frames;          /* between them, at least a tick long */
	int64_t frame_ticks;      /* how long these are together, at least; inside of the span */
	struct frames longest;    /* of them; `holds` and counts are not used */
};

void aggregate_open(struct aggregate *, const struct times *, uint32_t time_base,
		    const struct span *, size_t most);
void aggregate_close(struct aggregate *);

void aggregate_fill(struct reply *, const struct aggregate *, const struct times *, uint32_t time_base,
		    const struct span *);

#endif
