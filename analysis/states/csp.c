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
 * csp.h. What is unordered of a clock comes to few numbers, since it begins before everything that begins now and
 * ends in order: until when the clock may still be waiting, and who may still be working, until when. */
#include "analysis/states/csp.h"

#include <assert.h>
#include <stdlib.h>

#include "analysis/base/heap.h"
#include "analysis/base/memory.h"
#include "analysis/base/tournament.h"
#include "analysis/states/frame_length.h"
#include "analysis/states/places.h"

struct timed_segment {       /* a segment and when */
	struct timeline_segment *what;
	frz_time begin, end;
};

/* Segments of a clock that are found and timed at once. */
#define AHEAD 32
struct ahead { struct timeline_segment segment[AHEAD]; frz_time time[2 * AHEAD]; size_t next, n; };

struct worked { int64_t until; uint32_t alone; }; /* by a segment that has ended */

struct clock_sweep {         /* one clock in the sweep */
	struct timeline *timeline;
	uint32_t which;      /* of the sweep's clocks; */
	uint32_t clock;      /* and of the trace's */
	struct timed_segment now; /* of those ahead, the segment that counts, or the next one */
	bool counts, exhausted;
	bool listed;         /* is in csp_sweep.workers */
	int64_t waited_until; /* by segments that have ended */
	struct worked *worked; /* a ring, in order */
	size_t first, nworked, room;
	struct frz_cursor times;
	struct ahead ahead;
};

struct at_site { uint32_t site; int64_t ticks; };
struct tally {               /* of one participant */
	struct at_site *sites; /* where it worked alone, about how long */
	size_t nsites;
	int64_t unordered_until; /* time of unknown order has been added up to here */
};

/* Until when some clocks may be waiting, each: the two that may do so least long; and the two that may do so longest
 * by what is unordered. */
struct csp_waits { int64_t least, second, most, second_most; uint32_t of_least, of_most; };

/* When the last segment of a clock that has ended may still end. */
struct latest { int64_t end; uint32_t which; };

/* From one key to another a clock surely does not wait. */
struct guard { int64_t since, until; uint32_t clock; };
#define GUARDS 3             /* so that each clock has two others */

struct csp_sweep {
	const struct times *times;
	const struct span *span;
	bool complete;       /* all that was recorded is on this time base */
	bool prunes;
	struct guard guards[GUARDS]; /* that last longest, as far as is known; the longest first */
	struct clock_sweep *clocks;
	size_t nclocks;
	struct heap heap;    /* clocks by what happens to them next */

	size_t waiting, certain;  /* clocks that count all_wait; that are certain */
	uint32_t xor_not_waiting;
	uint32_t *workers;   /* clocks on which someone may work alone; and some more */
	size_t nworkers;

	struct tournament lengths, bounds;
	struct frame_part *parts; /* of what counts: nodes of `lengths` */
	struct csp_waits *waits;      /* of all clocks: nodes of `bounds` */
	struct latest latest[2]; /* the last ends of unordered segments of two clocks */

	struct csp_score *scores;
	struct tally *tallies;
	struct places *places;
};

/* ---- Frames ---------------------------------------------------------------------------------- */

static bool waits(const struct clock_sweep *t)
{
	return t->counts && t->now.what->all_wait;
}

static bool works(const struct clock_sweep *t)
{
	return t->counts && t->now.what->alone != NO_PARTICIPANT;
}

/* Most segments make no frame, so their lengths are seldom wanted. */
static void measure(void *sweep, size_t i)
{
	struct csp_sweep *s = sweep;
	const struct timed_segment *x = &s->clocks[i].now;
	uint64_t from = x->what->from, to = x->what->to;
	bool passed = from != PERIOD_BEFORE && to != PERIOD_AFTER;
	frz_time length = passed ? times_duration(s->times, s->clocks[i].clock, to - from) : (frz_time){ 0, 0 };
	struct frame_part *part = &s->parts[s->nclocks + i];
	*part = frame_part(x->begin, x->end, passed ? &length : NULL);
	if (to == PERIOD_AFTER) /* nothing says that it goes on so long */
		part->length.lo = 0;
}

static void join_parts(void *sweep, size_t node)
{
	struct frame_part *parts = ((struct csp_sweep *)sweep)->parts;
	parts[node] = frame_join(&parts[2 * node], &parts[2 * node + 1]);
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

/* The stamp of its clock when it is about `time`, within the segment. */
static uint64_t stamp_at(const struct csp_sweep *s, const struct clock_sweep *t, frz_time time)
{
	const struct trace *trace = s->times->trace;
	const struct timed_segment *x = &t->now;
	uint64_t from = x->what->from, to = x->what->to;
	double now = (double)time_middle(time), begin = (double)time_middle(x->begin), end = (double)time_middle(x->end);
	double per = trace->clocks[t->clock].ghz / trace->clocks[s->times->base].ghz, at;
	if (from == PERIOD_BEFORE && to == PERIOD_AFTER)
		return from;
	if (from == PERIOD_BEFORE)
		return (at = (end - now) * per) < (double)to ? to - (uint64_t)larger((int64_t)at, 0) : 0;
	at = to == PERIOD_AFTER ? (now - begin) * per : (now - begin) / (end - begin) * (double)(to - from);
	at = at > 0 ? at : 0;
	return at < (double)(to - from) ? from + (uint64_t)at : to;
}

struct placing { struct tally *tally; double per; };

static void tally_place(void *placing, uint32_t site, uint64_t ticks)
{
	struct placing *p = placing;
	tally_site(p->tally, site, (int64_t)((double)ticks * p->per));
}

static bool same_time(frz_time x, frz_time y)
{
	return x.lo == y.lo && x.hi == y.hi;
}

/* Where a participant worked in the frame that is next. */
static void tally_frame(struct csp_sweep *s, struct clock_sweep *alone, uint32_t participant, frz_time length)
{
	const struct trace *trace = s->times->trace;
	const struct frame_part *frame = &s->parts[1];
	struct timeline_segment *x = alone->now.what;
	if (!places_several(s->places, participant)) {
		if (x->site == TIMELINE_SITE_LATER)
			x->site = timeline_site(alone->timeline, x);
		tally_site(&s->tallies[participant], x->site, time_middle(length));
		return;
	}
	uint64_t from = same_time(frame->begin, alone->now.begin) ? x->from : stamp_at(s, alone, frame->begin);
	uint64_t to = same_time(frame->end, alone->now.end) ? x->to : stamp_at(s, alone, frame->end);
	struct placing placing = { &s->tallies[participant], trace->clocks[s->times->base].ghz / trace->clocks[alone->clock].ghz };
	places_between(s->places, participant, from, to > from ? to : from + 1, tally_place, &placing);
}

/* Of the time until the first of its segments ends, some may have been added already as time of unknown order. */
static void add_frame(struct csp_sweep *s, struct clock_sweep *alone, frz_time length)
{
	size_t count = 1;
	const uint32_t *participants = &alone->now.what->alone;
	if (*participants == ANY_PARTICIPANT)
		participants = timeline_participants(alone->timeline, &count);
	for (size_t i = 0; i < count; i++) {
		struct tally *tally = &s->tallies[participants[i]];
		frz_time *score = &s->scores[participants[i]].alone;
		int64_t rest = ticks_minus(s->parts[1].end.hi, tally->unordered_until);
		*score = time_add(*score, (frz_time){ length.lo, smaller(length.hi, larger(rest, 0)) });
		tally_frame(s, alone, participants[i], length);
	}
}

static void drop_worked(struct clock_sweep *t, int64_t now)
{
	while (t->nworked > 0 && t->worked[t->first].until <= now) {
		t->first = (t->first + 1) & (t->room - 1);
		t->nworked--;
	}
}

/* Leaves out of the list on whose clock no one may work any more. */
static void list_workers(struct csp_sweep *s, int64_t now)
{
	size_t kept = 0;
	for (size_t i = 0; i < s->nworkers; i++) {
		struct clock_sweep *t = &s->clocks[s->workers[i]];
		drop_worked(t, now);
		t->listed = works(t) || t->nworked > 0;
		if (t->listed)
			s->workers[kept++] = s->workers[i];
	}
	s->nworkers = kept;
}

/* A segment has begun; every frame that it makes with the segments that count now is new. */
static void visit_frames(struct csp_sweep *s, int64_t now)
{
	if (s->waiting + 1 < s->nclocks)
		return;
	size_t count = 1;
	const uint32_t *which = &s->xor_not_waiting; /* clocks that may have the one who works */
	if (s->waiting == s->nclocks) {
		list_workers(s, now);
		which = s->workers;
		count = s->nworkers;
	}
	for (size_t i = 0; i < count; i++) {
		struct clock_sweep *alone = &s->clocks[which[i]];
		if (!works(alone))
			continue;
		tournament_settle(&s->lengths, measure, join_parts, s);
		frz_time length = frame_length(&s->parts[1]);
		if (s->certain < s->nclocks || !s->complete)
			length.lo = 0;
		if (length.hi > 0)
			add_frame(s, alone, length);
	}
}

/* ---- Time of unknown order ------------------------------------------------------------------- */

static void set_waits(void *sweep, size_t i)
{
	struct csp_sweep *s = sweep;
	const struct clock_sweep *t = &s->clocks[i];
	s->waits[s->nclocks + i] = (struct csp_waits){
		waits(t) ? t->now.end.hi : t->waited_until, INT64_MAX, t->waited_until, INT64_MIN, (uint32_t)i, (uint32_t)i,
	};
}

static struct csp_waits join_two_waits(const struct csp_waits *x, const struct csp_waits *y)
{
	const struct csp_waits *a = x->least <= y->least ? x : y, *b = a == x ? y : x;
	const struct csp_waits *c = x->most >= y->most ? x : y, *d = c == x ? y : x;
	return (struct csp_waits){ a->least, smaller(a->second, b->least), c->most, larger(c->second_most, d->most),
			       a->of_least, c->of_most };
}

static void join_waits(void *sweep, size_t node)
{
	struct csp_waits *all = ((struct csp_sweep *)sweep)->waits;
	all[node] = join_two_waits(&all[2 * node], &all[2 * node + 1]);
}

/* Of all clocks but one: what is beside its way to the root. */
static struct csp_waits waits_but(const struct csp_sweep *s, const struct clock_sweep *t)
{
	struct csp_waits w = { INT64_MAX, INT64_MAX, INT64_MIN, INT64_MIN, UINT32_MAX, UINT32_MAX };
	for (size_t node = s->nclocks + t->which; node > 1; node /= 2)
		w = join_two_waits(&w, &s->waits[node ^ 1]);
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

/* A segment has begun on `t` that waits: a participant of `u` may work alone until `end` at most, as long as all
 * clocks but these two may wait. */
static void add_worker(struct csp_sweep *s, const struct clock_sweep *t, struct clock_sweep *u, const struct csp_waits *w)
{
	int64_t now = t->now.begin.lo;
	int64_t least = u->which == w->of_least ? w->second : w->least;
	int64_t most = u->which == w->of_most ? w->second_most : w->most;
	int64_t end = smaller(t->now.end.hi, least);
	if (works(u))
		add_until(s, u, u->now.what->alone, now,
			  smaller(smaller(end, most), u->now.end.hi)); /* with something unordered */
	drop_worked(u, now);
	for (size_t i = 0; i < u->nworked; i++) {
		const struct worked *x = &u->worked[(u->first + i) & (u->room - 1)];
		add_until(s, u, x->alone, now, smaller(end, x->until));
	}
}

/* A segment has begun on `t` while other clocks have unordered segments: with these it makes frames that
 * are not visited. */
static void add_unordered(struct csp_sweep *s, const struct clock_sweep *t)
{
	int64_t now = t->now.begin.lo;
	tournament_settle(&s->bounds, set_waits, join_waits, s);
	struct csp_waits w = waits_but(s, t);
	if (w.least > now)
		add_until(s, t, t->now.what->alone, now,
			  smaller(t->now.end.hi, smaller(w.least, w.most)));
	if (w.second <= now || !t->now.what->all_wait)
		return;
	if (w.least <= now) {
		add_worker(s, t, &s->clocks[w.of_least], &w);
		return;
	}
	list_workers(s, now);
	for (size_t i = 0; i < s->nworkers; i++)
		if (&s->clocks[s->workers[i]] != t)
			add_worker(s, t, &s->clocks[s->workers[i]], &w);
}

/* Whether another clock than `t` has unordered segments that have not ended. */
static bool overlaps_unordered(const struct csp_sweep *s, const struct clock_sweep *t)
{
	size_t other = s->latest[0].which == t->which;
	return s->latest[other].end > t->now.begin.lo;
}

static void keep_latest(struct csp_sweep *s, const struct clock_sweep *t)
{
	struct latest *first = &s->latest[0], *second = &s->latest[1], now = { t->now.end.hi, t->which };
	if (first->which == t->which) {
		first->end = now.end;
	} else if (now.end > first->end) {
		*second = *first;
		*first = now;
	} else if (now.end > second->end || second->which == t->which) {
		*second = now;
	}
}

/* Of each participant the last segment matters. */
static void keep_worked(struct clock_sweep *t)
{
	struct worked now = { t->now.end.hi, t->now.what->alone };
	drop_worked(t, t->now.end.lo);
	struct worked *last = t->nworked > 0 ? &t->worked[(t->first + t->nworked - 1) & (t->room - 1)] : NULL;
	if (last && last->alone == now.alone) {
		last->until = now.until;
		return;
	}
	if (t->nworked == t->room) {
		struct worked *ring = mem_resize(NULL, t->room ? 2 * t->room : 4, sizeof *ring);
		for (size_t i = 0; i < t->nworked; i++)
			ring[i] = t->worked[(t->first + i) & (t->room - 1)];
		free(t->worked);
		t->worked = ring;
		t->room = t->room ? 2 * t->room : 4;
		t->first = 0;
	}
	t->worked[(t->first + t->nworked++) & (t->room - 1)] = now;
}

static void keep_unordered(struct csp_sweep *s, struct clock_sweep *t)
{
	if (t->now.what->all_wait)
		t->waited_until = larger(t->waited_until, t->now.end.hi);
	if (t->now.what->alone != NO_PARTICIPANT)
		keep_worked(t);
	keep_latest(s, t);
}

/* ---- The sweep ------------------------------------------------------------------------------- */

/* The times of what is ahead. What began before the first record, or goes on after the last, did so
 * within the span of the run: that of this time base, unless others are longer, which is unknown. */
static void set_times(const struct csp_sweep *s, struct clock_sweep *t)
{
	struct ahead *a = &t->ahead;
	const struct timeline_segment *first = &a->segment[0], *last = &a->segment[a->n - 1];
	uint64_t stamp[2 * AHEAD];
	for (size_t i = 0; i < a->n; i++) {
		stamp[2 * i] = a->segment[i].from;
		stamp[2 * i + 1] = a->segment[i].to;
	}
	if (last->to == PERIOD_AFTER)
		stamp[2 * a->n - 1] = last->from;
	frz_times_of(&t->times, stamp, 2 * a->n, a->time);
	if (first->from == PERIOD_BEFORE && s->complete)
		a->time[0] = s->span->first;
	else if (first->from == PERIOD_BEFORE)
		a->time[0].lo = INT64_MIN;
	if (last->to == PERIOD_AFTER)
		a->time[2 * a->n - 1].lo = a->time[2 * a->n - 1].hi = s->complete ? s->span->last.hi : INT64_MAX;
}

/* Until its next segment that waits begins. */
static void set_guard(struct csp_sweep *s, const struct clock_sweep *t)
{
	struct guard *all = s->guards, new = { t->waited_until, INT64_MAX, t->which };
	if (!t->exhausted)
		new.until = t->now.what->all_wait ? t->now.begin.lo : t->now.end.lo;
	size_t at = 0;
	while (at < GUARDS - 1 && all[at].clock != new.clock)
		at++;
	if (all[at].clock != new.clock && new.until <= all[at].until)
		return;
	for (; at > 0 && all[at - 1].until < new.until; at--)
		all[at] = all[at - 1];
	for (; at + 1 < GUARDS && all[at + 1].until > new.until; at++)
		all[at] = all[at + 1];
	all[at] = new;
}

/* While two other clocks surely do not wait a segment makes no frame, visited or not. */
static bool cannot_matter(const struct csp_sweep *s, const struct clock_sweep *t)
{
	size_t guards = 0;
	if (s->guards[1].until < t->now.end.hi)
		return false; /* one of them at most lasts so long */
	for (size_t i = 0; i < GUARDS; i++)
		guards += s->guards[i].since <= t->now.begin.lo && t->now.end.hi <= s->guards[i].until &&
			  s->guards[i].clock != t->which;
	return guards >= 2;
}

static bool look_ahead(struct csp_sweep *s, struct clock_sweep *t)
{
	t->ahead.next = 0;
	t->ahead.n = timeline_segments(t->timeline, t->ahead.segment, AHEAD);
	if (t->ahead.n)
		set_times(s, t);
	return t->ahead.n > 0;
}

/* The next segment that may matter. */
static void fetch(struct csp_sweep *s, struct clock_sweep *t)
{
	struct ahead *a = &t->ahead;
	do {
		t->exhausted = a->next == a->n && !look_ahead(s, t);
		if (t->exhausted)
			break;
		t->now = (struct timed_segment){ &a->segment[a->next], a->time[2 * a->next], a->time[2 * a->next + 1] };
		a->next++;
	} while (s->prunes && cannot_matter(s, t));
	if (s->prunes)
		set_guard(s, t);
}

/* What happens next on a clock. Of what has the same key, ends come before begins; else it goes by the clocks. */
static inline struct heap_item next_change(const struct csp_sweep *s, const struct clock_sweep *t)
{
	if (t->counts)
		return (struct heap_item){ heap_key(t->now.end.lo), t->which };
	return (struct heap_item){ heap_key(t->now.begin.lo), (uint32_t)s->times->trace->nclocks + t->which };
}

/* It counts from now on (by 1), or does not any more (by -1). */
static inline void count(struct csp_sweep *s, struct clock_sweep *t, size_t by)
{
	const struct timeline_segment *now = t->now.what;
	s->certain += now->certain * by;
	s->waiting += now->all_wait * by;
	s->xor_not_waiting ^= now->all_wait * t->which;
	tournament_change(&s->bounds, t->which);
}

static void begin(struct csp_sweep *s, struct clock_sweep *t)
{
	t->counts = true;
	count(s, t, 1);
	tournament_change(&s->lengths, t->which);
	if (works(t) && !t->listed) {
		t->listed = true;
		s->workers[s->nworkers++] = t->which;
	}
	if (overlaps_unordered(s, t))
		add_unordered(s, t);
	visit_frames(s, t->now.begin.lo);
}

static void end(struct csp_sweep *s, struct clock_sweep *t)
{
	t->counts = false;
	count(s, t, SIZE_MAX);
	if (s->nclocks > 1)
		keep_unordered(s, t);
	fetch(s, t);
}

static void sweep(struct csp_sweep *s)
{
	size_t nclocks = s->times->trace->nclocks;
	while (s->heap.count > 0) {
		size_t first = s->heap.items[0].source;
		struct clock_sweep *t = &s->clocks[first < nclocks ? first : first - nclocks];
		struct heap_item next;
		do {
			if (t->counts)
				end(s, t);
			else
				begin(s, t);
			next = next_change(s, t);
		} while (!t->exhausted && heap_stays_first(&s->heap, next.key));
		if (t->exhausted)
			heap_remove_first(&s->heap);
		else
			heap_replace_first(&s->heap, next.key, next.source);
	}
	assert(s->waiting == 0 && s->certain == 0);
}

static void open_clock(struct csp_sweep *s, uint32_t clock, struct timeline *timeline)
{
	if (!timeline)
		return;
	struct clock_sweep *t = &s->clocks[s->nclocks];
	*t = (struct clock_sweep){ .timeline = timeline, .which = (uint32_t)s->nclocks, .clock = clock,
				   .times = times_cursor(s->times, clock), .waited_until = INT64_MIN };
	s->xor_not_waiting ^= (uint32_t)s->nclocks++;
	fetch(s, t);
	if (!t->exhausted)
		heap_add(&s->heap, next_change(s, t).key, next_change(s, t).source);
}

static void open_clocks(struct csp_sweep *s, uint32_t time_base, const struct periods *periods,
			const struct participants *who)
{
	const struct trace *trace = s->times->trace;
	s->clocks = mem_resize(NULL, trace->nclocks, sizeof *s->clocks);
	s->heap.items = mem_resize(NULL, trace->nclocks, sizeof *s->heap.items);
	s->workers = mem_resize(NULL, trace->nclocks, sizeof *s->workers);
	uint32_t *order = times_order(s->times);
	for (uint32_t i = 0; i < trace->nclocks; i++)
		if (s->times->time_base[order[i]] == time_base)
			open_clock(s, order[i], timeline_open(trace, order[i], periods, who, s->prunes));
	free(order);
	tournament_open(&s->lengths, s->nclocks);
	tournament_open(&s->bounds, s->nclocks);
	s->parts = mem_resize(NULL, 2 * s->nclocks, sizeof *s->parts);
	s->waits = mem_resize(NULL, 2 * s->nclocks, sizeof *s->waits);
}

static void close_clocks(struct csp_sweep *s)
{
	for (size_t i = 0; i < s->nclocks; i++) {
		timeline_close(s->clocks[i].timeline);
		free(s->clocks[i].worked);
	}
	free(s->clocks);
	free(s->heap.items);
	free(s->workers);
	tournament_close(&s->lengths);
	tournament_close(&s->bounds);
	free(s->parts);
	free(s->waits);
}

static void sweep_time_base(struct csp_sweep *s, uint32_t time_base, const struct periods *periods,
			    const struct participants *who)
{
	for (size_t i = 0; i < GUARDS; i++)
		s->guards[i] = (struct guard){ INT64_MAX, INT64_MIN, UINT32_MAX };
	open_clocks(s, time_base, periods, who);
	s->latest[0].end = s->latest[1].end = INT64_MIN;
	s->latest[0].which = s->latest[1].which = UINT32_MAX;
	sweep(s);
	close_clocks(s);
}

static void name_sites(struct csp_sweep *s, uint32_t nparticipants)
{
	for (uint32_t a = 0; a < nparticipants; a++) {
		struct at_site most = { TR_NO_SITE, -1 };
		int64_t all = 0, second = 0, open = ticks_minus(s->scores[a].alone.hi, s->scores[a].alone.lo);
		bool one = !places_several(s->places, a) && s->tallies[a].nsites == 1;
		for (size_t i = 0; i < s->tallies[a].nsites; i++) {
			int64_t ticks = s->tallies[a].sites[i].ticks;
			second = larger(second, smaller(ticks, most.ticks));
			if (ticks > most.ticks)
				most = s->tallies[a].sites[i];
			all = ticks_plus(all, s->tallies[a].sites[i].ticks);
		}
		s->scores[a].site = most.site;
		s->scores[a].mostly = most.ticks >= all / 2;
		s->scores[a].sure = one || ticks_minus(most.ticks, second) > open;
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

/* For how long at most a participant may have done something else than wait between two attempts in vain. */
static int64_t between_of(const struct times *times, const struct participants *who, uint32_t a)
{
	return who->between[a] ? times_duration(times, who->clock_of[a], who->between[a]).hi : 0;
}

/* It may have worked then: alone, or beside who is said to be alone. */
static void allow_between(const struct times *times, const struct participants *who, struct csp_score *scores)
{
	int64_t all = 0;
	for (uint32_t a = 0; a < who->nparticipants; a++)
		all = ticks_plus(all, between_of(times, who, a));
	for (uint32_t a = 0; all > 0 && a < who->nparticipants; a++) {
		int64_t own = between_of(times, who, a);
		scores[a].alone.lo = larger(ticks_minus(scores[a].alone.lo, ticks_minus(all, own)), 0);
		scores[a].alone.hi = ticks_plus(scores[a].alone.hi, own);
	}
}

static struct csp_score *sweep_all(const struct times *times, const struct periods *periods,
				   const struct participants *who, const struct span *spans, bool prunes)
{
	struct csp_score *scores = mem_resize(NULL, who->nparticipants + 1, sizeof *scores);
	struct tally *tallies = mem_resize(NULL, who->nparticipants + 1, sizeof *tallies);
	for (uint32_t a = 0; a < who->nparticipants; a++) {
		scores[a] = (struct csp_score){ .site = TR_NO_SITE };
		tallies[a] = (struct tally){ .unordered_until = INT64_MIN };
	}
	struct csp_sweep all = { .times = times,
				 .complete = csp_on_one_time_base(times, who, spans),
				 .prunes = prunes, .scores = scores, .tallies = tallies,
				 .places = places_open(times->trace, periods, who) };
	for (uint32_t time_base = 0; time_base < times->ntime_bases; time_base++) {
		struct csp_sweep s = all;
		s.span = &spans[time_base];
		sweep_time_base(&s, time_base, periods, who);
	}
	all.span = NULL;
	name_sites(&all, who->nparticipants);
	allow_between(times, who, scores);
	for (uint32_t a = 0; a < who->nparticipants; a++) {
		const struct span *span = &spans[times->time_base[who->clock_of[a]]];
		if (span->events)
			scores[a].alone.hi = smaller(scores[a].alone.hi, span->length.hi);
	}
	places_close(all.places);
	free(tallies);
	return scores;
}

struct csp_score *csp_scores(const struct times *times, const struct periods *periods,
			     const struct participants *who, const struct span *spans)
{
	return sweep_all(times, periods, who, spans, true);
}

struct csp_score *csp_scores_unpruned(const struct times *times, const struct periods *periods,
				      const struct participants *who, const struct span *spans)
{
	return sweep_all(times, periods, who, spans, false);
}
