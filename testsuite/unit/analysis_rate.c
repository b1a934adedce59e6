/* SPDX-License-Identifier: MIT
 *
 * analysis_rate.c - why durations go by the rate: on a run of 10 s the difference of two intervals
 * of times is at least 100 times as wide as what the clock's rate gives.
 *
 * Two hosts whose clocks are compared over a network as fast as a loopback; one visits a region for
 * a millisecond, a thousand times over the run. */
#include "analysis/coz/coz.h"
#include "testsuite/unit/unit.h"

#define GHZ    2.5
#define TICKS(ms) ((uint64_t)((ms) * GHZ * 1e6))
#define RUN_MS 10000
#define VISITS 1000
#define BEGIN  TICKS(1000)

static struct trace trace;
static struct times times;

/* The second clock is 30 ppm faster; its zero was elsewhere. */
static uint64_t other(uint64_t truth)
{
	return truth + truth / 100000 * 3 + 123456789;
}

static uint64_t shown(uint32_t clock, uint64_t truth)
{
	return clock ? other(truth) : truth;
}

/* Each way 6 us, and every 250 ms a burst of 20, of which some are slower. */
static void make_links(void)
{
	size_t n = 0;

	trace.links = calloc(2 * 20 * (RUN_MS / 250 + 1), sizeof *trace.links);
	for (uint64_t ms = 0; ms <= RUN_MS; ms += 250)
		for (uint64_t i = 0; i < 20; i++) {
			uint64_t sent = BEGIN + TICKS(ms) + i * TICKS(0.1);
			uint64_t received = sent + TICKS(0.006) + i % 7 * TICKS(0.001);

			for (uint32_t from = 0; from < 2; from++)
				trace.links[n++] = (struct frz_link){ from, !from, shown(from, sent),
								      shown(!from, received) };
		}
	trace.nlinks = n;
}

static void setup(void)
{
	static struct tr_clock clocks[2] = { { .host = "h0", .ghz = GHZ }, { .host = "h1", .ghz = GHZ } };

	static struct tr_thread threads[2] = { { .clock = 0 }, { .clock = 1 } };

	trace = (struct trace){ .clocks = clocks, .nclocks = 2, .threads = threads, .nthreads = 2 };
	make_links();
}

static void solve(struct frz_assumption assumption)
{
	ck_assert_int_eq(times_open(&times, &trace, &(struct options){ .assumption = assumption }), EXIT_FINE);
	ck_assert_uint_eq(times.time_base[1], 0);
}

static void teardown(void)
{
	times_close(&times);
	free(trace.links);
}

/* The sum of all visits to the region, in ticks of width. */
static void compare(struct frz_assumption assumption)
{
	frz_time naive = { 0, 0 };
	uint64_t ticks = 0;

	solve(assumption);
	struct frz_cursor clock = times_cursor(&times, 1);

	for (uint64_t i = 0; i < VISITS; i++) {
		uint64_t begin = BEGIN + TICKS(RUN_MS) / VISITS * i, end = begin + TICKS(1);
		frz_time enter = frz_time_of(&clock, other(begin)), exit = frz_time_of(&clock, other(end));
		frz_time by_rate = times_duration(&times, 1, other(end) - other(begin));
		int64_t width = exit.hi - enter.lo - (exit.lo - enter.hi);

		ck_assert(by_rate.lo <= (int64_t)TICKS(1) && (int64_t)TICKS(1) <= by_rate.hi);
		ck_assert_int_ge(width, 100 * (by_rate.hi - by_rate.lo));
		naive = time_add(naive, (frz_time){ exit.lo - enter.hi, exit.hi - enter.lo });
		ticks += other(end) - other(begin);
	}
	frz_time sum = times_sum(&times, 1, (struct stretches){ ticks, VISITS, 0, UINT64_MAX });

	ck_assert(sum.lo <= (int64_t)TICKS(VISITS) && (int64_t)TICKS(VISITS) <= sum.hi);
	ck_assert_int_ge(naive.hi - naive.lo, 100 * (sum.hi - sum.lo));
}

START_TEST(by_the_rate_a_hundred_times_as_exact_when_clocks_keep_their_rate)
{
	compare((struct frz_assumption){ .model = FRZ_AFFINE });
}
END_TEST

START_TEST(by_the_rate_a_hundred_times_as_exact_when_clocks_drift)
{
	compare((struct frz_assumption){ .model = FRZ_DRIFT, .ppb = 10000 });
}
END_TEST

int main(void)
{
	TCase *c = unit_begin(900, 0);

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, by_the_rate_a_hundred_times_as_exact_when_clocks_keep_their_rate);
	tcase_add_test(c, by_the_rate_a_hundred_times_as_exact_when_clocks_drift);
	return unit_end();
}
