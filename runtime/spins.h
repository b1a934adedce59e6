/* SPDX-License-Identifier: MIT
 *
 * spins.h - waits in memory (plugin/spins.cc, spins.c): how their sites are called. */
#ifndef RUNTIME_SPINS_H
#define RUNTIME_SPINS_H

#define DPROF_SPIN "spin wait"

/* Of who stores where somebody waits so. */
#define DPROF_SPIN_STORE "store to memory"

/* Something is about to be stored there. */
__attribute__((visibility("default"))) void dprof_changes(const void *object);

/* In the child of a fork nobody waits. */
void dprof_spins_forget(void);

#endif
