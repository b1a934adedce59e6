/* SPDX-License-Identifier: MIT
 *
 * simulate.h - what the measuring half would have seen of a made-up clock.
 *
 * A host asks the base a few times in quick succession when the run begins and ends, and every 250
 * ms in between; each packet takes 6 us, and an exponential tail of 3 us. Both clocks tick at 1 GHz,
 * but for a rate of the host's own that wanders once up and down over the run. */
#ifndef BENCH_SIMULATE_H
#define BENCH_SIMULATE_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "freezer/link.h"

#define SIM_FLOOR_NS    6000.0
#define SIM_TAIL_NS     3000.0
#define SIM_INTERVAL_NS 250e6
#define SIM_EDGE        100 /* exchanges in a burst at either end, */
#define SIM_BETWEEN     4   /* and in between */
#define SIM_PAUSE_NS    20000.0

struct sim {
	double run_ns, wander; /* wander: as a part of the rate */
	uint64_t random;
	struct frz_link *links; /* 0 is the base, 1 the host */
	size_t nlinks;
};

static inline double sim_draw(struct sim *s) /* splitmix64, in [0, 1) */
{
	uint64_t z = s->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

/* What the host's clock shows. */
static inline uint64_t sim_stamp(const struct sim *s, double ns)
{
	double phase = 2 * M_PI / s->run_ns;

	return (uint64_t)(7e12 + 1.00003 * ns + s->wander * (1 - cos(phase * ns)) / phase);
}

static inline double sim_packet(struct sim *s, double at, int back)
{
	double arrives = at + SIM_FLOOR_NS - SIM_TAIL_NS * log(1 - sim_draw(s));
	uint64_t base = 1000000;

	s->links[s->nlinks++] = back ? (struct frz_link){ 0, 1, base + (uint64_t)at,
							  sim_stamp(s, arrives) }
				     : (struct frz_link){ 1, 0, sim_stamp(s, at),
							  base + (uint64_t)arrives };
	return arrives;
}

static inline void sim_burst(struct sim *s, double at, int exchanges)
{
	for (int i = 0; i < exchanges; i++) {
		at = sim_packet(s, at, 0);
		at = sim_packet(s, at + 100, 1) + SIM_PAUSE_NS;
	}
}

/* 0, or -1 when memory is short. */
static inline int sim_run(struct sim *s)
{
	size_t bursts = (size_t)(s->run_ns / SIM_INTERVAL_NS);

	s->nlinks = 0;
	s->links = malloc((2 * SIM_EDGE + bursts * SIM_BETWEEN) * 2 * sizeof *s->links);
	if (!s->links)
		return -1;
	sim_burst(s, 0, SIM_EDGE);
	for (size_t i = 1; i < bursts; i++)
		sim_burst(s, (double)i * SIM_INTERVAL_NS, SIM_BETWEEN);
	sim_burst(s, s->run_ns, SIM_EDGE);
	return 0;
}

#endif
