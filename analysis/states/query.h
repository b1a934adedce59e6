/* SPDX-License-Identifier: MIT
 *
 * query.h - conditions on what all threads are doing, as a user writes them.
 *
 *   condition = both { "or" both }
 *   both      = single { "and" single }
 *   single    = "not" single | SUBJECT WHERE | sum [ COMPARE sum ]
 *   sum       = product { ("+" | "-") product }
 *   product   = operand { "*" operand }
 *   operand   = NUMBER | "threads" | "ranks" | "(" condition ")"
 *             | ("count" | "ranks") "(" WHERE [ "on" SUBJECT ] ")"
 *   SUBJECT   = ("rank" | "pid") N [ "thread" N ] | "thread" [ (RANK | PID) "." ] N | "host" NAME
 *   WHERE     = [ "in" | "at" ] PLACE [ "[" INSTANCE "]" ]
 *   INSTANCE  = [ "-" ] NUMBER
 *   PLACE     = "working" | "waiting" | "alive" | KIND | NAME | '"' (NAME | FILE:LINE) '"'
 *   COMPARE   = "==" | "!=" | "<" | "<=" | ">" | ">="
 *
 * A thread is *in* every place on its stack, and *at* the innermost one. "count" counts threads,
 * "ranks" processes of which at least one thread is there; "rank 3 in body" means that at least one
 * of its threads is. A thread is *working* or *waiting* as for straggler scores (states.h), and
 * *alive* from its first event to its last. "threads" is the number of threads that recorded
 * anything, for the whole run, whether they are alive or not.
 *
 * Every count is an interval, and a condition is false, true or either: three-valued logic.
 *
 * Law: if each count lies in the interval that is given for it, the condition's true value is the
 * one that query_verdict gives, unless that is QUERY_MAYBE. */
#ifndef ANALYSIS_QUERY_H
#define ANALYSIS_QUERY_H

#include "analysis/states/states.h"

#define QUERY_ATOMS  30 /* bits of a mask; one more is never used */
#define QUERY_COUNTS 32
#define QUERY_NODES  256

/* What may be true of a thread, a bit of its mask. */
struct query_atom {
	enum { ATOM_SITES, ATOM_WORKING, ATOM_WAITING, ATOM_ALIVE } what;
	bool innermost;          /* at, not in */
	bool one_instance;
	uint64_t instance;
	bool *sites;             /* ATOM_SITES: which sites are meant */
};

/* How many threads, or processes with such a thread, have an atom. */
struct query_count {
	uint32_t atom;
	bool ranks;              /* processes are counted */
	bool *threads;           /* which threads take part in it */
};

struct query_node;               /* query_private.h */

struct query {
	const struct trace *trace;
	const struct roles *roles;
	struct query_atom atoms[QUERY_ATOMS];
	struct query_count counts[QUERY_COUNTS];
	uint32_t natoms, ncounts;
	struct query_node *nodes; size_t nnodes; /* the last one is the whole */
	char **notes; size_t nnotes; /* what the user may have meant differently */
	const uint8_t *also;         /* of each thread: MAY_WAIT if it may have waited where it was in no operation,
					MAY_WORK if it may have worked where it seems to wait (blocked.h); NULL, as it
					is opened: none may */
};

/* What is wrong, and where in the text. */
struct query_error { size_t at; char *what; };

/* False with *error, whose text is to be freed, and then there is nothing to close. The roles say
 * who works and who waits. */
bool query_open(struct query *, const struct trace *, const struct roles *, const char *text,
		struct query_error *error);
void query_close(struct query *);

/* A thread that recorded nothing takes no part. */
static inline bool query_knows(const struct trace *trace, size_t thread)
{
	return trace->threads[thread].nrecords > 0 || trace->threads[thread].lost > 0;
}

/* It asks who works, or who waits. */
bool query_asks_roles(const struct query *);

enum query_verdict { QUERY_NO, QUERY_YES, QUERY_MAYBE };

/* `lo` and `hi` bound each of the counts. */
enum query_verdict query_verdict(const struct query *, const int32_t *lo, const int32_t *hi);

#endif
