/* SPDX-License-Identifier: MIT
 *
 * world.h - hosts with made-up clocks that exchange packets: links with known truth, for the solver.
 *
 * WORLD_FINE true ticks are a nanosecond. Host 0 is the base; it has a made-up clock, too. A run
 * begins and ends with a burst of exchanges along every edge of the topology, and a few more along
 * each are made now and then between.
 *
 * Law: the same wish and dice give the same world; every link is true; and if no kind of clock was
 * asked for that breaks it, the assumption holds, drift with no ppb to spare where all edges end at
 * the base. */
#ifndef TRUTH_WORLD_H
#define TRUTH_WORLD_H

#include "freezer/solve.h"
#include "testsuite/truth/clocks.h"
#include "testsuite/truth/delays.h"

#define WORLD_FINE 1024

enum topology { STAR, TREE, MESH, TOPOLOGIES };
const char *topology_word(enum topology);
enum topology topology_of(const char *word); /* TOPOLOGIES if it is none */

struct world_wish {
	unsigned nhosts;
	enum topology topology;
	unsigned branch;             /* TREE: host h exchanges with (h - 1) / branch */
	enum clock_kind clock;       /* of all hosts, or if it is a broken one, of host `broken`; */
	unsigned broken;             /* the others are then affine */
	enum delay_kind delay;
	double run_ns;               /* between the bursts */
	double floor_ns;             /* of the fastest packet on an edge */
	unsigned first, between, last; /* exchanges along each edge: in the bursts, and now and then */
	unsigned pauses;             /* how often that is */
	enum { WORLD_AFFINE, WORLD_DRIFT } model;
	uint32_t ppb;                /* drift assumed when a clock is broken, else drawn clocks' wander */
	double break_ns, break_at;   /* size, and part of the run */
};

struct world {
	unsigned nhosts;
	struct clockmap *maps;       /* of each host; WORLD_FINE true ticks are 1 ns */
	struct frz_link *links;
	size_t nlinks, room;
	int64_t begin, end;          /* true time of the first burst's end, the last one's begin */
	int64_t first, last;         /* of the first and the last link */
	int64_t burst;               /* how long the longest first burst along an edge took */
	int64_t *slack;              /* of each host: fastest packet there and back, along its edge to
					host 0 or its parent */
	struct frz_assumption assumption;
};

struct world world_draw(struct dice *, const struct world_wish *);
void world_free(struct world *);

/* Between which of its own ticks the links speak of host h's clock: the stamps that it sent, and a tick
 * behind those that it received. False if there are not two. */
bool world_ends(const struct world *, unsigned h, int64_t *first, int64_t *last);

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
