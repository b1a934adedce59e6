/* SPDX-License-Identifier: MIT
 *
 * nursery.h - the file in which the threads of a process begin, but for its first one (format.h).
 *
 * A file of its own, with room on the disk and in memory for it, costs a new thread more than all else, and a thread
 * that records little needs none. The numbers of the next threads are known, and so are their slots; so once a
 * process has made a thread, the helper maps slots ahead, a batch at a time. Who finds no such slot maps its own.
 *
 * Law: nobody but the thread with its number writes to a slot, and nobody takes a slot's place on the disk away once
 * its thread may have it. */
#ifndef RUNTIME_NURSERY_H
#define RUNTIME_NURSERY_H

#include <stdbool.h>
#include <stdint.h>

/* The process has its files' names. And the name of this one. */
void dprof_nursery_prepare(void);
const char *dprof_nursery_path(void);

/* The slot of the thread with that number, mapped and all zeros; NULL where there can be none. Waits for a helper
 * that is about to map it, but not for long. */
void *dprof_nursery_take(uint32_t number);

/* The thread with that number has ended, and what is mapped there is its slot, or the first page of its own file. */
void dprof_nursery_leave(uint32_t number, void *slot);

/* For the helper: maps a batch of slots that is missing, if `begun` is the number of the next thread; true if one was. */
bool dprof_nursery_make(const uint32_t *begun);

/* The process ends: room for threads that did not begin is given back. And: it is the child of a fork. */
void dprof_nursery_close(void);
void dprof_nursery_forget(void);

#endif
