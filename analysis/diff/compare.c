/* SPDX-License-Identifier: MIT
 *
 * compare.c - see compare.h. */
#include "analysis/diff/compare.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/base/memory.h"
#include "analysis/base/order.h"

/* ---- The distribution of U ------------------------------------------------------------------- */

/* How many of the orders of n and m values have each U up to n * m / 2, as parts of all: the coefficients of the Gaussian binomial,
 * the product of (1 - x^(n + i)) / (1 - x^i) for i = 1 .. m, divided as it goes by (n + i) / i. */
static double *orders(size_t n, size_t m, size_t last)
{
	double *part = mem_zeroed(last + 1, sizeof *part);
	part[0] = 1;
	for (size_t i = 1; i <= m; i++) {
		for (size_t u = last; u >= n + i && u <= last; u--)
			part[u] -= part[u - (n + i)];
		for (size_t u = i; u <= last; u++)
			part[u] += part[u - i];
		for (size_t u = 0; u <= last; u++)
			part[u] *= (double)i / (double)(n + i);
	}
	return part;
}

size_t compare_rank(size_t n, size_t m, double p)
{
	size_t last = n * m / 2, k = 0;
	double *part = orders(n, m, last), below = 0;
	while (k <= last && below + part[k] <= p)
		below += part[k++];
	free(part);
	return k;
}

size_t compare_fewest(double alpha)
{
	size_t n = 1;
	while (n < COMPARE_RUNS && compare_rank(n, n, alpha / 2) == 0)
		n++;
	return n;
}

/* ---- Quotients ------------------------------------------------------------------------------- */

/* b / a, rounded outward. Of nothing to nothing it may be any. */
static struct interval quotient(struct interval a, struct interval b)
{
	return (struct interval){ b.lo > 0 && isfinite(a.hi) ? nextafter(b.lo / a.hi, 0) : 0,
				  a.lo > 0 && isfinite(b.hi) ? nextafter(b.hi / a.lo, INFINITY) : INFINITY };
}

struct interval compare_factor(struct compare_side a, struct compare_side b, double alpha)
{
	size_t n = a.n * b.n, k = n == 1 ? 1 : compare_rank(a.n, b.n, alpha / 2);
	if (k == 0)
		return (struct interval){ 0, INFINITY };
	double *lo = mem_resize(NULL, n, sizeof *lo), *hi = mem_resize(NULL, n, sizeof *hi);
	for (size_t i = 0; i < n; i++) {
		struct interval q = quotient(a.v[i / b.n], b.v[i % b.n]);
		lo[i] = q.lo;
		hi[i] = q.hi;
	}
	qsort(lo, n, sizeof *lo, order_doubles);
	qsort(hi, n, sizeof *hi, order_doubles);
	struct interval factor = { lo[k - 1], hi[n - k] };
	free(lo);
	free(hi);
	return factor;
}

/* ---- How many runs it takes ------------------------------------------------------------------ */

#define FEWEST         4
#define POWER_QUANTILE 1.2816 /* of the normal distribution, 0.9 */

/* How often a run of a side, if it took longer by `change`, would take longer than another one of that side. */
static double longer_by(struct compare_side side, double change)
{
	size_t longer = 0, pairs = side.n * (side.n - 1);
	for (size_t i = 0; i < side.n; i++)
		for (size_t k = 0; k < side.n; k++)
			longer += i != k && (side.v[i].lo + side.v[i].hi) * (1 + change) > side.v[k].lo + side.v[k].hi;
	return (double)longer / (double)pairs;
}

/* The number that the normal distribution exceeds with probability p, by bisection. */
static double upper_quantile(double p)
{
	double lo = 0, hi = 40;
	for (int i = 0; i < 60; i++) {
		double middle = (lo + hi) / 2;
		*(erfc(middle / sqrt(2)) / 2 > p ? &lo : &hi) = middle;
	}
	return hi;
}

size_t compare_runs_needed(struct compare_side a, struct compare_side b, double alpha, double change)
{
	if (a.n < FEWEST || b.n < FEWEST)
		return 0;
	double p = fmin(longer_by(a, change), longer_by(b, change));
	double z = (upper_quantile(alpha / 2) + POWER_QUANTILE) / (p - 0.5);
	double runs = p > 0.5 ? ceil(z * z / 6) : INFINITY;
	double fewest = (double)compare_fewest(alpha);
	return runs > COMPARE_RUNS ? 0 : (size_t)fmax(runs, fewest);
}
