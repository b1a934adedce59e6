/* SPDX-License-Identifier: MIT
 *
 * unpacked.h - full chunks that stay as they were recorded: how much they take, and why they were not packed.
 *
 * Law: what is said is never more than what so stays when the process ends. */
#ifndef RUNTIME_UNPACKED_H
#define RUNTIME_UNPACKED_H

#include "runtime/thread.h"

/* A full chunk is sealed, or forgotten, where it is. May be called in a signal handler. */
void dprof_unpacked_add(const struct dprof_chunk *);

/* For the helper: one could not be packed; a negative error number. */
void dprof_unpacked_refused(long error);

/* The process ends: a note for the report, if it is much. */
void dprof_unpacked_say(void);

#endif
