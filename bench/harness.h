/* SPDX-License-Identifier: MIT
 *
 * harness.h - measures what one record costs, the same way for every recorder.
 *
 * A recorder is one small program: it defines bench_record_pairs() and, if it must, the other two.
 * The harness runs it on as many pinned threads as asked for and prints, for each thread, the median
 * and the p99.9 of the cost of a record in ticks of the counter, over samples of SAMPLE records:
 *
 *   record-NAME THREADS RECORDS   ->   one line "MEDIAN P999" a thread */
#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H

enum { SAMPLE = 100 };                   /* records a sample; two counter reads are spread over it */

void bench_begin(void);                  /* once, before any thread; weak, does nothing */
void bench_thread_begin(int thread);     /* in each thread, not measured; weak, does nothing */
void bench_record_pairs(unsigned pairs); /* records `pairs` entries and as many exits */
void bench_thread_end(void);             /* weak, does nothing */
void bench_end(void);                    /* weak, does nothing */

#endif
