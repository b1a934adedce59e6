/* SPDX-License-Identifier: MIT
 *
 * runs.c - runs are merged where they stand, until there is one. */
#include "analysis/base/runs.h"

#define LONG_ELEMENT 64

static bool is_sorted(struct spill *spill, char *array, size_t count, size_t size, run_order order)
{
	struct runs_sorted s = { spill, array, size, order, false };
	return count == 0 || runs_end(s, count, 0) == count;
}

/* By their addresses. */
static void sort_long(struct spill *spill, char *array, size_t count, size_t size, run_order order)
{
	const void **sorted = spill_grow(spill, NULL, count, sizeof *sorted);
	for (size_t i = 0; i < count; i++, spill_relax(spill))
		sorted[i] = array + i * size;
	runs_sort_addresses(spill, sorted, count, order);
	char *beside = spill_grow(spill, NULL, count, size);
	for (size_t i = 0; i < count; i++, spill_relax(spill))
		memcpy(beside + i * size, sorted[i], size);
	spill_copy(spill, array, beside, count * size);
	spill_free(spill, beside);
	spill_free(spill, sorted);
}

void runs_sort(struct spill *spill, void *array, size_t count, size_t size, run_order order)
{
	if (size < LONG_ELEMENT)
		runs_sort_here(spill, array, count, size, order);
	else if (!is_sorted(spill, array, count, size, order))
		sort_long(spill, array, count, size, order);
}
