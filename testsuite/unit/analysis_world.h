/* SPDX-License-Identifier: MIT
 *
 * analysis_world.h - random programs with known truth, for the tests of the sweeps.
 *
 * A random world has threads with true states at true real times, on clocks that are true straight lines. The analysis
 * gets what a recording would hold: whole-numbered stamps, some threads killed, some records lost (first ones, some in
 * the middle, last ones, all of a thread); and for each clock a family of lines of which the true one is a mixture.
 * What the analysis would get from the trace reader and the clock solver comes from here, instead of from their
 * files. */
#ifndef TESTSUITE_ANALYSIS_WORLD_H
#define TESTSUITE_ANALYSIS_WORLD_H

#include <math.h>

#include "analysis/states/states.h"
#include "analysis/trace/store.h"
#include "testsuite/unit/unit.h"

#define CLOCKS  3
#define LINES   4
#define THREADS 5
#define EVENTS  60
#define SLACK   1e-6 /* of the twin's own arithmetic */

enum { REGION_A, REGION_B, BARRIER, RECEIVE, SEND, NESTING, BEGIN = NESTING, END, SITES };
static struct tr_site sites[SITES] = {
	{ .kind = DPROF_KIND_REGION, .name = "a", .file = "x.c", .function = "main", .line = 1, .column = 1 },
	{ .kind = DPROF_KIND_REGION, .name = "b", .file = "x.c", .function = "main", .line = 2, .column = 1 },
	{ .kind = DPROF_KIND_BARRIER, .name = "bar", .file = "x.c", .function = "main", .line = 3, .column = 1 },
	{ .kind = DPROF_KIND_RECV, .name = "recv", .file = "x.c", .function = "main", .line = 4, .column = 1 },
	{ .kind = DPROF_KIND_SEND, .name = "send", .file = "x.c", .function = "main", .line = 5, .column = 1 },
	{ .kind = DPROF_KIND_FORK, .name = "thread begin", .file = "", .function = "", .line = 0, .column = 0 },
	{ .kind = DPROF_KIND_JOIN, .name = "thread end", .file = "", .function = "", .line = 0, .column = 0 },
};

struct world_line { double rate, offset; };
struct true_event {
	double time;
	uint8_t state;
	uint32_t site;
	uint64_t instance;   /* of an ENTER */
	enum dprof_op op;
	bool recorded;
};
struct true_thread {
	struct true_event events[EVENTS + 2];
	size_t count;
	double came;         /* when it was there, before its first event */
	double init_from, init_to; /* it waited meanwhile */
	uint8_t outside;     /* its state outside of all sites of a role */
	uint8_t choice[EVENTS + 3]; /* what it did if it was unclassified before event 0, 1, ... */
	double gone;         /* when it stopped to be in its last state */
	uint8_t before, after; /* what it is before it came and after it has gone: nowhere, or else there */
	struct tr_record records[EVENTS + 4];
};

static struct small_world {
	uint64_t random;
	uint32_t nclocks;
	struct world_line lines[CLOCKS][LINES], truth[CLOCKS];
	struct true_thread thread[THREADS];
	size_t nthreads, nprocesses;
	bool damaged;
	bool chosen;         /* what threads did in unclassified time */
	bool unplaced;       /* the last clock */
	bool one_region;     /* only REGION_A is work */
	bool lives;          /* some threads begin and end within the run */
	uint64_t uncertainty; /* by which the cores of each host differ */
	struct tr_thread threads[THREADS];
	struct tr_process processes[THREADS];
	struct tr_clock clocks[CLOCKS];
	struct trace trace;
	double first, last;  /* of all events, recorded or lost, in true time */
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
		const struct world_line *l = &w.lines[c->clock][i];
		lo = fmin(lo, l->rate * (double)stamp + l->offset);
		hi = fmax(hi, l->rate * ((double)stamp + 1) + l->offset);
	}
	double cores = (double)w.uncertainty * w.lines[c->clock][0].rate * 2;
	return (frz_time){ (int64_t)floor(lo - cores), (int64_t)ceil(hi + cores) };
}

void frz_times_of(struct frz_cursor *c, const uint64_t *stamps, size_t n, frz_time *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = frz_time_of(c, stamps[i]);
}

frz_time frz_duration(const struct frz_solution *s, uint32_t clock, uint64_t ticks)
{
	(void)s;
	double lo = INFINITY, hi = -INFINITY;
	for (int i = 0; i < LINES; i++) {
		double cores = 2 * (double)w.uncertainty + 1;
		lo = fmin(lo, w.lines[clock][i].rate * ((double)ticks - cores));
		hi = fmax(hi, w.lines[clock][i].rate * ((double)ticks + cores));
	}
	return (frz_time){ (int64_t)floor(fmax(lo, 0)), (int64_t)ceil(hi) };
}

/* Each duration is asked for. */
struct frz_speed frz_speed(const struct frz_solution *s, uint32_t clock)
{
	return (struct frz_speed){ .solution = s, .clock = clock, .bits = 64 };
}

/* The times above allow for the cores already. */
void frz_widen(struct frz_solution *s, uint32_t clock, uint64_t ticks)
{
	(void)s, (void)clock, (void)ticks;
}

struct tr_cursor trace_events(const struct trace *trace, size_t thread)
{
	return (struct tr_cursor){ .trace = trace, .thread = &trace->threads[thread] };
}

void trace_end(struct tr_cursor *c)
{
	(void)c;
}

struct tr_cursor trace_places(const struct trace *trace, size_t thread)
{
	return trace_events(trace, thread);
}

bool trace_next(struct tr_cursor *c, struct tr_event *e)
{
	if (c->next == c->thread->nrecords)
		return false;
	const struct tr_record *r = &w.thread[c->thread - w.threads].records[c->next++];
	*e = (struct tr_event){ .stamp = r->stamp,
				.op = TR_OP(r->what),
				.site = (uint32_t)(r->what >> 3 & 0xff),
				.nargs = 1,
				.keys = 1u << DPROF_KEY_ID,
				.args = { { DPROF_KEY_ID, r->what >> 16 } } };
	if (e->op == DPROF_LOST)
		*e = (struct tr_event){ .op = DPROF_LOST, .site = TR_NO_SITE, .lost = r->stamp };
	return true;
}

bool trace_next_bare(struct tr_cursor *c, struct tr_event *e)
{
	return trace_next(c, e);
}

/* There are no columns. */
bool trace_columns(struct tr_cursor *c, struct tr_columns *k)
{
	(void)c, (void)k;
	return false;
}

bool trace_columns_bare(struct tr_cursor *c, struct tr_columns *k)
{
	return trace_columns(c, k);
}

void trace_event_of(const struct trace *t, const struct tr_columns *k, size_t i, struct tr_event *e)
{
	(void)t, (void)k, (void)i, (void)e;
}

struct tr_passed trace_pass(struct tr_cursor *c, uint8_t *of_site)
{
	(void)c, (void)of_site;
	return (struct tr_passed){ 0 };
}

/* Nor does anything say what of. */
struct tr_wanted trace_wanted(const struct trace *t, const bool *what)
{
	(void)t;
	return (struct tr_wanted){ .what = what };
}

void trace_wanted_close(struct tr_wanted *wanted)
{
	(void)wanted;
}

bool trace_recorded(const struct trace *t, const struct tr_wanted *wanted, size_t thread)
{
	(void)t, (void)wanted, (void)thread;
	return true;
}

/* They are there already. */
void trace_arguments(const struct tr_cursor *c, struct tr_event *e)
{
	(void)c, (void)e;
}

bool trace_ends(const struct tr_thread *thread, uint64_t *first, uint64_t *last)
{
	const struct tr_record *r = w.thread[thread - w.threads].records, *end = r + thread->nrecords;
	while (r < end && !is_event(r))
		r++;
	while (r < end && !is_event(end - 1))
		end--;
	if (r == end)
		return false;
	*first = r->stamp;
	*last = end[-1].stamp;
	return true;
}

bool trace_lost_before(const struct tr_thread *thread)
{
	return thread->lost > 0 && (!thread->nrecords || !is_event(w.thread[thread - w.threads].records));
}

bool trace_lost_behind(const struct tr_thread *thread)
{
	const struct tr_record *r = w.thread[thread - w.threads].records;
	return thread->lost_last || (thread->nrecords && !is_event(r + thread->nrecords - 1));
}

bool trace_has_all(const struct trace *trace)
{
	return trace->ndiagnostics == 0;
}

bool trace_goes_on(const struct tr_thread *thread)
{
	uint64_t first, last = 0;
	trace_ends(thread, &first, &last);
	return (!thread->complete || trace_lost_behind(thread)) && thread->latest > last;
}

void trace_diagnose(struct trace *trace, const char *format, ...)
{
	(void)format;
	trace->ndiagnostics++;
}

/* ---- A random world -------------------------------------------------------------------------- */

static inline uint64_t any(void)
{
	w.random += 0x9e3779b97f4a7c15;
	uint64_t x = w.random;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static inline uint64_t below(uint64_t n)
{
	return any() % n;
}

static inline double real(double most)
{
	return most * (double)(any() >> 11) / (double)(UINT64_C(1) << 53);
}

static inline void make_clock(uint32_t c)
{
	static const double widths[] = { 0, 3, 30, 300 };
	double rate = c ? 0.5 + real(1.5) : 1, offset = c ? 5000 + real(5000) : 0;
	double width = c ? widths[below(4)] : 0, wander = c ? real(0.02) : 0;
	double weight[LINES], sum = 0;
	w.truth[c] = (struct world_line){ 0, 0 };
	for (int i = 0; i < LINES; i++) {
		w.lines[c][i] = (struct world_line){ rate * (1 + real(wander)), offset + real(width) };
		weight[i] = below(3) ? real(1) : 1e-3;
		sum += weight[i];
	}
	for (int i = 0; i < LINES; i++) {
		w.truth[c].rate += w.lines[c][i].rate * weight[i] / sum;
		w.truth[c].offset += w.lines[c][i].offset * weight[i] / sum;
	}
}

static inline uint64_t stamp_of(uint32_t clock, double time)
{
	return (uint64_t)floor((time - w.truth[clock].offset) / w.truth[clock].rate);
}

static inline uint8_t state_of(const struct true_thread *t, const uint32_t *stack, size_t depth)
{
	while (depth > 0 && (stack[depth - 1] == SEND ||
			     (w.one_region && stack[depth - 1] == REGION_B)))
		depth--;
	return depth == 0 ? t->outside : stack[depth - 1] <= REGION_B ? MAY_WORK : MAY_WAIT;
}

static inline void add_life(struct true_thread *t, double time, uint32_t site)
{
	t->events[t->count++] = (struct true_event){
		.time = time, .state = site == END ? MAY_GONE : t->outside, .site = site,
		.op = DPROF_POINT, .recorded = true };
}

/* Enters and exits at true times, which are sometimes the same moment and often the same tick. */
static inline void make_events(struct true_thread *t, double step)
{
	uint32_t stack[EVENTS];
	size_t depth = 0, count = 2 * below(EVENTS / 2 + 1);
	double time = 20000 + (below(3) ? real(step) : real(20 * step));
	bool begins = w.lives && below(2), ends = w.lives && below(2);
	if (begins) {
		add_life(t, time, BEGIN);
		time += real(step);
	}
	for (count += begins; t->count < count; t->count++) {
		struct true_event *e = &t->events[t->count];
		bool leaves = depth > 0 && (depth == count - t->count || below(5) < 3);
		e->op = leaves ? DPROF_EXIT : DPROF_ENTER;
		e->site = leaves     ? stack[depth - 1]
			  : below(4) ? BARRIER - below(2) + below(2)
				     : below(NESTING);
		if (leaves)
			depth--;
		else
			stack[depth++] = e->site;
		e->instance = below(3);
		e->state = state_of(t, stack, depth);
		e->time = time;
		e->recorded = true;
		time += below(4) ? real(step) : below(3) ? real(2) : 0;
	}
	if (ends)
		add_life(t, time, END);
	t->gone = t->count ? t->events[t->count - 1].time : 0;
}

/* It may have been there before its first event, and go on after its last one. */
static inline void lengthen(struct true_thread *t, double step)
{
	double first = t->count ? t->events[0].time : 0;
	t->came = first - (below(3) ? real(10 * step) : 0);
	t->init_from = t->came + real(first - t->came);
	t->init_to = below(2) ? t->init_from + real(first - t->init_from) : t->init_from;
	if (t->count && t->events[t->count - 1].site != END)
		t->gone += below(3) ? real(10 * step) : 0;
}

/* What a recording says of that. */
static inline void tell_ends(struct true_thread *t, struct tr_thread *out)
{
	struct tr_process *p = &w.processes[out->process];
	t->before = MAY_OTHER;
	t->after = out->complete || below(2) ? MAY_GONE : MAY_OTHER;
	if (out->complete && t->count)
		out->ended = stamp_of(out->clock, t->gone);
	if (out->number > 0 || !t->count || below(4) == 0) {
		t->init_to = t->init_from; /* only the first thread is in MPI_Init, and then it is told */
		return;
	}
	p->started = stamp_of(out->clock, t->came);
	p->forked = below(2);
	t->before = p->forked ? MAY_GONE : MAY_OTHER;
	p->init_from = stamp_of(out->clock, t->init_from);
	p->init_to = stamp_of(out->clock, t->init_to);
}

/* The state before the first event. */
static inline uint8_t state_before(const struct true_thread *t, double time)
{
	if (t->count > 0 && t->events[0].site == BEGIN)
		return MAY_GONE;
	if (t->count == 0)
		return MAY_OTHER;
	if (time < t->came)
		return t->before;
	return time >= t->init_from && time < t->init_to ? MAY_WAIT : t->outside;
}

/* It is killed: it stays in its state for an unknown while. */
static inline void kill_thread(struct true_thread *t, struct tr_thread *out)
{
	t->count = t->count ? below(t->count) : 0;
	t->gone = t->count ? t->events[t->count - 1].time + real(400) : 0;
	out->complete = false;
	w.damaged = true;
}

/* As one of the host's cores shows it; a thread never sees its stamps go back. */
static inline uint64_t recorded_stamp(uint32_t clock, double time, uint64_t least)
{
	uint64_t stamp = stamp_of(clock, time);
	if (w.uncertainty > 0)
		stamp += below(2 * w.uncertainty + 1) - w.uncertainty;
	return stamp < least ? least : stamp;
}

static inline void record(struct true_thread *t, struct tr_thread *out)
{
	uint64_t lost = 0, last = 0;
	out->nrecords = 0;
	for (size_t i = 0; i < t->count; i++) {
		const struct true_event *e = &t->events[i];
		if (!e->recorded) {
			lost++;
			continue;
		}
		if (lost > 0)
			t->records[out->nrecords++] =
				(struct tr_record){ lost, TR_WHAT(1, DPROF_LOST) };
		lost = 0;
		last = recorded_stamp(out->clock, e->time, last);
		t->records[out->nrecords++] = (struct tr_record){
			last, e->instance << 16 | (uint64_t)e->site << 3 | e->op };
	}
	if (lost > 0 && below(2)) /* else nothing but the number of all lost ones tells */
		t->records[out->nrecords++] = (struct tr_record){ lost, TR_WHAT(1, DPROF_LOST) };
}

static inline void make_world(uint64_t seed, uint64_t uncertainty, bool one_region, bool lives)
{
	static const double steps[] = { 3, 20, 200 };
	memset(&w, 0, sizeof w);
	w.random = seed;
	w.uncertainty = uncertainty;
	w.one_region = one_region;
	w.lives = lives;
	w.nclocks = 1 + (uint32_t)below(CLOCKS);
	w.unplaced = w.nclocks > 1 && below(8) == 0;
	w.nthreads = 1 + below(THREADS);
	w.nprocesses = 1 + below(w.nthreads);
	w.first = INFINITY;
	w.last = -INFINITY;
	for (uint32_t c = 0; c < w.nclocks; c++) {
		make_clock(c);
		w.clocks[c].uncertainty = uncertainty;
		w.clocks[c].host = (char *[]){ "h0", "h1", "h2" }[c];
	}
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
						   .number = i > 0 && w.threads[i - 1].process == process
								     ? w.threads[i - 1].number + 1
								     : 0,
						   .complete = true };
		if (w.threads[i].number == 0)
			w.processes[process].marked = below(2);
		w.thread[i].outside = one_region                     ? MAY_OTHER
				      : w.processes[process].marked ? MAY_BE_UNCLASSIFIED
								    : MAY_WORK;
		make_events(&w.thread[i], step);
		lengthen(&w.thread[i], step);
		if (broken && below(4) == 0)
			kill_thread(&w.thread[i], &w.threads[i]);
		for (size_t j = 0; j < w.thread[i].count; j++) {
			w.first = fmin(w.first, w.thread[i].events[j].time);
			w.last = fmax(w.last, w.thread[i].events[j].time);
		}
		record(&w.thread[i], &w.threads[i]);
		tell_ends(&w.thread[i], &w.threads[i]);
	}
	w.trace = (struct trace){ .clocks = w.clocks,
				  .nclocks = w.nclocks,
				  .threads = w.threads,
				  .nthreads = w.nthreads,
				  .processes = w.processes,
				  .nprocesses = w.nprocesses,
				  .sites = sites,
				  .nsites = SITES };
	trace_classify(&w.trace);
}

/* First records of a thread, some in the middle, last ones, or all. */
static inline void lose_records(struct true_thread *t, struct tr_thread *out)
{
	size_t from = below(t->count), to = from + 1 + below(t->count - from);
	uint64_t where = below(4);
	if (where == 0 || where == 3)
		from = 0;
	if (where == 2 || where == 3)
		to = t->count;
	for (size_t i = from; i < to; i++)
		t->events[i].recorded = false;
	out->lost = to - from;
	out->lost_last = to == t->count;
	out->earliest = out->number == 0 ? w.processes[out->process].started : 0;
	if (out->complete && !out->ended)
		out->ended = stamp_of(out->clock, t->gone);
	out->latest = out->ended ? out->ended : UINT64_MAX;
	record(t, out);
}

/* What happened in the world stays as it was. */
static inline void lose_some(void)
{
	for (size_t i = 0; i < w.nthreads; i++)
		if (w.thread[i].count && below(2))
			lose_records(&w.thread[i], &w.threads[i]);
	w.damaged = true;
}

/* ---- The truth ------------------------------------------------------------------------------- */

static inline int by_value(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;
	return (a > b) - (a < b);
}

/* All moments at which anything changes. */
static inline size_t true_moments(double *moments)
{
	size_t count = 0;
	for (size_t i = 0; i < w.nthreads; i++) {
		for (size_t j = 0; j < w.thread[i].count; j++)
			moments[count++] = w.thread[i].events[j].time;
		moments[count++] = w.thread[i].gone;
		moments[count++] = w.thread[i].came;
		moments[count++] = w.thread[i].init_from;
		moments[count++] = w.thread[i].init_to;
	}
	moments[count++] = w.first;
	moments[count++] = w.last;
	qsort(moments, count, sizeof *moments, by_value);
	return count;
}

/* ---- What tests share ------------------------------------------------------------------------ */

static inline void check_inside(uint64_t seed, const char *what, uint32_t which, frz_time found,
			 double truth)
{
	ck_assert_msg((double)found.lo <= truth + SLACK && truth - SLACK <= (double)found.hi,
		      "SEED=%" PRIu64 ": %s %u: %.3f is not in [%" PRId64 ", %" PRId64 "]",
		      seed, what, which, truth, found.lo, found.hi);
}

/* Each change of a thread's state may end a frame, which is then as wide as its clock there, and as
 * a tick of each clock; durations on one clock add the width of its rate. */
static inline double allowed_width(void)
{
	double allowed = 1;
	for (size_t i = 0; i < w.nthreads; i++) {
		uint32_t clock = w.threads[i].clock;
		const struct true_thread *t = &w.thread[i];
		/* Whether it is there before its first event and after its last is not said. */
		if (t->count > 0)
			allowed += fmax(t->events[0].time - w.first, 0) +
				   fmax(w.last - t->events[t->count - 1].time, 0);
		struct frz_cursor c = frz_cursor(NULL, clock);
		for (size_t j = 0; j < w.threads[i].nrecords; j++) {
			frz_time at = frz_time_of(&c, t->records[j].stamp);
			allowed += w.nclocks > 1 ? 4 * (double)(at.hi - at.lo) : 0;
			allowed += 3 * (w.truth[clock].rate + 1);
		}
		frz_time all = frz_duration(NULL, clock, (uint64_t)(w.last - w.first) * 2);
		allowed += (double)(all.hi - all.lo);
	}
	return allowed;
}

#endif
