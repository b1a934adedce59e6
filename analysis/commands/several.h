/* SPDX-License-Identifier: MIT
 *
 * several.h - commands that compare the traces of several runs: one is open at a time beside the first. */
#ifndef ANALYSIS_SEVERAL_H
#define ANALYSIS_SEVERAL_H

#include "analysis/base/options.h"
#include "analysis/trace/trace.h"

/* Keeps of an open trace what the answer needs. Anything but EXIT_FINE: it has printed why not. */
typedef int several_take(void *run, const char *directory, struct trace *, const struct options *);

/* Has `take` fill each of the runs, which are options->ndirectories of that size. What is wrong with another trace is said of it
 * among what is wrong with the first. */
int several_open(void *runs, size_t size, struct trace *first, const struct options *, several_take *take);

#endif
