/* SPDX-License-Identifier: MIT
 *
 * baseline.h - how others convert stamps, for comparison only: nothing that dprof reports of a
 * program rests on it.
 *
 * A method is fitted to what is known of one clock and the base, and then gives each stamp of that
 * clock an estimate in base ticks and, where the method claims to know any, bounds. A point of the
 * fit is where the counters stood: see points.h.
 *
 * Law: every method sees the same evidence; times are doubles relative to an origin among the
 * links, so that what distinguishes the methods is never lost in the size of a stamp. They are
 * rounded as in the originals: to nearest, but FreeZer's bounds outward to whole ticks. */
#ifndef BENCH_BASELINE_H
#define BENCH_BASELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "freezer/link.h"

/* The clock showed `stamp` and the base `time` at one moment, or what passes for one. */
struct baseline_moment { uint64_t stamp, time; };

struct baseline_evidence {
	uint32_t clock, base;
	const struct frz_link *links; /* those that are not between the two are passed over */
	size_t nlinks;                /* in the order of measuring, so that exchanges are found */
	const struct baseline_moment *barriers; /* the first one and the last, or NULL */
};

/* In base ticks since the origin. Without bounds lo is -INFINITY and hi INFINITY. */
struct baseline_time { double estimate, lo, hi; };

struct baseline_line { double at, slope; }; /* at the origin; base ticks for a tick */

struct baseline; /* a method that is fitted to a clock */

struct baseline_method {
	const char *name, *source;
	bool bounds; /* claims to know them */
	/* 0; -ENODATA: too little evidence; -EDOM: it contradicts itself; -ENOMEM. On error b owns
	 * nothing. */
	int (*fit)(struct baseline *b, const struct baseline_evidence *);
	void (*convert)(const struct baseline *b, const uint64_t *stamps,
			struct baseline_time *times, size_t n);
	void (*release)(struct baseline *b); /* NULL: owns nothing */
};

extern const struct baseline_method baseline_regression, baseline_convex_hull, baseline_lp,
	baseline_freezer, baseline_middles, baseline_barriers;

/* All of them; ends with NULL. */
extern const struct baseline_method *const baseline_methods[];

struct glp_prob;

struct baseline {
	const struct baseline_method *method;
	struct baseline_moment origin;
	double rate; /* estimated, in base ticks for each tick of the clock */
	union {
		struct baseline_line line;
		struct baseline_formula { /* FreeZer's: what a bound starts from, and its rate */
			struct baseline_moment zero_lo, zero_hi;
			struct baseline_ratio { int64_t time, stamps; } rate_lo, rate_hi;
		} formula;
		struct baseline_program {
			struct glp_prob *problem;
			double slope; /* of the run, taken away from its times */
		} program;
	};
};

static inline int baseline_fit(struct baseline *b, const struct baseline_method *method,
			       const struct baseline_evidence *evidence)
{
	*b = (struct baseline){ .method = method };
	return method->fit(b, evidence);
}

static inline void baseline_convert(const struct baseline *b, const uint64_t *stamps,
				    struct baseline_time *times, size_t n)
{
	b->method->convert(b, stamps, times, n);
}

static inline void baseline_release(struct baseline *b)
{
	if (b->method->release)
		b->method->release(b);
}

static inline double baseline_ticks(const struct baseline *b, uint64_t stamp)
{
	return (double)(int64_t)(stamp - b->origin.stamp);
}

static inline double baseline_ratio(struct baseline_ratio r)
{
	return (double)r.time / (double)r.stamps;
}

/* What the methods that fit a line do with a stamp: the line in the middle of the stamp's tick. */
static inline double baseline_on_line(const struct baseline *b, uint64_t stamp)
{
	return b->line.at + b->line.slope * (baseline_ticks(b, stamp) + 0.5);
}

#endif
