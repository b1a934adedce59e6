/* SPDX-License-Identifier: MIT
 *
 * marks.h - how the user marks a region, in the language of the program, or with the tool that recorded it. */
#ifndef ANALYSIS_MARKS_H
#define ANALYSIS_MARKS_H

#include "analysis/trace/trace.h"

/* Another tool recorded it, which has no marks of dprof's. */
bool marks_elsewhere(const struct trace *);

/* "#pragma dprof region(NAME)", or, where all places in sources that are known are Fortran's, calls; where none is known, both. */
const char *marks_region(const struct trace *);

/* What to do with a loop that sleeps, and work that does: a sentence without an end. Fortran has no mark for the one. */
const char *marks_poll(const struct trace *);

/* The command that links, with MPI or without: "dprof-cc", "dprof-mpifort". */
const char *marks_linker(const struct trace *, bool mpi);

#endif
