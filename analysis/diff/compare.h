/* SPDX-License-Identifier: MIT
 *
 * compare.h - whether one quantity is larger in some runs than in others, and by what factor.
 *
 * Each side is one run or several, and of each run the quantity is known as an interval.
 *
 * One run a side: what is said is of these two runs. Law: the quotient of the true values, B's by A's, lies in the interval.
 *
 * Several runs: what is said is of what the runs are samples of, and may be false by chance, with a probability of
 * `alpha` at most. Law: if all runs are independent, those of a side alike, and B's quantity is distributed as A's
 * times one factor, whatever that distribution is, then the factor lies in the interval with a probability of 1 - alpha
 * at least. So where both sides are alike, the interval leaves out 1 with a probability of alpha at most, and that
 * needs no more than that they are alike.
 *
 * Proof. Of all n * m quotients b / a let D(k) be the k-th smallest. For the true factor f, the number of quotients
 * below f is the Mann-Whitney statistic U of A's values and of B's divided by f, which are samples of one distribution:
 * so D(k) > f, which is U < k, has the probability P(U < k), and so has, from the other side, D(nm + 1 - k) < f. The
 * interval is [D(k), D(nm + 1 - k)] with the greatest k for which P(U < k) <= alpha / 2; without any it is [0,
 * infinity]. (Ties only make these events rarer. H. B. Mann, D. R. Whitney 1947; the interval is that of J. L. Hodges,
 * E. L. Lehmann 1963 and P. K. Sen, on a logarithmic scale.) Where values are known as intervals, the k-th smallest of
 * the quotients' lower ends is at most D(k), and the k-th largest of their upper ends at least D(nm + 1 - k). */
#ifndef ANALYSIS_DIFF_COMPARE_H
#define ANALYSIS_DIFF_COMPARE_H

#include <stddef.h>

#include "analysis/base/interval.h"

#define COMPARE_RUNS 200 /* a side, at most */

struct compare_side { const struct interval *v; size_t n; }; /* n from 1 to COMPARE_RUNS; values >= 0; hi may be INFINITY */

/* hi is INFINITY where nothing bounds it. */
struct interval compare_factor(struct compare_side a, struct compare_side b, double alpha);

/* The greatest k for which P(U < k) <= p, of n and m values of one distribution. 0: none. */
size_t compare_rank(size_t n, size_t m, double p);

/* The fewest runs a side that can leave 1 out. */
size_t compare_fewest(double alpha);

/* How many runs a side find a change by `change` (0.02) with a probability of 0.9, if others will vary as these do: an
 * estimate (G. E. Noether: Sample size determination for some common nonparametric tests, 1987, with how often a
 * changed run would be above an unchanged one taken from the pairs of runs of a side, the side where that is less). 0:
 * more than COMPARE_RUNS, or fewer than 4 runs a side, by which nothing is known. */
size_t compare_runs_needed(struct compare_side a, struct compare_side b, double alpha, double change);

#endif
