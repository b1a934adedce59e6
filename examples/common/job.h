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

struct job {
	int rank, size;       /* in MPI_COMM_WORLD */
	long threads;         /* of each rank */
	long iterations;
	long imbalanced_rank; /* has so much more work, in percent of its own; -1 for none */
	double imbalance_percent;
	const char *output;   /* file for the result, or NULL */
	bool quiet;
};

/* Joins the other ranks (MPI_Init_thread, funneled) and reads the arguments: `own` lists the
 * program's own options, which its parser takes, and its documentation; the options of every
 * example are added. The parser's input is `options`, whose first member must be a struct job. */
void job_begin(int *argc, char ***argv, const struct argp *own, void *options);

/* Rank 0 decides whether it is fine to go on; if not, it has said why, and all end with status 1. */
void job_agree(bool fine);

/* For a parser: the number in `text`, or the end of the program when it is not from low to high. */
long job_number(struct argp_state *state, const char *what, const char *text, long low, long high);

/* How many things the rank's imbalance adds to `count` of its own. */
size_t job_extra(const struct job *job, size_t count);

void *job_alloc(size_t count, size_t size); /* zeroed; ends the whole job when there is no memory */

#endif
