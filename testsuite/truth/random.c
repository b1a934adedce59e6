/* SPDX-License-Identifier: MIT
 *
 * random.c - see random.h. */
#include "testsuite/truth/random.h"

#include <math.h>

double roll_size(struct dice *d, double lo, double hi)
{
	return lo * exp(roll_unit(d) * log(hi / lo));
}

double roll_exponential(struct dice *d, double mean)
{
	return -mean * log1p(-roll_unit(d));
}
