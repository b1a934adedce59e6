/* SPDX-License-Identifier: MIT
 *
 * analysis_times.c - stamps become intervals that contain the truth.
 *
 * Random worlds: clocks that are true straight lines, packets between them and the base that took
 * random time, events at random true moments. */
#include <math.h>

#include "analysis/clocks/times.h"
#include "testsuite/unit/unit.h"

#define WORLDS  3000
#define CLOCKS  4
#define PACKETS 40 /* each way */
#define EVENTS  20
#define RUN     1e9

struct true_clock { double rate, offset; }; /* time = rate * reading + offset */

static struct times_world {
	uint64_t random;
	struct true_clock truth[CLOCKS];
	struct tr_clock clocks[CLOCKS];
	struct tr_thread threads[CLOCKS];
	struct frz_link links[2 * CLOCKS * PACKETS];
	struct trace trace;
} w;

static double real(double most)
{
	w.random = w.random * 6364136223846793005 + 1442695040888963407;
	return most * (double)(w.random >> 11) / (double)(UINT64_C(1) << 53);
}

static uint64_t stamp_of(uint32_t clock, double time)
{
	return (uint64_t)floor((time - w.truth[clock].offset) / w.truth[clock].rate);
}

/* As a core shows it, which may be off by the host's uncertainty. */
static uint64_t shown(uint32_t clock, double time)
{
	double half = (double)w.clocks[clock].uncertainty;
	return stamp_of(clock, time) + (uint64_t)real(2 * half + 1) - (uint64_t)half;
}

static void add_packet(uint32_t from, uint32_t to)
{
	double sent = 1e9 + real(RUN), received = sent + 100 + real(5000);
	w.links[w.trace.nlinks++] =
		(struct frz_link){ from, to, shown(from, sent), shown(to, received) };
}

static void make_world(uint64_t seed, int packets)
{
	static char *hosts[CLOCKS] = { "h0", "h1", "h2", "h3" };
	memset(&w, 0, sizeof w);
	w.random = seed;
	for (uint32_t c = 0; c < CLOCKS; c++) {
		w.truth[c] =
			(struct true_clock){ c ? 0.7 + real(0.7) : 1, c ? real(1e9) - 5e8 : 0 };
		w.clocks[c] = (struct tr_clock){ .host = hosts[c], .ghz = 1,
						  .uncertainty =
							  seed % 3 ? 0 : (uint64_t)real(900) };
		w.threads[c] = (struct tr_thread){ .clock = c };
		for (int i = 0; c > 0 && i < packets; i++) {
			add_packet(0, c);
			add_packet(c, 0);
		}
	}
	w.trace.clocks = w.clocks;
	w.trace.nclocks = CLOCKS;
	w.trace.threads = w.threads;
	w.trace.nthreads = CLOCKS;
	w.trace.links = w.links;
}

static void end_world(void)
{
	for (size_t i = 0; i < w.trace.ndiagnostics; i++)
		free(w.trace.diagnostics[i]);
	free(w.trace.diagnostics);
}

static void check_inside(uint64_t seed, const char *what, frz_time found, double truth)
{
	ck_assert_msg((double)found.lo <= truth + 1e-3 && truth - 1e-3 <= (double)found.hi,
		      "SEED=%" PRIu64 ": %s: %.3f is not in [%" PRId64 ", %" PRId64 "]", seed,
		      what, truth, found.lo, found.hi);
}

/* ---- Placed clocks --------------------------------------------------------------------------- */

static void check_clock(uint64_t seed, const struct times *t, uint32_t c)
{
	struct frz_cursor cursor = times_cursor(t, c);
	double before = 0, sum = 0;
	uint64_t stamp_before = 0, ticks = 0, pieces = 0;
	for (int i = 0; i < EVENTS; i++) {
		double now = 1e9 + real(RUN);
		uint64_t stamp = shown(c, now);
		check_inside(seed, "time", frz_time_of(&cursor, stamp), now);
		if (i > 0 && now > before && stamp > stamp_before) {
			frz_time passed = times_duration(t, c, stamp - stamp_before);
			check_inside(seed, "duration", passed, now - before);
			sum += now - before;
			ticks += stamp - stamp_before;
			check_inside(seed, "sum",
				     times_sum(t, c, (struct stretches){ ticks, ++pieces, 0, UINT64_MAX }),
				     sum);
		}
		before = now;
		stamp_before = stamp;
	}
}

static void check_between(uint64_t seed, const struct times *t)
{
	for (int i = 0; i < EVENTS; i++) {
		double from = 1e9 + real(RUN), to = 1e9 + real(RUN);
		uint32_t a = (uint32_t)real(CLOCKS), b = (uint32_t)real(CLOCKS);
		check_inside(seed, "between",
			     times_between(t, (struct moment){ a, shown(a, from) },
					   (struct moment){ b, shown(b, to) }), to - from);
	}
}

static void check_span(uint64_t seed, const struct times *t)
{
	struct ends ends[CLOCKS];
	double first = INFINITY, last = -INFINITY;
	for (uint32_t c = 0; c < CLOCKS; c++) {
		double apart = seed % 2 ? RUN
					: 2000; /* close ends: any of them may be the first one */
		double begin = 1e9 + real(apart), end = 2e9 + real(apart);
		ends[c] = (struct ends){ shown(c, begin), shown(c, end), shown(c, begin), shown(c, end) };
		first = fmin(first, begin);
		last = fmax(last, end);
	}
	struct span span = times_span(t, 0, ends);
	ck_assert(span.events);
	check_inside(seed, "first", span.first, first);
	check_inside(seed, "last", span.last, last);
	check_inside(seed, "span", span.length, last - first);
	ck_assert(span.length.hi - span.length.lo <=
		  span.last.hi - span.first.lo - (span.last.lo - span.first.hi));
}

/* The longest way of all, by a look at each. */
static frz_time longest_way(const struct times *t, const struct ends *e)
{
	frz_time length = { 0, 0 };
	for (uint32_t a = 0; a < CLOCKS; a++)
		for (uint32_t b = 0; b < CLOCKS; b++) {
			bool from = e[a].first <= e[a].last, to = e[b].first <= e[b].last;
			bool anytime = (!e[a].earliest && e[a].first > 0) || e[b].latest == UINT64_MAX;
			int64_t lo = 0;
			if (from && to)
				lo = times_between(t, (struct moment){ a, e[a].first },
						   (struct moment){ b, e[b].last }).lo;
			length.lo = lo > length.lo ? lo : length.lo;
			if (e[a].earliest == UINT64_MAX || (!e[b].latest && !to))
				continue;
			int64_t hi = anytime ? INT64_MAX
					     : times_between(t, (struct moment){ a, e[a].earliest },
							     (struct moment){ b, e[b].latest }).hi;
			length.hi = hi > length.hi ? hi : length.hi;
		}
	return length;
}

/* Of threads that lost records before their first and behind their last, or have none. */
static void check_longest_way(uint64_t seed, const struct times *t)
{
	struct ends e[CLOCKS];
	bool any = false;
	for (uint32_t c = 0; c < CLOCKS; c++) {
		double begin = 1e9 + real(5000), end = 1.00001e9 + real(5000);
		e[c] = (struct ends){ shown(c, begin), shown(c, end), shown(c, begin - real(3000)),
				      shown(c, end + real(3000)) };
		if (real(1) < 0.1)
			e[c].earliest = 0;
		if (real(1) < 0.1)
			e[c].latest = UINT64_MAX;
		if (real(1) < 0.2)
			e[c] = (struct ends){ UINT64_MAX, 0, UINT64_MAX, 0 };
		any |= e[c].first <= e[c].last;
	}
	if (!any)
		return;
	frz_time expected = longest_way(t, e), found = times_span(t, 0, e).length;
	ck_assert_msg(found.lo == expected.lo && found.hi == expected.hi,
		      "SEED=%" PRIu64 ": span [%" PRId64 ", %" PRId64 "], expected [%" PRId64 ", %" PRId64 "]", seed,
		      found.lo, found.hi, expected.lo, expected.hi);
}

static void check_world(uint64_t seed)
{
	struct times t;
	make_world(seed, PACKETS);
	ck_assert_int_eq(times_open(&t, &w.trace, &(struct options){ .json = false }), EXIT_FINE);
	ck_assert_uint_eq(w.trace.ndiagnostics, 0);
	ck_assert_uint_eq(t.ntime_bases, 1);
	for (uint32_t c = 0; c < CLOCKS; c++)
		check_clock(seed, &t, c);
	check_between(seed, &t);
	check_span(seed, &t);
	for (int i = 0; i < 20; i++)
		check_longest_way(seed, &t);
	times_close(&t);
	end_world();
}

START_TEST(truth_is_inside)
{
	for (uint64_t i = 0; i < unit_times(WORLDS); i++)
		check_world(unit_seed + i);
}
END_TEST

/* A duration on a clock that is 5 us uncertain is known to a tick and the rate. */
START_TEST(duration_is_not_the_difference_of_two_bounds)
{
	struct times t;
	make_world(1, PACKETS);
	times_open(&t, &w.trace, &(struct options){ .json = false });
	frz_time passed = times_duration(&t, 1, 1000);
	struct frz_cursor c = times_cursor(&t, 1);
	frz_time at = frz_time_of(&c, stamp_of(1, 1.5e9));
	ck_assert_int_ge(at.hi - at.lo, 100);
	ck_assert_int_le(passed.hi - passed.lo, 5);
	times_close(&t);
	end_world();
}
END_TEST

/* ---- Moves between cores --------------------------------------------------------------------- */

/* A thread of the first clock, which visits a region again and again, and at random moments moves between two
 * cores that differ as much as the host's uncertainty allows. It is asked now and then how often it
 * has moved, on a core of its own. */
#define VISITS 200
#define ASKED  6
static struct mover {
	double moved[VISITS];   /* when */
	size_t nmoves;
	struct dprof_sched sched[ASKED];
} m;

static void make_mover(double every)
{
	m.nmoves = 0;
	for (double at = 1e9 + real(2 * every); m.nmoves < VISITS && at < 1e9 + RUN; at += real(2 * every))
		m.moved[m.nmoves++] = at;
}

static uint64_t moves_until(double time)
{
	uint64_t n = 0;
	while (n < m.nmoves && m.moved[n] <= time)
		n++;
	return n;
}

static uint64_t stamped(double time, bool on_other)
{
	uint64_t half = w.clocks[0].uncertainty;
	return stamp_of(0, time) + (on_other ? half : -half);
}

static uint64_t own_stamp(double time)
{
	return stamped(time, moves_until(time) % 2);
}

/* Asked at random times, the last time behind all visits, or else not (the process was killed). */
static void ask(bool killed)
{
	w.threads[0].nsched = ASKED - killed;
	w.threads[0].sched = m.sched;
	for (size_t i = 0; i < ASKED; i++) {
		double from = 1e9 + RUN / ASKED * ((double)i + real(0.8));
		from = i == ASKED - 1 ? 1e9 + RUN + 1e6 : from;
		double now = from + real(3000), to = now + real(3000);
		bool other = real(2) < 1;
		m.sched[i] = (struct dprof_sched){ .from = stamped(from, other),
						   .to = stamped(to, other),
						   .moves = moves_until(now),
						   .known = DPROF_SCHED_MOVES };
	}
}

static frz_time find(const struct times *t, uint64_t seed, double begin, double length, uint64_t *ticks)
{
	uint64_t from = own_stamp(begin), to = own_stamp(begin + length);
	frz_time found = { 0, 0 };
	*ticks = to - from; /* may be below zero: not recorded */
	if (to < from)
		return found;
	found = times_of_thread(t, 0, from, to);
	check_inside(seed, "of a thread", found, length);
	return found;
}

static void check_mover(uint64_t seed, double every, bool killed)
{
	struct times t;
	double sum = 0;
	struct stretches all = { 0, 0, UINT64_MAX, 0 };
	make_world(seed, PACKETS);
	w.clocks[0].uncertainty = 1 + (uint64_t)real(5000);
	times_open(&t, &w.trace, &(struct options){ .json = false });
	make_mover(every);
	ask(killed);
	for (int i = 0; i < VISITS; i++) {
		double begin = 1e9 + RUN / VISITS * (i + real(0.4)), length = 1 + real(RUN / VISITS / 2);
		uint64_t ticks, from = own_stamp(begin);
		find(&t, seed, begin, length, &ticks);
		if ((int64_t)ticks < 0)
			continue;
		all.ticks += ticks;
		all.pieces++;
		all.from = from < all.from ? from : all.from;
		all.to = from + ticks > all.to ? from + ticks : all.to;
		sum += length;
	}
	frz_time found = times_sum(&t, 0, all);
	uint64_t most = (killed ? all.pieces : m.nmoves) * 4 * w.clocks[0].uncertainty + 4 * VISITS;
	check_inside(seed, "sum of a thread", found, sum);
	ck_assert_msg((uint64_t)(found.hi - found.lo) <= most, "SEED=%" PRIu64 ": %" PRId64 " is wider than %" PRIu64,
		      seed, found.hi - found.lo, most);
	times_close(&t);
	end_world();
}

START_TEST(cores_matter_where_a_thread_may_have_moved)
{
	static const double every[] = { RUN / 50, RUN / 3, 100 * RUN };
	for (uint64_t i = 0; i < unit_times(WORLDS); i++)
		check_mover(unit_seed + i, every[i % 3], i % 5 == 0);
}
END_TEST

/* A million visits of 50 ticks, on cores that differ by 200: exact to the ticks, if it never moved. */
START_TEST(a_thread_that_never_moved_is_as_exact_as_its_counter)
{
	struct times t;
	struct dprof_sched at_its_end = { .from = 3000000000, .to = 3000000100, .known = DPROF_SCHED_MOVES, .last = 1 };
	struct stretches s = { 50000000, 1000000, 1000000000, 2000000000 };
	make_world(1, PACKETS);
	w.clocks[0].uncertainty = 200;
	times_open(&t, &w.trace, &(struct options){ .json = false });
	frz_time unknown = times_sum(&t, 0, s);
	w.threads[0].sched = &at_its_end;
	w.threads[0].nsched = 1;
	frz_time never = times_sum(&t, 0, s), one = times_of_thread(&t, 0, 1000000000, 1000000050);
	at_its_end.moves = 3;
	frz_time thrice = times_sum(&t, 0, s);
	ck_assert_int_eq(unknown.lo, 0);
	ck_assert_int_eq(never.lo, 49000000);
	ck_assert_int_eq(never.hi, 51000000);
	ck_assert_int_eq(thrice.hi, 51000000 + 3 * 400);
	ck_assert_int_eq(one.lo, 49);
	ck_assert_int_eq(one.hi, 51);
	times_close(&t);
	end_world();
}
END_TEST

/* ---- Clocks without a place ------------------------------------------------------------------ */

START_TEST(unlinked_clock_is_alone_and_said)
{
	struct times t;
	make_world(2, PACKETS);
	size_t kept = 0;
	for (size_t i = 0; i < w.trace.nlinks; i++)
		if (w.links[i].from != 2 && w.links[i].to != 2)
			w.links[kept++] = w.links[i];
	w.trace.nlinks = kept;
	ck_assert_int_eq(times_open(&t, &w.trace, &(struct options){ .json = false }), EXIT_FINE);
	ck_assert_uint_eq(t.ntime_bases, 2);
	ck_assert_uint_eq(t.time_base[2], 1);
	ck_assert_uint_eq(times_unit(&t, 1), 2);
	ck_assert_uint_eq(w.trace.ndiagnostics, 1);
	ck_assert_ptr_nonnull(strstr(w.trace.diagnostics[0], "h2"));
	frz_time passed = times_duration(&t, 2, 1000);
	ck_assert_int_eq(passed.lo, 999);
	ck_assert_int_eq(passed.hi, 1001);
	times_close(&t);
	end_world();
}
END_TEST

/* A packet that arrives `early` ticks before it was sent. */
static void check_contradiction(uint64_t early, enum frz_status status, uint32_t line)
{
	struct times t;
	make_world(3, PACKETS);
	w.links[w.trace.nlinks++] = (struct frz_link){ 0, 3, 1500000000,
						       stamp_of(3, 1500000000 - early) };
	ck_assert_int_eq(times_open(&t, &w.trace, &(struct options){ .json = false }), EXIT_FINE);
	ck_assert_int_eq(frz_clock(t.together, 3)->status, status);
	ck_assert_uint_eq(t.time_base[3], line);
	ck_assert_uint_eq(t.ntime_bases, 1 + line);
	ck_assert_uint_eq(w.trace.ndiagnostics, 1);
	ck_assert_ptr_nonnull(strstr(w.trace.diagnostics[0], "contradict"));
	ck_assert_ptr_nonnull(strstr(w.trace.diagnostics[0], "1500000000"));
	ck_assert_int_eq(!strstr(w.trace.diagnostics[0], "not proven"), line);
	times_close(&t);
	end_world();
}

START_TEST(contradicting_clock_is_alone_and_said)
{
	check_contradiction(100000000, FRZ_CONTRADICTION, 1);
}
END_TEST

START_TEST(clock_that_wanders_is_consistent_and_said)
{
	check_contradiction(100000, FRZ_CONSISTENT, 0);
}
END_TEST

/* Stamps of damaged traces: what the time of one is cannot be said, but how much later another one is. */
START_TEST(stamps_beyond_all_times_are_apart_as_they_are)
{
	struct times t;
	make_world(3, PACKETS);
	ck_assert_int_eq(times_open(&t, &w.trace, &(struct options){ 0 }), EXIT_FINE);
	for (uint32_t c = 0; c < CLOCKS; c++) {
		struct moment from = { c, UINT64_MAX - 70000 }, to = { c, UINT64_MAX - 10000 };
		frz_time apart = times_between(&t, from, to), passed = times_duration(&t, c, 60000);
		ck_assert_msg(apart.lo == passed.lo && apart.hi == passed.hi,
			      "clock %" PRIu32 ": [%" PRId64 ", %" PRId64 "] is not [%" PRId64 ", %" PRId64 "]",
			      c, apart.lo, apart.hi, passed.lo, passed.hi);
	}
	times_close(&t);
	end_world();
}
END_TEST

START_TEST(base_can_be_any_host)
{
	struct times t;
	make_world(4, PACKETS);
	ck_assert_int_eq(times_open(&t, &w.trace, &(struct options){ .base = "h3" }), EXIT_FINE);
	ck_assert_uint_eq(t.base, 3);
	frz_time own = times_duration(&t, 3, 1000);
	ck_assert_int_eq(own.lo, 999);
	ck_assert_int_eq(own.hi, 1001);
	times_close(&t);
	ck_assert_int_eq(times_open(&t, &w.trace, &(struct options){ .base = "nowhere" }),
			 EXIT_USAGE);
	end_world();
}
END_TEST

int main(void)
{
	TCase *tc = unit_begin(900, 1);

	tcase_add_test(tc, truth_is_inside);
	tcase_add_test(tc, cores_matter_where_a_thread_may_have_moved);
	tcase_add_test(tc, a_thread_that_never_moved_is_as_exact_as_its_counter);
	tcase_add_test(tc, duration_is_not_the_difference_of_two_bounds);
	tcase_add_test(tc, unlinked_clock_is_alone_and_said);
	tcase_add_test(tc, contradicting_clock_is_alone_and_said);
	tcase_add_test(tc, clock_that_wanders_is_consistent_and_said);
	tcase_add_test(tc, stamps_beyond_all_times_are_apart_as_they_are);
	tcase_add_test(tc, base_can_be_any_host);
	return unit_end();
}
