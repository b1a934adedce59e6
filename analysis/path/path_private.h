/* SPDX-License-Identifier: MIT
 *
 * path_private.h - what the two files of path share.
 *
 *   path.c        back from the end: when the path was on which thread
 *   path_sites.c  along each thread: in which sites it was then
 *   path_slack.c  back from the end, and along each thread: what has how much slack */
#ifndef ANALYSIS_PATH_PRIVATE_H
#define ANALYSIS_PATH_PRIVATE_H

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
