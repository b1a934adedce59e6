/* SPDX-License-Identifier: MIT
 *
 * missing.h - MPI that nobody records: a program has libmpi, and dprof's adapter is not there, or stands behind it where
 * no call comes by. */
#ifndef RUNTIME_MISSING_H
#define RUNTIME_MISSING_H

/* A note for the report, or NULL. Of what is loaded now. */
const char *dprof_missing_adapter(void);

#endif
