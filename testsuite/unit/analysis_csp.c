/* SPDX-License-Identifier: MIT
 *
 * analysis_csp.c - straggler scores and totals against a twin that knows the truth.
 *
 * A random world has threads with true states at true real times, on clocks that are true straight
 * lines. The analysis gets what a recording would hold: whole-numbered stamps, some records lost,
 * some threads killed; and for each clock a family of lines of which the true one is a mixture. The
 * twin adds up the truth by looking at every moment between two true events.
 *
 * Laws: the truth is inside; and what comes out is not much wider than the clocks are where frames
 * end.
 *
 * DPROF_SEED=N runs the one world N; DPROF_WORLDS=N that many worlds. */
#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/csp.h"
#include "analysis/totals.h"

#define WORLDS  20000
#define CLOCKS  3
#define LINES   4
#define THREADS 5
#define EVENTS  60
#define SLACK   1e-6 /* of the twin's own arithmetic */

enum { REGION_A, REGION_B, BARRIER, RECEIVE, SEND, SITES };
static const struct tr_site sites[SITES] = {
	{ DPROF_KIND_REGION, "a", "x.c", "main", 1, 1 },
	{ DPROF_KIND_REGION, "b", "x.c", "main", 2, 1 },
	{ DPROF_KIND_BARRIER, "bar", "x.c", "main", 3, 1 },
	{ DPROF_KIND_RECV, "recv", "x.c", "main", 4, 1 },
	{ DPROF_KIND_SEND, "send", "x.c", "main", 5, 1 },
};

struct line { double rate, offset; };
struct true_event { double time; uint8_t state; uint32_t site; enum dprof_op op; bool recorded; };
struct true_thread {
	struct true_event events[EVENTS];
	size_t count;
	double gone;         /* when it stopped to be in its last state */
	struct dprof_record records[EVENTS + 2];
};

static struct world {
	uint64_t random;
	uint32_t nclocks;
	struct line lines[CLOCKS][LINES], truth[CLOCKS];
	struct true_thread thread[THREADS];
	size_t nthreads, nprocesses;
	bool damaged;
	bool unplaced;       /* the last clock */
	struct tr_thread threads[THREADS];
	struct tr_process processes[THREADS];
	struct tr_clock clocks[CLOCKS];
	struct trace trace;
	double first, last;  /* of what was recorded, in true time */
} w;

/* ---- Doubles of what the analysis is linked with --------------------------------------------- */

struct frz_solution { int unused; };
static const struct frz_clock proven = { .status = FRZ_PROVEN },
			      unlinked = { .status = FRZ_UNLINKED };

int frz_solve(struct frz_solution **out, uint32_t nclocks, uint32_t base,
	      const struct frz_link *links, size_t nlinks, struct frz_assumption assumption)
{
	(void)nclocks, (void)base, (void)links, (void)nlinks, (void)assumption;
	*out = calloc(1, sizeof **out);
	return 0;
}

void frz_solution_free(struct frz_solution *s)
{
	free(s);
}

const struct frz_clock *frz_clock(const struct frz_solution *s, uint32_t clock)
{
	(void)s;
	return w.unplaced && clock == w.nclocks - 1 ? &unlinked : &proven;
}

struct frz_cursor frz_cursor(const struct frz_solution *s, uint32_t clock)
{
	static const struct frz_segment nowhere; /* no stamp is in it */
	return (struct frz_cursor){ .solution = s, .clock = clock, .at = &nowhere };
}

frz_time frz_time_elsewhere(struct frz_cursor *c, uint64_t stamp)
{
	double lo = INFINITY, hi = -INFINITY;
	for (int i = 0; i < LINES; i++) {
		const struct line *l = &w.lines[c->clock][i];
		lo = fmin(lo, l->rate * (double)stamp + l->offset);
		hi = fmax(hi, l->rate * ((double)stamp + 1) + l->offset);
	}
	return (frz_time){ (int64_t)floor(lo), (int64_t)ceil(hi) };
}

frz_time frz_duration(const struct frz_solution *s, uint32_t clock, uint64_t ticks)
{
	(void)s;
	double lo = INFINITY, hi = -INFINITY;
	for (int i = 0; i < LINES; i++) {
		lo = fmin(lo, w.lines[clock][i].rate * ((double)ticks - 1));
		hi = fmax(hi, w.lines[clock][i].rate * ((double)ticks + 1));
	}
	return (frz_time){ (int64_t)floor(fmax(lo, 0)), (int64_t)ceil(hi) };
}

struct tr_cursor trace_events(const struct trace *trace, size_t thread)
{
	return (struct tr_cursor){ trace, &trace->threads[thread], 0 };
}

bool trace_next(struct tr_cursor *c, struct tr_event *e)
{
	if (c->next == c->thread->nrecords)
		return false;
	const struct dprof_record *r = &c->thread->records[c->next++];
	*e = (struct tr_event){ .stamp = r->stamp,
				.op = DPROF_OP(r->what),
				.site = (uint32_t)(r->what >> 3) };
	if (e->op == DPROF_LOST)
		*e = (struct tr_event){ .op = DPROF_LOST, .site = TR_NO_SITE, .lost = r->stamp };
	return true;
}

void trace_problem(struct trace *trace, const char *format, ...)
{
	(void)format;
	trace->nproblems++;
}

/* ---- A random world -------------------------------------------------------------------------- */

static uint64_t any(void)
{
	w.random += 0x9e3779b97f4a7c15;
	uint64_t x = w.random;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static uint64_t below(uint64_t n)
{
	return any() % n;
}

static double real(double most)
{
	return most * (double)(any() >> 11) / (double)(UINT64_C(1) << 53);
}

static void make_clock(uint32_t c)
{
	static const double widths[] = { 0, 3, 30, 300 };
	double rate = c ? 0.5 + real(1.5) : 1, offset = c ? 5000 + real(5000) : 0;
	double width = c ? widths[below(4)] : 0, wander = c ? real(0.02) : 0;
	double weight[LINES], sum = 0;
	w.truth[c] = (struct line){ 0, 0 };
	for (int i = 0; i < LINES; i++) {
		w.lines[c][i] = (struct line){ rate * (1 + real(wander)), offset + real(width) };
		weight[i] = below(3) ? real(1) : 1e-3;
		sum += weight[i];
	}
	for (int i = 0; i < LINES; i++) {
		w.truth[c].rate += w.lines[c][i].rate * weight[i] / sum;
		w.truth[c].offset += w.lines[c][i].offset * weight[i] / sum;
	}
}

static uint64_t stamp_of(uint32_t clock, double time)
{
	return (uint64_t)floor((time - w.truth[clock].offset) / w.truth[clock].rate);
}

static uint8_t state_of(const uint32_t *stack, size_t depth)
{
	while (depth > 0 && stack[depth - 1] == SEND)
		depth--;
	return depth == 0 ? MAY_OTHER : stack[depth - 1] <= REGION_B ? MAY_WORK : MAY_WAIT;
}

/* Enters and exits at true times, which are sometimes the same moment and often the same tick. */
static void make_events(struct true_thread *t, double step)
{
	uint32_t stack[EVENTS];
	size_t depth = 0, count = 2 * below(EVENTS / 2 + 1);
	double time = 20000 + (below(3) ? real(step) : real(20 * step));
	for (t->count = 0; t->count < count; t->count++) {
		struct true_event *e = &t->events[t->count];
		bool leaves = depth > 0 && (depth == count - t->count || below(5) < 3);
		e->op = leaves ? DPROF_EXIT : DPROF_ENTER;
		e->site = leaves     ? stack[depth - 1]
			  : below(4) ? BARRIER - below(2) + below(2)
				     : below(SITES);
		if (leaves)
			depth--;
		else
			stack[depth++] = e->site;
		e->state = state_of(stack, depth);
		e->time = time;
		e->recorded = true;
		time += below(4) ? real(step) : below(3) ? real(2) : 0;
	}
	t->gone = count ? t->events[count - 1].time : 0;
}

/* Some records in the middle find no room, or those at the end, or the thread is killed. */
static void damage(struct true_thread *t, struct tr_thread *out)
{
	size_t from = t->count ? below(t->count) : 0, to = from;
	switch (below(4)) {
	case 0: /* killed: it stays in its state for a while that nobody knows */
		t->count = from;
		t->gone = from ? t->events[from - 1].time + real(400) : 0;
		out->complete = false;
		break;
	case 1: /* lost in the middle */
		to = from + below(t->count - from + 1);
		break;
	case 2: /* lost at the end */
		to = t->count;
		break;
	default:
		break;
	}
	for (size_t i = from; i < to; i++)
		t->events[i].recorded = false;
	out->lost = to - from;
	w.damaged = true;
}

static void record(struct true_thread *t, struct tr_thread *out)
{
	uint64_t lost = 0;
	out->records = t->records;
	for (size_t i = 0; i < t->count; i++) {
		const struct true_event *e = &t->events[i];
		if (!e->recorded) {
			lost++;
			continue;
		}
		if (lost > 0)
			t->records[out->nrecords++] =
				(struct dprof_record){ lost, 1 << 3 | DPROF_LOST };
		lost = 0;
		t->records[out->nrecords++] =
			(struct dprof_record){ stamp_of(out->clock, e->time),
					       (uint64_t)e->site << 3 | e->op };
		w.first = fmin(w.first, e->time);
		w.last = fmax(w.last, e->time);
	}
}

static void make_world(uint64_t seed)
{
	static const double steps[] = { 3, 20, 200 };
	memset(&w, 0, sizeof w);
	w.random = seed;
	w.nclocks = 1 + (uint32_t)below(CLOCKS);
	w.unplaced = w.nclocks > 1 && below(8) == 0;
	w.nthreads = 1 + below(THREADS);
	w.nprocesses = 1 + below(w.nthreads);
	w.first = INFINITY;
	w.last = -INFINITY;
	for (uint32_t c = 0; c < w.nclocks; c++)
		make_clock(c);
	double step = steps[below(3)];
	bool broken = below(3) == 0;
	for (size_t i = 0; i < w.nthreads; i++) {
		uint32_t process = (uint32_t)(i * w.nprocesses / w.nthreads);
		uint32_t clock = i > 0 && w.threads[i - 1].process == process
					 ? w.threads[i - 1].clock
					 : (uint32_t)below(w.nclocks);
		w.threads[i] = (struct tr_thread){ .clock = clock,
						   .process = process,
						   .rank = process,
						   .complete = true };
		make_events(&w.thread[i], step);
		if (broken && below(2))
			damage(&w.thread[i], &w.threads[i]);
		record(&w.thread[i], &w.threads[i]);
	}
	w.trace = (struct trace){ .clocks = w.clocks,
				  .nclocks = w.nclocks,
				  .threads = w.threads,
				  .nthreads = w.nthreads,
				  .processes = w.processes,
				  .nprocesses = w.nprocesses,
				  .sites = (struct tr_site *)sites,
				  .nsites = SITES };
}

/* ---- The truth ------------------------------------------------------------------------------- */

static uint8_t true_state(const struct true_thread *t, double time)
{
	uint8_t state = MAY_OTHER;
	for (size_t i = 0; i < t->count && t->events[i].time <= time; i++)
		state = t->events[i].state;
	return t->count > 0 && time >= t->events[t->count - 1].time && time >= t->gone ? MAY_OTHER
										       : state;
}

static uint8_t true_actor_state(const struct cast *cast, uint32_t actor, double time)
{
	bool works = false, all_wait = true, any_waits = false;
	for (size_t i = 0; i < w.nthreads; i++) {
		if (cast->actor_of[i] != actor)
			continue;
		uint8_t state = true_state(&w.thread[i], time);
		works |= state == MAY_WORK;
		if (cast->waits[i]) {
			any_waits |= state == MAY_WAIT;
			all_wait &= state == MAY_WAIT;
		}
	}
	return works ? MAY_WORK : any_waits && all_wait ? MAY_WAIT : MAY_OTHER;
}

static int by_value(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;
	return (a > b) - (a < b);
}

/* All moments at which anything changes. */
static size_t true_moments(double *moments)
{
	size_t count = 0;
	for (size_t i = 0; i < w.nthreads; i++) {
		for (size_t j = 0; j < w.thread[i].count; j++)
			moments[count++] = w.thread[i].events[j].time;
		moments[count++] = w.thread[i].gone;
	}
	moments[count++] = w.first;
	moments[count++] = w.last;
	qsort(moments, count, sizeof *moments, by_value);
	return count;
}

static void true_scores(const struct cast *cast, double *score)
{
	double moments[THREADS * (EVENTS + 1) + 2];
	size_t count = true_moments(moments);
	for (uint32_t a = 0; a < cast->nactors; a++)
		score[a] = 0;
	for (size_t m = 1; m < count; m++) {
		if (moments[m] == moments[m - 1] || moments[m - 1] < w.first || moments[m] > w.last)
			continue;
		uint32_t waiting = 0, worker = LANE_NOBODY;
		for (uint32_t a = 0; a < cast->nactors; a++) {
			uint8_t state = true_actor_state(cast, a, moments[m - 1]);
			waiting += state == MAY_WAIT;
			worker = state == MAY_WORK ? a : worker;
		}
		if (waiting + 1 == cast->nactors && worker != LANE_NOBODY)
			score[worker] += moments[m] - moments[m - 1];
	}
}

static double true_total(const struct true_thread *t, uint8_t state)
{
	double total = 0;
	double end = fmin(t->gone, w.last);
	for (size_t i = 0; i < t->count; i++) {
		double from = fmax(t->events[i].time, w.first),
		       to = i + 1 < t->count ? t->events[i + 1].time : end;
		if (t->events[i].state == state && fmin(to, w.last) > from)
			total += fmin(to, w.last) - from;
	}
	return total;
}

/* In a region, at any depth of the stack. */
static double true_region(const struct true_thread *t, uint32_t site)
{
	double total = 0, end = fmin(t->gone, w.last);
	int depth = 0;
	for (size_t i = 0; i < t->count; i++) {
		if (t->events[i].site == site)
			depth += t->events[i].op == DPROF_ENTER ? 1 : -1;
		double from = fmax(t->events[i].time, w.first),
		       to = i + 1 < t->count ? t->events[i + 1].time : end;
		if (depth > 0 && fmin(to, w.last) > from)
			total += fmin(to, w.last) - from;
	}
	return total;
}

/* ---- The laws -------------------------------------------------------------------------------- */

static void check_inside(uint64_t seed, const char *what, uint32_t which, frz_time found,
			 double truth)
{
	ck_assert_msg((double)found.lo <= truth + SLACK && truth - SLACK <= (double)found.hi,
		      "DPROF_SEED=%" PRIu64 ": %s %u: %.3f is not in [%" PRId64 ", %" PRId64 "]",
		      seed, what, which, truth, found.lo, found.hi);
}

/* Each change of a thread's state may end a frame, which is then as wide as its clock there, and as
 * a tick of each clock; durations on one clock add the width of its rate. */
static double allowed_width(void)
{
	double allowed = 1;
	for (size_t i = 0; i < w.nthreads; i++) {
		uint32_t clock = w.threads[i].clock;
		struct frz_cursor c = frz_cursor(NULL, clock);
		for (size_t j = 0; j < w.threads[i].nrecords; j++) {
			frz_time at = frz_time_of(&c, w.threads[i].records[j].stamp);
			allowed += w.nclocks > 1 ? 4 * (double)(at.hi - at.lo) : 0;
			allowed += 3 * (w.truth[clock].rate + 1);
		}
		frz_time all = frz_duration(NULL, clock, (uint64_t)(w.last - w.first) * 2);
		allowed += (double)(all.hi - all.lo);
	}
	return allowed;
}

/* With all clocks on one line: ticks. Otherwise each line has its own, but percentages are
 * comparable. */
static void check_score(uint64_t seed, const char *what, uint32_t a, frz_time score, double truth,
			const struct span *span)
{
	struct interval percent = interval_percent(score, span->length);
	double run = w.last - w.first;
	ck_assert_msg(run <= 0 || (percent.lo <= 100 * truth / run + SLACK &&
				   100 * truth / run - SLACK <= percent.hi),
		      "DPROF_SEED=%" PRIu64 ": %s %u: %.6f %% is not in %.6f .. %.6f", seed, what,
		      a, 100 * truth / run, percent.lo, percent.hi);
	if (w.unplaced)
		return;
	check_inside(seed, what, a, score, truth);
	if (!w.damaged)
		ck_assert_msg((double)(score.hi - score.lo) <= allowed_width(),
			      "DPROF_SEED=%" PRIu64 ": %s %u: [%" PRId64 ", %" PRId64
			      "] is wider than %.0f",
			      seed, what, a, score.lo, score.hi, allowed_width());
}

static void check_scores(uint64_t seed, const struct times *times, const struct roles *roles,
			 const struct cast *cast, const struct span *spans, const char *what)
{
	double truth[THREADS];
	true_scores(cast, truth);
	struct csp_score *scores = csp_scores(times, roles, cast, spans);
	for (uint32_t a = 0; a < cast->nactors; a++)
		check_score(seed, what, a, scores[a].alone, truth[a],
			    &spans[times->line[cast->clock_of[a]]]);
	free(scores);
}

/* Totals of one thread, in ticks of the base. */
static void check_totals(uint64_t seed, const struct times *times, const struct span *span,
			 const struct totals *totals, uint32_t thread)
{
	const struct thread_totals *t = &totals->threads[thread];
	const struct true_thread *truth = &w.thread[thread];
	uint32_t clock = w.threads[thread].clock;
	check_inside(seed, "working", thread, totals_time(times, span, clock, &t->work),
		     true_total(truth, MAY_WORK));
	check_inside(seed, "waiting", thread, totals_time(times, span, clock, &t->wait),
		     true_total(truth, MAY_WAIT));
	for (uint32_t r = 0; r < totals->nregions; r++) {
		uint32_t site = totals->site_of_region[r];
		check_inside(seed, sites[site].name, thread,
			     totals_time(times, span, clock, &t->regions[r].time),
			     true_region(truth, site));
	}
}

static void check_world(uint64_t seed)
{
	make_world(seed);
	struct times times;
	struct roles roles;
	struct totals totals;
	ck_assert_int_eq(times_open(&times, &w.trace, &(struct options){ .json = false }),
			 EXIT_FINE);
	ck_assert(roles_open(&roles, &w.trace, NULL, NULL));
	totals_open(&totals, &w.trace, &roles);
	struct span spans[2] = { times_span(&times, 0, totals.ends) };
	if (w.unplaced)
		spans[1] = times_span(&times, 1, totals.ends);
	if (!w.unplaced && spans[0].events) {
		check_inside(seed, "span", 0, spans[0].length, w.last - w.first);
		check_inside(seed, "first", 0, spans[0].first, w.first);
		check_inside(seed, "last", 0, spans[0].last, w.last);
		for (uint32_t i = 0; i < w.nthreads; i++)
			check_totals(seed, &times, spans, &totals, i);
	}
	if (w.first <= w.last) {
		struct cast threads = totals_cast_threads(&totals),
			    processes = totals_cast_processes(&totals);
		check_scores(seed, &times, &roles, &threads, spans, "thread");
		check_scores(seed, &times, &roles, &processes, spans, "process");
		cast_close(&threads);
		cast_close(&processes);
	}
	totals_close(&totals);
	roles_close(&roles);
	times_close(&times);
}

/* ---- Frames by hand -------------------------------------------------------------------------- */

static void add_event(size_t thread, uint64_t stamp, uint32_t site, enum dprof_op op)
{
	struct tr_thread *t = &w.threads[thread];
	w.thread[thread].records[t->nrecords++] =
		(struct dprof_record){ stamp, (uint64_t)site << 3 | op };
}

static void add_visit(size_t thread, uint64_t from, uint64_t to, uint32_t site)
{
	add_event(thread, from, site, DPROF_ENTER);
	add_event(thread, to, site, DPROF_EXIT);
}

/* Two hosts whose clocks are known to within 300 ticks; thread 0 is on the base. */
static void make_hosts(size_t nthreads)
{
	memset(&w, 0, sizeof w);
	w.nclocks = 2;
	w.nthreads = w.nprocesses = nthreads;
	for (int i = 0; i < LINES; i++) {
		w.lines[0][i] = (struct line){ 1, 0 };
		w.lines[1][i] = (struct line){ 1, 100.0 * i };
	}
	for (uint32_t i = 0; i < nthreads; i++)
		w.threads[i] = (struct tr_thread){ .clock = i > 0,
						   .process = i,
						   .rank = i,
						   .complete = true,
						   .records = w.thread[i].records };
	w.trace = (struct trace){ .clocks = w.clocks,
				  .nclocks = 2,
				  .threads = w.threads,
				  .nthreads = nthreads,
				  .processes = w.processes,
				  .nprocesses = nthreads,
				  .sites = (struct tr_site *)sites,
				  .nsites = SITES };
}

static frz_time score_by_hand(uint32_t thread, uint32_t *site)
{
	struct times times;
	struct roles roles;
	struct totals totals;
	times_open(&times, &w.trace, &(struct options){ .json = false });
	roles_open(&roles, &w.trace, NULL, NULL);
	totals_open(&totals, &w.trace, &roles);
	struct span span = times_span(&times, 0, totals.ends);
	struct cast cast = totals_cast_threads(&totals);
	struct csp_score *scores = csp_scores(&times, &roles, &cast, &span);
	frz_time score = scores[thread].alone;
	*site = scores[thread].site;
	free(scores);
	cast_close(&cast);
	totals_close(&totals);
	roles_close(&roles);
	times_close(&times);
	return score;
}

/* Threads 1 and 2 share a clock that is 300 ticks uncertain; thread 0 waits all the time. */
START_TEST(frame_within_one_host_carries_no_clock_error)
{
	uint32_t site;
	make_hosts(3);
	add_visit(0, 1000, 9000, BARRIER);
	add_visit(1, 4000, 4050, REGION_B);
	add_visit(2, 3990, 4040, RECEIVE);
	frz_time score = score_by_hand(1, &site);
	ck_assert_int_eq(score.lo, 40 - 1);
	ck_assert_int_eq(score.hi, 40 + 1);
	ck_assert_uint_eq(site, REGION_B);
}
END_TEST

/* Thread 0 begins to wait on one clock, thread 1 ends to work on the other. */
START_TEST(frame_between_two_hosts_is_as_wide_as_the_clock)
{
	uint32_t site;
	make_hosts(2);
	add_visit(0, 4000, 9000, BARRIER);
	add_visit(1, 1000, 5000, REGION_A);
	frz_time score = score_by_hand(1, &site);
	ck_assert_int_eq(score.lo, 5000 - 4001);
	ck_assert_int_eq(score.hi, 5301 - 4000);
}
END_TEST

/* A wait on clock 0 that ends close to the begin of work on clock 1 may or may not overlap it. */
START_TEST(unknown_order_is_possible_and_not_definite)
{
	uint32_t site;
	make_hosts(2);
	add_visit(0, 1000, 4000, BARRIER);
	add_visit(1, 3800, 6000, REGION_A);
	frz_time score = score_by_hand(1, &site);
	ck_assert_int_eq(score.lo, 0);
	ck_assert_int_eq(score.hi, 4001 - 3800);
}
END_TEST

START_TEST(barrier_inside_a_region_is_waiting_and_a_helper_takes_no_part)
{
	uint32_t site;
	make_hosts(4);
	w.threads[1].clock = w.threads[2].clock = 0;
	add_event(0, 1000, REGION_A, DPROF_ENTER);
	add_visit(0, 2000, 5000, BARRIER);
	add_event(0, 6000, REGION_A, DPROF_EXIT);
	add_event(1, 1000, REGION_A, DPROF_ENTER);
	add_visit(1, 4000, 5002, BARRIER);
	add_event(1, 6000, REGION_A, DPROF_EXIT);
	add_visit(2, 3000, 3001, SEND);
	frz_time score = score_by_hand(1, &site);
	ck_assert_int_eq(score.lo, 2000 - 1);
	ck_assert_int_eq(score.hi, 2000 + 1);
}
END_TEST

static uint64_t setting(const char *name, uint64_t otherwise)
{
	const char *value = getenv(name);
	return value ? strtoull(value, NULL, 0) : otherwise;
}

START_TEST(truth_is_inside_and_bounds_are_tight)
{
	if (getenv("DPROF_SEED")) {
		check_world(setting("DPROF_SEED", 0));
		return;
	}
	for (uint64_t seed = 1; seed <= setting("DPROF_WORLDS", WORLDS); seed++)
		check_world(seed);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("analysis_csp");
	TCase *tc = tcase_create("worlds");
	tcase_set_timeout(tc, 300);
	tcase_add_test(tc, truth_is_inside_and_bounds_are_tight);
	tcase_add_test(tc, frame_within_one_host_carries_no_clock_error);
	tcase_add_test(tc, frame_between_two_hosts_is_as_wide_as_the_clock);
	tcase_add_test(tc, unknown_order_is_possible_and_not_definite);
	tcase_add_test(tc, barrier_inside_a_region_is_waiting_and_a_helper_takes_no_part);
	suite_add_tcase(suite, tc);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
