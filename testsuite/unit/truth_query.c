/* SPDX-License-Identifier: MIT
 *
 * truth_query.c - random programs on hosts with made-up clocks, affine and wandering: for how long
 * conditions hold, and every straggler score, lie within the bounds that the recorded trace gives.
 *
 * The truth is what the same analysis says when all threads are on one clock of true ticks; that it
 * counts right is the business of analysis_query.c and analysis_csp.c. */
#include "analysis/report/findings.h"
#include "analysis/states/csp.h"
#include "analysis/states/frames.h"
#include "testsuite/truth/program.h"
#include "testsuite/unit/unit.h"

#define QUERIES 8 /* of each program */

static uint64_t seed, programs, dice;

static void setup(void)
{
	seed = unit_seed;
	programs = unit_times(150);
}

static unsigned below(unsigned n)
{
	dice = dice * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (unsigned)(dice >> 33) % n;
}

static void choose_place(char *text, size_t size)
{
	static const char *const places[] = {
		"a", "at b", "c", "at d", "region", "at barrier", "coll", "recv", "send", "working",
		"waiting", "alive", "lock", "\"wait\"", "at join",
	};

	snprintf(text, size, "%s", places[below(sizeof places / sizeof *places)]);
}

static void choose_condition(const struct program *p, char *text, size_t size)
{
	char x[16], y[16];
	unsigned n = below((unsigned)p->nthreads + 1), rank = below(p->nranks);
	static const char *const signs[] = { "==", "!=", "<", "<=", ">", ">=" };
	const char *sign = signs[below(6)];

	choose_place(x, sizeof x);
	choose_place(y, sizeof y);
	switch (below(5)) {
	case 0: snprintf(text, size, "count(%s) %s %u", x, sign, n); break;
	case 1: snprintf(text, size, "count(%s) + %u %s count(%s)", x, n / 2, sign, y); break;
	case 2: snprintf(text, size, "rank %u %s and not count(%s) %s %u", rank, x, y, sign, n);
		break;
	case 3: snprintf(text, size, "ranks(%s) %s %u or rank %u %s", x, sign, n, rank, y); break;
	default: snprintf(text, size, "count(%s) == threads-1 and count(%s) == 1", x, y); break;
	}
}

/* One trace, analysed. */
struct query_view { struct trace *trace; struct findings findings; };

static void open_view(struct query_view *v, struct program *p, enum program_view which)
{
	struct options options = { .assumption = p->assumption };

	v->trace = program_trace(p, which);
	ck_assert_int_eq(findings_open(&v->findings, v->trace, &options), EXIT_FINE);
}

static void close_view(struct query_view *v)
{
	findings_close(&v->findings);
	trace_close(v->trace);
}

static frz_time holds(struct query_view *v, const char *condition)
{
	struct query query;
	struct query_error error;
	struct frames frames;
	frz_time found = { 0, 0 };

	if (query_open(&query, v->trace, &v->findings.roles, condition, &error)) {
		frames_open(&frames, &v->findings.times, &query, 0, &v->findings.spans[0], 0);
		found = frames.holds;
		frames_close(&frames);
		frames_open_unpruned(&frames, &v->findings.times, &query, 0, &v->findings.spans[0], 0);
		if (frames.holds.lo != found.lo || frames.holds.hi != found.hi)
			ck_abort_msg("dice %" PRIu64 ": %s: pruned [%" PRId64 ", %" PRId64 "], not [%" PRId64
				     ", %" PRId64 "]", dice, condition, found.lo, found.hi, frames.holds.lo,
				     frames.holds.hi);
		frames_close(&frames);
		query_close(&query);
	} else {
		free(error.what); /* a place that this program does not have */
	}
	return found;
}

/* True ticks, of which the interval says how many base ticks they are. */
static void check_inside(const struct program *p, const char *what, frz_time truth, frz_time found)
{
	if (program_compare(truth.hi, found.lo) < 0 || program_compare(truth.lo, found.hi) > 0)
		ck_abort_msg("SEED=%" PRIu64 ": %s: %.3f is not in [%" PRId64 ", %" PRId64
			     "]", p->seed, what, (double)truth.lo / PROGRAM_FINE, found.lo,
			     found.hi);
}

static void check_percent(const struct program *p, size_t thread, struct interval truth,
			  struct interval found)
{
	if (truth.hi < found.lo || found.hi < truth.lo)
		ck_abort_msg("SEED=%" PRIu64 ": score of thread %zu: %.6f %% is not in %.6f "
			     ".. %.6f", p->seed, thread, truth.lo, found.lo, found.hi);
}

static void check_scores(const struct program *p, const struct ranking *truth,
			 const struct ranking *found)
{
	ck_assert_uint_eq(truth->count, found->count);
	for (size_t i = 0; i < truth->count; i++)
		for (size_t j = 0; j < found->count; j++)
			if (truth->list[i].thread == found->list[j].thread)
				check_percent(p, truth->list[i].thread, truth->list[i].percent,
					      found->list[j].percent);
}

/* Scores are the same, to the bit, when no segment is left out before the sweep. */
static void check_pruning(const struct program *p, const struct findings *f, bool any)
{
	struct participants who = totals_participant_threads(&f->totals, any);
	struct csp_score *pruned = csp_scores(&f->times, &f->totals.periods, &who, f->spans);
	struct csp_score *all = csp_scores_unpruned(&f->times, &f->totals.periods, &who, f->spans);

	for (uint32_t a = 0; a < who.nparticipants; a++)
		if (pruned[a].alone.lo != all[a].alone.lo || pruned[a].alone.hi != all[a].alone.hi ||
		    pruned[a].site != all[a].site)
			ck_abort_msg("SEED=%" PRIu64 ": pruned [%" PRId64 ", %" PRId64 "], not [%" PRId64
				     ", %" PRId64 "]", p->seed, pruned[a].alone.lo, pruned[a].alone.hi,
				     all[a].alone.lo, all[a].alone.hi);
	free(pruned);
	free(all);
	participants_close(&who);
}

static void check_program(uint64_t which, bool affine)
{
	struct program *p = program_draw(which, &(struct program_spec){ .affine = affine,
									.unmarked = which % 3 == 0 });
	struct query_view seen, truth;

	dice = which * 2 + affine;
	open_view(&seen, p, PROGRAM_RECORDED);
	open_view(&truth, p, PROGRAM_TRUE);
	check_scores(p, &truth.findings.threads, &seen.findings.threads);
	check_scores(p, &truth.findings.ranks, &seen.findings.ranks);
	check_pruning(p, &seen.findings, which % 2);
	for (int i = 0; i < QUERIES; i++) {
		char condition[160];

		choose_condition(p, condition, sizeof condition);
		check_inside(p, condition, holds(&truth, condition), holds(&seen, condition));
	}
	close_view(&seen);
	close_view(&truth);
	program_free(p);
}

START_TEST(affine_clocks)
{
	for (uint64_t i = 0; i < programs; i++)
		check_program(seed + i, true);
}
END_TEST

START_TEST(wandering_clocks)
{
	for (uint64_t i = 0; i < programs; i++)
		check_program(seed + i, false);
}
END_TEST

int main(void)
{
	TCase *tc = unit_begin(0, 1);

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, affine_clocks);
	tcase_add_test(tc, wandering_clocks);
	return unit_end();
}
