/* SPDX-License-Identifier: MIT
 *
 * clock_facts.c - rates, widths and packets of each clock, as a table and as JSON. */
#include "analysis/clock_facts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/memory.h"

#define STAMPS_PER_CLOCK 20000 /* about; enough for a median */

/* ---- Widths ---------------------------------------------------------------------------------- */

struct widths { double *ticks; size_t count; };

static void add_width(struct widths *w, struct frz_cursor *times, uint64_t stamp)
{
	frz_time t = frz_time_of(times, stamp);
	*MEM_GROW(w->ticks, w->count) = (double)(t.hi - t.lo);
}

/* Every `step`-th event of a thread, and its last one. */
static void add_widths_of(struct widths *w, const struct times *t, size_t thread, size_t step)
{
	struct frz_cursor times = times_cursor(t, t->trace->threads[thread].clock);
	struct tr_cursor events = trace_events(t->trace, thread);
	struct tr_event e;
	uint64_t last = 0;
	size_t n = 0;
	while (trace_next(&events, &e)) {
		if (e.op == DPROF_LOST)
			continue;
		last = e.stamp;
		if (n++ % step == 0)
			add_width(w, &times, last);
	}
	if (n > 0)
		add_width(w, &times, last);
}

static int by_value(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;
	return (a > b) - (a < b);
}

static double seconds_up(const struct times *t, double ticks)
{
	return times_seconds(t, 0, (frz_time){ 0, (int64_t)ticks }).hi;
}

static void find_widths(struct clock_facts *f, const struct times *t, uint32_t clock)
{
	struct widths w = { NULL, 0 };
	size_t records = 0;
	for (size_t i = 0; i < t->trace->nthreads; i++)
		if (t->trace->threads[i].clock == clock)
			records += t->trace->threads[i].nrecords;
	for (size_t i = 0; i < t->trace->nthreads; i++)
		if (t->trace->threads[i].clock == clock)
			add_widths_of(&w, t, i, 1 + records / STAMPS_PER_CLOCK);
	f->stamps = w.count;
	if (w.count > 0) {
		qsort(w.ticks, w.count, sizeof *w.ticks, by_value);
		f->width_min_s = seconds_up(t, w.ticks[0]);
		f->width_median_s = seconds_up(t, w.ticks[w.count / 2]);
		f->width_max_s = seconds_up(t, w.ticks[w.count - 1]);
	}
	free(w.ticks);
}

/* ---- Packets --------------------------------------------------------------------------------- */

static double middle(struct frz_cursor *times, uint64_t stamp)
{
	frz_time t = frz_time_of(times, stamp);
	return (double)t.lo / 2 + (double)t.hi / 2;
}

/* The packet from one clock to another that seems to have travelled least. */
static const struct frz_link *fastest(const struct times *t, uint32_t from, uint32_t to)
{
	struct frz_cursor sent = times_cursor(t, from), received = times_cursor(t, to);
	const struct frz_link *best = NULL;
	double least = INFINITY;
	for (size_t i = 0; i < t->trace->nlinks; i++) {
		const struct frz_link *l = &t->trace->links[i];
		if (l->from != from || l->to != to)
			continue;
		double travel = middle(&received, l->received) - middle(&sent, l->sent);
		if (travel < least) {
			least = travel;
			best = l;
		}
	}
	return best;
}

/* Signed, and by the rate in both directions. */
static frz_time passed(const struct times *t, uint32_t clock, uint64_t from, uint64_t to)
{
	if (from <= to)
		return times_between(t, (struct moment){ clock, from },
				     (struct moment){ clock, to });
	frz_time back =
		times_between(t, (struct moment){ clock, to }, (struct moment){ clock, from });
	return (frz_time){ -back.hi, -back.lo };
}

/* The sum of both travel times needs no offset between the clocks: it is what passed on the base
 * from the first sending to the last receipt, less what passed on the clock in between. */
static void find_packets(struct clock_facts *f, const struct times *t, uint32_t clock)
{
	const struct frz_link *there = fastest(t, t->base, clock);
	const struct frz_link *back = fastest(t, clock, t->base);
	f->has_packets = there && back;
	if (!f->has_packets)
		return;
	frz_time whole = passed(t, t->base, there->sent, back->received);
	frz_time stay = passed(t, clock, there->received, back->sent);
	frz_time travel = { whole.lo - stay.hi, whole.hi - stay.lo };
	travel.lo = travel.lo > 0 ? travel.lo : 0;
	f->packets_s = times_seconds(t, 0, travel);
}

struct clock_facts clock_facts(const struct times *t, uint32_t clock)
{
	const struct frz_clock *found = frz_clock(t->together, clock);
	struct clock_facts f = { .base = clock == t->base,
				 .placed = t->line[clock] == 0,
				 .links = found->links,
				 .status = found->status,
				 .rate = { 0, INFINITY } };
	if (f.base)
		f.rate = (struct interval){ 1, 1 };
	else if (f.placed)
		f.rate = (struct interval){ found->rate.lo, found->rate.hi };
	if (f.placed)
		find_widths(&f, t, clock);
	if (f.placed && !f.base)
		find_packets(&f, t, clock);
	return f;
}

/* ---- As text and JSON ------------------------------------------------------------------------ */

struct model_name clock_model_name(struct frz_assumption a)
{
	struct model_name name = { "affine" };
	if (a.model == FRZ_DRIFT)
		snprintf(name.text, sizeof name.text, "drift:%g", a.ppb / 1e3);
	return name;
}

static const char *status_word(const struct clock_facts *f)
{
	return f->base ? "base" : f->status == FRZ_PROVEN ? "proven" :
	       f->status == FRZ_UNLINKED ? "unlinked" :
	       f->status == FRZ_CONSISTENT ? "consistent" : "contradiction";
}

static void json_width(struct json *j, const struct clock_facts *f)
{
	struct {
		const char *key;
		double value;
	} widths[] = { { "min", f->width_min_s },
		       { "median", f->width_median_s },
		       { "max", f->width_max_s } };
	jw_object(j, "width_s");
	for (int i = 0; i < 3; i++)
		jw_up(j, widths[i].key, f->stamps ? widths[i].value : INFINITY);
	jw_end(j);
}

static void json_packets(struct json *j, const struct tr_packets *p)
{
	jw_object(j, "packets");
	jw_integer(j, "exchanges", (int64_t)p->exchanges);
	jw_integer(j, "unanswered", (int64_t)p->unanswered);
	jw_integer(j, "forged", (int64_t)p->forged);
	jw_integer(j, "stale", (int64_t)p->stale);
	jw_end(j);
}

/* Only what is out of the ordinary. */
static void print_packets(const struct tr_clock *clock)
{
	const struct tr_packets *p = &clock->packets;
	if (p->unanswered + p->forged + p->stale == 0)
		return;
	printf("  packets at %s: %" PRIu64 " exchanges, %" PRIu64 " unanswered; dropped %" PRIu64
	       " forged, %" PRIu64 " late or repeated\n",
	       clock->host, p->exchanges, p->unanswered, p->forged, p->stale);
}

void clock_facts_json(struct json *j, const char *key, const struct times *t)
{
	jw_array(j, key);
	for (uint32_t c = 0; c < t->trace->nclocks; c++) {
		struct clock_facts f = clock_facts(t, c);
		jw_object(j, NULL);
		jw_string(j, "host", t->trace->clocks[c].host);
		jw_string(j, "status", status_word(&f));
		jw_integer(j, "links", (int64_t)f.links);
		jw_interval(j, "rate", f.rate);
		json_width(j, &f);
		if (f.has_packets)
			jw_interval(j, "fastest_packets_s", f.packets_s);
		json_packets(j, &t->trace->clocks[c].packets);
		jw_end(j);
	}
	jw_end(j);
}

/* "+3.1[2..5] ppm" for a rate that is nearly 1, else the rate itself. */
static void print_rate(struct interval rate)
{
	char text[80];
	struct interval ppm = interval_times((struct interval){ rate.lo - 1, rate.hi - 1 }, 1e6);
	if (rate.lo < 0.99 || rate.hi > 1.01)
		snprintf(text, sizeof text, "rate %s", interval_compact(rate, 12).text);
	else
		snprintf(text, sizeof text, "%s%s ppm", ppm.lo > 0 ? "+" : "",
			 interval_compact(ppm, 6).text);
	printf("  %-25s", text);
}

static void print_us(double seconds)
{
	struct interval us = interval_times((struct interval){ 0, seconds }, 1e6);
	printf(" %8.8s", interval_upper(us.hi, us.hi < 1000 ? 2 : 0).text);
}

void clock_facts_print(const struct times *t)
{
	printf("  %-12s %6s  %-25s %27s\n", "", "", "", "microseconds");
	printf("  %-12s %6s  %-25s %8s %8s %8s\n", "host", "links", "rate - 1", "least", "median",
	       "most");
	for (uint32_t c = 0; c < t->trace->nclocks; c++) {
		struct clock_facts f = clock_facts(t, c);
		if (f.base) {
			printf("  %-12.12s %6s  the base: exact to its tick\n",
			       t->trace->clocks[c].host, "");
			continue;
		}
		printf("  %-12.12s %6zu", t->trace->clocks[c].host, f.links);
		if (!f.placed) {
			printf("  %s: no place on the base's time line\n", status_word(&f));
			continue;
		}
		print_rate(f.rate);
		if (f.stamps) {
			print_us(f.width_min_s);
			print_us(f.width_median_s);
			print_us(f.width_max_s);
		}
		if (f.has_packets)
			printf("\n  %-12s %6s  fastest packet there + back: %s us", "", "",
			       interval_compact(interval_times(f.packets_s, 1e6), 2).text);
		putchar('\n');
	}
	for (size_t c = 0; c < t->trace->nclocks; c++)
		print_packets(&t->trace->clocks[c]);
}
