/* SPDX-License-Identifier: MIT
 *
 * pack.h - a trace while it is made of a text: text_pack.c fills it in, pack_native.c writes it.
 *
 * Records go to disk as they come; everything else is small and waits for the end of the text. */
#ifndef ANALYSIS_PACK_H
#define ANALYSIS_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/ids.h"
#include "analysis/trace/trace.h"
#include "freezer/link.h"

#define PACK_NONE SIZE_MAX

struct pack_clock {
	char *host, *source;
	double ghz;
	uint64_t uncertainty;
	size_t process;          /* of its threads without rank and process=; PACK_NONE */
	bool used;               /* it has a process */
};

struct pack_process {
	size_t clock;            /* PACK_NONE until its first thread */
	int64_t rank, size;      /* -1 when not said */
	uint64_t pid;
	char *program, *job;     /* NULL when not said */
	bool finished, replaced, ran;
	uint64_t unseen_ns, unseen_ended;
	uint64_t started, unborn, init_from, init_to, ended; /* stamps; 0 when not said */
	bool forked, executed, has_parent;
	bool no_marks, marks_unknown;
	uint64_t parent;         /* its number in the text; when that is at its end, its index */
	uint32_t left_out;       /* kinds */
	uint32_t next_number;    /* of a thread that does not say its own */
	size_t nthreads;
	size_t line;             /* of the text, where it was first named */
	char *stem;              /* HOST-RANK, at the end */
};

struct pack_thread {
	size_t process;
	uint32_t number;
	char name[sizeof((struct dprof_events_header *)0)->name];
	uint64_t lost, said_lost; /* in all; by its lines "lost" */
	bool complete, knows_jumps;
	uint64_t ran_on;
	uint64_t jumps;          /* stamp; 0: never */
	bool says_entered;
	uint64_t entered;        /* then; so many first events */
	uint64_t first, last;    /* stamps */
	uint64_t ended;          /* likewise; 0: with its last event, or it is not known as records are lost */
	bool begun;              /* has an event */
	uint64_t *pending; size_t npending;
	uint64_t nwritten;       /* words */
	uint64_t sum;            /* of all its words; once there is one */
};

struct pack_sched { size_t thread; struct dprof_sched says; };

struct pack_group {
	uint64_t id, size;       /* size 0: as many as it has threads */
	bool reordered;          /* its own order is not that of the ranks */
	size_t *threads; size_t nthreads;
};

struct pack {
	const char *name;        /* of the text, in messages */
	char *directory;         /* under a temporary name */
	size_t line;             /* of the text that is being read */
	struct pack_clock *clocks; size_t nclocks;       struct ids clock_ids;
	struct pack_process *processes; size_t nprocesses; struct ids process_ids;
	struct pack_thread *threads; size_t nthreads;    struct ids thread_ids;
	struct pack_group *groups; size_t ngroups;       struct ids group_ids;
	uint64_t *site_at; size_t nsites;                struct ids site_ids;
	uint8_t *sites; size_t sites_size;               /* the section */
	struct frz_link *links; size_t nlinks;
	char **notes; size_t nnotes;
	bool damaged;
	uint32_t left_out;       /* kinds, by all processes */
	struct pack_sched *sched; size_t nsched;
};

/* Where the fabricated module's section stands. */
#define PACK_SITES_AT UINT64_C(0x400000)

/* An address in no module: a site that the trace does not know. */
#define PACK_NO_SITE_AT 16

/* NULL, or what went wrong (to be freed). */
char *pack_begin(struct pack *, const char *directory);
char *pack_event(struct pack *, size_t thread, uint64_t stamp, uint64_t site_at, enum dprof_op);
char *pack_argument(struct pack *, size_t thread, struct tr_arg);
char *pack_lost(struct pack *, size_t thread, uint64_t records);
char *pack_finish(struct pack *, const char *directory);
void pack_undo(struct pack *); /* removes what has been written */

#endif
