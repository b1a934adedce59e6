/* SPDX-License-Identifier: MIT
 *
 * graph_messages.h - messages between ranks, from the match of a send and a receive to the operations in which they were
 * completed. */
#ifndef ANALYSIS_GRAPH_MESSAGES_H
#define ANALYSIS_GRAPH_MESSAGES_H

#include "analysis/base/order.h"
#include "analysis/graph/graph_private.h"

struct message {
	struct event_ref sent, begun; /* ENTER of the send, ENTER of the receive */
	uint64_t sent_until;      /* EXIT of a blocking send; UINT64_MAX of others */
	uint64_t received;        /* EXIT of a blocking receive; UINT64_MAX of others */
	uint64_t bytes;
	bool synchronous;         /* it is not complete before its receive was begun */
	bool buffered;            /* it is complete when the data are in the sender's own buffer */
	bool sure;                /* it was waited for if there was time */
	bool possible;            /* no data come from there: it may have been waited for all the same */
	bool nobody;              /* it is none: nobody who was there is known to have been waited for, in another run one may be */
	bool sends_on;            /* the sender goes on behind its call, and may have to come back to MPI */
	bool receives_on;         /* likewise the receiver */
	bool by_choice;           /* of several senders, or of several requests, one */
	bool unordered;           /* another of its stream may be the one in another run (graph_streams.c) */
	uint32_t received_at;     /* site */
	uint32_t of_begun;        /* of a collective operation that was only begun: 1 + the first of the sites of its name; or 0 */
	uint32_t tag;
	bool contested;           /* likewise, or another of its kind, of which some receives name the sender */
	uint64_t kind;            /* one number for its group and tag */
	uint64_t accepts;         /* of a receive from any source: likewise, or one for all tags; 0: not known */
	uint64_t stream;          /* one number for both ranks, group and tag; 0: it is none of a rank's */
	uint64_t ranks;           /* likewise, but for the tag */
	bool of_tags;             /* the receive was with any tag */
};

/* What match.h says of an event, for the walk of its thread. */
struct event_mark {
	uint64_t at;
	enum { MARK_EXPLAINED, MARK_SENDS, MARK_COMPLETES, MARK_SENT } what;
	uint32_t message;
};
#define NO_MESSAGE UINT32_MAX

/* A send that was begun by one thread and is completed by another. */
struct sent_elsewhere { struct event_ref begun, done; };

struct event_marks { struct event_mark *v; size_t n; };
static inline int graph_by_mark(const void *x, const void *y) /* by events */
{
	const struct event_mark *a = x, *b = y;
	return ORDER(a->at, b->at);
}

/* An operation in which messages were completed. */
struct attached { uint32_t message; bool as_sender; };
struct completion {
	struct event_ref enter, exit;
	struct wait_begin begin;
	uint32_t what;            /* GRAPH_RECEIVED or GRAPH_WAITED_FOR */
	bool by_choice;           /* it waited for one of several, whichever came first */
	const struct attached *attached; size_t n;
	const struct message *messages; /* those records of which attached ones have numbers; NULL while they are found */
};

/* How it is kept: there are as many as messages, or twice as many. Few of them begin elsewhere than where they are
 * entered. */
struct kept_completion {
	uint64_t enter_at, enter, exit_at, exit;
	uint32_t thread, first, n; /* of the records of attached ones */
	uint32_t waited_for : 1, by_choice : 1;
	uint32_t begin : 30;      /* of the records of begins, and 1; or 0 */
};

/* A look that found a message; and what its thread received next, the first behind regions: it was the one of these that had
 * come last, since it ended then. Of the only one that was begun then, it was that one. */
#define FOUND_MOST 8
struct found_message { struct wait_begin begin; struct event_ref exit; uint32_t messages[FOUND_MOST], n; bool of_begun; };

/* To a rank of several threads. */
struct inbox { uint32_t process, message; uint64_t group, tag; bool any_tag; };

/* A collective operation of all to all, with much data: all of a class have as much; and how long behind the last who came the
 * first had left. */
struct all_to_all { uint64_t class; frz_time took; uint32_t node; };

/* A part of an operation has left it, or of a message has sent it, or begun to receive it: whoever `waits` may have left only with
 * another one's call of MPI behind that, or of another thread of that one's rank, behind the stamp; and since he began to wait
 * (NO_EVENT: or before). In which `all` wait for all. */
struct left_mpi { struct event_ref ref; uint64_t stamp; bool waits; };
struct left_together { size_t first; uint32_t n; bool all; struct event_ref since; };

/* A collective operation with a root, or the like: its parts are nodes only when it is known who calls MPI when. */
struct kept_flow { enum flow flow; size_t first, n; };

struct message_records {
	struct message *v; size_t n;
	struct event_marks *marks; /* of each thread */
	struct sent_elsewhere *elsewhere; size_t nelsewhere;
	struct inbox *inboxes; size_t ninboxes;
	struct kept_completion *completions; size_t ncompletions;
	struct wait_begin *begins; size_t nbegins;
	struct attached *attached; size_t nattached;
	struct found_message *found; size_t nfound;
	struct all_to_all *all_to_all; size_t nall_to_all;
	struct kept_flow *flows; size_t nflows;
	struct match_part *flow_parts; size_t nflow_parts; /* of all of these */
	struct left_mpi *left; size_t nleft;
	struct left_together *together; size_t ntogether;
};

/* Collective operations become nodes, and messages records, with marks on the events at which threads send and complete them. */
void graph_matches(struct builder *, struct message_records *);
void graph_flows(struct builder *, struct message_records *); /* that were kept */

/* The last call of MPI of a thread that is known to have come behind `begin` and before `end`, a candidate. Returns how many there
 * are, 0 or 1. */
size_t graph_add_call(const struct builder *, uint32_t thread, struct event_ref begin, struct event_ref end, struct node_input *);

/* Of a walk; the begin is kept where it is not at the enter. */
void graph_keep_completion(struct spill *, struct message_records *, const struct completion *);

/* A message to a rank of several threads; and all of them, before they are completed. */
void graph_put_in(struct builder *, struct message_records *, const struct match *, uint32_t message);
void graph_inboxes(struct builder *, struct message_records *);

void graph_completions(struct builder *, struct message_records *); /* those that are kept */
void graph_returns(struct builder *, const struct message_records *); /* to MPI */

/* Of each thread the next one of its process that calls MPI, in a ring, or itself. To be freed. */
uint32_t *graph_find_callers(const struct builder *);
void graph_polls(struct builder *, const struct message_records *); /* of them those that were tried between pieces of work */

/* Of a thread that tests whether what it has begun is complete: the ends of the pieces of work that it does meanwhile. Of all
 * threads; to be closed. */
struct piece_ends { struct event_ref *v; size_t n, near; bool tests; };
struct piece_ends *graph_find_tests(const struct builder *, const struct message_records *);
void graph_close_tests(const struct builder *, struct piece_ends *);

/* Whether a wait for what one of them has begun was over just as a piece was; and with how many so, they most likely all are. */
enum piece_says { NO_PIECE, OVER_WITH_PIECE, OVER_ELSE };
enum piece_says graph_ends_with_piece(const struct builder *, struct piece_ends *, struct event_ref begun,
				      const struct completion *, struct event_ref *piece);
bool graph_waits_for_pieces(uint32_t with, uint32_t otherwise);

/* Where a message that comes first is taken, unless it is one of several requests; and which such places are one (they are those
 * of completions that are kept). */
struct inbox_place graph_message_place(const struct builder *, const struct message *);
void graph_places(struct builder *, const struct message_records *);

/* Whether messages to one rank may come from more than one thread; and which messages may be others of their streams then, where
 * receives of some streams have chosen one of them. */
bool graph_send_several(const struct builder *, const struct message_records *);
void graph_find_unordered(struct builder *, struct message_records *, struct ids *chosen);

#endif
