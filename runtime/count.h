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

/* Of all threads, ended ones too. No thread may be taken down meanwhile. */
struct dprof_count dprof_count_all(void);

#endif
