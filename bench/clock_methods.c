/* SPDX-License-Identifier: MIT
 *
 * clock-methods HOST.sync CLOCK - what it costs to convert stamps, and how well it is done, by
 * every method and by dprof, on packets that were really measured. One line each:
 *
 *   NAME FIT_US STAMPS NS_PER_STAMP WIDTH_FIRST_US WIDTH_MIDDLE_US WIDTH_LAST_US
 *
 * Widths are those at the first link, in the middle and at the last, "-" without bounds, and in
 * nominal microseconds of this host. Stamps go through the run in order of time. What is timed is
 * the loop that a program would run: one value for each stamp, or two, kept in a sum. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/baseline/baseline.h"
#include "freezer/clock.h"
#include "freezer/solve.h"
#include "freezer/synclog.h"

#define STAMPS     10000000
#define LP_STAMPS  10000
#define BATCH      1000

struct links { struct frz_link *at; size_t n; uint32_t base; };

struct methods_run { uint64_t first, last; }; /* of the clock */

static volatile double kept; /* so that no loop is for nothing */

static struct links read_links(const char *path)
{
	struct links links = { 0 };
	struct frz_damage damage = { 0 };
	struct frz_sync_record record;
	struct frz_syncfile file;
	int found = frz_syncfile_open(&file, path, &damage);

	if (found) {
		fprintf(stderr, "clock-methods: %s: %s\n", path, damage.what);
		exit(1);
	}
	links.base = file.clock;
	while ((found = frz_syncfile_next(&file, &record, &damage)) == 1) {
		links.at = realloc(links.at, (links.n + 2) * sizeof *links.at);
		if (!links.at)
			exit(1);
		links.n += frz_sync_links(&record, links.at + links.n);
	}
	frz_syncfile_close(&file);
	return links;
}

static struct methods_run run_of(const struct links *links, uint32_t clock)
{
	struct methods_run run = { UINT64_MAX, 0 };

	for (const struct frz_link *l = links->at; l < links->at + links->n; l++) {
		uint64_t s = l->from == clock ? l->sent : l->received;

		if (l->from != clock && l->to != clock)
			continue;
		run.first = s < run.first ? s : run.first;
		run.last = s > run.last ? s : run.last;
	}
	return run;
}

static void report(const char *name, double fit_ns, size_t stamps, double ns,
		   const double widths[3])
{
	printf("%-12s %10.1f %9zu %10.3f", name, fit_ns / 1e3, stamps, ns / (double)stamps);
	for (int i = 0; i < 3; i++)
		if (isfinite(widths[i]))
			printf(" %8.3f", widths[i] / frz_ghz() / 1e3);
		else
			printf(" %8s", "-");
	putchar('\n');
}

/* ---- Methods of others ------------------------------------------------------------------------*/

/* The fastest that a line in doubles can be. */
static double time_line(const struct baseline *b, struct methods_run run, size_t n)
{
	uint64_t step = (run.last - run.first) / n, start = frz_monotonic_raw_ns();
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += baseline_on_line(b, run.first + i * step);
	kept = sum;
	return (double)(frz_monotonic_raw_ns() - start);
}

static double time_batches(const struct baseline *b, struct methods_run run, size_t n)
{
	uint64_t step = (run.last - run.first) / n, start = frz_monotonic_raw_ns();
	struct baseline_time times[BATCH];
	uint64_t stamps[BATCH];

	for (size_t i = 0; i < n; i += BATCH) {
		for (size_t k = 0; k < BATCH; k++)
			stamps[k] = run.first + (i + k) * step;
		baseline_convert(b, stamps, times, BATCH);
		kept = times[0].lo + times[BATCH - 1].hi;
	}
	return (double)(frz_monotonic_raw_ns() - start);
}

static void run_method(const struct baseline_method *method, const struct baseline_evidence *e,
		       struct methods_run run)
{
	uint64_t start = frz_monotonic_raw_ns(), at[3];
	struct baseline_time times[3];
	double widths[3], fit_ns, ns;
	struct baseline b;

	if (baseline_fit(&b, method, e) != 0) {
		printf("%-12s cannot be fitted\n", method->name);
		return;
	}
	fit_ns = (double)(frz_monotonic_raw_ns() - start);
	size_t n = method == &baseline_lp ? LP_STAMPS : STAMPS;

	ns = method->bounds ? time_batches(&b, run, n) : time_line(&b, run, n);
	for (uint64_t i = 0; i < 3; i++)
		at[i] = run.first + (run.last - run.first) / 2 * i;
	baseline_convert(&b, at, times, 3);
	for (int i = 0; i < 3; i++)
		widths[i] = times[i].hi - times[i].lo;
	report(method->name, fit_ns, n, ns, widths);
	baseline_release(&b);
}

/* ---- dprof ------------------------------------------------------------------------------------*/

static double time_sweep(struct frz_cursor cursor, struct methods_run run, size_t n)
{
	uint64_t step = (run.last - run.first) / n, start = frz_monotonic_raw_ns();
	int64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		frz_time time = frz_time_of(&cursor, run.first + i * step);

		sum += time.lo ^ time.hi;
	}
	kept = (double)sum;
	return (double)(frz_monotonic_raw_ns() - start);
}

static void run_dprof(const char *name, struct frz_assumption assumption,
		      const struct baseline_evidence *e, struct methods_run run)
{
	uint64_t start = frz_monotonic_raw_ns();
	uint32_t nclocks = (e->clock > e->base ? e->clock : e->base) + 1;
	struct frz_solution *solution;
	double widths[3], fit_ns;

	if (frz_solve(&solution, nclocks, e->base, e->links, e->nlinks, assumption) != 0)
		exit(1);
	fit_ns = (double)(frz_monotonic_raw_ns() - start);
	if (frz_clock(solution, e->clock)->status == FRZ_PROVEN) {
		struct frz_cursor cursor = frz_cursor(solution, e->clock);

		for (uint64_t i = 0; i < 3; i++) {
			frz_time t = frz_time_of(&cursor,
						 run.first + (run.last - run.first) / 2 * i);

			widths[i] = (double)(t.hi - t.lo);
		}
		report(name, fit_ns, STAMPS, time_sweep(cursor, run, STAMPS), widths);
	} else {
		printf("%-12s cannot be fitted\n", name);
	}
	frz_solution_free(solution);
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: clock-methods HOST.sync CLOCK\n");
		return 2;
	}
	struct links links = read_links(argv[1]);
	uint32_t clock = (uint32_t)strtoul(argv[2], NULL, 10);
	struct baseline_evidence e = { clock, links.base, links.at, links.n, NULL };
	struct methods_run run = run_of(&links, clock);

	if (run.first >= run.last || clock == links.base) {
		fprintf(stderr, "clock-methods: %s: expected links of clock %s with clock %" PRIu32
			", found none\n", argv[1], argv[2], links.base);
		return 1;
	}
	for (const struct baseline_method *const *m = baseline_methods; *m; m++)
		run_method(*m, &e, run);
	run_dprof("dprof", (struct frz_assumption){ .model = FRZ_AFFINE }, &e, run);
	run_dprof("dprof-drift", (struct frz_assumption){ FRZ_DRIFT, 10000 }, &e, run);
	free(links.at);
	return 0;
}
