/* SPDX-License-Identifier: MIT
 *
 * job.h - what the MPI examples have in common: options, one voice, an orderly end.
 *
 * Law: all ranks end together and with the same status: 0 fine, 1 refused input, 2 wrong usage. */
#ifndef EXAMPLES_JOB_H
#define EXAMPLES_JOB_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct job {
	int rank, size;       /* in MPI_COMM_WORLD */
	long threads;         /* of each rank */
	long iterations;      /* what the program sets before job_begin stays, if not given */
	long imbalanced_rank; /* has so much more work, in percent of its own; -1 for none */
	double imbalance_percent;
	long pace_ns;         /* of a unit of work; 0: as fast as can be */
	const char *file;     /* to read */
	bool no_file;         /* there is none; to be set before job_begin */
	const char *output;   /* file for the result, or NULL */
	bool quiet;
};

/* Joins the other ranks (MPI_Init_thread, funneled) and reads the arguments: `own` lists the
 * program's own options, which its parser takes, and its documentation; the options of every
 * example are added. The parser's input is `options`, whose first member must be a struct job. */
void job_begin(int *argc, char ***argv, const struct argp *own, void *options);

/* Rank 0 has `write` write the result to the file that --output names, if it does. When that fails
 * it is said, and all ranks end with status 1. */
void job_write(const struct job *job, void (*write)(FILE *f, const void *what), const void *what);

/* Rank 0 decides whether it is fine to go on; if not, it has said why, and all end with status
 * 1. */
void job_agree(bool fine);

/* How many things the rank's imbalance adds to `count` of its own. */
size_t job_extra(const struct job *job, size_t count);

/* With --pace, a piece of work lasts so many nanoseconds for each of its units from its begin to
 * the return of job_work_end: what computing has not taken of that is slept. So durations are
 * known, and cores need not be idle for it. Without, both do nothing. */
int64_t job_work_begin(const struct job *job);
void job_work_end(const struct job *job, int64_t begin_ns, size_t units);

/* To be called by all ranks, after the work: rank 0 says how many pieces took longer than that. */
void job_tell_late(const struct job *job);

/* Zeroed, and on cache lines of its own where `size` is some of those; ends the whole job when there is no memory. */
void *job_alloc(size_t count, size_t size);

#endif
