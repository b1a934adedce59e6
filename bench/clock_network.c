/* SPDX-License-Identifier: MIT
 *
 * clock-network TOPOLOGY CLOCKS LINKS - what it takes to solve a whole network, and how wide its
 * bounds are. One line for each model:
 *
 *   TOPOLOGY CLOCKS MODEL SECONDS MEGABYTES MEDIAN_WIDTH PLACED
 *
 * TOPOLOGY is star, tree:B or mesh, which is a tree:8 in which each clock is also linked with seven
 * others at random. LINKS lie on each edge, half of them each way, over a run of a minute at 1 GHz:
 * packets take 6 us and an exponential tail of 3 us. Clocks are up to 50 ppm off and keep their
 * rate. The width is of the middle of the run, in multiples of the 12 us that one edge leaves open;
 * the megabytes are what the process had at most beyond its links. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "freezer/clock.h"
#include "freezer/solve.h"

#define RUN_NS   60e9
#define FLOOR_NS 6000.0
#define TAIL_NS  3000.0
#define PEERS    7

static struct {
	uint32_t nclocks;
	double *offset, *rate;
	struct frz_link *links;
	size_t nlinks, each;
	uint64_t random;
} net;

static double draw(void) /* splitmix64, in [0, 1) */
{
	uint64_t z = net.random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static uint64_t stamp(uint32_t clock, double ns)
{
	return (uint64_t)(net.offset[clock] + ns * net.rate[clock]);
}

static void add_edge(uint32_t a, uint32_t b)
{
	for (size_t i = 0; i < net.each; i++) {
		double at = RUN_NS * (double)(i / 2) / (double)(net.each / 2);
		double flight = FLOOR_NS - TAIL_NS * log(1 - draw());
		uint32_t from = i % 2 ? b : a, to = i % 2 ? a : b;

		net.links[net.nlinks++] = (struct frz_link){ from, to, stamp(from, at),
							     stamp(to, at + flight) };
	}
}

/* Parents for each clock but the first, as the topology says. */
static void draw_edges(const char *topology)
{
	bool star = !strcmp(topology, "star"), mesh = !strcmp(topology, "mesh");
	uint32_t branching = strncmp(topology, "tree:", 5) ? 8 : (uint32_t)atoi(topology + 5);

	for (uint32_t c = 1; c < net.nclocks; c++)
		add_edge(c, star ? 0 : (c - 1) / branching);
	for (uint32_t c = 0; mesh && c < net.nclocks; c++)
		for (int i = 0; i < PEERS; i++) {
			uint32_t other = (uint32_t)(draw() * net.nclocks);

			if (other != c)
				add_edge(c, other);
		}
}

static int by_value(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static long peak_kb(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

static void run(const char *topology, const char *name, struct frz_assumption assumption)
{
	double *widths = malloc(net.nclocks * sizeof *widths);
	uint64_t start = frz_monotonic_raw_ns();
	long before = peak_kb();
	struct frz_solution *solution;
	size_t placed = 0;

	if (!widths || frz_solve(&solution, net.nclocks, 0, net.links, net.nlinks, assumption))
		exit(1);
	double seconds = (double)(frz_monotonic_raw_ns() - start) / 1e9;

	for (uint32_t c = 1; c < net.nclocks; c++) {
		if (frz_clock(solution, c)->status != FRZ_PROVEN)
			continue;
		struct frz_cursor cursor = frz_cursor(solution, c);
		frz_time t = frz_time_of(&cursor, stamp(c, RUN_NS / 2));

		widths[placed++] = (double)(t.hi - t.lo) / (2 * FLOOR_NS);
	}
	qsort(widths, placed, sizeof *widths, by_value);
	printf("%s %" PRIu32 " %s %.2f %ld %.2f %zu\n", topology, net.nclocks, name, seconds,
	       (peak_kb() - before) / 1024, placed ? widths[placed / 2] : NAN, placed + 1);
	frz_solution_free(solution);
	free(widths);
}

int main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr, "usage: clock-network star|tree:B|mesh CLOCKS LINKS\n");
		return 2;
	}
	net.nclocks = (uint32_t)atoi(argv[2]);
	net.each = (size_t)atoi(argv[3]);
	net.offset = malloc(net.nclocks * sizeof *net.offset);
	net.rate = malloc(net.nclocks * sizeof *net.rate);
	net.links = malloc((PEERS + 1) * net.nclocks * net.each * sizeof *net.links);
	if (!net.offset || !net.rate || !net.links)
		return 1;
	for (uint32_t c = 0; c < net.nclocks; c++) {
		net.offset[c] = draw() * 1e12;
		net.rate[c] = c ? 1 + (draw() - 0.5) * 1e-4 : 1;
	}
	draw_edges(argv[1]);
	/* The smaller first: the peak never falls. */
	run(argv[1], "affine", (struct frz_assumption){ .model = FRZ_AFFINE });
	run(argv[1], "drift:10", (struct frz_assumption){ FRZ_DRIFT, 10000 });
	free(net.offset);
	free(net.rate);
	free(net.links);
	return 0;
}
