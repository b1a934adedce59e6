/* SPDX-License-Identifier: MIT
 *
 * count.h - how many events the process recorded. */
#ifndef RUNTIME_COUNT_H
#define RUNTIME_COUNT_H

#include "runtime/thread.h"

/* The count will be asked for. Until then nothing is counted, which would cost time. */
extern bool dprof_counting;

/* A full chunk is gone soon: packed, or unmapped for good. */
void dprof_count_chunk(const struct dprof_chunk *);

/* One event is lost, for reasons 1 << enum dprof_why. */
void dprof_count_lost(uint64_t why);

/* In the child of a fork: what is lost is its parent's. */
void dprof_count_forget_lost(void);

/* Of all threads, ended ones too. No thread may be taken down meanwhile. */
struct dprof_count dprof_count_all(void);

#endif
