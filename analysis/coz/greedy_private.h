/* SPDX-License-Identifier: MIT
 *
 * greedy_private.h - what the parts of the replay share.
 *
 *   greedy.c           what is replayed, and what a scenario saves
 *   greedy_prepare.c   looked at once, before the first replay: turns and what they took, looks, inputs
 *   greedy_pieces.c    pieces of work that are shared out
 *   greedy_ready.c     which of them are ready only when others are done
 *   greedy_tasks.c     tasks of OpenMP, and who runs which
 *   greedy_services.c  what is done with each message from anyone
 *   greedy_leaders.c   what one does for all who have come
 *   greedy_attempts.c  attempts in vain are part of the wait that they are in
 *   greedy_run.c       one replay, in the order of time
 *
 * Threads of the what-if are *bodies*: where work is shared out, one may go on where another thread was in this run. */
#ifndef ANALYSIS_GREEDY_PRIVATE_H
#define ANALYSIS_GREEDY_PRIVATE_H

#include "analysis/base/heap.h"
#include "analysis/coz/greedy.h"

#define GREEDY_NONE   UINT32_MAX
#define GREEDY_PASSED UINT8_MAX /* a point within a wait that begins before it: it is no moment of its own */

/* A synchronisation point: when it was, and how much less there would be to do before it, in the scenario. opens: some piece of
 * work is ready then. */
struct greedy_point { double at, less; uint32_t thread, number; uint8_t what; bool ends, opens; };
struct greedy_less { uint32_t point, region; double ticks; };

/* What a node waits for; its inputs but those of its turn. */
struct greedy_wait {
	double saving;           /* the least so far */
	uint32_t missing;        /* inputs */
	uint32_t turn;           /* or GREEDY_NONE */
	uint32_t bodies;         /* that sleep: the first, and 1; or 0 */
	uint32_t instead;        /* the turn whose message came, of an inbox; or GREEDY_NONE */
	bool happened;
};

/* Somebody in a queue, or what arrived in an inbox: since when, what decides where it stands, and the turn in this run. */
struct greedy_waiter { double since, place; uint32_t turn; };
struct greedy_line { struct greedy_waiter *v; size_t n, first; };

struct greedy_queue {
	struct greedy_line waiting, arrived;
	size_t readers, permits;
	size_t came;             /* what was left there, so far */
	size_t all;              /* batches: and in this run, */
	uint32_t last_turn, last_at; /* of which that turn takes the last, and the point at which it is waited for */
	bool held;
	bool barges;             /* a lock, or in this run somebody was before those who stood there; */
	bool names;              /* an inbox: some receives take only messages of one stream, or some kinds first */
	bool answers, gives_others; /* an inbox: some is given to whom the message is from, or to another one who sends there */
	bool wakes;              /* so somebody stands there who is not awake yet, */
	double awake;            /* but then */
	double left;             /* when it was last given back; */
	double latest;           /* and when, in this run, the latest of what was given back so far */
	uint32_t last;           /* turn that was had */
};

/* Behind the point at which a thread came there is a piece of work, which it had then. */
struct greedy_piece {
	double at;               /* when it was had */
	uint32_t point;
	uint32_t ends;           /* point at which its thread came for the next one; or GREEDY_NONE */
	uint32_t behind;         /* point at which it was ready; or GREEDY_NONE: it has always been */
	size_t left;             /* a batch: so much had been left when it was had */
	bool taken, ready;
};
struct greedy_opening { uint32_t point, group, piece; };
struct greedy_own { uint32_t point; bool passed; };

/* How long a thread's pieces take, and how much less in the scenario: the mean of `n`. */
struct greedy_pace { uint32_t thread; size_t n; double took, less, least, most; };

/* Of what one does for all: a thread comes, and goes away again, so long behind the end; and where what it does itself begins and
 * ends, or GREEDY_NONE. All are points. */
struct greedy_visit { uint32_t came, left, begins, ends; double wakes; };

/* What one did for all who had come before it began with that, from when it could; when it was over; and how much less it is. */
struct greedy_lead { uint32_t came, begins, ends; double over, until_begins, took, less; };
struct greedy_come { uint32_t body; double at; };

struct greedy_group {
	struct greedy_piece *pieces; size_t npieces, next; /* in the order in which they were had */
	struct greedy_own *own; size_t nown;    /* where a thread goes on by itself: where it finishes, and where it
						   comes last; by point */
	struct greedy_pace *paces; size_t npaces; /* by thread, where it is the thread that decides how long a piece takes; or none */
	bool waits;              /* who comes while no piece is ready waits: */
	uint32_t first_sleeper, last_sleeper; /* bodies, and 1; or 0 */
	struct greedy_visit *visits; size_t nvisits; /* where one does something for all; or none */
	struct greedy_lead *leads; size_t nleads, led; /* so often so far; */
	struct greedy_come *come; size_t ncome;  /* who stands there; */
	double begins, over;                     /* and what is done, if it is */
	bool is_led;
};

/* When somebody had his turn; what it took to be given what another gave back; and how much later than it seems he stood in
 * the queue, and what arrived for him. */
struct greedy_had { double at, handed, late, came_late; };

/* A receive of anyone: with which input its sender waits until it begins, or GREEDY_NONE; and in this replay whether that has
 * met it, and when it began. */
struct greedy_receive { uint32_t meets; bool met; double began; };

/* What is done with a message that is from anyone: the points from `first` on, up to another; behind the end of the wait, where it
 * is said at once that the next one may come. Of one that is `open` it is not known how much of what comes behind the last of the
 * points is done with it, and how much with none. One that `answers` gives something back to whom the message is from. */
struct greedy_service { uint32_t waits, first, end; bool open, answers; };

struct greedy_body {
	uint32_t thread, point, next_sleeper;
	uint32_t serves, other;  /* the turn that it is behind, if it serves another one's message; or GREEDY_NONE */
	double saving;
	double slower;           /* a piece that another thread had here: so much less it saves in each tick of that */
};

struct greedy {
	const struct graph *g;
	const struct savings *all;
	struct greedy_point *points; size_t npoints;
	struct greedy_less *less; size_t nless;
	uint32_t *first;         /* point of each thread */
	uint32_t nthreads_seen, of_thread; /* that comes now */
	double *came, *slack;    /* of each input: when; absent: NAN */
	uint32_t *turn_of;       /* of each node; */
	uint32_t *waits_for;     /* how many of its inputs are waited for, but for those of its turn */
	struct greedy_wait *waits;
	struct greedy_had *had;  /* of each turn */
	struct greedy_service *services; /* likewise, of inboxes */
	struct greedy_receive *receives; /* likewise */
	bool *met_at;            /* each input: it is the begin of a receive from anyone */
	bool *shares;            /* each thread: its work may be another's */
	bool serves;             /* whoever comes is served as he was */
	bool names;              /* who names a sender may take another message of that one */
	struct greedy_queue *queues;
	struct greedy_group *groups;
	struct greedy_opening *openings; size_t nopenings; /* by point */
	struct greedy_tasks *tasks; /* or NULL: they are run where they were */
	struct greedy_body *bodies;
	struct heap heap;
	size_t nprobes;
	size_t looks, unknown;   /* nodes that are looks; and others of which nobody knows what was waited for */
	double *baseline;        /* what `found` is with nothing faster; or NULL */
	bool baseline_changed, baseline_stuck;
	size_t region;           /* whose time is in `points`, */
	bool region_has;         /* if there is any */

	/* of one replay */
	double share, *found;    /* each probe's saving, and the end's */
	size_t passed;           /* points */
	double now;              /* when it is, at the point that is done */
	bool changed;            /* something was decided otherwise than in this run, or is waited for that was not */
};

static inline bool greedy_is_of_turn(const struct graph_turn *turn, const struct graph_node *j, uint32_t input)
{
	return input >= j->first + turn->first && input < j->first + turn->first + turn->n;
}

static inline bool greedy_is_inbox(const struct greedy *y, uint32_t turn)
{
	return turn != GREEDY_NONE && y->g->queues[y->g->turns[turn].queue].kind == GRAPH_INBOX;
}

static inline uint32_t greedy_sender_of(const struct greedy *y, uint32_t turn)
{
	const struct graph_turn *t = &y->g->turns[turn];
	return y->g->inputs[y->g->nodes[t->node].first + t->first].thread;
}

/* How long a thread has worked before a point, and behind its last one. */
static inline double greedy_works_until(const struct greedy *y, uint32_t point)
{
	return y->points[point].what == GRAPH_WAITS ? 0 : y->points[point].at - y->points[point - 1].at;
}

/* By how much the begin of a turn's wait, or what arrived for it, could have come later: the least of them. */
double greedy_least_slack(const struct greedy *, const struct graph_turn *, bool arrived);

/* Once all points are there; its parts. */
void greedy_prepare(struct greedy *);
/* The input with which a node's wait begins. */
uint32_t greedy_begin_of(const struct greedy *, const struct graph_node *);
void greedy_pass_attempts(struct greedy *);
void greedy_find_services(struct greedy *);
void greedy_find_pieces(struct greedy *);
void greedy_find_ready(struct greedy *);
/* What is behind an opening point is ready: pieces of one group, which is returned. */
uint32_t greedy_make_ready(struct greedy *, uint32_t point);
/* The piece that was taken at such a point, as it was ready only then; or NULL. */
struct greedy_piece *greedy_just_ready(struct greedy *, uint32_t point);
void greedy_find_tasks(struct greedy *);
void greedy_close_tasks(struct greedy *);
/* For the times of the region that is asked for; and how much longer than here, in each tick, a piece takes a thread. */
void greedy_find_paces(struct greedy *);
double greedy_slower(const struct greedy *, const struct greedy_group *, const struct greedy_piece *, uint32_t thread);

/* When a replay begins; when a body comes to where one does something for all: false if it just goes on; and when that is over. */
void greedy_find_leaders(struct greedy *);
void greedy_begin_leaders(struct greedy *);
bool greedy_come_to_lead(struct greedy *, struct greedy_body *, uint32_t group);
void greedy_end_lead(struct greedy *, uint32_t group);

/* When a replay begins; when an input of a node has come, which may be that a task is made, or can begin; and when a body comes to
 * where it may run one: false if it sleeps there, else it is at a point that it passes. */
void greedy_begin_tasks(struct greedy *);
void greedy_make_task(struct greedy *, uint32_t input);
bool greedy_come_for_task(struct greedy *, struct greedy_body *);

/* Points of a thread, up to one, are passed now, without it; what is posted there is posted now. */
void greedy_pass_at_once(struct greedy *, uint32_t from, uint32_t to);

/* With so much of each region's time, from 0 to 1, left out. False where it got stuck, or left out what somebody did. */
bool greedy_run(struct greedy *, double share);

#endif
