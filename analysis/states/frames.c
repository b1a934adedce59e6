/* SPDX-License-Identifier: MIT
 *
 * frames.c - see frames.h for the words, the law and its proof.
 *
 * Each clock has a ring of segments: its unordered ones, numbered upwards, and behind them the one that
 * counts. A run remembers for each clock with which number it began, once that clock has moved on; until then it
 * is the segment that counts.
 *
 * Cost: a step costs the logarithm of the clocks, where bounds around the counts of everything that is unordered
 * decide; else it goes through the clocks that have something unordered. */
#include "analysis/states/frames.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/heap.h"
#include "analysis/base/memory.h"
#include "analysis/base/tournament.h"
#include "analysis/states/frame_length.h"

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
	int32_t *wide_lo, *wide_hi; /* and of that and the unordered ones */
	int32_t *most;       /* that its counts ever are */
	unsigned failed, patience; /* tries to make it the guard, in vain; and how many to leave out now */
};

/* Numbers of the segments of a clock that may be real, in one verdict. */
struct range { uint64_t verdict, from, to; };

/* `run`: it is that run's. */
struct run_edge { uint64_t run, number, from; frz_time begin; };

struct frame_run {
	uint64_t id;         /* 0: not open */
	bool has_certain;    /* possible run: a certain run began in it */
	int64_t counted;     /* possible run: so much time since it began is counted as of unknown order */
	struct run_edge *edges; /* the first segment, of each clock that has moved on in it, or began unordered */
	size_t *moved, nmoved; /* these clocks */
};

struct clock_list { size_t *clock, count, *at; }; /* `at`: where each clock is in it; or NOT_LISTED */
#define NOT_LISTED SIZE_MAX

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
	int32_t *wide_lo, *wide_hi; /* likewise, with all that is unordered */
	int32_t *try_lo, *try_hi; /* sums with other choices */
	int32_t *most_counts; /* sums of the most that counts ever are, over all clocks and time bases */
	bool prunes;
	const struct clock_window *guard; /* what counts on this clock makes the condition fail, whatever others do */
	int64_t fails_since, fails_until; /* from when on nothing of it is unordered; by its key */
	struct clock_list unordered; /* clocks that have something unordered */
	struct heap expiry;  /* these by hi(e) of the oldest */
	struct clock_list open; /* clocks of which what counts has several choices */
	struct clock_list outside; /* of which something unordered, perhaps, is not in the possible run */
	struct range *ranges; /* of each clock, for a verdict: if it says that verdict's number; else what counts */
	uint64_t verdict;
	size_t *tried, ntried; /* clocks with several choices, for a verdict */
	struct frame_run certain, possible;
	uint64_t runs;
	const struct frame_run *measured; /* run of which the lengths are wanted */
	struct tournament lengths;
	struct frame_part *parts; /* nodes of `lengths` */
	int64_t counted_until; /* time of unknown order is counted up to here */
};

static struct timed_choices *segment(const struct clock_window *s, uint64_t number)
{
	return &s->ring[number & (s->room - 1)];
}

static struct timed_choices *current(const struct clock_window *s)
{
	return segment(s, s->now);
}

static void list_open(struct clock_list *list, size_t nclocks)
{
	*list = (struct clock_list){ .clock = mem_resize(NULL, nclocks, sizeof *list->clock),
				     .at = mem_resize(NULL, nclocks, sizeof *list->at) };
	for (size_t i = 0; i < nclocks; i++)
		list->at[i] = NOT_LISTED;
}

static void list_close(struct clock_list *list)
{
	free(list->clock);
	free(list->at);
}

static bool is_listed(const struct clock_list *list, size_t clock)
{
	return list->at[clock] != NOT_LISTED;
}

static void set_listed(struct clock_list *list, size_t clock, bool listed)
{
	if (is_listed(list, clock) == listed)
		return;
	if (listed) {
		list->at[clock] = list->count;
		list->clock[list->count++] = clock;
		return;
	}
	size_t last = list->clock[--list->count];
	list->clock[list->at[clock]] = last;
	list->at[last] = list->at[clock];
	list->at[clock] = NOT_LISTED;
}

static size_t index_of(const struct frames_sweep *s, const struct clock_window *x)
{
	return (size_t)(x - s->clocks);
}

/* ---- Lengths --------------------------------------------------------------------------------- */

/* With which segment of a clock a run began. */
static struct run_edge edge_of(const struct frames_sweep *s, const struct frame_run *run, size_t i)
{
	if (run->edges[i].run == run->id)
		return run->edges[i];
	const struct timed_choices *now = current(&s->clocks[i]);
	return (struct run_edge){ run->id, s->clocks[i].now, now->what.from, now->begin };
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

/* From the begin of a run to the end of what counts, on one clock. No change is outside of the span: that begins
 * or ends a run only where no change does, so it is left out of the least length here. */
static void measure(void *sweep, size_t i)
{
	struct frames_sweep *s = sweep;
	const struct timed_choices *last = current(&s->clocks[i]);
	struct run_edge edge = edge_of(s, s->measured, i);
	bool passed = edge.from != PERIOD_BEFORE && last->what.to != PERIOD_AFTER;
	frz_time length = { 0, 0 };
	if (passed)
		length = times_duration(s->times, s->clocks[i].clock, last->what.to - edge.from);
	struct frame_part part = frame_part(edge.begin, last->end, passed ? &length : NULL);
	bool begins = !begins_with_span(s, &edge), ends = !ends_with_span(&s->clocks[i]);
	if (!begins)
		part.begin.hi = INT64_MIN;
	if (!ends)
		part.end.lo = INT64_MAX;
	if (!begins || !ends)
		part.length.lo = INT64_MAX;
	s->parts[s->nclocks + i] = part;
}

static void join_parts(void *sweep, size_t node)
{
	struct frame_part *parts = ((struct frames_sweep *)sweep)->parts;
	parts[node] = frame_join(&parts[2 * node], &parts[2 * node + 1]);
}

static void change_moved(struct frames_sweep *s, const struct frame_run *run)
{
	for (size_t i = 0; i < run->nmoved; i++)
		tournament_change(&s->lengths, run->moved[i]);
}

/* Clocks that have not moved on in it have the same part in every run that is open. */
static frz_time run_length(struct frames_sweep *s, const struct frame_run *run)
{
	const struct frame_part *all = &s->parts[1];
	s->measured = run;
	change_moved(s, run);
	tournament_settle(&s->lengths, measure, join_parts, s);
	change_moved(s, run);
	frz_time length = frame_length(all);
	bool begins = all->begin.hi != INT64_MIN, ends = all->end.lo != INT64_MAX;
	if (!begins && !ends)
		length.lo = s->span->length.lo;
	else if (!begins)
		length.lo = larger(ticks_minus(all->end.lo, s->span->first.hi), 0);
	else if (!ends)
		length.lo = larger(ticks_minus(s->span->last.lo, all->begin.hi), 0);
	length.hi = smaller(length.hi, larger(s->span->length.hi, 0));
	return length;
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
		struct run_edge edge = edge_of(s, run, i);
		begin.lo = larger(begin.lo, edge.begin.lo);
		begin.hi = larger(begin.hi, edge.begin.hi);
		frame->clocks[s->clocks[i].clock] = (struct ends_on_clock){
			edge.from, current(&s->clocks[i])->what.to };
	}
	frame->begin.lo = larger(ticks_minus(begin.lo, s->span->first.hi), 0);
	frame->begin.hi = larger(ticks_minus(begin.hi, s->span->first.lo), 0);
	frame->middle = time_middle(begin) + frame->length.hi / 2;
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
	struct frame *kept = frames_place(s->frames, s->most, nclocks, frame);
	for (size_t c = 0; kept && c < nclocks; c++)
		kept->clocks[c] = (struct ends_on_clock){ PERIOD_AFTER, PERIOD_BEFORE };
	if (kept)
		set_begin(s, run, kept);
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static void close_certain(struct frames_sweep *s)
{
	frz_time length = run_length(s, &s->certain);
	if (length.lo > 0) {
		s->frames->holds.lo = ticks_plus(s->frames->holds.lo, length.lo);
		s->frames->certain++;
		s->possible.has_certain = true;
		remember(s, &s->certain, (struct frame){ .certain = true, .length = length });
	}
	s->certain.id = 0;
}

/* Of the time until the run may end, at most so much is not counted as time of unknown order. */
static int64_t not_counted(const struct frames_sweep *s, const struct frame_part *all)
{
	int64_t beyond = larger(ticks_minus(s->counted_until, all->end.hi), 0);
	int64_t counted = larger(ticks_minus(s->possible.counted, beyond), 0);
	return larger(ticks_minus(ticks_minus(all->end.hi, all->begin.lo), counted), 0);
}

static void close_possible(struct frames_sweep *s)
{
	frz_time length = { 0, run_length(s, &s->possible).hi };
	length.hi = smaller(length.hi, not_counted(s, &s->parts[1]));
	s->frames->holds.hi = ticks_plus(s->frames->holds.hi, length.hi);
	if (length.hi > 0 && !s->possible.has_certain) {
		s->frames->possible++;
		remember(s, &s->possible, (struct frame){ .certain = false, .length = length });
	}
	s->possible.id = 0;
}

static void save_edge(const struct frames_sweep *s, struct frame_run *run, size_t i, uint64_t number)
{
	const struct timed_choices *first = segment(&s->clocks[i], number);
	if (run->id == 0 || run->edges[i].run == run->id)
		return;
	run->edges[i] = (struct run_edge){ run->id, number, first->what.from, first->begin };
	run->moved[run->nmoved++] = i;
}

/* Begins with what counts now. */
static void open_run(struct frames_sweep *s, struct frame_run *run)
{
	run->id = ++s->runs;
	run->has_certain = false;
	run->nmoved = 0;
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

static struct range range_of(const struct frames_sweep *s, size_t i)
{
	uint64_t now = s->clocks[i].now;
	return s->ranges[i].verdict == s->verdict ? s->ranges[i] : (struct range){ s->verdict, now, now };
}

static void set_range(struct frames_sweep *s, size_t i, uint64_t from, uint64_t to)
{
	s->ranges[i] = (struct range){ s->verdict, from, to };
}

/* Tries every choice of the clocks to be tried from `at` on; the verdict if all agree. */
static enum query_verdict try_choices(struct frames_sweep *s, size_t at)
{
	if (at == s->ntried)
		return query_verdict(s->query, s->try_lo, s->try_hi);
	const struct clock_window *x = &s->clocks[s->tried[at]];
	struct range range = range_of(s, s->tried[at]);
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
	for (size_t i = 0; i < s->unordered.count; i++) {
		const struct clock_window *x = &s->clocks[s->unordered.clock[i]];
		struct range range = range_of(s, s->unordered.clock[i]);
		if (range.from == range.to && range.to == x->now)
			continue;
		hull_of(s, x, range, lo, hi);
		add_bounds(s, s->try_lo, s->try_hi, x->lo, x->hi, -1);
		add_bounds(s, s->try_lo, s->try_hi, lo, hi, 1);
	}
	return query_verdict(s->query, s->try_lo, s->try_hi);
}

/* With bounds around everything that counts or is unordered, but for unordered segments of `but`: as with_unordered()
 * and a verdict without trying choices. */
static enum query_verdict wide_verdict(struct frames_sweep *s, const struct clock_window *but)
{
	memcpy(s->try_lo, s->wide_lo, s->ncounts * sizeof *s->lo);
	memcpy(s->try_hi, s->wide_hi, s->ncounts * sizeof *s->hi);
	add_bounds(s, s->try_lo, s->try_hi, but->wide_lo, but->wide_hi, -1);
	add_bounds(s, s->try_lo, s->try_hi, but->lo, but->hi, 1);
	return query_verdict(s->query, s->try_lo, s->try_hi);
}

/* Notes a clock whose choices are to be tried one by one. */
static size_t try_clock(struct frames_sweep *s, size_t i)
{
	struct range range = range_of(s, i);
	size_t choices = choices_in(&s->clocks[i], range);
	if (choices > 1 || range.from != s->clocks[i].now)
		s->tried[s->ntried++] = i;
	return choices;
}

/* Of all combinations of segments in the ranges. */
static enum query_verdict verdict(struct frames_sweep *s)
{
	enum query_verdict around = verdict_around(s);
	if (around != QUERY_MAYBE)
		return around;
	size_t product = 1;
	s->ntried = 0;
	for (size_t i = 0; i < s->unordered.count && product <= FRAMES_TRIES; i++)
		product *= try_clock(s, s->unordered.clock[i]);
	for (size_t i = 0; i < s->open.count && product <= FRAMES_TRIES; i++)
		if (!is_listed(&s->unordered, s->open.clock[i]))
			product *= try_clock(s, s->open.clock[i]);
	if (product > FRAMES_TRIES || product == 1)
		return around;
	memcpy(s->try_lo, s->lo, s->ncounts * sizeof *s->lo);
	memcpy(s->try_hi, s->hi, s->ncounts * sizeof *s->hi);
	for (size_t i = 0; i < s->ntried; i++) {
		const struct clock_window *x = &s->clocks[s->tried[i]];
		add_bounds(s, s->try_lo, s->try_hi, x->lo, x->hi, -1);
	}
	return try_choices(s, 0);
}

/* Whether so few clocks have something unordered that a verdict may try them all. Each has two choices at least, but
 * for one that has just moved on, and one of which a single segment is asked. */
static bool few_unordered(const struct frames_sweep *s)
{
	static_assert(FRAMES_TRIES == 1 << (10 - 2), "what is few follows from it");
	return s->unordered.count <= 10;
}

/* A verdict of what counts. */
static enum query_verdict verdict_of_current(struct frames_sweep *s)
{
	enum query_verdict around = query_verdict(s->query, s->lo, s->hi);
	s->verdict++;
	return around == QUERY_MAYBE && s->open.count > 0 ? verdict(s) : around;
}

/* ---- Unordered segments ---------------------------------------------------------------------- */

/* For a verdict of what counts and unordered segments of all clocks but `but`, from the first segment of a run on; of
 * all time without a run. False when there are none. */
static bool with_unordered(struct frames_sweep *s, const struct clock_window *but,
			   const struct frame_run *run)
{
	bool any = false;
	s->verdict++;
	for (size_t k = 0; k < s->unordered.count; k++) {
		size_t i = s->unordered.clock[k];
		const struct clock_window *x = &s->clocks[i];
		uint64_t from = run ? edge_of(s, run, i).number : x->oldest;
		if (x == but)
			continue;
		from = from < x->oldest ? x->oldest : from > x->now ? x->now : from;
		set_range(s, i, from, x->now);
		any |= from < x->now;
	}
	return any;
}

static void set_wide(struct frames_sweep *s, struct clock_window *x)
{
	add_bounds(s, s->wide_lo, s->wide_hi, x->wide_lo, x->wide_hi, -1);
	hull_of(s, x, (struct range){ 0, x->oldest, x->now }, x->wide_lo, x->wide_hi);
	add_bounds(s, s->wide_lo, s->wide_hi, x->wide_lo, x->wide_hi, 1);
}

static void drop_unordered(struct frames_sweep *s, int64_t now)
{
	while (s->expiry.count > 0 && s->expiry.items[0].key <= heap_key(now)) {
		struct clock_window *x = &s->clocks[s->expiry.items[0].source];
		while (x->oldest < x->now && segment(x, x->oldest)->end.hi <= now)
			x->oldest++;
		if (x->oldest < x->now) {
			heap_change_first(&s->expiry, heap_key(segment(x, x->oldest)->end.hi));
		} else {
			heap_remove_first(&s->expiry);
			set_listed(&s->unordered, index_of(s, x), false);
		}
		set_wide(s, x);
	}
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* Leaves out unordered segments of other clocks than `but` that end before `end`; the last end of these. */
static int64_t only_until(struct frames_sweep *s, size_t but, int64_t end)
{
	int64_t last = INT64_MIN;
	for (size_t k = 0; k < s->unordered.count; k++) {
		size_t i = s->unordered.clock[k];
		struct range range = range_of(s, i);
		for (; i != but && range.from < range.to && segment(&s->clocks[i], range.from)->end.hi < end;
		     range.from++)
			last = larger(last, segment(&s->clocks[i], range.from)->end.hi);
		set_range(s, i, range.from, range.to);
	}
	return last;
}

/* Whether bounds around the segments `from` .. `to` of one clock, and around everything else, say already that the
 * condition fails. */
static bool surely_fails(struct frames_sweep *s, const struct clock_window *x, const struct clock_window *g,
			 uint64_t from, uint64_t to)
{
	int32_t lo[QUERY_COUNTS], hi[QUERY_COUNTS];
	memcpy(s->try_lo, s->wide_lo, s->ncounts * sizeof *s->lo);
	memcpy(s->try_hi, s->wide_hi, s->ncounts * sizeof *s->hi);
	hull_of(s, g, (struct range){ 0, from, to }, lo, hi);
	add_bounds(s, s->try_lo, s->try_hi, x->wide_lo, x->wide_hi, -1);
	add_bounds(s, s->try_lo, s->try_hi, x->lo, x->hi, 1);
	add_bounds(s, s->try_lo, s->try_hi, g->wide_lo, g->wide_hi, -1);
	add_bounds(s, s->try_lo, s->try_hi, lo, hi, 1);
	return query_verdict(s->query, s->try_lo, s->try_hi) == QUERY_NO;
}

/* Until when one unordered segment, together with the new one of `x`, may make the condition true; it may
 * do so only with others, of which one ends earlier. INT64_MIN if it may not. */
static int64_t possible_until(struct frames_sweep *s, const struct clock_window *x, size_t which,
			      uint64_t number)
{
	int64_t end = segment(&s->clocks[which], number)->end.hi;
	if (surely_fails(s, x, &s->clocks[which], number, number))
		return INT64_MIN;
	with_unordered(s, x, NULL);
	set_range(s, which, number, number);
	if (few_unordered(s) && verdict(s) == QUERY_NO)
		return INT64_MIN;
	int64_t earlier = only_until(s, which, end);
	return verdict(s) == QUERY_NO ? earlier : end;
}

/* The same for all unordered segments of a clock that are not in the possible run; `until` if they end before. */
static int64_t unordered_until(struct frames_sweep *s, const struct clock_window *x, size_t which, int64_t until)
{
	const struct clock_window *g = &s->clocks[which];
	uint64_t behind = s->possible.id ? edge_of(s, &s->possible, which).number : g->now;
	if (g == x || behind <= g->oldest || segment(g, behind - 1)->end.hi <= until ||
	    surely_fails(s, x, g, g->oldest, behind - 1))
		return until;
	if (few_unordered(s)) {
		with_unordered(s, x, NULL);
		set_range(s, which, g->oldest, behind - 1);
		if (verdict(s) == QUERY_NO)
			return until;
	}
	for (uint64_t n = behind; n-- > g->oldest && segment(g, n)->end.hi > until;)
		until = larger(until, possible_until(s, x, which, n));
	return until;
}

/* Clocks that have something unordered that is not in the possible run. */
static const struct clock_list *outside_possible(struct frames_sweep *s)
{
	if (s->possible.id == 0)
		return &s->unordered;
	for (size_t k = s->outside.count; k-- > 0;) {
		size_t i = s->outside.clock[k];
		if (edge_of(s, &s->possible, i).number <= s->clocks[i].oldest)
			set_listed(&s->outside, i, false);
	}
	return &s->outside;
}

/* Combinations that are not visited have begun with the segment of `x`: time of unknown order,
 * unless they are in the possible run. */
static void add_unordered(struct frames_sweep *s, const struct clock_window *x, int64_t now)
{
	int64_t from = larger(now, s->counted_until), until = from;
	const struct clock_list *outside = outside_possible(s);
	if (current(x)->end.hi <= from || outside->count == 0)
		return;
	if (few_unordered(s) && (!with_unordered(s, x, NULL) || verdict(s) == QUERY_NO))
		return;
	for (size_t k = 0; k < outside->count && until < current(x)->end.hi; k++)
		until = unordered_until(s, x, outside->clock[k], until);
	until = smaller(until, current(x)->end.hi);
	if (until > from) {
		s->frames->holds.hi = ticks_plus(s->frames->holds.hi, ticks_minus(until, from));
		s->frames->possible += s->possible.id == 0;
		s->possible.counted = ticks_plus(s->possible.counted, ticks_minus(until, from));
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

/* While the condition surely fails a segment makes no frame, visited or not. */
static bool cannot_matter(const struct frames_sweep *s, const struct clock_window *x, const struct timed_choices *t)
{
	return s->guard && s->guard != x && t->what.to != PERIOD_AFTER && s->fails_since <= t->begin.lo &&
	       t->end.hi <= s->fails_until;
}

/* The next segment that may matter. */
static void fetch(struct frames_sweep *s, struct clock_window *x)
{
	make_room(s, x);
	struct timed_choices *next = segment(x, x->now + 1);
	do {
		bool more = count_bounds_next(x->bounds, &next->what);
		assert(more);
		set_times(s, x, next);
	} while (cannot_matter(s, x, next));
}

/* Whether the condition fails by what `x` alone does, until that is over. Where this is seldom so it is seldom
 * asked. */
static void set_guard(struct frames_sweep *s, struct clock_window *x)
{
	if (!s->prunes || s->nclocks == 1 || current(x)->end.lo <= s->fails_until)
		return;
	if (x->patience > 0) {
		x->patience--;
		return;
	}
	memcpy(s->try_lo, x->lo, s->ncounts * sizeof *s->lo);
	memcpy(s->try_hi, s->most_counts, s->ncounts * sizeof *s->hi);
	for (size_t i = 0; i < s->ncounts; i++)
		s->try_hi[i] += x->hi[i] - x->most[i];
	if (query_verdict(s->query, s->try_lo, s->try_hi) == QUERY_NO) {
		s->guard = x;
		s->fails_since = segment(x, x->now - 1)->end.hi;
		s->fails_until = current(x)->end.lo;
		x->failed = 0;
	} else {
		x->failed += x->failed < 64;
		x->patience = x->failed;
	}
}

/* Bounds around what either says. */
static void join_bounds(const struct frames_sweep *s, int32_t *lo, int32_t *hi, const int32_t *from_lo,
			const int32_t *from_hi)
{
	for (size_t i = 0; i < s->ncounts; i++) {
		lo[i] = from_lo[i] < lo[i] ? from_lo[i] : lo[i];
		hi[i] = from_hi[i] > hi[i] ? from_hi[i] : hi[i];
	}
}

/* The segment that counted is unordered now. */
static void keep_unordered(struct frames_sweep *s, struct clock_window *x)
{
	size_t i = index_of(s, x);
	if (s->nclocks == 1) {
		x->oldest = x->now;
		set_wide(s, x);
		return;
	}
	add_bounds(s, s->wide_lo, s->wide_hi, x->wide_lo, x->wide_hi, -1);
	join_bounds(s, x->wide_lo, x->wide_hi, x->lo, x->hi);
	add_bounds(s, s->wide_lo, s->wide_hi, x->wide_lo, x->wide_hi, 1);
	if (!is_listed(&s->unordered, i))
		heap_add(&s->expiry, heap_key(segment(x, x->oldest)->end.hi), (uint32_t)i);
	set_listed(&s->unordered, i, true);
}

/* Makes the segment that was fetched count. */
static void move_on(struct frames_sweep *s, struct clock_window *x)
{
	size_t i = index_of(s, x);
	save_edge(s, &s->certain, i, x->now);
	save_edge(s, &s->possible, i, x->now);
	add_bounds(s, s->lo, s->hi, x->lo, x->hi, -1);
	x->now++;
	hull_of(s, x, (struct range){ 0, x->now, x->now }, x->lo, x->hi);
	add_bounds(s, s->lo, s->hi, x->lo, x->hi, 1);
	set_listed(&s->open, i, current(x)->what.choices.count > 1);
	keep_unordered(s, x);
	tournament_change(&s->lengths, i);
}

/* A certain run goes on if the condition is true with the new segment of `x`, whatever of the run
 * else is real. */
static bool stays_certain(struct frames_sweep *s, const struct clock_window *x)
{
	return !with_unordered(s, x, &s->certain) || verdict(s) == QUERY_YES;
}

/* With the new segment of `x`; and with the unordered ones of others, if they do not matter. */
static void begin_run(struct frames_sweep *s, const struct clock_window *x, struct frame_run *run,
		      enum query_verdict wide)
{
	bool with = wide == QUERY_YES ||
		    (few_unordered(s) && with_unordered(s, x, NULL) && verdict(s) == QUERY_YES);
	open_run(s, run);
	for (size_t k = 0; with && k < s->unordered.count; k++) {
		size_t i = s->unordered.clock[k];
		if (&s->clocks[i] != x)
			save_edge(s, run, i, s->clocks[i].oldest);
	}
}

/* Without those that began with it; what the new segment of `x` has left is outside of it in any case. */
static void begin_possible(struct frames_sweep *s, const struct clock_window *x, enum query_verdict wide)
{
	begin_run(s, x, &s->possible, wide);
	s->possible.counted = larger(ticks_minus(s->counted_until, current(x)->begin.lo), 0);
	while (s->outside.count > 0)
		set_listed(&s->outside, s->outside.clock[s->outside.count - 1], false);
	for (size_t k = 0; k < s->unordered.count; k++)
		if (edge_of(s, &s->possible, s->unordered.clock[k]).number > s->clocks[s->unordered.clock[k]].oldest)
			set_listed(&s->outside, s->unordered.clock[k], true);
}

/* Runs end before the segment of `x` ends, and begin with its next one. So a step looks at the next
 * segment first; `visited` is what the condition is then. */
static void step(struct frames_sweep *s, struct clock_window *x)
{
	int64_t now = current(x)->end.lo;
	drop_unordered(s, now);
	fetch(s, x);
	move_on(s, x);
	enum query_verdict wide = wide_verdict(s, x);
	enum query_verdict visited = wide == QUERY_MAYBE ? verdict_of_current(s) : wide;
	bool certain = visited == QUERY_YES;
	if (s->certain.id && !(certain && (wide == QUERY_YES || stays_certain(s, x)))) {
		x->now--;
		close_certain(s);
		x->now++;
	}
	if (s->possible.id && visited == QUERY_NO) {
		x->now--;
		close_possible(s);
		x->now++;
	}
	if (visited != QUERY_NO && !s->possible.id)
		begin_possible(s, x, wide);
	if (certain && !s->certain.id)
		begin_run(s, x, &s->certain, wide);
	if (wide != QUERY_NO)
		add_unordered(s, x, now);
	else
		set_guard(s, x);
}

static void begin(struct frames_sweep *s)
{
	enum query_verdict first = verdict_of_current(s);
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
	if (s->certain.id)
		close_certain(s);
	if (s->possible.id)
		close_possible(s);
}

/* ---- Opening and closing --------------------------------------------------------------------- */

/* Threads on clocks of other time bases may be in anything, or in nothing. */
static void open_clock(struct frames_sweep *s, uint32_t clock, uint32_t time_base)
{
	count_bounds_most(s->query, clock, s->most_counts);
	if (s->times->time_base[clock] != time_base) {
		count_bounds_most(s->query, clock, s->hi);
		count_bounds_most(s->query, clock, s->wide_hi);
		return;
	}
	struct count_bounds *bounds = count_bounds_open(&s->map, clock);
	if (!bounds)
		return;
	struct clock_window *x = &s->clocks[s->nclocks];
	*x = (struct clock_window){ .bounds = bounds, .clock = clock, .oldest = 1,
				    .times = times_cursor(s->times, clock) };
	x->lo = mem_zeroed(5 * (s->ncounts + 1), sizeof *x->lo);
	x->hi = x->lo + s->ncounts;
	x->wide_lo = x->hi + s->ncounts;
	x->wide_hi = x->wide_lo + s->ncounts;
	x->most = x->wide_hi + s->ncounts;
	count_bounds_most(s->query, clock, x->most);
	fetch(s, x);
	x->now = 1;
	hull_of(s, x, (struct range){ 0, 1, 1 }, x->lo, x->hi);
	add_bounds(s, s->lo, s->hi, x->lo, x->hi, 1);
	set_wide(s, x);
	set_listed(&s->open, s->nclocks, current(x)->what.choices.count > 1);
	heap_add(&s->heap, heap_key(key_of(x)), (uint32_t)s->nclocks++);
}

/* The arrays of a run, which is not open yet. */
static void run_open(struct frame_run *run, size_t nclocks)
{
	run->edges = mem_zeroed(nclocks, sizeof *run->edges);
	run->moved = mem_resize(NULL, nclocks, sizeof *run->moved);
}

static void run_close(struct frame_run *run)
{
	free(run->edges);
	free(run->moved);
}

static void open_clocks(struct frames_sweep *s, uint32_t time_base)
{
	size_t nclocks = s->times->trace->nclocks;
	s->lo = mem_zeroed(7 * (s->ncounts + 1), sizeof *s->lo);
	s->hi = s->lo + s->ncounts;
	s->wide_lo = s->hi + s->ncounts;
	s->wide_hi = s->wide_lo + s->ncounts;
	s->try_lo = s->wide_hi + s->ncounts;
	s->try_hi = s->try_lo + s->ncounts;
	s->most_counts = s->try_hi + s->ncounts;
	s->clocks = mem_resize(NULL, nclocks, sizeof *s->clocks);
	s->heap.items = mem_resize(NULL, nclocks, sizeof *s->heap.items);
	s->expiry.items = mem_resize(NULL, nclocks, sizeof *s->expiry.items);
	list_open(&s->unordered, nclocks);
	list_open(&s->open, nclocks);
	list_open(&s->outside, nclocks);
	s->tried = mem_resize(NULL, nclocks, sizeof *s->tried);
	s->ranges = mem_zeroed(nclocks, sizeof *s->ranges);
	run_open(&s->certain, nclocks);
	run_open(&s->possible, nclocks);
	uint32_t *order = times_order(s->times);
	for (uint32_t c = 0; c < nclocks; c++)
		open_clock(s, order[c], time_base);
	free(order);
	tournament_open(&s->lengths, s->nclocks);
	s->parts = mem_resize(NULL, 2 * s->nclocks, sizeof *s->parts);
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
	free(s->expiry.items);
	list_close(&s->unordered);
	list_close(&s->open);
	list_close(&s->outside);
	free(s->tried);
	free(s->ranges);
	run_close(&s->certain);
	run_close(&s->possible);
	tournament_close(&s->lengths);
	free(s->parts);
}

static void find_frames(struct frames *f, const struct times *times, const struct query *query,
			uint32_t time_base, const struct span *span, size_t most, bool prunes)
{
	*f = (struct frames){ .longest = mem_resize(NULL, most, sizeof *f->longest) };
	struct frames_sweep s = { .times = times, .query = query, .span = span, .frames = f,
				  .most = most, .ncounts = query->ncounts, .prunes = prunes,
				  .fails_until = INT64_MIN, .counted_until = INT64_MIN };
	atom_map_open(&s.map, query);
	open_clocks(&s, time_base);
	if (s.nclocks > 0)
		sweep(&s);
	close_clocks(&s);
	atom_map_close(&s.map);
	f->holds.hi = smaller(f->holds.hi, span->length.hi);
}

void frames_open(struct frames *f, const struct times *times, const struct query *query,
		 uint32_t time_base, const struct span *span, size_t most)
{
	find_frames(f, times, query, time_base, span, most, true);
}

void frames_open_unpruned(struct frames *f, const struct times *times, const struct query *query,
			  uint32_t time_base, const struct span *span, size_t most)
{
	find_frames(f, times, query, time_base, span, most, false);
}

void frames_close(struct frames *f)
{
	for (size_t i = 0; i < f->nlongest; i++)
		free(f->longest[i].clocks);
	free(f->longest);
}
