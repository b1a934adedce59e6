/* SPDX-License-Identifier: MIT
 *
 * world.h - hosts with made-up clocks that exchange packets: links with known truth, for the
 * solver.
 *
 * WORLD_FINE true ticks are a nanosecond. Host 0 is the base; it has a made-up clock, too. A run
 * begins and ends with a burst of exchanges along every edge of the topology, each as soon as both
 * of its hosts are free, and a few more along each are made now and then between.
 *
 * Law: the same spec and dice give the same world; every link is true; and if no kind of clock was
 * asked for that breaks it, the assumption holds, with no ppb to spare. */
#ifndef TRUTH_WORLD_H
#define TRUTH_WORLD_H

#include "freezer/solve.h"
#include "freezer/topology.h"
#include "testsuite/truth/clocks.h"
#include "testsuite/truth/delays.h"

#define WORLD_FINE 1024

struct world_spec {
	unsigned nhosts;
	struct frz_topology topology;
	enum clock_kind clock;       /* of all hosts, or if it is a broken one, of host `broken`; */
	unsigned broken;             /* the others are then affine */
	enum delay_kind delay;
	double run_ns;               /* between the bursts */
	double floor_ns;             /* of the fastest packet on an edge */
	unsigned first, between, last; /* exchanges along each edge: at both ends, now and then */
	unsigned pauses;             /* how often that is */
	enum { WORLD_AFFINE, WORLD_DRIFT } model;
	uint32_t ppb; /* drift assumed when a clock is broken, else drawn clocks' wander */
	double break_ns, break_at;   /* size, and part of the run */
};

struct world {
	unsigned nhosts;
	struct clockmap *maps;       /* of each host; WORLD_FINE true ticks are 1 ns */
	struct frz_link *links;
	size_t nlinks, room;
	int64_t begin, end;          /* true time of the first burst's end, the last one's begin */
	int64_t first, last;         /* of the first and the last link, of any host */
	struct linked { /* of each host, likewise; and by its own clock, to a tick behind */
		int64_t first, last, first_stamp, last_stamp;
	} *linked;
	int64_t burst;               /* how long the first bursts took, all together */
	int64_t *slack; /* of each host: fastest packet there and back on its first edge,
			   towards the base */
	struct frz_assumption assumption;
};

struct world world_draw(struct dice *, const struct world_spec *);
void world_free(struct world *);

/* Host h's stamp at a true time; where that lies against a number of base ticks. */
static inline uint64_t world_stamp(const struct world *w, unsigned h, int64_t truth)
{
	return clockmap_stamp(&w->maps[h], truth);
}

static inline bool world_inside(const struct world *w, int64_t truth, frz_time time)
{
	return clockmap_compare(&w->maps[0], truth, time.lo) >= 0 &&
	       clockmap_compare(&w->maps[0], truth, time.hi) <= 0;
}

#endif
