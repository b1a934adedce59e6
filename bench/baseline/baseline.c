/* SPDX-License-Identifier: MIT
 *
 * baseline.c - the table of methods. */
#include "bench/baseline/baseline.h"

const struct baseline_method *const baseline_methods[] = {
	&baseline_regression, &baseline_convex_hull, &baseline_lp,
	&baseline_freezer,    &baseline_middles,     &baseline_barriers, NULL,
};
