/* SPDX-License-Identifier: MIT
 *
 * together.h - trace_open() by all processes of a job. */
#ifndef ANALYSIS_DRIVER_TOGETHER_H
#define ANALYSIS_DRIVER_TOGETHER_H

#include "analysis/driver/peers.h"
#include "analysis/trace/trace.h"

/* All processes call it. The first one gets the trace, or NULL with *error, to be freed; the others get NULL and no error, when
 * they have nothing more to do for it. `elsewhere`: each has a directory of its own. `jobs` of each process; 0: the
 * cores of a machine are shared by its processes while they read, and then the first one has those of its own. */
struct trace *together_open(const struct peers *, const char *directory, bool elsewhere, size_t jobs, char **error);

#endif
