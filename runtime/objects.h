/* SPDX-License-Identifier: MIT
 *
 * objects.h - numbers of what processes of a host share. */
#ifndef RUNTIME_OBJECTS_H
#define RUNTIME_OBJECTS_H

/* In the child of a fork, where what lies in private memory is another object. */
void dprof_objects_forget(void);

#endif
