/* SPDX-License-Identifier: MIT
 *
 * operation.h - what happens at a site, as far as its kind and its name tell.
 *
 * A site is classified once, when its trace is opened; no analysis looks at names again, but at those that its user
 * gives. The table is operations.def.
 *
 * Law: what is said of an operation is true of every one of its kind and name, whatever its arguments are. Of a name
 * that is not in the table nothing more is said than its kind does: what it may wait for, and for whom, is as
 * wide as any of that kind. */
#ifndef ANALYSIS_OPERATION_H
#define ANALYSIS_OPERATION_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/format.h"

enum {
	OP_REGION = 1 << 0,       /* a piece of code */
	OP_OTHERS = 1 << 1,       /* other threads take part: time in there is not the thread's own */
	OP_OWN = 1 << 2,          /* it may be blocked there, and that is its own: input and output, sleep */
	OP_WAITS = 1 << 3,        /* it may wait there for others */
	OP_PARKS = 1 << 4,        /* and be there for good: no other has to come any more when the process ends */
	OP_SLEEP = 1 << 5,        /* until some time has passed, or until a moment */
	OP_MATCHED = 1 << 6,      /* it may be one side of something that has others (match.h) */
	OP_MESSAGE = 1 << 7,      /* a send or a receive */
	OP_SYNCHRONOUS = 1 << 8,  /* a send that is not complete before its receive was begun */
	OP_COLLECTIVE = 1 << 9,   /* of a whole group, a barrier too */
	OP_ARRIVAL = 1 << 10,     /* a collective: who has come counts, even if it gives no bytes */
	OP_OF_RANKS = 1 << 11,    /* a collective of ranks, and not of threads of one process; or a receive in one, where nobody
				     waits for who gives no bytes */
	OP_REQUEST = 1 << 12,     /* its id, if it has one, joins a begin with its completion; */
	OP_ADDRESS = 1 << 13,     /* or is that of a lock, a condition variable, ...; neither: one of both */
	OP_SEMAPHORE = 1 << 14,   /* each wait needs one post */
	OP_TEAM = 1 << 15,        /* a fork: of a team of threads, or tasks are made */
	OP_LIFE_BEGINS = 1 << 16, /* points: of the thread itself */
	OP_LIFE_ENDS = 1 << 17,
	OP_JOINS_THREAD = 1 << 18, /* waits for the end of one thread */
	OP_UNSEEN = 1 << 19,      /* a point: something works, or did, that is not recorded, ... */
	OP_CHILD = 1 << 20,       /* ... in a process of its own */
	OP_TEAM_LEFT = 1 << 21,   /* a join: who leaves waits for the next team, and is recorded again when that comes */
	OP_MPI = 1 << 22,         /* a call of MPI, in which whatever is under way goes on */
	OP_BUFFERED = 1 << 23,    /* a send that is complete when the data are in the sender's own buffer */
	OP_CHOOSES = 1 << 24,     /* completes some of several, as they come */
	OP_ATTEMPT = 1 << 25,     /* does not wait, or until a moment: it may have been called before in vain, of which
				     there is no record unless that lasted */
	OP_IN_ORDER = 1 << 26,    /* a lock is taken, or an iteration waited for, in an order which the program lays down */
	OP_GIVES_OUT = 1 << 27,   /* a point: until the team's next barrier it is chance which thread works at what, */
	OP_EVENS_OUT = 1 << 28,   /* and nobody is idle while there is something left to do */
	OP_FUTEX = 1 << 29,       /* until what is in memory has changed, or who says that it has */
	OP_IN_TWO = 1 << 30,      /* a message is received by two calls: one finds it, and the other takes what is left of it */
	OP_ELECTS = (int)(1u << 31), /* who is told what, or how much, is chance: so what its thread does up to the next barrier is;
				     a point: which another thread may end */
};

/* How data flow in a collective: between which two parts, an entry and an exit, there is an order. */
enum flow {
	FLOW_ALL,       /* each to each: a barrier, MPI_Allreduce, ... */
	FLOW_FROM_ROOT, /* MPI_Bcast, MPI_Scatter(v), a team's fork */
	FLOW_TO_ROOT,   /* MPI_Reduce, MPI_Gather(v), a team's join */
	FLOW_UPWARD,    /* MPI_Scan, MPI_Exscan: to those behind in the order of the group */
	FLOW_NOWHERE,   /* not known, or not the same for all: MPI_Alltoallv, MPI_Comm_split, ... */
	FLOW_BY_ROLE,   /* only in struct operation: with a root as FLOW_NOWHERE, else as FLOW_ALL */
};

struct operation {
	enum dprof_kind kind;
	uint32_t is;     /* OP_... */
	enum flow flow;  /* of a call */
	enum flow begun; /* of what the call only begins: it has an id */
	bool mixed;      /* of what OP_WAITS: time in there may be work instead, of whoever is in there */
	bool sleeps;     /* who waits there is blocked by the kernel; it does not poll, ... */
	bool blocks;     /* ... nor here, but it may have bytes to copy */
	bool once;       /* what is waited for at its address is given once, and is there then for good; */
	bool counted;    /* likewise, when all have given it who do; */
	bool first;      /* likewise, once, by whoever comes first */
	bool stored;     /* of OP_FUTEX: its address is that of what is waited for, also where nobody blocks, and not of
			    where one does */
	bool makes;      /* a point: what is waited for at its address is a new one */
	bool switches;   /* a point: the thread goes on on another stack (a fiber, a coroutine) */
	bool queues;     /* an object is a queue, out of which one thing is taken, or into which it is put; */
	bool locks;      /* or a lock, that is had from the exit on, or given back at a point */
	bool carries;    /* what is taken there is data, and may say what to do */
	bool urgent;     /* a message of the highest kind is taken first */
	bool tells;      /* a point: whoever waits at its address meanwhile may go on, and nobody else */
	bool finds : 1;  /* what has come, and leaves it to a later call; */
	bool of_begun : 1; /* of what was begun before */
	bool looks;      /* until one of several channels has bytes, or is there, and says which */
	bool jobs;       /* processes of another job take part, which are not in the trace */
	bool due;        /* every process has to call it, once: nobody can call it less often */
	bool asks;       /* a daemon, or looks into files itself */
	bool tries;      /* it waits; or does not, and says where that was in vain (arg_in_vain) */
	bool claims;     /* a point: by what it finds at an address its thread has a piece of work, or not; or that is over */
	bool told;       /* a point: what its thread does depends on what it finds there, which others may change */
};

/* What is waited for is there for good once it is given, and all who look for it are recorded. */
static inline bool operation_is_for_good(const struct operation *o)
{
	return o->once || o->counted || o->first;
}

/* It may be an attempt. */
static inline bool operation_may_try(const struct operation *o)
{
	return o->is & OP_ATTEMPT || o->tries;
}

/* And so may who only asks MPI how things stand. */
static inline bool operation_may_ask(const struct operation *o)
{
	return operation_may_try(o) || (o->kind == DPROF_KIND_WAIT && o->is & OP_MPI);
}

struct operation operation_of(enum dprof_kind, const char *name);

/* What it may be besides (OP_...), where code calls it that was compiled without the plugin. */
uint32_t operation_unplaced(enum dprof_kind, const char *name);

/* The kinds (DPROF_KIND_BIT) of which all sites are some of `is`. */
uint32_t operation_kinds(uint32_t is);

#endif
