/* SPDX-License-Identifier: MIT
 *
 * cores.h - the cores of a machine, among the processes of one job on it. */
#ifndef ANALYSIS_DRIVER_CORES_H
#define ANALYSIS_DRIVER_CORES_H

#include <sched.h>
#include <stddef.h>

#include "analysis/trace/pipe.h"

/* Where a process runs: on which machine, and on which of its cores it may. */
struct cores { char *machine; cpu_set_t set; };

struct cores cores_own(void);
void cores_move(struct cores *, struct tr_pipe *);

/* How many cores one process has, where those of its machine share all that they have together. At least 1. */
size_t cores_share(const struct cores *, size_t processes, size_t process);

/* This process, which is the first, may run on all cores that those of its machine had. How many these are. */
size_t cores_take_over(const struct cores *, size_t processes);

#endif
