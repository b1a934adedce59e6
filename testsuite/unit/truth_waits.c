/* SPDX-License-Identifier: MIT
 *
 * truth_waits.c - for how long each thread waited at each place, and for whom, lies in what is found: random programs whose
 * true times are known are looked at wait by wait on a clock that shows the truth; and so does what all of it goes back to
 * (delays_twin.h). */
#include <string.h>

#include "analysis/base/memory.h"
#include "analysis/waits/waits.h"
#include "testsuite/truth/program.h"
#include "testsuite/unit/delays_twin.h"
#include "testsuite/unit/unit.h"

static uint64_t seed, programs;

static void setup(void)
{
	seed = unit_seed;
	programs = unit_times(200);
}

/* What a thread waited for at a site; for another thread, or in all (ALL). */
struct waits_truth { uint32_t thread, site, other; int64_t waited; };
#define ALL UINT32_MAX

struct truths { struct waits_truth *v; size_t n; };

static int64_t *find(struct truths *t, uint32_t thread, uint32_t site, uint32_t other)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].thread == thread && t->v[i].site == site && t->v[i].other == other)
			return &t->v[i].waited;
	*MEM_GROW(t->v, t->n) = (struct waits_truth){ thread, site, other, 0 };
	return &t->v[t->n - 1].waited;
}

/* From when the thread had come until the last of the others had: of a message that MPI held back, its sender's next call, unless
 * it took longer from there than until there (graph.h: then it follows). */
static void add_wait(struct truths *t, const struct program *p, const struct graph *g, uint32_t thread,
		     const struct graph_sync_point *s)
{
	const struct graph_node *node = &g->nodes[s->number];
	int64_t own = INT64_MAX, last = INT64_MIN;
	uint32_t other = 0;

	for (size_t i = node->first; i < node->first + node->ninputs; i++) {
		const struct graph_input *input = &g->inputs[i];
		int64_t when = twin_time_posted(p, g, i);
		bool mine = node->kind == GRAPH_SYNC ? input->thread == thread : i == node->first;
		if (mine && input->thread == thread) {
			own = when;
		} else if (twin_ends(&p->threads[thread].events[s->at], input) && when > last) {
			last = when;
			other = input->thread;
		}
	}
	if (own == INT64_MAX || last <= own)
		return;
	uint32_t site = p->threads[thread].events[s->at].site;
	*find(t, thread, site, ALL) += last - own;
	*find(t, thread, site, other) += last - own;
}

static struct truths truths_of(const struct program *p)
{
	struct options options = { .assumption = p->assumption };
	struct trace *trace = program_trace(p, PROGRAM_TRUE);
	struct truths t = { NULL, 0 };
	struct times times;
	struct graph g;

	ck_assert_int_eq(times_open(&times, trace, &options), EXIT_FINE);
	graph_open(&g, trace, &times);
	for (uint32_t thread = 0; thread < p->nthreads; thread++)
		for (size_t i = 0; i < g.threads[thread].nsyncs; i++)
			if (g.threads[thread].syncs[i].what == GRAPH_WAITS)
				add_wait(&t, p, &g, thread, &g.threads[thread].syncs[i]);
	graph_close(&g);
	times_close(&times);
	trace_close(trace);
	return t;
}

/* ---- What was said of it --------------------------------------------------------------------- */

static struct { double wide, waited; uint64_t sure, causes; } seen;

static frz_time found(const struct wait_sum *sums, size_t n, const struct waits_truth *t, bool *sure)
{
	frz_time sum = { 0, 0 };

	*sure = true;
	for (size_t i = 0; i < n; i++)
		if (sums[i].thread == t->thread && sums[i].site == t->site && sums[i].for_thread == t->other) {
			sum = time_add(sum, sums[i].ticks);
			*sure &= sums[i].sure;
		}
	return sum;
}

static void check(const struct program *p, const struct waits *w, const struct waits_truth *t)
{
	bool all = t->other == ALL, sure;
	frz_time sum = found(all ? w->places : w->causes, all ? w->nplaces : w->ncauses, t, &sure);

	ck_assert_msg(program_compare(t->waited, sum.lo) >= 0 && program_compare(t->waited, sum.hi) <= 0,
		      "SEED=%" PRIu64 ": thread %u at site %u for %d: truly %.3f ticks, found %" PRId64 " .. %" PRId64,
		      p->seed, t->thread, t->site, (int)t->other, (double)t->waited / PROGRAM_FINE, sum.lo, sum.hi);
	if (all || !sure)
		return;
	seen.wide += (double)(sum.hi - sum.lo);
	seen.waited += (double)t->waited / PROGRAM_FINE;
}

/* What is surely found is in the truth, too. */
static void check_found(const struct program *p, struct truths *t, const struct wait_sum *sums, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int64_t truth = *find(t, sums[i].thread, sums[i].site, sums[i].for_thread);
		ck_assert_msg(program_compare(truth, sums[i].ticks.lo) >= 0,
			      "SEED=%" PRIu64 ": thread %u at site %u for %d: truly %.3f ticks, found at least %" PRId64, p->seed,
			      sums[i].thread, sums[i].site, (int)sums[i].for_thread, (double)truth / PROGRAM_FINE,
			      sums[i].ticks.lo);
	}
}

/* ---- What it goes back to -------------------------------------------------------------------- */

static struct { double wide, waited; uint64_t sure, delays; } costs;

static void check_cost(const struct program *p, const char *of, uint32_t thread, uint32_t row, double truth, frz_time found)
{
	double ticks = truth / PROGRAM_FINE, slack = 1e-6 + 1e-9 * ticks;

	ck_assert_msg(ticks + slack >= (double)found.lo && ticks - slack <= (double)found.hi,
		      "SEED=%" PRIu64 ": %s of thread %u in %u: truly %.6f ticks, found %" PRId64 " .. %" PRId64, p->seed, of,
		      thread, row, ticks, found.lo, found.hi);
}

static void check_delays(const struct program *p, const struct delays_twin *t, const struct waits *w)
{
	static const struct wait_delay none;

	for (uint32_t thread = 0; thread < p->nthreads; thread++) {
		for (uint32_t row = 0; row < TWIN_ROWS; row++) {
			const double direct = t->cost[thread][0][row], further = t->cost[thread][1][row];
			const struct wait_delay *d = &none;
			for (size_t i = 0; i < w->ndelays; i++)
				if (w->delays[i].thread == thread && w->delays[i].site == (row < PROGRAM_SITES ? row : TR_OUTSIDE))
					d = &w->delays[i];
			check_cost(p, "costs", thread, row, direct + further, d->ticks);
			check_cost(p, "short-term costs", thread, row, direct, d->short_term);
			check_cost(p, "long-term costs", thread, row, further, d->long_term);
			costs.wide += (double)(d->ticks.hi - d->ticks.lo);
			costs.sure += d->sure;
		}
	}
	check_cost(p, "uncaused", 0, 0, t->uncaused, w->uncaused);
	costs.delays += w->ndelays;
	costs.waited += t->all / PROGRAM_FINE;
}

/* All waiting goes back to something, or to nothing. */
static void check_whole(const struct delays_twin *t)
{
	double sum = t->uncaused;

	for (uint32_t thread = 0; thread < t->p->nthreads; thread++)
		for (uint32_t row = 0; row < TWIN_ROWS; row++)
			sum += t->cost[thread][0][row] + t->cost[thread][1][row];
	ck_assert_msg(fabs(sum - t->all) <= 1e-9 * t->all, "SEED=%" PRIu64 ": %f of %f", t->p->seed, sum, t->all);
}

static void check_delays_of(uint64_t number)
{
	struct program *p = program_draw(number, &(struct program_spec){ .affine = number % 3 == 0,
									   .varying = number % 2,
									   .twins = number % 4 == 0,
									   .holds = number % 7 == 0,
									   .unmarked = number % 5 < 2 });
	struct trace *shown = program_trace(p, PROGRAM_TRUE), *trace = program_trace(p, PROGRAM_RECORDED);
	struct options options = { .assumption = p->assumption };
	struct times truly, times;
	struct graph g;
	struct delays_twin t;
	struct waits w;

	ck_assert_int_eq(times_open(&truly, shown, &options), EXIT_FINE);
	ck_assert_int_eq(times_open(&times, trace, &options), EXIT_FINE);
	graph_open(&g, shown, &truly);
	twin_open(&t, p, &g);
	waits_open(&w, trace, &times);
	check_whole(&t);
	check_delays(p, &t, &w);
	waits_close(&w);
	twin_close(&t);
	graph_close(&g);
	times_close(&times);
	times_close(&truly);
	trace_close(trace);
	trace_close(shown);
	program_free(p);
}

START_TEST(delays_hold_the_truth)
{
	for (uint64_t i = 0; i < programs; i++)
		check_delays_of(seed + i);
	double mean = costs.wide / costs.waited, sure = (double)costs.sure / (double)costs.delays;
	printf("delays are %.6f of all waiting wide; %.6f of them are sure\n", mean, sure);
	ck_assert_msg(mean <= 0.2 && sure >= 0.8, "SEED=%" PRIu64 " and %" PRIu64 " more: delays are %.6f of all waiting wide, expected "
		      "0.2; %.6f of them are sure, expected 0.8", seed, programs - 1, mean, sure);
}
END_TEST

/* A thread comes back to a region in the tick in which it left it. */
START_TEST(delays_hold_the_truth_where_pieces_share_a_tick)
{
	check_delays_of(110909);
}
END_TEST

static void check_program(uint64_t number, const struct program_spec *spec)
{
	struct program *p = program_draw(number, spec);
	struct trace *trace = program_trace(p, PROGRAM_RECORDED);
	struct options options = { .assumption = p->assumption };
	struct truths t = truths_of(p);
	struct times times;
	struct waits w;

	ck_assert_int_eq(times_open(&times, trace, &options), EXIT_FINE);
	waits_open(&w, trace, &times);
	ck_assert_msg(w.unknown == 0, "SEED=%" PRIu64 ": of a wait it is not known what ended it", p->seed);
	for (size_t i = 0; i < t.n; i++)
		check(p, &w, &t.v[i]);
	check_found(p, &t, w.places, w.nplaces);
	check_found(p, &t, w.causes, w.ncauses);
	for (size_t i = 0; i < w.ncauses; i++)
		seen.sure += w.causes[i].sure;
	seen.causes += w.ncauses;
	waits_close(&w);
	times_close(&times);
	trace_close(trace);
	free(t.v);
	program_free(p);
}

static void check_width(double most, double least_sure)
{
	double mean = seen.wide / seen.waited, sure = (double)seen.sure / (double)seen.causes;

	printf("bounds are %.6f of waiting wide whose cause is sure, which %.6f of the causes are\n", mean, sure);
	ck_assert_msg(mean <= most && sure >= least_sure,
		      "SEED=%" PRIu64 " and %" PRIu64 " more: bounds are %.6f of waiting wide whose cause is sure, expected %.6f; "
		      "%.6f of the causes are sure, expected %.6f", seed, programs - 1, mean, most, sure, least_sure);
	memset(&seen, 0, sizeof seen);
}

START_TEST(waits_hold_the_truth)
{
	for (uint64_t i = 0; i < programs; i++)
		check_program(seed + i, &(struct program_spec){ .affine = (seed + i) % 3 == 0,
								.varying = (seed + i) % 2,
								.unmarked = (seed + i) % 5 < 2 });
	check_width(0.0005, 0.8);
}
END_TEST

/* Some messages come only when their senders call MPI again. */
START_TEST(waits_hold_the_truth_where_messages_are_held_back)
{
	for (uint64_t i = 0; i < programs; i++)
		check_program(seed + i, &(struct program_spec){ .holds = true, .twins = (seed + i) % 2, .varying = (seed + i) % 3 == 0,
								.may = (seed + i) % 4 < 2 ? PROGRAM_MESSAGES : PROGRAM_ALL });
	check_width(1, 0.5);
}
END_TEST

START_TEST(waits_are_exact_on_one_clock)
{
	for (uint64_t i = 0; i < programs; i++)
		check_program(seed + i, &(struct program_spec){ .twins = true, .varying = (seed + i) % 2 });
	check_width(0.0001, 0.85);
}
END_TEST

int main(void)
{
	TCase *c = unit_begin(100000, 1);

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_add_test(c, waits_hold_the_truth);
	tcase_add_test(c, waits_are_exact_on_one_clock);
	tcase_add_test(c, waits_hold_the_truth_where_messages_are_held_back);
	tcase_add_test(c, delays_hold_the_truth);
	tcase_add_test(c, delays_hold_the_truth_where_pieces_share_a_tick);
	return unit_end();
}
