/* SPDX-License-Identifier: MIT
 *
 * truth.c - truth DIR [ROUNDS [SEED]]: gives the hosts of a recorded trace other clocks, again and
 * again, and demands that every bound contains the truth.
 *
 * The trace must have been recorded by hosts that were one machine (network namespaces, or ranks with
 * names of their own in DPROF_HOST), so that its stamps are the truth. Each round draws a clock for
 * every host, rewrites all stamps and packets, solves, and checks
 *
 *   - every clock that packets reach is proven, never contradictory;
 *   - the true time of each event, on the (rewritten) base clock, lies inside its bounds;
 *   - no two events whose true order is known are shown in the other order;
 *   - every straggler score, and the share of it that is certain, contains the score that one true
 *     clock gives.
 *
 * Exit status 0 when all of it held, 1 with the seed of the round and the event when not. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/findings.h"
#include "analysis/trace.h"
#include "freezer/solve.h"
#include "testsuite/truth/clockmap.h"

struct event { uint64_t truth; uint32_t clock; };

struct recording {
	const struct trace *trace;
	struct event *events;        /* of all threads, in their true order */
	size_t nevents;
	uint32_t nclocks;
	uint64_t first;              /* the earliest stamp, of events and packets */
	struct findings truth;       /* what the analysis says when all share the true clock */
	struct trace merged;         /* which is this trace */
};

static void *allocate(size_t count, size_t size)
{
	void *p = calloc(count + 1, size);
	if (!p)
		abort();
	return p;
}

/* xorshift64*: small, seedable, the same everywhere. */
static uint64_t draw(uint64_t *state)
{
	*state ^= *state >> 12, *state ^= *state << 25, *state ^= *state >> 27;
	return *state * UINT64_C(2685821657736338717);
}

static int64_t draw_in(uint64_t *state, int64_t lo, int64_t hi)
{
	return lo + (int64_t)(draw(state) % (uint64_t)(hi - lo + 1));
}

static int by_truth(const void *a, const void *b)
{
	uint64_t x = ((const struct event *)a)->truth, y = ((const struct event *)b)->truth;
	return (x > y) - (x < y);
}

static void collect_events(struct recording *r)
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
				r->events[r->nevents++] = (struct event){ e.stamp, trace->threads[t].clock };
	}
	qsort(r->events, r->nevents, sizeof *r->events, by_truth);
}

/* ---- A trace with other clocks: the same but for stamps ------------------------------------------- */

static uint64_t restamp(const struct clockmap *maps, uint32_t clock, uint64_t stamp)
{
	return clockmap_stamp(&maps[clock], (int64_t)stamp);
}

static void rewrite_thread(struct tr_thread *thread, const struct clockmap *maps)
{
	struct dprof_record *records = allocate(thread->nrecords, sizeof *records);
	memcpy(records, thread->records, thread->nrecords * sizeof *records);
	for (size_t i = 0; i < thread->nrecords; i++)
		if (records[i].what && records[i].stamp && DPROF_OP(records[i].what) <= DPROF_POINT)
			records[i].stamp = restamp(maps, thread->clock, records[i].stamp);
	thread->records = records;
}

static struct trace rewrite(const struct recording *r, const struct clockmap *maps)
{
	struct trace t = *r->trace;
	t.problems = NULL, t.nproblems = 0;
	t.threads = allocate(t.nthreads, sizeof *t.threads);
	memcpy(t.threads, r->trace->threads, t.nthreads * sizeof *t.threads);
	for (size_t i = 0; i < t.nthreads; i++)
		rewrite_thread(&t.threads[i], maps);
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
		free((void *)t->threads[i].records);
	free(t->threads);
	free(t->links);
}

/* All threads on the base's clock, which is the true one: nothing is left to be proven. */
static struct trace merge(const struct trace *trace)
{
	struct trace t = *trace;
	t.threads = allocate(t.nthreads, sizeof *t.threads);
	memcpy(t.threads, trace->threads, t.nthreads * sizeof *t.threads);
	for (size_t i = 0; i < t.nthreads; i++)
		t.threads[i].clock = 0;
	t.nclocks = 1;
	t.nlinks = 0;
	return t;
}

static const struct options affine = { .assumption = { .model = FRZ_AFFINE } };

static bool collect(struct recording *r, const struct trace *trace)
{
	*r = (struct recording){ .trace = trace, .nclocks = (uint32_t)trace->nclocks, .first = UINT64_MAX };
	collect_events(r);
	for (size_t i = 0; i < trace->nlinks; i++)
		r->first = trace->links[i].sent < r->first ? trace->links[i].sent : r->first;
	if (r->nevents && r->events[0].truth < r->first)
		r->first = r->events[0].truth;
	r->merged = merge(trace);
	return findings_open(&r->truth, &r->merged, &affine) == EXIT_FINE;
}

static void recording_free(struct recording *r)
{
	findings_close(&r->truth);
	free(r->merged.threads);
	free(r->events);
}

/* ---- One round ------------------------------------------------------------------------------------ */

/* A clock that runs 0.1 to 10 times as fast and started up to some weeks apart. */
static struct clockmap draw_clock(const struct recording *r, uint64_t *state)
{
	int64_t den = draw_in(state, 100000, 1000000), num = draw_in(state, 100000, 1000000);
	return clockmap_affine((int64_t)r->first, draw_in(state, 0, INT64_C(1) << 52), num, den);
}

static bool all_proven(const struct recording *r, const struct frz_solution *solution)
{
	for (uint32_t c = 0; c < r->nclocks; c++)
		if (frz_clock(solution, c)->status != FRZ_PROVEN) {
			printf("clock %" PRIu32 ": status %d instead of proven\n", c, (int)frz_clock(solution, c)->status);
			return false;
		}
	return true;
}

/* Checks the bounds of all events; prints the first that is false. */
static bool times_hold(const struct recording *r, const struct clockmap *maps, const struct frz_solution *solution,
		       struct frz_cursor *cursors)
{
	int64_t latest_lo = INT64_MIN; /* of all events so far, in true order */
	for (uint32_t c = 0; c < r->nclocks; c++)
		cursors[c] = frz_cursor(solution, c);
	for (size_t i = 0; i < r->nevents; i++) {
		const struct event *e = &r->events[i];
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

static const struct standing *standing_of(const struct standings *s, size_t thread)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->list[i].thread == thread)
			return &s->list[i];
	return NULL;
}

/* The true score is known to a tick or two; it must not lie apart from the one that was computed. */
static bool scores_hold(const struct standings *truth, const struct standings *shown)
{
	for (size_t i = 0; i < truth->count; i++) {
		const struct standing *want = &truth->list[i], *is = standing_of(shown, want->thread);
		if (!is || interval_apart(want->percent, is->percent)) {
			printf("score of thread %zu: the truth %.9f .. %.9f is outside %.9f .. %.9f\n", want->thread,
			       want->percent.lo, want->percent.hi, is ? is->percent.lo : 0, is ? is->percent.hi : 0);
			return false;
		}
	}
	return true;
}

static bool findings_hold(const struct recording *r, struct trace *rewritten, const struct clockmap *maps)
{
	struct findings f;
	if (findings_open(&f, rewritten, &affine) != EXIT_FINE)
		return false;
	struct frz_cursor *cursors = allocate(r->nclocks, sizeof *cursors);
	bool fine = all_proven(r, f.times.together) && times_hold(r, maps, f.times.together, cursors) &&
		    scores_hold(&r->truth.threads, &f.threads) && scores_hold(&r->truth.ranks, &f.ranks);
	free(cursors);
	findings_close(&f);
	return fine;
}

static bool one_round(const struct recording *r, uint64_t seed)
{
	struct clockmap *maps = allocate(r->nclocks, sizeof *maps);
	uint64_t state = seed * 2 + 1;
	for (int i = 0; i < 8; i++)
		draw(&state);
	for (uint32_t c = 0; c < r->nclocks; c++)
		maps[c] = draw_clock(r, &state);
	struct trace rewritten = rewrite(r, maps);
	bool fine = findings_hold(r, &rewritten, maps);
	rewrite_free(&rewritten);
	for (uint32_t c = 0; c < r->nclocks; c++)
		clockmap_free(&maps[c]);
	free(maps);
	return fine;
}

static bool all_rounds(const struct recording *r, uint64_t rounds, uint64_t seed)
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
	struct recording r;
	if (trace->nclocks < 2 || !collect(&r, trace) || !r.nevents) {
		fprintf(stderr, "truth: %s has %zu clock(s): nothing to check\n", argv[1], trace->nclocks);
		return 1;
	}
	bool fine = all_rounds(&r, rounds, seed);
	recording_free(&r);
	trace_close(trace);
	return fine ? 0 : 1;
}
