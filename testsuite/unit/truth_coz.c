/* SPDX-License-Identifier: MIT
 *
 * truth_coz.c - what coz promises is what happens: random programs are run again with a region that
 * really takes less time, and what that saved, of the run and at every event, lies within the
 * bounds; and the bounds are narrow, for 0 .. all that was cut would always hold. */
#include <math.h>
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/coz/points.h"
#include "testsuite/truth/program.h"
#include "testsuite/unit/unit.h"

static const uint32_t permille[] = { 0, 50, 333, 500, 1000 };
#define NPERMILLE (sizeof permille / sizeof *permille)

static uint64_t seed, programs;

static void setup(void)
{
	seed = unit_seed;
	programs = unit_times(120);
}

/* ---- What happens ---------------------------------------------------------------------------- */

/* True times of every event, thread by thread. */
static int64_t *truths(const struct program *p)
{
	size_t n = 0;
	int64_t *truth = NULL;

	for (size_t t = 0; t < p->nthreads; t++)
		for (size_t i = 0; i < p->threads[t].nevents; i++)
			*MEM_GROW(truth, n) = p->threads[t].events[i].truth;
	return truth;
}

/* One probe for each event. */
static struct coz_probe *probe_all(const struct program *p, const struct trace *trace, size_t *n)
{
	struct coz_probe *probes = NULL;

	*n = 0;
	for (uint32_t t = 0; t < p->nthreads; t++) {
		struct tr_cursor events = trace_events(trace, t);
		struct tr_event e;

		for (uint64_t at = 0; trace_next(&events, &e); at++)
			*MEM_GROW(probes, *n) = (struct coz_probe){ { t, at, e.stamp }, 1, true };
		trace_end(&events);
	}
	return probes;
}

/* The first and the last progress point; how many there are. */
static size_t find_points(const struct program *p, const int64_t *truth, int64_t ends[2])
{
	size_t n = 0, points = 0;

	ends[0] = INT64_MAX;
	ends[1] = INT64_MIN;
	for (size_t t = 0; t < p->nthreads; t++)
		for (size_t i = 0; i < p->threads[t].nevents; i++, n++) {
			if (p->threads[t].events[i].site != PROGRAM_STEP)
				continue;
			ends[0] = truth[n] < ends[0] ? truth[n] : ends[0];
			ends[1] = truth[n] > ends[1] ? truth[n] : ends[1];
			points++;
		}
	return points;
}

/* ---- What was said of it --------------------------------------------------------------------- */

struct what_if_question {
	struct program *p;
	struct coz *c;
	const int64_t *before;       /* truths */
	size_t nevents;
	struct program_cut cut;
	size_t row, reduction;
	enum coz_answer answer;
};

/* How often the expected savings of runs hold the truth too. */
static struct { uint64_t n, held; } expected;

static void check_saving(const struct what_if_question *q, int64_t saved, struct savings_bounds found,
			 const char *of, size_t number)
{
	bool holds = program_compare(saved, (int64_t)floor(found.lo)) >= 0 &&
		     (isinf(found.hi) || program_compare(saved, (int64_t)ceil(found.hi)) <= 0);

	if (q->answer == COZ_EXPECTED && q->cut.permille) {
		expected.n += strcmp(of, "run") == 0;
		expected.held += strcmp(of, "run") == 0 && holds;
		return;
	}
	ck_assert_msg(holds,
		      "SEED=%" PRIu64 ": region %u less by %u permille on rank %" PRId64
		      " thread %" PRId64 ": %s %zu saved %.3f ticks, %s %.3f .. %.3f",
		      q->p->seed, q->cut.site, q->cut.permille, q->cut.rank, q->cut.thread, of, number,
		      (double)saved / PROGRAM_FINE, q->answer == COZ_PROVED ? "proved" : "expected",
		      found.lo, found.hi);
	ck_assert(q->cut.permille || (found.lo == 0 && found.hi == 0));
}

/* What is proved holds the middle of what is expected, or nearly: else one of both is wrong. */
static void check_nested(const struct what_if_question *q, const struct saving *s, size_t scenario, int64_t run)
{
	double near = 1 + 0.01 * (double)run / PROGRAM_FINE;
	struct savings_bounds likely = saving_bounds(&q->c->all, s, COZ_EXPECTED, scenario);
	struct savings_bounds proved = saving_bounds(&q->c->all, s, COZ_PROVED, scenario);

	double middle = likely.lo / 2 + likely.hi / 2;
	ck_assert_msg(proved.lo <= middle + near && middle <= proved.hi + near,
		      "SEED=%" PRIu64 ": region %u less by %u permille: expected %.3f .. %.3f, proved only %.3f .. %.3f",
		      q->p->seed, q->cut.site, q->cut.permille, likely.lo, likely.hi, proved.lo, proved.hi);
}

/* How wide the bounds of runs are, each against that of 0 .. all that such a cut could buy: their sum, and
 * how many. */
static struct { double sum; uint64_t n; } width;

#define MOSTLY 0.95 /* the programs keep the order of locks, and wait for data only */
#define SHORT 1e5 /* ticks: of less, stamps are not exact enough to tell much */

static void add_width(const struct what_if_question *q, int64_t run, struct savings_bounds found)
{
	double nothing = (double)run / PROGRAM_FINE * q->cut.permille / 1000;

	if (nothing < SHORT)
		return;
	width.sum += (found.hi - found.lo) / nothing;
	width.n++;
}

static void check_width(double most)
{
	double mean = width.sum / (double)width.n;

	printf("of %" PRIu64 " runs the bounds are %.6f as wide as those that say nothing\n", width.n, mean);
	ck_assert_msg(width.n > 0 && mean <= most,
		      "SEED=%" PRIu64 " and %" PRIu64 " more: bounds are %.6f as wide as those that say "
		      "nothing, expected at most %.6f", seed, programs - 1, mean, most);
	width.sum = 0;
	width.n = 0;
	double share = (double)expected.held / (double)expected.n;
	printf("of %" PRIu64 " runs what is expected holds the truth in %.6f\n", expected.n, share);
	ck_assert_msg(share >= MOSTLY, "SEED=%" PRIu64 " and %" PRIu64 " more: what is expected holds the truth in %.6f "
		      "of the runs, expected at least %.6f", seed, programs - 1, share, MOSTLY);
	expected.n = expected.held = 0;
}

/* 100 * (rate after / rate before - 1); doubles, so a little is allowed for their rounding. */
static void check_throughput(const struct what_if_question *q, const int64_t *after, const struct interval *gains)
{
	int64_t was[2], is[2];

	find_points(q->p, q->before, was);
	find_points(q->p, after, is);
	if (was[1] == was[0] || is[1] == is[0])
		return;
	double gain = 100.0 * ((double)(was[1] - was[0]) / (double)(is[1] - is[0]) - 1);
	struct interval found = gains[q->row * NPERMILLE + q->reduction];
	double rounding = 1e-9 * (1 + fabs(gain));

	ck_assert_msg(q->answer == COZ_EXPECTED || (found.lo <= gain + rounding && gain - rounding <= found.hi),
		      "SEED=%" PRIu64 ": region %u less by %u permille: points come %.9f %% more "
		      "often, found %.9f .. %.9f",
		      q->p->seed, q->cut.site, q->cut.permille, gain, found.lo, found.hi);
}

/* What is proved holds as well where MPI then waits wherever it may, and locks are given to anybody. */
static void check_patient(struct what_if_question *q)
{
	const struct coz *found = q->c;
	size_t scenario = q->row * NPERMILLE + q->reduction;
	struct program_cut cut = q->cut;
	int64_t run = q->p->end - q->p->begin;

	q->answer = COZ_PROVED;
	cut.patient = cut.unfair = true;
	program_run(q->p, &cut);
	int64_t *after = truths(q->p);

	check_saving(q, run - (q->p->end - q->p->begin), saving_bounds(&found->all, found->end, q->answer, scenario),
		     "patient run", 0);
	for (size_t i = 0; i < q->nevents; i++)
		check_saving(q, q->before[i] - after[i],
			     saving_bounds(&found->all, found->kept[i], q->answer, scenario), "event of a patient run", i);
	free(after);
	program_run(q->p, NULL);
}

static void check_cut(const struct what_if_question *q, const struct interval *gains)
{
	const struct coz *found = q->c;
	size_t scenario = q->row * NPERMILLE + q->reduction;
	int64_t run = q->p->end - q->p->begin, sum = 0;

	program_run(q->p, &q->cut);
	int64_t *after = truths(q->p);

	struct savings_bounds whole = saving_bounds(&found->all, found->end, q->answer, scenario);

	check_saving(q, run - (q->p->end - q->p->begin), whole, "run", 0);
	if (q->answer == COZ_EXPECTED)
		add_width(q, run, whole);
	check_nested(q, found->end, scenario, run);
	for (size_t i = 0; i < q->nevents; i++) {
		check_saving(q, q->before[i] - after[i],
			     saving_bounds(&found->all, found->kept[i], q->answer, scenario), "event", i);
		sum += q->before[i] - after[i];
	}
	check_saving(q, sum, saving_bounds(&found->all, found->sum[0], q->answer, scenario), "sum", q->nevents);
	check_throughput(q, after, gains);
	free(after);
	program_run(q->p, NULL);
}

/* ---- Several questions at once --------------------------------------------------------------- */

/* Of the run's end and of each event, in all scenarios of so many regions; to be freed. */
static struct savings_bounds *bounds_of(const struct coz *c, size_t nevents, size_t region, size_t nregions, size_t *n)
{
	size_t scenarios = c->all.first[region + nregions] - c->all.first[region];
	struct savings_bounds *all = malloc((COZ_ANSWERS * (nevents + 1) * scenarios + 1) * sizeof *all);

	*n = 0;
	for (size_t s = c->all.first[region]; s < c->all.first[region + nregions]; s++)
		for (size_t answer = 0; answer < COZ_ANSWERS; answer++)
			for (size_t i = 0; i <= nevents; i++)
				all[(*n)++] = saving_bounds(&c->all, i < nevents ? c->kept[i] : c->end, answer, s);
	return all;
}

/* Each is answered as it is alone: some sites are in question as rows of one, of both, or together with others. */
static void check_together(const struct what_if_question *q, struct coz *c, const struct coz_question *first)
{
	uint32_t row_of_site[PROGRAM_SITES + 2];
	const uint32_t half[] = { 50000000, 7 };
	struct coz_location who = { 0, COZ_ANY, COZ_ANY };
	struct coz_question both[] = { *first, { row_of_site, 3, half, 2, who } };
	struct savings_bounds *alone, *together;
	size_t n, m;

	for (uint32_t s = 0; s < PROGRAM_SITES + 2; s++)
		row_of_site[s] = s == 0 ? 0 : first->row_of_site[s] == TR_NO_SITE ? TR_NO_SITE : 1 + s % 2;
	for (size_t k = 0; k < 2; k++) {
		coz_ask(c, &both[k], 1);
		alone = bounds_of(c, q->nevents, 0, both[k].nrows, &n);
		coz_ask(c, both, 2);
		together = bounds_of(c, q->nevents, k ? both[0].nrows : 0, both[k].nrows, &m);
		ck_assert_msg(n == m && memcmp(alone, together, n * sizeof *alone) == 0,
			      "SEED=%" PRIu64 ": question %zu has another answer beside another one", q->p->seed, k);
		free(alone);
		free(together);
	}
}

/* ---- Asking ---------------------------------------------------------------------------------- */

static void ask(struct program *p, struct trace *trace, const struct times *times,
		struct coz_location who, bool worst)
{
	uint32_t row_of_site[PROGRAM_SITES + 2], reductions[NPERMILLE];
	struct what_if_question q = { .p = p, .before = truths(p) };
	struct points points;
	struct coz c, with_points;

	uint32_t nrows = p->unmarked ? PROGRAM_REGIONS + 2 : PROGRAM_REGIONS;

	for (uint32_t s = 0; s < PROGRAM_SITES + 2; s++)
		row_of_site[s] = s < PROGRAM_REGIONS			? s
				 : s >= PROGRAM_SITES && p->unmarked ? s - PROGRAM_SITES + PROGRAM_REGIONS
								     : TR_NO_SITE;
	for (size_t i = 0; i < NPERMILLE; i++)
		reductions[i] = permille[i] * 100000;
	struct coz_probe *probes = probe_all(p, trace, &q.nevents);
	struct coz_question question = { .row_of_site = row_of_site, .nrows = nrows,
					 .reductions = reductions, .nreductions = NPERMILLE,
					 .who = who };

	coz_open(q.c = &c, trace, times, worst, probes, q.nevents);
	coz_ask(&c, &question, 1);
	points_open(&points, trace, times, "step", NULL);
	coz_open(&with_points, trace, times, worst, points.probes, points.nprobes);
	coz_ask(&with_points, &question, 1);
	points_measure(&points, &with_points);
	struct interval *gains[COZ_ANSWERS];
	for (int answer = 0; answer < COZ_ANSWERS; answer++)
		gains[answer] = points_gains(&points, &with_points, answer, POINTS_THROUGHPUT);

	ck_assert_msg(c.graph->said.ndiagnostics + c.graph->said.nnotes == 0, "SEED=%" PRIu64 ": %s", p->seed,
		      c.graph->said.ndiagnostics ? c.graph->said.diagnostics[0] : c.graph->said.nnotes ? c.graph->said.notes[0] : "");
	for (uint32_t row = 0; row < nrows; row++)
		for (q.row = row, q.reduction = 0; q.reduction < NPERMILLE; q.reduction++) {
			q.cut = (struct program_cut){ row < PROGRAM_REGIONS
							      ? row
							      : row - PROGRAM_REGIONS + PROGRAM_SITES,
						      who.rank == COZ_ANY ? -1 : who.rank,
						      who.thread == COZ_ANY ? -1 : who.thread,
						      permille[q.reduction], false, false };
			for (int answer = 0; answer < COZ_ANSWERS; answer++) {
				q.answer = (enum coz_answer)answer;
				check_cut(&q, gains[answer]);
			}
			if (!p->holds)
				check_patient(&q);
		}
	check_together(&q, &c, &question);
	coz_close(&c);
	coz_close(&with_points);
	points_close(&points);
	for (int answer = 0; answer < COZ_ANSWERS; answer++)
		free(gains[answer]);
	free(probes);
	free((void *)q.before);
}

static void check_program(uint64_t number, const struct program_spec *spec, bool worst)
{
	struct program *p = program_draw(number, spec);
	struct trace *trace = program_trace(p, PROGRAM_RECORDED);
	struct options options = { .assumption = p->assumption, .matches_again = p->seed % 2 };
	struct times times;

	ck_assert_int_eq(times_open(&times, trace, &options), EXIT_FINE);
	struct coz_location who = COZ_ALL;
	if (number % 3 == 0)
		who.rank = (int64_t)(number % p->nranks);
	if (number % 5 == 0)
		who.thread = p->threads[number % p->nthreads].number;
	ask(p, trace, &times, who, worst);
	times_close(&times);
	trace_close(trace);
	program_free(p);
}

/* Costs and transfers are what they are: nothing is assumed of them. */
START_TEST(savings_hold_the_truth_whatever_transfers_take)
{
	for (uint64_t i = 0; i < programs; i++)
		check_program(seed + i, &(struct program_spec){ .affine = (seed + i) % 3 == 0,
								.varying = (seed + i) % 2,
								.unmarked = (seed + i) % 5 < 2 }, true);
	check_width(0.16);
}
END_TEST

/* Costs and transfers are alike: they are measured. */
START_TEST(savings_hold_the_truth_when_transfers_are_measured)
{
	for (uint64_t i = 0; i < programs; i++)
		check_program(seed + i, &(struct program_spec){ .affine = (seed + i) % 3 == 0,
								.unmarked = (seed + i) % 5 < 2 }, false);
	check_width(0.12);
}
END_TEST

/* Each kind of waiting alone, on one clock: what is known of it must not be lost. */
START_TEST(savings_are_narrow_whatever_is_waited_for)
{
	static const struct { enum program_may may; bool worst; double most; } kinds[] = {
		{ PROGRAM_BARRIERS, false, 2e-5 }, /* ticks */
		{ PROGRAM_BARRIERS, true, 2e-5 },
		{ PROGRAM_COLLECTIVES, false, 0.03 },
		{ PROGRAM_MESSAGES, false, 0.05 },
		{ PROGRAM_THREADS, false, 0.03 },
		{ PROGRAM_THREADS | PROGRAM_LOCKS, false, 0.06 },
		{ PROGRAM_THREADS | PROGRAM_TASKS, false, 0.03 },
		{ PROGRAM_THREADS | PROGRAM_TEAMS, false, 0.03 },
	};

	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
		struct program_spec spec = { .twins = true, .may = kinds[k].may };

		for (uint64_t i = 0; i < programs; i++)
			check_program(seed + i, &spec, kinds[k].worst);
		check_width(kinds[k].most);
	}
}
END_TEST

/* Some messages come only when their senders call MPI again. */
START_TEST(savings_hold_the_truth_where_messages_are_held_back)
{
	for (uint64_t i = 0; i < programs; i++)
		check_program(seed + i, &(struct program_spec){ .holds = true, .twins = (seed + i) % 2,
								.may = (seed + i) % 4 < 2 ? PROGRAM_MESSAGES : PROGRAM_ALL }, false);
	width.sum = 0;
	width.n = 0;
}
END_TEST

/* A thread leaves a barrier in the tick in which another one leaves it for a task: it is not known which was first. */
START_TEST(savings_hold_the_truth_where_stamps_are_equal)
{
	check_program(101, &(struct program_spec){ .twins = true, .may = PROGRAM_THREADS | PROGRAM_TASKS }, false);
}
END_TEST

/* Who sends while its receiver comes, or takes part in a scan while the last comes, has done some of its own work before. */
START_TEST(savings_hold_the_truth_where_work_was_done_while_others_came)
{
	check_program(70078, &(struct program_spec){ 0 }, false);
	check_program(70085, &(struct program_spec){ .varying = true, .unmarked = true }, true);
	check_program(200171, &(struct program_spec){ .varying = true, .unmarked = true }, true);
}
END_TEST

/* How long a message takes, and a receive that waits for nobody, is learnt from what may have come only with its
 * sender's next call. */
START_TEST(savings_hold_the_truth_where_a_transfer_is_open)
{
	check_program(200159, &(struct program_spec){ .holds = true, .twins = true, .may = PROGRAM_ALL }, false);
	check_program(400100, &(struct program_spec){ .holds = true, .may = PROGRAM_MESSAGES }, false);
	check_program(5002216, &(struct program_spec){ .holds = true, .may = PROGRAM_MESSAGES }, false);
	check_program(5000021, &(struct program_spec){ .holds = true, .twins = true, .may = PROGRAM_MESSAGES }, false);
}
END_TEST

/* Several may have been tight, since a transfer was not seen or is late; those that were seen cannot. */
START_TEST(what_is_expected_allows_for_what_was_seen)
{
	check_program(300721, &(struct program_spec){ .twins = true, .may = PROGRAM_THREADS | PROGRAM_TEAMS }, false);
	check_program(800886, &(struct program_spec){ .twins = true, .may = PROGRAM_THREADS | PROGRAM_TEAMS }, false);
	check_program(601169, &(struct program_spec){ .twins = true, .may = PROGRAM_COLLECTIVES }, false);
}
END_TEST

/* A thread goes from a piece of one lock's into one of the other's, and so past what was between. */
START_TEST(a_replay_leaves_nothing_out)
{
	check_program(400159, &(struct program_spec){ .varying = true }, true);
	check_program(801029, &(struct program_spec){ .varying = true }, true);
}
END_TEST

int main(void)
{
	TCase *c = unit_begin(100000, 1);

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_add_test(c, savings_hold_the_truth_whatever_transfers_take);
	tcase_add_test(c, savings_hold_the_truth_when_transfers_are_measured);
	tcase_add_test(c, savings_are_narrow_whatever_is_waited_for);
	tcase_add_test(c, savings_hold_the_truth_where_messages_are_held_back);
	tcase_add_test(c, savings_hold_the_truth_where_stamps_are_equal);
	tcase_add_test(c, savings_hold_the_truth_where_a_transfer_is_open);
	tcase_add_test(c, savings_hold_the_truth_where_work_was_done_while_others_came);
	tcase_add_test(c, what_is_expected_allows_for_what_was_seen);
	tcase_add_test(c, a_replay_leaves_nothing_out);
	return unit_end();
}
