/* SPDX-License-Identifier: MIT
 *
 * path_private.h - what the files of path share.
 *
 *   path.c        back from the end: when the path was on which thread
 *   path_detour.c likewise, where a message came perhaps only with its sender's next call
 *   path_sites.c  along each thread: in which sites it was then
 *   path_slack.c  back from the end, and along each thread: what has how much slack
 *   path_near.c   other ways through the run, which have little */
#ifndef ANALYSIS_PATH_PRIVATE_H
#define ANALYSIS_PATH_PRIVATE_H

#include "analysis/graph/graph_last.h"
#include "analysis/path/path.h"

/* Between two events of a thread, or perhaps. */
struct stay {
	uint64_t from, to;   /* stamps */
	uint64_t at;         /* the event at `from` if it ended a wait; or STAY_BEGINS */
	frz_time arrival;    /* then: how long before `from` the last that it waited for was */
	bool sure;
};
#define STAY_BEGINS UINT64_MAX

struct stays { struct stay *v; size_t n; }; /* in the spill; the last one first */

/* From one thread to another. */
struct hop {
	int64_t from, to;    /* ranks */
	frz_time until;      /* elapsed */
	frz_time ticks;      /* so long it took, or perhaps */
	bool sure;
};

/* A moment of a thread, and the first of its points that was not before. */
struct path_moment {
	uint32_t thread;
	uint64_t stamp, at;  /* an event */
	size_t point;
};
struct path_moment path_posted(const struct graph *, uint32_t input);
struct path_moment path_next_call(const struct graph *, const struct graph_input *); /* of one that is open */

/* What ended a wait is among its inputs. */
static inline bool path_knows(const struct graph_node *n)
{
	return graph_is_seen(n) || graph_is_known(n);
}

/* The thread waited there. If only somebody outside of the trace, whom it had asked, ended that, the path stayed where it was. */
static inline bool path_waits(const struct graph *g, const struct graph_sync_point *s)
{
	const struct graph_node *n = s->what == GRAPH_WAITS ? &g->nodes[s->number] : NULL;
	return n && !(n->kind == GRAPH_UNKNOWN && n->what == GRAPH_ANSWERED && !n->behind && !n->doubted);
}

/* And the path came from elsewhere. If its own time limit ended the wait, that was its own time, as a sleep is. */
bool path_came(struct path *, uint32_t thread, const struct graph_sync_point *);

/* ---- On the way back ------------------------------------------------------------------------- */

#define WHOLE (UINT64_C(1) << 62) /* all flow */

struct path_stay {               /* of one thread */
	size_t syncs;        /* points that are left */
	uint64_t flow;       /* on it, ... */
	uint64_t until;      /* ... before this stamp */
};

struct back {
	struct path *path;
	const struct graph_order *order;
	struct path_stay *places;
	uint64_t *to_node, *to_input; /* flow, in the graph's spill */
	struct graph_last last;
	bool broken;         /* a node of which nothing is known has been passed */
};

/* Before this event of the thread the path may have been anywhere. */
void path_lose(struct back *, uint32_t thread, uint64_t stamp);

/* The path was on the thread from this stamp on. Or then: as one of its stays, in their order. */
void path_end_stay(struct back *, uint32_t thread, struct stay);
void path_add_stay(struct back *, uint32_t thread, struct stay, size_t at);

/* To a thread, which went on at this stamp, from each that it may have waited for last: those that were found last. */
void path_add_hops(struct back *, uint32_t thread, uint64_t stamp, frz_time arrival);

/* If what the thread waited for there came perhaps only with a later call, flow goes on to all of that; else false, and
 * it does not. Those that it may have waited for last have been found. */
bool path_detour(struct back *, uint32_t thread, const struct graph_sync_point *, uint64_t flow);

/* ---- Slack ------------------------------------------------------------------------------------ */

struct node_slack {
	frz_time slack;      /* of what waited for it */
	frz_time last;       /* when the last that was waited for was, since the run began */
	uint32_t only;       /* input that surely was it, and 1; or 0 */
	bool looked;
	uint32_t thread;     /* that waits for it, and has the least slack; at this point of its own, and 1; or 0 */
	size_t waits;
};

/* Of a moment that the way back is to come to: whoever is later there may make a message later, which came perhaps only then. */
struct call_slack { size_t point; int64_t least; };

/* The last of a process who ended waits of others by what it gave, and the last of its other threads: UINT32_MAX and -1, if none.
 * Since the run began, at the latest. */
struct giver { uint32_t thread; int64_t until; };
struct givers { struct giver last, other; };

struct slacks {
	struct path *path;
	struct node_slack *nodes;    /* in the graph's spill, and so is: */
	frz_time *before;            /* of each point of each thread: the slack of what is just before it */
	size_t *left;                /* points of each thread on the way back, */
	frz_time *now;               /* and the slack of what is just before the last that was passed */
	struct call_slack *calls;    /* of each thread */
	size_t *first;               /* point of each thread */
	struct graph_last last;
	struct givers *givers;       /* of each process, */
	bool withheld;               /* because of whom some slack is not known to be any */
	bool end_open;               /* the run may have ended later than all events */
	int64_t unknown_until;       /* since the run began: what ended a wait before that is not known */
};

struct node_slack *path_look_at(struct slacks *, uint32_t node);

/* From an input to the last that was waited for with it. */
frz_time path_ahead(struct slacks *, const struct node_slack *, const struct graph_input *);

/* Of what posts an input. */
frz_time path_slack_of(struct slacks *, uint32_t input);

/* A lock that may have been free when its thread came was perhaps not waited for: then its release may have come later. */
bool path_was_free(struct slacks *, const struct graph_node *, const struct graph_input *);

/* Once the way back is over. */
void path_find_near(struct path_slack *, struct slacks *);
void path_close_near(struct path_slack *);

/* ---- Along a thread --------------------------------------------------------------------------- */

/* Where a thread is, as its events come by. */
struct path_whereabouts {
	struct replay replay;
	bool lost;           /* what is below all that is open is not known */
};
uint32_t path_site_now(const struct path_whereabouts *); /* as in a share, but TR_BEFORE */
void path_move(struct path_whereabouts *, const struct trace *, const struct tr_event *);

/* Since the run's first event. */
frz_time path_elapsed(struct path *, uint32_t thread, uint64_t stamp);

/* Adds what the path was at in a thread to the shares. */
void path_add_thread(struct path_profile *, struct path *, struct path_slice, uint32_t thread);

#endif
