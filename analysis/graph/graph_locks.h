/* SPDX-License-Identifier: MIT
 *
 * graph_locks.h - locks, condition variables, semaphores and whatever else threads take and signal, as walks along threads find
 * it. */
#ifndef ANALYSIS_GRAPH_LOCKS_H
#define ANALYSIS_GRAPH_LOCKS_H

#include "analysis/graph/graph_masters.h"
#include "analysis/graph/graph_private.h"

/* The lock that a thread took last, and when; taken.at = NO_EVENT: none. */
struct section { uint32_t process; uint64_t id; struct event_ref taken; };

/* In a process, or in one of a host's: a lock taken or released, a wait ended, a signal. */
enum sync_event_kind { SYNC_RELEASED, SYNC_SIGNALLED, SYNC_TAKEN, SYNC_WOKEN, SYNC_MADE };
struct sync_event {
	uint32_t process;         /* or behind them a clock, of what those share whose clock it is: graph_is_of_processes() */
	enum sync_event_kind kind;
	uint64_t id;
	struct event_ref ref;     /* the event; of TAKEN and WOKEN the EXIT */
	struct event_ref enter;
	struct wait_begin begin;  /* of TAKEN and WOKEN */
	uint32_t site;
	uint32_t retaken;         /* TAKEN that relocks: its number in the records of these */
	bool shared;              /* a reader's */
	bool at_once;             /* TAKEN, WOKEN: its thread has begun nothing between the operation before and this one */
	bool goes_on;             /* TAKEN, WOKEN: behind it, before the next barrier, its thread begins something else */
	bool for_room;            /* WOKEN: it gave a message, for which there had to be room; */
	bool blocked;             /* WOKEN: there was nothing, or no room, at first */
	bool found;               /* there was what is waited for: it waited for nobody */
	bool relocks;             /* WOKEN: the mutex is taken next; TAKEN: this is that */
	bool in_wait;             /* TAKEN, RELEASED: only to wait again for a condition variable */
	bool in_row;              /* TAKEN, RELEASED: one of several looks, of which another run may have more or fewer */
	bool for_good;            /* of a future or a latch */
	bool behind_vain;         /* a time limit has ended the last wait of its thread before, but for locks */
	uint64_t waited;          /* SIGNALLED: its thread may have waited for others last until then, but for locks; or 0 */
	uint64_t condition;       /* TAKEN that relocks: for which it waited; of another: what its thread signalled next, or 0 */
	uint64_t target;          /* TAKEN: of a window, at this rank; or ARG_NONE */
	uint64_t counts_from;     /* SIGNALLED for good: as much was left of what is counted down; 0: not known. MADE: so many permits */
	int64_t message, asked;   /* of a queue of messages: arg_message_kind(), arg_asked_kind() */
	struct section section;   /* of SIGNALLED and WOKEN: in which it was, or behind which */
	size_t tried_row;         /* TAKEN, WOKEN: of the records of what was tried, and 1; or 0 */
};

/* A mutex that is taken again behind a wait for a condition variable. */
struct retaken {
	struct event_ref waiting; /* the wait began, */
	struct wait_begin begin;  /* with all that it had waited before for nothing, */
	struct event_ref resumes; /* or goes on with one that most likely was for nothing, and began there; or all 0 */
	uint32_t site;            /* at this site */
};

/* Visits to one region, with nothing but attempts in between, or locks and waits that were in vain (`timed`): graph_polls.c.
 * Whether they ended with an attempt that was not, or a wait; and the last lock behind the last of them. */
struct polled_row {
	struct event_ref first, last;
	uint64_t n, longest;
	uint32_t site;
	bool ended, timed;
	bool takes_some, behind;          /* by an attempt that got some of several; its first piece comes behind such a one */
	struct poll *look;
	struct event_ref begin, vain;     /* the first wait in vain before the first piece, and since the last; stamp 0: there is none; */
	bool tries, tried;                /* and whether it was one that a time limit ended, and no sleep */
	uint64_t waited, since, open;     /* how long such waits took since begin, and since vain; and when one has begun, or 0 */
	uint64_t worked;                  /* what else there was from begin until it was tried last */
};
struct tried_row { struct polled_row row; struct event_ref exit, cause; bool known; };
struct polled_pieces { uint64_t n; bool others; }; /* of a region: others end otherwise */

struct sync_records {
	struct sync_event *v; size_t n;
	struct retaken *retaken; size_t nretaken;
};

static inline struct retaken *graph_retaken(const struct sync_records *r, const struct sync_event *relocks)
{
	return &r->retaken[relocks->retaken];
}

struct tried_records {
	struct tried_row *v; size_t n; /* rows of pieces in front of what was tried */
	struct polled_pieces *pieces;  /* of each site */
};

struct voter;
struct voter_records { struct voter *v; size_t n; };

/* What the files share that make nodes of it. */
struct sync_pass {
	struct builder *b;
	const struct sync_records *events;
	struct tried_records *tried;   /* of which it is said here what ended each */
	struct voter_records *voters;  /* which are found here */
	struct own_takes own;          /* likewise */
	struct exchange_records exchanges; /* likewise, by semaphores */
	bool *tells;                   /* of each process: its threads signal condition variables, or post where nobody has waited, so
					  that in another run one may wait that did not wait here */
	bool *waits_at;                /* each site with a line at which a lock is taken, and then some condition
					  variable waited for */
	uint64_t looked_at;            /* events, so far: graph_conditions.c */
};

void graph_locks(struct builder *, struct sync_records *, struct tried_records *, struct voter_records *);

/* Stamps of the host that differ by no more may have been taken in the other order: its cores do not show quite the same. */
uint64_t graph_skew_of(const struct builder *, const struct sync_event *);

/* It is not of one process. */
static inline bool graph_is_of_processes(const struct builder *b, const struct sync_event *t)
{
	return t->process >= b->graph->trace->nprocesses;
}

/* Nothing is known to have ended the wait; in another run something may. */
void graph_wait_for_none(struct builder *, const struct sync_event *wait);

/* The first of the events of a lock, or else of what is signalled, at this stamp or behind it. */
size_t graph_sync_events(const struct sync_records *, uint32_t process, uint64_t id, bool lock, uint64_t stamp);

/* Adds to inputs for whom a wait since then, at a site, has waited besides the signal: those who count down to it, or threads
 * alike. Returns how many. */
size_t graph_add_counted(const struct sync_pass *, const struct sync_event *signal, struct event_ref since, uint32_t site,
			 struct node_input **inputs, size_t *n);

/* ---- graph_polls.c: attempts between pieces of work ------------------------------------------------ */

struct byte_records;
struct process_records;
struct join_records;
void graph_find_tried(struct builder *, const struct byte_records *, const struct process_records *, const struct join_records *,
		      const struct sync_records *, struct tried_records *);
void graph_tried_by(struct tried_records *, const struct sync_event *, struct event_ref cause);
void graph_end_tried(struct builder *, struct tried_records *); /* when it is said what ended each */

/* ---- graph_elections.c ----------------------------------------------------------------------------- */

/* Of a lock with a number of its own: who came first or last may decide what each of them does. */
void graph_note_voters(struct builder *, struct voter_records *, uint64_t lock, const struct take *, size_t n, bool pool);
void graph_elections(struct builder *, struct voter_records *);

/* ---- graph_semaphores.c, graph_takes.c ------------------------------------------------------------- */

/* All that concerns a semaphore, by time; for_room: of a queue of messages, that which says whether there is room for one. */
void graph_semaphore(struct sync_pass *, const struct sync_event *t, size_t n, bool for_room);

/* All that concerns a lock or a semaphore, by time: what has been taken of it, in events of that kind. `shared`: by several. */
void graph_takes(struct sync_pass *, const struct sync_event *t, size_t n, enum sync_event_kind, bool shared);

/* ---- graph_futexes.c, graph_latches.c, graph_wakes.c, graph_conditions.c, graph_ordered.c ---------- */

/* The turns of a team's ordered loops, by time. */
void graph_ordered(struct builder *, const struct sync_event *t, size_t n);

/* Those who waited until t's address had changed, of all signals and waits there, by time. */
void graph_futexes(struct sync_pass *, const struct sync_event *t, size_t n);

/* Those who looked for what is there for good, of all who gave it and looked there, by time. */
void graph_latches(struct builder *, struct tried_records *, const struct sync_event *t, size_t n);

/* All that concerns a lock, by time: which waits for a condition variable go on with one that was signalled for somebody else. */
void graph_find_resumed(struct builder *, const struct sync_records *, struct sync_event *t, size_t n);

/* All that concerns a condition variable, by time: those who need not wait have what others signalled, where it counts that. */
void graph_counting_condition(struct sync_pass *, const struct sync_event *t, size_t n);

#define GRAPH_MOST_LOOKED_AT (UINT64_C(1) << 26) /* events of locks, for all condition variables */

/* graph_leaders.c. All that concerns a condition variable, by time, and the stamps between which its lock is taken for it, but for
 * the last. Returns whether one of those who wait does something for all. */
bool graph_find_leaders(struct sync_pass *, const struct sync_event *t, size_t n, uint64_t from, uint64_t until);

/* ---- graph_counts.c -------------------------------------------------------------------------------- */

/* The event with which a section began, or NULL. */
const struct sync_event *graph_find_section(const struct sync_records *, const struct section *);

/* Who else came to the lock of the signal's section, for whom a wait since `since` has waited as well. To be freed. */
struct node_input *graph_counted(const struct sync_pass *, const struct sync_event *signal, struct event_ref since, size_t *n);

/* Who else waits for the signal at a barrier that the program has made, but for `self`; none: it is no such barrier. To be freed.
 * And who signals there would have waited for them. */
struct node_input *graph_barrier_of(const struct builder *, const struct sync_records *, const struct sync_event *signal,
				    uint32_t self, size_t *n);
void graph_signal_at_barrier(struct builder *, const struct sync_records *, const struct sync_event *signal);

#endif
