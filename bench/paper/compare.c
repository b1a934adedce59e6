/* SPDX-License-Identifier: MIT
 *
 * compare TRACE - what the methods of others make of the clocks of a recorded trace, and how far their
 * estimates are from where the truth must be. A comparison: what is printed here is not proven, and not
 * rounded outward.
 *
 * One line for each method and each clock but the base, separated by tabs:
 *
 *   METHOD HOST RATE STAMPS WIDTH_MIN_US WIDTH_MEDIAN_US WIDTH_MAX_US OUTSIDE FURTHEST_US
 *
 * RATE: base ticks for each tick of the clock. STAMPS: of how many events of the trace. WIDTH: of the
 * intervals, "-" of a method that claims none. OUTSIDE: how many estimates are not within dprof's proven
 * bounds (--clock-model drift:10, all links), so are wrong, and FURTHEST by how much at least; "-" where
 * nothing is proven of the clock. METHOD HOST and a word: the method cannot be fitted, and why.
 *
 * Status 1, after a message on stderr: the trace cannot be read, or is damaged. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/clocks/times.h"
#include "bench/paper/methods.h"
#include "bench/paper/shared_barriers.h"

#define STAMPS_PER_CLOCK 10000 /* about; a linear program for each takes a moment */

/* ---- The stamps of a clock --------------------------------------------------------------------*/

struct stamps { uint64_t *v; size_t n; };

/* Every `step`-th event of a thread, and its last one. */
static void add_stamps(struct stamps *s, const struct trace *t, size_t thread, size_t step)
{
	struct tr_cursor events = trace_events(t, thread);
	struct tr_event e;
	uint64_t last = 0;
	size_t n = 0;

	while (trace_next(&events, &e)) {
		if (e.op == DPROF_LOST)
			continue;
		last = e.stamp;
		if (n++ % step == 0)
			*MEM_GROW(s->v, s->n) = last;
	}
	if (n > 0)
		*MEM_GROW(s->v, s->n) = last;
	trace_end(&events);
}

static struct stamps stamps_of(const struct trace *t, uint32_t clock)
{
	struct stamps s = { NULL, 0 };
	size_t records = 0;

	for (size_t i = 0; i < t->nthreads; i++)
		if (t->threads[i].clock == clock)
			records += t->threads[i].nrecords;
	for (size_t i = 0; i < t->nthreads; i++)
		if (t->threads[i].clock == clock)
			add_stamps(&s, t, i, 1 + records / STAMPS_PER_CLOCK);
	return s;
}

/* ---- What a method says of them ---------------------------------------------------------------*/

static int by_value(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

static void print_widths(const struct baseline_time *times, size_t n, double ghz)
{
	double *widths = mem_resize(NULL, n, sizeof *widths);

	for (size_t i = 0; i < n; i++)
		widths[i] = (times[i].hi - times[i].lo) / ghz / 1e3;
	qsort(widths, n, sizeof *widths, by_value);
	printf("\t%.3f\t%.3f\t%.3f", widths[0], widths[n / 2], widths[n - 1]);
	free(widths);
}

/* Beyond the proven bounds of the stamp, in base ticks. */
static double beyond(const struct baseline *b, double estimate, frz_time proven)
{
	double lo = (double)(proven.lo - (int64_t)b->origin.time);
	double hi = (double)(proven.hi - (int64_t)b->origin.time);

	return fmax(0, fmax(lo - estimate, estimate - hi));
}

static void print_outside(const struct times *t, uint32_t clock, const struct baseline *b,
			  const struct stamps *s, const struct baseline_time *times)
{
	struct frz_cursor proven = times_cursor(t, clock);
	double furthest = 0;
	size_t outside = 0;

	for (size_t i = 0; i < s->n; i++) {
		double ticks = beyond(b, times[i].estimate, frz_time_of(&proven, s->v[i]));

		outside += ticks > 0;
		furthest = fmax(furthest, ticks);
	}
	printf("\t%zu\t%.3f", outside, furthest / t->trace->clocks[t->base].ghz / 1e3);
}

static void print_fitted(const struct times *t, uint32_t clock, const struct baseline *b,
			 const struct stamps *s)
{
	struct baseline_time *times = mem_resize(NULL, s->n + 1, sizeof *times);

	baseline_convert(b, s->v, times, s->n);
	printf("\t%.9f\t%zu", b->rate, s->n);
	if (b->method->bounds && s->n)
		print_widths(times, s->n, t->trace->clocks[t->base].ghz);
	else
		fputs("\t-\t-\t-", stdout);
	if (times_proven(t, clock))
		print_outside(t, clock, b, s, times);
	else
		fputs("\t-\t-", stdout);
	free(times);
}

static void compare(const struct times *t, uint32_t clock, const struct method *method,
		    const struct stamps *stamps)
{
	const struct trace *trace = t->trace;
	const uint32_t clocks[2] = { clock, t->base };
	struct baseline_evidence evidence = {
		.clock = clock, .base = t->base, .links = trace->links, .nlinks = trace->nlinks };
	struct baseline_moment moments[2];
	struct shared_barrier ends[2];
	struct baseline b;

	if (method->baseline == &baseline_barriers && shared_barriers(ends, trace, clocks)) {
		for (int i = 0; i < 2; i++)
			moments[i] = (struct baseline_moment){ ends[i].stamp[0], ends[i].stamp[1] };
		evidence.barriers = moments;
	}
	int error = baseline_fit(&b, method->baseline, &evidence);

	printf("%s\t%s", method->name, trace->clocks[clock].host);
	if (error) {
		printf("\t%s\n", method_why(error));
		return;
	}
	print_fitted(t, clock, &b, stamps);
	putchar('\n');
	baseline_release(&b);
}

static void compare_all(const struct times *t)
{
	for (uint32_t c = 0; c < t->trace->nclocks; c++) {
		struct stamps stamps = c == t->base ? (struct stamps){ NULL, 0 } : stamps_of(t->trace, c);

		for (const struct method *m = methods; c != t->base && m->name; m++)
			if (m->baseline)
				compare(t, c, m, &stamps);
		free(stamps.v);
	}
}

int main(int argc, char **argv)
{
	struct options options = { .assumption = { FRZ_DRIFT, 10000 } };
	struct times times;
	char *error;

	if (argc != 2) {
		fputs("usage: compare TRACE\n", stderr);
		return 2;
	}
	struct trace *trace = trace_open(argv[1], &error);

	if (!trace) {
		fprintf(stderr, "compare: %s\n", error);
		free(error);
		return 1;
	}
	int status = times_open(&times, trace, &options);

	if (status == EXIT_FINE) {
		compare_all(&times);
		times_close(&times);
	}
	for (size_t i = 0; i < trace->ndiagnostics; i++)
		fprintf(stderr, "compare: %s\n", trace->diagnostics[i]);
	status = status != EXIT_FINE || trace->ndiagnostics ? 1 : 0;
	trace_close(trace);
	return status;
}
