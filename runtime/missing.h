/* SPDX-License-Identifier: MIT
 *
 * missing.h - calls that are not recorded: a program has libmpi, and dprof's adapter is not there, or stands behind it
 * where no call comes by; or the C library stands before dprof's, or in the program. */
#ifndef RUNTIME_MISSING_H
#define RUNTIME_MISSING_H

#include <stdbool.h>

/* A note for the report, or NULL. Of what is loaded now. */
const char *dprof_missing_adapter(void);

/* The same of what waits in the C library, which stays as it was when the program began. */
const char *dprof_missing_waits(void);

/* Whether there is no libmpi now. */
bool dprof_missing_mpi(void);

/* Whether the program has called MPI_Init: then events are missing. */
bool dprof_missing_used(void);

#endif
