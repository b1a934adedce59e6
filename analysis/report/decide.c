/* SPDX-License-Identifier: MIT
 *
 * decide.c - see decide.h. */
#include "analysis/report/decide.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/clocks/rerun.h"
#include "analysis/report/clock_facts.h"

#define HALVINGS 6   /* of how well clocks are known: better than that nobody gets */
#define ENOUGH   0.9 /* of the verdicts that clocks decide */

struct search {
	const struct times *times;
	struct options options;
	decide_count *count;
	double least_s;        /* intervals that are shorter are not tried */
};

/* In seconds; 0 of the base, which is known, and where there is nothing to know. */
static double width_of(const struct times *t, uint32_t clock)
{
	return clock != t->base ? clock_widest_s(t, clock) : 0;
}

/* How well the clock that is known worst is known. */
static double known_to(const struct times *t)
{
	double most = 0;
	for (uint32_t c = 0; c < t->trace->nclocks; c++)
		most = fmax(most, width_of(t, c));
	return most;
}

/* Whether there is anything to know: what was recorded on another clock than the base is known to a tick at best. */
static bool any_width(const struct times *t)
{
	for (size_t i = 0; i < t->trace->nthreads; i++) {
		const struct tr_thread *self = &t->trace->threads[i];
		uint64_t first, last;
		if (self->clock != t->base && t->time_base[self->clock] == 0 && trace_ends(self, &first, &last))
			return true;
	}
	return false;
}

/* Whether clocks exchanged any packets with the base; and the fastest one to the clock to which that took longest. */
static bool find_packets(const struct times *t, struct interval *slowest)
{
	struct interval s;
	bool any = false;
	for (uint32_t c = 0; c < t->trace->nclocks; c++)
		if (width_of(t, c) > 0 && clock_packets_s(t, c, &s)) {
			*slowest = any && slowest->hi > s.hi ? *slowest : s;
			any = true;
		}
	return any;
}

/* How well another run would know its clocks; and how many verdicts would be undecided then, if that is to be counted. */
struct tried { double known_s; size_t undecided; };
static struct tried try_run(const struct search *s, struct rerun how, bool counts)
{
	struct trace *copy = rerun_open(s->times, how);
	struct tried tried = { INFINITY, SIZE_MAX };
	struct times times;
	if (times_open(&times, copy, &s->options) == EXIT_FINE) {
		tried.known_s = times_all_proven(&times) ? known_to(&times) : INFINITY;
		if (counts)
			tried.undecided = s->count(copy, &times, &s->options);
		times_close(&times);
	}
	rerun_close(copy);
	return tried;
}

static struct rerun halved(const struct decide *d, int times)
{
	return (struct rerun){ .width_s = ldexp(d->known_s, -times) };
}

static size_t decided_then(const struct decide *d, struct tried then)
{
	return d->undecided > then.undecided ? d->undecided - then.undecided : 0;
}

/* How well clocks must be known, if what is known is halved as seldom as will do. */
static double find_needed(const struct search *s, struct decide *d)
{
	struct tried needed = try_run(s, halved(d, HALVINGS), true);
	int lo = 1, hi = HALVINGS;
	d->by_clocks = decided_then(d, needed);
	while (d->by_clocks > 0 && lo < hi) {
		int mid = (lo + hi) / 2;
		struct tried tried = try_run(s, halved(d, mid), true);
		if ((double)decided_then(d, tried) >= ENOUGH * (double)d->by_clocks) {
			hi = mid;
			needed = tried;
		} else {
			lo = mid + 1;
		}
	}
	return needed.known_s;
}

static const int tries_ms[] = { 125, 60, 30, 15, 8, 5 };
#define TRIES    (sizeof tries_ms / sizeof *tries_ms)
#define AS_GOOD  1.1 /* times as wide is as good */

/* How many of the intervals are tried: of those for which packets would be too many, they are the same. */
static size_t tried(const struct search *s)
{
	size_t n = 1;
	while (n < TRIES && tries_ms[n - 1] / 1e3 >= s->least_s)
		n++;
	return n;
}

/* The longest interval with which clocks are known well enough, or else nearly as well as with any; 0: with none better
 * than now. */
static double find_interval(const struct search *s, const struct decide *d)
{
	double now = rerun_interval_s(s->times), known[TRIES], best = d->known_s;
	size_t i = 0, n = tried(s);
	for (; i < n && best > d->needed_s; i++) {
		double interval = tries_ms[i] / 1e3;
		known[i] = now > 0 && interval > now * 0.9 ? INFINITY : try_run(s, (struct rerun){ .interval_s = interval }, false).known_s;
		best = known[i] < best ? known[i] : best;
	}
	double enough = best < d->needed_s ? d->needed_s : best * AS_GOOD;
	for (size_t k = 0; k < i && best < d->known_s; k++)
		if (known[k] <= enough)
			return tries_ms[k] / 1e3;
	return 0;
}

static void advise(const struct search *s, struct decide *d)
{
	double interval = find_interval(s, d);
	d->by_interval = interval > 0 ? decided_then(d, try_run(s, (struct rerun){ .interval_s = interval }, true)) : 0;
	d->interval_s = d->by_interval ? interval : 0;
	d->too_long = tries_ms[TRIES - 1] / 1e3 < s->least_s;
}

struct decide decide_find(const struct times *t, const struct options *options, size_t undecided, decide_count *count)
{
	struct search s = { t, *options, count, rerun_least_s(t) };
	s.options.of_run = &t->program;
	struct decide d = { 0 };
	bool clocks = t->trace->nclocks > 1 && times_all_proven(t);
	if (!undecided || !clocks || !any_width(t))
		return d;
	d.undecided = undecided;
	d.known = trace_records(t->trace) <= DECIDE_RECORDS || options->verbose;
	if (!d.known)
		return d;
	d.known_s = known_to(t);
	d.any_packets = find_packets(t, &d.packets_s);
	d.needed_s = find_needed(&s, &d);
	d.larger = isfinite(d.needed_s) && d.needed_s > 0 ? (unsigned)ceil(d.known_s / d.needed_s) : 0;
	if (d.by_clocks > 0 && d.any_packets)
		advise(&s, &d);
	return d;
}

/* ---- The reply ------------------------------------------------------------------------------- */

static struct interval_text us(double seconds)
{
	return interval_upper(seconds * 1e6, seconds < 1e-5 ? 1 : 0);
}

static void say_needed(struct reply *r, const struct decide *d)
{
	char *some = mem_format("%zu of them", d->by_clocks);
	const char *which = d->undecided == 1 ? "it" : d->by_clocks == d->undecided ? "them" : some;
	reply_say(r, SAY_TEXT, "%zu verdict%s undecided: clocks are known to %s us, %s would decide %s.", d->undecided,
		  d->undecided > 1 ? "s are" : " is", us(d->known_s).text, us(d->needed_s).text, which);
	free(some);
}

static void say(struct reply *r, const struct decide *d)
{
	reply_gap(r);
	if (d->by_clocks == 0) {
		reply_say(r, SAY_TEXT, "%zu verdict%s undecided%s.", d->undecided, d->undecided > 1 ? "s are" : " is",
			  isfinite(d->needed_s) ? ", which no better clocks would decide" :
						  "; whether better clocks would decide any is not known");
		return;
	}
	if (d->larger == 0) {
		reply_say(r, SAY_TEXT, "%zu verdict%s undecided; clocks that are known much better may decide %zu.", d->undecided,
			  d->undecided > 1 ? "s are" : " is", d->by_clocks);
		return;
	}
	say_needed(r, d);
	if (d->interval_s > 0)
		reply_say(r, SAY_ADVICE, "Run it with DPROF_SYNC_INTERVAL=%.0fms: that most likely decides %zu.",
			  d->interval_s * 1e3, d->by_interval);
	else if (d->too_long)
		reply_say(r, SAY_ADVICE, "Whether a DPROF_SYNC_INTERVAL gets there was not tried: in a run as long as this one "
			  "packets are too many. Pieces of work that take %u times as long may, or hosts that are nearer.", d->larger);
	else if (!d->any_packets)
		reply_say(r, SAY_ADVICE, "No packets went between the hosts: with some, clocks may be known so well; pieces of work that "
			  "take %u times as long may do, too.", d->larger);
	else
		reply_say(r, SAY_ADVICE, "No DPROF_SYNC_INTERVAL gets there (the fastest packet there and back took %s "
			  "us); pieces of work that take %u times as long may, or hosts that are nearer.",
			  reply_interval(r, interval_times(d->packets_s, 1e6), 1).text, d->larger);
}

void decide_fill(struct reply *r, const struct decide *d)
{
	if (d->undecided == 0)
		return;
	reply_value(r, "undecided.verdicts", tab_number(d->undecided));
	if (!d->known) {
		reply_gap(r);
		reply_say(r, SAY_TEXT, "%zu verdict%s undecided; -v says what would decide %s.", d->undecided,
			  d->undecided > 1 ? "s are" : " is", d->undecided > 1 ? "them" : "it");
		return;
	}
	reply_value(r, "undecided.by_clocks", tab_number(d->by_clocks));
	reply_value(r, "undecided.known_s", tab_upper(d->known_s));
	reply_value(r, "undecided.needed_s", tab_upper(d->needed_s));
	reply_value(r, "undecided.sync_interval_s", d->interval_s > 0 ? tab_upper(d->interval_s) : TAB_NONE);
	reply_value(r, "undecided.by_sync_interval", tab_number(d->by_interval));
	reply_value(r, "undecided.larger", tab_number(d->larger));
	say(r, d);
}
