/* SPDX-License-Identifier: MIT
 *
 * analysis_periods.c - the periods of a thread are those that its states make, event by event, in whatever
 * blocks they stand and by how many workers they were found. Likewise regions. */
#include "analysis/base/memory.h"
#include "analysis/base/pool.h"
#include "analysis/states/totals.h"
#include "analysis/trace/trace_jumps.h"
#include "testsuite/truth/random.h"
#include "testsuite/unit/stored_records.h"
#include "testsuite/unit/unit.h"

#define THREADS 5
#define RECORDS 4000

#define SITE(k, n) { .kind = DPROF_KIND_##k, .name = n, .file = "x.c", .function = "", .line = 1, .column = 1 }
enum { BEGIN = 7, END, SITES };
static struct tr_site sites[SITES] = {
	SITE(REGION, "a"), SITE(REGION, "b"), SITE(BARRIER, "bar"), SITE(SEND, "MPI_Isend"), SITE(SLEEP, "nanosleep"),
	SITE(LOCK, "lock"), SITE(PROGRESS, "point"), SITE(PROGRESS, "thread begin"), SITE(PROGRESS, "thread end"),
};

static struct tr_thread threads[THREADS];
static struct tr_process process = { .rank = 0, .size = 1 };
static struct tr_clock host = { .ghz = 1 };
static struct trace trace = { .clocks = &host, .nclocks = 1, .processes = &process, .nprocesses = 1,
			      .threads = threads, .nthreads = THREADS, .sites = sites, .nsites = SITES };

/* ---- Records, nested as a rule --------------------------------------------------------------- */

struct writing {
	struct dice *dice;
	struct tr_record record[RECORDS + 4]; size_t n;
	uint64_t stamp;
	uint32_t open[20]; size_t depth;
};

static void put(struct writing *w, uint64_t value, uint64_t body, enum dprof_op op)
{
	w->record[w->n++] = (struct tr_record){ value, TR_WHAT(body, op) };
}

static void some_event(struct writing *w, unsigned rare)
{
	w->stamp += (uint64_t)roll_in(w->dice, 0, 50);
	if (roll_one_of(w->dice, rare)) {
		put(w, 1, 0, DPROF_LOST);
	} else if (roll_one_of(w->dice, rare)) {
		put(w, w->stamp, TR_NO_SITE, (enum dprof_op)roll_in(w->dice, DPROF_ENTER, DPROF_POINT));
	} else if (w->depth < 20 && (w->depth == 0 || roll_one_of(w->dice, 2))) {
		uint32_t site = (uint32_t)roll_in(w->dice, 0, BEGIN - 2);
		put(w, w->stamp, w->open[w->depth++] = site, DPROF_ENTER);
		if (sites[site].kind == DPROF_KIND_SLEEP && roll_one_of(w->dice, 2))
			put(w, w->stamp + 10, DPROF_KEY_UNTIL, DPROF_ARG);
	} else {
		bool other = roll_one_of(w->dice, rare);
		put(w, w->stamp, other ? (uint32_t)roll_in(w->dice, 0, BEGIN - 2) : w->open[w->depth - 1], DPROF_EXIT);
		w->depth -= !other;
	}
	if (roll_one_of(w->dice, 9))
		put(w, w->stamp, (uint64_t)roll_in(w->dice, BEGIN - 1, END), DPROF_POINT);
}

static void some_thread(struct dice *dice, struct tr_thread *t)
{
	static struct writing w;
	struct jumps_scan scan;
	unsigned rare = (unsigned)roll_in(dice, 1, 3) * 400;
	w = (struct writing){ .dice = dice, .stamp = 1000 };
	for (size_t most = (size_t)roll_in(dice, 0, RECORDS); w.n < most;)
		some_event(&w, rare);
	*t = (struct tr_thread){ .number = (uint32_t)(t - threads), .nrecords = w.n, .latest = UINT64_MAX, .may_jump = UINT64_MAX };
	struct tr_writer *writer = store_writer(trace.store);
	jumps_begin(&scan, &trace, t);
	store_begin(writer, NULL);
	for (size_t i = 0; i < w.n; i++) {
		if (TR_OP(w.record[i].what) != DPROF_ARG)
			jumps_event(&scan, &w.record[i], store_events(writer));
		store_record(writer, &w.record[i]);
	}
	t->blocks = store_end(writer);
	jumps_end(&scan, true);
	if (roll_one_of(dice, 2)) { /* as if it had none: both ways must agree whatever the records are */
		jumps_close(t->jumps);
		t->jumps = NULL;
	}
}

static void open_trace(uint64_t seed)
{
	static const size_t readers[] = { 1, 20000, 100000 };
	const char *kept_in_memory;
	struct dice dice = { seed };
	process.marked = roll_one_of(&dice, 2);
	trace.store = store_open(SITES, readers[roll_in(&dice, 0, 2)]);
	for (size_t i = 0; i < THREADS; i++)
		some_thread(&dice, &threads[i]);
	trace.whats = store_finish(trace.store, &kept_in_memory);
}

static void close_trace(void)
{
	for (size_t i = 0; i < THREADS; i++) {
		blocks_close(threads[i].blocks);
		jumps_close(threads[i].jumps);
		free(threads[i].open);
	}
	for (size_t i = 0; i < trace.ndiagnostics; i++)
		free(trace.diagnostics[i]);
	free(trace.diagnostics);
	trace.diagnostics = NULL;
	trace.ndiagnostics = 0;
	store_close(trace.store);
}

/* ---- The slow way ---------------------------------------------------------------------------- */

/* The state of a thread behind each of its events; the next period begins where it is another one. Its site is the one in
 * which it was longest at a time; the later one of two. */
struct slow { struct states states; struct period now; uint32_t site; uint64_t since, longest; bool over; };

static void slow_stretch(struct slow *s)
{
	const struct states *at = &s->states;
	if (at->now.site == s->site && at->now.may == s->now.may)
		return;
	if (at->last - s->since >= s->longest) {
		s->longest = at->last - s->since;
		s->now.site = s->site;
	}
	s->site = at->now.site;
	s->since = at->last;
}

static bool slow_next(struct slow *s, struct period *out)
{
	struct tr_event e;
	if (s->over)
		return false;
	while (states_step(&s->states, &e) != STATES_END) {
		slow_stretch(s);
		if (s->states.now.may == s->now.may)
			continue;
		*out = s->now;
		out->to = s->states.last;
		s->now = (struct period){ out->to, out->to, s->states.now.may, s->site };
		s->longest = 0;
		return true;
	}
	*out = s->now;
	out->to = PERIOD_AFTER;
	return s->over = true;
}

static void check_thread(uint64_t seed, const struct roles *roles, const struct totals *totals, size_t thread)
{
	struct slow slow = { .over = false };
	struct period expected, found;
	struct period_cursor cursor = periods_cursor(&totals->periods, thread);
	states_open(&slow.states, &trace, thread, roles);
	slow.site = slow.states.now.site;
	slow.now = (struct period){ PERIOD_BEFORE, PERIOD_BEFORE, slow.states.now.may, slow.site };
	while (slow_next(&slow, &expected)) {
		ck_assert(period_next(&cursor, &found));
		ck_assert_msg(found.from == expected.from && found.to == expected.to && found.may == expected.may &&
				      found.site == expected.site,
			      "SEED=%" PRIu64 ": thread %zu: expected %u in %u from %" PRIu64 " to %" PRIu64 ", found %u in %u from %"
			      PRIu64 " to %" PRIu64, seed, thread, expected.may, expected.site, expected.from, expected.to,
			      found.may, found.site, found.from, found.to);
	}
	ck_assert(!period_next(&cursor, &found));
	ck_assert_uint_eq(totals->threads[thread].unmatched, slow.states.unmatched);
	states_close(&slow.states);
	period_cursor_close(&cursor);
}

/* Of a thread that does not jump, event by event: how long in a region, how often entered. */
struct slow_region { uint64_t ticks, pieces, visits, since, entered; uint32_t depth; };

static void slow_event(struct slow_region *r, const struct tr_event *e, bool own, uint64_t last)
{
	bool lost = e->op == DPROF_LOST || (e->op == DPROF_ENTER && e->site == TR_NO_SITE);
	bool leaves = r->depth == 1 && own && e->op == DPROF_EXIT;
	r->ticks += r->depth && (lost || leaves) ? last - r->entered : 0;
	r->pieces += r->depth && (lost || leaves);
	r->visits += own && e->op == DPROF_ENTER && r->depth == 0;
	r->entered = r->depth == 0 || lost ? last : r->entered;
	r->depth += own && e->op == DPROF_ENTER ? 1 : own && e->op == DPROF_EXIT && r->depth ? -1u : 0;
	r->depth = lost ? 0 : r->depth;
	r->since = lost && last < r->since ? last : r->since;
}

static void check_regions(uint64_t seed, const struct totals *t, size_t thread)
{
	for (uint32_t r = 0; r < t->nregions && !threads[thread].jumps; r++) {
		struct slow_region slow = { .since = PERIOD_AFTER };
		const struct region_total *found = &t->threads[thread].regions[r];
		struct tr_cursor events = trace_events(&trace, thread);
		uint64_t last = 0, n = 0;
		for (struct tr_event e; trace_next(&events, &e); n += e.op != DPROF_LOST) {
			last = e.op != DPROF_LOST && e.stamp > last ? e.stamp : last;
			slow_event(&slow, &e, e.site != TR_NO_SITE && t->region_of_site[e.site] == r, last);
		}
		trace_end(&events);
		slow.ticks += slow.depth ? last - slow.entered : 0;
		slow.pieces += slow.depth > 0;
		slow.since = slow.depth && last < slow.since ? last : slow.since;
		ck_assert_msg(found->time.sure.ticks == slow.ticks && found->time.sure.count == slow.pieces &&
				      found->visits == slow.visits && found->time.since == slow.since &&
				      t->threads[thread].events == n,
			      "SEED=%" PRIu64 ": thread %zu: %" PRIu64 " ticks in %" PRIu64 " pieces, not %" PRIu64 " in %" PRIu64,
			      seed, thread, found->time.sure.ticks, found->time.sure.count, slow.ticks, slow.pieces);
	}
}

START_TEST(periods_are_those_of_the_states)
{
	trace_classify(&trace);
	uint64_t all = 0;
	for (uint64_t seed = unit_seed; seed < unit_seed + unit_times(200); seed++) {
		struct roles roles;
		struct totals totals;
		pool_set_jobs(seed % 2 ? 1 : 3);
		open_trace(seed);
		ck_assert(roles_open(&roles, &trace, NULL, NULL));
		totals_open(&totals, &trace, &roles);
		totals_regions(&totals);
		for (size_t i = 0; i < THREADS; i++) {
			check_thread(seed, &roles, &totals, i);
			check_regions(seed, &totals, i);
		}
		all += periods_count(&totals.periods);
		totals_close(&totals);
		roles_close(&roles);
		close_trace();
	}
	ck_assert_uint_gt(all, unit_times(200) * THREADS * 100);
}
END_TEST

int main(void)
{
	TCase *laws = unit_begin(900, UNIT_ANEW);

	tcase_add_test(laws, periods_are_those_of_the_states);
	return unit_end();
}
