/* SPDX-License-Identifier: MIT
 *
 * clock_facts.c - rates, widths and packets of each clock. */
#include "analysis/report/clock_facts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"
#include "analysis/base/shown.h"

#define STAMPS_PER_CLOCK 20000 /* about; enough for a median */

/* ---- Widths ---------------------------------------------------------------------------------- */

static struct tr_sample sample_clock(const struct trace *t, uint32_t clock)
{
	struct tr_sample s = { NULL, 0 };
	size_t records = 0;
	for (size_t i = 0; i < t->nthreads; i++)
		records += t->threads[i].clock == clock ? t->threads[i].nrecords : 0;
	for (size_t i = 0; i < t->nthreads; i++)
		if (t->threads[i].clock == clock)
			trace_sample(t, i, 1 + records / STAMPS_PER_CLOCK, &s);
	return s;
}

static double seconds_up(const struct times *t, double ticks)
{
	return times_seconds(t, 0, (frz_time){ 0, (int64_t)ticks }).hi;
}

/* In ticks, of the stamps of a clock as a solution converts them. To be freed. */
static double *widths_of(const struct tr_sample *s, const struct frz_solution *solution, uint32_t clock)
{
	struct frz_cursor cursor = frz_cursor(solution, clock);
	frz_time *times = mem_resize(NULL, s->count, sizeof *times);
	double *ticks = mem_resize(NULL, s->count, sizeof *ticks);
	frz_times_of(&cursor, s->stamp, s->count, times);
	for (size_t i = 0; i < s->count; i++)
		ticks[i] = (double)times[i].hi - (double)times[i].lo;
	free(times);
	return ticks;
}

static void find_widths(struct widths *found, const struct times *t, uint32_t clock, const struct tr_sample *s,
			const struct frz_solution *solution)
{
	double *ticks = widths_of(s, solution, clock);
	if (s->count > 0) {
		qsort(ticks, s->count, sizeof *ticks, order_doubles);
		*found = (struct widths){ seconds_up(t, ticks[0]), seconds_up(t, ticks[s->count / 2]),
					  seconds_up(t, ticks[s->count - 1]) };
	}
	free(ticks);
}

double clock_widest_s(const struct times *t, uint32_t clock)
{
	if (t->time_base[clock] != 0)
		return 0;
	struct tr_sample s = sample_clock(t->trace, clock);
	double *ticks = widths_of(&s, t->together, clock), most = 0;
	for (size_t i = 0; i < s.count; i++)
		most = ticks[i] > most ? ticks[i] : most;
	free(ticks);
	free(s.stamp);
	return most > 0 ? seconds_up(t, most) : 0;
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
bool clock_packets_s(const struct times *t, uint32_t clock, struct interval *s)
{
	const struct frz_link *there = fastest(t, t->base, clock);
	const struct frz_link *back = fastest(t, clock, t->base);
	if (!there || !back)
		return false;
	frz_time whole = passed(t, t->base, there->sent, back->received);
	frz_time stay = passed(t, clock, there->received, back->sent);
	frz_time travel = { whole.lo - stay.hi, whole.hi - stay.lo };
	travel.lo = travel.lo > 0 ? travel.lo : 0;
	*s = times_seconds(t, 0, travel);
	return true;
}

static size_t count_links(const struct frz_link *links, size_t n, uint32_t clock)
{
	size_t count = 0;
	for (size_t i = 0; i < n; i++)
		count += links[i].from == clock || links[i].to == clock;
	return count;
}

static void find_all_widths(struct clock_facts *f, const struct times *t, uint32_t clock)
{
	struct tr_sample s = sample_clock(t->trace, clock);
	f->stamps = s.count;
	find_widths(&f->widths, t, clock, &s, t->together);
	f->by_both = !f->base && t->program_used && f->stamps &&
		     frz_placed(frz_clock(t->packets, clock));
	if (f->by_both)
		find_widths(&f->by_packets, t, clock, &s, t->packets);
	free(s.stamp);
}

struct clock_facts clock_facts(const struct times *t, uint32_t clock)
{
	const struct frz_clock *found = frz_clock(t->together, clock);
	const struct tr_clock *self = &t->trace->clocks[clock];
	struct clock_facts f = {
		.base = clock == t->base,
		.placed = t->time_base[clock] == 0,
		.proven = times_proven(t, clock),
		.links = found->links,
		.packets = count_links(t->trace->links, t->trace->nlinks, clock),
		.program = t->program.of_clock ? t->program.of_clock[clock] : 0,
		.hops = found->hops,
		.status = found->status,
		.rate = { 0, INFINITY },
		.uncertainty_s = interval_seconds((frz_time){ 0, (int64_t)self->uncertainty },
						  self->ghz).hi,
		.sent = self->packets,
	};
	if (f.base)
		f.rate = (struct interval){ 1, 1 };
	else if (f.placed)
		f.rate = (struct interval){ found->rate.lo, found->rate.hi };
	if (f.placed)
		find_all_widths(&f, t, clock);
	f.has_packets = f.placed && !f.base && clock_packets_s(t, clock, &f.packets_s);
	return f;
}

/* ---- The reply ------------------------------------------------------------------------------- */

struct model_name clock_model_name(struct frz_assumption a)
{
	struct model_name name = { "affine" };
	if (a.model == FRZ_DRIFT)
		snprintf(name.text, sizeof name.text, "drift:%g", a.ppb / 1e3);
	return name;
}

static const char *status_word(const struct clock_facts *f)
{
	return f->base ? "base" : f->placed ? (f->proven ? "proven" : "consistent") :
	       f->status == FRZ_UNLINKED ? "unlinked" : "contradiction";
}

const char *clock_bounds_word(const struct times *t)
{
	return times_all_proven(t) ? "proven" : "consistent";
}

void clock_bounds_say(struct reply *r, const struct times *t)
{
	if (!times_all_proven(t))
		reply_say(r, SAY_TEXT, "These bounds are consistent with what is known, but not proven: "
				       "the links between clocks contradict what is assumed of them.");
}

struct rate_text { char text[80]; };

/* "+3.1[2..5] ppm" for a rate that is nearly 1, else the rate itself. */
static struct rate_text rate_text(const struct reply *r, const struct clock_facts *f)
{
	struct rate_text t = { "exact to its tick" };
	struct interval ppm = interval_times((struct interval){ f->rate.lo - 1, f->rate.hi - 1 }, 1e6);
	if (!f->placed)
		return (struct rate_text){ "no place on the base's time line" };
	if (f->base)
		return t;
	if (f->rate.lo < 0.99 || f->rate.hi > 1.01)
		snprintf(t.text, sizeof t.text, "rate %s", reply_interval(r, f->rate, 12).text);
	else
		snprintf(t.text, sizeof t.text, "%s%s ppm", ppm.lo > 0 ? "+" : "", reply_interval(r, ppm, 6).text);
	return t;
}

static struct interval_text us_text(double seconds)
{
	struct interval us = interval_times((struct interval){ 0, seconds }, 1e6);
	return interval_upper(us.hi, us.hi < 1000 ? 2 : 0);
}

void clock_widths_say(struct reply *r, const struct times *t, const char *more)
{
	double most = 0;
	for (uint32_t c = 0; c < t->trace->nclocks; c++)
		most = fmax(most, clock_widest_s(t, c));
	if (t->trace->nclocks < 2)
		reply_say(r, SAY_TEXT, "One host, one clock: no clock error. %s", more);
	else if (isfinite(most))
		reply_say(r, SAY_TEXT, "Clocks known to %s us. %s", us_text(most).text, more);
	else
		reply_say(r, SAY_TEXT, "The clocks of some hosts could not be related. %s", more);
}

static void say_evidence(struct reply *r, const struct clock_facts *f, bool program_used)
{
	reply_say(r, SAY_DETAIL, "%zu links by packets, %zu by the program%s; %" PRIu32 " hop%s", f->packets, f->program,
		  f->program && !program_used ? " (not used)" : "", f->hops, f->hops == 1 ? "" : "s");
	if (f->by_both)
		reply_say(r, SAY_DETAIL, "width by packets alone: %s median, %s most",
			  us_text(f->by_packets.median_s).text, us_text(f->by_packets.max_s).text);
	if (f->has_packets)
		reply_say(r, SAY_DETAIL, "fastest packet round trip: %s us",
			  reply_interval(r, interval_times(f->packets_s, 1e6), 2).text);
}

static void say_host(struct reply *r, const struct clock_facts *f, const struct tr_clock *self)
{
	if (f->sent.unanswered + f->sent.forged + f->sent.stale > 0)
		reply_say(r, SAY_DETAIL,
			  "%" PRIu64 " exchanges, %" PRIu64 " unanswered; dropped %" PRIu64 " forged, %" PRIu64
			  " late or repeated",
			  f->sent.exchanges, f->sent.unanswered, f->sent.forged, f->sent.stale);
	if (self->uncertainty)
		reply_say(r, SAY_DETAIL, "cores agree to +-%s us, included", us_text(f->uncertainty_s).text);
	if (strcmp(self->source, "tsc") != 0)
		reply_say(r, SAY_DETAIL, "its clock is %s", self->source);
}

static const struct tab_column clock_columns[] = {
	TAB_KEY("host"), TAB_SHOWN(NULL, "host", 12), TAB_KEY("source"), TAB_SHOWN("status", "bounds", 13),
	TAB_KEY("links"), TAB_KEY("packet_links"), TAB_KEY("program_links"), TAB_KEY("hops"),
	TAB_KEY("packets.exchanges"), TAB_KEY("packets.unanswered"), TAB_KEY("packets.forged"), TAB_KEY("packets.stale"),
	TAB_KEY("rate"), TAB_SHOWN(NULL, "clock rate error", 23),
	TAB_KEY("width_s.min"), TAB_KEY("width_s.median"), TAB_KEY("width_s.max"),
	TAB_SHOWN(NULL, "least", -8), TAB_SHOWN(NULL, "median", -8), TAB_SHOWN(NULL, "most", -8),
	TAB_KEY("width_by_packets_s.min"), TAB_KEY("width_by_packets_s.median"), TAB_KEY("width_by_packets_s.max"),
	TAB_KEY("fastest_packets_s"), TAB_KEY("cores_half_width_s"), TAB_KEY("cores_compared"), { 0 } };

/* In seconds; in microseconds for the page, or nothing there. */
#define IN_SECONDS(w, any) (any) ? tab_upper((w).min_s) : TAB_NONE, (any) ? tab_upper((w).median_s) : TAB_NONE, \
			   (any) ? tab_upper((w).max_s) : TAB_NONE
#define SHOWN_US(s) f->stamps && f->placed && !f->base ? tab_text(us_text(s).text) : TAB_NONE

static void add_row(struct reply *r, const struct clock_facts *f, const struct tr_clock *self)
{
	char host[13];
	struct widths none = { INFINITY, INFINITY, INFINITY }, w = f->stamps ? f->widths : none;
	snprintf(host, sizeof host, "%.*s", (int)shown_fit(self->host, 12), self->host);
	reply_row(r, tab_text(self->host), tab_text(host), tab_text(self->source), tab_text(status_word(f)),
		  tab_count(f->links), tab_count(f->packets), tab_count(f->program), tab_count(f->hops),
		  tab_count(f->sent.exchanges), tab_count(f->sent.unanswered), tab_count(f->sent.forged),
		  tab_count(f->sent.stale), tab_interval(f->rate), tab_text(rate_text(r, f).text), IN_SECONDS(w, true),
		  SHOWN_US(w.min_s), SHOWN_US(w.median_s), SHOWN_US(w.max_s), IN_SECONDS(f->by_packets, f->by_both),
		  f->has_packets ? tab_interval(f->packets_s) : TAB_NONE, tab_upper(f->uncertainty_s), tab_flag(self->compared));
}

void clock_facts_fill(struct reply *r, const struct times *t)
{
	reply_say(r, SAY_LINE, "%80s", "width, microseconds");
	reply_table(r, "clocks", clock_columns, SIZE_MAX);
	for (uint32_t c = 0; c < t->trace->nclocks; c++) {
		const struct tr_clock *self = &t->trace->clocks[c];
		struct clock_facts f = clock_facts(t, c);
		add_row(r, &f, self);
		if (!f.base)
			say_evidence(r, &f, t->program_used);
		say_host(r, &f, self);
	}
	reply_end(r);
}
