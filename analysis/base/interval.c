/* SPDX-License-Identifier: MIT
 *
 * interval.c - outward rounding is MPFR's: towards minus infinity for lo, plus infinity for hi. */
#include "analysis/base/interval.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <mpfr.h>

#define EXACT_BITS 192 /* holds an int64_t times 100, and a double times 10^9 */
#define UNBOUNDED (INT64_MAX / 2) /* ticks: from here on a sum or difference of what is known and what has no bound */

/* numerator / denominator, rounded once. */
static double quotient(mpfr_t numerator, mpfr_t denominator, mpfr_rnd_t direction)
{
	mpfr_t q;
	mpfr_init2(q, 53);
	mpfr_div(q, numerator, denominator, direction);
	double result = mpfr_get_d(q, direction);
	mpfr_clear(q);
	return result;
}

struct interval interval_seconds(frz_time ticks, double ghz)
{
	mpfr_t lo, hi, per_second;
	mpfr_inits2(EXACT_BITS, lo, hi, per_second, (mpfr_ptr)NULL);
	mpfr_set_d(per_second, ghz, MPFR_RNDN);
	mpfr_mul_ui(per_second, per_second, 1000000000, MPFR_RNDN);
	mpfr_set_sj(lo, ticks.lo, MPFR_RNDN);
	mpfr_set_sj(hi, ticks.hi, MPFR_RNDN);
	struct interval seconds = { quotient(lo, per_second, MPFR_RNDD),
				    quotient(hi, per_second, MPFR_RNDU) };
	if (ticks.hi >= UNBOUNDED)
		seconds.hi = INFINITY;
	mpfr_clears(lo, hi, per_second, (mpfr_ptr)NULL);
	return seconds;
}

static double percent(int64_t part, int64_t whole, mpfr_rnd_t direction)
{
	mpfr_t p, w;
	mpfr_inits2(EXACT_BITS, p, w, (mpfr_ptr)NULL);
	mpfr_set_sj(p, part, MPFR_RNDN);
	mpfr_mul_ui(p, p, 100, MPFR_RNDN);
	mpfr_set_sj(w, whole, MPFR_RNDN);
	double result = quotient(p, w, direction);
	mpfr_clears(p, w, (mpfr_ptr)NULL);
	return result;
}

struct interval interval_percent(frz_time part, frz_time whole)
{
	struct interval p = { 0, 100 };
	if (part.lo > 0 && whole.hi > 0 && whole.hi < INT64_MAX)
		p.lo = fmin(100, percent(part.lo, whole.hi, MPFR_RNDD));
	if (part.hi <= 0)
		p.hi = 0;
	else if (whole.lo > 0)
		p.hi = fmin(100, percent(part.hi, whole.lo, MPFR_RNDU));
	return p;
}

struct interval interval_add(struct interval x, struct interval y)
{
	return (struct interval){ nextafter(x.lo + y.lo, -INFINITY),
				  nextafter(x.hi + y.hi, INFINITY) };
}

struct interval interval_times(struct interval x, double factor)
{
	return (struct interval){ nextafter(x.lo * factor, -INFINITY),
				  nextafter(x.hi * factor, INFINITY) };
}

/* ---- As text --------------------------------------------------------------------------------- */

#define MOST_DIGITS 1e5 /* of the digits before the last */
#define LARGE 1e15 /* from here on with an exponent; only where nothing is known */

struct decimal { char text[30]; };

static struct decimal decimal(double value, int decimals, mpfr_rnd_t direction)
{
	struct decimal d;
	mpfr_t x;
	mpfr_init2(x, 53);
	mpfr_set_d(x, value, MPFR_RNDN);
	if (fabs(value) < LARGE)
		mpfr_snprintf(d.text, sizeof d.text, "%.*R*f", decimals, direction, x);
	else
		mpfr_snprintf(d.text, sizeof d.text, "%.3R*e", direction, x);
	mpfr_clear(x);
	return d;
}

struct interval_text interval_range(struct interval x, int decimals)
{
	struct decimal lo = decimal(x.lo, decimals, MPFR_RNDD);
	struct decimal hi = decimal(x.hi, decimals, MPFR_RNDU);
	struct interval_text t;
	if (isinf(x.hi) && isfinite(x.lo))
		snprintf(t.text, sizeof t.text, "at least %s", lo.text);
	else if (strcmp(lo.text, hi.text) == 0)
		snprintf(t.text, sizeof t.text, "%s", lo.text);
	else
		snprintf(t.text, sizeof t.text, "%s .. %s", lo.text, hi.text);
	return t;
}

struct interval_text interval_upper(double x, int decimals)
{
	struct interval_text t;
	snprintf(t.text, sizeof t.text, "%s", decimal(x, decimals, MPFR_RNDU).text);
	return t;
}

struct interval_text interval_lower(double x, int decimals)
{
	struct interval_text t;
	snprintf(t.text, sizeof t.text, "%s", decimal(x, decimals, MPFR_RNDD).text);
	return t;
}

/* As many decimals as show two digits of the width, and no more than six digits of the value. */
static int useful_decimals(struct interval x, int most)
{
	double width = x.hi - x.lo, largest = fmax(fabs(x.lo), fabs(x.hi));
	int decimals = 0;
	for (double unit = 1; decimals < most && width < 10 * unit && largest < unit * MOST_DIGITS; unit /= 10)
		decimals++;
	return decimals;
}

/* "x ±y" around the decimal number that is nearest to the middle; false where y is not small. */
static bool around_middle(struct interval x, int decimals, struct interval_text *t)
{
	mpfr_t below, above, middle;
	struct decimal m = decimal(x.lo / 2 + x.hi / 2, decimals, MPFR_RNDN);
	mpfr_inits2(EXACT_BITS, below, above, middle, (mpfr_ptr)NULL);
	mpfr_set_str(middle, m.text, 10, MPFR_RNDU);
	mpfr_sub_d(below, middle, x.lo, MPFR_RNDU);
	mpfr_set_str(middle, m.text, 10, MPFR_RNDD);
	mpfr_d_sub(above, x.hi, middle, MPFR_RNDU);
	mpfr_max(below, below, above, MPFR_RNDU);
	mpfr_snprintf(t->text, sizeof t->text, "%s ±%.*R*f", m.text, decimals, MPFR_RNDU, below);
	mpfr_mul_ui(below, below, 4, MPFR_RNDU);
	bool small = mpfr_cmpabs(below, middle) < 0;
	mpfr_clears(below, above, middle, (mpfr_ptr)NULL);
	return small;
}

struct interval_text interval_shown(struct interval x, int most)
{
	int decimals = useful_decimals(isinf(x.hi) ? (struct interval){ x.lo, x.lo } : x, most);
	struct interval_text t;
	if (x.lo == 0 && x.hi == 0)
		return (struct interval_text){ "0" };
	if (x.lo == x.hi || !(-LARGE < x.lo && x.hi < LARGE) || !around_middle(x, decimals, &t))
		t = interval_range(x, decimals);
	return t;
}
