/* SPDX-License-Identifier: MIT
 *
 * truth.c - truth DIR [ROUNDS [SEED]]: gives the hosts of a recorded trace other clocks, again and
 * again, and demands that every bound contains the truth.
 *
 * The trace must have been recorded by hosts that were one machine (network namespaces, or ranks with
 * names of their own in DPROF_HOST), so that its stamps are the truth. Each round draws a clock for
 * every host, affine ones or such as wander (clocks.h), rewrites all stamps and packets, solves under
 * the assumption that these clocks keep, and checks
 *
 *   - every clock that packets reach is proven, never contradictory;
 *   - the true time of each event, on the (rewritten) base clock, lies inside its bounds;
 *   - no two events whose true order is known are shown in the other order;
 *   - the true time between two events of one clock lies in the duration that its rate gives;
 *   - every straggler score, and the share of it that is certain, contains the score that is found if all hosts
 *     have the base's clock. (Not the true clock: where the base wanders, so do shares of its time.)
 *
 * Exit status 0 when all of it held, 1 with the seed of the round and the event when not. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/report/findings.h"
#include "analysis/trace/store.h"
#include "freezer/solve.h"
#include "testsuite/truth/clocks.h"

struct rewritten_event { uint64_t truth; uint32_t clock; };

struct rewritten_recording {
	const struct trace *trace;
	struct rewritten_event *events;        /* of all threads, in their true order */
	size_t nevents;
	uint32_t nclocks;
	uint64_t first, last;        /* stamps, of events and packets */
};

static void *allocate(size_t count, size_t size)
{
	void *p = calloc(count + 1, size);
	if (!p)
		abort();
	return p;
}

static int by_truth(const void *a, const void *b)
{
	uint64_t x = ((const struct rewritten_event *)a)->truth, y = ((const struct rewritten_event *)b)->truth;
	return (x > y) - (x < y);
}

static void collect_events(struct rewritten_recording *r)
{
	const struct trace *trace = r->trace;
	size_t room = 0;
	for (size_t t = 0; t < trace->nthreads; t++)
		room += trace->threads[t].nrecords;
	r->events = allocate(room, sizeof *r->events);
	for (size_t t = 0; t < trace->nthreads; t++) {
		struct tr_cursor cursor = trace_events(trace, t);
		struct tr_event e;
		while (trace_next(&cursor, &e))
			if (e.op != DPROF_LOST)
				r->events[r->nevents++] = (struct rewritten_event){ e.stamp, trace->threads[t].clock };
		trace_end(&cursor);
	}
	qsort(r->events, r->nevents, sizeof *r->events, by_truth);
}

/* ---- A trace with other clocks: the same but for stamps ------------------------------------------- */

static uint64_t restamp(const struct clockmap *maps, uint32_t clock, uint64_t stamp)
{
	return clockmap_stamp(&maps[clock], (int64_t)stamp);
}

static void rewrite_thread(struct tr_writer *writer, const struct trace *trace, size_t thread, struct tr_thread *to,
			   const struct clockmap *maps)
{
	struct tr_cursor cursor = trace_events(trace, thread);
	store_begin(writer, NULL);
	for (struct tr_event e; trace_next(&cursor, &e) && !e.implied;) {
		store_record(writer, &(struct tr_record){ e.op == DPROF_LOST ? e.lost : restamp(maps, to->clock, e.stamp),
							 TR_WHAT(e.op == DPROF_LOST ? 0 : e.site, e.op) });
		for (unsigned i = 0; i < e.nargs; i++)
			store_record(writer, &(struct tr_record){ e.args[i].value, TR_WHAT(e.args[i].key, DPROF_ARG) });
	}
	to->blocks = store_end(writer);
	trace_end(&cursor);
}

/* With one clock, that of the base, nothing is left to be proven. */
static struct trace rewrite(const struct rewritten_recording *r, const struct clockmap *maps, bool one_clock)
{
	struct trace t = *r->trace;
	if (one_clock)
		t.nclocks = 1, t.nlinks = 0;
	t.diagnostics = NULL, t.ndiagnostics = 0;
	t.notes = NULL, t.nnotes = 0;
	t.threads = allocate(t.nthreads, sizeof *t.threads);
	memcpy(t.threads, r->trace->threads, t.nthreads * sizeof *t.threads);
	const char *kept_in_memory;
	t.store = store_open(t.nsites, t.nthreads);
	struct tr_writer *writer = store_writer(t.store);
	for (size_t i = 0; i < t.nthreads && one_clock; i++)
		t.threads[i].clock = 0;
	for (size_t i = 0; i < t.nthreads; i++)
		rewrite_thread(writer, r->trace, i, &t.threads[i], maps);
	t.whats = store_finish(t.store, &kept_in_memory);
	t.links = allocate(t.nlinks, sizeof *t.links);
	for (size_t i = 0; i < t.nlinks; i++) {
		struct frz_link l = r->trace->links[i];
		l.sent = restamp(maps, l.from, l.sent);
		l.received = restamp(maps, l.to, l.received);
		t.links[i] = l;
	}
	return t;
}

static void rewrite_free(struct trace *t)
{
	for (size_t i = 0; i < t->nthreads; i++)
		blocks_close(t->threads[i].blocks);
	store_close(t->store);
	free(t->threads);
	free(t->links);
}

static const struct options affine = { .assumption = { .model = FRZ_AFFINE } };

static void stretch_to(struct rewritten_recording *r, uint64_t first, uint64_t last)
{
	r->first = first < r->first ? first : r->first;
	r->last = last > r->last ? last : r->last;
}

static void collect(struct rewritten_recording *r, const struct trace *trace)
{
	*r = (struct rewritten_recording){ .trace = trace, .nclocks = (uint32_t)trace->nclocks, .first = UINT64_MAX };
	collect_events(r);
	for (size_t i = 0; i < trace->nlinks; i++)
		stretch_to(r, trace->links[i].sent, trace->links[i].received);
	if (r->nevents)
		stretch_to(r, r->events[0].truth, r->events[r->nevents - 1].truth);
}

static void recording_free(struct rewritten_recording *r)
{
	free(r->events);
}

/* ---- One round ------------------------------------------------------------------------------------ */

/* A clock that runs 0.1 to 10 times as fast, started up to some weeks apart, and wanders. */
static struct clockmap draw_clock(const struct rewritten_recording *r, struct dice *dice, enum clock_kind kind)
{
	struct clock_spec spec = {
		.kind = kind,
		.begin = (int64_t)r->first, .end = (int64_t)r->last + 1,
		.own = roll_in(dice, 0, INT64_C(1) << 52),
		.rate = roll_size(dice, 0.1, 10),
		.wander_ppb = roll_size(dice, 100, 1e6),
	};
	return clock_draw(dice, &spec);
}

/* A clock for each host: all affine, or of any kind that keeps the assumption, which is returned. */
static struct frz_assumption draw_clocks(const struct rewritten_recording *r, struct dice *dice, struct clockmap *maps)
{
	struct frz_assumption assumption = { .model = roll_one_of(dice, 3) ? FRZ_AFFINE : FRZ_DRIFT };
	for (uint32_t c = 0; c < r->nclocks; c++) {
		enum clock_kind kind = (enum clock_kind)roll_in(dice, CLOCK_AFFINE, CLOCK_FIRST_BROKEN - 1);
		maps[c] = draw_clock(r, dice, assumption.model == FRZ_AFFINE ? CLOCK_AFFINE : kind);
		uint32_t need = clockmap_need_any_ppb(&maps[c], &maps[0]);
		if (assumption.model == FRZ_DRIFT && need > assumption.ppb)
			assumption.ppb = need;
	}
	return assumption;
}

static bool all_proven(const struct rewritten_recording *r, const struct frz_solution *solution)
{
	for (uint32_t c = 0; c < r->nclocks; c++)
		if (frz_clock(solution, c)->status != FRZ_PROVEN) {
			printf("clock %" PRIu32 ": status %d instead of proven\n", c, (int)frz_clock(solution, c)->status);
			return false;
		}
	return true;
}

/* Checks the bounds of all events; prints the first that is false. */
static bool times_hold(const struct rewritten_recording *r, const struct clockmap *maps, const struct frz_solution *solution,
		       struct frz_cursor *cursors)
{
	int64_t latest_lo = INT64_MIN; /* of all events so far, in true order */
	for (uint32_t c = 0; c < r->nclocks; c++)
		cursors[c] = frz_cursor(solution, c);
	for (size_t i = 0; i < r->nevents; i++) {
		const struct rewritten_event *e = &r->events[i];
		int64_t truth = (int64_t)e->truth;
		frz_time time = frz_time_of(&cursors[e->clock], restamp(maps, e->clock, e->truth));
		if (clockmap_compare(&maps[0], truth, time.lo) < 0 || clockmap_compare(&maps[0], truth, time.hi) > 0) {
			printf("event %zu of clock %" PRIu32 ": the truth %" PRIu64 " is outside [%" PRId64 ",%" PRId64 "]\n",
			       i, e->clock, clockmap_stamp(&maps[0], truth), time.lo, time.hi);
			return false;
		}
		if (time.hi < latest_lo) {
			printf("event %zu of clock %" PRIu32 ": shown before an event that it follows\n", i, e->clock);
			return false;
		}
		latest_lo = time.lo > latest_lo ? time.lo : latest_lo;
	}
	return true;
}

static const struct ranked *ranked_of(const struct ranking *s, size_t thread)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->list[i].thread == thread)
			return &s->list[i];
	return NULL;
}

/* The true score is known to a tick or two; it must not lie apart from the one that was computed. */
static bool scores_hold(const struct ranking *truth, const struct ranking *shown)
{
	for (size_t i = 0; i < truth->count; i++) {
		const struct ranked *want = &truth->list[i], *is = ranked_of(shown, want->thread);
		if (!is || interval_apart(want->percent, is->percent)) {
			printf("score of thread %zu: the truth %.9f .. %.9f is outside %.9f .. %.9f\n", want->thread,
			       want->percent.lo, want->percent.hi, is ? is->percent.lo : 0, is ? is->percent.hi : 0);
			return false;
		}
	}
	return true;
}

/* The time between neighbours of one clock, by its rate. */
static bool durations_hold(const struct rewritten_recording *r, const struct clockmap *maps, const struct times *times)
{
	struct rewritten_event *before = allocate(r->nclocks, sizeof *before); /* of each clock; truth 0: none */
	bool fine = true;
	for (size_t i = 0; i < r->nevents && fine; i++) {
		struct rewritten_event e = r->events[i], b = before[e.clock];
		before[e.clock] = e;
		if (!b.truth)
			continue;
		uint64_t ticks = restamp(maps, e.clock, e.truth) - restamp(maps, e.clock, b.truth);
		int64_t about = (int64_t)(restamp(maps, 0, e.truth) - restamp(maps, 0, b.truth)); /* within 1 */
		frz_time d = times_duration(times, e.clock, ticks);
		fine = about + 1 >= d.lo && about - 1 <= d.hi;
		if (!fine)
			printf("event %zu of clock %" PRIu32 ": %" PRId64 " after the one before, shown [%" PRId64 ",%" PRId64 "]\n",
			       i, e.clock, about, d.lo, d.hi);
	}
	free(before);
	return fine;
}

/* `base` is the trace with the base's clock for all. */
static bool findings_hold(const struct rewritten_recording *r, struct trace *rewritten, struct trace *base,
			  const struct clockmap *maps, struct frz_assumption assumption)
{
	struct options options = { .assumption = assumption };
	struct findings f, truth;
	if (findings_open(&truth, base, &affine) != EXIT_FINE)
		return false;
	if (findings_open(&f, rewritten, &options) != EXIT_FINE) {
		findings_close(&truth);
		return false;
	}
	struct frz_cursor *cursors = allocate(r->nclocks, sizeof *cursors);
	bool fine = all_proven(r, f.times.together) && times_hold(r, maps, f.times.together, cursors) &&
		    durations_hold(r, maps, &f.times) && scores_hold(&truth.threads, &f.threads) &&
		    scores_hold(&truth.ranks, &f.ranks);
	free(cursors);
	findings_close(&f);
	findings_close(&truth);
	return fine;
}

static bool one_round(const struct rewritten_recording *r, uint64_t seed)
{
	struct clockmap *maps = allocate(r->nclocks, sizeof *maps);
	struct dice dice = { seed };
	struct frz_assumption assumption = draw_clocks(r, &dice, maps);
	struct trace rewritten = rewrite(r, maps, false), base = rewrite(r, maps, true);
	bool fine = findings_hold(r, &rewritten, &base, maps, assumption);
	rewrite_free(&base);
	rewrite_free(&rewritten);
	for (uint32_t c = 0; c < r->nclocks; c++)
		clockmap_free(&maps[c]);
	free(maps);
	return fine;
}

static bool all_rounds(const struct rewritten_recording *r, uint64_t rounds, uint64_t seed)
{
	for (uint64_t i = 0; i < rounds; i++) {
		if (!one_round(r, seed + i)) {
			printf("to see it again: truth %s 1 %" PRIu64 "\n", r->trace->directory, seed + i);
			return false;
		}
		if (isatty(2) && i % 100 == 0)
			fprintf(stderr, "\r%" PRIu64 " of %" PRIu64 " rounds", i, rounds);
	}
	printf("%" PRIu64 " rounds, %zu events and %zu links each, seeds from %" PRIu64 ": 0 violations\n", rounds,
	       r->nevents, r->trace->nlinks, seed);
	return true;
}

int main(int argc, char **argv)
{
	if (argc < 2 || argc > 4) {
		fprintf(stderr, "usage: truth DIR [ROUNDS [SEED]]\n");
		return 2;
	}
	uint64_t rounds = argc > 2 ? strtoull(argv[2], NULL, 10) : 10000;
	uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
	char *error = NULL;
	struct trace *trace = trace_open(argv[1], &error);
	if (!trace) {
		fprintf(stderr, "truth: %s\n", error);
		return 1;
	}
	struct rewritten_recording r;
	collect(&r, trace);
	if (trace->nclocks < 2 || !r.nevents) {
		fprintf(stderr, "truth: %s has %zu clock(s): nothing to check\n", argv[1], trace->nclocks);
		return 1;
	}
	bool fine = all_rounds(&r, rounds, seed);
	recording_free(&r);
	trace_close(trace);
	return fine ? 0 : 1;
}
