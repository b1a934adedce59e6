/* SPDX-License-Identifier: MIT
 *
 * objects.h - numbers of what processes of a host share. */
#ifndef RUNTIME_OBJECTS_H
#define RUNTIME_OBJECTS_H

#include <stdint.h>

/* The number of what lies at an address that other processes may have as well; 0: only this one has it, or that is not known. */
uint64_t dprof_shared_object_at(const void *address);

/* Likewise, where that is known already: of what had been mapped before a fork, or near what was asked for. */
uint64_t dprof_known_shared_object(const void *address);

/* What a child will share with its parent is remembered. */
void dprof_objects_before_fork(void);

/* In the child of a fork, where what lies in private memory is another object. */
void dprof_objects_forget(void);

#endif
