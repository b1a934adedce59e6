/* SPDX-License-Identifier: MIT
 *
 * frequent.h - functions that the plugin made regions by itself (auto=functions) and that are entered so often that recording
 * costs the program time. What helps is a filter, which export writes. */
#ifndef ANALYSIS_FREQUENT_H
#define ANALYSIS_FREQUENT_H

#include "analysis/trace/trace.h"

#define FREQUENT_LEAST 100000 /* records of a thread: of fewer nothing is said */
#define FREQUENT_RATE  1e6    /* of them in a second: some percent of its time */

/* A note of the thread that records the most in a second, if that is so much and there are such functions. */
void frequent_say(struct trace *);

#endif
