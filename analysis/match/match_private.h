/* SPDX-License-Identifier: MIT
 *
 * match_private.h - what the files match*.c share.
 *
 *   match.c           the events of a thread, one after the other; what is ready to be given back
 *   match_messages.c  sends and receives, in the order of each stream
 *   match_collectives.c  collective operations, and teams of threads
 *   match_walk.c      all threads side by side
 *   match_log.c       what was found, for whoever wants it again */
#ifndef ANALYSIS_MATCH_PRIVATE_H
#define ANALYSIS_MATCH_PRIVATE_H

#include "analysis/base/ids.h"
#include "analysis/match/match.h"

struct message_op;  /* one send or receive, */
struct message_stream; /* those of one rank to another, in one group, with one tag, */
struct messages_inbox;       /* receives whose stream is not known, or that wait behind such, */
struct begun_message; /* and those that were begun under an id */
struct message_kind; /* what a kind of event is to the call of one */
struct collective;
struct collective_key { uint64_t group, number, class; };
struct begun_part;  /* a part of one that goes on behind its call */

/* An operation that a thread is in. */
struct open_call {
	enum dprof_kind kind;
	struct message_op *op;     /* or NULL, */
	struct collective *collective; /* or NULL, */
	size_t part;               /* of the collective; VISITED_NOTHING: it was over */
	struct collective_key key;
	uint64_t id;               /* of the request that a wait is for, or ARG_NONE */
	uint32_t child;            /* of a join, or MATCH_NO_THREAD */
};
#define MATCH_NO_THREAD UINT32_MAX
#define MATCH_NO_RANK   UINT32_MAX

/* A visit to a collective that may be repeated: behind a task, or after it has left a team. */
struct visited { struct collective_key key; size_t part; };
#define VISITED_NOTHING (SIZE_MAX - 1) /* the part: the collective was over */

/* What a thread named last, of those that it sends to, or receives from; until streams are dropped. */
struct channel { struct message_stream *stream; uint64_t peer, tag, group; };

struct match_thread {              /* a thread of the trace */
	uint32_t rank;             /* place among the ranks, or MATCH_NO_RANK */
	size_t count;              /* events taken */
	uint64_t last;             /* stamp */
	uint32_t last_site;
	struct replay replay;      /* of its operations, and */
	struct open_call *calls; size_t room; /* what they are here */
	struct visited *interrupted; size_t ninterrupted; /* the innermost last */
	struct visited left;       /* the last team */
	struct channel sends, receives;
	bool alone;                /* in its rank no other one sends or receives */
	bool created;
	struct match_part creator;
};

struct rank {
	bool several;              /* more than one of its threads sends or receives */
	bool doubtful;             /* something is missing from its records from here on */
	struct message_op *held;   /* several: in whose order another thread may still come */
};

struct ready {
	struct ready *next;
	size_t room;               /* for parts */
	struct match match;
	struct match_part parts[];
};

#define RECENT_STREAMS 4096 /* that are found without a look into a table: some for each of 1,024 ranks */

struct matcher {
	const struct trace *trace;
	uint64_t slack;
	struct match_tally tally;
	struct match_thread *threads; /* of each thread */
	bool *concerned;           /* of each site: it is an operation that may have another side */
	struct ids rank_numbers;
	struct rank *ranks;
	struct message_stream *streams, *recent[RECENT_STREAMS];
	size_t most_streams;       /* then those without operations go */
	struct messages_inbox *inboxes;
	struct begun_message *requests;
	struct collective *collectives, *latest, *spare_collectives;
	struct begun_part *begun;
	struct message_op *spare_ops;
	struct message_kind *message_kinds; /* of each of the trace's whats */
	struct ready *first, **end, *given, *spare_ready;
};

/* Room for a match, behind all others that are ready; parts are to be filled in. */
struct ready *match_ready(struct matcher *, enum match_kind, size_t nparts);

/* The part that a thread plays by an event, its `count`-th. */
struct match_part match_part(const struct matcher *, uint32_t thread, const struct tr_event *);

/* ---- Messages -------------------------------------------------------------------------------- */

void messages_open(struct matcher *);

/* A send or a receive begins. NULL, or what to name when its call ends. */
struct message_op *message_begin(struct matcher *, uint32_t thread, const struct tr_event *,
				 bool receive);
void message_end(struct matcher *, uint32_t thread, struct message_op *, const struct tr_event *);
/* Its "done": of the receive around it, or, of an id, of whatever was begun under it. */
void message_done(struct matcher *, uint32_t thread, struct message_op *, const struct tr_event *);
void message_done_id(struct matcher *, uint32_t thread, uint64_t id, const struct tr_event *);
void message_drop(struct matcher *, struct message_op *); /* a call ended without us */

/* Whether event i of these columns is the enter of a receive, and the next its exit, of a rank of which one thread alone
 * receives. */
bool message_receives(const struct matcher *, uint32_t thread, const struct tr_columns *, size_t i);
/* match_take_call(), but for what it counts. */
bool message_call(struct matcher *, uint32_t thread, const struct tr_columns *, size_t i);

/* The rank has lost something here. */
void message_doubt(struct matcher *, uint32_t rank);
/* The clock of a rank has come to this stamp. */
void message_passed(struct matcher *, uint32_t rank, uint64_t stamp);
void messages_finish(struct matcher *);
void messages_free(struct matcher *);

/* ---- Collective operations ------------------------------------------------------------------- */

void collective_enter(struct matcher *, uint32_t thread, const struct tr_event *,
		      struct open_call *);
/* The call ends for now: its thread runs a task and enters again. */
void collective_interrupt(struct matcher *, uint32_t thread, const struct open_call *,
			  const struct tr_event *);
void collective_leave(struct matcher *, uint32_t thread, const struct open_call *,
		      const struct tr_event *);
/* The part that was begun under the id, if one was. */
void collective_done_id(struct matcher *, uint32_t thread, uint64_t id, const struct tr_event *);
void collectives_finish(struct matcher *);
void collectives_free(struct matcher *);

#endif
