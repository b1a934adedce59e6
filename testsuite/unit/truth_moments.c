/* SPDX-License-Identifier: MIT
 *
 * truth_moments.c - random programs on clocks that are known only within bounds, each event at one moment (moments.h):
 * within its bounds, none before what it needs; the law asked of each match, as the slowest way of matching finds
 * them. */
#include "analysis/export/moments.h"

#include "analysis/match/match.h"
#include "testsuite/truth/program.h"
#include "testsuite/unit/unit.h"

static uint64_t seed, programs;
static struct { uint64_t programs, none, moved, messages, collectives; } seen;

static void setup(void)
{
	seed = unit_seed;
	programs = unit_times(200);
}

/* Along each thread; both ways to ask say the same. */
static void check_threads(const struct program *p, const struct moments *m)
{
	for (uint32_t t = 0; t < m->trace->nthreads; t++) {
		struct moments_cursor along = moments_of(m, t), any = moments_of(m, t);
		struct tr_cursor events = trace_events(m->trace, t);
		struct tr_event e;
		int64_t last = INT64_MIN;
		while (trace_next(&events, &e)) {
			frz_time bounds, again;
			int64_t at = moments_at(&along, e.stamp, &bounds);
			ck_assert_msg(bounds.lo <= at && at <= bounds.hi,
				      "SEED=%" PRIu64 ": thread %u at %" PRIu64 ": out of its bounds", p->seed, t, e.stamp);
			ck_assert_msg(at >= last, "SEED=%" PRIu64 ": thread %u at %" PRIu64 ": before the last one",
				      p->seed, t, e.stamp);
			ck_assert_int_eq(moments_at_any(&any, e.stamp, &again), at);
			ck_assert(bounds.lo == again.lo && bounds.hi == again.hi);
			last = at;
		}
		trace_end(&events);
	}
}

static int64_t at(const struct moments *m, uint32_t thread, uint64_t stamp)
{
	frz_time bounds;
	struct moments_cursor c = moments_of(m, thread);
	return moments_at_any(&c, stamp, &bounds);
}

static void check_order(const struct program *p, const struct moments *m, const struct match_part *by,
			const struct match_part *needs)
{
	ck_assert_msg(by->done_at == MATCH_NEVER || at(m, needs->thread, needs->enter) <= at(m, by->thread, by->done),
		      "SEED=%" PRIu64 ": thread %u is done at %" PRIu64 " before thread %u begins at %" PRIu64, p->seed, by->thread, by->done,
		      needs->thread, needs->enter);
}

static void check_matches(const struct program *p, const struct moments *m)
{
	struct match_walk *walk = match_walk_open_by_events(m->trace, match_slack(m->trace));
	struct match match;
	while (match_walk_next(walk, &match)) {
		bool all = match.kind == MATCH_COLLECTIVE && match.flow == FLOW_ALL;
		seen.messages += match.kind == MATCH_MESSAGE;
		seen.collectives += all;
		if (match.kind == MATCH_MESSAGE)
			check_order(p, m, &match.parts[1], &match.parts[0]);
		for (size_t i = 0; i < match.nparts && all; i++)
			for (size_t k = 0; k < match.nparts; k++)
				check_order(p, m, &match.parts[i], &match.parts[k]);
	}
	match_walk_close(walk);
}

START_TEST(moments_are_possible)
{
	for (uint64_t i = 0; i < programs; i++) {
		struct program *p = program_draw(seed + i, &(struct program_spec){ .varying = i % 2, .affine = i % 3 == 0 });
		struct options options = { .assumption = p->assumption };
		struct trace *trace = program_trace(p, PROGRAM_RECORDED);
		struct times times;
		struct moments m;

		ck_assert_int_eq(times_open(&times, trace, &options), EXIT_FINE);
		moments_open(&m, trace, &times);
		seen.programs++;
		seen.none += !m.kept;
		if (m.kept) {
			check_threads(p, &m);
			check_matches(p, &m);
		}
		seen.moved += !m.middle;
		moments_close(&m);
		times_close(&times);
		trace_close(trace);
		program_free(p);
	}
	printf("%" PRIu64 " programs, of which %" PRIu64 " not by their middles; %" PRIu64 " messages, %" PRIu64 " collectives\n",
	       seen.programs, seen.moved, seen.messages, seen.collectives);
	ck_assert(seen.messages > programs && seen.collectives > programs && seen.moved > 0);
	ck_assert_msg(seen.none <= programs / 50, "SEED=%" PRIu64 ": of %" PRIu64 " programs have no moments", seed, seen.none);
}
END_TEST

int main(void)
{
	TCase *c = unit_begin(100000, 1);

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_add_test(c, moments_are_possible);
	return unit_end();
}
