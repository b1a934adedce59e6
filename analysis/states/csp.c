/* SPDX-License-Identifier: MIT
 *
 * csp.c - the sweep over the clocks of one time base.
 *
 *   clock A   ---- t alone ----]          [--- all wait ---
 *   clock B        [------ all wait -----------]
 *                  ^ visited: A's and B's segments make a frame of t
 *
 * A's segment has ended by its key, lo(e), and is *unordered* until hi(e). When B's next
 * segment begins before that, it makes another frame with the unordered one: see "hi" in the proof in
 * csp.h. */
#include "analysis/states/csp.h"

#include <assert.h>
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/progress.h"

struct timed_segment {       /* a segment and when */
	struct timeline_segment what;
	frz_time begin, end;
	frz_time length;     /* once `measured` */
	bool measured;
};

struct unordered { int64_t end; uint32_t alone; bool all_wait; };

struct clock_sweep {         /* one clock in the sweep */
	struct timeline *timeline;
	uint32_t clock;
	struct frz_cursor times;
	struct timed_segment now; /* the segment that counts, or the next one */
	bool counts, exhausted;
	struct unordered *unordered; /* a ring */
	size_t first, nunordered, room;
};

struct at_site { uint32_t site; int64_t ticks; };
struct tally {               /* of one participant */
	struct at_site *sites; /* where it worked alone, about how long */
	size_t nsites;
	int64_t unordered_until; /* time of unknown order has been added up to here */
};

/* Until when a clock's timeline may be waiting: for ever when what counts says so; INT64_MIN when not at all.
 * */
struct wait_bounds { int64_t until, by_unordered; };

struct csp_sweep {
	const struct times *times;
	const struct span *span;
	bool complete;       /* all that was recorded is on this time base */
	struct clock_sweep *clocks;
	size_t nclocks;
	struct heap heap;    /* clocks by what happens to them next */

	size_t waiting, certain;  /* clocks that count all_wait; that are certain */
	uint32_t xor_not_waiting;

	struct { int64_t end; size_t which; } latest[2]; /* the last ends of unordered segments of two clocks */
	struct wait_bounds *others; /* each clock, while a segment begins */

	struct csp_score *scores;
	struct tally *tallies;
};

/* ---- Frames ---------------------------------------------------------------------------------- */

static bool waits(const struct clock_sweep *t)
{
	return t->counts && t->now.what.all_wait;
}

static int64_t larger(int64_t x, int64_t y)
{
	return x > y ? x : y;
}

static int64_t smaller(int64_t x, int64_t y)
{
	return x < y ? x : y;
}

/* The two largest begins, or smallest ends, of different clocks. */
struct csp_extremes { int64_t best, second; const struct clock_sweep *of; };

static void two_add(struct csp_extremes *two, int64_t value, const struct clock_sweep *of)
{
	if (value > two->best)
		*two = (struct csp_extremes){ value, two->best, of };
	else if (value > two->second)
		two->second = value;
}

/* By the rate, and by its two times. Most segments make no frame, so it is seldom wanted. */
static void measure(const struct csp_sweep *s, const struct clock_sweep *t, struct timed_segment *x)
{
	uint64_t from = x->what.from, to = x->what.to;
	x->measured = true;
	x->length = (frz_time){ 0, ticks_minus(x->end.hi, x->begin.lo) };
	if (from != PERIOD_BEFORE && to != PERIOD_AFTER)
		x->length = times_duration(s->times, t->clock, to - from);
	if (to != PERIOD_AFTER)
		x->length.lo = larger(x->length.lo, ticks_minus(x->end.lo, x->begin.hi));
}

/* Length of the frame that the segments of all clocks make: the smallest e_i - b_j. */
static frz_time frame_length(const struct csp_sweep *s)
{
	struct csp_extremes begin = { INT64_MIN, INT64_MIN, NULL }, end = begin; /* ends negated */
	int64_t begin_lo = INT64_MIN, end_hi = INT64_MAX;
	frz_time length = { INT64_MAX, INT64_MAX };
	for (size_t i = 0; i < s->nclocks; i++) {
		struct timed_segment *x = &s->clocks[i].now;
		if (!x->measured)
			measure(s, &s->clocks[i], x);
		two_add(&begin, x->begin.hi, &s->clocks[i]);
		two_add(&end, ticks_minus(0, x->end.lo), &s->clocks[i]);
		begin_lo = larger(begin_lo, x->begin.lo);
		end_hi = smaller(end_hi, x->end.hi);
		length.lo = smaller(length.lo, x->length.lo);
		length.hi = smaller(length.hi, x->length.hi);
	}
	if (s->nclocks > 1) {
		int64_t sum = begin.of != end.of ? ticks_plus(end.best, begin.best) :
						   larger(ticks_plus(end.second, begin.best),
							  ticks_plus(end.best, begin.second));
		length.lo = smaller(length.lo, ticks_minus(0, sum));
	}
	length.hi = smaller(length.hi, ticks_minus(end_hi, begin_lo));
	return (frz_time){ larger(length.lo, 0), larger(length.hi, 0) };
}

static void tally_site(struct tally *t, uint32_t site, int64_t ticks)
{
	for (size_t i = 0; i < t->nsites; i++)
		if (t->sites[i].site == site) {
			t->sites[i].ticks = ticks_plus(t->sites[i].ticks, ticks);
			return;
		}
	*MEM_GROW(t->sites, t->nsites) = (struct at_site){ site, ticks };
}

static void add_frame(struct csp_sweep *s, const struct clock_sweep *alone, frz_time length)
{
	size_t count = 1;
	const uint32_t *participants = &alone->now.what.alone;
	if (*participants == ANY_PARTICIPANT)
		participants = timeline_participants(alone->timeline, &count);
	for (size_t i = 0; i < count; i++) {
		s->scores[participants[i]].alone =
			time_add(s->scores[participants[i]].alone, length);
		tally_site(&s->tallies[participants[i]], alone->now.what.site,
			   length.lo / 2 + length.hi / 2);
	}
}

/* A segment has begun; every frame that it makes with the segments that count now is new. */
static void visit_frames(struct csp_sweep *s)
{
	if (s->waiting + 1 < s->nclocks)
		return;
	size_t from = 0, to = s->nclocks; /* clocks that may have the one who works */
	if (s->waiting < s->nclocks) {
		from = s->xor_not_waiting;
		to = from + 1;
	}
	for (size_t i = from; i < to; i++) {
		const struct clock_sweep *alone = &s->clocks[i];
		if (!alone->counts || alone->now.what.alone == NO_PARTICIPANT)
			continue;
		frz_time length = frame_length(s);
		if (s->certain < s->nclocks || !s->complete)
			length.lo = 0;
		if (length.hi > 0)
			add_frame(s, alone, length);
	}
}

/* ---- Time of unknown order ------------------------------------------------------------------- */

static const struct unordered *unordered_at(const struct clock_sweep *t, size_t i)
{
	return &t->unordered[(t->first + i) & (t->room - 1)];
}

static void drop_unordered(struct clock_sweep *t, int64_t now)
{
	while (t->nunordered > 0 && unordered_at(t, 0)->end <= now) {
		t->first = (t->first + 1) & (t->room - 1);
		t->nunordered--;
	}
}

static struct wait_bounds waiting(const struct clock_sweep *t)
{
	struct wait_bounds w = { INT64_MIN, INT64_MIN };
	for (size_t i = 0; i < t->nunordered; i++)
		if (unordered_at(t, i)->all_wait)
			w.by_unordered = unordered_at(t, i)->end;
	w.until = waits(t) ? INT64_MAX : w.by_unordered;
	return w;
}

/* Adds the time from now on to who may work alone then, once. */
static void add_until(struct csp_sweep *s, const struct clock_sweep *t, uint32_t who, int64_t now,
		      int64_t until)
{
	if (who == NO_PARTICIPANT || until <= now)
		return;
	size_t count = 1;
	const uint32_t *participants = &who;
	if (who == ANY_PARTICIPANT)
		participants = timeline_participants(t->timeline, &count);
	for (size_t i = 0; i < count; i++) {
		struct tally *tally = &s->tallies[participants[i]];
		frz_time *alone = &s->scores[participants[i]].alone;
		int64_t from = larger(now, tally->unordered_until);
		if (until <= from)
			continue;
		alone->hi = ticks_plus(alone->hi, ticks_minus(until, from));
		tally->unordered_until = until;
	}
}

/* All clocks but two may be waiting: until when, by at least one unordered segment unless `unordered` says
 * that there is one already. INT64_MIN when they may not. */
static int64_t wait_until(const struct csp_sweep *s, const struct clock_sweep *t,
			  const struct clock_sweep *u, bool unordered)
{
	int64_t until = INT64_MAX, by_unordered = INT64_MIN;
	for (size_t i = 0; i < s->nclocks; i++) {
		if (&s->clocks[i] == t || &s->clocks[i] == u)
			continue;
		until = smaller(until, s->others[i].until);
		by_unordered = larger(by_unordered, s->others[i].by_unordered);
	}
	return until < INT64_MAX || unordered ? until : by_unordered;
}

/* A segment has begun on `t` that waits: a participant on another clock may work alone. */
static void add_workers(struct csp_sweep *s, const struct clock_sweep *t, int64_t now)
{
	for (size_t i = 0; i < s->nclocks; i++) {
		const struct clock_sweep *u = &s->clocks[i];
		if (u == t)
			continue;
		int64_t end = t->now.end.hi;
		if (u->counts && u->now.what.alone != NO_PARTICIPANT)
			add_until(s, u, u->now.what.alone, now,
				  smaller(end, wait_until(s, t, u, false)));
		if (u->nunordered == 0)
			continue;
		end = smaller(end, wait_until(s, t, u, true));
		for (size_t g = 0; g < u->nunordered; g++)
			add_until(s, u, unordered_at(u, g)->alone, now,
				  smaller(end, unordered_at(u, g)->end));
	}
}

/* A segment has begun on `t` while other clocks have unordered segments: with these it makes frames that
 * are not visited. */
static void add_unordered(struct csp_sweep *s, const struct clock_sweep *t)
{
	int64_t now = t->now.begin.lo;
	size_t may_not_wait = 0;
	for (size_t i = 0; i < s->nclocks; i++) {
		drop_unordered(&s->clocks[i], now);
		s->others[i] = waiting(&s->clocks[i]);
		may_not_wait += &s->clocks[i] != t && s->others[i].until == INT64_MIN;
	}
	if (may_not_wait == 0)
		add_until(s, t, t->now.what.alone, now,
			  smaller(t->now.end.hi, wait_until(s, t, t, false)));
	if (may_not_wait <= 1 && t->now.what.all_wait)
		add_workers(s, t, now);
}

/* Whether another clock than `t` has unordered segments that have not ended. */
static bool overlaps_unordered(const struct csp_sweep *s, const struct clock_sweep *t)
{
	size_t other = s->latest[0].which == (size_t)(t - s->clocks);
	return s->latest[other].end > t->now.begin.lo;
}

static void keep_unordered(struct csp_sweep *s, struct clock_sweep *t)
{
	drop_unordered(t, t->now.end.lo);
	if (t->nunordered == t->room) {
		struct unordered *ring = mem_resize(NULL, t->room ? 2 * t->room : 4, sizeof *ring);
		for (size_t i = 0; i < t->nunordered; i++)
			ring[i] = *unordered_at(t, i);
		free(t->unordered);
		t->unordered = ring;
		t->room = t->room ? 2 * t->room : 4;
		t->first = 0;
	}
	t->unordered[(t->first + t->nunordered++) & (t->room - 1)] =
		(struct unordered){ t->now.end.hi, t->now.what.alone, t->now.what.all_wait };

	size_t which = (size_t)(t - s->clocks), at = s->latest[0].which == which ? 0 : 1;
	if (t->now.end.hi > s->latest[at].end || s->latest[at].which == which) {
		s->latest[at].end = t->now.end.hi;
		s->latest[at].which = which;
	}
	if (s->latest[1].end > s->latest[0].end) {
		int64_t end = s->latest[0].end;
		which = s->latest[0].which;
		s->latest[0] = s->latest[1];
		s->latest[1].end = end;
		s->latest[1].which = which;
	}
}

/* ---- The sweep ------------------------------------------------------------------------------- */

/* The times of a segment. What began before the first record, or goes on after the last, did so
 * within the span of the run: that of this time base, unless others are longer, which is unknown.
 * Written where they stay: copies of what was just written in parts are slow. */
static void set_times(const struct csp_sweep *s, struct clock_sweep *t, struct timed_segment *x)
{
	uint64_t from = x->what.from, to = x->what.to;
	x->measured = false;
	x->begin = frz_time_of(&t->times, from);
	if (from == PERIOD_BEFORE && s->complete)
		x->begin = s->span->first;
	else if (from == PERIOD_BEFORE)
		x->begin.lo = INT64_MIN;
	if (to == PERIOD_AFTER)
		x->end.lo = x->end.hi = s->complete ? s->span->last.hi : INT64_MAX;
	else
		x->end = frz_time_of(&t->times, to);
}

static void fetch(struct csp_sweep *s, struct clock_sweep *t)
{
	t->exhausted = !timeline_next(t->timeline, &t->now.what);
	if (!t->exhausted)
		set_times(s, t, &t->now);
}

static int64_t next_key(const struct clock_sweep *t)
{
	return t->counts ? t->now.end.lo : t->now.begin.lo;
}

static void begin(struct csp_sweep *s, struct clock_sweep *t)
{
	t->counts = true;
	s->certain += t->now.what.certain;
	if (t->now.what.all_wait) {
		s->waiting++;
		s->xor_not_waiting ^= (uint32_t)(t - s->clocks);
	}
	visit_frames(s);
	if (overlaps_unordered(s, t))
		add_unordered(s, t);
}

static void end(struct csp_sweep *s, struct clock_sweep *t)
{
	t->counts = false;
	s->certain -= t->now.what.certain;
	if (t->now.what.all_wait) {
		s->waiting--;
		s->xor_not_waiting ^= (uint32_t)(t - s->clocks);
	}
	if (s->nclocks > 1)
		keep_unordered(s, t);
	fetch(s, t);
}

static void sweep(struct csp_sweep *s)
{
	while (s->heap.count > 0) {
		struct clock_sweep *t = &s->clocks[s->heap.items[0].source];
		if (t->counts)
			end(s, t);
		else
			begin(s, t);
		if (t->exhausted)
			heap_remove_first(&s->heap);
		else
			heap_change_first(&s->heap, heap_key(next_key(t)));
	}
	assert(s->waiting == 0 && s->certain == 0);
}

static void open_clocks(struct csp_sweep *s, uint32_t time_base, const struct roles *roles,
			const struct participants *who, struct totals *totals)
{
	const struct trace *trace = s->times->trace;
	s->clocks = mem_resize(NULL, trace->nclocks, sizeof *s->clocks);
	s->heap.items = mem_resize(NULL, trace->nclocks, sizeof *s->heap.items);
	s->others = mem_resize(NULL, trace->nclocks, sizeof *s->others);
	for (uint32_t c = 0; c < trace->nclocks; c++) {
		struct timeline *timeline =
			s->times->time_base[c] == time_base ? timeline_open(trace, c, roles, who,
											totals)
							      : NULL;
		if (!timeline)
			continue;
		struct clock_sweep *t = &s->clocks[s->nclocks];
		*t = (struct clock_sweep){ .timeline = timeline, .clock = c,
					   .times = times_cursor(s->times, c) };
		s->xor_not_waiting ^= (uint32_t)s->nclocks++;
		fetch(s, t);
		if (!t->exhausted)
			heap_add(&s->heap, heap_key(next_key(t)), (uint32_t)(t - s->clocks));
	}
}

static void sweep_time_base(struct csp_sweep *s, uint32_t time_base, const struct roles *roles,
			    const struct participants *who, struct totals *totals)
{
	open_clocks(s, time_base, roles, who, totals);
	s->latest[0].end = s->latest[1].end = INT64_MIN;
	s->latest[0].which = s->latest[1].which = SIZE_MAX;
	sweep(s);
	for (size_t i = 0; i < s->nclocks; i++) {
		timeline_close(s->clocks[i].timeline);
		free(s->clocks[i].unordered);
	}
	free(s->clocks);
	free(s->heap.items);
	free(s->others);
}

static void name_sites(struct csp_sweep *s, uint32_t nparticipants)
{
	for (uint32_t a = 0; a < nparticipants; a++) {
		struct at_site most = { TR_NO_SITE, -1 };
		for (size_t i = 0; i < s->tallies[a].nsites; i++)
			if (s->tallies[a].sites[i].ticks > most.ticks)
				most = s->tallies[a].sites[i];
		s->scores[a].site = most.site;
		free(s->tallies[a].sites);
	}
}

bool csp_on_one_time_base(const struct times *times, const struct participants *who,
			  const struct span *spans)
{
	uint32_t used = 0;
	for (uint32_t time_base = 0; time_base < times->ntime_bases; time_base++) {
		bool uses = spans[time_base].events;
		for (uint32_t a = 0; a < who->nparticipants; a++)
			uses |= times->time_base[who->clock_of[a]] == time_base;
		used += uses;
	}
	return used <= 1;
}

struct csp_score *csp_scores(const struct times *times, const struct roles *roles,
			     const struct participants *who, const struct span *spans,
			     struct totals *totals)
{
	struct csp_score *scores = mem_resize(NULL, who->nparticipants + 1, sizeof *scores);
	struct tally *tallies = mem_resize(NULL, who->nparticipants + 1, sizeof *tallies);
	for (uint32_t a = 0; a < who->nparticipants; a++) {
		scores[a] = (struct csp_score){ .site = TR_NO_SITE };
		tallies[a] = (struct tally){ .unordered_until = INT64_MIN };
	}
	struct csp_sweep all = { .times = times,
				 .complete = csp_on_one_time_base(times, who, spans),
				 .scores = scores, .tallies = tallies };
	progress_begin("adding up who worked alone", trace_records(times->trace));
	for (uint32_t time_base = 0; time_base < times->ntime_bases; time_base++) {
		struct csp_sweep s = all;
		s.span = &spans[time_base];
		sweep_time_base(&s, time_base, roles, who, totals);
	}
	progress_end();
	all.span = NULL;
	name_sites(&all, who->nparticipants);
	for (uint32_t a = 0; a < who->nparticipants; a++) {
		const struct span *span = &spans[times->time_base[who->clock_of[a]]];
		if (span->events)
			scores[a].alone.hi = smaller(scores[a].alone.hi, span->length.hi);
	}
	free(tallies);
	return scores;
}
