/* SPDX-License-Identifier: MIT
 *
 * missing.h - MPI that is not recorded: a program has libmpi, and dprof's adapter is not there, or
 * stands behind it where no call comes by. */
#ifndef RUNTIME_MISSING_H
#define RUNTIME_MISSING_H

#include <stdbool.h>

/* A note for the report, or NULL. Of what is loaded now. */
const char *dprof_missing_adapter(void);

/* Whether the program has called MPI_Init: then events are missing. */
bool dprof_missing_used(void);

#endif
