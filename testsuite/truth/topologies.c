/* SPDX-License-Identifier: MIT
 *
 * topologies.c - what a topology costs and gives, simulated: for many hosts, how long the start
 * burst takes (each pair of hosts as soon as both are free), how wide the bounds are, and how long
 * the solver works.
 *
 *   topologies [--delay KIND] [--model affine|drift] HOSTS...
 *
 * One line a topology and number of hosts, of numbers only after the first two words:
 *   HOSTS TOPOLOGY burst_ms median_width_us widest_us bytes_of_links solve_ms unproven
 *
 * Model: clocks of 0.1 to 10 GHz that follow a walk of 10 ppm (drift) or are affine; packets of at
 * least 5 us; up to 0.2 us until an answer and 0.5 us until the next question; bursts of 256
 * exchanges, and 8 each 250 ms of a run of 2 s. The bounds of every host are asked for at 64
 * moments. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "testsuite/truth/world.h"

#define MOMENTS 64

struct topology_settings { struct world_spec spec; };

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Widths of all placed hosts at all moments, in microseconds; how many. */
static size_t widths(const struct world *w, const struct frz_solution *s, double *us,
		     size_t *unproven)
{
	const struct clockmap_knot *k = w->maps[0].knots;
	double ticks_us = (double)(k[1].own - k[0].own) / (double)(k[1].truth - k[0].truth) *
			  WORLD_FINE * 1e3;
	size_t n = 0;

	for (unsigned h = 1; h < w->nhosts; h++) {
		if (frz_clock(s, h)->status != FRZ_PROVEN) {
			++*unproven;
			continue;
		}
		struct frz_cursor cursor = frz_cursor(s, h);
		for (int i = 0; i < MOMENTS; i++) {
			int64_t truth = w->begin + (w->end - w->begin) / MOMENTS * i;
			frz_time t = frz_time_of(&cursor, world_stamp(w, h, truth));

			if (!world_inside(w, truth, t)) {
				fprintf(stderr, "topologies: host %u: a bound without the truth\n",
					h);
				exit(1);
			}
			us[n++] = (double)(t.hi - t.lo) / ticks_us;
		}
	}
	qsort(us, n, sizeof *us, by_size);
	return n;
}

static void simulate(struct world_spec spec, unsigned nhosts, const char *topology)
{
	struct dice dice = { 1 };
	struct frz_solution *solution;
	size_t unproven = 0;
	double *us = calloc((size_t)nhosts * MOMENTS, sizeof *us);

	if (!us || frz_topology_parse(topology, &spec.topology))
		abort();
	spec.nhosts = nhosts;
	struct world w = world_draw(&dice, &spec);
	double begin = now_ms();

	if (frz_solve(&solution, nhosts, 0, w.links, w.nlinks, w.assumption))
		abort();
	double solved = now_ms();
	size_t n = widths(&w, solution, us, &unproven);

	printf("%u %s %.3g %.4g %.4g %.3g %.3g %zu\n", nhosts, topology,
	       (double)w.burst / WORLD_FINE * 1e-6, n ? us[n / 2] : 0, n ? us[n - 1] : 0,
	       (double)w.nlinks * sizeof *w.links, solved - begin, unproven);
	fflush(stdout);
	frz_solution_free(solution);
	world_free(&w);
	free(us);
}

static const struct argp_option options[] = {
	{ "delay", 'd', "KIND", 0, "symmetric (default), congested, ...", 0 },
	{ "model", 'm', "affine|drift", 0, "clocks and what is assumed of them (drift)", 0 },
	{ 0 },
};

static error_t option(int key, char *text, struct argp_state *state)
{
	static const char *const topologies[] = { "star", "tree:2", "tree:8", "mesh" };
	struct topology_settings *s = state->input;
	unsigned nhosts;

	switch (key) {
	case 'd':
		s->spec.delay = delay_kind_of(text);
		if (s->spec.delay == DELAY_KINDS_COUNT)
			argp_error(state, "--delay: '%s' is no kind of delay", text);
		return 0;
	case 'm':
		s->spec.model = strcmp(text, "affine") == 0 ? WORLD_AFFINE : WORLD_DRIFT;
		s->spec.clock = s->spec.model == WORLD_AFFINE ? CLOCK_AFFINE : CLOCK_WALK;
		return 0;
	case ARGP_KEY_ARG:
		nhosts = (unsigned)atoi(text);
		if (nhosts < 2 || nhosts > 65536)
			argp_error(state, "expected 2 to 65536 hosts, found '%s'", text);
		for (size_t i = 0; i < sizeof topologies / sizeof topologies[0]; i++)
			simulate(s->spec, nhosts, topologies[i]);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

int main(int argc, char **argv)
{
	struct topology_settings s = { .spec = { .clock = CLOCK_WALK,
					.delay = DELAY_SYMMETRIC,
					.run_ns = 2e9,
					.floor_ns = 5000,
					.first = 256,
					.between = 8,
					.last = 256,
					.pauses = 7,
					.model = WORLD_DRIFT,
					.ppb = 10000 } };
	static const struct argp argp = {
		options,
		option,
		"HOSTS...",
		"Simulates the exchange of packets among many hosts in several topologies.",
		NULL,
		NULL,
		NULL
	};

	return argp_parse(&argp, argc, argv, 0, NULL, &s) ? 1 : 0;
}
