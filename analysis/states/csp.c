/* SPDX-License-Identifier: MIT
 *
 * csp.c - the sweep over the clocks of one line.
 *
 *   clock A   ---- t alone ----]          [--- all wait ---
 *   clock B        [------ all wait -----------]
 *                  ^ visited: A's and B's segments make a frame of t
 *
 * A's segment has ended by its key, lo(e), and lives on as a *ghost* until hi(e). When B's next
 * segment begins before that, it makes another frame with the ghost: see "hi" in the proof in
 * csp.h. */
#include "analysis/states/csp.h"

#include <assert.h>
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/progress.h"

struct timed {               /* a segment and when */
	struct lane_segment what;
	frz_time begin, end;
	frz_time length;     /* once `measured` */
	bool measured;
};

struct ghost { int64_t end; uint32_t alone; bool all_wait; };

struct track {               /* one clock in the sweep */
	struct lane *lane;
	uint32_t clock;
	struct frz_cursor times;
	struct timed now;    /* the segment that counts, or the next one */
	bool counts, exhausted;
	struct ghost *ghosts; /* a ring */
	size_t first, nghosts, room;
};

struct at_site { uint32_t site; int64_t ticks; };
struct tally {               /* of one actor */
	struct at_site *sites; /* where it worked alone, about how long */
	size_t nsites;
	int64_t unordered_until; /* time of unknown order has been added up to here */
};

/* Until when a track may be waiting: for ever when what counts says so; INT64_MIN when not at all.
 * */
struct waiting { int64_t until, by_ghost; };

struct sweep {
	const struct times *times;
	const struct span *span;
	bool complete;       /* all that was recorded is on this line */
	struct track *tracks;
	size_t ntracks;
	struct heap heap;    /* tracks by what happens to them next */

	size_t waiting, certain;  /* tracks that count all_wait; that are certain */
	uint32_t xor_not_waiting;

	struct { int64_t end; size_t track; } ghost[2]; /* the last ends of ghosts of two tracks */
	struct waiting *others;   /* each track, while a segment begins */

	struct csp_score *scores;
	struct tally *tallies;
};

/* ---- Frames ---------------------------------------------------------------------------------- */

static bool waits(const struct track *t)
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

/* The two largest begins, or smallest ends, of different tracks. */
struct two { int64_t best, second; const struct track *of; };

static void two_add(struct two *two, int64_t value, const struct track *of)
{
	if (value > two->best)
		*two = (struct two){ value, two->best, of };
	else if (value > two->second)
		two->second = value;
}

/* By the rate, and by its two times. Most segments make no frame, so nobody asks. */
static void measure(const struct sweep *s, const struct track *t, struct timed *x)
{
	uint64_t from = x->what.from, to = x->what.to;
	x->measured = true;
	x->length = (frz_time){ 0, ticks_minus(x->end.hi, x->begin.lo) };
	if (from != PERIOD_BEFORE && to != PERIOD_AFTER)
		x->length = times_duration(s->times, t->clock, to - from);
	if (to != PERIOD_AFTER)
		x->length.lo = larger(x->length.lo, ticks_minus(x->end.lo, x->begin.hi));
}

/* Length of the frame that the segments of all tracks make: the smallest e_i - b_j. */
static frz_time frame_length(const struct sweep *s)
{
	struct two begin = { INT64_MIN, INT64_MIN, NULL }, end = begin; /* ends negated */
	int64_t begin_lo = INT64_MIN, end_hi = INT64_MAX;
	frz_time length = { INT64_MAX, INT64_MAX };
	for (size_t i = 0; i < s->ntracks; i++) {
		struct timed *x = &s->tracks[i].now;
		if (!x->measured)
			measure(s, &s->tracks[i], x);
		two_add(&begin, x->begin.hi, &s->tracks[i]);
		two_add(&end, ticks_minus(0, x->end.lo), &s->tracks[i]);
		begin_lo = larger(begin_lo, x->begin.lo);
		end_hi = smaller(end_hi, x->end.hi);
		length.lo = smaller(length.lo, x->length.lo);
		length.hi = smaller(length.hi, x->length.hi);
	}
	if (s->ntracks > 1) {
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

static void add_frame(struct sweep *s, const struct track *alone, frz_time length)
{
	size_t count = 1;
	const uint32_t *actors = &alone->now.what.alone;
	if (*actors == LANE_ANYBODY)
		actors = lane_actors(alone->lane, &count);
	for (size_t i = 0; i < count; i++) {
		s->scores[actors[i]].alone = time_add(s->scores[actors[i]].alone, length);
		tally_site(&s->tallies[actors[i]], alone->now.what.site,
			   length.lo / 2 + length.hi / 2);
	}
}

/* A segment has begun; every frame that it makes with the segments that count now is new. */
static void visit_frames(struct sweep *s)
{
	if (s->waiting + 1 < s->ntracks)
		return;
	size_t from = 0, to = s->ntracks; /* tracks that may have the one who works */
	if (s->waiting < s->ntracks) {
		from = s->xor_not_waiting;
		to = from + 1;
	}
	for (size_t i = from; i < to; i++) {
		const struct track *alone = &s->tracks[i];
		if (!alone->counts || alone->now.what.alone == LANE_NOBODY)
			continue;
		frz_time length = frame_length(s);
		if (s->certain < s->ntracks || !s->complete)
			length.lo = 0;
		if (length.hi > 0)
			add_frame(s, alone, length);
	}
}

/* ---- Time of unknown order ------------------------------------------------------------------- */

static const struct ghost *ghost_at(const struct track *t, size_t i)
{
	return &t->ghosts[(t->first + i) & (t->room - 1)];
}

static void drop_ghosts(struct track *t, int64_t now)
{
	while (t->nghosts > 0 && ghost_at(t, 0)->end <= now) {
		t->first = (t->first + 1) & (t->room - 1);
		t->nghosts--;
	}
}

static struct waiting waiting(const struct track *t)
{
	struct waiting w = { INT64_MIN, INT64_MIN };
	for (size_t i = 0; i < t->nghosts; i++)
		if (ghost_at(t, i)->all_wait)
			w.by_ghost = ghost_at(t, i)->end;
	w.until = waits(t) ? INT64_MAX : w.by_ghost;
	return w;
}

/* Adds the time from now on to who may work alone then, once. */
static void add_until(struct sweep *s, const struct track *t, uint32_t who, int64_t now,
		      int64_t until)
{
	if (who == LANE_NOBODY || until <= now)
		return;
	size_t count = 1;
	const uint32_t *actors = &who;
	if (who == LANE_ANYBODY)
		actors = lane_actors(t->lane, &count);
	for (size_t i = 0; i < count; i++) {
		struct tally *tally = &s->tallies[actors[i]];
		frz_time *alone = &s->scores[actors[i]].alone;
		int64_t from = larger(now, tally->unordered_until);
		if (until <= from)
			continue;
		alone->hi = ticks_plus(alone->hi, ticks_minus(until, from));
		tally->unordered_until = until;
	}
}

/* All tracks but two may be waiting: until when, by at least one ghost unless `ghost` says that
 * there is one already. INT64_MIN when they may not. */
static int64_t wait_until(const struct sweep *s, const struct track *t, const struct track *u,
			  bool ghost)
{
	int64_t until = INT64_MAX, by_ghost = INT64_MIN;
	for (size_t i = 0; i < s->ntracks; i++) {
		if (&s->tracks[i] == t || &s->tracks[i] == u)
			continue;
		until = smaller(until, s->others[i].until);
		by_ghost = larger(by_ghost, s->others[i].by_ghost);
	}
	return until < INT64_MAX || ghost ? until : by_ghost;
}

/* A segment has begun on `t` that waits: somebody on another track may work alone. */
static void add_workers(struct sweep *s, const struct track *t, int64_t now)
{
	for (size_t i = 0; i < s->ntracks; i++) {
		const struct track *u = &s->tracks[i];
		if (u == t)
			continue;
		int64_t end = t->now.end.hi;
		if (u->counts && u->now.what.alone != LANE_NOBODY)
			add_until(s, u, u->now.what.alone, now,
				  smaller(end, wait_until(s, t, u, false)));
		if (u->nghosts == 0)
			continue;
		end = smaller(end, wait_until(s, t, u, true));
		for (size_t g = 0; g < u->nghosts; g++)
			add_until(s, u, ghost_at(u, g)->alone, now,
				  smaller(end, ghost_at(u, g)->end));
	}
}

/* A segment has begun on `t` while other tracks have ghosts: with these it makes frames that are
 * not visited. */
static void add_unordered(struct sweep *s, const struct track *t)
{
	int64_t now = t->now.begin.lo;
	size_t may_not_wait = 0;
	for (size_t i = 0; i < s->ntracks; i++) {
		drop_ghosts(&s->tracks[i], now);
		s->others[i] = waiting(&s->tracks[i]);
		may_not_wait += &s->tracks[i] != t && s->others[i].until == INT64_MIN;
	}
	if (may_not_wait == 0)
		add_until(s, t, t->now.what.alone, now,
			  smaller(t->now.end.hi, wait_until(s, t, t, false)));
	if (may_not_wait <= 1 && t->now.what.all_wait)
		add_workers(s, t, now);
}

/* Whether another track than `t` has ghosts that have not ended. */
static bool meets_ghosts(const struct sweep *s, const struct track *t)
{
	size_t other = s->ghost[0].track == (size_t)(t - s->tracks);
	return s->ghost[other].end > t->now.begin.lo;
}

static void add_ghost(struct sweep *s, struct track *t)
{
	drop_ghosts(t, t->now.end.lo);
	if (t->nghosts == t->room) {
		struct ghost *ring = mem_resize(NULL, t->room ? 2 * t->room : 4, sizeof *ring);
		for (size_t i = 0; i < t->nghosts; i++)
			ring[i] = *ghost_at(t, i);
		free(t->ghosts);
		t->ghosts = ring;
		t->room = t->room ? 2 * t->room : 4;
		t->first = 0;
	}
	t->ghosts[(t->first + t->nghosts++) & (t->room - 1)] =
		(struct ghost){ t->now.end.hi, t->now.what.alone, t->now.what.all_wait };

	size_t track = (size_t)(t - s->tracks), at = s->ghost[0].track == track ? 0 : 1;
	if (t->now.end.hi > s->ghost[at].end || s->ghost[at].track == track) {
		s->ghost[at].end = t->now.end.hi;
		s->ghost[at].track = track;
	}
	if (s->ghost[1].end > s->ghost[0].end) {
		int64_t end = s->ghost[0].end;
		track = s->ghost[0].track;
		s->ghost[0] = s->ghost[1];
		s->ghost[1].end = end;
		s->ghost[1].track = track;
	}
}

/* ---- The sweep ------------------------------------------------------------------------------- */

/* The times of a segment. What began before the first record, or goes on after the last, did so
 * within the span of the run: that of this line, unless others are longer, which nobody knows.
 * Written where they stay: copies of what was just written in parts are slow. */
static void set_times(const struct sweep *s, struct track *t, struct timed *x)
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

static void fetch(struct sweep *s, struct track *t)
{
	t->exhausted = !lane_next(t->lane, &t->now.what);
	if (!t->exhausted)
		set_times(s, t, &t->now);
}

static int64_t next_key(const struct track *t)
{
	return t->counts ? t->now.end.lo : t->now.begin.lo;
}

static void begin(struct sweep *s, struct track *t)
{
	t->counts = true;
	s->certain += t->now.what.certain;
	if (t->now.what.all_wait) {
		s->waiting++;
		s->xor_not_waiting ^= (uint32_t)(t - s->tracks);
	}
	visit_frames(s);
	if (meets_ghosts(s, t))
		add_unordered(s, t);
}

static void end(struct sweep *s, struct track *t)
{
	t->counts = false;
	s->certain -= t->now.what.certain;
	if (t->now.what.all_wait) {
		s->waiting--;
		s->xor_not_waiting ^= (uint32_t)(t - s->tracks);
	}
	if (s->ntracks > 1)
		add_ghost(s, t);
	fetch(s, t);
}

static void sweep(struct sweep *s)
{
	while (s->heap.count > 0) {
		struct track *t = &s->tracks[s->heap.items[0].source];
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

static void open_tracks(struct sweep *s, uint32_t line, const struct roles *roles,
			const struct cast *cast, struct totals *totals)
{
	const struct trace *trace = s->times->trace;
	s->tracks = mem_resize(NULL, trace->nclocks, sizeof *s->tracks);
	s->heap.items = mem_resize(NULL, trace->nclocks, sizeof *s->heap.items);
	s->others = mem_resize(NULL, trace->nclocks, sizeof *s->others);
	for (uint32_t c = 0; c < trace->nclocks; c++) {
		struct lane *lane = s->times->line[c] == line ? lane_open(trace, c, roles, cast,
											totals)
							      : NULL;
		if (!lane)
			continue;
		struct track *t = &s->tracks[s->ntracks];
		*t = (struct track){ .lane = lane, .clock = c, .times = times_cursor(s->times, c) };
		s->xor_not_waiting ^= (uint32_t)s->ntracks++;
		fetch(s, t);
		if (!t->exhausted)
			heap_add(&s->heap, heap_key(next_key(t)), (uint32_t)(t - s->tracks));
	}
}

static void sweep_line(struct sweep *s, uint32_t line, const struct roles *roles,
		       const struct cast *cast, struct totals *totals)
{
	open_tracks(s, line, roles, cast, totals);
	s->ghost[0].end = s->ghost[1].end = INT64_MIN;
	s->ghost[0].track = s->ghost[1].track = SIZE_MAX;
	sweep(s);
	for (size_t i = 0; i < s->ntracks; i++) {
		lane_close(s->tracks[i].lane);
		free(s->tracks[i].ghosts);
	}
	free(s->tracks);
	free(s->heap.items);
	free(s->others);
}

static void name_sites(struct sweep *s, uint32_t nactors)
{
	for (uint32_t a = 0; a < nactors; a++) {
		struct at_site most = { TR_NO_SITE, -1 };
		for (size_t i = 0; i < s->tallies[a].nsites; i++)
			if (s->tallies[a].sites[i].ticks > most.ticks)
				most = s->tallies[a].sites[i];
		s->scores[a].site = most.site;
		free(s->tallies[a].sites);
	}
}

bool csp_on_one_line(const struct times *times, const struct cast *cast, const struct span *spans)
{
	uint32_t used = 0;
	for (uint32_t line = 0; line < times->nlines; line++) {
		bool uses = spans[line].events;
		for (uint32_t a = 0; a < cast->nactors; a++)
			uses |= times->line[cast->clock_of[a]] == line;
		used += uses;
	}
	return used <= 1;
}

struct csp_score *csp_scores(const struct times *times, const struct roles *roles,
			     const struct cast *cast, const struct span *spans,
			     struct totals *totals)
{
	struct csp_score *scores = mem_resize(NULL, cast->nactors + 1, sizeof *scores);
	struct tally *tallies = mem_resize(NULL, cast->nactors + 1, sizeof *tallies);
	for (uint32_t a = 0; a < cast->nactors; a++) {
		scores[a] = (struct csp_score){ .site = TR_NO_SITE };
		tallies[a] = (struct tally){ .unordered_until = INT64_MIN };
	}
	struct sweep all = { .times = times, .complete = csp_on_one_line(times, cast, spans),
			     .scores = scores, .tallies = tallies };
	progress_begin("adding up who worked alone", trace_records(times->trace));
	for (uint32_t line = 0; line < times->nlines; line++) {
		struct sweep s = all;
		s.span = &spans[line];
		sweep_line(&s, line, roles, cast, totals);
	}
	progress_end();
	all.span = NULL;
	name_sites(&all, cast->nactors);
	for (uint32_t a = 0; a < cast->nactors; a++) {
		const struct span *span = &spans[times->line[cast->clock_of[a]]];
		if (span->events)
			scores[a].alone.hi = smaller(scores[a].alone.hi, span->length.hi);
	}
	free(tallies);
	return scores;
}
