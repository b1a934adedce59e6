/* SPDX-License-Identifier: MIT
 *
 * analysis_link_filter.c - the law of link_filter.h where there are more links than room: what comes out was put
 * in, is spread over the whole run, and is the fastest of its time. (That what is left out of fewer is
 * implied: truth_links.c.) */
#include "analysis/clocks/link_filter.h"
#include "testsuite/unit/draw.h"
#include "testsuite/unit/unit.h"

#define ROOM      256
#define MOST      20000
#define STRETCHES 16
#define SLOW      1000 /* ticks that all links take but one in each direction */

struct sent { struct frz_link link[MOST]; size_t n, fastest; uint64_t offset; };

/* From one of two clocks, which are alike but for an offset, to the other. */
static void draw(struct sent *s, bool back, size_t n)
{
	uint64_t now = 1000000 + draw_below(1000000);

	s->n = n;
	s->offset = draw_below(100000);
	s->fastest = 1 + draw_below(n - 2);
	for (size_t i = 0; i < n; i++) {
		uint64_t takes = i == s->fastest ? 0 : SLOW + draw_below(20 * SLOW);

		now += 1 + draw_below(2 * SLOW);
		s->link[i] = (struct frz_link){ back, !back, now, now + s->offset + takes };
	}
}

static bool same(const struct frz_link *a, const struct frz_link *b)
{
	return a->from == b->from && a->to == b->to && a->sent == b->sent && a->received == b->received;
}

static bool is_among(const struct frz_link *links, size_t n, const struct frz_link *l)
{
	size_t i = 0;

	while (i < n && !same(&links[i], l))
		i++;
	return i < n;
}

static uint64_t takes(const struct sent *s, const struct frz_link *l)
{
	return l->received - l->sent - s->offset;
}

static void check_ends(const struct sent *s, const struct frz_link *left, size_t n)
{
	const struct frz_link *first = &s->link[0], *last = first;

	for (size_t i = 1; i < s->n; i++) {
		first = s->link[i].received < first->received ? &s->link[i] : first;
		last = s->link[i].received > last->received ? &s->link[i] : last;
	}
	ck_assert(is_among(left, n, &s->link[0]) && is_among(left, n, &s->link[s->n - 1]));
	ck_assert(is_among(left, n, first) && is_among(left, n, last));
}

static size_t count(const struct sent *s, const struct frz_link *left, size_t n)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++)
		found += left[i].from == s->link[0].from;
	return found;
}

static void check_spread(const struct sent *s, const struct frz_link *left, size_t n)
{
	uint64_t begin = s->link[0].sent, run = s->link[s->n - 1].sent - begin + 1;
	size_t found[STRETCHES] = { 0 };

	for (size_t i = 0; i < n; i++)
		if (left[i].from == s->link[0].from)
			found[(left[i].sent - begin) * STRETCHES / run]++;
	for (size_t i = 0; i < STRETCHES; i++)
		ck_assert_msg(found[i] >= ROOM / 4 / STRETCHES / 2,
			      "SEED=%" PRIu64 ": %zu links of %zu in stretch %zu", unit_seed, found[i], n, i);
}

static void check_fast(const struct sent *s, const struct frz_link *left, size_t n)
{
	double all = 0, kept = 0;
	size_t nkept = 0;

	ck_assert(is_among(left, n, &s->link[s->fastest]));
	for (size_t i = 0; i < s->n; i++)
		all += (double)takes(s, &s->link[i]) / (double)s->n;
	for (size_t i = 0; i < n; i++)
		if (left[i].from == s->link[0].from) {
			ck_assert(is_among(s->link, s->n, &left[i]));
			kept += (double)takes(s, &left[i]);
			nkept++;
		}
	ck_assert_double_lt(kept / (double)nkept, s->n < 4 * ROOM ? all : all / 2);
}

START_TEST(what_is_left_is_fast_and_all_over_the_run)
{
	static struct sent there, back;

	for (uint64_t i = 0; i < unit_times(20); i++) {
		draw_state = unit_seed + i;
		draw(&there, false, 2 * ROOM + draw_below(MOST - 2 * ROOM));
		draw(&back, true, ROOM / 4 + draw_below(ROOM / 4));
		struct link_filter *filter = link_filter_open(NULL, ROOM);
		size_t n;

		for (size_t k = 0; k < there.n; k++) {
			link_filter_put(filter, there.link[k]);
			if (k * back.n / there.n != (k + 1) * back.n / there.n)
				link_filter_put(filter, back.link[k * back.n / there.n]);
		}
		struct frz_link *left = link_filter_close(filter, &n);

		ck_assert_uint_le(n, ROOM + 2 * 4);
		check_ends(&there, left, n);
		check_ends(&back, left, n);
		check_fast(&there, left, n);
		check_spread(&there, left, n);
		ck_assert(is_among(left, n, &back.link[back.fastest]));
		ck_assert_uint_ge(count(&back, left, n), ROOM / 8);
		free(left);
	}
}
END_TEST

/* More pairs of clocks than there is room: some links of each stay. */
START_TEST(there_is_room_for_some_of_all)
{
	struct link_filter *filter = link_filter_open(NULL, ROOM);
	size_t n, of[2 * ROOM] = { 0 };

	for (uint64_t i = 0; i < 20; i++)
		for (uint32_t clock = 1; clock < 2 * ROOM; clock++)
			link_filter_put(filter, (struct frz_link){ clock, 0, 1000 * i + clock,
								   1000 * i + 2 * clock });
	struct frz_link *left = link_filter_close(filter, &n);

	for (size_t i = 0; i < n; i++)
		of[left[i].from]++;
	for (uint32_t clock = 1; clock < 2 * ROOM; clock++)
		ck_assert(of[clock] >= 2 && of[clock] <= 10);
	free(left);
}
END_TEST

/* Where packets prove no rate, only what was sent no later and came no earlier implies a link. */
START_TEST(without_rates_only_order_implies)
{
	struct frz_solution *rates;
	size_t n;

	ck_assert_int_eq(frz_solve(&rates, 2, 0, NULL, 0, (struct frz_assumption){ FRZ_DRIFT, 10000 }), 0);
	struct link_filter *filter = link_filter_open(rates, ROOM);

	link_filter_put(filter, (struct frz_link){ 1, 0, 1000, 2000 });
	link_filter_put(filter, (struct frz_link){ 1, 0, 3000, 9000 }); /* says more of 3000 */
	link_filter_put(filter, (struct frz_link){ 1, 0, 5000, 9500 });
	link_filter_put(filter, (struct frz_link){ 1, 0, 6000, 9400 }); /* implies the one before */
	link_filter_put(filter, (struct frz_link){ 1, 0, 8000, 9900 });
	link_filter_put(filter, (struct frz_link){ 1, 0, 9000, 12000 });
	struct frz_link *left = link_filter_close(filter, &n);

	ck_assert_uint_eq(n, 5);
	ck_assert_uint_eq(left[1].sent, 3000);
	ck_assert_uint_eq(left[2].sent, 6000);
	free(left);
	frz_solution_free(rates);
}
END_TEST

int main(void)
{
	TCase *laws = unit_begin(900, UNIT_ANEW);

	tcase_add_test(laws, what_is_left_is_fast_and_all_over_the_run);
	tcase_add_test(laws, there_is_room_for_some_of_all);
	tcase_add_test(laws, without_rates_only_order_implies);
	return unit_end();
}
