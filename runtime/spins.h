/* SPDX-License-Identifier: MIT
 *
 * spins.h - waits in memory (plugin/spins.cc, spins.c): how their sites are called. */
#ifndef RUNTIME_SPINS_H
#define RUNTIME_SPINS_H

#define DPROF_SPIN "spin wait"

/* Of who stores where somebody waits so. */
#define DPROF_SPIN_STORE "store to memory"

/* What a loop does there: it looks, at something or at a number; it tries to store what it computes from what was there, and
 * waits only for others who do so; or it takes a lock. The last of these counts for all of the loop. */
enum dprof_spin_how { DPROF_SPIN_LOOKS, DPROF_SPIN_NUMBER, DPROF_SPIN_COMPUTES, DPROF_SPIN_TAKES };

/* Something is about to be stored there. */
__attribute__((visibility("default"))) void dprof_changes(const void *object);

/* In the child of a fork nobody waits. */
void dprof_spins_forget(void);

#endif
