/* SPDX-License-Identifier: MIT
 *
 * baseline.c - the table of methods. */
#include "freezer/baseline/baseline.h"

#include <string.h>

const struct baseline_method *const baseline_methods[] = {
	&baseline_regression, &baseline_convex_hull, &baseline_lp,
	&baseline_freezer,    &baseline_barriers,    NULL,
};

const struct baseline_method *baseline_method(const char *name)
{
	const struct baseline_method *const *m = baseline_methods;

	while (*m && strcmp((*m)->name, name) != 0)
		m++;
	return *m;
}
