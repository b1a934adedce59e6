/* SPDX-License-Identifier: MIT
 *
 * graph_walk.h - a thread on the way through its events, as the files graph_walk*.c share it. */
#ifndef ANALYSIS_GRAPH_WALK_H
#define ANALYSIS_GRAPH_WALK_H

#include "analysis/graph/graph_records.h"

/* A thread requested a task, and obtained one; it `finishes` where none was left of those for which it waited. */
struct task_request { struct event_ref ref, has; bool finishes; };

/* Something begun with an id, whose completion comes later. */
struct begun_id { uint64_t id, at; uint32_t message; bool as_sender, looked_for, of_unknown; };

/* A task that runs: of the records of runs, and the site of its region. */
struct running { size_t run; uint32_t site; };

/* What teams share out: loops, sections, barriers with tasks, ... */
struct team_constructs {
	struct ids known; uint32_t *groups; size_t ngroups;      /* by team and number: the group of those who have come there */
	struct ids members; uint64_t *reached; size_t nmembers;  /* by team and thread: to how many of them it has come */
};

struct thread_walk {
	struct builder *b;
	struct walk_records *records; /* what it leaves */
	struct team_constructs *constructs; /* of all threads */
	uint8_t *passes;          /* of each site, for trace_pass(): it is a region; of all threads */
	uint32_t thread, process;
	struct tr_cursor events;
	uint64_t at;              /* the next event */
	bool ended;
	struct event_marks *marks;
	size_t mark;              /* the next one */
	struct replay replay;     /* of its operations */
	struct begun_id *begun; size_t nbegun;

	/* of the outermost operation */
	struct tr_event entered;
	struct event_ref enter;
	bool explained, completed, doubtful;
	bool looked_for;          /* it completes what was begun because it had been looked for */
	bool sends_outside;       /* it sends, or completes what was begun to, on a communicator that may have members
				     outside of the trace */
	bool unmatched;           /* it completes what this thread has not begun, and of which no match tells */
	bool found_none;          /* it has looked for a message, of which there was none */
	uint32_t sent;            /* the message that it sends */
	struct attached *attached; size_t nattached; /* messages that are completed in it */
	size_t nfound;            /* messages that it has found, and not yet fetched: MPI_Mprobe, MPI_Mrecv */
	uint64_t found_bytes;     /* of the longest of them */
	struct inside *inside; size_t ninside; uint32_t nregions; /* inside of it, and how many of them are open */
	bool bad;                 /* records were lost: what has no match has been said */
	bool chooses;             /* it has waited for it is not known whom (poll, ...), who may say whose bytes it takes; */
	uint64_t look_at, looked_since; /* the last time until this event, since that one; */
	struct event_ref look_began; /* its ENTER; */
	uint32_t looks;           /* so often at several channels, and not only for it is not known what (pause, fgets); */
	bool look_is_attempt;     /* and whether it was such as may be in vain, of which most leave no record */

	struct running *running; size_t nrunning; /* the innermost last */
	bool of_several;          /* threads of its process: three or more */
	size_t unsaid;            /* the last call that never says for whom it waits: of the builder's unknown, and 1; or 0 */
	uint32_t unsaid_at;       /* at this site */
	uint64_t relooks_at;      /* right behind it a window was locked, until then */
	size_t counted;           /* what it has counted last: of the records of windows, and 1; or 0 */
	bool in_blocking_call;    /* the last of them goes on */
	struct collective_id { uint64_t group, seq; } *left; size_t nleft; /* for tasks, likewise */
	bool resumed;             /* the outermost operation was one of those */

	/* What was taken last: of the records of sync events or of bytes, and 1; or 0. And whether nothing else has begun since. */
	size_t took, took_bytes;
	bool just_took;
	bool takes_on;            /* bytes, of which there could have been more: perhaps it goes on until it has them all */
	bool by_chance;           /* what it does up to its next barrier (OP_ELECTS) */
	uint32_t nbare, nshared;  /* barriers without a group to which it has come, and of processes */
	bool behind_any;          /* operation: what it does next counts */
	bool works;               /* it has done something since the last one in which others take part */
	bool may_be_cancelled;    /* likewise, since then, of this group; and whoever cancelled would have said so */
	bool cancels_said;
	struct event_ref goes_on_since;
	uint64_t goes_on_in;

	struct section section;   /* the last, and the event with which it began, and 1; or 0 */
	size_t section_at;

	uint64_t waited;          /* when it was last done with an operation in which others take part, but for locks; or 0 */

	/* The last wait for a condition variable; if it was for nothing, its mutex, taken again and given back. */
	size_t woken;             /* its event, and 1; or 0 */
	size_t retaken, returned; /* likewise */

	size_t made;              /* the last task: of the records of tasks, and 1; or 0 */
	uint64_t order;           /* of what concerns tasks, so far */
	struct diagnostic unsent, alone, missing;

	/* Attempts: the last event that was none, nor sleep nor input and output; the end of the last operation */
	bool any;                 /* there has been an event */
	struct event_ref before, operation;
	bool failed, failed_since; /* one has failed since `before`, and since `operation` */
	struct event_ref tried;   /* the first that has since `before` */
	struct walk_moments { uint32_t site; uint64_t last, step; bool stay; } until; /* until which it has waited last, for nothing */
	struct walk_time_out { struct wait_begin begin; struct event_ref exit; uint32_t site; struct looked_lock lock; bool open; } time_out;
				  /* of the last that had been tried before: open until it is known whether it is tried again */
	struct sleeps sleeps;     /* the last of them; n is 0 in front of the first; and of the records of sleeps, and 1 */
	size_t kept_sleeps;
	uint64_t look_events;     /* since the last one: of locks, and of looks that were perhaps in vain */
	uint64_t failed_at, failed_for; /* the last one that did, and how long it took */
	struct found_message found; /* the last look that found one, of which it is not known yet what it was; exit.at is 0: none; */
	size_t kept_found;        /* and the last one of which that is: of their records, and 1; or 0 */
	bool vain_wait;           /* a time limit has ended one, and it has waited for nothing else since, but for locks */
	uint32_t vain_look_at;    /* site at which a time limit has ended a look for it is not known whom, or TR_NO_SITE; */
	uint32_t found_at;        /* and at which it has taken bytes that were found there, or TR_NO_SITE */
	struct event_ref perhaps; /* the end of the last one that a time limit or a signal has ended, at */
	uint32_t perhaps_at;      /* this site; or TR_NO_SITE; */
	uint32_t polled_at;       /* and that of the last that was for a timer, which it reads; or TR_NO_SITE; */
	uint64_t perhaps_slept;   /* and how long it has slept since */

	enum graph_schedule schedule; /* of the work that it does now, */
	uint64_t scheduled_by;    /* by the team of this group */
	bool in_pieces;           /* that work, each of which is a marked region, or */
	bool pieces_said;         /* as it is recorded, */
	struct event_ref first_piece; /* the first from here on */
	uint32_t group, npieces;  /* then: of the graph's; and how many it has had */
	uint32_t piece_depth;     /* marked regions that have begun in this one */
	bool runs_tasks;          /* it has left an operation for a task that another might have run, and not come back for good */
	bool in_no_team;          /* it has left its team, and waits for another one: no code of the program's runs there */
	bool just_ran;            /* a task has ended in the last event, and it runs in none */
	bool has_tasks;           /* it is in a barrier of its team, and runs tasks there that another may run: */
	uint32_t task_group, ntasks; /* of this group; and how many it has run */
	struct task_request *requests; size_t nrequests; /* for tasks, while it waited for its own, since its team's last barrier */
	bool comes_too_often;
	bool waits_on;            /* it still does */
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
struct collective_id walk_collective(const struct tr_event *);
void walk_wait_for_tasks(struct thread_walk *, struct event_ref exit, uint64_t number, bool all);
bool walk_is_team_barrier(const struct thread_walk *, const struct tr_event *);

/* The outermost operation, of a team's barrier or apart from one, is left for a task that another thread might have run. */
void walk_begin_tasks(struct thread_walk *, struct event_ref exit);
void walk_begin_tasks_apart(struct thread_walk *, struct event_ref exit);
void walk_end_tasks_apart(struct thread_walk *);
void walk_share_tasks_apart(struct thread_walk *); /* the team's barrier is over */
void walk_begin_task_chance(struct thread_walk *, struct event_ref exit);
void walk_end_task_chance(struct thread_walk *, struct event_ref exit);

/* ---- graph_walk_attempts.c: waits in vain, tried again -------------------------------------------- */

bool walk_retakes(const struct thread_walk *); /* a mutex, behind a wait that ended without what it waited for */
struct wait_begin walk_begin_of(const struct thread_walk *); /* the outermost operation, with the attempts before it */
bool walk_was_in_vain(const struct thread_walk *);
void walk_settle_time_out(struct thread_walk *, bool tries_again);
void walk_try_again(struct thread_walk *, const struct tr_event *); /* or not: when the outermost operation is entered */
void walk_note_attempt(struct thread_walk *, struct event_ref exit); /* when the outermost operation has ended */
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
void walk_count(struct thread_walk *, const struct tr_event *, struct event_ref);
void walk_end_counting(struct thread_walk *, struct event_ref exit);
uint64_t walk_mix(uint64_t a, uint64_t b); /* one number for two */

/* ---- graph_walk_operations.c: what an operation has waited for ------------------------------------ */

bool walk_visits(const struct thread_walk *, const struct tr_event *); /* a barrier that says where it is, and no group */
void walk_visit_barrier(struct thread_walk *, const struct tr_event *, struct event_ref enter, struct event_ref exit);
void walk_attach(struct thread_walk *, uint32_t message, bool as_sender); /* it is completed in the outermost operation */
void walk_note_unseen(struct thread_walk *, uint32_t site);
bool walk_shares(const struct thread_walk *, const struct tr_event *);
struct sync_object walk_object(const struct thread_walk *, const struct tr_event *);
void walk_add_signal(struct thread_walk *, struct sync_object, struct event_ref, enum sync_event_kind, uint32_t site);
void walk_wait_again(struct thread_walk *);
uint32_t walk_find_thread(const struct thread_walk *, uint64_t number); /* of its process; or the number of threads */
void walk_end_operation(struct thread_walk *, struct event_ref exit);

#endif
