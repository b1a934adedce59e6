/* SPDX-License-Identifier: MIT
 *
 * starter.h - the process that started this one by fork and exec, or posix_spawn, and records.
 *
 * It is found by what the kernel tells of it: its process file is mapped as long as it records. So nothing is put into the
 * environment, which is the program's.
 *
 * Law: what is found is the trace of the calling process's parent, which runs, in this format and of the same host and clock. */
#ifndef RUNTIME_STARTER_H
#define RUNTIME_STARTER_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/settings.h"

struct dprof_starter {
	char directory[PATH_MAX];
	char stem[DPROF_NAME_SIZE + 24]; /* HOST-RANK */
	char job[DPROF_NAME_SIZE];
};

/* False where there is none, or where the calling process could have no files in its directory. */
bool dprof_starter_find(struct dprof_starter *);

/* A stamp at which the calling process was not there yet, a little while ago; or 0: not known. */
uint64_t dprof_starter_unborn(void);

#endif
