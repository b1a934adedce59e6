/* SPDX-License-Identifier: MIT
 *
 * analysis_jumps.c - a thread that leaves places without an exit, that changes between two stacks, whose sites cannot
 * all be found: where it truly was is never excluded. The twin is the program, which knows where it is all the time. */
#include "analysis/states/conditions.h"
#include "analysis/states/totals.h"
#include "analysis/trace/trace_jumps.h"
#include "testsuite/truth/random.h"
#include "testsuite/unit/stored_records.h"
#include "testsuite/unit/unit.h"

#define STEPS 60
#define DEEP  10

enum { A, B, BAR, ISEND, LAST, SWITCH, SITES };
static struct tr_site sites[SITES] = {
	{ .kind = DPROF_KIND_REGION, .name = "a", .file = "x.c", .function = "", .line = 1, .column = 1 },
	{ .kind = DPROF_KIND_REGION, .name = "b", .file = "x.c", .function = "", .line = 2, .column = 1 },
	{ .kind = DPROF_KIND_BARRIER, .name = "bar", .file = "x.c", .function = "", .line = 3, .column = 1 },
	{ .kind = DPROF_KIND_SEND, .name = "MPI_Isend", .file = "x.c", .function = "", .line = 4, .column = 1 },
	{ .kind = DPROF_KIND_PROGRESS, .name = "point", .file = "x.c", .function = "", .line = 5, .column = 1 },
	{ .kind = DPROF_KIND_IO, .name = "stack switch", .file = "", .function = "" },
};

struct jumps_entry { uint32_t site; bool other; /* on the other stack */ };
struct jumps_place { uint64_t from; struct jumps_entry in[DEEP]; size_t depth; }; /* from a stamp on, innermost last */

static struct jumps_program {
	struct dice dice;
	bool two_stacks, may_jump, jumped, mixed, other; /* mixed: it switched stacks inside of something */
	struct jumps_place now, place[STEPS + 3];
	size_t nplaces;
	struct tr_record record[STEPS + 3 * DEEP + 2];
	size_t nrecords;
	bool hidden[SITES];
} p;

static struct tr_thread thread;
static struct tr_process process;
static struct tr_clock host = { .ghz = 1 };
static struct trace trace = { .clocks = &host, .nclocks = 1, .processes = &process, .nprocesses = 1,
			      .threads = &thread, .nthreads = 1, .sites = sites, .nsites = SITES };

/* ---- The program ----------------------------------------------------------------------------- */

static void record(uint32_t site, enum dprof_op op)
{
	p.record[p.nrecords++] =
		(struct tr_record){ p.now.from, TR_WHAT(p.hidden[site] ? TR_NO_SITE : site, op) };
}

static void enter(void)
{
	uint32_t site = (uint32_t)roll_in(&p.dice, A, ISEND);
	p.now.in[p.now.depth++] = (struct jumps_entry){ site, p.other };
	record(site, DPROF_ENTER);
}

/* The innermost of the stack that runs. */
static void leave(void)
{
	size_t d = p.now.depth;
	while (d > 0 && p.now.in[d - 1].other != p.other)
		d--;
	if (d == 0)
		return;
	record(p.now.in[d - 1].site, DPROF_EXIT);
	memmove(&p.now.in[d - 1], &p.now.in[d], (p.now.depth-- - d) * sizeof *p.now.in);
}

static void switch_stacks(void)
{
	p.mixed |= p.now.depth > 0;
	record(SWITCH, DPROF_POINT);
	p.other = !p.other;
}

static void step(void)
{
	p.now.from += (uint64_t)roll_in(&p.dice, 1, 9);
	int64_t what = roll_in(&p.dice, 0, 7);
	if (what < 3 && p.now.depth < DEEP)
		enter();
	else if (what < 6)
		leave();
	else if (p.may_jump && p.now.depth > 0) {
		p.now.depth -= (size_t)roll_in(&p.dice, 1, (int64_t)p.now.depth);
		p.jumped = true;
	} else if (p.two_stacks)
		switch_stacks();
	p.place[p.nplaces++] = p.now;
}

static void run(uint64_t seed)
{
	p = (struct jumps_program){ .dice = { seed }, .now.from = 1000 };
	p.two_stacks = roll_one_of(&p.dice, 4);
	p.may_jump = !p.two_stacks && !roll_one_of(&p.dice, 4);
	for (uint32_t s = 0; s < LAST; s++)
		p.hidden[s] = roll_one_of(&p.dice, 12);
	record(LAST, DPROF_POINT);
	p.place[p.nplaces++] = p.now;
	for (unsigned i = 0; i < STEPS; i++)
		step();
	for (p.now.from += 10; p.two_stacks && p.now.depth > 0; switch_stacks())
		leave();
	record(LAST, DPROF_POINT);
	p.place[p.nplaces++] = p.now;
}

/* What is recorded of it. */
static void open_trace(void)
{
	struct jumps_scan scan;
	process = (struct tr_process){ .rank = 0, .size = 1, .marked = true };
	thread = (struct tr_thread){ .nrecords = p.nrecords, .latest = UINT64_MAX,
				     .may_jump = p.jumped ? 0 : UINT64_MAX };
	jumps_begin(&scan, &trace, &thread);
	for (size_t i = 0; i < p.nrecords; i++)
		jumps_event(&scan, &p.record[i], i);
	jumps_end(&scan, !p.jumped);
	store_thread(&trace, &thread, p.record, p.nrecords);
}

/* ---- What must hold of it -------------------------------------------------------------------- */

static bool is_in(const struct jumps_place *x, uint32_t site)
{
	for (size_t i = 0; i < x->depth; i++)
		if (x->in[i].site == site)
			return true;
	return false;
}

static uint8_t true_state(const struct jumps_place *x)
{
	for (size_t d = x->depth; d-- > 0;)
		if (x->in[d].site != ISEND)
			return x->in[d].site == BAR ? MAY_WAIT : MAY_WORK;
	return MAY_BE_UNCLASSIFIED;
}

/* Each place that begins in from .. to, or in which that begins. */
#define FOR_PLACES(x, begin, end)                                        \
	for (const struct jumps_place *x = p.place; x + 1 < p.place + p.nplaces; x++) \
		if (x->from < (end) && x[1].from > (begin))

static void check_period(uint64_t seed, struct period period)
{
	FOR_PLACES(x, period.from, period.to)
		ck_assert_msg(period.may & true_state(x), "seed %" PRIu64 ": from %" PRIu64 " it is in state %u, found %u", seed,
			      x->from, true_state(x), period.may);
	bool sure = !p.jumped && !p.mixed && period.to != PERIOD_AFTER;
	for (uint32_t i = 0; i < SITES; i++)
		sure &= !p.hidden[i];
	ck_assert_msg(!sure || period.from == PERIOD_BEFORE || !(period.may & (period.may - 1)),
		      "seed %" PRIu64 ": nothing is unknown, found %u", seed, period.may);
}

static void check_states(uint64_t seed, const struct roles *roles)
{
	struct states s;
	struct period_begin begin[PERIODS_AT_ONCE];
	uint64_t to;
	states_open(&s, &trace, 0, roles);
	for (size_t n; (n = states_periods(&s, begin, PERIODS_AT_ONCE, &to));)
		for (size_t i = 0; i < n; i++)
			check_period(seed, states_period(begin, n, i, to));
	states_close(&s);
}

static void check_regions(uint64_t seed, struct totals *totals)
{
	totals_regions(totals);
	for (uint32_t site = A; site <= B; site++) {
		const struct total *t = &totals->threads[0].regions[totals->region_of_site[site]].time;
		uint64_t truth = 0, last = p.now.from, most = t->sure.ticks + t->possible.ticks;
		FOR_PLACES(x, 0, UINT64_MAX)
			truth += is_in(x, site) ? x[1].from - x->from : 0;
		most += t->since <= last ? last - (t->since ? t->since : p.place->from) : 0;
		ck_assert_msg(t->sure.ticks <= truth && truth <= most,
			      "seed %" PRIu64 ": %s lasts %" PRIu64 ", found %" PRIu64 " .. %" PRIu64, seed,
			      sites[site].name, truth, t->sure.ticks, most);
	}
}

/* Which of these is true, in the order of the query's atoms. */
static uint32_t true_mask(const struct query *q, const struct jumps_place *x)
{
	uint32_t mask = 0, top = x->depth ? x->in[x->depth - 1].site : TR_NO_SITE;
	for (uint32_t i = 0; i < q->natoms; i++) {
		const struct query_atom *a = &q->atoms[i];
		bool holds = a->what == ATOM_WORKING ? true_state(x) == MAY_WORK
			     : a->innermost	     ? top != TR_NO_SITE && a->sites[top]
						     : false;
		for (uint32_t s = 0; s < SITES && a->what == ATOM_SITES && !a->innermost; s++)
			holds |= a->sites[s] && is_in(x, s);
		mask |= (uint32_t)holds << i;
	}
	return mask;
}

static bool admits(const struct condition *c, uint32_t mask)
{
	for (unsigned i = 0; i < c->count; i++)
		if (!(c->set[i].must & ~mask) && !(mask & ~c->set[i].may))
			return true;
	return false;
}

static void check_conditions(uint64_t seed, const struct roles *roles)
{
	struct query q;
	struct query_error error;
	struct atom_map map;
	struct conditions c;
	struct condition_stretch s;
	ck_assert(query_open(&q, &trace, roles,
			     "count(a) + count(b) + count(at a) + count(at bar) + count(working) == 1", &error));
	atom_map_open(&map, &q);
	conditions_open(&c, &map, 0);
	while (conditions_next(&c, &s))
		FOR_PLACES(x, s.from, s.to)
			ck_assert_msg(admits(&s.condition, true_mask(&q, x)),
				      "seed %" PRIu64 ": from %" PRIu64 " %x is true, found %x .. %x", seed, x->from,
				      true_mask(&q, x), s.condition.set[0].must, s.condition.set[0].may);
	conditions_close(&c);
	atom_map_close(&map);
	query_close(&q);
}

static void check(uint64_t seed)
{
	struct roles roles;
	struct totals totals;
	run(seed);
	open_trace();
	ck_assert_msg(p.mixed == (thread.jumps && thread.jumps->tangled),
		      "seed %" PRIu64 ": it switched stacks inside of something, or not", seed);
	ck_assert(roles_open(&roles, &trace, NULL, NULL));
	check_states(seed, &roles);
	check_conditions(seed, &roles);
	totals_open(&totals, &trace, &roles);
	check_regions(seed, &totals);
	totals_close(&totals);
	roles_close(&roles);
	jumps_close(thread.jumps);
	unstore_thread(&trace, &thread);
}

START_TEST(where_a_thread_is_is_never_excluded)
{
	trace_classify(&trace);
	for (uint64_t i = 0; i < unit_times(8000); i++)
		check(unit_seed + i);
}
END_TEST

int main(void)
{
	tcase_add_test(unit_begin(900, 1), where_a_thread_is_is_never_excluded);
	return unit_end();
}
