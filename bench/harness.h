/* SPDX-License-Identifier: MIT
 *
 * harness.h - measures what one record costs, the same way for every recorder.
 *
 * A recorder is one small program: it defines bench_record_pairs() and, if it must, the others. The
 * harness runs it on as many pinned threads as asked for and prints a line a thread, in ticks of the
 * counter, nothing of it amortised over threads:
 *
 *   record-NAME THREADS RECORDS   ->   MEDIAN P999 MEAN
 *
 * Records are timed in batches between two readings of the counter, which some processors advance in steps
 * of tens of ticks: so one record cannot be timed by itself. Half of the records are in batches of LONG, so that
 * the readings count for little: MEDIAN is the median batch and MEAN the mean of all, in which no stall can hide.
 * The other half is in batches of SHORT, so that a stall is divided by little: P999 is what 1 batch of 1000
 * exceeds. Each is divided by the records of its batch. Long and short ones take turns, and the first tenth
 * of each warms up and is not counted. */
#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H

enum { LONG = 100, SHORT = 20 }; /* records of a batch */

void bench_begin(void);                  /* once, before any thread; weak, does nothing */
void bench_thread_begin(int thread);     /* in each thread, not measured; weak, does nothing */
void bench_record_pairs(unsigned pairs); /* records `pairs` entries and as many exits */
void bench_thread_end(void);             /* weak, does nothing */
void bench_end(void);                    /* weak, does nothing */

#endif
