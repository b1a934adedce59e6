/* SPDX-License-Identifier: MIT
 *
 * notice.h - the two lines that the recorder may write on standard error: that nothing can be recorded, and
 * at the end of a program on a terminal where its trace is.
 *
 * Law: a line goes where the program's standard error went when it began, or nowhere: not when descriptor 2 was
 * closed or is something else by then. It is one write, which neither waits nor kills nor stops the program.
 * DPROF_QUIET=1 silences both. */
#ifndef RUNTIME_NOTICE_H
#define RUNTIME_NOTICE_H

#include <stdint.h>

#include "runtime/count.h"

/* Remembers what standard error is. After the settings are read, before anything is recorded. */
void dprof_notice_prepare(void);

/* Nothing is recorded, since `path` cannot be made for this reason (an errno). Of the processes of a job that
 * run on one host the first one says so. */
void dprof_notice_failed(const char *path, int error);

/* The process ends, it has recorded these events, and lost some perhaps, and those of others may stand in the same
 * directory: how many `ranks` there are, 0 when that is not known, 1 where there are none. */
void dprof_notice_end(struct dprof_count, const char *directory, int64_t ranks);

#endif
