/* SPDX-License-Identifier: MIT
 *
 * factors.c - see factors.h. */
#include "analysis/efficiency/factors.h"

#include <math.h>

#include "analysis/clocks/times.h"

static int64_t times_of(int64_t x, int64_t weight)
{
	int64_t product;
	return __builtin_mul_overflow(x, weight, &product) ? INT64_MAX : product;
}

static frz_time weighted(frz_time x, int64_t weight)
{
	return (frz_time){ times_of(x.lo, weight), times_of(x.hi, weight) };
}

static int64_t weights(const struct factor_part *parts, size_t n)
{
	int64_t sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += parts[i].weight;
	return sum;
}

frz_time factors_sum(const struct factor_part *parts, size_t n)
{
	frz_time sum = { 0, 0 };
	for (size_t i = 0; i < n; i++)
		sum = time_add(sum, weighted(parts[i].useful, parts[i].weight));
	return sum;
}

frz_time factors_longest(const struct factor_part *parts, size_t n)
{
	frz_time most = { 0, 0 };
	for (size_t i = 0; i < n; i++) {
		most.lo = parts[i].useful.lo > most.lo ? parts[i].useful.lo : most.lo;
		most.hi = parts[i].useful.hi > most.hi ? parts[i].useful.hi : most.hi;
	}
	return most;
}

struct interval factors_ratio(frz_time part, frz_time whole)
{
	struct interval r = { 0, INFINITY };
	double lo = 100.0 * (double)part.lo, hi = 100.0 * (double)part.hi; /* each within a few units in the last place */
	if (part.lo > 0 && whole.hi > 0 && whole.hi < INT64_MAX)
		r.lo = lo / (double)whole.hi * (1 - 4 * 0x1p-52);
	if (part.hi <= 0)
		r.hi = 0;
	else if (whole.lo > 0 && part.hi < INT64_MAX)
		r.hi = hi / (double)whole.lo * (1 + 4 * 0x1p-52);
	return r;
}

static struct interval load_balance(const struct factor_part *parts, size_t n, frz_time longest)
{
	frz_time sum = factors_sum(parts, n);
	int64_t count = weights(parts, n), most = 0;
	struct interval r = { 100, 100 };
	if (longest.hi <= 0)
		return (struct interval){ 0, 100 }; /* nobody has done anything useful */
	for (size_t i = 0; i < n; i++) {
		frz_time u = parts[i].useful;
		int64_t low = ticks_plus(ticks_minus(sum.lo, times_of(u.lo, parts[i].weight)), times_of(u.hi, parts[i].weight));
		frz_time as_longest = { low, low }, all = { times_of(u.hi, count), times_of(u.hi, count) };
		if (u.hi >= longest.lo && u.hi > 0)
			r.lo = fmin(r.lo, interval_percent(as_longest, all).lo);
		most = ticks_plus(most, times_of(u.hi < longest.lo ? u.hi : longest.lo, parts[i].weight));
	}
	if (longest.lo > 0)
		r.hi = interval_percent((frz_time){ most, most }, weighted((frz_time){ longest.lo, longest.lo }, count)).hi;
	return r;
}

struct factors factors_of(const struct factor_part *parts, size_t n, frz_time time, frz_time ideal)
{
	frz_time longest = factors_longest(parts, n);
	return (struct factors){ {
		[FACTOR_PARALLEL] = interval_percent(factors_sum(parts, n), weighted(time, weights(parts, n))),
		[FACTOR_LOAD_BALANCE] = load_balance(parts, n, longest),
		[FACTOR_COMMUNICATION] = interval_percent(longest, time),
		[FACTOR_SERIALISATION] = interval_percent(longest, ideal),
		[FACTOR_TRANSFER] = interval_percent(ideal, time),
	} };
}
