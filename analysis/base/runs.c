/* SPDX-License-Identifier: MIT
 *
 * runs.c - runs are merged by pairs, where they stand, until there is one. */
#include "analysis/base/runs.h"

void runs_sort(struct spill *spill, void *array, size_t count, size_t size, run_order order)
{
	runs_sort_here(spill, array, count, size, order);
}
