/* SPDX-License-Identifier: MIT
 *
 * driver.h - `mpirun -n K dprof-analyze ...`: one command, by the processes of a job.
 *
 *   commands ──> driver ──> trace
 *
 *   rank 0                                          every other rank
 *   main: the words, the command                    driver_serve(): waits for what rank 0 wants
 *   driver_open()  ── order: open, directory ──>
 *      what does it see?   <────── names, lengths   what does it see?             together.c
 *      who reads what      ── shares ──>                                          shares.c
 *      processes, sites    ── their bytes ──>       processes, sites              trace/trace_parts.h
 *      reads its share                              reads its share
 *      blocks, threads, diagnostics   <─────────    gives what it has read
 *   the analysis, on all cores of its machine       sleeps
 *   driver_end()   ── order: end, status ──>        ends with the same status
 *
 * What costs most of opening a trace is shared: opening, unpacking, decoding and validating the files of events (by bytes; with
 * --local: by who has them). The rest is done by rank 0 with its --jobs. Only rank 0 prints, but for what keeps another
 * rank from working.
 *
 * Law: an answer is the same bytes for any number of processes, and of jobs. All that is decided is decided by rank 0, and from
 * the same bytes: names are listed, small files are read, once; so nothing depends on files that change meanwhile.
 *
 * Alone (without mpirun, or as the only process) nothing of this happens. */
#ifndef ANALYSIS_DRIVER_H
#define ANALYSIS_DRIVER_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/trace/trace.h"

/* Whether a starter of jobs (mpirun, srun) has started it, alone or with others. */
bool driver_is_in_job(void);

/* Before anything else. False: another process does it all, this one has nothing to do. */
bool driver_begin(void);

/* Whether this process reads the command line and runs the command. The others call driver_serve(): what that ends with. */
bool driver_leads(void);
int driver_serve(void);

/* trace_open(), by all processes. `elsewhere`: each has a directory of its own, with a part of the trace (--local). `jobs`:
 * as in struct options, of each process. */
struct trace *driver_open(const char *directory, bool elsewhere, size_t jobs, char **error);

/* All end with this status, which it returns. */
int driver_end(int status);

#endif
