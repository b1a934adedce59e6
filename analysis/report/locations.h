/* SPDX-License-Identifier: MIT
 *
 * locations.h - threads as tables of a whole job name them. */
#ifndef ANALYSIS_LOCATIONS_H
#define ANALYSIS_LOCATIONS_H

#include "analysis/trace/names.h"

/* "rank 1", or where any process has several threads "rank 1 thread 2". */
struct location_name location_name(const struct trace *, size_t thread);

/* In so many columns the names of all have room. */
int locations_width(const struct trace *);

#endif
