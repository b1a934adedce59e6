/* SPDX-License-Identifier: MIT
 *
 * lp.h - the linear program behind the accuracy-reporting hull; see lp.c. */
#ifndef BENCH_BASELINE_LP_H
#define BENCH_BASELINE_LP_H

#include "bench/baseline/baseline.h"
#include "freezer/hull.h"

/* One row for each point. 0, -ENODATA (open), -EDOM (empty) or -ENOMEM. */
int lp_open(struct baseline_program *, const struct point *under, size_t nunder,
	    const struct point *over, size_t nover);
void lp_close(struct baseline_program *);

enum lp_end { LP_LEAST, LP_GREATEST };

/* The least or greatest height at x of the lines that the rows allow: `exactly`, in rationals, or
 * in doubles where they get to an end. NAN if GLPK gives up. Later calls start from the corner
 * where this one ended. */
double lp_height(const struct baseline_program *, double x, enum lp_end, bool exactly);

#endif
