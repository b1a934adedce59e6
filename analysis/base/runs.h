/* SPDX-License-Identifier: MIT
 *
 * runs.h - puts in order what consists of a few stretches that are in order.
 *
 * Events come out in order of each thread, so what is gathered of them is a few such runs behind each other. They are
 * merged pairwise: n log(runs), and nothing but one look where all is in order.
 *
 * Law: as a stable sort. */
#ifndef ANALYSIS_RUNS_H
#define ANALYSIS_RUNS_H

#include <stdbool.h>
#include <string.h>

#include "analysis/base/spill.h"

typedef int run_order(const void *, const void *);

/* The last element, behind others that were put there like this, goes to its place if that is among the RUNS_NEAR before
 * it; else it begins another run. */
#define RUNS_NEAR 64
static inline void runs_settle(void *array, size_t count, size_t size, run_order order);

/* What it needs beside the array lies in the spill, too. Of long elements only the addresses are merged, and each is moved once. */
void runs_sort(struct spill *, void *array, size_t count, size_t size, run_order);

/* Likewise, in loops of the caller's own: for much that is sorted, of short elements. Its size and order are known there. */
static inline void runs_sort_here(struct spill *, void *array, size_t count, size_t size, run_order);

/* Likewise, of addresses of elements. */
static inline void runs_sort_addresses(struct spill *, const void **array, size_t count, run_order);

/* ---- The loops ------------------------------------------------------------------------------- */

#define RUNS_INLINE static inline __attribute__((always_inline))

RUNS_INLINE void runs_settle(void *array, size_t count, size_t size, run_order order)
{
	char *last = (char *)array + (count - 1) * size, *to = last, *nearest = (char *)array, element[64];
	if (count < 2 || order(last - size, last) <= 0)
		return;
	if (count > RUNS_NEAR + 1)
		nearest = last - RUNS_NEAR * size;
	if (nearest > (char *)array && order(nearest - size, last) > 0)
		return;
	memcpy(element, last, size);
	for (; to > nearest && order(to - size, element) > 0; to -= size)
		memcpy(to, to - size, size);
	memcpy(to, element, size);
}

/* What is compared: an element, or what it is the address of. */
RUNS_INLINE const void *runs_at(const char *element, bool addresses)
{
	return addresses ? *(const void *const *)(const void *)element : element;
}

/* Where the run ends that begins at an element. */
RUNS_INLINE size_t runs_end(struct spill *spill, const char *array, size_t count, size_t size, run_order order, bool addresses,
			    size_t first)
{
	size_t i = first + 1;
	for (; i < count && order(runs_at(array + (i - 1) * size, addresses), runs_at(array + i * size, addresses)) <= 0; i++)
		spill_relax(spill);
	return i;
}

/* [first, middle) and [middle, end), each in order; of equals those of the first come first. `beside` has room for the first. */
RUNS_INLINE void runs_merge(struct spill *spill, char *array, char *beside, size_t first, size_t middle, size_t end, size_t size,
			    run_order order, bool addresses)
{
	size_t left = middle - first, i = 0, k = middle;
	char *to = array + first * size;
	spill_copy(spill, beside, to, left * size);
	for (; i < left && k < end; to += size) {
		const char *one = beside + i * size, *other = array + k * size;
		bool second = order(runs_at(one, addresses), runs_at(other, addresses)) > 0;
		memcpy(to, second ? other : one, size);
		k += second;
		i += !second;
		spill_relax(spill);
	}
	spill_copy(spill, to, beside + i * size, (left - i) * size);
}

RUNS_INLINE void runs_sort_as(struct spill *spill, void *array, size_t count, size_t size, run_order order, bool addresses)
{
	size_t *ends = NULL, n = 0; /* of all runs */
	for (size_t at = 0; at < count; at = ends[n - 1])
		*SPILL_GROW(spill, ends, n) = runs_end(spill, array, count, size, order, addresses, at);
	char *beside = n > 1 ? spill_grow(spill, NULL, count, size) : NULL;
	for (; n > 1; n = (n + 1) / 2) { /* each two runs become one; a last one without another stays */
		for (size_t i = 0, first = 0; i < n; i += 2) {
			if (i + 1 < n)
				runs_merge(spill, array, beside, first, ends[i], ends[i + 1], size, order, addresses);
			first = ends[i / 2] = ends[i + 1 < n ? i + 1 : i];
		}
	}
	spill_free(spill, beside);
	spill_free(spill, ends);
}

RUNS_INLINE void runs_sort_here(struct spill *spill, void *array, size_t count, size_t size, run_order order)
{
	runs_sort_as(spill, array, count, size, order, false);
}

RUNS_INLINE void runs_sort_addresses(struct spill *spill, const void **array, size_t count, run_order order)
{
	runs_sort_as(spill, array, count, sizeof *array, order, true);
}

#endif
