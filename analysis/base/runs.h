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

#include "analysis/base/spill.h"

/* The last element, behind others that were put there like this, goes to its place if that is among the RUNS_NEAR before
 * it; else it begins another run. */
#define RUNS_NEAR 64
void runs_settle(void *array, size_t count, size_t size, int (*order)(const void *, const void *));

/* What it needs beside the array lies in the spill, too. */
void runs_sort(struct spill *, void *array, size_t count, size_t size, int (*order)(const void *, const void *));

#endif
