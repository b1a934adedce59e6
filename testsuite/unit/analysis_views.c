/* SPDX-License-Identifier: MIT
 *
 * analysis_views.c - the aggregated event view and the instances of a region against random worlds
 * (analysis_world.h) of which the truth is known.
 *
 * Laws: no thread enters or leaves anything in a frame, recorded or not; an instance's length and
 * those of its longest and shortest visit are inside, and how long the slowest one did not wait; who is proved to be
 * slowest is. */
#include "analysis/report/aggregate.h"
#include "analysis/report/instances.h"
#include "testsuite/unit/analysis_world.h"

#define WORLDS 2000
#define FRAMES 100

struct view {
	struct findings findings;
	struct span span;
};

static void open_view(struct view *v)
{
	*v = (struct view){ .findings.trace = &w.trace };
	struct findings *f = &v->findings;
	ck_assert_int_eq(times_open(&f->times, &w.trace, &(struct options){ .json = false }),
			 EXIT_FINE);
	ck_assert(roles_open(&f->roles, &w.trace, NULL, NULL));
	totals_open(&f->totals, &w.trace, &f->roles);
	v->span = times_span(&f->times, 0, f->totals.ends);
	f->spans = &v->span;
}

static void close_view(struct view *v)
{
	totals_close(&v->findings.totals);
	roles_close(&v->findings.roles);
	times_close(&v->findings.times);
}

/* ---- Frames ---------------------------------------------------------------------------------- */

static void check_frame(uint64_t seed, const struct frame *f)
{
	double from = (double)(f->middle - f->length.lo / 2), to = from + (double)f->length.lo;
	for (size_t i = 0; i < w.nthreads; i++) {
		struct true_thread *t = &w.thread[i];
		for (size_t j = 0; j < t->count; j++)
			if (from + SLACK < t->events[j].time && t->events[j].time < to - SLACK)
				ck_abort_msg("SEED=%" PRIu64 ": an event at %.3f is in the "
					     "frame %.3f .. %.3f",
					     seed, t->events[j].time, from, to);
	}
}

static void check_aggregate(uint64_t seed, const struct view *v)
{
	struct aggregate a;
	uint64_t events = 0, counted = 0, recorded = 0;
	aggregate_open(&a, &v->findings.times, 0, &v->span, FRAMES);
	for (size_t i = 0; i < a.longest.nlongest; i++)
		check_frame(seed, &a.longest.longest[i]);
	for (unsigned b = 0; b < AGGREGATE_BINS; b++) {
		events += a.bins[b].events;
		counted += a.bins[b].count;
		ck_assert(a.bins[b].events >= a.bins[b].count * aggregate_least(b));
		ck_assert(a.bins[b].count == 0 ||
			  a.bins[b].events < a.bins[b].count * aggregate_least(b + 1));
	}
	for (size_t i = 0; i < w.nthreads; i++)
		for (size_t j = 0; j < w.thread[i].count; j++)
			recorded += w.thread[i].events[j].recorded;
	ck_assert_uint_eq(events, a.events);
	ck_assert_uint_eq(events, recorded);
	ck_assert_uint_eq(counted, a.aggregated);
	ck_assert_uint_lt(a.frames, a.aggregated + (a.aggregated == 0));
	ck_assert_int_le(a.frame_ticks, v->span.length.hi);
	aggregate_close(&a);
}

/* ---- Instances ------------------------------------------------------------------------------- */

struct truth {
	double first, last, longest, shortest;
	double work[THREADS][EVENTS]; /* of each thread's visits */
	size_t nwork[THREADS];
	double most;          /* of all these */
	uint64_t visits;
	uint32_t slowest;     /* rank with the most work in a visit */
};

static void add_visit(struct truth *t, size_t thread, double from, double to, double waited)
{
	uint32_t rank = (uint32_t)w.threads[thread].rank;
	double work = to - from - waited;
	if (t->visits++ == 0)
		*t = (struct truth){ .first = from, .last = to, .shortest = INFINITY, .visits = 1, .slowest = rank };
	t->first = fmin(t->first, from);
	t->last = fmax(t->last, to);
	t->longest = fmax(t->longest, to - from);
	t->shortest = fmin(t->shortest, to - from);
	t->work[thread][t->nwork[thread]++] = work;
	if (work > t->most) {
		t->most = work;
		t->slowest = rank;
	}
}

static struct truth true_instance(uint32_t site, uint64_t id)
{
	struct truth truth = { .visits = 0 };
	for (size_t i = 0; i < w.nthreads; i++) {
		const struct true_event *stack[EVENTS];
		double before[EVENTS], waited = 0; /* of each entry, and in all */
		size_t depth = 0;
		for (size_t j = 0; j < w.thread[i].count; j++) {
			const struct true_event *e = &w.thread[i].events[j];
			if (j > 0 && e[-1].state == MAY_WAIT)
				waited += e->time - e[-1].time;
			if (e->op == DPROF_ENTER) {
				before[depth] = waited;
				stack[depth++] = e;
				continue;
			}
			depth--;
			if (e->site == site && stack[depth]->instance == id)
				add_visit(&truth, i, stack[depth]->time, e->time, waited - before[depth]);
		}
	}
	return truth;
}

static bool holds_any(frz_time x, const double *work, size_t n)
{
	bool any = false;
	for (size_t i = 0; i < n; i++)
		any |= work[i] >= (double)x.lo - SLACK && work[i] <= (double)x.hi + SLACK;
	return any;
}

static void check_instances(uint64_t seed, const struct view *v, uint32_t site)
{
	struct instances r;
	ck_assert(instances_open(&r, &v->findings, sites[site].name));
	ck_assert_uint_le(r.count, 3);
	ck_assert_uint_eq(r.left_out, 0);
	for (size_t i = 0; i < r.count; i++) {
		const struct instance *x = &r.list[i];
		struct truth t = true_instance(site, x->id);
		ck_assert_uint_eq(t.visits, x->visits);
		check_inside(seed, "length of instance", (uint32_t)x->id, x->length,
			     t.last - t.first);
		check_inside(seed, "longest visit", (uint32_t)x->id, x->longest, t.longest);
		check_inside(seed, "shortest visit", (uint32_t)x->id, x->shortest, t.shortest);
		ck_assert_msg(holds_any(x->slowest_work, t.work[x->slowest], t.nwork[x->slowest]),
			      "SEED=%" PRIu64 ": no visit of rank %d has so much work", seed, (int)w.threads[x->slowest].rank);
		ck_assert_msg(!x->proved || w.threads[x->slowest].rank == t.slowest,
			      "SEED=%" PRIu64 ": rank %d is not the slowest", seed,
			      (int)w.threads[x->slowest].rank);
	}
	instances_close(&r);
}

static void check_world(uint64_t seed)
{
	struct view v;
	make_world(seed, seed % 8 ? 0 : 1 + seed / 8 % 40, false, false);
	if (below(3) == 0)
		lose_some();
	if (w.unplaced)
		return;
	open_view(&v);
	if (v.span.events)
		check_aggregate(seed, &v);
	for (uint32_t site = REGION_A; site <= REGION_B && v.span.events && !w.damaged; site++)
		check_instances(seed, &v, site);
	close_view(&v);
}

START_TEST(views_hold_the_truth)
{
	for (uint64_t i = 0; i < unit_times(WORLDS); i++)
		check_world(unit_seed + i);
}
END_TEST

int main(void)
{
	TCase *tc = unit_begin(0, 1);

	tcase_add_test(tc, views_hold_the_truth);
	return unit_end();
}
