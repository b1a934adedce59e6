/* SPDX-License-Identifier: MIT
 *
 * factors.h - POP's tree of efficiencies, of quantities that are known as intervals.
 *
 *	parallel efficiency  = sum of useful / (threads * time)  = load balance * communication efficiency
 *	  load balance       = mean of useful / longest useful
 *	  communication      = longest useful / time             = serialisation * transfer
 *	    serialisation    = longest useful / time on an ideal network
 *	    transfer         = time on an ideal network / time
 *
 * Law: for every choice of the useful times within their intervals, of the time and of the ideal time within theirs, with no useful
 * time longer than the ideal one and that no longer than the time, each factor lies in the interval given for it; and the
 * load balance's is the narrowest such.
 *
 * Proof, of the load balance: with u_k the longest, it is the sum of w_i u_i / u_k, over the sum of the weights w. That
 * falls with u_k and grows with all others: so it is least where one u_k that may be the longest is as long as it may
 * be, and all others are as short. Of all choices with a given longest m that one is greatest that has each u_i at the
 * lesser of m and its upper bound; and min(hi_i, m) / m falls with m, which is at least the greatest of the lower
 * bounds. */
#ifndef ANALYSIS_FACTORS_H
#define ANALYSIS_FACTORS_H

#include <stddef.h>

#include "analysis/base/interval.h"

struct factor_part { frz_time useful; int64_t weight; }; /* so many threads that have as much useful time each */

enum factor { FACTOR_PARALLEL, FACTOR_LOAD_BALANCE, FACTOR_COMMUNICATION, FACTOR_SERIALISATION, FACTOR_TRANSFER, FACTORS };
struct factors { struct interval of[FACTORS]; }; /* in percent */

struct factors factors_of(const struct factor_part *, size_t count, frz_time time, frz_time ideal);

/* 100 * part / whole, for a part that may be more than the whole. */
struct interval factors_ratio(frz_time part, frz_time whole);

/* The longest of all: no part is longer, and one is as long. */
frz_time factors_longest(const struct factor_part *, size_t count);

/* Of all threads together. */
frz_time factors_sum(const struct factor_part *, size_t count);

#endif
