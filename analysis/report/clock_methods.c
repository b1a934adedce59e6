/* SPDX-License-Identifier: MIT
 *
 * clock_methods.c - a method of others, fitted to each clock, and how far its estimates are from
 * where the truth must be. */
#include "analysis/report/clock_methods.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/shown.h"
#include "analysis/report/meetings.h"
#include "freezer/baseline/baseline.h"

#define STAMPS_PER_CLOCK 10000 /* about; a linear program for each takes a moment */

const struct baseline_method *clock_method(const char *name)
{
	const struct baseline_method *method = baseline_method(name);
	if (method)
		return method;
	fprintf(stderr, "dprof-analyze: --method: expected");
	for (const struct baseline_method *const *m = baseline_methods; *m; m++)
		fprintf(stderr, "%s %s", m == baseline_methods ? "" : m[1] ? "," : " or",
			(*m)->name);
	fprintf(stderr, "; found \"%s\"\n", name);
	return NULL;
}

/* ---- What a method says of a clock ------------------------------------------------------------*/

struct method_facts {
	int error;            /* of the fit */
	double rate;
	size_t stamps;
	double width_min_s, width_median_s, width_max_s; /* of a method that claims bounds */
	bool judged;          /* the clock has proven bounds, too */
	size_t outside;       /* stamps of which the estimate is out of them */
	double furthest_s;    /* out of them */
};

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

static int by_value(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;
	return (a > b) - (a < b);
}

static void find_widths(struct method_facts *f, const struct baseline_time *times, size_t n,
			double ghz)
{
	double *widths = mem_resize(NULL, n, sizeof *widths);
	for (size_t i = 0; i < n; i++)
		widths[i] = (times[i].hi - times[i].lo) / ghz / 1e9;
	qsort(widths, n, sizeof *widths, by_value);
	f->width_min_s = widths[0];
	f->width_median_s = widths[n / 2];
	f->width_max_s = widths[n - 1];
	free(widths);
}

/* Beyond the proven bounds of the stamp, in base ticks. */
static double beyond(const struct baseline *b, double estimate, frz_time proven)
{
	double lo = (double)(proven.lo - (int64_t)b->origin.time);
	double hi = (double)(proven.hi - (int64_t)b->origin.time);
	return fmax(0, fmax(lo - estimate, estimate - hi));
}

static void judge(struct method_facts *f, const struct times *t, uint32_t clock,
		  const struct baseline *b, const uint64_t *stamps,
		  const struct baseline_time *times)
{
	struct frz_cursor proven = times_cursor(t, clock);
	for (size_t i = 0; i < f->stamps; i++) {
		double ticks = beyond(b, times[i].estimate, frz_time_of(&proven, stamps[i]));
		f->outside += ticks > 0;
		f->furthest_s = fmax(f->furthest_s, ticks / t->trace->clocks[t->base].ghz / 1e9);
	}
}

static void convert_all(struct method_facts *f, const struct times *t, uint32_t clock,
			const struct baseline *b)
{
	struct stamps s = stamps_of(t->trace, clock);
	struct baseline_time *times = mem_resize(NULL, s.n + 1, sizeof *times);
	f->stamps = s.n;
	f->judged = t->line[clock] == 0;
	baseline_convert(b, s.v, times, s.n);
	if (b->method->bounds && s.n > 0)
		find_widths(f, times, s.n, t->trace->clocks[t->base].ghz);
	if (f->judged)
		judge(f, t, clock, b, s.v, times);
	free(times);
	free(s.v);
}

static struct method_facts method_facts(const struct times *t, uint32_t clock,
					const struct baseline_method *method)
{
	const struct trace *trace = t->trace;
	const uint32_t clocks[2] = { clock, t->base };
	struct method_facts f = { 0 };
	struct baseline_moment moments[2];
	struct meeting ends[2];
	struct baseline b;
	struct baseline_evidence evidence = {
		.clock = clock, .base = t->base, .links = trace->links, .nlinks = trace->nlinks };

	if (method == &baseline_barriers && meetings_find(ends, trace, clocks)) {
		for (int i = 0; i < 2; i++)
			moments[i] = (struct baseline_moment){ ends[i].stamp[0], ends[i].stamp[1] };
		evidence.barriers = moments;
	}
	f.error = baseline_fit(&b, method, &evidence);
	if (f.error)
		return f;
	f.rate = b.rate;
	convert_all(&f, t, clock, &b);
	baseline_release(&b);
	return f;
}

/* ---- As text and JSON -------------------------------------------------------------------------*/

static const char *what_failed(int error)
{
	return error == -ENODATA ? "too little is known of this clock" :
	       error == -EDOM ? "the links contradict each other" : strerror(-error);
}

static void json_facts(struct json *j, const struct method_facts *f, bool bounds)
{
	if (f->error) {
		jw_string(j, "failed", what_failed(f->error));
		return;
	}
	jw_up(j, "rate", f->rate);
	jw_integer(j, "stamps", (int64_t)f->stamps);
	if (bounds && f->stamps) {
		jw_object(j, "width_s");
		jw_up(j, "min", f->width_min_s);
		jw_up(j, "median", f->width_median_s);
		jw_up(j, "max", f->width_max_s);
		jw_end(j);
	}
	if (f->judged) {
		jw_integer(j, "outside_proven", (int64_t)f->outside);
		jw_up(j, "furthest_outside_s", f->furthest_s);
	}
}

void clock_methods_json(struct json *j, const char *key, const struct times *t,
			const struct baseline_method *method)
{
	jw_array(j, key);
	for (uint32_t c = 0; c < t->trace->nclocks; c++) {
		if (c == t->base)
			continue;
		struct method_facts f = method_facts(t, c, method);
		jw_object(j, NULL);
		jw_string(j, "host", t->trace->clocks[c].host);
		json_facts(j, &f, method->bounds);
		jw_end(j);
	}
	jw_end(j);
}

static void print_facts(const struct method_facts *f, bool bounds)
{
	if (f->error) {
		printf("  %s\n", what_failed(f->error));
		return;
	}
	printf(" %+14.6f ppm", (f->rate - 1) * 1e6);
	if (bounds && f->stamps)
		printf(" %8.2f %8.2f %8.2f", f->width_min_s * 1e6, f->width_median_s * 1e6,
		       f->width_max_s * 1e6);
	else
		printf(" %8s %8s %8s", "-", "-", "-");
	if (f->judged && f->stamps)
		printf(" %6.2f %% %8.2f", 100.0 * (double)f->outside / (double)f->stamps,
		       f->furthest_s * 1e6);
	putchar('\n');
}

void clock_methods_print(const struct times *t, const struct baseline_method *method)
{
	if (t->trace->nclocks < 2) {
		printf("  (one host: there is nothing to compare)\n");
		return;
	}
	printf("  %-12s %18s %26s %17s\n", "", "", "width, microseconds", "outside proven");
	printf("  %-12s %18s %8s %8s %8s %8s %8s\n", "host", "rate - 1", "least", "median", "most",
	       "stamps", "by, us");
	for (uint32_t c = 0; c < t->trace->nclocks; c++) {
		if (c == t->base)
			continue;
		struct method_facts f = method_facts(t, c, method);
		const char *host = t->trace->clocks[c].host;
		printf("  %-*.*s", 12, (int)shown_fit(host, 12), host);
		print_facts(&f, method->bounds);
	}
}
