/* SPDX-License-Identifier: MIT
 *
 * progress.h - what a long analysis is doing, on a terminal.
 *
 * Law: only a stage that has taken a second already says so, only on a standard error that is a terminal,
 * on one line; and the line is gone when the stage has ended, so that nothing else is ever mixed with
 * it. Stages do not nest: one that a task begins (pool.h) is part of that in which the task was begun. Threads may work on
 * one together. */
#ifndef ANALYSIS_BASE_PROGRESS_H
#define ANALYSIS_BASE_PROGRESS_H

#include <stdint.h>

/* `total`: how much there is to do; 0 when that is not known. */
void progress_begin(const char *stage, uint64_t total);
void progress_end(void);

/* From now on no stage says anything. */
void progress_silence(void);

/* So much more is done; outside of a stage it says nothing. Call it every some microseconds of work. */
void progress_add(uint64_t done);

#endif
