/* SPDX-License-Identifier: MIT
 *
 * runs.c - all runs by pairs into another array, and back, until there is one. */
#include "analysis/base/runs.h"

#include <stdbool.h>
#include <string.h>


struct run_order { struct spill *spill; size_t size; int (*compare)(const void *, const void *); };

/* Where the run ends that begins at an element. */
static size_t run_end(const char *array, size_t count, size_t first, const struct run_order *o)
{
	size_t i = first + 1;
	for (; i < count && o->compare(array + (i - 1) * o->size, array + i * o->size) <= 0; i++)
		spill_relax(o->spill);
	return i;
}

/* [first, middle) and [middle, end), each in order; of equals those of the first come first. */
static void merge(const char *from, char *to, size_t first, size_t middle, size_t end, const struct run_order *o)
{
	size_t i = first, k = middle, size = o->size;
	while (i < middle && k < end) {
		bool second = o->compare(from + i * size, from + k * size) > 0;
		memcpy(to + (i + k - middle) * size, from + (second ? k : i) * size, size);
		k += second;
		i += !second;
		spill_relax(o->spill);
	}
	size_t at = i + k - middle;
	spill_copy(o->spill, to + at * size, from + i * size, (middle - i) * size);
	spill_copy(o->spill, to + (at + middle - i) * size, from + k * size, (end - k) * size);
}

/* The ends of all runs; how many. */
static size_t *find_runs(const char *array, size_t count, const struct run_order *o, size_t *n)
{
	size_t *ends = NULL;
	*n = 0;
	for (size_t at = 0; at < count; at = ends[*n - 1])
		*SPILL_GROW(o->spill, ends, *n) = run_end(array, count, at, o);
	return ends;
}

/* Each two runs become one; a last one without another is copied. How many are left. */
static size_t merge_pairs(const char *from, char *to, size_t *ends, size_t n, const struct run_order *o)
{
	size_t first = 0;
	for (size_t i = 0; i < n; i += 2) {
		size_t middle = ends[i], end = i + 1 < n ? ends[i + 1] : middle;
		merge(from, to, first, middle, end, o);
		first = ends[i / 2] = end;
	}
	return (n + 1) / 2;
}

void runs_sort(struct spill *spill, void *array, size_t count, size_t size, int (*order)(const void *, const void *))
{
	const struct run_order o = { spill, size, order };
	size_t n;
	size_t *ends = find_runs(array, count, &o, &n);
	char *other = n > 1 ? spill_zeros(spill, count, size) : NULL, *from = array, *to = other;
	while (n > 1) {
		n = merge_pairs(from, to, ends, n, &o);
		char *merged = to;
		to = from;
		from = merged;
	}
	if (other && from == other)
		spill_copy(spill, array, other, count * size);
	spill_free(spill, other);
	spill_free(spill, ends);
}

#define MOST_BYTES 64 /* of an element that is settled */

void runs_settle(void *array, size_t count, size_t size, int (*order)(const void *, const void *))
{
	char *last = (char *)array + (count - 1) * size, *to = last, *nearest = (char *)array, element[MOST_BYTES];
	if (count < 2 || order(last - size, last) <= 0)
		return;
	if (count > RUNS_NEAR + 1)
		nearest = last - RUNS_NEAR * size;
	if (nearest > (char *)array && order(nearest - size, last) > 0)
		return;
	while (to > nearest && order(to - size, last) > 0)
		to -= size;
	memcpy(element, last, size);
	memmove(to + size, to, (size_t)(last - to));
	memcpy(to, element, size);
}
