/* SPDX-License-Identifier: MIT
 *
 * freezer_network.c - clocks that are linked through others hold the truth, and more links only
 * ever tighten.
 *
 * All clocks of a network are maps of one true time. Links are drawn along the edges of a tree or a
 * mesh; the base may be any clock. Composition is compared with what it stands for: links with the
 * base, made by hand from the bounds of the clock between. */
#include <stdbool.h>

#include "freezer/solve.h"
#include "testsuite/truth/clockmap.h"
#include "testsuite/unit/freezer_random.h"
#include "testsuite/unit/unit.h"

#define FINE   4096 /* parts in which true time is given, of a tick of a clock of rate 1 */
#define KNOTS  12
#define CLOCKS 8
#define LINKS  4000

typedef __int128 wide;

static struct {
	struct clockmap clocks[CLOCKS];
	struct clockmap_knot knots[CLOCKS][KNOTS];
	uint32_t nclocks, base, drift_ppb; /* 0: affine */
	int64_t begin, run;                /* in true time */
	struct frz_link links[LINKS];
	size_t nlinks;
} net;

/* ---- Worlds -----------------------------------------------------------------------------------*/

/* A clock whose rate is always within `wander` ppb of a nominal one. */
static void draw_clock(uint32_t clock, uint32_t wander)
{
	struct clockmap_knot *k = net.knots[clock];
	wide permille = 100 + (wide)below(9900), step = net.run / (KNOTS - 3);

	net.clocks[clock] = (struct clockmap){ k, wander ? KNOTS : 2 };
	k[0].truth = net.begin - (int64_t)step;
	k[0].own = (int64_t)any_size(50);
	for (int i = 1; i < KNOTS; i++) {
		wide own = step / FINE * permille / 1000, off = (wide)below(2 * wander + 1);

		own += own * (off - wander) / 1000000000;
		k[i].truth = k[i - 1].truth + (int64_t)step;
		k[i].own = k[i - 1].own + (int64_t)own;
	}
}

/* A run of 2^34 to 2^46 true ticks. Two clocks that wander by w, each against another mean. */
static void draw_world(uint32_t nclocks, uint32_t wander)
{
	unsigned bits = 46 + (unsigned)below(12);

	net.run = INT64_C(1) << bits;
	net.begin = (int64_t)any_size(58) + 2 * net.run;
	net.nclocks = nclocks;
	net.base = (uint32_t)below(nclocks);
	net.drift_ppb = wander ? 4 * wander + wander / 500 + 1000 : 0;
	net.nlinks = 0;
	for (uint32_t c = 0; c < nclocks; c++)
		draw_clock(c, wander);
}

static void add_link(uint32_t from, uint32_t to, int64_t sent, int64_t flight)
{
	net.links[net.nlinks++] = (struct frz_link){
		from, to, clockmap_stamp(&net.clocks[from], sent),
		clockmap_stamp(&net.clocks[to], sent + flight)
	};
}

/* Exchanges between two clocks over the whole run, each way with a floor of its own. */
static void add_edge(uint32_t a, uint32_t b, size_t exchanges)
{
	int64_t floor_there = (int64_t)any_size(30), floor_back = (int64_t)any_size(30);

	for (size_t i = 0; i < exchanges; i++) {
		int64_t at = net.begin + net.run / (int64_t)exchanges * (int64_t)i;

		add_link(a, b, at, floor_there + (int64_t)any_size(34));
		add_link(b, a, at + (int64_t)any_size(34), floor_back + (int64_t)any_size(34));
	}
}

/* The run of each clock, whatever its links with others. */
static void add_star(size_t exchanges)
{
	for (uint32_t c = 0; c < net.nclocks; c++) {
		if (c == net.base)
			continue;
		add_link(c, net.base, net.begin - 1, 1);
		add_edge(c, net.base, exchanges);
		add_link(net.base, c, net.begin + net.run + (INT64_C(1) << 37), 1);
	}
}

static void add_tree(size_t exchanges)
{
	for (uint32_t c = 1; c < net.nclocks; c++)
		add_edge((uint32_t)below(c), c, exchanges);
}

static void add_peers(size_t exchanges)
{
	for (uint32_t a = 0; a < net.nclocks; a++)
		for (uint32_t b = a + 1; b < net.nclocks; b++)
			if (below(2))
				add_edge(a, b, 1 + below(exchanges));
}

static void shuffle_links(void)
{
	for (size_t i = net.nlinks; i > 1; i--) {
		size_t j = below(i);
		struct frz_link l = net.links[j];

		net.links[j] = net.links[i - 1];
		net.links[i - 1] = l;
	}
}

static struct frz_assumption assumption(void)
{
	return (struct frz_assumption){ net.drift_ppb ? FRZ_DRIFT : FRZ_AFFINE, net.drift_ppb };
}

static struct frz_solution *solve_links(size_t n)
{
	struct frz_solution *solution;

	ck_assert_int_eq(frz_solve(&solution, net.nclocks, net.base, net.links, n, assumption()),
			 0);
	return solution;
}

static struct frz_solution *solve(void)
{
	return solve_links(net.nlinks);
}

/* ---- The truth --------------------------------------------------------------------------------*/

static int64_t draw_instant(void)
{
	return net.begin + (int64_t)below((uint64_t)net.run);
}

static void check_truth(const struct frz_solution *solution, uint32_t clock, int conversions)
{
	const struct clockmap *base = &net.clocks[net.base];
	struct frz_cursor cursor = frz_cursor(solution, clock);

	for (int k = 0; k < conversions; k++) {
		int64_t at = draw_instant(), later = at + (int64_t)any_size(40);
		uint64_t s = clockmap_stamp(&net.clocks[clock], at);
		uint64_t ticks = clockmap_stamp(&net.clocks[clock], later) - s;
		frz_time time = frz_time_of(&cursor, s), took = frz_duration(solution, clock, ticks);
		int64_t passed = (int64_t)(clockmap_stamp(base, later) - clockmap_stamp(base, at));

		ck_assert_msg(clockmap_compare(base, at, time.lo) >= 0 &&
				      clockmap_compare(base, at, time.hi) <= 0,
			      "SEED=%llu: clock %u stamp %llu", (unsigned long long)seed, clock,
			      (unsigned long long)s);
		ck_assert_msg(took.lo <= passed + 1 && passed - 1 <= took.hi,
			      "SEED=%llu: clock %u ticks %llu", (unsigned long long)seed, clock,
			      (unsigned long long)ticks);
	}
}

static void check_all(const struct frz_solution *solution, int conversions)
{
	for (uint32_t c = 0; c < net.nclocks; c++) {
		ck_assert_msg(frz_clock(solution, c)->status == FRZ_PROVEN, "SEED=%llu: clock %u "
			      "status %d", (unsigned long long)seed, c,
			      (int)frz_clock(solution, c)->status);
		ck_assert_int_eq(!frz_clock(solution, c)->hops, c == net.base);
		check_truth(solution, c, conversions);
	}
}

/* Half of the rounds are affine. */
static uint32_t draw_wander(int round)
{
	return round % 2 ? 0 : 1 + (uint32_t)any_size(17);
}

START_TEST(trees_hold_the_truth)
{
	for (int round = 0; round < 300; round++) {
		draw_world(2 + (uint32_t)below(CLOCKS - 1), draw_wander(round));
		add_tree(4 + below(60));
		if (below(2))
			shuffle_links();
		struct frz_solution *solution = solve();
		check_all(solution, 300);
		frz_solution_free(solution);
	}
}
END_TEST

START_TEST(meshes_hold_the_truth)
{
	for (int round = 0; round < 200; round++) {
		draw_world(2 + (uint32_t)below(CLOCKS - 1), draw_wander(round));
		add_tree(4 + below(30));
		add_peers(30);
		if (below(2))
			shuffle_links();
		struct frz_solution *solution = solve();
		check_all(solution, 300);
		frz_solution_free(solution);
	}
}
END_TEST

START_TEST(any_base_of_a_star_places_all)
{
	draw_world(3, 0);
	net.base = 0;
	add_star(20);
	for (net.base = 0; net.base < 3; net.base++) {
		struct frz_solution *solution = solve();

		for (uint32_t c = 0; c < 3; c++)
			ck_assert_uint_eq(frz_clock(solution, c)->hops,
					  c == net.base ? 0 : c && net.base ? 2 : 1);
		check_all(solution, 1000);
		frz_solution_free(solution);
	}
}
END_TEST

/* ---- Tightness --------------------------------------------------------------------------------*/

static wide width_sum(const struct frz_solution *solution, const uint64_t *stamps, int n,
		      uint32_t clock)
{
	struct frz_cursor c = frz_cursor(solution, clock);
	wide sum = 0;

	for (int i = 0; i < n; i++) {
		frz_time t = frz_time_of(&c, stamps[i]);

		sum += (wide)t.hi - t.lo;
	}
	return sum;
}

/* Envelopes may be a tick wider than they could be. */
static void check_no_wider(const struct frz_solution *few, const struct frz_solution *many,
			   uint32_t clock, int64_t allowed)
{
	struct frz_cursor f = frz_cursor(few, clock), m = frz_cursor(many, clock);

	for (int k = 0; k < 300; k++) {
		uint64_t s = clockmap_stamp(&net.clocks[clock], draw_instant());
		frz_time a = frz_time_of(&f, s), b = frz_time_of(&m, s);

		ck_assert_msg(b.lo >= a.lo - allowed && b.hi <= a.hi + allowed,
			      "SEED=%llu: clock %u stamp %llu: [%lld,%lld] with more links, "
			      "[%lld,%lld] with fewer", (unsigned long long)seed, clock,
			      (unsigned long long)s, (long long)b.lo, (long long)b.hi,
			      (long long)a.lo, (long long)a.hi);
	}
}

START_TEST(more_links_only_tighten)
{
	enum { STAMPS = 50 };
	double gain = 0;
	int worlds = 0;

	for (int round = 0; round < 200; round++) {
		draw_world(3 + (uint32_t)below(CLOCKS - 2), draw_wander(round));
		add_star(30);
		size_t star = net.nlinks;
		add_peers(30);
		struct frz_solution *few = solve_links(star), *many = solve();

		for (uint32_t c = 0; c < net.nclocks; c++) {
			uint64_t stamps[STAMPS];

			check_no_wider(few, many, c, net.drift_ppb ? 1 : 0);
			for (int i = 0; i < STAMPS; i++)
				stamps[i] = clockmap_stamp(&net.clocks[c], draw_instant());
			wide before = width_sum(few, stamps, STAMPS, c);
			if (c != net.base)
				gain += 1 - (double)width_sum(many, stamps, STAMPS, c) /
						    (double)before, worlds++;
		}
		frz_solution_free(few);
		frz_solution_free(many);
	}
	printf("network: links between peers make bounds %.1f %% narrower on average\n",
	       100 * gain / worlds);
	ck_assert_double_gt(gain / worlds, 0.05);
}
END_TEST

/* Replaces each link of 2 with 1 by one of 2 with the base, 0, that 1's bounds prove. */
static size_t compose_by_hand(const struct frz_solution *near, struct frz_link *links)
{
	size_t n = 0;

	for (size_t i = 0; i < net.nlinks; i++) {
		struct frz_link l = net.links[i];
		struct frz_cursor c = frz_cursor(near, 1);

		if (l.from == 1 && l.to == 2)
			links[n++] = (struct frz_link){
				0, 1, (uint64_t)frz_time_of(&c, l.sent).lo, l.received
			};
		else if (l.from == 2)
			links[n++] = (struct frz_link){
				1, 0, l.sent, (uint64_t)frz_time_of(&c, l.received).hi - 1
			};
	}
	return n;
}

START_TEST(composed_links_are_links_with_the_base)
{
	static struct frz_link links[LINKS];

	for (int round = 0; round < 100; round++) {
		draw_world(3, 0);
		net.base = 0;
		add_edge(1, 0, 20);
		add_edge(2, 1, 20);
		struct frz_solution *chain = solve(), *direct;
		size_t n = compose_by_hand(chain, links);

		ck_assert_int_eq(frz_solve(&direct, 2, 0, links, n, assumption()), 0);
		ck_assert_uint_eq(frz_clock(chain, 2)->hops, 2);
		ck_assert_uint_eq(frz_clock(chain, 2)->links, n);
		struct frz_cursor a = frz_cursor(chain, 2), b = frz_cursor(direct, 1);
		for (int k = 0; k < 200; k++) {
			uint64_t s = clockmap_stamp(&net.clocks[2], draw_instant());
			frz_time x = frz_time_of(&a, s), y = frz_time_of(&b, s);

			ck_assert(x.lo == y.lo && x.hi == y.hi);
		}
		frz_solution_free(chain);
		frz_solution_free(direct);
	}
}
END_TEST

/* ---- Contradictions ---------------------------------------------------------------------------*/

/* At true time `at` the clock jumps ahead by `ticks`, or back. */
static void jump(uint32_t clock, int64_t at, int64_t ticks)
{
	for (size_t i = 0; i < net.nlinks; i++) {
		struct frz_link *l = &net.links[i];
		uint64_t when = clockmap_stamp(&net.clocks[clock], at);

		if (l->from == clock && l->sent >= when)
			l->sent += (uint64_t)ticks;
		if (l->to == clock && l->received >= when)
			l->received += (uint64_t)ticks;
	}
}

static void check_conflicts_touch(const struct frz_clock *c, uint32_t clock)
{
	ck_assert_uint_ge(c->nconflicts, 2);
	for (unsigned i = 0; i < c->nconflicts; i++) {
		const struct frz_link *l = &net.links[c->conflict[i]];

		ck_assert_uint_lt(c->conflict[i], net.nlinks);
		ck_assert_msg(l->from == clock || l->to == clock, "SEED=%llu: link %zu",
			      (unsigned long long)seed, c->conflict[i]);
	}
}

/* 0 - 1 - 2 - 3, and 1 - 4: clock 2 steps. */
START_TEST(doubt_travels_outward_only)
{
	for (int round = 0; round < 50; round++) {
		draw_world(5, draw_wander(round));
		net.base = 0;
		for (uint32_t c = 1; c < 4; c++)
			add_edge(c, c - 1, 40);
		add_edge(4, 1, 40);
		jump(2, net.begin + net.run / 2, net.run / FINE / 1000);
		struct frz_solution *solution = solve();
		const struct frz_clock *two = frz_clock(solution, 2), *three = frz_clock(solution, 3);

		ck_assert_int_eq(frz_clock(solution, 1)->status, FRZ_PROVEN);
		ck_assert_int_eq(frz_clock(solution, 4)->status, FRZ_PROVEN);
		check_truth(solution, 1, 100);
		check_truth(solution, 4, 100);
		ck_assert_int_eq(two->status, FRZ_CONSISTENT);
		ck_assert_uint_gt(two->least_ppb, net.drift_ppb);
		ck_assert_uint_eq(two->ppb, two->least_ppb);
		check_conflicts_touch(two, 2);
		ck_assert_int_eq(three->status, FRZ_CONSISTENT);
		ck_assert_uint_ge(three->nconflicts, 2);
		ck_assert_uint_eq(three->hops, 3);
		frz_solution_free(solution);
	}
}
END_TEST

/* A star, and peers that find out what the star alone does not show: each clock of it is fine, but
 * links from 1 to 2 arrive before they were sent. Neither is proven, nor is 6, which had its place
 * through 1 before that was found out; all others are. */
START_TEST(peers_that_disagree_are_not_proven)
{
	for (int round = 0; round < 50; round++) {
		draw_world(7, draw_wander(round));
		net.base = 0;
		net.nclocks = 6;
		add_star(30);
		net.nclocks = 7;
		add_edge(1, 2, 30);
		add_edge(3, 4, 30);
		add_edge(1, 6, 30);
		for (size_t i = 0; i < net.nlinks; i++)
			if (net.links[i].from == 1 && net.links[i].to == 2)
				net.links[i].received -= (uint64_t)net.run / FINE / 40;
		struct frz_solution *solution = solve();

		ck_assert_int_ne(frz_clock(solution, 6)->status, FRZ_PROVEN);
		for (uint32_t c = 1; c < 6; c++) {
			const struct frz_clock *clock = frz_clock(solution, c);

			if (c > 2) {
				ck_assert_int_eq(clock->status, FRZ_PROVEN);
				check_truth(solution, c, 100);
				continue;
			}
			ck_assert(clock->status == FRZ_CONSISTENT ||
				  clock->status == FRZ_CONTRADICTION);
			check_conflicts_touch(clock, c);
		}
		frz_solution_free(solution);
	}
}
END_TEST

/* Exchanges each 2^28 true ticks, packets of up to 2^20 both ways. */
static void draw_steady_world(uint32_t wander)
{
	draw_world(2, wander);
	net.base = 0;
	for (int64_t at = net.begin; at < net.begin + net.run; at += net.run / 200) {
		add_link(0, 1, at, 1 + (int64_t)below(1 << 20));
		add_link(1, 0, at + (1 << 21), 1 + (int64_t)below(1 << 20));
	}
}

/* True time at both ends of the two links named first: from the end of the earlier one to the begin
 * of the later. */
static void check_straddles(const struct frz_clock *c, const int64_t *sent, int64_t at)
{
	int64_t a = sent[c->conflict[0]], b = sent[c->conflict[1]];
	int64_t first = a < b ? a : b, second = a < b ? b : a;

	ck_assert_msg(first <= at && at <= second, "SEED=%llu: the step is elsewhere",
		      (unsigned long long)seed);
	ck_assert_msg(second - first <= net.run / 200 + (1 << 23),
		      "SEED=%llu: %lld ticks around the step, exchanges are %lld apart",
		      (unsigned long long)seed, (long long)(second - first),
		      (long long)net.run / 200);
}

START_TEST(the_links_in_conflict_straddle_a_step)
{
	static int64_t sent[LINKS];

	for (int round = 0; round < 300; round++) {
		uint32_t wander = draw_wander(round) / 100;

		draw_steady_world(wander);
		for (size_t i = 0; i < net.nlinks; i++)
			sent[i] = net.begin + net.run / 200 * (int64_t)(i / 2) + (i % 2 << 21);
		int64_t at = net.begin + net.run / 200 * (int64_t)(20 + below(160)) + (1 << 23);
		/* From little more than what two packets leave open to several exchanges. */
		wide own = net.knots[1][1].own - net.knots[1][0].own;
		int64_t ticks = (int64_t)(own * ((9 << 18) + (int64_t)any_size(40)) /
					  (net.run / (KNOTS - 3)));
		int64_t noticed = (int64_t)(own * 2 * net.drift_ppb / 1000000000 / 20);

		jump(1, at, below(2) ? ticks + noticed : -ticks - noticed);
		struct frz_solution *solution = solve();
		const struct frz_clock *clock = frz_clock(solution, 1);

		ck_assert(clock->status == FRZ_CONSISTENT || clock->status == FRZ_CONTRADICTION);
		check_straddles(clock, sent, at);
		frz_solution_free(solution);
	}
}
END_TEST

/* ---- Odd input --------------------------------------------------------------------------------*/

START_TEST(any_links_at_all)
{
	static const struct frz_assumption models[] = { { FRZ_AFFINE, 0 }, { FRZ_DRIFT, 10000 },
							{ FRZ_DRIFT, 999999999 } };

	for (int round = 0; round < 3000; round++) {
		uint64_t span = 1 + any_size(63), spread = 1 + any_size(20);
		bool close = below(2);
		struct frz_solution *solution;

		net.nclocks = 1 + (uint32_t)below(CLOCKS);
		net.nlinks = below(60);
		for (size_t i = 0; i < net.nlinks; i++) {
			uint64_t s = below(4) ? below(span) : draw();

			net.links[i] = (struct frz_link){
				(uint32_t)below(net.nclocks), (uint32_t)below(net.nclocks), s,
				close ? s + below(spread) : below(span)
			};
		}
		ck_assert_int_eq(frz_solve(&solution, net.nclocks, 0, net.links, net.nlinks,
					   models[round % 3]), 0);
		for (uint32_t c = 0; c < net.nclocks; c++) {
			const struct frz_clock *clock = frz_clock(solution, c);

			for (unsigned i = 0; i < clock->nconflicts; i++)
				ck_assert_uint_lt(clock->conflict[i], net.nlinks);
			ck_assert_int_eq(clock->nconflicts >= 2,
					 clock->status == FRZ_CONSISTENT ||
						 clock->status == FRZ_CONTRADICTION);
			if (!frz_placed(clock))
				continue;
			struct frz_cursor cursor = frz_cursor(solution, c);
			for (int i = 0; i < 4; i++) {
				frz_time t = frz_time_of(&cursor, draw() >> below(64));

				ck_assert_int_le(t.lo, t.hi);
			}
		}
		frz_solution_free(solution);
	}
}
END_TEST

static void setup(void)
{
	random_begin(unit_seed);
}

int main(void)
{
	TCase *tests = unit_begin(0, UNIT_ANEW);

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, trees_hold_the_truth);
	tcase_add_test(tests, meshes_hold_the_truth);
	tcase_add_test(tests, any_base_of_a_star_places_all);
	tcase_add_test(tests, more_links_only_tighten);
	tcase_add_test(tests, composed_links_are_links_with_the_base);
	tcase_add_test(tests, doubt_travels_outward_only);
	tcase_add_test(tests, peers_that_disagree_are_not_proven);
	tcase_add_test(tests, the_links_in_conflict_straddle_a_step);
	tcase_add_test(tests, any_links_at_all);
	return unit_end();
}
