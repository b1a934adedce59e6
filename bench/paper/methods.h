/* SPDX-License-Identifier: MIT
 *
 * methods.h - all methods behind one face: those of others (bench/baseline) and dprof's.
 *
 * Law: times are base ticks relative to an origin that the caller gives, in doubles; for dprof's
 * methods they are whole numbers and exact while within 2^53 ticks of it. */
#ifndef PAPER_METHODS_H
#define PAPER_METHODS_H

#include "bench/baseline/baseline.h"
#include "freezer/solve.h"

struct method {
	const char *name;                         /* one word, for tables and plots */
	const struct baseline_method *baseline;   /* NULL: dprof's */
	struct frz_assumption assumption;         /* of dprof's */
	bool bounds;                              /* claims to know them */
};

/* All of them, dprof's first; ends with a method without name. */
extern const struct method methods[];

/* By that name; ends the program if there is none. */
const struct method *method_named(const char *name);

struct fitted {
	const struct method *method;
	uint64_t origin;               /* of times, on the base */
	struct baseline baseline;
	struct frz_solution *solution; /* dprof's */
	struct frz_cursor cursor;
};

/* 0; -ENODATA: too little evidence; -EDOM: it contradicts the method's assumption; -ENOMEM. On error
 * f owns nothing. */
int method_fit(struct fitted *f, const struct method *, const struct baseline_evidence *,
	       uint64_t origin);
void method_release(struct fitted *f);

/* The middle of the bounds is the estimate of those that claim bounds. */
void method_convert(struct fitted *f, const uint64_t *stamps, struct baseline_time *times, size_t n);
struct baseline_time method_time(struct fitted *f, uint64_t stamp);

/* Base ticks for each tick of the clock; without bounds lo is -INFINITY and hi INFINITY. */
struct baseline_time method_rate(const struct fitted *f);

/* How far outside its bounds the rounding of its arithmetic may take a method: dprof and FreeZer not at
 * all. */
double method_rounding_ticks(const struct method *);

/* What an error of a fit is called in a table. */
const char *method_why(int error);

#endif
