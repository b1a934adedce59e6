/* SPDX-License-Identifier: MIT
 *
 * routines.h - threads grouped by the routine they began in.
 *
 * A thread's start routine is the first automatic region that it enters: the body of a thread or a team, or with
 * auto=functions the outermost function. Where there is none, the thread's name stands for it; for the first thread
 * of a process, whose name is that of the program, "main thread". */
#ifndef ANALYSIS_ROUTINES_H
#define ANALYSIS_ROUTINES_H

#include "analysis/report/findings.h"
#include "analysis/trace/names.h"

/* Of each thread: the site of its start routine, or TR_NO_SITE. To be freed. */
uint32_t *routines_find(const struct trace *);

/* "worker (pool.c:40)" in at most `room` bytes; `routines` is what routines_find gave. */
struct site_name routine_name(const struct trace *, const uint32_t *routines, size_t thread, size_t room);

/* Those threads of one process that began in the same routine. */
struct routine_group {
	const struct ranked *highest; /* of its threads */
	size_t threads;
	struct interval others;         /* around the percentages of all but the highest; where there are others */
};

/* The groups of f->threads, in the order of their highest threads. To be freed. */
struct routine_group *routines_group(const struct findings *, const uint32_t *routines, size_t *ngroups);

#endif
