/* SPDX-License-Identifier: MIT
 *
 * graph_private.h - what the files graph*.c share while they make a graph: a builder, to which nodes, their inputs and threads'
 * points are added. Walks along threads leave records by subject (graph_records.h); each file makes nodes of one subject, gets the
 * records of that and no others, and declares them in a header of its own.
 *
 *   graph.c        the order of things; nodes, synchronisation points, diagnostics
 *   graph_matches.c  collective operations; which messages there are
 *   graph_begins.c  begins of threads
 *   graph_walk.c   threads' operations: what each completes, what nothing explains; graph_walk_*.c have its parts (graph_walk.h)
 *   graph_messages.c  operations in which messages were completed
 *   graph_returns.c  ranks that came back to MPI before others were through
 *   graph_streams.c  messages that may come in another order
 *   graph_polls.c  work that goes on until a message is there
 *   graph_ends.c   ends of threads, and of the run
 *   graph_locks.c  locks and condition variables, of one process or shared by several
 *   graph_semaphores.c  likewise semaphores, and queues of messages
 *   graph_takes.c  what is taken of one lock or semaphore, and what for
 *   graph_ordered.c  turns of ordered loops
 *   graph_barriers.c  barriers that do not say their group, and those that processes share
 *   graph_pools.c  work that the program gives out itself
 *   graph_claims.c likewise, by flags and bits
 *   graph_counters.c  work that threads take by a counter of which there is no record
 *   graph_owners.c  threads that have regions of their own
 *   graph_masters.c  those who listen to anyone, and answer
 *   graph_counts.c  the last of those who come to a lock signals
 *   graph_wakes.c  waits for a condition variable that was signalled for somebody else
 *   graph_conditions.c  condition variables that count, as semaphores do
 *   graph_batches.c  things that are taken several at once
 *   graph_alike.c  the last of those who do alike posts
 *   graph_stops.c  threads that look with a lock whether they shall stop
 *   graph_serials.c  barriers behind which the last who comes does more
 *   graph_elections.c  threads of which the first or the last that comes to a lock does more
 *   graph_futexes.c  memory that another thread of one process has changed
 *   graph_latches.c  what is there for good once it is given: futures, latches
 *   graph_moments.c  sleeps until a moment
 *   graph_presumed.c  what has most likely ended a wait of which no record says what did
 *   graph_sleeps.c  sleeps that may be one wait
 *   graph_cancels.c  regions of OpenMP that one thread ends for all, and threads that another one ends
 *   graph_queues.c  who waited for whoever came first
 *   graph_tasks.c  tasks of one process
 *   graph_inside.c  regions inside of operations
 *   graph_bytes.c  bytes of pipes, socket pairs and connections
 *   graph_loose.c  and of which nobody knows the order
 *   graph_looks.c  of which of several channels they are taken
 *   graph_processes.c  processes that are forked, and that others wait for */
#ifndef ANALYSIS_GRAPH_PRIVATE_H
#define ANALYSIS_GRAPH_PRIVATE_H

#include "analysis/base/ids.h"
#include "analysis/graph/graph.h"
#include "analysis/match/match.h"

/* One event. */
struct event_ref { uint32_t thread; uint64_t at, stamp; };
#define NO_EVENT UINT64_MAX /* `at` where there is none */

/* EXITs of a thread from what may end work that was given out: of a group, by its place in the trace, or of those who come to a
 * barrier at an address (graph_address_barrier), or of these. All who took part in one have one key. */
enum { BARRIER_OF_PROCESS = UINT32_MAX - 2, BARRIER_OF_ANY, BARRIER_OF_UNKNOWN };
struct passed_barrier { uint64_t at, stamp, key; uint32_t group; };
struct passed_barriers { struct passed_barrier *v; size_t n; };

/* ENTERs of a thread's regions, messages, ...: of what it does, the first behind each operation. */
struct things_done { uint64_t *v; size_t n; };

/* EXITs of a thread's outermost operations, but sleeps; and for how long, in ticks, it had been in such ones until then. */
struct passed_operation { uint64_t at, ticks; };
struct passed_operations { struct passed_operation *v; size_t n; };

/* ENTERs of a thread's outermost calls of MPI. */
struct graph_mpi_call { uint64_t at : 63, vain : 1, stamp; }; /* vain: one of several that ask for the same, until it is there */
/* And what was found last: so many were before, and so many not behind. */
struct mpi_calls { struct graph_mpi_call *v; size_t n, before, behind; };

/* The begin of waiting. Who tried again and again, or until a time, has waited since the first attempt, or perhaps since before;
 * and in another run need not have tried as often, so only what it did before is certain to come before the end. */
struct wait_begin {
	struct event_ref enter;   /* of the waiting; of one that was tried, the first attempt, or what came before it */
	bool tried;
	struct event_ref certain; /* tried: the end of the last operation before */
	uint64_t unknown;         /* ticks: nobody knows whether it tried for so long, or did anything else first */
};

/* A thread of several enters an operation in which it may block, and is there until it goes on, or UINT64_MAX. Its marked work
 * was over `before` that. */
struct blocking_call { uint64_t at, stamp, before_at, before, until; uint32_t site; };
struct blocking_calls { struct blocking_call *v; size_t n; };

/* Where somebody takes. The role tells those apart who stand at one place, as all do in code that has no sites (that of headers):
 * it is the condition variable that the thread waits for there; or without sites what it signals; or 0. */
struct take_place { uint32_t site; uint64_t role; };

/* Whoever takes gets the next piece of work, at once or when there is one; or perhaps nothing (in_vain). Up to the next barrier to
 * which all come who take there: the `barrier`-th of its thread, from 0, or as many as that has; for all it is the same `epoch`. */
struct take {
	struct event_ref ref, has, left; /* left: a lock, given back; or at = NO_EVENT */
	uint64_t behind;          /* what its thread does is done with that only behind this event, or behind ref; or 0 */
	struct take_place place;
	uint64_t caller;          /* tells those apart who take it there with a function that they all call; or 0 */
	uint32_t epoch, barrier;
	bool goes_on, in_vain;    /* goes_on: at once, with something that is neither a wait nor the next barrier */
	bool at_once;             /* of a lock: its thread has begun nothing between the operation before and this one */
	bool shared, counts;      /* a reader's lock; a number that is counted, and so no other has it */
	bool tries;               /* a lock that is not waited for: who finds that another has it goes on to the next one */
	bool carries;             /* data, which may say what to do */
	bool answered;            /* by whoever listens to several */
};

/* A member of a team has left it: its EXIT, the ENTERs of all, itself among them, and whose team it was; and whether its thread's
 * end is recorded. */
struct left_team { struct event_ref exit, *came; size_t ncame; uint32_t site, opener; bool ends; };

/* What ended it if no other thread is presumed to have. */
enum otherwise {
	OTHERWISE_UNKNOWN,
	OTHERWISE_OWN,            /* nothing did: it takes as long by itself */
	OTHERWISE_FETCHED,        /* likewise: the rest of a message that was found before (MPI_Mrecv) */
	OTHERWISE_HANDLED,        /* likewise; it ended as a signal's handler began, and its operation went on behind that */
	OTHERWISE_TIMED_OUT,      /* its time limit has, as it has those that were tried before */
	OTHERWISE_ANSWERED,       /* somebody whom the trace does not know, whoever else did something then: it takes as long by itself */
};

/* A wait of which nothing says what ended it. */
struct unknown_wait {
	struct wait_begin begin;
	struct event_ref exit;
	uint32_t clock;
	enum otherwise otherwise;
	uint64_t target;          /* perhaps the next call of MPI of this rank, or DPROF_TARGET_ALL; or ARG_NONE */
	uint64_t looked, last;    /* it was not over at that stamp; or 0. The last look began then */
	struct event_ref next;    /* of one that is perhaps in vain: what its thread does then, having looked; or stamp = 0 */
	struct event_ref put;     /* what it took was put there by that, which has a node; or at = NO_EVENT: that is not known */
	struct event_ref ended;   /* the end of a process, of which its thread learnt next, came meanwhile; or at = NO_EVENT */
	struct looked_lock { uint32_t process; uint64_t id, stamp; } lock; /* with which it was looked; and had last in vain, or 0 */
};

/* What is wrong: how often, and where first. */
struct diagnostic { uint64_t count; uint32_t thread, site; uint64_t stamp; };
struct graph_diagnostics {
	struct diagnostic unsent, untaken; /* messages */
	struct diagnostic missing;         /* participants of a collective operation */
	struct diagnostic unlike;          /* a collective operation that is not the same for all, or has not one root */
	struct diagnostic alone;           /* a wait, of which it is not known for whom */
	struct diagnostic unheld;          /* a lock that another had */
	struct diagnostic behind;          /* what a wait was for was after it */
	struct diagnostic unmade;          /* a thread that began before it was created */
};

struct regions_of { struct times_in { uint32_t site; uint64_t times; } *v; size_t n; bool found; };

/* What is known of one thread, besides its points. */
struct thread_facts {
	struct mpi_calls calls;      /* of MPI */
	struct passed_barriers barriers;
	struct things_done done;
	struct passed_operations operations;
	struct blocking_calls blocking;
	struct event_ref fork;       /* the ENTER that created it; at = NO_FORK */
	uint32_t fork_site;          /* its site, or where the process whose first thread it is was forked; or TR_NO_SITE */
	uint32_t forked_by;          /* if it is the first one of a process that was forked: by that one; or TR_NO_PARENT */
	struct left_team left;       /* the last one; if its end is recorded */
	struct regions_of regions;   /* in which it is ever (graph_owners.c) */
	bool parked;                 /* it was in an operation, or in no team, when its process ended; so another one ended that */
	bool uses_futexes;           /* it waits or wakes at addresses */
	bool is_stopped;             /* it works in pieces until another one says that it shall stop (graph_stops.c) */
	bool in_teams;               /* it has been in teams of OpenMP, to their ends */
};

/* Barriers at addresses, who ever comes to each, and how often. */
struct address_barriers { struct ids places, comers; uint64_t *visits; size_t n; };

/* Queues by process or thread, place and what is accepted there. */
struct inbox_queues { struct ids known; uint32_t *queues; size_t n; };

/* What all who make nodes need; what they make them of they are given besides (graph_records.h). What there are as many of as
 * events lies in the spill. */
struct builder {
	struct graph *graph;
	struct spill *spill;       /* the graph's */
	struct frz_cursor *cursors; /* of each clock */
	struct thread_facts *threads; /* of each thread */
	struct unknown_wait *unknown; size_t nunknown;
	uint32_t *first_of_rank;   /* the first thread of each rank below the number of threads, which it is where there is none */
	struct inbox_queues inboxes;
	struct address_barriers address_barriers;
	bool *may_wait;           /* of each process: in another run where nothing is recorded */
	int64_t run;              /* so long it took at least */
	struct graph_diagnostics diagnosed;
};

#define NO_FORK UINT64_MAX

/* As struct graph_input, whose amount is one of these: bytes that are sent, ticks that are untold, or overdue. If it is open until
 * a stamp, which is that of an event: next, next_at (else 0). `arrives`: as in struct graph_sync_point. */
struct node_input {
	struct event_ref ref;
	uint64_t bytes, untold, overdue;
	bool sure, likely, needed, candidate, receiver, never_last, progress, follows, vain, arrives;
	uint64_t next, next_at;
};

/* The first inputs of a node that is waited for from there on; how many they are. */
#define BEGIN_INPUTS 2
size_t graph_begin_inputs(const struct wait_begin *, struct node_input *);

/* A node with these inputs, which is not waited for yet. */
uint32_t graph_add_node(struct builder *, enum graph_kind, const struct node_input *, size_t n);
/* Likewise, but in another run it may wait for less, for others, or for what comes later: nothing of it is proved. */
uint32_t graph_add_chance(struct builder *, enum graph_kind, const struct node_input *, size_t n);
void graph_wait(struct builder *, struct event_ref, uint32_t node);
void graph_end_by(struct builder *, struct event_ref, uint32_t node); /* it was no wait */
void graph_wait_perhaps(struct builder *, struct event_ref, uint32_t node); /* besides what it has waited for */

/* One that is waited for once, where `what` arrives; until the next is made. */
struct graph_node *graph_arrival(struct builder *, struct event_ref, uint32_t what, const struct node_input *,
		   size_t n);

/* `exit` may have waited for anything since `enter`; most likely for what takes as long as it did from `since` on. What it was for
 * is GRAPH_EXPIRED, GRAPH_OWN_LIMIT, GRAPH_LIMIT_LOCKED, GRAPH_FOUND, GRAPH_TIMED, GRAPH_ANSWERED or 0. */
void graph_unknown_since(struct builder *, struct wait_begin, struct event_ref exit, struct event_ref since, uint32_t what);
/* It waited for a moment that comes as long after `since` in any run, and was over for so many ticks when it began. */
void graph_expired_at(struct builder *, struct wait_begin, struct event_ref exit, struct event_ref since, uint64_t late);
void graph_timed_out(struct builder *, struct wait_begin, struct event_ref exit, uint32_t what);

/* Likewise; which is made into a node at last, with what most likely ended it, if anything did. */
void graph_unknown(struct builder *, struct wait_begin, struct event_ref exit);
/* Likewise; until the next one. */
struct unknown_wait *graph_add_unknown(struct builder *, struct wait_begin, struct event_ref exit);
/* Its time limit has ended it, as it has those that were tried before, and it is not tried again. The lock is that which it takes
 * then, if its id is not ARG_NONE, and the stamp the last attempt's. */
void graph_add_time_out(struct builder *, struct wait_begin, struct event_ref exit, struct looked_lock);
uint32_t graph_unknown_put(struct builder *, const struct unknown_wait *); /* returns how many inputs come before that */
void graph_unknown_by(struct builder *, const struct unknown_wait *, const struct event_ref *cause); /* or NULL */
/* Any of these has, most likely the last; or nobody: it has looked whether they had (GRAPH_SEEN). */
#define GRAPH_MOST_SEEN 16
void graph_unknown_seen(struct builder *, const struct unknown_wait *, const struct event_ref *causes, size_t n);
void graph_fetch(struct builder *, const struct unknown_wait *, const struct event_ref *cause); /* likewise */

/* The thread comes to a barrier at an address, for the n-th time, from 0: a number of that barrier, which is none of a group. And
 * whether a thread ever comes to one, if it is such a number. */
uint32_t graph_address_barrier(struct builder *, uint32_t thread, uint64_t address, uint64_t *n);
bool graph_is_address_barrier(uint32_t number);
bool graph_comes_to(const struct builder *, uint32_t number, uint32_t thread);

/* What came later than the node that was made last, perhaps (graph.h). */
void graph_add_late(struct builder *, struct event_ref, int64_t lag);

double graph_seconds(const struct builder *, uint32_t thread, uint64_t ticks);

/* From one event to another; and whether that was certainly behind it. */
frz_time graph_between(const struct builder *, struct event_ref first, struct event_ref then);
bool graph_certainly_before(const struct builder *, struct event_ref first, struct event_ref then);
struct timed_moment graph_timed(const struct builder *, struct event_ref); /* for times_between_timed() */

/* From the event on. */
void graph_set_schedule(struct builder *, struct event_ref, enum graph_schedule);

/* A new group; and who comes shares what there is to do with the others of a group, and has a piece of it then. */
uint32_t graph_group(struct builder *, bool one);
void graph_request(struct builder *, struct event_ref comes, struct event_ref has, uint32_t group);
/* One point of a group (GRAPH_REQUESTS, GRAPH_OBTAINS or GRAPH_FINISHES), of a wait in which tasks are run (GRAPH_COMES) or of such
 * a run (GRAPH_RUNS), with the number of that. */
void graph_point(struct builder *, struct event_ref, int how, uint32_t number);

void graph_diagnose(struct diagnostic *, struct event_ref, uint32_t site);
void graph_add_diagnostic(struct diagnostic *, const struct diagnostic *then);

void graph_begins(struct builder *); /* of all threads */
void graph_let_go(struct builder *, struct event_ref); /* what happens there may be sooner or later in another run */
/* The thread begins after the cause; `recorded`: because of it. */
void graph_begin_after(struct builder *, uint32_t thread, struct event_ref cause, bool recorded);

/* Who gave bytes may have had to wait for room, perhaps until what the `other` side did last (at = NO_EVENT: not
 * known). */
struct graph_node *graph_room(struct builder *, struct wait_begin, struct event_ref other, struct event_ref exit);

/* When a thread, which has events, was at its end, if that is known to have been until then, or else with its last event. What it
 * did behind that is in no record, but whoever waited for its end waited for it. */
struct event_ref graph_end_of(const struct builder *, uint32_t thread, uint64_t until);

/* A thing that a thread has taken, perhaps with others; what put it there, or at = NO_EVENT; where the work on it begins, or
 * NO_EVENT; and the event before. */
struct taken { struct event_ref has, put, before, works; };

/* Of all that one thread has taken, in that order, finds where the work on each begins. False: nobody knows, or it takes one at a
 * time. */
bool graph_find_works(const struct builder *, struct taken *, size_t n);
/* The work on it begins only when it is there. */
void graph_work_behind(struct builder *, const struct taken *);

#define GRAPH_POSTS_SEEN 64 /* that are looked at, of one place */

/* Of posts[0 .. i], the last that were given at one place, by time, a wait at a site since then has waited for the last: for whom
 * else as well. To be freed. */
struct node_input *graph_alike(const struct builder *, const struct event_ref *posts, size_t i, struct event_ref since,
			       uint32_t site, size_t *n);

/* graph_serials.c: whoever is the last at a barrier does what the serial thread does. */
void graph_serials(struct builder *);

/* A new queue; or the inbox of a process, or of a thread, at a place, for what is accepted there, or 0; TR_NO_SITE: of one of
 * several requests. */
uint32_t graph_queue(struct builder *, enum graph_queue_kind, size_t permits);
uint32_t graph_inbox(struct builder *, uint32_t whose, uint32_t place, uint64_t accepts);

/* Two of them are one; before either has a turn. */
struct inbox_place { uint32_t whose, site; uint64_t accepts; };
void graph_join_inboxes(struct builder *, const struct inbox_place *, const struct inbox_place *);

/* Of the node that was made last; turns come in the order in which they were had. */
void graph_turn(struct builder *, struct graph_turn);
void graph_release(struct builder *, struct event_ref, uint32_t queue);

/* What is to be complete at a rank, or at all (DPROF_TARGET_ALL), may go on only when they call MPI: the last such call that was
 * certainly in a wait. Returns how many there are, 0 or 1. */
size_t graph_add_target(const struct builder *, uint64_t target, struct event_ref begin, struct event_ref end, struct node_input *);

/* All that was taken of one lock, one semaphore, one rank: each take's `epoch` is found here, and they are sorted, so that those of
 * a thread up to a barrier are together. Returns whether it is a pool of work. */
bool graph_find_pool(struct builder *, struct take *, size_t n);
/* Something was taken of what one thread alone has ever taken of: a lock, or a counter of a process. What several take so at one
 * place is of one kind, and they might take each other's. They are given up. */
struct own_take { uint32_t process; struct take take; };
struct own_takes { struct own_take *v; size_t n; };
void graph_find_own_pools(struct builder *, struct own_takes *);
/* Likewise all that was claimed at places that have something to do with each other. */
void graph_find_claimed_pool(struct builder *, struct take *, size_t n);
/* Behind the barrier up to which a thread does what it has taken; or its last event. */
struct event_ref graph_end_of_take(const struct builder *, const struct take *);

/* Whether each of these threads is in marked regions, and in none that another of them is ever in. */
bool graph_own_regions(struct builder *, const uint32_t *threads, size_t n);
/* Whether all are in a marked region, but not all as often. */
bool graph_differ_in_regions(struct builder *, const uint32_t *threads, size_t n);

/* At this site the program gives out work, or is told something by chance. */
void graph_note_pool(struct graph *, uint32_t site);

/* Nor does anybody say there for whom it waits. */
void graph_note_unsaid(struct graph *, uint32_t site);

#endif
