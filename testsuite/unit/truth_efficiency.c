/* SPDX-License-Identifier: MIT
 *
 * truth_efficiency.c - efficiencies hold the true ones: random programs whose true times are known are timed anew, event by event
 * and by recursion, on a clock that shows the truth, as if operations took nothing, the least that was seen, or anything in
 * between; what follows lies in what is said of the same program as its hosts' clocks recorded it. */
#include <string.h>

#include "analysis/efficiency/efficiency.h"
#include "testsuite/truth/random.h"
#include "testsuite/unit/activities_twin.h"

static uint64_t seed, programs;

static void setup(void)
{
	seed = unit_seed;
	programs = unit_times(150);
}

/* ---- The truth ------------------------------------------------------------------------------- */

struct efficiency_truth {
	struct twin w;
	int64_t least[PROGRAM_SITES + 1]; /* transfer of each operation, and of beginning threads; INT64_MAX: none */
	enum { NOTHING, LEAST, ANY } takes;
	struct dice dice;
};

static bool has_transfer(const struct efficiency_truth *t, uint32_t thread, size_t i)
{
	return t->w.threads[thread].v[i].ends || (i == 0 && twin_waited_for(&t->w, thread, &t->w.threads[thread].v[0]));
}

static unsigned kind(const struct efficiency_truth *t, uint32_t thread, size_t i)
{
	return i ? t->w.threads[thread].v[i].operation : PROGRAM_SITES;
}

static int64_t takes(struct efficiency_truth *t, uint32_t thread, size_t i)
{
	int64_t least = t->least[kind(t, thread, i)];

	return t->takes == NOTHING ? 0 : t->takes == LEAST ? least : (int64_t)(roll(&t->dice) % (uint64_t)(least + 1));
}

/* When an event would have happened, since the run began. */
static int64_t ideal(struct efficiency_truth *t, uint32_t thread, size_t i)
{
	struct twin_event *e = &t->w.threads[thread].v[i];
	const struct graph_node *node = twin_waited_for(&t->w, thread, e);
	bool own = e->before == WORKS || e->before == OUTSIDE;

	if (e->ideal >= 0)
		return e->ideal;
	int64_t when = i ? ideal(t, thread, i - 1) + (own ? e->when - e[-1].when : 0) : node ? 0 : e->when - t->w.p->begin;
	for (size_t k = 0; node && k < node->ninputs; k++) {
		const struct graph_input *input = &t->w.graph.inputs[node->first + k];
		if (!twin_counts(input))
			continue;
		struct twin_event *x = twin_poster(&t->w, input);
		int64_t there = x == e ? 0 : ideal(t, input->thread, (size_t)(x - t->w.threads[input->thread].v));
		when = there > when ? there : when;
	}
	return e->ideal = when + (has_transfer(t, thread, i) ? takes(t, thread, i) : 0);
}

static int64_t ideal_end(struct efficiency_truth *t)
{
	int64_t end = 0;

	for (uint32_t thread = 0; thread < t->w.p->nthreads; thread++)
		for (size_t i = 0; i < t->w.threads[thread].n; i++)
			t->w.threads[thread].v[i].ideal = -1;
	for (uint32_t thread = 0; thread < t->w.p->nthreads; thread++)
		if (t->w.threads[thread].n) {
			int64_t last = ideal(t, thread, t->w.threads[thread].n - 1);
			end = last > end ? last : end;
		}
	return end;
}

static void truth_open(struct efficiency_truth *t, const struct program *p)
{
	*t = (struct efficiency_truth){ .w = twin_open(p), .dice = { p->seed } };
	for (unsigned s = 0; s <= PROGRAM_SITES; s++)
		t->least[s] = INT64_MAX;
	for (uint32_t thread = 0; thread < p->nthreads; thread++)
		for (size_t i = 0; i < t->w.threads[thread].n; i++) {
			int64_t *least = &t->least[kind(t, thread, i)];
			if (has_transfer(t, thread, i) && twin_transfer(&t->w, thread, i) < *least)
				*least = twin_transfer(&t->w, thread, i);
		}
}

/* ---- Factors --------------------------------------------------------------------------------- */

struct efficiency_quantities { int64_t useful[256]; size_t n; int64_t time, ideal; };

static double width[FACTORS];
static uint64_t untimed; /* runs of which an ideal network leaves everything open */
static uint64_t judged;

static void check(const struct efficiency_truth *t, const char *of, const char *what, long double truth, struct interval found)
{
	ck_assert_msg(truth >= found.lo && truth <= found.hi, "SEED=%" PRIu64 ": %s, %s: truly %.9Lf %%, found %.9f .. %.9f",
		      t->w.p->seed, of, what, truth, found.lo, found.hi);
}

static void check_factors(const struct efficiency_truth *t, const char *of, const struct efficiency_quantities *q,
			  const struct factors *found)
{
	long double sum = 0, longest = 0, n = (long double)q->n;

	for (size_t i = 0; i < q->n; i++) {
		sum += (long double)q->useful[i];
		longest = (long double)q->useful[i] > longest ? (long double)q->useful[i] : longest;
	}
	long double time = (long double)q->time, ideal = (long double)q->ideal > longest ? (long double)q->ideal : longest;
	if (longest == 0 || time == 0)
		return;
	check(t, of, "parallel", 100 * sum / (n * time), found->of[FACTOR_PARALLEL]);
	check(t, of, "load balance", 100 * sum / (n * longest), found->of[FACTOR_LOAD_BALANCE]);
	check(t, of, "communication", 100 * longest / time, found->of[FACTOR_COMMUNICATION]);
	check(t, of, "serialisation", 100 * longest / ideal, found->of[FACTOR_SERIALISATION]);
	check(t, of, "transfer", 100 * ideal / time, found->of[FACTOR_TRANSFER]);
}

/* Work without marks is useful; what a program with marks does outside of regions may be. */
static bool is_useful(const struct efficiency_truth *t, const struct twin_event *e, bool outside)
{
	return e->before == WORKS || (e->before == OUTSIDE && (t->w.p->unmarked || outside));
}

/* All that is not known of it is what the thread did before its first event and behind its last. */
static void check_useful(const struct efficiency_truth *t, const struct efficiency_thread *found)
{
	const struct twin_event *v = t->w.threads[found->thread].v, *last = &v[t->w.threads[found->thread].n - 1];
	int64_t open = (v->when - t->w.p->begin + t->w.p->end - last->when) / PROGRAM_FINE;
	int64_t rounding = 2 * (int64_t)t->w.threads[found->thread].n + 2;

	ck_assert_msg(found->useful.hi - found->useful.lo <= open + rounding,
		      "SEED=%" PRIu64 ": thread %u: %" PRId64 " ticks are not known, but %" PRId64 " .. %" PRId64 " is said", t->w.p->seed,
		      found->thread, open, found->useful.lo, found->useful.hi);
}

static void check_run(struct efficiency_truth *t, const struct efficiency *e, bool outside)
{
	struct efficiency_quantities q = { .time = t->w.p->end - t->w.p->begin, .ideal = ideal_end(t) };

	for (uint32_t thread = 0; thread < t->w.p->nthreads; thread++) {
		int64_t useful = 0;
		for (size_t i = 1; i < t->w.threads[thread].n; i++)
			if (is_useful(t, &t->w.threads[thread].v[i], outside))
				useful += t->w.threads[thread].v[i].when - t->w.threads[thread].v[i - 1].when;
		if (t->w.threads[thread].n)
			q.useful[q.n++] = useful;
	}
	ck_assert_uint_eq(q.n, e->nthreads);
	check_factors(t, "run", &q, &e->factors);
	for (size_t i = 0; i < e->nthreads && t->w.p->unmarked && t->w.p->nhosts == 1; i++)
		check_useful(t, &e->each[i]);
	ck_assert_msg(program_compare(q.ideal, e->ideal.hi) <= 0,
		      "SEED=%" PRIu64 ": the ideal run takes %.3f ticks, found at most %" PRId64,
		      t->w.p->seed, (double)q.ideal / PROGRAM_FINE, e->ideal.hi);
	bool open = e->factors.of[FACTOR_TRANSFER].lo <= 0 && e->factors.of[FACTOR_TRANSFER].hi >= 100;
	judged++;
	untimed += open;
	for (int f = 0; f < FACTORS; f++)
		width[f] += open && f == FACTOR_TRANSFER ? 0 : e->factors.of[f].hi - e->factors.of[f].lo;
}

/* ---- Regions --------------------------------------------------------------------------------- */

/* How long a thread was in a region of this site, was useful there, and had transfers; false: it never was. */
static bool in_region(struct efficiency_truth *t, uint32_t thread, unsigned site, int64_t *time, int64_t *useful,
		      int64_t *transfers)
{
	unsigned depth = 0;
	bool ever = false;

	*time = *useful = *transfers = 0;
	for (size_t i = 0; i < t->w.threads[thread].n; i++) {
		const struct twin_event *e = &t->w.threads[thread].v[i];
		int64_t took = i ? e->when - e[-1].when : 0;
		*time += depth ? took : 0;
		*useful += depth && e->before == WORKS ? took : 0;
		*transfers += depth && e->ends ? twin_transfer(&t->w, thread, i) : 0;
		depth += e->e.site == site && e->e.op == DPROF_ENTER;
		depth -= e->e.site == site && e->e.op == DPROF_EXIT;
		ever |= e->e.site == site;
	}
	return ever;
}

static void check_region(struct efficiency_truth *t, const struct efficiency *e, unsigned site)
{
	struct efficiency_quantities q = { .n = 0 };
	char name[32];

	snprintf(name, sizeof name, "region %u", site);
	for (uint32_t thread = 0; thread < t->w.p->nthreads; thread++) {
		int64_t time, useful, transfers;
		if (!in_region(t, thread, site, &time, &useful, &transfers))
			continue;
		q.useful[q.n++] = useful;
		q.time = time > q.time ? time : q.time;
		q.ideal = time - transfers > q.ideal ? time - transfers : q.ideal;
	}
	for (size_t i = 0; i < e->nregions; i++)
		if (e->regions[i].site == site) {
			ck_assert_uint_eq(q.n, e->regions[i].nthreads);
			check_factors(t, name, &q, &e->regions[i].factors);
			return;
		}
	ck_assert_msg(q.n == 0, "SEED=%" PRIu64 ": region %u is missing", t->w.p->seed, site);
}

/* ---- MPI and threads -------------------------------------------------------------------------- */

static bool is_mpi(unsigned site)
{
	return site >= PROGRAM_BARRIER && site <= PROGRAM_WAIT;
}

static void check_hybrid(struct efficiency_truth *t, const struct efficiency *e)
{
	long double sum = 0, longest = 0, useful = 0, time = (long double)(t->w.p->end - t->w.p->begin);
	size_t n = 0;

	for (uint32_t thread = 0, first = 0; thread < t->w.p->nthreads && e->hybrid; thread++) {
		int64_t in = 0;
		if (!t->w.threads[thread].n)
			continue;
		first = t->w.p->threads[thread].number == 0 ? thread : first;
		for (size_t i = 1; i < t->w.threads[first].n; i++) {
			const struct twin_event *v = &t->w.threads[first].v[i];
			in += v->before == OPERATES && is_mpi(v->operation) ? v->when - v[-1].when : 0;
		}
		for (size_t i = 1; i < t->w.threads[thread].n; i++) {
			const struct twin_event *v = &t->w.threads[thread].v[i];
			useful += is_useful(t, v, false) ? (long double)(v->when - v[-1].when) : 0;
		}
		sum += time - (long double)in;
		longest = time - (long double)in > longest ? time - (long double)in : longest;
		n++;
	}
	if (!e->hybrid || sum == 0)
		return;
	check(t, "MPI", "parallel", 100 * sum / ((long double)n * time), e->mpi[FACTOR_PARALLEL]);
	check(t, "MPI", "load balance", 100 * sum / ((long double)n * longest), e->mpi[FACTOR_LOAD_BALANCE]);
	check(t, "MPI", "communication", 100 * longest / time, e->mpi[FACTOR_COMMUNICATION]);
	check(t, "threads", "parallel", 100 * useful / sum, e->threads);
}

/* ---- All of it ------------------------------------------------------------------------------- */

static void check_program(uint64_t number, const struct program_spec *spec)
{
	struct program *p = program_draw(number, spec);
	struct trace *trace = program_trace(p, PROGRAM_RECORDED);
	struct options options = { .assumption = p->assumption };
	struct efficiency e;
	struct efficiency_truth t;
	struct times times;

	truth_open(&t, p);
	ck_assert_int_eq(times_open(&times, trace, &options), EXIT_FINE);
	ck_assert(efficiency_open(&e, trace, &times));
	for (int takes = NOTHING; takes <= ANY; takes++) {
		t.takes = takes;
		check_run(&t, &e, takes & 1);
	}
	for (unsigned site = 0; site < PROGRAM_SITES; site++)
		if (twin_is_region(site))
			check_region(&t, &e, site);
	check_hybrid(&t, &e);
	efficiency_close(&e);
	times_close(&times);
	twin_close(&t.w);
	trace_close(trace);
	program_free(p);
}

static void check_width(const double most[FACTORS])
{
	printf("%" PRIu64 " of %" PRIu64 " runs cannot be timed anew\n", untimed, judged);
	ck_assert_msg(untimed <= judged / 33, "SEED=%" PRIu64 " and %" PRIu64 " more: %" PRIu64 " of %" PRIu64 " runs cannot be timed anew",
		      seed, programs - 1, untimed, judged);
	for (int f = 0; f < FACTORS; f++) {
		double mean = width[f] / (double)(f == FACTOR_TRANSFER ? judged - untimed : judged);
		printf("%s is %.6f points wide\n", factor_words(f), mean);
		ck_assert_msg(mean <= most[f], "SEED=%" PRIu64 " and %" PRIu64 " more: %s is %.6f points wide, expected %.6f", seed,
			      programs - 1, factor_words(f), mean, most[f]);
		width[f] = 0;
	}
	judged = untimed = 0;
}

START_TEST(efficiencies_hold_the_truth)
{
	static const double most[FACTORS] = { 42, 52, 52, 52, 0.9 };

	for (uint64_t i = 0; i < programs; i++)
		check_program(seed + i, &(struct program_spec){ .affine = (seed + i) % 3 == 0,
								.varying = (seed + i) % 2,
								.unmarked = (seed + i) % 5 < 2 });
	check_width(most);
}
END_TEST

/* Of programs without marks and on one clock nothing is unknown but what threads did before and behind their events, and what
 * operations would take. */
START_TEST(efficiencies_are_exact_on_one_clock)
{
	static const double most[FACTORS] = { 37, 46, 46, 46, 0.7 };

	for (uint64_t i = 0; i < programs; i++)
		check_program(seed + i, &(struct program_spec){ .twins = true, .unmarked = true, .varying = (seed + i) % 2 });
	check_width(most);
}
END_TEST

int main(void)
{
	TCase *c = unit_begin(100000, 1);

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_add_test(c, efficiencies_hold_the_truth);
	tcase_add_test(c, efficiencies_are_exact_on_one_clock);
	return unit_end();
}
