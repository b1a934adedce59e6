/* SPDX-License-Identifier: MIT
 *
 * coz_private.h - what coz.c, coz_nodes.c, coz_thread.c and orders.c share.
 *
 *   coz_thread.c  each thread by itself: where it is, and what is cut of its time before each of its synchronisation points
 *   coz_nodes.c   one node: how much earlier it happens, for how much later each of its inputs could have come
 *   orders.c      how much later anything may be in another order of locks
 *   coz.c         the visit of these points and their nodes in order, which needs no events any more; answers */
#ifndef ANALYSIS_COZ_PRIVATE_H
#define ANALYSIS_COZ_PRIVATE_H

#include "analysis/base/merge.h"
#include "analysis/coz/coz.h"
#include "analysis/coz/greedy.h"

struct row_time {            /* a row of time (coz_rows.h), in a thread */
	uint32_t depth;      /* how often it is on the stack */
	uint64_t since;      /* stamp; while it is, and no operation */
	uint64_t since_at;   /* the event with that stamp */
	uint64_t ticks, pieces; /* not yet cut, ... */
	uint64_t first;      /* ... from this stamp on */
	int64_t mixed;       /* likewise, and perhaps so much in operations that may be work */
	bool perhaps;        /* all or none of it: that was not recorded */
};

/* Operations that a region, the entry with that number, interrupts. */
struct interrupted { size_t region; uint32_t operations; };

struct runner {              /* one thread, as it is followed */
	uint32_t thread;
	struct tr_cursor events;
	uint64_t at;         /* the next event */
	size_t sync;         /* the next synchronisation point */
	struct replay replay;
	uint32_t *open; size_t nopen;  /* rows of its entries */
	uint32_t operations; /* among them, inside of the innermost region that began in one; and MPI_Init */
	struct interrupted *interrupted; size_t ninterrupted; /* by such regions */
	bool marked;         /* outside of regions it does not work, */
	bool marks_unknown;  /* or perhaps it does */
	bool unrecorded;     /* its regions were left out (DPROF_EVENTS): any of its time may have been in any of them */
	bool begun;          /* its first event has come */
	unsigned inits;      /* MPI_Init behind it: has begun, has ended; 2 when none is to come */
	struct row_time *rows;
	uint32_t asked;      /* bits of the questions that are about its time */
	uint32_t jumped;     /* the first region that has no exit, or TR_NO_SITE */
	bool doubtful;       /* it is not known where it is */
	bool forgets;        /* at the next event: anything may have happened before it */
	uint64_t cut_until;  /* doubtful: what is before has been cut */
	uint64_t stamp;      /* of the last event */
	struct tr_event pending; /* the one that has come */
};

/* What happens to a thread's saving before one of its points: a row's time is cut; it is forgotten, so long after the run began;
 * what is proved may come to nothing. Or the point is inside of an operation that is inside of another, or somewhere between its
 * ends. */
enum coz_step_what { STEP_CUT, STEP_FORGET, STEP_DELAY, STEP_INSIDE };
struct coz_step {
	frz_time ticks;
	uint32_t sync;       /* the point */
	uint32_t row : 30, what : 2;
};
_Static_assert(sizeof(struct coz_step) == 24, "there are many");
struct coz_steps { struct coz_step *v; size_t n; }; /* in the graph's spill; in order */

struct visitor {             /* of one thread's points */
	size_t sync, step;   /* the next ones */
	enum graph_schedule schedule; /* of its work */
	uint32_t pools;      /* of work, in which it is now */
	struct saving *saving;
	uint32_t asked;      /* as in struct runner */
	uint32_t locks;      /* plain ones (orders.h) that it has; */
	bool waiting;        /* whether it waits up to the next point that does; */
	uint64_t stamp;      /* and of the point before */
	bool inside;         /* the next point is (STEP_INSIDE) */
	bool sleeps;
	uint32_t next_sleeper; /* likewise */
	uint64_t wakes;      /* the key (merge.h) of the point at which it does */
};

struct node_state {
	uint32_t posted, passed; /* inputs, and threads that have come by */
	uint32_t given;      /* inputs before which work was given evenly */
	uint32_t sleepers : 31; /* the first, and 1; or 0 */
	uint32_t happened : 1;
	struct saving *saving; /* then, until all have come by */
};

struct visit {
	struct coz *coz;
	const struct graph *g;
	const struct times *times;
	const struct span *span;
	struct savings *all;
	struct runner *runners; /* of each thread */
	struct coz_steps *steps;
	struct visitor *visitors;
	struct node_state *states; /* in the graph's spill; as it begins, all is 0 */
	struct saving **held;    /* likewise, of each input */
	struct saving **held_late; /* and of each event of graph_late */
	struct graph_lates lates; /* of the node that was last asked for them and has some: the next has its own nearby */
	struct frz_cursor *cursors; /* of each clock */
	struct slack *slacks; frz_time *passed; size_t nslacks;
	int64_t *latest_lo, *latest_hi; /* of each clock, while a SYNC node is looked at */
	uint64_t *latest;
	bool *came;
	struct merge awake;  /* threads, by when what they come to next is */
	const struct coz_rows *rows;
	bool hides;          /* something is hidden: then it matters how much there is to be cut in all */
	struct orders *orders;
	struct greedy *greedy; /* or NULL */
	uint32_t decides;    /* bits of the questions for which orders are decided again */
	uint64_t stuck, bad_exits;
};

/* From here on its work is that. */
static inline void visitor_schedule(struct visitor *r, uint32_t schedule)
{
	if (schedule == GRAPH_POOL_ENTERED)
		r->pools++;
	else if (schedule == GRAPH_POOL_LEFT)
		r->pools--;
	else
		r->schedule = (enum graph_schedule)schedule;
}

/* What the question has a row as, if it asks about the thread; or TR_NO_SITE. */
static inline uint32_t visit_region_of(const struct visit *v, uint32_t asked, size_t row, size_t question)
{
	return asked >> question & 1 ? v->rows->region[row * v->rows->nquestions + question] : TR_NO_SITE;
}

static inline int64_t not_negative(int64_t x)
{
	return x > 0 ? x : 0;
}

frz_time visit_time(struct visit *, uint32_t thread, uint64_t stamp);
frz_time visit_elapsed(struct visit *, uint32_t thread, uint64_t stamp); /* since the run began */

static inline struct graph_lates visit_lates(struct visit *v, uint32_t node)
{
	if (!v->g->nodes[node].late)
		return (struct graph_lates){ 0, 0 };
	return v->lates = graph_lates_of(v->g, node, v->lates.first);
}

/* How much earlier a node happens all of whose inputs are held; whoever has that drops it. */
struct saving *visit_happen(struct visit *, const struct graph_node *);

/* Finds a thread's steps: up to and with the next event that has points, whatever it waits for there. False when none has. What is
 * wrong with where the thread is is said in the end. */
void thread_open(const struct visit *, struct runner *, uint32_t thread);
bool thread_follow(struct visit *, struct runner *);
void thread_close(const struct visit *, struct runner *);

#endif
