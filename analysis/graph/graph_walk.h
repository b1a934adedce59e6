/* SPDX-License-Identifier: MIT
 *
 * graph_walk.h - a thread on the way through its events, as the files graph_walk*.c share it. */
#ifndef ANALYSIS_GRAPH_WALK_H
#define ANALYSIS_GRAPH_WALK_H

#include "analysis/graph/graph_records.h"

/* A wait that a thread has left for a task: of the graph's; and in how many tasks it was there. */
struct left_wait { uint32_t wait; size_t depth; };

/* Something begun with an id, whose completion comes later. */
struct begun_id { uint64_t id, at; uint32_t message; bool as_sender, looked_for, of_unknown; };

/* A task that runs: of the records of runs, and the site of its region. */
struct running { size_t run; uint32_t site; };

/* What teams share out: loops, sections, barriers with tasks, ... */
struct team_constructs {
	struct ids known; uint32_t *groups; size_t ngroups;      /* by team and number: the group of those who have come there */
	struct ids members; uint64_t *reached; size_t nmembers;  /* by team and thread: to how many of them it has come */
};

/* Attempts (graph_walk_attempts.c): the last event that was none, nor sleep nor input and output; the end of the last operation. */
struct walk_attempts {
	struct event_ref before, operation;
	bool failed, failed_since; /* one has failed since `before`, and since `operation` */
	struct event_ref tried;   /* the first that has since `before` */
	uint64_t failed_at, failed_for; /* the last one that did, with its mutex behind it; how long it took, */
	uint64_t failed_until;    /* and when it was over */
	bool retakes;             /* the outermost operation takes a lock behind it */
	struct walk_moments { uint32_t site; uint64_t last, step; bool stay; } until; /* until which it has waited last, for nothing */
	struct walk_time_out {    /* of the last that had been tried before: open until it is known whether it is tried again */
		struct wait_begin begin; struct event_ref exit; uint32_t site; struct looked_lock lock; bool open;
	} time_out;
	struct sleeps sleeps;     /* the last of them; n is 0 in front of the first; and of the records of sleeps, and 1 */
	size_t kept_sleeps;
	uint64_t look_events;     /* since the last one: of locks, and of looks that were perhaps in vain */
	struct found_message found; /* the last look that found one, of which it is not known yet what it was; exit.at is 0: none; */
	size_t kept_found;        /* and the last one of which that is: of their records, and 1; or 0 */
	bool vain_wait;           /* a time limit has ended one, and it has waited for nothing else since, but for locks */
	struct event_ref perhaps; /* the end of the last one that a time limit or a signal has ended, at */
	uint32_t perhaps_at;      /* this site; or TR_NO_SITE; */
	uint32_t polled_at;       /* and that of the last that was for a timer, which it reads; or TR_NO_SITE; */
	uint64_t perhaps_slept;   /* and how long it has slept since */
	uint32_t vain_at;         /* site of the last that surely was in vain, since `tried`; or TR_NO_SITE */
	size_t last;              /* the last wait that perhaps was, and nothing is behind it: of the unknown waits, and 1; or 0 */
	struct looked_lock look;  /* which it had just given back before it: with that it has looked, if it takes it again at once, */
	size_t looked, seen;      /* whether that wait is over: of the unknown waits, and 1; or 0; and the last of which that is so */
};

/* Waits for it is not known whom (poll, ...), who may say whose bytes the thread takes. */
struct walk_look {
	bool chooses;             /* there has been one; */
	uint64_t at, since;       /* the last ended at this event, and had waited since that one; */
	size_t first;             /* with nothing in between: the first of them, of the unknown waits from 1; or 0 */
	struct event_ref began;   /* its ENTER; */
	uint32_t channels;        /* so often at several channels, and not only for it is not known what (pause, fgets); */
	bool is_attempt;          /* and whether it was such as may be in vain, of which most leave no record */
	uint32_t vain_at;         /* site at which a time limit has ended one, or TR_NO_SITE; */
	uint32_t found_at;        /* and at which it has taken bytes that were found there, or TR_NO_SITE */
};

/* What was taken last: of the records of sync events or of bytes, and 1; or 0. */
struct walk_taken {
	size_t event, bytes;
	bool just_now;            /* nothing else has begun since */
	bool may_be_more;         /* bytes: perhaps it goes on until it has them all */
};

/* Locks and condition variables: of the records of sync events, and 1; or 0. */
struct walk_locks {
	struct section section;   /* the last, */
	size_t section_at;        /* and with which event it began */
	size_t woken;             /* the last wait for a condition variable; */
	size_t retaken, returned; /* if it was for nothing, its mutex, taken again and given back */
};

/* Windows of MPI. */
struct walk_windows {
	size_t unsaid;            /* the last call that never says for whom it waits: of the builder's unknown, and 1; or 0 */
	uint32_t unsaid_at;       /* at this site */
	uint64_t relooks_at;      /* right behind it a window was locked, until then */
	size_t counted;           /* what it has counted last: of the records of counters, and 1; or 0 */
};

/* Tasks (graph_walk_tasks.c). */
struct walk_tasks {
	struct running *running; size_t nrunning; /* the innermost last */
	size_t made;              /* the last: of the records of tasks, and 1; or 0 */
	uint64_t order;           /* of what concerns tasks, so far */
	struct collective_id { uint64_t group, seq; } *left; size_t nleft; /* operations that it has left for tasks, the innermost last */
	bool by_chance;           /* it has left an operation for a task that another might have run, and not come back for good */
	struct left_wait *waits; size_t nwaits; /* the innermost last */
	bool just_ran;            /* for the innermost of them, one that has ended in the last event */
	bool apart;               /* it has run some since its team's last barrier, or waited for some */
	uint64_t barrier; uint32_t wait; /* the last of those that it has left for a task: its key, or 0 */
};

/* Work that its team gives out (graph_walk_work.c). */
struct walk_given_work {
	enum graph_schedule schedule; /* of what it does now, */
	uint64_t team;            /* by the team of this group */
	bool in_pieces;           /* each of which is a marked region, or */
	bool said;                /* as it is recorded, */
	struct event_ref first;   /* the first from here on */
	uint32_t group, n;        /* then: of the graph's; and how many it has had */
	uint32_t depth;           /* marked regions that have begun in this one */
};

/* Whether another thread of the team may end what it does since then; and whoever does would have said so. */
struct walk_cancellable { bool is, said; struct event_ref since; uint64_t team; };

struct thread_walk {
	struct builder *b;
	struct walk_records *records; /* what it leaves */
	struct team_constructs *constructs; /* of all threads */
	uint8_t *passes;          /* of each site, for trace_pass(): it is a region; of all threads */
	uint32_t thread, process;
	struct tr_cursor events;
	uint64_t at;              /* the next event */
	bool any;                 /* there has been one */
	bool ended;
	bool bad;                 /* records were lost: what has no match has been said */
	bool of_several;          /* threads of its process: three or more */
	struct event_marks *marks;
	size_t mark;              /* the next one */
	struct replay replay;     /* of its operations */
	struct begun_id *begun; size_t nbegun;

	/* of the outermost operation */
	struct tr_event entered;
	struct event_ref enter;
	bool explained, completed, doubtful;
	bool resumed;             /* it was left for a task */
	bool looked_for;          /* it completes what was begun because it had been looked for */
	bool sends_outside;       /* it sends, or completes what was begun to, on a communicator that may have members
				     outside of the trace */
	bool unmatched;           /* it completes what this thread has not begun, and of which no match tells */
	bool found_none;          /* it has looked for a message, of which there was none */
	uint32_t sent;            /* the message that it sends */
	struct attached *attached; size_t nattached; /* messages that are completed in it */
	struct inside *inside; size_t ninside; uint32_t nregions; /* inside of it, and how many of them are open */

	/* of all before it */
	struct walk_attempts attempts;
	struct walk_look look;
	struct walk_taken taken;
	struct walk_locks locks;
	struct walk_windows windows;
	struct walk_tasks tasks;
	struct walk_given_work given;
	struct walk_cancellable cancellable;
	size_t nfound;            /* messages that it has found, and not yet fetched: MPI_Mprobe, MPI_Mrecv */
	uint64_t found_bytes;     /* of the longest of them */
	uint64_t waited;          /* when it was last done with an operation in which others take part, but for locks; or 0 */
	uint32_t nbare, nshared;  /* barriers without a group to which it has come, and of processes */
	bool in_blocking_call;    /* the last of them goes on */
	bool in_no_team;          /* it has left its team, and waits for another one: no code of the program's runs there */
	bool by_chance;           /* what it does up to its next barrier (OP_ELECTS) */
	bool behind_any;          /* operation: what it does next counts */
	bool works;               /* it has done something since the last one in which others take part */
	struct diagnostic unsent, alone, missing;
};

static inline const struct operation *walk_operation(const struct thread_walk *w, const struct tr_event *e)
{
	return tr_operation(w->b->graph->trace, e);
}

static inline enum dprof_kind walk_kind(const struct thread_walk *w, uint32_t site)
{
	return site == TR_NO_SITE ? DPROF_KIND_REGION : w->b->graph->trace->sites[site].kind;
}

/* What is waited for or signalled: in this process, or of all that share it. */
struct sync_object { uint32_t process; uint64_t id; };

#define MOST_PIECES 4096 /* of a thread, of one construct: with more, the mean is as good */

/* ---- graph_walk_tasks.c: tasks that are made, run and waited for ---------------------------------- */

void walk_task_point(struct thread_walk *, const struct tr_event *, struct event_ref);
void walk_region(struct thread_walk *, const struct tr_event *, struct event_ref); /* regions count only as runs of tasks */
void walk_come_again(struct thread_walk *, struct event_ref);
void walk_cancel_taskgroup(struct thread_walk *);
struct collective_id walk_collective(const struct tr_event *);
void walk_wait_for_tasks(struct thread_walk *, struct event_ref exit, uint64_t number, bool all);
bool walk_is_team_barrier(const struct thread_walk *, const struct tr_event *);

/* The outermost operation is left for a task that another thread might have run; or is over. */
void walk_leave_for_task(struct thread_walk *, struct event_ref exit, uint64_t task);
void walk_end_task_wait(struct thread_walk *);
void walk_begin_task_chance(struct thread_walk *, struct event_ref exit);
void walk_end_task_chance(struct thread_walk *, struct event_ref exit);

/* ---- graph_walk_attempts.c: waits in vain, tried again -------------------------------------------- */

bool walk_retakes(const struct thread_walk *); /* a mutex, behind a wait that ended without what it waited for */
void walk_point_behind_attempt(struct thread_walk *, const struct tr_event *, struct event_ref);
struct wait_begin walk_begin_of(const struct thread_walk *); /* the outermost operation, with the attempts before it */
bool walk_was_in_vain(const struct thread_walk *);
void walk_settle_time_out(struct thread_walk *, bool tries_again);
void walk_try_again(struct thread_walk *, const struct tr_event *); /* or not: when the outermost operation is entered */
void walk_note_attempt(struct thread_walk *, struct event_ref exit); /* when the outermost operation has ended */
void walk_note_look(struct thread_walk *); /* when it has been added to the unknown waits */
void walk_note_next(struct thread_walk *, const struct tr_event *, struct event_ref); /* directly behind it */
void walk_end_look(struct thread_walk *); /* what was found is not known */

/* ---- graph_walk_work.c: work that is given out ---------------------------------------------------- */

void walk_begin_chance(struct thread_walk *, struct event_ref exit); /* up to the next barrier */
void walk_note_barrier(struct thread_walk *, struct event_ref exit);
/* Behind an operation, or what was taken last. */
void walk_note_going_on(struct thread_walk *, const struct tr_event *, uint64_t at);
void walk_note_pieces(struct thread_walk *, const struct tr_event *);  /* behind bytes of which there could have been more */
void walk_note_piece(struct thread_walk *, const struct tr_event *, struct event_ref);
void walk_begin_given_work(struct thread_walk *, const struct tr_event *, struct event_ref);
void walk_note_cancellation(struct thread_walk *, const struct tr_event *, struct event_ref);
void walk_end_cancellable(struct thread_walk *, const struct tr_event *, struct event_ref);
void walk_end_given_work(struct thread_walk *, struct event_ref exit);
uint32_t walk_group(struct thread_walk *, uint64_t team, uint64_t number, bool one); /* those who have come to a team's construct */
void walk_claim(struct thread_walk *, const struct tr_event *, struct event_ref);
void walk_count(struct thread_walk *, const struct tr_event *, struct event_ref);
void walk_end_counting(struct thread_walk *, struct event_ref exit);

/* ---- graph_walk_operations.c: what an operation has waited for ------------------------------------ */

bool walk_visits(const struct thread_walk *, const struct tr_event *); /* a barrier that says where it is, and no group */
void walk_visit_barrier(struct thread_walk *, const struct tr_event *, struct event_ref enter, struct event_ref exit);
void walk_attach(struct thread_walk *, uint32_t message, bool as_sender); /* it is completed in the outermost operation */
void walk_note_unseen(struct thread_walk *, uint32_t site);
void walk_note_filled(struct thread_walk *, uint32_t site); /* graph.filled */
bool walk_shares(const struct thread_walk *, const struct tr_event *);
struct sync_object walk_object(const struct thread_walk *, const struct tr_event *);
void walk_add_signal(struct thread_walk *, struct sync_object, struct event_ref, enum sync_event_kind, uint32_t site);
void walk_wait_again(struct thread_walk *);
uint32_t walk_find_thread(const struct thread_walk *, uint64_t number); /* of its process; or the number of threads */
void walk_end_operation(struct thread_walk *, struct event_ref exit);

#endif
