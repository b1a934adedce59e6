/* SPDX-License-Identifier: MIT
 *
 * frames.c - see frames.h for the words, the law and its proof.
 *
 * Each clock has a ring of segments: its unordered ones, numbered upwards, and behind them the one that
 * counts. A run remembers for each clock with which number it began. In most steps no other clock has
 * an unordered segment; then the sums of the counts decide. */
#include "analysis/states/frames.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory.h"

struct timed_choices {       /* a segment and when */
	struct count_segment what;
	frz_time begin, end;
};

struct clock_window {        /* one clock in the sweep */
	struct count_bounds *bounds;
	uint32_t clock;
	struct frz_cursor times;
	struct timed_choices *ring;
	uint64_t oldest, now; /* numbers of the oldest unordered segment and of the one that counts */
	size_t room;         /* of the ring, a power of two */
	int32_t *lo, *hi;    /* bounds of the segment that counts, around all its choices */
	bool unordered;      /* has unordered segments, and is in sweep.unordered */
};

struct run_edge { uint64_t number, from; frz_time begin; };

struct frame_run {
	bool open;
	bool has_certain;    /* possible run: a certain run began in it */
	struct run_edge *edges; /* the first segment of each clock */
};

/* Numbers of the segments of a clock that may be real. */
struct range { uint64_t from, to; };

struct frames_sweep {
	const struct times *times;
	const struct query *query;
	const struct span *span;
	struct frames *frames;
	size_t most, ncounts;
	struct atom_map map;
	struct clock_window *clocks;
	size_t nclocks;
	struct heap heap;    /* clocks by lo(e) of what counts */
	int32_t *lo, *hi;    /* sums over all clocks, and threads on other time bases */
	int32_t *try_lo, *try_hi; /* sums with other choices */
	size_t *unordered, nunordered;
	struct range *ranges; /* of each clock, for a verdict */
	size_t *open, nopen; /* clocks with several choices, for a verdict */
	struct frame_run certain, possible;
	int64_t counted_until; /* time of unknown order is counted up to here */
};

static int64_t larger(int64_t x, int64_t y)
{
	return x > y ? x : y;
}

static int64_t smaller(int64_t x, int64_t y)
{
	return x < y ? x : y;
}

static struct timed_choices *segment(const struct clock_window *s, uint64_t number)
{
	return &s->ring[number & (s->room - 1)];
}

static struct timed_choices *current(const struct clock_window *s)
{
	return segment(s, s->now);
}

/* ---- Lengths --------------------------------------------------------------------------------- */

/* The two largest of different clocks. */
struct frames_extremes { int64_t best, second; const struct clock_window *of; };

static void two_add(struct frames_extremes *two, int64_t value, const struct clock_window *of)
{
	if (value > two->best)
		*two = (struct frames_extremes){ value, two->best, of };
	else if (value > two->second)
		two->second = value;
}

/* Whether nothing on this clock begins the run, or ends it: it does so at the begin of the span,
 * and at its end. */
static bool begins_with_span(const struct frames_sweep *s, const struct run_edge *edge)
{
	return edge->from == PERIOD_BEFORE && edge->begin.hi == s->span->first.hi;
}

static bool ends_with_span(const struct clock_window *x)
{
	return current(x)->what.to == PERIOD_AFTER;
}

/* From the begin of a run to the end of what counts, on one clock. */
static frz_time length_on(const struct frames_sweep *s, const struct clock_window *x,
			  const struct run_edge *edge)
{
	const struct timed_choices *last = current(x);
	frz_time apart = { ticks_minus(last->end.lo, edge->begin.hi),
			   ticks_minus(last->end.hi, edge->begin.lo) };
	if (edge->from == PERIOD_BEFORE || ends_with_span(x))
		return apart;
	frz_time passed = times_duration(s->times, x->clock, last->what.to - edge->from);
	return (frz_time){ larger(passed.lo, apart.lo), smaller(passed.hi, apart.hi) };
}

/* The ends that are changes: their latest begin, their earliest end (negated), and the least length
 * between two on one clock. */
struct changes { struct frames_extremes begin, end; int64_t length; };

static struct changes changes_of(const struct frames_sweep *s, const struct frame_run *run)
{
	struct frames_extremes none = { INT64_MIN, INT64_MIN, NULL };
	struct changes c = { none, none, INT64_MAX };
	for (size_t i = 0; i < s->nclocks; i++) {
		const struct clock_window *x = &s->clocks[i];
		bool begins = !begins_with_span(s, &run->edges[i]), ends = !ends_with_span(x);
		if (begins)
			two_add(&c.begin, run->edges[i].begin.hi, x);
		if (ends)
			two_add(&c.end, ticks_minus(0, current(x)->end.lo), x);
		if (begins && ends)
			c.length = smaller(c.length, length_on(s, x, &run->edges[i]).lo);
	}
	return c;
}

/* The least e_i - b_j is at least this. No change is outside of the span: that begins or ends a
 * run only where no change does. */
static int64_t least_length(const struct frames_sweep *s, const struct frame_run *run)
{
	struct changes c = changes_of(s, run);
	if (!c.begin.of && !c.end.of)
		return s->span->length.lo;
	if (!c.begin.of)
		return ticks_minus(ticks_minus(0, c.end.best), s->span->first.hi);
	if (!c.end.of)
		return ticks_minus(s->span->last.lo, c.begin.best);
	int64_t sum = c.begin.of != c.end.of ? ticks_plus(c.end.best, c.begin.best) :
					       larger(ticks_plus(c.end.second, c.begin.best),
						      ticks_plus(c.end.best, c.begin.second));
	return smaller(c.length, ticks_minus(0, sum));
}

static int64_t greatest_length(const struct frames_sweep *s, const struct frame_run *run)
{
	int64_t begin = INT64_MIN, end = INT64_MAX, length = s->span->length.hi;
	for (size_t i = 0; i < s->nclocks; i++) {
		begin = larger(begin, run->edges[i].begin.lo);
		end = smaller(end, current(&s->clocks[i])->end.hi);
		length = smaller(length, length_on(s, &s->clocks[i], &run->edges[i]).hi);
	}
	return smaller(length, ticks_minus(end, begin));
}

static frz_time run_length(const struct frames_sweep *s, const struct frame_run *run)
{
	return (frz_time){ larger(least_length(s, run), 0), larger(greatest_length(s, run), 0) };
}

/* ---- The longest ----------------------------------------------------------------------------- */

static bool longer(const struct frame *x, const struct frame *y)
{
	if (x->certain != y->certain)
		return x->certain;
	return x->certain ? x->length.lo > y->length.lo : x->length.hi > y->length.hi;
}

static void set_begin(const struct frames_sweep *s, const struct frame_run *run,
		      struct frame *frame)
{
	frz_time begin = { INT64_MIN, INT64_MIN };
	for (size_t i = 0; i < s->nclocks; i++) {
		begin.lo = larger(begin.lo, run->edges[i].begin.lo);
		begin.hi = larger(begin.hi, run->edges[i].begin.hi);
	}
	frame->begin.lo = larger(ticks_minus(begin.lo, s->span->first.hi), 0);
	frame->begin.hi = larger(ticks_minus(begin.hi, s->span->first.lo), 0);
	frame->middle = begin.lo / 2 + begin.hi / 2 + frame->length.hi / 2;
}

struct frame *frames_place(struct frames *f, size_t most, size_t nclocks, struct frame frame)
{
	if (most == 0 || (f->nlongest == most && !longer(&frame, &f->longest[most - 1])))
		return NULL;
	if (f->nlongest == most)
		frame.clocks = f->longest[--f->nlongest].clocks;
	else
		frame.clocks = mem_resize(NULL, nclocks, sizeof *frame.clocks);
	size_t at = f->nlongest++;
	for (; at > 0 && longer(&frame, &f->longest[at - 1]); at--)
		f->longest[at] = f->longest[at - 1];
	f->longest[at] = frame;
	return &f->longest[at];
}

static void remember(struct frames_sweep *s, const struct frame_run *run, struct frame frame)
{
	size_t nclocks = s->times->trace->nclocks;
	set_begin(s, run, &frame);
	struct frame *kept = frames_place(s->frames, s->most, nclocks, frame);
	for (size_t c = 0; kept && c < nclocks; c++)
		kept->clocks[c] = (struct ends_on_clock){ PERIOD_AFTER, PERIOD_BEFORE };
	for (size_t i = 0; kept && i < s->nclocks; i++)
		kept->clocks[s->clocks[i].clock] = (struct ends_on_clock){
			run->edges[i].from, current(&s->clocks[i])->what.to };
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static void close_certain(struct frames_sweep *s)
{
	frz_time length = run_length(s, &s->certain);
	s->certain.open = false;
	if (length.lo == 0)
		return;
	s->frames->holds.lo = ticks_plus(s->frames->holds.lo, length.lo);
	s->frames->certain++;
	s->possible.has_certain = true;
	remember(s, &s->certain, (struct frame){ .certain = true, .length = length });
}

static void close_possible(struct frames_sweep *s)
{
	frz_time length = { 0, run_length(s, &s->possible).hi };
	s->possible.open = false;
	s->frames->holds.hi = ticks_plus(s->frames->holds.hi, length.hi);
	if (length.hi == 0 || s->possible.has_certain)
		return;
	s->frames->possible++;
	remember(s, &s->possible, (struct frame){ .certain = false, .length = length });
}

/* Begins with what counts now, or, where that clock's range says so, with an unordered segment. */
static void open_run(const struct frames_sweep *s, struct frame_run *run)
{
	run->open = true;
	run->has_certain = false;
	for (size_t i = 0; i < s->nclocks; i++) {
		const struct timed_choices *first = segment(&s->clocks[i], s->ranges[i].from);
		run->edges[i] =
			(struct run_edge){ s->ranges[i].from, first->what.from, first->begin };
	}
}

/* ---- Verdicts -------------------------------------------------------------------------------- */

static void add_bounds(const struct frames_sweep *s, int32_t *lo, int32_t *hi,
		       const int32_t *from_lo, const int32_t *from_hi, int32_t by)
{
	for (size_t i = 0; i < s->ncounts; i++) {
		lo[i] += by * from_lo[i];
		hi[i] += by * from_hi[i];
	}
}

static void add_choice(struct frames_sweep *s, const struct timed_choices *t, size_t choice,
		       int32_t by)
{
	add_bounds(s, s->try_lo, s->try_hi, count_choice_lo(&t->what.choices, s->ncounts, choice),
		   count_choice_hi(&t->what.choices, s->ncounts, choice), by);
}

/* Bounds around all choices of the segments numbered from .. to. */
static void hull_of(const struct frames_sweep *s, const struct clock_window *x, struct range range,
		    int32_t *lo, int32_t *hi)
{
	bool first = true;
	for (uint64_t n = range.from; n <= range.to; n++) {
		const struct count_choices *c = &segment(x, n)->what.choices;
		for (size_t k = 0; k < c->count; k++, first = false)
			for (size_t i = 0; i < s->ncounts; i++) {
				int32_t l = count_choice_lo(c, s->ncounts, k)[i];
				int32_t h = count_choice_hi(c, s->ncounts, k)[i];
				lo[i] = first || l < lo[i] ? l : lo[i];
				hi[i] = first || h > hi[i] ? h : hi[i];
			}
	}
}

static size_t choices_in(const struct clock_window *x, struct range range)
{
	size_t count = 0;
	for (uint64_t n = range.from; n <= range.to; n++)
		count += segment(x, n)->what.choices.count;
	return count;
}

/* Tries every choice of the open clocks from `at` on; the verdict if all agree. */
static enum query_verdict try_choices(struct frames_sweep *s, size_t at)
{
	if (at == s->nopen)
		return query_verdict(s->query, s->try_lo, s->try_hi);
	const struct clock_window *x = &s->clocks[s->open[at]];
	struct range range = s->ranges[s->open[at]];
	bool any = false;
	enum query_verdict all = QUERY_MAYBE;
	for (uint64_t n = range.from; n <= range.to; n++)
		for (size_t k = 0; k < segment(x, n)->what.choices.count; k++) {
			add_choice(s, segment(x, n), k, 1);
			enum query_verdict one = try_choices(s, at + 1);
			add_choice(s, segment(x, n), k, -1);
			if (one == QUERY_MAYBE || (any && one != all))
				return QUERY_MAYBE;
			all = one;
			any = true;
		}
	return all;
}

/* With bounds around everything in the ranges. */
static enum query_verdict verdict_around(struct frames_sweep *s)
{
	int32_t lo[QUERY_COUNTS], hi[QUERY_COUNTS];
	memcpy(s->try_lo, s->lo, s->ncounts * sizeof *s->lo);
	memcpy(s->try_hi, s->hi, s->ncounts * sizeof *s->hi);
	for (size_t i = 0; i < s->nunordered; i++) {
		size_t h = s->unordered[i];
		if (s->ranges[h].from == s->ranges[h].to && s->ranges[h].to == s->clocks[h].now)
			continue;
		const struct clock_window *x = &s->clocks[h];
		hull_of(s, x, s->ranges[h], lo, hi);
		add_bounds(s, s->try_lo, s->try_hi, x->lo, x->hi, -1);
		add_bounds(s, s->try_lo, s->try_hi, lo, hi, 1);
	}
	return query_verdict(s->query, s->try_lo, s->try_hi);
}

/* Of all combinations of segments in the ranges. */
static enum query_verdict verdict(struct frames_sweep *s)
{
	enum query_verdict around = verdict_around(s);
	if (around != QUERY_MAYBE)
		return around;
	size_t product = 1;
	s->nopen = 0;
	for (size_t i = 0; i < s->nclocks && product <= FRAMES_TRIES; i++) {
		size_t choices = choices_in(&s->clocks[i], s->ranges[i]);
		if (choices == 1 && s->ranges[i].from == s->clocks[i].now)
			continue;
		product *= choices;
		s->open[s->nopen++] = i;
	}
	if (product > FRAMES_TRIES || product == 1)
		return around;
	memcpy(s->try_lo, s->lo, s->ncounts * sizeof *s->lo);
	memcpy(s->try_hi, s->hi, s->ncounts * sizeof *s->hi);
	for (size_t i = 0; i < s->nopen; i++) {
		const struct clock_window *x = &s->clocks[s->open[i]];
		add_bounds(s, s->try_lo, s->try_hi, x->lo, x->hi, -1);
	}
	return try_choices(s, 0);
}

/* ---- Unordered segments ---------------------------------------------------------------------- */

static void only_current(struct frames_sweep *s)
{
	for (size_t i = 0; i < s->nunordered; i++) {
		uint64_t now = s->clocks[s->unordered[i]].now;
		s->ranges[s->unordered[i]] = (struct range){ now, now };
	}
}

/* Unordered segments of all clocks but `but`, from the first segment of a run on; of all time without a run.
 * */
static bool with_unordered(struct frames_sweep *s, const struct clock_window *but,
			   const struct frame_run *run)
{
	bool any = false;
	only_current(s);
	for (size_t i = 0; i < s->nunordered; i++) {
		const struct clock_window *x = &s->clocks[s->unordered[i]];
		struct range *range = &s->ranges[s->unordered[i]];
		uint64_t from = run ? run->edges[s->unordered[i]].number : x->oldest;
		if (x == but)
			continue;
		range->from = from < x->oldest ? x->oldest : from > x->now ? x->now : from;
		any |= range->from < x->now;
	}
	return any;
}

static void drop_unordered(struct frames_sweep *s, int64_t now)
{
	size_t kept = 0;
	for (size_t i = 0; i < s->nunordered; i++) {
		struct clock_window *x = &s->clocks[s->unordered[i]];
		while (x->oldest < x->now && segment(x, x->oldest)->end.hi <= now)
			x->oldest++;
		x->unordered = x->oldest < x->now;
		s->ranges[s->unordered[i]] = (struct range){ x->now, x->now };
		if (x->unordered)
			s->unordered[kept++] = s->unordered[i];
	}
	s->nunordered = kept;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* Leaves out unordered segments of other clocks than `but` that end before `end`; the last end of these. */
static int64_t only_until(struct frames_sweep *s, size_t but, int64_t end)
{
	int64_t last = INT64_MIN;
	for (size_t i = 0; i < s->nunordered; i++) {
		struct clock_window *x = &s->clocks[s->unordered[i]];
		struct range *range = &s->ranges[s->unordered[i]];
		for (; s->unordered[i] != but && range->from < range->to &&
		       segment(x, range->from)->end.hi < end; range->from++)
			last = larger(last, segment(x, range->from)->end.hi);
	}
	return last;
}

/* Until when one unordered segment, together with the new one of `x`, may make the condition true; it may
 * do so only with others, of which one ends earlier. INT64_MIN if it may not. */
static int64_t possible_until(struct frames_sweep *s, const struct clock_window *x, size_t which,
			      uint64_t number)
{
	int64_t end = segment(&s->clocks[which], number)->end.hi;
	with_unordered(s, x, NULL);
	s->ranges[which] = (struct range){ number, number };
	if (verdict(s) == QUERY_NO)
		return INT64_MIN;
	int64_t earlier = only_until(s, which, end);
	return verdict(s) == QUERY_NO ? earlier : end;
}

/* The same for all unordered segments of a clock that are not in the possible run. */
static int64_t unordered_until(struct frames_sweep *s, const struct clock_window *x, size_t which)
{
	const struct clock_window *g = &s->clocks[which];
	uint64_t behind = s->possible.open ? s->possible.edges[which].number : g->now;
	int64_t until = INT64_MIN;
	if (g == x || behind <= g->oldest)
		return INT64_MIN;
	with_unordered(s, x, NULL);
	s->ranges[which] = (struct range){ g->oldest, behind - 1 };
	if (verdict(s) == QUERY_NO)
		return INT64_MIN;
	for (uint64_t n = behind; n-- > g->oldest && segment(g, n)->end.hi > until;)
		until = larger(until, possible_until(s, x, which, n));
	return until;
}

/* Combinations that are not visited have begun with the segment of `x`: time of unknown order,
 * unless they are in the possible run. */
static void add_unordered(struct frames_sweep *s, const struct clock_window *x, int64_t now)
{
	int64_t until = now;
	if (!with_unordered(s, x, NULL) || verdict(s) == QUERY_NO)
		return;
	for (size_t i = 0; i < s->nunordered; i++)
		until = larger(until, unordered_until(s, x, s->unordered[i]));
	until = smaller(until, current(x)->end.hi);
	if (until > larger(now, s->counted_until)) {
		int64_t from = larger(now, s->counted_until);
		s->frames->holds.hi = ticks_plus(s->frames->holds.hi, ticks_minus(until, from));
		s->frames->possible += !s->possible.open;
		s->counted_until = until;
	}
}

/* The times of a segment. What began before the first record, or goes on after the last, did so
 * within the span. */
static void set_times(const struct frames_sweep *s, struct clock_window *x, struct timed_choices *t)
{
	t->begin = frz_time_of(&x->times, t->what.from);
	if (t->what.from == PERIOD_BEFORE)
		t->begin = (frz_time){ s->span->first.lo, larger(t->begin.hi, s->span->first.hi) };
	t->end = s->span->last;
	if (t->what.to != PERIOD_AFTER)
		t->end = frz_time_of(&x->times, t->what.to);
}

static int64_t key_of(const struct clock_window *x)
{
	return current(x)->what.to == PERIOD_AFTER ? INT64_MAX : current(x)->end.lo;
}

static void make_room(const struct frames_sweep *s, struct clock_window *x)
{
	if (x->now + 1 - x->oldest < x->room)
		return;
	size_t room = x->room ? 2 * x->room : 4;
	struct timed_choices *ring = mem_resize(NULL, room, sizeof *ring);
	uint64_t old = 0;
	for (uint64_t n = x->oldest; old < x->room; n++, old++)
		ring[n & (room - 1)] = *segment(x, n);
	for (uint64_t n = x->oldest + old; old < room; n++, old++)
		count_segment_open(&ring[n & (room - 1)].what, s->query);
	free(x->ring);
	x->ring = ring;
	x->room = room;
}

static void fetch(struct frames_sweep *s, struct clock_window *x)
{
	make_room(s, x);
	struct timed_choices *next = segment(x, x->now + 1);
	bool more = count_bounds_next(x->bounds, &next->what);
	assert(more);
	set_times(s, x, next);
}

/* Makes the segment that was fetched count. */
static void move_on(struct frames_sweep *s, struct clock_window *x)
{
	size_t index = (size_t)(x - s->clocks);
	add_bounds(s, s->lo, s->hi, x->lo, x->hi, -1);
	x->now++;
	hull_of(s, x, (struct range){ x->now, x->now }, x->lo, x->hi);
	add_bounds(s, s->lo, s->hi, x->lo, x->hi, 1);
	s->ranges[index] = (struct range){ x->now, x->now };
	if (s->nclocks == 1) {
		x->oldest = x->now;
	} else if (!x->unordered) {
		x->unordered = true;
		s->unordered[s->nunordered++] = index;
	}
}

/* A certain run goes on if the condition is true with the new segment of `x`, whatever of the run
 * else is real. */
static bool stays_certain(struct frames_sweep *s, const struct clock_window *x)
{
	return !with_unordered(s, x, &s->certain) || verdict(s) == QUERY_YES;
}

/* With the new segment of `x`; and with the unordered ones of others, if they do not matter. */
static void begin_run(struct frames_sweep *s, const struct clock_window *x, struct frame_run *run)
{
	if (!with_unordered(s, x, NULL) || verdict(s) != QUERY_YES)
		only_current(s);
	open_run(s, run);
}

/* Runs end before the segment of `x` ends, and begin with its next one. So a step looks at the next
 * segment first; `visited` is what the condition is then. */
static void step(struct frames_sweep *s, struct clock_window *x)
{
	int64_t now = current(x)->end.lo;
	drop_unordered(s, now);
	fetch(s, x);
	move_on(s, x);
	only_current(s);
	enum query_verdict visited = verdict(s);
	bool certain = visited == QUERY_YES;
	if (s->certain.open && !(certain && stays_certain(s, x))) {
		x->now--;
		close_certain(s);
		x->now++;
	}
	if (s->possible.open && visited == QUERY_NO) {
		x->now--;
		close_possible(s);
		x->now++;
	}
	if (visited != QUERY_NO && !s->possible.open)
		begin_run(s, x, &s->possible);
	if (certain && !s->certain.open)
		begin_run(s, x, &s->certain);
	add_unordered(s, x, now);
}

static void begin(struct frames_sweep *s)
{
	for (size_t i = 0; i < s->nclocks; i++)
		s->ranges[i] = (struct range){ s->clocks[i].now, s->clocks[i].now };
	enum query_verdict first = verdict(s);
	if (first != QUERY_NO)
		open_run(s, &s->possible);
	if (first == QUERY_YES)
		open_run(s, &s->certain);
}

static void sweep(struct frames_sweep *s)
{
	begin(s);
	while (s->heap.count > 0 && s->heap.items[0].key != heap_key(INT64_MAX)) {
		struct clock_window *x = &s->clocks[s->heap.items[0].source];
		step(s, x);
		heap_change_first(&s->heap, heap_key(key_of(x)));
	}
	if (s->certain.open)
		close_certain(s);
	if (s->possible.open)
		close_possible(s);
}

/* ---- Opening and closing --------------------------------------------------------------------- */

/* Threads on clocks of other time bases may be in anything, or in nothing. */
static void open_clock(struct frames_sweep *s, uint32_t clock, uint32_t time_base)
{
	if (s->times->time_base[clock] != time_base) {
		count_bounds_most(s->query, clock, s->hi);
		return;
	}
	struct count_bounds *bounds = count_bounds_open(&s->map, clock);
	if (!bounds)
		return;
	struct clock_window *x = &s->clocks[s->nclocks];
	*x = (struct clock_window){ .bounds = bounds, .clock = clock, .oldest = 1,
				    .times = times_cursor(s->times, clock) };
	x->lo = mem_resize(NULL, 2 * (s->ncounts + 1), sizeof *x->lo);
	x->hi = x->lo + s->ncounts;
	fetch(s, x);
	x->now = 1;
	hull_of(s, x, (struct range){ 1, 1 }, x->lo, x->hi);
	add_bounds(s, s->lo, s->hi, x->lo, x->hi, 1);
	heap_add(&s->heap, heap_key(key_of(x)), (uint32_t)s->nclocks++);
}

static void open_clocks(struct frames_sweep *s, uint32_t time_base)
{
	size_t nclocks = s->times->trace->nclocks;
	s->lo = mem_resize(NULL, 4 * (s->ncounts + 1), sizeof *s->lo);
	memset(s->lo, 0, 4 * (s->ncounts + 1) * sizeof *s->lo);
	s->hi = s->lo + s->ncounts;
	s->try_lo = s->hi + s->ncounts;
	s->try_hi = s->try_lo + s->ncounts;
	s->clocks = mem_resize(NULL, nclocks, sizeof *s->clocks);
	s->heap.items = mem_resize(NULL, nclocks, sizeof *s->heap.items);
	s->unordered = mem_resize(NULL, nclocks, sizeof *s->unordered);
	s->open = mem_resize(NULL, nclocks, sizeof *s->open);
	s->ranges = mem_resize(NULL, nclocks, sizeof *s->ranges);
	s->certain.edges = mem_resize(NULL, nclocks, sizeof *s->certain.edges);
	s->possible.edges = mem_resize(NULL, nclocks, sizeof *s->possible.edges);
	for (uint32_t c = 0; c < nclocks; c++)
		open_clock(s, c, time_base);
}

static void close_clocks(struct frames_sweep *s)
{
	for (size_t i = 0; i < s->nclocks; i++) {
		struct clock_window *x = &s->clocks[i];
		count_bounds_close(x->bounds);
		for (size_t n = 0; n < x->room; n++)
			count_segment_close(&x->ring[n].what);
		free(x->ring);
		free(x->lo);
	}
	free(s->lo);
	free(s->clocks);
	free(s->heap.items);
	free(s->unordered);
	free(s->open);
	free(s->ranges);
	free(s->certain.edges);
	free(s->possible.edges);
}

void frames_open(struct frames *f, const struct times *times, const struct query *query,
		 uint32_t time_base, const struct span *span, size_t most)
{
	*f = (struct frames){ .longest = mem_resize(NULL, most, sizeof *f->longest) };
	struct frames_sweep s = { .times = times, .query = query, .span = span, .frames = f,
				  .most = most, .ncounts = query->ncounts,
				  .counted_until = INT64_MIN };
	atom_map_open(&s.map, query);
	open_clocks(&s, time_base);
	if (s.nclocks > 0)
		sweep(&s);
	close_clocks(&s);
	atom_map_close(&s.map);
	f->holds.hi = smaller(f->holds.hi, span->length.hi);
}

void frames_close(struct frames *f)
{
	for (size_t i = 0; i < f->nlongest; i++)
		free(f->longest[i].clocks);
	free(f->longest);
}
