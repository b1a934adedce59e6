/* SPDX-License-Identifier: MIT
 *
 * path_private.h - what the two files of path share.
 *
 *   path.c        back from the end: when the path was on which thread
 *   path_sites.c  along each thread: in which sites it was then */
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

/* Since the run's first event. */
frz_time path_elapsed(struct path *, uint32_t thread, uint64_t stamp);

/* Adds what the path was at in a thread to the shares. */
void path_add_thread(struct path_profile *, struct path *, struct path_slice, uint32_t thread);

#endif
