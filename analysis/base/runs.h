/* SPDX-License-Identifier: MIT
 *
 * runs.h - puts in order what consists of a few stretches that are in order.
 *
 * Events come out in order of each thread, so what is gathered of them is a few such runs behind each other. Two are merged
 * where the first is not twice as long as the second, or no more come: at most n log(runs), little where a short one goes into a
 * long one, less where the two hardly overlap, and nothing but one look where all is in order.
 *
 * Law: as a stable sort. */
#ifndef ANALYSIS_RUNS_H
#define ANALYSIS_RUNS_H

#include <stdbool.h>
#include <string.h>

#include "analysis/base/search.h"
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

/* What is sorted; `addresses`: of elements. Known where these loops are inlined. */
struct runs_sorted { struct spill *spill; char *array; size_t size; run_order *order; bool addresses; };

RUNS_INLINE int runs_compare(struct runs_sorted s, const char *x, const char *y)
{
	return s.addresses ? s.order(*(const void *const *)(const void *)x, *(const void *const *)(const void *)y) : s.order(x, y);
}

/* Where the run ends that begins at an element. */
RUNS_INLINE size_t runs_end(struct runs_sorted s, size_t count, size_t first)
{
	size_t i = first + 1;
	for (; i < count && runs_compare(s, s.array + (i - 1) * s.size, s.array + i * s.size) <= 0; i++)
		spill_relax(s.spill);
	return i;
}

/* The first of two runs goes to beside them, and both from the front to where they stood. Of equals its own come first. */
RUNS_INLINE void runs_merge_up(struct runs_sorted s, char *beside, size_t first, size_t middle, size_t end)
{
	size_t left = middle - first, i = 0, k = middle;
	char *to = s.array + first * s.size;
	spill_copy(s.spill, beside, to, left * s.size);
	for (; i < left && k < end; to += s.size) {
		const char *one = beside + i * s.size, *other = s.array + k * s.size;
		bool second = runs_compare(s, one, other) > 0;
		memcpy(to, second ? other : one, s.size);
		k += second;
		i += !second;
		spill_relax(s.spill);
	}
	spill_copy(s.spill, to, beside + i * s.size, (left - i) * s.size);
}

/* Likewise the second, and from the end. */
RUNS_INLINE void runs_merge_down(struct runs_sorted s, char *beside, size_t first, size_t middle, size_t end)
{
	size_t k = end - middle, i = middle;
	char *to = s.array + end * s.size;
	spill_copy(s.spill, beside, s.array + middle * s.size, k * s.size);
	while (i > first && k > 0) {
		const char *one = s.array + (i - 1) * s.size, *other = beside + (k - 1) * s.size;
		bool second = runs_compare(s, one, other) <= 0;
		to -= s.size;
		memcpy(to, second ? other : one, s.size);
		k -= second;
		i -= !second;
		spill_relax(s.spill);
	}
	spill_copy(s.spill, s.array + i * s.size, beside, k * s.size);
}

/* [first, middle) and [middle, end), each in order: what is in its place on both sides stays there, and of what is left the
 * shorter is put beside it. */
RUNS_INLINE void runs_merge(struct runs_sorted s, char **beside, size_t first, size_t middle, size_t end)
{
	const char *left = s.array + first * s.size, *right = s.array + middle * s.size;
	first += SEARCH_NEAR(middle - first, middle - first - 1, i, runs_compare(s, left + i * s.size, right) <= 0);
	end = middle + SEARCH_NEAR(end - middle, 0, i, runs_compare(s, right + i * s.size, right - s.size) < 0);
	bool up = middle - first < end - middle;
	*beside = spill_grow(s.spill, *beside, up ? middle - first : end - middle, s.size);
	if (up)
		runs_merge_up(s, *beside, first, middle, end);
	else
		runs_merge_down(s, *beside, first, middle, end);
}

#define RUNS_WAITING 64 /* each is twice as long as the next, or longer */

RUNS_INLINE void runs_sort_as(struct runs_sorted s, size_t count)
{
	size_t ends[RUNS_WAITING + 2] = { 0 }, n = 0; /* the i-th run that waits is from ends[i] on */
	char *beside = NULL;
	while (ends[n] < count || n > 1) {
		bool all = ends[n] == count;
		if (n > 1 && (all || ends[n - 1] - ends[n - 2] < 2 * (ends[n] - ends[n - 1]))) {
			runs_merge(s, &beside, ends[n - 2], ends[n - 1], ends[n]);
			ends[n - 1] = ends[n];
			n--;
		} else {
			ends[n + 1] = runs_end(s, count, ends[n]);
			n++;
		}
	}
	spill_free(s.spill, beside);
}

RUNS_INLINE void runs_sort_here(struct spill *spill, void *array, size_t count, size_t size, run_order order)
{
	runs_sort_as((struct runs_sorted){ spill, array, size, order, false }, count);
}

RUNS_INLINE void runs_sort_addresses(struct spill *spill, const void **array, size_t count, run_order order)
{
	runs_sort_as((struct runs_sorted){ spill, (char *)array, sizeof *array, order, true }, count);
}

#endif
