/* SPDX-License-Identifier: MIT
 *
 * spare.h - files of events that the helper makes before the threads that are going to need them begin.
 *
 * Making a file, and room on the disk and in memory for it, costs a new thread more than all else. The numbers of
 * the next threads are known; so once a process has made threads, the helper makes the files of a few more, whole
 * but for their header, with as many spares as half the threads that there were, and at most SPARES.
 *
 * Law: a file that is there under its final name is either taken by the thread with its number, or has no header,
 * which the reader takes for a file that was never begun; and that is removed when the process ends in good order. */
#ifndef RUNTIME_SPARE_H
#define RUNTIME_SPARE_H

#include <stdbool.h>
#include <stdint.h>

/* The header's page and the first chunk behind it, mapped: their address, or NULL when there is no spare with
 * that number. Waits for a helper that is making it, but not for long. */
void *dprof_spare_take(uint32_t number);

/* For the helper: makes what is missing, if `next` is the number of the next thread; true if something was. */
bool dprof_spares_make(uint32_t next);

/* The process ends, and: it is the child of a fork. */
void dprof_spares_remove(void);
void dprof_spares_forget(void);

#endif
