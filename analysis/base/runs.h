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

#include <stddef.h>

void runs_sort(void *array, size_t count, size_t size, int (*order)(const void *, const void *));

#endif
