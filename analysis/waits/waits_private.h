/* SPDX-License-Identifier: MIT
 *
 * waits_private.h - what the files of waits share.
 *
 *   waits.c    each thread is replayed, and each wait looked at
 *   waits_replay.c  a thread: where it waited, and what it had done
 *   history.c  what threads did between their synchronisation points
 *   delays.c   back from the end: what was longer elsewhere, of which waiting came
 *   losses.c   what else may have been waited where records are lost */
#ifndef ANALYSIS_WAITS_PRIVATE_H
#define ANALYSIS_WAITS_PRIVATE_H

#include "analysis/graph/graph_last.h"
#include "analysis/graph/graph_order.h"
#include "analysis/waits/waits.h"

struct wait {                /* that has ended */
	uint64_t until;      /* stamp */
	uint64_t surely;     /* likewise: from then on it waited, ... */
	uint64_t between;    /* ... but for so many ticks between attempts */
	uint32_t thread, site, node;
	uint32_t own;        /* the thread's own input of the node, where it began to wait, and 1; or 0: it did not, as
				one that begins */
	uint32_t left;       /* what it posted then as it left its team, for whose next one it waits, or as it came to the barrier in
				which it began a task that was made behind that, and 1; or 0 */
	uint32_t pieces;     /* it had begun before regions inside of its operation: so many stretches outside of these were
				before `own`, */
	uint64_t before;     /* of so many ticks, */
	uint64_t last;       /* and the last of the regions was so long */
	bool ends;           /* behind the last event of its thread: no point of the graph's */
};

/* ---- What threads did ------------------------------------------------------------------------ */

/* Rows: a site, of regions of one name the first; behind the last: outside; and anywhere, which is not known. */
static inline uint32_t waits_unknown_row(const struct trace *t)
{
	return (uint32_t)t->nsites + 1;
}

static inline size_t waits_rows(const struct trace *t)
{
	return t->nsites + 2;
}

/* Of an operation; of one whose site is missing it is not known. */
static inline uint32_t waits_row(const struct trace *t, uint32_t site)
{
	return site < t->nsites ? tr_row(t, site) : waits_unknown_row(t);
}

/* And back: or TR_OUTSIDE, TR_NO_SITE. */
static inline uint32_t waits_site_of(const struct trace *t, uint32_t row)
{
	return row < t->nsites ? tr_row(t, row) : row == t->nsites ? TR_OUTSIDE : TR_NO_SITE;
}

/* One of these for each row in which a thread was between two of its points, and for each wait, which stands for all of
 * its operation. */
struct history_piece {
	uint64_t ticks;      /* or the wait's number */
	uint32_t row;
	uint32_t pieces;     /* 0: a wait */
};

struct history_row { uint64_t ticks; uint32_t pieces; };

struct history {
	const struct graph *graph;
	struct history_piece *pieces; size_t n; /* in the graph's spill, and so is: */
	uint32_t *upto; size_t nupto; /* of each point of each thread: pieces before it */
	size_t *first, *begins;      /* point of each thread, and piece */
	struct history_row *rows;    /* of the thread that is being replayed, since the last piece */
	uint32_t *used; size_t nused;
	uint32_t last;               /* row that was added to */
	size_t least;                /* pieces that are kept: of other threads, and up to the last wait */
};

void history_open(struct history *, const struct graph *);
void history_close(struct history *);
void history_begin_thread(struct history *, uint32_t thread);

/* The thread was in this row. */
void history_add(struct history *, uint32_t row, uint64_t from, uint64_t to);

/* So many pieces there are up to here. */
size_t history_cut(struct history *);
void history_point(struct history *); /* likewise, and here is the next point */

/* In this row it was for no time since then. */
void history_forget(struct history *, size_t since, uint32_t row);

/* What has come since `cut` was a wait at this row. */
void history_wait(struct history *, size_t cut, uint32_t row, size_t wait);

/* ---- Waits ----------------------------------------------------------------------------------- */

#define HOLDS_NOTHING (UINT32_MAX - 1)

struct posted {              /* an input */
	uint32_t did;        /* what its thread had mostly done since it had last waited, or might have */
	uint32_t point, site; /* the point and 1, or 0; of the event */
	uint32_t before;     /* that of the finder's `busy`, and 1; or 0 */
	uint32_t holding;    /* what it had mostly done since it took the lock that it gives back; HOLDS_NOTHING: none, or it
				has waited since */
	uint32_t idle;       /* the last wait of its thread before it, of the finder's `list`, and 1; or 0 */
};

/* What a thread had mostly done between two operations in which it did not wait, since what they wait for was there. */
struct busy {
	uint64_t from, to;   /* stamps */
	uint32_t did, before; /* likewise */
};

/* What delays.c needs to know of a wait besides. */
struct wait_cost {
	uint64_t begin;      /* stamp: what came from then on is a wait of the history, or transfer */
	frz_time ticks;
	double lo, hi;       /* waiting of others that came of it */
	uint32_t point;      /* of its thread */
	uint32_t cause;      /* input for which it surely was, and 1; or 0 */
	bool unsure;         /* perhaps it came of it */
};

struct finder {
	struct waits *waits;
	const struct graph *g;
	struct wait *list; size_t n; /* in the graph's spill; thread by thread, in the order of their points */
	struct posted *posted;       /* of each input; likewise */
	struct busy *busy; size_t nbusy; /* likewise */
	bool delays;                 /* are asked for: then there are, of each wait, likewise: */
	struct wait_cost *costs;
	struct graph_order order;    /* and the nodes that are broken there, in their order: */
	uint32_t *broken; size_t nbroken;
	struct history history;
	struct graph_last last;
	struct wait_sum *causes; size_t ncauses; /* one for each wait and thread that may have caused it */
};

/* Finds all waits of a thread, and what it posted. */
void waits_replay(struct finder *, uint32_t thread);

/* The thread's own input of the node; or NULL. */
static inline const struct graph_input *wait_own(const struct finder *f, const struct wait *w)
{
	return w->own ? &f->g->inputs[w->own - 1] : NULL;
}

/* If `is`: of one more wait it is not known what ended it. */
static inline void wait_note_unknown(struct finder *f, uint32_t thread, bool is)
{
	f->waits->unknown += is;
	f->waits->lacks[thread] |= is;
}

/* For whom a thread waited, once for each that may have been the last. */
struct wait_looked {
	frz_time ticks;      /* how long */
	const struct graph_input *any; /* of these; NULL: it did not wait */
	bool alone;          /* that one surely was the last, or what it sent */
	bool own;            /* the thread's own may have been */
};
/* A task begins with it. */
static inline bool wait_begins_task(const struct graph_node *node)
{
	return node->kind == GRAPH_ARRIVAL && node->what == GRAPH_TASK_BEGAN;
}

/* It was at a barrier, until that was over, and began the task behind that. */
static inline bool wait_is_on_its_way(const struct finder *f, const struct wait *w)
{
	return w->left && wait_begins_task(&f->g->nodes[w->node]);
}

/* Finds those that may have been the last, but for the end of a region inside of its operation, which is no other. */
void wait_find_last(struct finder *, const struct wait *);

/* How long it waited before the last of these regions was over. */
frz_time wait_before(const struct finder *, const struct wait *);

bool wait_look(struct finder *, const struct wait *, struct wait_looked *); /* false: it is not known what ended it */

/* Of a message that went on with a later call of its sender, what sent it; of anything else, itself. */
static inline const struct graph_input *wait_sent(const struct graph_input *input)
{
	return input - input->progress;
}

/* If the wait was for this input, for so long; or if that cannot be, no ticks. */
frz_time wait_for(struct finder *, const struct wait *, const struct graph_input *);

void delays_find(struct finder *);

/* If any records are lost. */
void waits_widen(struct waits *, const struct graph *, struct graph_last *);

#endif
