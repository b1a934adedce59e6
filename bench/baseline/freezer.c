/* SPDX-License-Identifier: MIT
 *
 * freezer.c - FreeZer's formula: Z. Benavides, K. Vora, R. Gupta, "DProf: distributed profiler with
 * strong guarantees", OOPSLA 2019, with the base as their clock i and the other one as their clock j.
 *
 *  - Rate (section 3.1, algorithm 3). A packet each way when measuring begins and when it ends. The
 *    upper bound divides the base's time from sending the first packet to receiving the last by the
 *    clock's time from receiving that to sending this one, which lies within; the lower bound divides
 *    the base's time from receiving to sending by the clock's around it.
 *  - Zero (section 3.2, algorithm 4). One stamp of one side between two stamps of the other: a
 *    question and its answer. It need not be measured together with the rate, nor more than once.
 *  - Conversion (section 4.3, which is equation 2 with bounds). Less the zero on the clock, times the
 *    rate, plus the zero on the base; lower bounds go with the lower rate, upper with the upper. In
 *    integers of any size (section 3.5): here 128 bits hold all products, and bounds are rounded
 *    outward to whole ticks of the base.
 *
 * The text has the two stamps of the zero on the clock that is converted (section 3.2), yet adds them,
 * and takes the other clock's stamp away (section 4.3). By equation 2 what is taken away must be of the
 * stamp's own clock. So here what is added is of the base, what is taken away is of the clock, and each
 * bound has the packet that proves it.
 *
 * Where the text is silent, the formula gets the best. No minimum over exchanges is named: it has the
 * fastest of the run's first tenth for zero and rate, and the fastest of its last tenth. Who answers
 * has one stamp there, and two here, so that the time in between widens no bound. But the authors
 * measured rates apart from the run, for up to a day; here no method sees more than the run.
 *
 * What is true of the bounds (testsuite/unit/bench_baseline.c):
 *  - They hold from the zero's exchange on, if the clock's rate is constant and no packet travels for
 *    less than a tick of the one clock plus a tick of the other.
 *  - Before the zero they need not hold, and may even cross: there the product is negative, so the
 *    lower rate makes it larger. So the zero must be measured before the run, as the authors did.
 *  - They are not optimal. Zero and rate are bounded apart, though one end of the zero does not go
 *    with every rate: the width is the first round trip at the zero, and at the end of the run twice
 *    the first plus the last. */
#include <errno.h>

#include "bench/baseline/points.h"

/* How much time passed, and meanwhile how many stamps. */
static struct baseline_ratio ratio(uint64_t time, uint64_t until, uint64_t stamp, uint64_t stamp_until)
{
	return (struct baseline_ratio){ (int64_t)(until - time), (int64_t)(stamp_until - stamp) };
}

static bool exceeds(struct baseline_ratio a, struct baseline_ratio b)
{
	return (wide)a.time * b.stamps > (wide)b.time * a.stamps;
}

static int fit(struct baseline *b, const struct baseline_evidence *evidence)
{
	struct baseline_exchange ends[2];
	int error = baseline_ends(ends, &b->origin, evidence);

	if (error)
		return error;
	const struct frz_link *there = ends[0].there, *back = ends[0].back;
	const struct frz_link *last_there = ends[1].there, *last_back = ends[1].back;
	struct baseline_formula f = {
		.zero_lo = { there->received, there->sent },
		.zero_hi = { back->sent, back->received },
		.rate_lo = ratio(back->received, last_there->sent, back->sent, last_there->received),
		.rate_hi = ratio(there->sent, last_back->received, there->received, last_back->sent),
	};

	if (f.rate_lo.stamps <= 0 || f.rate_hi.stamps <= 0)
		return -ENODATA;
	b->formula = f;
	b->rate = (baseline_ratio(f.rate_lo) + baseline_ratio(f.rate_hi)) / 2;
	return exceeds(f.rate_lo, f.rate_hi) ? -EDOM : 0;
}

static wide ticks_to(uint64_t stamp, uint64_t from)
{
	return (int64_t)(stamp - from);
}

/* Rounded down. */
static wide times_rate(wide stamps, struct baseline_ratio r)
{
	wide product = stamps * r.time;

	return product / r.stamps - (product % r.stamps < 0);
}

static void convert(const struct baseline *b, const uint64_t *stamps, struct baseline_time *times,
		    size_t n)
{
	struct baseline_moment zero_lo = b->formula.zero_lo, zero_hi = b->formula.zero_hi;
	wide lo_at = ticks_to(zero_lo.time, b->origin.time);
	wide hi_at = ticks_to(zero_hi.time, b->origin.time);

	for (size_t i = 0; i < n; i++) {
		wide lo = lo_at + times_rate(ticks_to(stamps[i], zero_lo.stamp), b->formula.rate_lo);
		wide hi = hi_at - times_rate(-ticks_to(stamps[i], zero_hi.stamp), b->formula.rate_hi);

		times[i] = (struct baseline_time){ (double)(lo + hi) / 2, (double)lo, (double)hi };
	}
}

const struct baseline_method baseline_freezer = {
	.name = "freezer",
	.source = "FreeZer's formula (Benavides and others, 2019)",
	.bounds = true,
	.fit = fit,
	.convert = convert,
};
