/* SPDX-License-Identifier: MIT
 *
 * marks.h - how the user marks a region, in the language of the program. */
#ifndef ANALYSIS_MARKS_H
#define ANALYSIS_MARKS_H

#include "analysis/trace/trace.h"

/* "#pragma dprof region(NAME)", or, where all places in sources that are known are Fortran's, calls. */
const char *marks_region(const struct trace *);

#endif
