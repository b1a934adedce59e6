/* SPDX-License-Identifier: MIT
 *
 * query_private.h - what the files query*.c share.
 *
 *   query.c          what a condition's value is
 *   query_parse.c    from text to nodes
 *   query_names.c    from names to sites and threads */
#ifndef ANALYSIS_QUERY_PRIVATE_H
#define ANALYSIS_QUERY_PRIVATE_H

#include "analysis/states/query.h"

enum query_op {
	OP_NUMBER, OP_COUNT,                             /* leaves */
	OP_PLUS, OP_MINUS, OP_TIMES,                     /* of two numbers, a number */
	OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE,        /* of two numbers, a condition */
	OP_NOT, OP_AND, OP_OR,                           /* of conditions, a condition */
};

struct query_node {
	enum query_op op;
	int64_t number;          /* OP_NUMBER; OP_COUNT: index in query.counts */
	size_t left, right;      /* operands, which stand before it */
};

/* A place by its name; NULL as a name in *error when there is none such. `quoted`: no word of the
 * language is meant. The atom owns what it holds. False with *error, which the caller places. */
bool query_place(struct query *, const char *name, bool quoted, struct query_atom *atom,
		 char **error);

/* "rank N", "pid N", and of those "... thread N"; "thread PROCESS.N", of a process by its rank, or by its pid where no process
 * has that rank; "thread N", of the only process; "host NAME". */
enum query_who { WHO_RANK, WHO_PID, WHO_THREAD, WHO_ONLY, WHO_HOST };
struct query_subject {
	enum query_who who;
	const char *host;        /* WHO_HOST */
	uint64_t process;        /* not WHO_HOST, WHO_ONLY: rank or pid */
	bool one_thread;         /* WHO_THREAD, WHO_ONLY: always */
	uint64_t thread;         /* one_thread: its number */
};

/* Marks the threads that are meant. False with *error when none is. */
bool query_subject(const struct query *, struct query_subject, bool *threads, char **error);

/* The atom, or the count, that is like this one; takes over what the given one owns. UINT32_MAX
 * when there is no room for another. */
uint32_t query_add_atom(struct query *, struct query_atom);
uint32_t query_add_count(struct query *, struct query_count);

#endif
