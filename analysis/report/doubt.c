/* SPDX-License-Identifier: MIT
 *
 * doubt.c - what-ifs and the critical path know what the recorder did not see. */
#include "analysis/report/doubt.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/report/unseen.h"

void doubt_profile(struct profile_request *request, const struct trace *trace, const struct unrecorded *unrecorded,
		   double polling_sleeps_s, const struct unclassified *unclassified)
{
	request->polling_sleeps_s = polling_sleeps_s;
	request->open_s[COZ_PROVED] = unrecorded_sum(unrecorded, trace, false) + polling_sleeps_s;
	request->open_s[COZ_EXPECTED] = unrecorded_sum(unrecorded, trace, true) + polling_sleeps_s;
	request->hidden = unrecorded->hidden > 0 || unrecorded->interrupted > 0;
	request->unsure = request->open_s[COZ_PROVED] > 0 || request->hidden || unseen_matters(trace);
	request->if_work = unclassified_matters(trace, unclassified);
}

void doubt_path(struct path *path, const struct unrecorded *u)
{
	for (uint32_t i = 0; i < path->graph.trace->nthreads; i++)
		if (u->worth[i])
			path_doubt(path, i, unrecorded_most(u, path->graph.trace, i));
}

/* Ticks for which each surely was blocked, at most, and for which all worked where they seem to wait. */
struct delay_doubts { int64_t *blocked, all, hidden; };

static struct delay_doubts delay_doubts_of(const struct waits *waits, const struct graph *g, const struct unrecorded *u)
{
	size_t n = g->trace->nthreads;
	double run_s = times_seconds(g->times, g->times->time_base[g->trace->threads[0].clock], waits->span.length).lo;
	struct delay_doubts d = { .blocked = mem_resize(NULL, n + 1, sizeof *d.blocked) };
	for (size_t t = 0; t < n; t++) {
		d.blocked[t] = blocked_ticks(u->worth[t] ? unrecorded_most(u, g->trace, t) : 0, &waits->span, run_s);
		d.all = ticks_plus(d.all, d.blocked[t]);
		d.hidden = ticks_plus(d.hidden, blocked_ticks(u->threads[t].hidden_s.hi, &waits->span, run_s));
	}
	return d;
}

static int64_t of_all(size_t nthreads, int64_t ticks)
{
	int64_t all;
	return __builtin_mul_overflow(ticks, (int64_t)nthreads, &all) ? INT64_MAX : all;
}

/* No cost is more than all waiting, or than what it was and waiting that was not recorded. */
static frz_time doubted(frz_time cost, int64_t less, int64_t more, int64_t waiting)
{
	int64_t lo = ticks_minus(cost.lo, less), hi = ticks_plus(cost.hi, more), most = waiting > cost.hi ? waiting : cost.hi;
	return (frz_time){ lo > 0 ? lo : 0, hi < most ? hi : most };
}

void doubt_delays(struct waits *waits, const struct graph *g, const struct unrecorded *u)
{
	size_t n = g->trace->nthreads;
	struct delay_doubts d = delay_doubts_of(waits, g, u);
	int64_t waiting = d.all;
	for (size_t i = 0; i < waits->nplaces; i++)
		waiting = ticks_plus(waiting, waits->places[i].ticks.hi);
	for (size_t i = 0; i < waits->ndelays && (d.all > 0 || d.hidden > 0); i++) {
		struct wait_delay *delay = &waits->delays[i];
		int64_t less = of_all(n, ticks_plus(d.blocked[delay->thread], d.hidden)), more = of_all(n, ticks_plus(d.all, d.hidden));
		delay->ticks = doubted(delay->ticks, less, more, waiting);
		delay->short_term = doubted(delay->short_term, less, more, waiting);
		delay->long_term = doubted(delay->long_term, less, more, waiting);
	}
	free(d.blocked);
}

/* At most so long it was there. */
static int64_t life_of(const struct waits *waits, const struct graph *g, uint32_t thread)
{
	const struct graph_thread *t = &g->threads[thread];
	const struct tr_thread *recorded = &g->trace->threads[thread];
	if (recorded->lost || recorded->gaps || trace_goes_on(recorded) || t->nevents == 0)
		return waits->span.length.hi;
	return times_of_thread(g->times, thread, t->first, t->last).hi;
}

static bool is_open(const struct waits *waits, const struct graph *g, uint32_t thread)
{
	return waits->lacks[thread] || g->trace->threads[thread].lost || g->trace->threads[thread].gaps;
}

frz_time doubt_waiting(struct waits *waits, const struct graph *g, frz_time waiting, size_t *open)
{
	int64_t most = 0;
	*open = 0;
	if (trace_has_all(g->trace))
		return waiting;
	for (size_t i = 0; i < waits->nplaces; i++)
		most = ticks_plus(most, is_open(waits, g, waits->places[i].thread) ? 0 : waits->places[i].ticks.hi);
	for (uint32_t t = 0; t < g->trace->nthreads; t++) {
		most = ticks_plus(most, is_open(waits, g, t) ? life_of(waits, g, t) : 0);
		*open += is_open(waits, g, t);
	}
	waiting.hi = most > waiting.hi ? most : waiting.hi;
	frz_time any = { 0, waiting.hi };
	for (size_t i = 0; i < waits->ndelays; i++)
		waits->delays[i].ticks = waits->delays[i].short_term = waits->delays[i].long_term = any;
	waits->uncaused = any;
	return waiting;
}

struct diagnosis_doubts doubt_diagnosis(const struct trace *trace, const struct unrecorded *u, double polling_sleeps_s,
					const struct unclassified *unclassified)
{
	struct profile_request asks = { .hidden = false };
	doubt_profile(&asks, trace, u, polling_sleeps_s, unclassified);
	struct diagnosis_doubts doubts = { .most_s = mem_resize(NULL, trace->nthreads + 1, sizeof *doubts.most_s),
					   .surely = u->worth, .blocked = u->threads, .hidden = asks.hidden, .if_work = asks.if_work,
					   .polling_sleeps_s = polling_sleeps_s };
	memcpy(doubts.open_s, asks.open_s, sizeof doubts.open_s);
	for (size_t i = 0; i < trace->nthreads; i++)
		doubts.most_s[i] = unrecorded_most(u, trace, i);
	return doubts;
}
