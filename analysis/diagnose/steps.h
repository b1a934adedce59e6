/* SPDX-License-Identifier: MIT
 *
 * steps.h - what one thread did, as activities of which abstract events consist (events.h): work between operations,
 * and whole operations, with whom they sent or received.
 *
 * Law: how long all steps took, together, and the time from the thread's first event to its last (within its window)
 * lie in each other's intervals; of each operation what it took, waited and transferred is what graph_activities.h says
 * of its parts. */
#ifndef ANALYSIS_STEPS_H
#define ANALYSIS_STEPS_H

#include "analysis/diagnose/events.h"
#include "analysis/graph/graph_last.h"

struct step {
	struct event_step is;    /* tag: its place in the list */
	uint32_t site;           /* the operation, or the region in which it worked longest; TR_OUTSIDE */
	uint32_t pieces, npieces; /* work: what it was in, from this place of the pieces on */
	uint32_t from_thread;    /* operation: who sent what it received last, and ... */
	uint64_t sent;           /* ... when: a stamp of that thread; UINT32_MAX: nobody */
	bool known;              /* what the thread did, and if it waited for whom */
	uint32_t around;         /* operation: the region in which it was entered; TR_OUTSIDE */
	bool inside, outside;    /* it waited for others of its process; for others */
};

/* Work in one region or outside, of regions of one name the first; role: of the innermost region around it that has one
 * of what a task needs (setup, task, init, final), or DPROF_IN_NO_ROLE. */
struct step_piece {
	uint32_t site;
	enum dprof_role role;
	uint64_t from, to;
	enum { PIECE_WORKED, PIECE_WAITED_INSIDE, PIECE_PERHAPS } how; /* work; what a model takes for it, or perhaps is */
};

struct steps {
	struct spill *spill;
	struct step *list; size_t n;         /* in the graph's spill, as are: */
	struct step_piece *pieces; size_t npieces;
};

/* A part of a thread's time, by stamps: what begins at `from` or behind it, and before `to`. */
struct steps_window { uint64_t from, to; };

/* `role_of`: of each process; `windows`: of each thread, of which only what begins there is a step, or NULL. */
void steps_open(struct steps *, const struct graph *, struct graph_last *, uint32_t thread, const enum event_role *role_of,
		const struct steps_window *windows);

/* Of two threads: for how long at most, in ticks, they were both between those stamps. `cursors`: times_cursors(). */
struct step_stretch { uint32_t thread; uint64_t from, to; };
int64_t steps_overlap(const struct graph *, struct frz_cursor *cursors, struct step_stretch, struct step_stretch);

/* Likewise, for how long a thread worked, as its steps say, during such a stretch of another one. */
int64_t steps_work_during(const struct graph *, struct frz_cursor *cursors, const struct steps *, uint32_t thread,
			  struct step_stretch);

/* That part, or all of its time. */
struct steps_window steps_window_of(const struct graph *, uint32_t thread, const struct steps_window *windows);
void steps_close(struct steps *); /* before the graph is closed */

#endif
