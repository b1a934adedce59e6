/* SPDX-License-Identifier: MIT
 *
 * kineto_private.h - what kineto_read.c finds in files, kineto_groups.c relates, and kineto.c writes. */
#ifndef ANALYSIS_KINETO_PRIVATE_H
#define ANALYSIS_KINETO_PRIVATE_H

#include <stdint.h>

#include "analysis/kineto/kineto.h"

#define KINETO_NONE SIZE_MAX

struct kineto_slice {
	int64_t from, to;        /* ns */
	char *name;
	char *group, *what;      /* a collective operation: its process group, by name and ranks; which, and its size. Or NULL */
	int64_t number;          /* in its group ("Seq"); -1: it has none */
	bool all;                /* data flow from all to all: */
	uint64_t bytes;          /* so many from it; 0: it is not said how many, if more than none */
	size_t match;            /* of a group of kineto_trace; or KINETO_NONE */
	uint64_t seq;            /* in that */
};

struct kineto_thread { int64_t pid, tid; char *name; struct kineto_slice *slices; size_t n; };

struct kineto_file {
	const char *path;
	int64_t rank, size;      /* size: 0 if it is not told */
	bool ranked;             /* it says its rank; else that is its place among the files */
	struct kineto_thread *threads; size_t nthreads; /* the slices of each by begin, the longest first */
	int64_t uncertainty;     /* ns */
};

/* Of these ranks each file has one thread with operations of the group; places of files and of threads in them. */
struct kineto_group { char *name; size_t *file, *thread; size_t n; };

struct kineto_trace {
	struct kineto_file *files; size_t nfiles; /* by rank */
	struct kineto_group *groups; size_t ngroups;
	bool counted;            /* some participants were told by their order */
};

/* To be closed, whatever it gives: NULL, or what went wrong (to be freed). */
char *kineto_read(struct kineto_file *, const char *path, size_t otherwise_rank);
void kineto_close(struct kineto_file *);

/* Finds who took part in what. */
void kineto_relate(struct kineto_trace *);

#endif
